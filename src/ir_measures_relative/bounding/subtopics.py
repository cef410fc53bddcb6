"""Measures of the aspects that a ranking covers, where an unjudged document may be about any of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..context.view import View
from ..data.arrays import BoolArray, FloatArray, IntArray, ratio
from ..work import Work
from .model import Interval, Model


class SubtopicRecall(Model):
    """The share of the aspects of a topic that a relevant document in the top is about. Exact for a run and for two.

    An unjudged document may be about any of the aspects that the judgments name, or about none. One in the top of the
    first of two runs alone can bring all of them there; one in both tops can bring to the first those that the second
    has anyway.

    Args:
        views: as for :class:`.Model`; the judgments name aspects.
        rel: from which label on a document is relevant for an aspect.
    """

    def __init__(self, views: Sequence[View], rel: int) -> None:
        super().__init__(views, views[0].documents.grade > 0)
        judgments = views[0].judgments
        aspects, n = judgments.aspects, views[0].n_queries
        relevant = aspects.grade >= rel
        named = np.unique(aspects.aspect[relevant])
        self.aspect_query: IntArray = aspects.query[named]
        #: Which aspects each run covers, shape (runs, aspects).
        self.covered: BoolArray = np.zeros((len(views), len(aspects)), dtype=bool)
        for row, view in zip(self.covered, views, strict=True):
            shown = view.positions_in(view.evaluated, judgments)[aspects.document] > 0
            row[aspects.aspect[relevant & shown]] = True
        self.covered = self.covered[:, named]
        self.number = np.bincount(self.aspect_query, minlength=n).astype(np.float64)
        #: Which open documents are in the top of each run, shape (runs, documents).
        self.shown: BoolArray = np.array([view.positions(self.docs) > 0 for view in views]) & self.open

    def _share(self, covered: BoolArray) -> FloatArray:
        """The share of the aspects of each topic, of shape (…, aspects)."""
        count = _by_query(covered.astype(np.float64), self.aspect_query, self.docs.n_queries)
        return ratio(count, np.broadcast_to(self.number, count.shape))

    def _any(self, shown: BoolArray) -> BoolArray:
        """On which topics some of the documents are."""
        query = self.docs.query
        return _by_query(shown.astype(np.float64), query, self.docs.n_queries) > 0

    def value(self) -> FloatArray:
        return self._share(self.covered)

    def sampled(self, gains: FloatArray) -> FloatArray:
        """Of judgments that do not name the aspects: a relevant document is about all of them."""
        result = np.repeat(self.value()[:, None, :], len(gains), axis=1)
        for run, shown in enumerate(self.shown[:, self.open]):
            covers_all = self.over_open((gains > 0) * shown) > 0
            result[run] = np.where(covers_all & (self.number > 0), 1.0, result[run])
        return result

    def one(self, work: Work) -> Interval:
        known = self.value()
        return Interval.attained(known, np.where(self._any(self.shown) & (self.number > 0), 1.0, known))

    def difference(self, a: IntArray, b: IntArray, work: Work) -> Interval:
        return Interval.attained(-self._greatest(b, a), self._greatest(a, b))

    def _greatest(self, a: IntArray, b: IntArray) -> FloatArray:
        """The greatest difference of run a[i] less run b[i]."""
        known = self.value()
        together = self._share(self.covered[a] | self.covered[b])
        own = self._any(self.shown[a] & ~self.shown[b]) & (self.number > 0)
        shared = self._any(self.shown[a] & self.shown[b])
        result: FloatArray = np.where(own, 1.0, np.where(shared, together, known[a])) - known[b]
        return result

    def influence(self, a: int, b: int, reach: FloatArray) -> FloatArray:
        counts = (self.shown[a] | self.shown[b]) & (self.number > 0)[self.docs.query]
        return np.where(counts, np.maximum(reach[self.docs.query], 1e-6), 0.0)


def _by_query(values: FloatArray, query: IntArray, n_queries: int) -> FloatArray:
    """The sums by query of values of shape (…, rows)."""
    flat = values.reshape(-1, values.shape[-1])
    sums = [np.bincount(query, weights=row, minlength=n_queries) for row in flat]
    result: FloatArray = np.array(sums, dtype=np.float64).reshape(*values.shape[:-1], n_queries)
    return result
