"""RBP's residual: what may follow the ends of the rankings."""

from __future__ import annotations

import numpy as np

from ..arrays import BoolArray, FloatArray, IntArray
from ..measures.gains import persistence
from ..measures.med.pool import same_rankings
from .additive import Additive
from .labelings import OpenDocuments
from .model import Interval


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
        seen = persistence(p)
        super().__init__(open_docs, (1.0 - p) * seen(position), gain, 0.0, 1.0)
        self.position = position
        held = (position > 0).astype(np.float64)
        lengths = open_docs.sums(held, np.ones(len(open_docs.docs), dtype=bool)).astype(np.int64)
        self.beyond: FloatArray = seen(lengths + 1)

    def closed(self) -> BoolArray:
        return np.zeros(self.open_docs.n_queries, dtype=bool)

    def one(self) -> Interval:
        lower, upper, exact = super().one()
        return Interval(lower, upper + self.beyond, exact)

    def difference(self, a: IntArray, b: IntArray) -> Interval:
        lower, upper, exact = super().difference(a, b)
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
