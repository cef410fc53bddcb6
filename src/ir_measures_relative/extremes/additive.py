"""Measures that are sums, or the maximum, over documents: each label is best, or worst, by itself."""

from __future__ import annotations

import numpy as np

from ..arrays import BoolArray, FloatArray, IntArray, max_by_query, sum_by_query
from ..comparison import JudgedTop
from ..jobs import Work
from ..measures.browsing import Geometric
from .labelings import OpenDocuments
from .model import Interval, Valued


def swings(weight: FloatArray, query: IntArray, n_queries: int) -> tuple[FloatArray, FloatArray]:
    """How far the open documents of each query can raise a sum, and lower it, with gains of 0 or 1.

    Args:
        weight: of each open document, of either sign.
        query: its query.
    """
    raised, lowered = np.maximum(weight, 0.0), np.minimum(weight, 0.0)
    return sum_by_query(raised, query, n_queries), sum_by_query(lowered, query, n_queries)


def greatest_lead(
    won: FloatArray, lost: FloatArray, known: tuple[FloatArray, FloatArray], query: IntArray
) -> tuple[FloatArray, FloatArray]:
    """By how much one run can lead another where each is worth its best relevant document.

    Where a labeling makes the lead as large as can be, one relevant document decides the winner's value, and any other
    open one can only raise the loser's: it is enough to try each open document alone, and none.

    Args:
        won: the worth of each open document in the winner.
        lost: in the loser.
        known: the worth of the two where no open document is relevant, one a query.
        query: of each open document.

    Returns:
        the greatest lead of each query, and the lead where each open document alone is relevant.
    """
    leads = np.maximum(won, known[0][query]) - np.maximum(lost, known[1][query])
    greatest = known[0] - known[1]
    np.maximum.at(greatest, query, leads)
    return greatest, leads


class Additive(Valued):
    """``Σ_d weight(d)·gain(d)``: each open document takes the label that is best, or worst, for the value.

    Args:
        weight: of every document in every run, at least 0; shape (runs, documents).
        gain: of every judged document.
        lowest: the least gain that a label can give.
        highest: the greatest.
    """

    def __init__(
        self, open_docs: OpenDocuments, weight: FloatArray, gain: FloatArray, lowest: float, highest: float
    ) -> None:
        super().__init__(open_docs)
        self.weight = weight
        self.gain = np.where(self.open, 0.0, gain)
        self.lowest, self.highest = lowest, highest

    def value(self) -> FloatArray:
        return self.open_docs.sums(self.weight * self.gain, ~self.open)

    @property
    def known_gain(self) -> FloatArray:
        return self.gain

    def sampled(self, gains: FloatArray) -> FloatArray:
        result = np.repeat(self.value()[:, None, :], len(gains), axis=1)
        for run, weight in enumerate(self.weight[:, self.open]):
            result[run] += self.over_open(gains * weight)
        return result

    def one(self, work: Work) -> Interval:
        known, free = self.value(), self.open_docs.sums(self.weight, self.open)
        lower, upper = known + self.lowest * free, known + self.highest * free
        return Interval(lower, upper, np.ones(lower.shape, dtype=bool))

    def difference(self, a: IntArray, b: IntArray, work: Work) -> Interval:
        known, rows = self.value(), np.flatnonzero(self.open)
        weight, query, n = self.weight[:, rows], self.open_docs.docs.query[rows], self.open_docs.n_queries
        pairs = zip(a, b, strict=True)
        ends = np.array([swings(weight[x] - weight[y], query, n) for x, y in pairs]).reshape(len(a), 2, n)
        up, down = ends[:, 0], ends[:, 1]
        lower = known[a] - known[b] + self.lowest * up + self.highest * down
        upper = known[a] - known[b] + self.highest * up + self.lowest * down
        return Interval(lower, upper, np.ones(lower.shape, dtype=bool))

    def influence(self, a: int, b: int, reach: FloatArray) -> FloatArray:
        moved = np.abs(self.weight[a] - self.weight[b]) * (self.highest - self.lowest)
        result: FloatArray = np.where(self.open, moved, 0.0)
        return result


