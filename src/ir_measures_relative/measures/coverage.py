"""What a group of runs is worth together, as a function of sets."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from ..arrays import FloatArray, IntArray, max_by_query


@dataclass(frozen=True)
class Coverage:
    """The value v(S) of a group S of runs: how far they cover a number of items, each with its weight.

    Monotone, and submodular unless ``query`` is given: what a run adds to a group is never more than what it adds to
    a part of it. So greedy selection reaches at least 1 - 1/e of the best group of its size, and ``v(T)`` plus the
    largest n gains over T is a bound for every group of n (Nemhauser, Wolsey and Fisher, "An Analysis of
    Approximations for Maximizing Submodular Set Functions", Mathematical Programming, 1978).

    Attributes:
        seen: how far each run covers each item, in [0, 1], shape (runs, items).
        weight: what each item is worth, at least 0.
        best: a group covers an item as far as the best of its runs; else what one run leaves open the next may cover.
        query: the query of each item, ascending, where a query is worth its largest item and not the sum of all.
    """

    seen: FloatArray
    weight: FloatArray
    best: bool = False
    query: IntArray | None = None

    @property
    def submodular(self) -> bool:
        """Whether the bounds hold."""
        return self.query is None

    def covered(self, runs: Iterable[int]) -> FloatArray:
        """How far a group covers each item."""
        covered: FloatArray = np.zeros(len(self.weight))
        for run in runs:
            covered = self.joined(covered, run)
        return covered

    def joined(self, covered: FloatArray, run: int) -> FloatArray:
        """How far a group and one run more cover each item."""
        return self._with(covered, self.seen[run])

    def value(self, covered: FloatArray) -> float:
        """v of a group."""
        if self.query is None:
            return float(self.weight @ covered)
        n_queries = int(self.query.max(initial=-1)) + 1
        return float(max_by_query(self.weight * covered, self.query, n_queries).sum())

    def gains(self, covered: FloatArray) -> FloatArray:
        """What each run would add to the value of a group."""
        if self.query is not None:
            now = self.value(covered)
            return np.array([self.value(self._with(covered, seen)) - now for seen in self.seen])
        if self.best:
            return np.maximum(self.seen - covered, 0.0) @ self.weight
        gains: FloatArray = self.seen @ (self.weight * (1.0 - covered))
        return gains

    def _with(self, covered: FloatArray, seen: FloatArray) -> FloatArray:
        if self.best:
            return np.maximum(covered, seen)
        return 1.0 - (1.0 - covered) * (1.0 - seen)
