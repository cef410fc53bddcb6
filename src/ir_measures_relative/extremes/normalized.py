"""nDCG and its like: a sum over the documents of a run, over the DCG of the best ranking there could be."""

from __future__ import annotations

import itertools

import numpy as np

from ..arrays import FloatArray, IntArray, ratio, table
from ..measures.gains import discount, ideal_dcg
from .fractions import greatest_ratio
from .labelings import OpenDocuments
from .model import Interval, Valued


class Normalized(Valued):
    """A sum over the ideal DCG of the judgments, exact for a run and for the difference of two.

    For given numbers of open documents at each gain the ideal is fixed, and the larger gains go to the documents with
    the larger weights; so the extremes are those of :func:`greatest_ratio`.

    Args:
        weight: what each document counts per gain in every run, at least 0; shape (runs, documents).
        gain: of every judged document.
        levels: the gains that a label can give, ascending.
        cutoff: the depth of the ideal ranking.
    """

    def __init__(
        self,
        open_docs: OpenDocuments,
        weight: FloatArray,
        gain: FloatArray,
        levels: FloatArray,
        cutoff: int | None,
    ) -> None:
        super().__init__(open_docs)
        docs, n = open_docs.docs, open_docs.n_queries
        self.gain = np.where(self.open, 0.0, gain)
        self.weight = weight
        self.cutoff = cutoff
        self._rows = np.flatnonzero(self.open)
        self._query = docs.query[self._rows]
        self.sizes = np.bincount(self._query, minlength=n)
        width = int(self.sizes.max(initial=0)) + 1
        # Levels as steps from 0 up: the least gain is one that every open document has.
        self.least = float(levels[0])
        self.steps = np.diff(levels)
        self.ideals = self._ideals(levels, width)

    def _ideals(self, levels: FloatArray, width: int) -> FloatArray:
        """What each level adds to the ideal where n open documents have it, shape (queries, levels, width)."""
        docs, n = self.open_docs.docs, self.open_docs.n_queries
        # Judged documents may have gains between the levels, where the grades known are a part of those that they have.
        every = np.unique(np.concatenate([[0.0], levels, self.gain]))
        deepest = int(np.bincount(docs.query, minlength=n).max(initial=0)) + 1
        so_far = np.cumsum(discount.up_to(deepest if self.cutoff is None else min(self.cutoff, deepest)))
        result = np.zeros((n, len(levels), width))
        level = 0
        for low, high in itertools.pairwise(every):
            while level + 1 < len(levels) and levels[level] <= low:
                level += 1
            count = np.bincount(docs.query[~self.open & (self.gain >= high)], minlength=n)
            if high <= levels[0]:
                added, at = self.sizes[:, None], 0
            elif high <= levels[-1]:
                added, at = np.arange(width)[None, :], level
            else:
                added, at = np.zeros((1, 1), dtype=np.int64), 0
            reached = np.minimum(count[:, None] + added, len(so_far) - 1)
            result[:, at, :] += (high - low) * so_far[reached]
        return result

    def value(self) -> FloatArray:
        ideal = ideal_dcg(self.gain, self.open_docs.docs.query, self.open_docs.n_queries, self.cutoff)
        return ratio(self.open_docs.sums(self.weight * self.gain, ~self.open), ideal)

    @property
    def known_gain(self) -> FloatArray:
        return self.gain

    def sampled(self, gains: FloatArray) -> FloatArray:
        found, ideal = self.parts(gains)
        return ratio(found, np.broadcast_to(ideal, found.shape))

    def parts(self, gains: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The sums of some labelings, shape (runs, labelings, queries), and the ideals, (labelings, queries)."""
        known = self.open_docs.sums(self.weight * self.gain, ~self.open)
        n, levels, _ = self.ideals.shape
        found = np.repeat(known[:, None, :], len(gains), axis=1)
        ideal = np.repeat(self.ideals[:, 0, 0][None], len(gains), axis=0)
        count = np.zeros((len(gains), n), dtype=np.int64)
        starts = np.flatnonzero(np.diff(self._query, prepend=-1))
        here = self._query[starts]
        for level in range(1, levels):
            if len(starts):
                reached = gains > self.least + self.steps[:level].sum() - self.steps[level - 1] / 2
                count[:, here] = np.add.reduceat(reached.astype(np.int64), starts, axis=1)
            ideal += self.ideals[np.arange(n), level, count]
        if len(starts):
            for run, weight in enumerate(self.weight[:, self._rows]):
                found[run][:, here] += np.add.reduceat(gains * weight, starts, axis=1)
        return found, ideal

    def one(self) -> Interval:
        known = self.open_docs.sums(self.weight * self.gain, ~self.open)
        lower, upper = np.empty((2, *known.shape))
        for i, weight in enumerate(self.weight):
            lower[i], upper[i] = self._extremes(known[i], weight)
        return Interval(lower, upper, np.ones(lower.shape, dtype=bool))

    def difference(self, a: IntArray, b: IntArray) -> Interval:
        known = self.open_docs.sums(self.weight * self.gain, ~self.open)
        lower, upper = np.empty((2, len(a), self.open_docs.n_queries))
        for i, (x, y) in enumerate(zip(a, b, strict=True)):
            lower[i], upper[i] = self._extremes(known[x] - known[y], self.weight[x] - self.weight[y])
        return Interval(lower, upper, np.ones(lower.shape, dtype=bool))

    def _extremes(self, known: FloatArray, weight: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The least and the greatest value of each query."""
        free = weight[self._rows]
        up = greatest_ratio(self._numerator(known, free), self.ideals, self.sizes)
        down = -greatest_ratio(self._numerator(-known, -free), self.ideals, self.sizes)
        return down, up

    def _numerator(self, known: FloatArray, free: FloatArray) -> FloatArray:
        n, levels, width = self.ideals.shape
        order = np.lexsort((-free, self._query))
        sorted_weights = table(free[order], self._query, n, 0.0)
        won = np.zeros((n, width))
        np.cumsum(sorted_weights, axis=1, out=won[:, 1:])
        result = np.zeros((n, levels, width))
        result[:, 0] = (known + self.least * won[np.arange(n), self.sizes])[:, None]
        result[:, 1:] = self.steps[:, None] * won[:, None, :]
        return result

    def influence(self, a: int, b: int, reach: FloatArray) -> FloatArray:
        query, n = self.open_docs.docs.query, self.open_docs.n_queries
        known = self.ideals[..., 0].sum(axis=1)
        full = self.ideals[np.arange(n), :, self.sizes].sum(axis=1)
        # A document that neither run holds counts by what it adds to the ideal.
        grown = ratio(reach * (full - known), full * np.maximum(self.sizes, 1))
        moved = np.abs(self.weight[a] - self.weight[b]) * ratio(np.full(n, self.steps.sum()), full)[query]
        result: FloatArray = np.where(self.open, moved + grown[query], 0.0)
        return result
