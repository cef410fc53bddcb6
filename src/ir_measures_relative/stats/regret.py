"""The regret of options: by how much each may be below the best, what each gains, and the topics for a verdict.

Sources: J. C. Hsu, Multiple Comparisons, 1996, ch. 4 (comparisons with the best: one-sided bounds against every rival
as the control hold for all options at once, so that choosing among them costs nothing); D. B. Rubin, Multiple
Imputation for Nonresponse in Surveys, 1987 (the variance between labelings).
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..data.arrays import BoolArray, FloatArray, IntArray
from ..tolerances import LABELED_ALIKE, ROUNDED, TIED
from .intervals import (
    FEWEST_DIFFERING,
    MOST_TOPICS,
    POWER,
    critical_t,
    mean_and_error,
    resampled_t,
    student_interval,
    student_quantile,
    topic_counts,
)
from .paired_tests import Pairs

# With fewer topics that differ, a difference is sparse: its mean is far from normal.
_FEWEST_DENSE = 15
# The least number of draws of the multivariate t for a critical value; and of random numbers, which few options share:
# their critical values then err by about 0.01.
_FEWEST_DRAWS, _DRAWN = 20_000, 80_000
# The number of resamples for the cautious end of a sparse difference.
_RESAMPLES = 1999
# The number of values that are compared at a time.
_BLOCK = 1 << 22
# The number of values that fit into the processor's cache.
_CACHED = 1 << 16
# The number of populations that are resampled from the topics; of samples from each; of sizes that are tried.
_POPULATIONS, _SAMPLES, _SIZES = 100, 100, 48


class OptionBounds(NamedTuple):
    """The bounds of each option.

    ``regret`` and ``gain`` are two statements. Each holds for all options at once with the confidence; both together
    hold with ``1 - 2·(1 - confidence)`` at least.
    """

    #: the upper bound of the largest mean of another option less the mean of this one, at least 0; shape (options)
    regret: FloatArray
    #: the lower bound of the mean of this option less that of the first one, shape (options)
    gain: FloatArray


def option_bounds(
    values: FloatArray,
    ends: tuple[float, float],
    *,
    strictly: bool = False,
    confidence: float = 0.95,
    seed: int = 0,
) -> OptionBounds | None:
    """Bound the regret of every option, and its gain over the first.

    With θ(o) the mean of option o over all topics of its kind, and ``U(o', o)`` the upper bound of ``θ(o') - θ(o)``
    that :func:`upper_bounds` gives for all o at once:

    - ``regret(o) = max(0, max over o' of U(o', o))``. Whichever option is the best, its bounds as the control o' hold
      for all o at once; so the regret of all options is at most this, and of an option that is chosen afterwards too.
    - ``gain(o) = -U(first, o)``.

    Args:
        values: of every option on every topic, shape (options, topics), or under every labeling too, shape (options,
            labelings, topics). ``strictly``, the largest value of option i less option j over all labelings, shape
            (options, options, topics); the smallest of j less i is its negative.
        ends: the range of a difference of two values.
        strictly: whether each difference is at its largest over all labelings.
        confidence: of each statement.
        seed: of the draws. Equal values have equal bounds, whatever the order of the options is.

    Returns:
        the bounds; None with fewer than five topics, which are too few.
    """
    if values.shape[-1] < FEWEST_DIFFERING:
        return None
    rivals = values if strictly else (value - values for value in values)
    rows = [upper_bounds(rival, ends, confidence=confidence, seed=seed) for rival in rivals]
    return OptionBounds(np.maximum(np.max(rows, axis=0), 0.0), 0.0 - rows[0])


def upper_bounds(
    differences: FloatArray, ends: tuple[float, float], *, confidence: float = 0.95, seed: int = 0
) -> FloatArray:
    """Return upper bounds of the means of some differences, which hold for all of them at once.

    - The bound is ``mean + c·error``. The error is that of :func:`mean_covariance`. c is the quantile of the largest
      of ``(mean - θ)/error`` over the differences, which is multivariate t with their correlations: of at least 20,000
      draws. The degrees of freedom are topics - 1, or with M labelings the smaller of it and M - 1.
    - A difference that is 0 on all topics is 0, and does not widen the others.
    - Of R differences, a sparse or constant one gets the upper end of :func:`cautious_upper_end` with a tail of
      ``(1 - confidence)/R``, the variance between labelings added to its reach, if that is higher than Student's. The
      others share the rest of ``1 - confidence``. Sparse: fewer than 15 topics differ, or under half of them and with
      one sign.
    - With fewer than five topics, the bound is the end of the range.

    Args:
        differences: shape (differences, topics) or (differences, labelings, topics).
        ends: the range of a difference.
        confidence: of all bounds together.
        seed: of the draws. Equal differences have equal bounds, whatever their order is.
    """
    topics = differences.shape[-1]
    result = np.zeros(len(differences))
    rows = np.flatnonzero(np.abs(differences).reshape(len(differences), -1).max(axis=1) > LABELED_ALIKE)
    if not len(rows):
        return result
    if topics < FEWEST_DIFFERING:
        result[rows] = ends[1]
        return result
    rows = rows[np.lexsort(average_labelings(differences[rows]).T)]  # an order of their own
    by_topic = average_labelings(differences[rows])
    covariance, degrees = mean_covariance(differences[rows])
    mean, error = by_topic.mean(axis=1), np.sqrt(np.diag(covariance))
    constant = np.ptp(by_topic, axis=-1) <= ROUNDED * np.maximum(np.abs(by_topic).max(axis=-1), 1.0)
    careful, tail = is_sparse(by_topic) | constant, (1.0 - confidence) / len(rows)
    dense = np.flatnonzero(~careful)
    if len(dense):
        level = 1.0 - tail * len(dense)
        c = critical_value(covariance[np.ix_(dense, dense)], degrees, level, seed)
        result[rows[dense]] = np.minimum(mean[dense] + c * error[dense], ends[1])
    if careful.any():
        counts, t = topic_counts(_RESAMPLES, topics, 0), student_quantile(degrees, 1.0 - tail)
    for row in np.flatnonzero(careful).tolist():
        cautious = cautious_upper_end(by_topic[row], ends[1], 1.0 - 2.0 * tail, counts)
        over_topics = by_topic[row].var(ddof=1) / topics
        between = max(error[row] ** 2 - over_topics, 0.0)
        reach = max(np.hypot(cautious - mean[row], t * np.sqrt(between)), t * error[row])
        result[rows[row]] = min(mean[row] + reach, ends[1])
    return result


def upper_ends(values: FloatArray, confidence: float, *, strictly: bool = False) -> FloatArray:
    """Return the upper end of the mean of each row less each column, one at a time, shape (options, options).

    Unlike :func:`upper_bounds`, the ends are Student's, and none allows for the others.

    Args:
        values: as for :func:`option_bounds`.
        confidence: of each end.
        strictly: whether each difference is at its largest over all labelings.
    """
    if strictly:
        difference, degrees = values.mean(axis=2), values.shape[2] - 1
        error = values.std(axis=2, ddof=1) / np.sqrt(values.shape[2])
    else:
        covariance, degrees = mean_covariance(values)
        mean = average_labelings(values).mean(axis=1)
        difference, error = mean[:, None] - mean, np.sqrt(_difference_variances(covariance))
    return difference + student_quantile(degrees, confidence) * error


def is_sparse(differences: FloatArray) -> BoolArray:
    """Return whether differences, shape (…, topics), are sparse: few topics differ, or under half and with one sign."""
    above, below = differences > LABELED_ALIKE, differences < -LABELED_ALIKE
    differing, one_sign = (above | below).sum(axis=-1), ~above.any(axis=-1) | ~below.any(axis=-1)
    return (differing < _FEWEST_DENSE) | (one_sign & (2 * differing < differences.shape[-1]))


def mean_covariance(values: FloatArray) -> tuple[FloatArray, int]:
    """Return the covariance of the means of some rows, and its degrees of freedom.

    It is the covariance over topics, divided by the topics. For values under M labelings it is that of each topic's
    mean over labelings, plus ``(1 + 1/M)`` times the covariance of the labelings' means. (Rubin's variance within has
    the noise of the labels a second time.)

    Args:
        values: shape (rows, topics) or (rows, labelings, topics).
    """
    topics = values.shape[-1]
    covariance, degrees = np.atleast_2d(np.cov(average_labelings(values))) / topics, topics - 1
    if values.ndim == 3:
        m = values.shape[1]
        covariance = covariance + (1.0 + 1.0 / m) * np.atleast_2d(np.cov(values.mean(axis=-1)))
        degrees = min(degrees, m - 1)
    return covariance, degrees


def average_labelings(values: FloatArray) -> FloatArray:
    """Return the values of each topic, averaged over labelings if there are any."""
    return values if values.ndim == 2 else values.mean(axis=1)


def critical_value(covariance: FloatArray, degrees: int, confidence: float, seed: int) -> float:
    """Return the quantile of the largest of some t values, whose numerators have this covariance."""
    n = len(covariance)
    if n == 1:
        return float(student_quantile(degrees, confidence))
    error = np.sqrt(np.diag(covariance))
    spectrum, vectors = np.linalg.eigh(covariance / np.outer(error, error))
    # The symmetric root, which no sign or choice of eigenvectors changes.
    root = (vectors * np.sqrt(np.maximum(spectrum, 0.0))) @ vectors.T
    normal, chi = _standard_draws(n, degrees, seed)
    root, step = root.astype(np.float32), max(1, _BLOCK // n)
    parts = [(root @ normal[:, at : at + step]).max(axis=0) for at in range(0, len(chi), step)]
    largest, place = np.concatenate(parts) / chi, math.ceil(confidence * len(chi)) - 1
    return float(np.partition(largest, place)[place])


@lru_cache(maxsize=4)
def _standard_draws(n: int, degrees: int, seed: int) -> tuple[NDArray[np.float32], FloatArray]:
    """Draw standard normal numbers, shape (n, draws), and √(χ²/degrees) for each draw."""
    random, draws = np.random.default_rng(seed), max(_FEWEST_DRAWS, _DRAWN // n)
    # 32 bits err by far less than a quantile of draws does, and a product of matrices takes half as long.
    normal = random.standard_normal((n, draws)).astype(np.float32)
    return normal, np.sqrt(random.chisquare(degrees, draws) / degrees)


def cautious_upper_end(
    values: FloatArray, greatest: float, confidence: float, counts: NDArray[np.integer]
) -> float:
    """Return an upper end of the mean of one difference per topic that is not too low, whatever the values are.

    - If at most four values differ from the most frequent one, c, or too few for the bootstrap, those make up a share
      of at most s of all topics (Clopper and Pearson 1934), anywhere up to the greatest: ``(1 - s)·c + s·greatest``.
    - Else it is the higher one of Student's interval and of the studentized bootstrap's.
    """
    from scipy.special import betaincinv

    n, pairs = len(values), Pairs.from_differences(values[None])
    d = pairs.differences
    _, which, count = np.unique(
        np.round(d[0] / max(pairs.limit, TIED)), return_inverse=True, return_counts=True
    )
    usual = d[0, (count == count.max())[which.ravel()]]  # several values where they are equally frequent
    n_other = n - int(count.max())
    ends = [student_interval(d, confidence)[1]]
    mean, error, _ = mean_and_error(d)
    for rows, t in resampled_t(d, pairs.limit, counts):
        if len(rows):  # else too many resamples contain one value alone
            ends.append(mean + critical_t(-t, (1 - confidence) / 2) * error)
    if n_other < FEWEST_DIFFERING or len(ends) == 1:
        share = float(betaincinv(n_other + 1, n - n_other, (1 + confidence) / 2))
        return float((1 - share) * usual.max() + share * greatest)
    return float(min(max(end[0] for end in ends), greatest))


class TopicsNeeded(NamedTuple):
    """The middle half of the numbers of topics for resampled topics; inf is more than :data:`MOST_TOPICS`."""

    low: float
    high: float


def topics_needed(
    values: FloatArray, margin: float, *, confidence: float = 0.95, seed: int = 0
) -> TopicsNeeded | None:
    """Return the number of topics with which a verdict by :func:`.option_bounds` has a probability of 80 %.

    The means of options on further topics are not known. So the topics are resampled with replacement, and each
    resample stands for a population: its means and its covariance say how likely n topics of it bring a verdict. The
    number is the least n for which that is 80 %; the range is the middle half of these over 100 resamples. What
    unjudged documents leave open stays as it is.

    Args:
        values: of every option, the first of which is kept, on every topic; shape (options, topics) or (options,
            labelings, topics).
        margin: the smallest difference that matters.
        confidence: of the bounds.
        seed: of the draws.

    Returns:
        the range; None with fewer than five topics.
    """
    topics = values.shape[-1]
    if topics < FEWEST_DIFFERING:
        return None
    random = np.random.default_rng(seed)
    resampled = average_labelings(values)[:, random.integers(topics, size=(_POPULATIONS, topics))].swapaxes(
        0, 1
    )
    mean = resampled.mean(axis=2)
    centred = (resampled - mean[:, :, None]) / np.sqrt(topics - 1)
    # For one topic: the deviations of drawn means, and the variances of differences; for n topics, over n.
    deviation = centred @ random.standard_normal((topics, _SAMPLES))
    variance = _difference_variances(centred @ centred.swapaxes(1, 2))
    between = np.zeros((len(values), 1))
    if values.ndim == 3:
        m = values.shape[1]
        labeling_means = values.mean(axis=2)
        between = labeling_means - labeling_means.mean(axis=1, keepdims=True)
        between = between * np.sqrt((1 + 1 / m) / (m - 1))
    drawn_between = between @ random.standard_normal((between.shape[1], _SAMPLES))
    variance_between = _difference_variances(between @ between.T)
    critical = _critical_values(values, confidence, seed)
    sizes = np.unique(np.geomspace(FEWEST_DIFFERING, MOST_TOPICS, _SIZES).round())
    # Critical values change with the number of topics as Student's do, which are all 0 at a confidence of 0.5.
    tail = max(confidence, 0.51)
    scale = student_quantile(sizes - 1, tail) / student_quantile(topics - 1, tail)

    def is_enough(index: IntArray) -> BoolArray:
        n = sizes[index][:, None, None]
        means = mean[:, :, None] + deviation / np.sqrt(n) + drawn_between
        error = np.sqrt(np.maximum(variance / n + variance_between, 0.0))
        reach = error * critical[None, :, None] * scale[index][:, None, None]
        return _has_verdict(means, reach, margin).mean(axis=1) >= POWER

    # The first size that is enough, by bisection: more topics hardly ever make a verdict less likely.
    low, high = np.full(_POPULATIONS, -1), np.full(_POPULATIONS, len(sizes))
    while (high - low > 1).any():
        middle = np.clip((low + high) // 2, 0, len(sizes) - 1)
        enough = is_enough(middle)
        searching = high - low > 1
        high = np.where(searching & enough, middle, high)
        low = np.where(searching & ~enough, middle, low)
    ordered = np.sort(np.append(sizes, np.inf)[high])
    return TopicsNeeded(float(ordered[_POPULATIONS // 4]), float(ordered[-_POPULATIONS // 4 - 1]))


def _has_verdict(means: FloatArray, reach: FloatArray, margin: float) -> BoolArray:
    """Return whether each draw has a verdict, shape (populations, draws).

    Args:
        means: shape (populations, options, draws).
        reach: how far the upper bound of each difference is above it, shape (populations, rivals, options).
        margin: the largest regret of a verdict.
    """
    result = np.zeros((len(means), means.shape[2]), dtype=bool)
    step = max(1, _CACHED // (means.shape[1] * means.shape[2]))
    for at in range(0, len(means), step):
        mean, upper_reach = means[at : at + step], reach[at : at + step]
        regret, upper = np.full_like(mean, -np.inf), np.empty_like(mean)
        for rival in range(mean.shape[1]):
            np.subtract(mean[:, rival, None], mean, out=upper)
            upper += upper_reach[:, rival, :, None]
            np.maximum(regret, upper, out=regret)
        gain = mean - mean[:, :1] - upper_reach[:, 0, :, None]
        fits = regret <= margin
        result[at : at + step] = fits[:, 0] | (fits[:, 1:] & (gain[:, 1:] > 0)).any(axis=1)
    return result


def _critical_values(values: FloatArray, confidence: float, seed: int) -> FloatArray:
    """Return the critical value of each option as the control of the others; 0 if it equals all of them."""
    result = np.zeros(len(values))
    for i, control in enumerate(values):
        differences = np.delete(control - values, i, axis=0)
        differs = np.abs(differences).reshape(len(differences), -1).max(axis=1, initial=0.0) > LABELED_ALIKE
        if differs.any():
            covariance, degrees = mean_covariance(differences[differs])
            varies = np.sqrt(np.diag(covariance)) > ROUNDED
            if varies.any():
                result[i] = critical_value(covariance[np.ix_(varies, varies)], degrees, confidence, seed)
    return result


def _difference_variances(covariance: FloatArray) -> FloatArray:
    """Return the variance of the difference of each two rows, from the covariance of the rows."""
    variance = np.diagonal(covariance, axis1=-2, axis2=-1)
    result: FloatArray = variance[..., :, None] + variance[..., None, :] - 2.0 * covariance
    return np.maximum(result, 0.0)
