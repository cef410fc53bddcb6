"""Reciprocal rank and its like: the value is that of the best relevant document."""

from __future__ import annotations

import numpy as np

from ..arrays import BoolArray, FloatArray, IntArray
from .labelings import OpenDocuments
from .model import Interval, Valued


class Best(Valued):
    """``max worth(d)`` over the relevant documents, exact for a run and for the difference of two.

    Where a labeling makes the difference of two runs as large as can be, one relevant document decides the winner's
    value, and any other open one can only raise the loser's: it is enough to try each open document alone, and none.

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
        result = np.zeros(self.open_docs.n_queries)
        np.maximum.at(result, self.open_docs.docs.query[among], values[among])
        return result

    def value(self) -> FloatArray:
        return self._known

    @property
    def known_gain(self) -> FloatArray:
        return self.relevant.astype(np.float64)

    def sampled(self, gains: FloatArray) -> FloatArray:
        rows = np.flatnonzero(self.open)
        result = np.repeat(self._known[:, None, :], len(gains), axis=1)
        if len(rows):
            query = self.open_docs.docs.query[rows]
            starts = np.flatnonzero(np.diff(query, prepend=-1))
            for run, worth in enumerate(self.worth[:, rows]):
                best = np.maximum.reduceat((gains > 0) * worth, starts, axis=1)
                result[run][:, query[starts]] = np.maximum(result[run][:, query[starts]], best)
        return result

    def one(self) -> Interval:
        upper = np.maximum(self._known, [self._best(row, self.open) for row in self.worth])
        return Interval(self._known, upper, np.ones(upper.shape, dtype=bool))

    def difference(self, a: IntArray, b: IntArray) -> Interval:
        lower = np.array([-self._largest(y, x) for x, y in zip(a, b, strict=True)])
        upper = np.array([self._largest(x, y) for x, y in zip(a, b, strict=True)])
        shape = len(a), self.open_docs.n_queries
        return Interval(lower.reshape(shape), upper.reshape(shape), np.ones(shape, dtype=bool))

    def _largest(self, winner: int, loser: int) -> FloatArray:
        rows = np.flatnonzero(self.open)
        query = self.open_docs.docs.query[rows]
        won = np.maximum(self.worth[winner, rows], self._known[winner, query])
        lost = np.maximum(self.worth[loser, rows], self._known[loser, query])
        result: FloatArray = self._known[winner] - self._known[loser]
        np.maximum.at(result, query, won - lost)
        return result

    def influence(self, a: int, b: int, reach: FloatArray) -> FloatArray:
        query = self.open_docs.docs.query
        x, y = (np.maximum(self.worth[i] - self._known[i, query], 0.0) for i in (a, b))
        result: FloatArray = np.where(self.open, np.maximum(x, y), 0.0)
        return result
