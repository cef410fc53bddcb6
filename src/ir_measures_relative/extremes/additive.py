"""Measures that are sums over documents: a label moves a value by itself, whatever the others are."""

from __future__ import annotations

import numpy as np

from ..arrays import FloatArray, IntArray
from .labelings import OpenDocuments
from .model import Interval, Valued


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
        known, rows = self.value(), np.flatnonzero(self.open)
        result = np.repeat(known[:, None, :], len(gains), axis=1)
        if len(rows):
            starts, query = _blocks(self.open_docs.docs.query[rows])
            for run, weight in enumerate(self.weight[:, rows]):
                result[run][:, query] += np.add.reduceat(gains * weight, starts, axis=1)
        return result

    def one(self) -> Interval:
        known, free = self.value(), self.open_docs.sums(self.weight, self.open)
        lower, upper = known + self.lowest * free, known + self.highest * free
        return Interval(lower, upper, np.ones(lower.shape, dtype=bool))

    def difference(self, a: IntArray, b: IntArray) -> Interval:
        known = self.value()
        known, rows = known[a] - known[b], np.flatnonzero(self.open)
        weight, starts, query = self.weight[:, rows], *_blocks(self.open_docs.docs.query[rows])
        up, down = np.zeros((2, *known.shape))
        if len(rows):
            for i, (x, y) in enumerate(zip(a, b, strict=True)):
                by = weight[x] - weight[y]
                up[i, query] = np.add.reduceat(np.maximum(by, 0.0), starts)
                down[i, query] = np.add.reduceat(np.minimum(by, 0.0), starts)
        lower = known + self.lowest * up + self.highest * down
        upper = known + self.highest * up + self.lowest * down
        return Interval(lower, upper, np.ones(lower.shape, dtype=bool))

    def influence(self, a: int, b: int, reach: FloatArray) -> FloatArray:
        moved = np.abs(self.weight[a] - self.weight[b]) * (self.highest - self.lowest)
        result: FloatArray = np.where(self.open, moved, 0.0)
        return result


def _blocks(query: IntArray) -> tuple[IntArray, IntArray]:
    """The first row of each query, and the queries."""
    starts = np.flatnonzero(np.diff(query, prepend=-1))
    return starts, query[starts]
