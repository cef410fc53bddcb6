"""How many topics would settle what a sample of them leaves open."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ..data.arrays import FloatArray
from ..tolerances import LABELED_ALIKE
from .intervals import FEWEST_DIFFERING, mean_and_error

#: More topics than this are no advice: the difference is too close to what it is compared with.
MOST_TOPICS = 10_000


class TopicsForPower(NamedTuple):
    """How many topics would settle a question with some power, were their spread that of the sample."""

    needed: int  #: at the spread of the sample
    fewest: int  #: at the lower end of the interval of the spread
    most: int  #: at its upper end

    @property
    def possible(self) -> bool:
        """Whether that is a number of topics that anybody judges."""
        return self.needed <= MOST_TOPICS


def topics_to_settle(
    values: FloatArray, reach: float, threshold: float, confidence: float
) -> TopicsForPower | None:
    """How many topics would settle, with 80 % power, on which side of a threshold a mean is; None where none is known
    to.

    ``reach`` is how far the interval of the mean reaches to that side.
    """
    from scipy.special import stdtrit

    n, differing = len(values), int(np.count_nonzero(np.abs(values) > LABELED_ALIKE))
    _, error, _ = mean_and_error(values)
    if not error > 0:
        return None
    if differing >= FEWEST_DIFFERING:
        widening = max(float(reach / (error * stdtrit(n - 1, (1 + confidence) / 2))), 1.0)
        return topics_for_power(values, threshold, confidence, widening)
    found = topics_for_power(values, threshold, confidence)
    least = -(-FEWEST_DIFFERING * n // differing)  # so many hold enough topics that differ
    return found and TopicsForPower(*(max(one, least) for one in found))


def topics_for_power(
    values: FloatArray, threshold: float, confidence: float, widening: float = 1.0, power: float = 0.8
) -> TopicsForPower | None:
    """How many topics have an interval that leaves a threshold out, with some power: the smallest N with

    ``sqrt(N) * |mean - threshold| / s >= widening * t(N - 1, (1 + confidence) / 2) + t(N - 1, power)``. s is itself
    known from a sample: ``fewest`` and ``most`` are N at the ends of its 95 % interval. None where the mean is at the
    threshold.
    """
    from scipy.special import chdtri

    n = len(values)
    if n < 2:
        return None
    gap, spread = abs(float(values.mean()) - threshold), float(values.std(ddof=1))
    if gap <= 1e-12:
        return None
    narrow, wide = (math.sqrt((n - 1) / float(chdtri(n - 1, tail))) for tail in (0.025, 0.975))
    found = (
        _smallest(gap / (spread * factor), confidence, widening, power) for factor in (1.0, narrow, wide)
    )
    return TopicsForPower(*found)


def _smallest(effect: float, confidence: float, widening: float, power: float) -> int:
    """The smallest N of :func:`topics_for_power`, at most one more than is of use."""
    from scipy.special import stdtrit

    def enough(n: int) -> bool:
        reach = widening * stdtrit(n - 1, (1 + confidence) / 2) + stdtrit(n - 1, power)
        return bool(math.sqrt(n) * effect >= reach)

    low, high = 1, 100 * MOST_TOPICS
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high
