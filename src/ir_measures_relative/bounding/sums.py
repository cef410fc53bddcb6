"""Measures that are sums, the maximum, or a mean, over documents: no ideal ranking, and no order of the labels."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..context.view import View
from ..data.arrays import BoolArray, FloatArray, IntArray, max_by_query
from ..measures.med_pairs import greatest_lead, swings
from ..work import Work
from .model import Interval, Model


class SumModel(Model):
    """A sum: each open document takes the label that is best, or worst. See :meth:`.ModelBuilder.additive`."""

    def __init__(
        self,
        views: Sequence[View],
        weight: FloatArray,
        gain: FloatArray | BoolArray,
        lowest: float,
        highest: float,
    ) -> None:
        super().__init__(views, gain)
        self.weight, self.lowest, self.highest = weight, lowest, highest

    def value(self) -> FloatArray:
        return self.sums(self.weight * self.known_gain, ~self.open)

    def sampled(self, gains: FloatArray) -> FloatArray:
        result = np.repeat(self.value()[:, None, :], len(gains), axis=1)
        for run, weight in enumerate(self.weight[:, self.open]):
            result[run] += self.over_open(gains * weight)
        return result

    def one(self, work: Work) -> Interval:
        known, free = self.value(), self.sums(self.weight, self.open)
        return Interval.attained(known + self.lowest * free, known + self.highest * free)

    def difference(self, a: IntArray, b: IntArray, work: Work) -> Interval:
        known, rows = self.value(), np.flatnonzero(self.open)
        weight, query, n = self.weight[:, rows], self.docs.query[rows], self.docs.n_queries
        pairs = zip(a, b, strict=True)
        ends = np.array([swings(weight[x] - weight[y], query, n) for x, y in pairs]).reshape(len(a), 2, n)
        up, down = ends[:, 0], ends[:, 1]
        lower = known[a] - known[b] + self.lowest * up + self.highest * down
        return Interval.attained(lower, known[a] - known[b] + self.highest * up + self.lowest * down)

    def influence(self, a: int, b: int, reach: FloatArray) -> FloatArray:
        moved = np.abs(self.weight[a] - self.weight[b]) * (self.highest - self.lowest)
        return np.where(self.open, moved, 0.0)


class MaximumModel(Model):
    """Reciprocal rank and its like: ``max worth(d)`` over the relevant documents. See :meth:`.ModelBuilder.best`."""

    def __init__(self, views: Sequence[View], worth: FloatArray, relevant: BoolArray) -> None:
        super().__init__(views, relevant)
        self.worth = worth
        known = [self._best(row * relevant, ~self.open) for row in worth]
        self._known = np.array(known).reshape(len(worth), self.docs.n_queries)

    def _best(self, values: FloatArray, among: BoolArray) -> FloatArray:
        return max_by_query(values[among], self.docs.query[among], self.docs.n_queries)

    def value(self) -> FloatArray:
        return self._known

    def sampled(self, gains: FloatArray) -> FloatArray:
        result = np.repeat(self._known[:, None, :], len(gains), axis=1)
        for run, worth in enumerate(self.worth[:, self.open]):
            result[run] = np.maximum(result[run], self.over_open((gains > 0) * worth, np.maximum))
        return result

    def one(self, work: Work) -> Interval:
        upper = np.maximum(self._known, [self._best(row, self.open) for row in self.worth])
        return Interval.attained(self._known, upper)

    def difference(self, a: IntArray, b: IntArray, work: Work) -> Interval:
        ends = [(-self._largest(y, x), self._largest(x, y)) for x, y in zip(a, b, strict=True)]
        lower, upper = np.array(ends).reshape(len(a), 2, self.docs.n_queries).swapaxes(0, 1)
        return Interval.attained(lower, upper)

    def _largest(self, winner: int, loser: int) -> FloatArray:
        rows = np.flatnonzero(self.open)
        known, query = (self._known[winner], self._known[loser]), self.docs.query[rows]
        return greatest_lead(self.worth[winner, rows], self.worth[loser, rows], known, query)[0]

    def influence(self, a: int, b: int, reach: FloatArray) -> FloatArray:
        query = self.docs.query
        x, y = (np.maximum(self.worth[i] - self._known[i, query], 0.0) for i in (a, b))
        return np.where(self.open, np.maximum(x, y), 0.0)
