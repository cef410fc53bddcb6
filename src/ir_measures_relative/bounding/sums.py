"""Measures that are sums, the maximum, or a mean, over documents: no ideal ranking, and no order of the labels."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from ..context.tops import same_rankings
from ..context.view import View
from ..data.arrays import BoolArray, FloatArray, IntArray, max_by_query, ratio, table
from ..measures.bases.browsing import Geometric
from ..measures.med_pairs import greatest_lead, swings
from ..work import Work
from .model import Interval, Model

# With more open documents in two runs than this, the difference of two means is bounded by the intervals of the two.
_MOST_TRIED = 10


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


class RBPResidualModel(SumModel):
    """RBP of rankings that go on: all that follows one may be relevant, and nothing that follows another.

    That is worth ``p^min(length, k)``, as in MED(base='RBP'), and nothing follows two rankings that are the same to
    their last documents. No finite ranking attains such an end, and long ones come as near as one likes. The
    positions of every document in every run are of shape (runs, documents).
    """

    def __init__(self, views: Sequence[View], position: IntArray, relevant: BoolArray, p: float) -> None:
        browsing = Geometric(p)
        super().__init__(views, browsing.share(position), relevant, 0.0, 1.0)
        self.position = position
        held = (position > 0).astype(np.float64)
        lengths = self.sums(held, np.ones(len(self.docs), dtype=bool)).astype(np.int64)
        self.beyond: FloatArray = browsing.seen(lengths + 1)

    def closed(self) -> BoolArray:
        return np.zeros(self.docs.n_queries, dtype=bool)

    def one(self, work: Work) -> Interval:
        lower, upper, exact = super().one(work)
        return Interval(lower, upper + self.beyond, exact)

    def difference(self, a: IntArray, b: IntArray, work: Work) -> Interval:
        lower, upper, exact = super().difference(a, b, work)
        for i, (x, y) in enumerate(zip(a.tolist(), b.tolist(), strict=True)):
            goes_on = ~self._same(x, y)
            upper[i] += goes_on * self.beyond[x]
            lower[i] -= goes_on * self.beyond[y]
        return Interval(lower, upper, exact)

    def _same(self, x: int, y: int) -> BoolArray:
        """In which queries two runs are the same to their last documents."""
        same: BoolArray = np.ones(self.docs.n_queries, dtype=bool)
        same[self.docs.query[self.position[x] != self.position[y]]] = False
        first, second = (self.views[i].at(None) for i in (x, y))
        return same_rankings(first.top(), second.top(), same) if same.any() else same


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


class MeanModel(Model):
    """``Σ weight(d)·worth(d) / Σ weight(d)`` over the relevant documents; 0/0 is 0.

    A relevant document raises a mean if and only if its worth is above the mean. So for one run the greatest mean has
    the open documents of the greatest worth, down to some place, and the least mean those of the least worth. For two
    runs all labels of the open documents that count in either are tried, where these are few. See
    :meth:`.ModelBuilder.mean`.
    """

    def __init__(
        self, views: Sequence[View], weight: FloatArray, worth: FloatArray, relevant: BoolArray
    ) -> None:
        super().__init__(views, relevant)
        self.weight, self.worth = weight, worth
        #: What is added up and what it is divided by: of each document, and of those judged relevant together.
        self._parts = [(part, self.sums(part * relevant, ~self.open)) for part in (weight * worth, weight)]

    def sampled(self, gains: FloatArray) -> FloatArray:
        labels = np.tile(self.known_gain, (len(gains), 1))
        labels[:, self.open] = gains > 0
        every = np.ones(len(self.open), dtype=bool)
        found = [
            ratio(*(self.sums(labels * part[run], every) for part, _ in self._parts))
            for run in range(len(self.weight))
        ]
        return np.array(found).reshape(len(self.weight), len(gains), self.docs.n_queries)

    def one(self, work: Work) -> Interval:
        lower = [self._means(run, worth).min(axis=1) for run, worth in enumerate(self.worth)]
        upper = [self._means(run, -worth).max(axis=1) for run, worth in enumerate(self.worth)]
        shape = len(self.worth), self.docs.n_queries
        return Interval.attained(np.array(lower).reshape(shape), np.array(upper).reshape(shape))

    def _means(self, run: int, key: FloatArray) -> FloatArray:
        """The mean with the first 0, 1, 2 … open documents by rising ``key``, shape (queries, 1 + documents)."""
        rows, n = np.flatnonzero(self.open), self.docs.n_queries
        query = self.docs.query[rows]
        order = np.lexsort((key[rows], query))
        parts = []
        for values, known in self._parts:
            more = table(values[run, rows[order]], query[order], n, 0.0)
            parts.append(np.cumsum(np.concatenate([known[run, :, None], more], axis=1), axis=1))
        return ratio(*parts)

    def difference(self, a: IntArray, b: IntArray, work: Work) -> Interval:
        lower, upper, exact = super().difference(a, b, work)
        for i, (x, y) in enumerate(zip(a.tolist(), b.tolist(), strict=True)):
            counts = self.open & ((self.weight[x] > 0) | (self.weight[y] > 0))
            for q, rows in enumerate(self.rows_by_query(counts)):
                if len(rows) > _MOST_TRIED:
                    continue
                labels = np.array(list(itertools.product((0.0, 1.0), repeat=len(rows))))
                first, second = (
                    ratio(*(known[run, q] + labels @ part[run, rows] for part, known in self._parts))
                    for run in (x, y)
                )
                apart = first - second
                lower[i, q], upper[i, q], exact[i, q] = apart.min(), apart.max(), True
        return Interval(lower, upper, exact)

    def influence(self, a: int, b: int, reach: FloatArray) -> FloatArray:
        query = self.docs.query
        free = self.sums(self.weight, self.open)
        sizes = self._parts[1][1] + free / 2
        moved = sum(ratio(self.weight[run], sizes[run, query]) for run in (a, b))
        return np.where(self.open & (reach > 0)[query], moved, 0.0)
