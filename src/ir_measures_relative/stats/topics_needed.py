"""How many topics a decision by regret needs until it is likely to have a verdict."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..data.arrays import BoolArray, FloatArray, IntArray
from ..tolerances import LABELED_ALIKE, ROUNDED
from .intervals import FEWEST_DIFFERING
from .regret import critical_value, mean_covariance, student_quantile

#: More topics than this are not counted.
MOST_TOPICS = 10_000
# How many populations are resampled from the topics; how many samples are drawn of each; how many sizes are tried.
_POPULATIONS, _SAMPLES, _SIZES = 100, 100, 48


class TopicsNeeded(NamedTuple):
    """The middle half of the numbers of topics that resampled topics ask for; inf is more than :data:`MOST_TOPICS`."""

    low: float
    high: float


def topics_needed(
    values: FloatArray, margin: float, *, confidence: float = 0.95, power: float = 0.8, seed: int = 0
) -> TopicsNeeded | None:
    """Return how many topics in all a verdict by :func:`.option_bounds` needs with some probability.

    The means of options on further topics are not known. So the topics are resampled with replacement, and each
    resample stands for a population: its means and its covariance say how likely n topics of it bring a verdict. The
    number is the least n for which that is ``power``; the range is the middle half of these over 100 resamples. What
    unjudged documents leave open stays as it is.

    Args:
        values: of every option, the first of which is kept, on every topic; shape (options, topics) or (options,
            labelings, topics).
        margin: the smallest difference that matters.
        confidence: of the bounds.
        power: how likely a verdict is to be.
        seed: of the draws.

    Returns:
        the range; None with fewer than five topics.
    """
    topics = values.shape[-1]
    if topics < FEWEST_DIFFERING:
        return None
    random = np.random.default_rng(seed)
    by_topic = values if values.ndim == 2 else values.mean(axis=1)
    resampled = by_topic[:, random.integers(topics, size=(_POPULATIONS, topics))].swapaxes(0, 1)
    mean = resampled.mean(axis=2)
    centred = (resampled - mean[:, :, None]) / np.sqrt(topics - 1)
    # Of one topic: the deviations of drawn means, and the variances of differences; of n topics, over n.
    deviation = centred @ random.standard_normal((topics, _SAMPLES))
    variance = _of_differences(centred @ centred.swapaxes(1, 2))
    between = np.zeros((len(values), 1))
    if values.ndim == 3:
        m = values.shape[1]
        of_labelings = values.mean(axis=2)
        between = (of_labelings - of_labelings.mean(axis=1, keepdims=True)) * np.sqrt((1 + 1 / m) / (m - 1))
    drawn_between = between @ random.standard_normal((between.shape[1], _SAMPLES))
    variance_between = _of_differences(between @ between.T)
    critical = _critical_values(values, confidence, seed)
    sizes = np.unique(np.geomspace(FEWEST_DIFFERING, MOST_TOPICS, _SIZES).round())
    scale = np.array([student_quantile(int(n) - 1, confidence) for n in sizes])
    scale /= student_quantile(topics - 1, confidence)

    def is_enough(index: IntArray) -> BoolArray:
        n = sizes[index][:, None, None]
        means = mean[:, :, None] + deviation / np.sqrt(n) + drawn_between
        error = np.sqrt(np.maximum(variance / n + variance_between, 0.0))
        reach = error * critical[None, :, None] * scale[index][:, None, None]
        result: BoolArray = _settles(means, reach, margin).mean(axis=1) >= power
        return result

    # The first size that is enough, by bisection: more topics hardly ever make a verdict less likely.
    low, high = np.full(_POPULATIONS, -1), np.full(_POPULATIONS, len(sizes))
    while (high - low > 1).any():
        middle = np.clip((low + high) // 2, 0, len(sizes) - 1)
        enough = is_enough(middle)
        searching = high - low > 1
        high = np.where(searching & enough, middle, high)
        low = np.where(searching & ~enough, middle, low)
    found = np.append(sizes, np.inf)[high]
    ordered = np.sort(found)
    return TopicsNeeded(float(ordered[_POPULATIONS // 4]), float(ordered[-_POPULATIONS // 4 - 1]))


def _settles(means: FloatArray, reach: FloatArray, margin: float) -> BoolArray:
    """Return in which draws there is a verdict, shape (populations, draws).

    Args:
        means: shape (populations, options, draws).
        reach: what is added to the difference of a rival and an option, shape (populations, rivals, options).
        margin: the largest regret of a verdict.
    """
    regret = np.full_like(means, -np.inf)
    for rival in range(means.shape[1]):
        of_rival = means[:, rival, None] - means + reach[:, rival, :, None]
        np.maximum(regret, of_rival, out=regret)
    gain = means - means[:, :1] - reach[:, 0, :, None]
    fits = regret <= margin
    result: BoolArray = fits[:, 0] | (fits[:, 1:] & (gain[:, 1:] > 0)).any(axis=1)
    return result


def _critical_values(values: FloatArray, confidence: float, seed: int) -> FloatArray:
    """Return the critical value of each option as the control of the others; 0 where it equals them all."""
    result = np.zeros(len(values))
    for i, of_control in enumerate(values):
        less = np.delete(of_control - values, i, axis=0)
        less = less[np.abs(less).reshape(len(less), -1).max(axis=1) > LABELED_ALIKE]
        if len(less):
            covariance, degrees = mean_covariance(less)
            error = np.sqrt(np.diag(covariance))
            varies = error > ROUNDED
            if varies.any():
                result[i] = critical_value(covariance[np.ix_(varies, varies)], degrees, confidence, seed)
    return result


def _of_differences(covariance: FloatArray) -> FloatArray:
    """Return the variance of the difference of each two rows, of which this is the covariance."""
    of_rows = np.diagonal(covariance, axis1=-2, axis2=-1)
    result: FloatArray = of_rows[..., :, None] + of_rows[..., None, :] - 2.0 * covariance
    return np.maximum(result, 0.0)
