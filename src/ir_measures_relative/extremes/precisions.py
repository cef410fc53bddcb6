"""Average precision: the precisions at the relevant documents of a run, over the number of all relevant documents."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np

from ..arrays import BoolArray, FloatArray, IntArray
from .labelings import OpenDocuments
from .model import Interval, Model
from .precisions_apart import Task, alone, apart
from .sums_of_precisions import sums_by_count
from .tasks import interval_by_query

#: From sums of precisions and numbers of relevant documents to values, elementwise.
Norm: TypeAlias = Callable[[FloatArray, IntArray, int], FloatArray]


class Query(NamedTuple):
    """The documents of one query."""

    rows: IntArray  #: into all documents, those that are open, or judged relevant
    open: BoolArray
    relevant: int  #: how many are judged relevant


class Precisions(Model):
    """AP and AP_Rareness: ``(1/R)·Σ over relevant d of (1/p_d)·Σ weight(e)`` over the relevant e no deeper than d.

    For a given number of relevant open documents a run does best with the first it holds, and worst with the last; so
    one run is exact where all weights are equal. With weights, the largest of them are thought first, and the smallest.
    The difference of two runs is a quadratic function of the labels. Its extremes are found by MED's branch and bound;
    with weights it is bounded by giving each of a pair of documents half of what they add together.

    Args:
        position: of every document in every run, shape (runs, documents).
        relevant: which judged documents are.
        weight: of every document; all 1 in AP.
    """

    def __init__(
        self, open_docs: OpenDocuments, position: IntArray, relevant: BoolArray, weight: FloatArray
    ) -> None:
        super().__init__(open_docs)
        self.position, self.relevant, self.weight = position, relevant, weight
        self.even = bool((weight == 1.0).all())
        docs = open_docs.docs
        rows = np.flatnonzero(self.open | relevant)
        ends = np.searchsorted(docs.query[rows], np.arange(docs.n_queries + 1)).tolist()
        self.queries = [
            Query(some := rows[i:j], self.open[some], int(relevant[some].sum()))
            for i, j in itertools.pairwise(ends)
        ]

    @property
    def known_gain(self) -> FloatArray:
        return self.relevant.astype(np.float64)

    def sampled(self, gains: FloatArray) -> FloatArray:
        result = np.zeros((len(self.position), len(gains), len(self.queries)))
        relevant = np.zeros((len(gains), len(self.open)), dtype=bool)
        relevant[:, self.open] = gains > 0
        relevant[:, self.relevant] = True
        for q, query in enumerate(self.queries):
            labels = relevant[:, query.rows]
            count = labels.sum(axis=1)
            for run, position in enumerate(self.position[:, query.rows]):
                held = np.flatnonzero(position > 0)
                order = held[np.argsort(position[held])]
                found = labels[:, order] * self.weight[query.rows[order]]
                precision = np.cumsum(found, axis=1) / position[order]
                total = (precision * labels[:, order]).sum(axis=1)
                result[run, :, q] = self.normalized(total, count, q)
        return result

    def normalized(self, total: FloatArray, n_relevant: IntArray, query: int) -> FloatArray:
        """AP, from the sum of precisions and R."""
        result: FloatArray = total / np.maximum(n_relevant, 1)
        return result

    def one(self) -> Interval:
        runs = np.arange(len(self.position))
        if self.even:
            found = [[self._extremes(i, q) for q in range(len(self.queries))] for i in range(len(runs))]
            ends = np.array(found).reshape(len(runs), len(self.queries), 2)
            return Interval(ends[..., 0], ends[..., 1], np.ones(ends.shape[:2], dtype=bool))
        return interval_by_query(alone, self._task, runs, runs, len(self.queries), self.jobs)

    def _extremes(self, run: int, q: int) -> tuple[float, float]:
        query = self.queries[q]
        position, weight = self.position[run, query.rows], self.weight[query.rows]
        held = position > 0
        least, most = sums_by_count(position[held], weight[held], query.open[held], True)
        outside = int((query.open & ~held).sum())
        count = query.relevant + np.arange(len(least))[:, None] + np.arange(outside + 1)
        low = self.normalized(np.broadcast_to(least[:, None], count.shape), count, q)
        high = self.normalized(np.broadcast_to(most[:, None], count.shape), count, q)
        return float(low.min()), float(high.max())

    def difference(self, a: IntArray, b: IntArray) -> Interval:
        one = self.one()
        found = interval_by_query(apart, self._task, a, b, len(self.queries), self.jobs)
        return found.within(one.of(a).minus(one.of(b)))

    def _task(self, q: int, a: IntArray, b: IntArray) -> Task:
        """Pairs of runs on one query."""
        query = self.queries[q]
        # Only the runs of these pairs are sent.
        runs, at = np.unique(np.concatenate([a, b]), return_inverse=True)
        first, second = at.reshape(2, -1)
        position, weight = self.position[np.ix_(runs, query.rows)], self.weight[query.rows]
        return Task(position, query.open, weight, query.relevant, first, second, self.time_limit)

    def influence(self, a: int, b: int, reach: FloatArray) -> FloatArray:
        docs, n = self.open_docs.docs, self.open_docs.n_queries
        inverse = np.divide(1.0, self.position, out=np.zeros(self.position.shape), where=self.position > 0)
        known = np.array([query.relevant for query in self.queries])
        free = np.bincount(docs.query[self.open], minlength=n)
        size = np.maximum(known + free / 2, 1.0)
        # A relevant document adds its precision, and one to the precision of those below it.
        moved = np.abs(inverse[a] - inverse[b]) * np.log1p(np.maximum(self.position[a], self.position[b]))
        grown = np.where(reach > 0, reach, 0.0) / size
        result: FloatArray = np.where(self.open, moved / size[docs.query] + grown[docs.query], 0.0)
        return result
