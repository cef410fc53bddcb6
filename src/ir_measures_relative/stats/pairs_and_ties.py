"""Pairs of runs, as differences by topic; the one rule for ties; and random numbers by topic."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from ..data.arrays import BoolArray, FloatArray, IntArray
from ..tolerances import ROUNDED, TIED

#: How many random numbers, or values of resamples, are held at once.
BATCH = 2**22


def tie_limit(values: FloatArray) -> float:
    """The largest difference that is still a tie: :data:`.TIED` of the spread of all values compared at once."""
    defined = values[~np.isnan(values)]
    if not defined.size:
        return 0.0
    return max(TIED * float(np.ptp(defined)), ROUNDED * float(np.abs(defined).max()))


def with_ties(values: FloatArray, limit: float) -> FloatArray:
    """The values, of which those that are tied along the last axis are equal: each is the lowest it is tied with."""
    order = np.argsort(values, axis=-1, kind="stable")
    ordered = np.take_along_axis(values, order, axis=-1)
    apart = np.diff(ordered, axis=-1, prepend=-np.inf) > limit
    lowest = np.maximum.accumulate(np.where(apart, np.arange(values.shape[-1]), 0), axis=-1)
    result = np.empty_like(values)
    np.put_along_axis(result, order, np.take_along_axis(ordered, lowest, axis=-1), axis=-1)
    return result


@dataclass(frozen=True)
class Pairs:
    """Pairs of runs on the same topics: by how much the first is better, 0 of a tie, NaN where one is unknown.

    Attributes:
        differences: pairs × topics.
        limit: the largest difference that is still a tie.
    """

    differences: FloatArray
    limit: float

    @classmethod
    def between(cls, one: FloatArray, other: FloatArray, limit: float | None = None) -> Pairs:
        """Pairs of values, pairs × topics each; tied by ``limit``, or by the spread of these values."""
        if limit is None:
            limit = tie_limit(np.concatenate([one.ravel(), other.ravel()]))
        return cls(_tied(one - other, limit), limit)

    @classmethod
    def of_differences(cls, differences: FloatArray) -> Pairs:
        """Pairs that only have differences, pairs × topics: their spread is from the largest to its negative."""
        limit = tie_limit(np.concatenate([differences.ravel(), -differences.ravel()]))
        return cls(_tied(differences, limit), limit)

    @cached_property
    def wins(self) -> IntArray:
        """On how many topics each pair's first run is better."""
        wins: IntArray = (self.differences > 0).sum(axis=1)
        return wins

    @cached_property
    def losses(self) -> IntArray:
        """On how many topics each pair's first run is worse."""
        losses: IntArray = (self.differences < 0).sum(axis=1)
        return losses

    @cached_property
    def constant(self) -> BoolArray:
        """Whether the differences of a pair are the same on all topics, 0 or another number; NaN are not allowed."""
        result: BoolArray = np.ptp(self.differences, axis=1) <= self.limit
        return result


def _tied(differences: FloatArray, limit: float) -> FloatArray:
    return np.where(np.abs(differences) <= limit, 0.0, differences)


@lru_cache(maxsize=1)  # a decision asks for the same ones again and again
def topic_counts(resamples: int, topics: int, seed: int) -> NDArray[np.integer]:
    """Count how often each resample of topics, drawn with replacement, has each topic.

    Returns:
        shape (resamples, topics), shared by callers; of one byte each where no count is above 255.
    """
    random, counts = np.random.default_rng(seed), np.zeros((resamples, topics), dtype=np.uint8)
    step = max(1, BATCH // max(topics, 1))
    for start in range(0, resamples, step):
        size = min(step, resamples - start)
        draws = random.integers(topics, size=(size, topics)) + topics * np.arange(size)[:, None]
        of_block = np.bincount(draws.ravel(), minlength=size * topics).reshape(size, topics)
        if of_block.max(initial=0) > np.iinfo(counts.dtype).max:
            counts = counts.astype(np.int64)
        counts[start : start + size] = of_block
    counts.flags.writeable = False
    return counts


def flipped_signs(resamples: int, topics: int, seed: int) -> tuple[FloatArray, bool]:
    """Signs by topic, resamples × topics; and whether these are all that there are, each once."""
    if 2**topics <= resamples:
        every: FloatArray = (np.arange(2**topics)[:, None] >> np.arange(topics) & 1).astype(np.float64)
        return 1.0 - 2.0 * every, True
    order = np.tile(np.arange(2, dtype=np.int8), (resamples, topics, 1))
    # As scipy's permutation_test draws them.
    drawn: FloatArray = np.random.default_rng(seed).permuted(order, axis=-1)[..., 0].astype(np.float64)
    return 1.0 - 2.0 * drawn, False


def places(samples: int, n: int, seed: int) -> IntArray:
    """At which place of a random order each of n topics stands, from 0: samples × topics."""
    return np.random.default_rng(seed).permuted(np.tile(np.arange(n), (samples, 1)), axis=1)