class Followed(Additive):
    """RBP of rankings that go on: all that follows one may be relevant, and nothing that follows another.

    That is worth ``p^min(length, k)``, as in MED(base='RBP'), and nothing follows two rankings that are the same to
    their last documents. No finite ranking attains such an end, and long ones come as near as one likes.

    Args:
        position: of every document in every run, shape (runs, documents).
        gain: of every judged document.
        p: the persistence.
    """

    def __init__(self, open_docs: OpenDocuments, position: IntArray, gain: FloatArray, p: float) -> None:
        browsing = Geometric(p)
        super().__init__(open_docs, browsing.share(position), gain, 0.0, 1.0)
        self.position = position
        held = (position > 0).astype(np.float64)
        lengths = open_docs.sums(held, np.ones(len(open_docs.docs), dtype=bool)).astype(np.int64)
        self.beyond: FloatArray = browsing.seen(lengths + 1)

    def closed(self) -> BoolArray:
        return np.zeros(self.open_docs.n_queries, dtype=bool)

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
        judged, docs = self.open_docs.judged, self.open_docs.docs
        same: BoolArray = np.ones(self.open_docs.n_queries, dtype=bool)
        same[docs.query[self.position[x] != self.position[y]]] = False
        first, second = (judged.context.runs[judged.names[i]] for i in (x, y))
        return same_rankings(judged.top(first, None), judged.top(second, None), same) if same.any() else same


def same_rankings(run: JudgedTop, reference: JudgedTop, among: BoolArray) -> BoolArray:
    """Which of the queries ``among`` the two runs rank alike, by their whole rankings."""
    if run is reference or not among.any():
        return among
    n = len(among)
    sizes_y, sizes_z = (np.bincount(side.docs.query, minlength=n) for side in (run, reference))
    same: BoolArray = among & (sizes_y == sizes_z)
    rows_y, rows_z = (np.flatnonzero(same[side.docs.query]) for side in (run, reference))
    alike = run.docs.ids.equal(rows_y, reference.docs.ids, rows_z)
    same[run.docs.query[rows_y[~alike]]] = False
    return same


class Best(Valued):
    """Reciprocal rank and its like: ``max worth(d)`` over the relevant documents, exact for one run and for two.

    Args:
        worth: of every document in every run, at least 0; shape (runs, documents).
        relevant: which judged documents are.
    """

    def __init__(self, open_docs: OpenDocuments, worth: FloatArray, relevant: BoolArray) -> None:
        super().__init__(open_docs)
        self.worth = worth
        self.relevant = relevant
        self._known = np.array([self._best(row * relevant, ~self.open) for row in worth]).reshape(
            len(worth), open_docs.n_queries
        )

    def _best(self, values: FloatArray, among: BoolArray) -> FloatArray:
        return max_by_query(values[among], self.open_docs.docs.query[among], self.open_docs.n_queries)

    def value(self) -> FloatArray:
        return self._known

    @property
    def known_gain(self) -> FloatArray:
        return self.relevant.astype(np.float64)

    def sampled(self, gains: FloatArray) -> FloatArray:
        result = np.repeat(self._known[:, None, :], len(gains), axis=1)
        for run, worth in enumerate(self.worth[:, self.open]):
            result[run] = np.maximum(result[run], self.over_open((gains > 0) * worth, np.maximum))
        return result

    def one(self, work: Work) -> Interval:
        upper = np.maximum(self._known, [self._best(row, self.open) for row in self.worth])
        return Interval(self._known, upper, np.ones(upper.shape, dtype=bool))

    def difference(self, a: IntArray, b: IntArray, work: Work) -> Interval:
        lower = np.array([-self._largest(y, x) for x, y in zip(a, b, strict=True)])
        upper = np.array([self._largest(x, y) for x, y in zip(a, b, strict=True)])
        shape = len(a), self.open_docs.n_queries
        return Interval(lower.reshape(shape), upper.reshape(shape), np.ones(shape, dtype=bool))

    def _largest(self, winner: int, loser: int) -> FloatArray:
        rows = np.flatnonzero(self.open)
        known, query = (self._known[winner], self._known[loser]), self.open_docs.docs.query[rows]
        return greatest_lead(self.worth[winner, rows], self.worth[loser, rows], known, query)[0]

    def influence(self, a: int, b: int, reach: FloatArray) -> FloatArray:
        query = self.open_docs.docs.query
        x, y = (np.maximum(self.worth[i] - self._known[i, query], 0.0) for i in (a, b))
        result: FloatArray = np.where(self.open, np.maximum(x, y), 0.0)
        return result
