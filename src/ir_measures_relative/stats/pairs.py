"""Pairs of runs, as differences by topic, and the one rule for ties."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..arrays import BoolArray, FloatArray, IntArray
from ..options import ROUNDED, TIED


def tie_limit(values: FloatArray) -> float:
    """The largest difference of two values that is still a tie.

    It is :data:`~ir_measures_relative.options.TIED` of the spread of the values: of all runs and topics that are
    compared at once, so of two runs' values where there are only two. Values that are all the same but for rounding
    have no spread; a difference of :data:`~ir_measures_relative.options.ROUNDED` of the largest value is a tie in any
    case.

    Args:
        values: of any shape; NaN do not count.
    """
    known = values[~np.isnan(values)]
    return max(TIED * float(np.ptp(known)), ROUNDED * float(np.abs(known).max())) if known.size else 0.0


def with_ties(values: FloatArray, limit: float) -> FloatArray:
    """The values, of which those that are tied are equal: each is the lowest of those it is tied with.

    Args:
        values: shape (…, n), compared along the last axis.
        limit: what :func:`tie_limit` says.
    """
    order = np.argsort(values, axis=-1, kind="stable")
    ordered = np.take_along_axis(values, order, axis=-1)
    apart = np.diff(ordered, axis=-1, prepend=-np.inf) > limit
    lowest = np.maximum.accumulate(np.where(apart, np.arange(values.shape[-1]), 0), axis=-1)
    result = np.empty_like(values)
    np.put_along_axis(result, order, np.take_along_axis(ordered, lowest, axis=-1), axis=-1)
    return result


@dataclass(frozen=True)
class Pairs:
    """Pairs of runs on the same topics.

    Attributes:
        differences: pairs × topics: by how much the first run is better than the second. 0 of a tie; NaN on topics
            that one of the two has no value on.
        limit: up to which a difference is a tie.
        values: runs × topics, of which these are all pairs, the earlier run first; None where only differences are
            known.
    """

    differences: FloatArray
    limit: float
    values: FloatArray | None = None

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

    @classmethod
    def of_runs(cls, values: FloatArray) -> Pairs:
        """All pairs of runs, the earlier one first.

        Args:
            values: runs × topics, without NaN.
        """
        first, second = np.triu_indices(len(values), 1)
        limit = tie_limit(values)
        return cls(_tied(values[first] - values[second], limit), limit, values)

    def on(self, topics: BoolArray, rows: IntArray | None = None) -> Pairs:
        """All pairs on some topics, or only the differences of some pairs; tied as before."""
        if rows is not None:
            return Pairs(self.differences[rows][:, topics], self.limit)
        values = None if self.values is None else self.values[:, topics]
        return Pairs(self.differences[:, topics], self.limit, values)

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
