"""The regret of options: by how much each may be below the best, and what each gains over one of them.

Sources: J. C. Hsu, Multiple Comparisons, 1996, ch. 4 (comparisons with the best: one-sided bounds against every rival
as the control hold for all options at once, so that choosing among them costs nothing); D. B. Rubin, Multiple
Imputation for Nonresponse in Surveys, 1987 (the variance between labelings).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..data.arrays import BoolArray, FloatArray
from ..tolerances import LABELED_ALIKE, ROUNDED
from .intervals import FEWEST_DIFFERING
from .paired_tests import cautious_interval
from .pairs_and_ties import topic_counts

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Below so many topics that differ, a difference is sparse: its mean is far from normal.
FEWEST_DENSE = 15
#: How many draws of the multivariate t a critical value is a quantile of, at least; and how many numbers they take for
#: few options, whose critical values then err by about 0.01.
FEWEST_DRAWS, _DRAWN = 20_000, 80_000
# How many resamples the cautious end of a sparse difference takes.
_RESAMPLES = 1999
# How many numbers are drawn at a time.
_BLOCK = 1 << 22


class OptionBounds(NamedTuple):
    """The bounds of each option.

    ``regret`` and ``gain`` are two statements. Each holds for all options at once with the confidence; both together
    hold with ``1 - 2·(1 - confidence)`` at least.
    """

    #: the upper bound of the largest mean of another option less the mean of this one, at least 0; shape (options)
    regret: FloatArray
    gain: (
        FloatArray  #: the lower bound of the mean of this option less that of the first one, shape (options)
    )


def option_bounds(
    values: FloatArray, ends: tuple[float, float], *, confidence: float = 0.95, seed: int = 0
) -> OptionBounds | None:
    """Bound the regret of every option, and its gain over the first.

    With θ(o) the mean of option o over all topics of its kind, and ``U(o', o)`` the upper bound of ``θ(o') - θ(o)``
    that :func:`upper_bounds` gives for all o at once:

    - ``regret(o) = max(0, max over o' of U(o', o))``. Whichever option is the best, its bounds as the control o' hold
      for all o at once; so the regret of all options is at most this, and of an option that is chosen afterwards too.
    - ``gain(o) = -U(first, o)``.

    Args:
        values: of every option on every topic, shape (options, topics), or under every labeling too, shape (options,
            labelings, topics).
        ends: between which a difference of two values lies.
        confidence: of each statement.
        seed: of the draws. Equal values have equal bounds, in whatever order the options are.

    Returns:
        the bounds; None with fewer than five topics, which say nothing.
    """
    return _option_bounds((value - values for value in values), values.shape[-1], ends, confidence, seed)


def strict_option_bounds(
    most: FloatArray, ends: tuple[float, float], *, confidence: float = 0.95, seed: int = 0
) -> OptionBounds | None:
    """Bound regret and gain as :func:`option_bounds` does, with each difference at its largest over all labelings.

    Args:
        most: the largest value of option i less option j on every topic, shape (options, options, topics). The
            smallest of j less i is its negative.
        ends, confidence, seed: as for :func:`option_bounds`.
    """
    return _option_bounds(most, most.shape[-1], ends, confidence, seed)


def _option_bounds(
    differences: Iterable[FloatArray], topics: int, ends: tuple[float, float], confidence: float, seed: int
) -> OptionBounds | None:
    """Return the bounds by the differences of every rival, in their order, less each option."""
    if topics < FEWEST_DIFFERING:
        return None
    rows = [upper_bounds(of_rival, ends, confidence=confidence, seed=seed) for of_rival in differences]
    return OptionBounds(np.maximum(np.max(rows, axis=0), 0.0), 0.0 - rows[0])


def upper_bounds(
    differences: FloatArray, ends: tuple[float, float], *, confidence: float = 0.95, seed: int = 0
) -> FloatArray:
    """Return the upper bounds of the means of some differences, which hold for all of them at once.

    - The bound is ``mean + c·error``. The error is that of :func:`mean_covariance`. c is the quantile of the largest
      of ``(mean - θ)/error`` over the differences, which is multivariate t with their correlations: of at least 20,000
      draws. The degrees of freedom are topics - 1, or with M labelings the smaller of it and M - 1.
    - A difference that is 0 on all topics is 0, and does not widen the others.
    - Of R differences, a sparse or constant one gets the upper end of :func:`.cautious_interval` with a tail of
      ``(1 - confidence)/R``, the variance between labelings added to its reach, if that is higher than Student's. The
      others share the rest of ``1 - confidence``. Sparse: fewer than 15 topics differ, or under half of them and with
      one sign.
    - Fewer than five topics say nothing: the bound is the end of the range.

    Args:
        differences: shape (differences, topics) or (differences, labelings, topics).
        ends: between which a difference lies.
        confidence: of all bounds together.
        seed: of the draws. Equal differences have equal bounds, in whatever order they are.
    """
    topics = differences.shape[-1]
    result = np.zeros(len(differences))
    rows = np.flatnonzero(np.abs(differences).reshape(len(differences), -1).max(axis=1) > LABELED_ALIKE)
    if not len(rows):
        return result
    if topics < FEWEST_DIFFERING:
        result[rows] = ends[1]
        return result
    rows = rows[np.lexsort(_by_topic(differences[rows]).T)]  # whichever order they came in
    by_topic = _by_topic(differences[rows])
    covariance, degrees = mean_covariance(differences[rows])
    mean, error = by_topic.mean(axis=1), np.sqrt(np.diag(covariance))
    careful, tail = is_sparse(by_topic) | _is_constant(by_topic), (1.0 - confidence) / len(rows)
    dense = np.flatnonzero(~careful)
    if len(dense):
        level = 1.0 - tail * len(dense)
        c = critical_value(covariance[np.ix_(dense, dense)], degrees, level, seed)
        result[rows[dense]] = np.minimum(mean[dense] + c * error[dense], ends[1])
    if careful.any():
        counts, t = topic_counts(_RESAMPLES, topics, 0), student_quantile(degrees, 1.0 - tail)
    for row in np.flatnonzero(careful).tolist():
        _, cautious = cautious_interval(by_topic[row], ends, 1.0 - 2.0 * tail, counts)
        over_topics = by_topic[row].var(ddof=1) / topics
        between = max(error[row] ** 2 - over_topics, 0.0)
        reach = max(np.hypot(cautious - mean[row], t * np.sqrt(between)), t * error[row])
        result[rows[row]] = min(mean[row] + reach, ends[1])
    return result


def is_sparse(differences: FloatArray) -> BoolArray:
    """Return which differences, shape (…, topics), are sparse: few topics differ, or under half and with one sign."""
    above, below = differences > LABELED_ALIKE, differences < -LABELED_ALIKE
    differing, one_sign = (above | below).sum(axis=-1), ~above.any(axis=-1) | ~below.any(axis=-1)
    result: BoolArray = (differing < FEWEST_DENSE) | (one_sign & (2 * differing < differences.shape[-1]))
    return result


def _is_constant(differences: FloatArray) -> BoolArray:
    """Return which differences, shape (…, topics), are the same on every topic but for rounding."""
    result: BoolArray = np.ptp(differences, axis=-1) <= ROUNDED * np.maximum(
        np.abs(differences).max(axis=-1), 1.0
    )
    return result


def mean_covariance(values: FloatArray) -> tuple[FloatArray, int]:
    """Return the covariance of the means of some rows, and its degrees of freedom.

    It is the covariance over topics, divided by the topics. Of values under M labelings it is that of each topic's
    mean over labelings, and ``(1 + 1/M)`` times the covariance of the labelings' means. (Rubin's variance within has
    the noise of the labels a second time.)

    Args:
        values: shape (rows, topics) or (rows, labelings, topics).
    """
    topics = values.shape[-1]
    covariance, degrees = np.atleast_2d(np.cov(_by_topic(values))) / topics, topics - 1
    if values.ndim == 3:
        m = values.shape[1]
        covariance = covariance + (1.0 + 1.0 / m) * np.atleast_2d(np.cov(values.mean(axis=-1)))
        degrees = min(degrees, m - 1)
    return covariance, degrees


def _by_topic(values: FloatArray) -> FloatArray:
    """The values of each topic, as a mean over labelings where there are some."""
    return values if values.ndim == 2 else values.mean(axis=1)


def critical_value(covariance: FloatArray, degrees: int, confidence: float, seed: int) -> float:
    """Return the quantile of the largest of some t's, whose numerators have this covariance."""
    n = len(covariance)
    if n == 1:
        return student_quantile(degrees, confidence)
    error = np.sqrt(np.diag(covariance))
    spectrum, vectors = np.linalg.eigh(covariance / np.outer(error, error))
    # The symmetric root, which no sign or choice of eigenvectors changes.
    root = (vectors * np.sqrt(np.maximum(spectrum, 0.0))) @ vectors.T
    normal, chi = _standard_draws(n, degrees, seed)
    root, step = root.astype(np.float32), max(1, _BLOCK // n)
    parts = [(root @ normal[:, at : at + step]).max(axis=0) for at in range(0, len(chi), step)]
    largest, place = np.concatenate(parts) / chi, math.ceil(confidence * len(chi)) - 1
    return float(np.partition(largest, place)[place])


def student_quantile(degrees: int, level: float) -> float:
    """Return the quantile of Student's t."""
    from scipy.special import stdtrit  # importing the package does without it

    return float(stdtrit(degrees, level))


@lru_cache(maxsize=4)
def _standard_draws(n: int, degrees: int, seed: int) -> tuple[NDArray[np.float32], FloatArray]:
    """Return standard normal draws, shape (n, draws), and the √(χ²/df) of each."""
    random, draws = np.random.default_rng(seed), max(FEWEST_DRAWS, _DRAWN // n)
    # 32 bits err by far less than a quantile of draws does, and a product of matrices takes half as long.
    normal = random.standard_normal((n, draws)).astype(np.float32)
    return normal, np.sqrt(random.chisquare(degrees, draws) / degrees)
