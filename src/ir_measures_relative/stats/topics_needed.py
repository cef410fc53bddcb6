"""The number of topics for a likely verdict by regret, and for a paired test with some power."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ..data.arrays import BoolArray, FloatArray, IntArray
from ..tolerances import LABELED_ALIKE, ROUNDED
from .intervals import FEWEST_DIFFERING, mean_and_error, student_quantile
from .regret import average_labelings, critical_value, mean_covariance

#: Larger numbers of topics are not computed.
MOST_TOPICS = 10_000
# The probability of a verdict, or the power of a test, that the topics are to bring.
_POWER = 0.8
# The number of populations that are resampled from the topics; of samples from each; of sizes that are tried.
_POPULATIONS, _SAMPLES, _SIZES = 100, 100, 48


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
    # How critical values change with the number of topics. At a confidence of 0.5, Student's is 0 for all of them.
    tail = max(confidence, 0.51)
    scale = student_quantile(sizes - 1, tail) / student_quantile(topics - 1, tail)

    def is_enough(index: IntArray) -> BoolArray:
        n = sizes[index][:, None, None]
        means = mean[:, :, None] + deviation / np.sqrt(n) + drawn_between
        error = np.sqrt(np.maximum(variance / n + variance_between, 0.0))
        reach = error * critical[None, :, None] * scale[index][:, None, None]
        result: BoolArray = _has_verdict(means, reach, margin).mean(axis=1) >= _POWER
        return result

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
        reach: what is added to the difference of a rival and an option, shape (populations, rivals, options).
        margin: the largest regret of a verdict.
    """
    regret = np.full_like(means, -np.inf)
    for rival in range(means.shape[1]):
        np.maximum(regret, means[:, rival, None] - means + reach[:, rival, :, None], out=regret)
    gain = means - means[:, :1] - reach[:, 0, :, None]
    fits = regret <= margin
    result: BoolArray = fits[:, 0] | (fits[:, 1:] & (gain[:, 1:] > 0)).any(axis=1)
    return result


def _critical_values(values: FloatArray, confidence: float, seed: int) -> FloatArray:
    """Return the critical value of each option as the control of the others; 0 where it equals them all."""
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


# ---- a paired test


class TopicsForPower(NamedTuple):
    """Numbers of topics that would settle a question with some power, if topics vary as in the sample."""

    needed: int  #: at the spread of the sample
    fewest: int  #: at the lower end of the interval of the spread
    most: int  #: at its upper end

    @property
    def possible(self) -> bool:
        """Whether so many topics could be judged."""
        return self.needed <= MOST_TOPICS


def topics_to_settle(
    values: FloatArray, reach: float, threshold: float, confidence: float
) -> TopicsForPower | None:
    """Return how many topics would settle, with 80 % power, on which side of a threshold a mean is.

    Args:
        values: one a topic.
        reach: how far the interval of the mean reaches to that side.
        threshold: what the mean is compared with.
        confidence: of the interval.

    Returns:
        the numbers; None where the values have no spread, or the mean is at the threshold.
    """
    n, differing = len(values), int(np.count_nonzero(np.abs(values) > LABELED_ALIKE))
    _, error, _ = mean_and_error(values)
    if not error > 0:
        return None
    if differing >= FEWEST_DIFFERING:
        widening = max(float(reach / (error * student_quantile(n - 1, (1 + confidence) / 2))), 1.0)
        return topics_for_power(values, threshold, confidence, widening)
    topics = topics_for_power(values, threshold, confidence)
    least = -(-FEWEST_DIFFERING * n // differing)  # so many have enough topics that differ
    return topics and TopicsForPower(*(max(n, least) for n in topics))


def topics_for_power(
    values: FloatArray, threshold: float, confidence: float, widening: float = 1.0
) -> TopicsForPower | None:
    """Return how many topics have an interval that excludes a threshold, with 80 % power.

    It is the smallest N with ``sqrt(N)·|mean - threshold|/s >= widening·t(N - 1, (1 + confidence)/2) + t(N - 1, 0.8)``.
    s is itself known from a sample: ``fewest`` and ``most`` are N at the ends of its 95 % interval. None where the mean
    is at the threshold.
    """
    from scipy.special import chdtri

    n = len(values)
    if n < 2:
        return None
    gap, sd = abs(float(values.mean()) - threshold), float(values.std(ddof=1))
    if gap <= 1e-12:
        return None
    narrow, wide = (math.sqrt((n - 1) / float(chdtri(n - 1, tail))) for tail in (0.025, 0.975))
    effects = (gap / (sd * factor) for factor in (1.0, narrow, wide))
    return TopicsForPower(*(_smallest_sample(effect, confidence, widening) for effect in effects))


def _smallest_sample(effect: float, confidence: float, widening: float) -> int:
    """Return the smallest N of :func:`topics_for_power`, at most 100 times :data:`MOST_TOPICS`."""
    low, high = 1, 100 * MOST_TOPICS
    while high - low > 1:
        n = (low + high) // 2
        reach = widening * student_quantile(n - 1, (1 + confidence) / 2) + student_quantile(n - 1, _POWER)
        low, high = (low, n) if math.sqrt(n) * effect >= reach else (n, high)
    return high
