"""A mean over the relevant documents that a run finds: a label moves the sum and what it is divided by."""

from __future__ import annotations

import itertools

import numpy as np

from ..arrays import BoolArray, FloatArray, IntArray, ratio, table
from ..jobs import Work
from .labelings import OpenDocuments
from .model import Interval, Model

# With more open documents in two runs than this, their difference is bounded by the intervals of the two.
_MOST_TRIED = 10


class Mean(Model):
    """``Σ weight(d)·worth(d) / Σ weight(d)`` over the relevant documents; 0/0 is 0.

    A relevant document raises a mean if and only if its worth is above the mean. So for one run the greatest mean has
    the open documents of the greatest worth, down to some place, and the least mean those of the least worth. For two
    runs all labels of the open documents that count in either are tried, where these are few.

    Args:
        weight: what a document counts in every run, at least 0; shape (runs, documents).
        worth: the values of which it is the mean, the same shape.
        relevant: which judged documents are relevant.
    """

    def __init__(
        self, open_docs: OpenDocuments, weight: FloatArray, worth: FloatArray, relevant: BoolArray
    ) -> None:
        super().__init__(open_docs)
        self.weight, self.worth, self.relevant = weight, worth, relevant
        self.added = weight * worth
        self._sums = open_docs.sums(self.added * relevant, ~self.open)
        self._sizes = open_docs.sums(weight * relevant, ~self.open)

    @property
    def known_gain(self) -> FloatArray:
        return self.relevant.astype(np.float64)

    def sampled(self, gains: FloatArray) -> FloatArray:
        labels = np.tile(self.known_gain, (len(gains), 1))
        labels[:, self.open] = gains > 0
        every = np.ones(len(self.open), dtype=bool)
        found = [
            ratio(*(self.open_docs.sums(labels * part, every) for part in parts))
            for parts in zip(self.added, self.weight, strict=True)
        ]
        return np.array(found).reshape(len(self.weight), len(gains), self.open_docs.n_queries)

    def one(self, work: Work) -> Interval:
        lower, upper = np.empty((2, *self._sums.shape))
        for run in range(len(self.weight)):
            lower[run] = self._means(run, self.worth[run]).min(axis=1)
            upper[run] = self._means(run, -self.worth[run]).max(axis=1)
        return Interval(lower, upper, np.ones(lower.shape, dtype=bool))

    def _means(self, run: int, key: FloatArray) -> FloatArray:
        """The mean with the first 0, 1, 2 … open documents by rising ``key``, shape (queries, 1 + documents)."""
        rows, n = np.flatnonzero(self.open), self.open_docs.n_queries
        query = self.open_docs.docs.query[rows]
        order = np.lexsort((key[rows], query))
        parts = []
        for values, known in self._parts:
            more = table(values[run, rows[order]], query[order], n, 0.0)
            parts.append(np.cumsum(np.concatenate([known[run, :, None], more], axis=1), axis=1))
        return ratio(*parts)

    def difference(self, a: IntArray, b: IntArray, work: Work) -> Interval:
        lower, upper, exact = super().difference(a, b, work)
        docs = self.open_docs.docs
        for i, (x, y) in enumerate(zip(a.tolist(), b.tolist(), strict=True)):
            rows = np.flatnonzero(self.open & ((self.weight[x] > 0) | (self.weight[y] > 0)))
            ends = np.searchsorted(docs.query[rows], np.arange(docs.n_queries + 1)).tolist()
            for q, (start, end) in enumerate(itertools.pairwise(ends)):
                if end - start > _MOST_TRIED:
                    continue
                labels = np.array(list(itertools.product((0.0, 1.0), repeat=end - start)))
                first, second = (
                    ratio(
                        *(known[run, q] + labels @ part[run, rows[start:end]] for part, known in self._parts)
                    )
                    for run in (x, y)
                )
                apart = first - second
                lower[i, q], upper[i, q], exact[i, q] = apart.min(), apart.max(), True
        return Interval(lower, upper, exact)

    @property
    def _parts(self) -> tuple[tuple[FloatArray, FloatArray], tuple[FloatArray, FloatArray]]:
        """What is added up and what it is divided by: of each document, and of those judged relevant together."""
        return (self.added, self._sums), (self.weight, self._sizes)

    def influence(self, a: int, b: int, reach: FloatArray) -> FloatArray:
        query = self.open_docs.docs.query
        free = self.open_docs.sums(self.weight, self.open)
        moved = sum(ratio(self.weight[run], (self._sizes + free / 2)[run, query]) for run in (a, b))
        result: FloatArray = np.where(self.open & (reach > 0)[query], moved, 0.0)
        return result
