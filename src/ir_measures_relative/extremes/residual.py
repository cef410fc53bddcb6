"""NRG with base nDCG: the ideal ranking is one of residual gains, and every run has its own."""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np

from ..arrays import BoolArray, FloatArray, IntArray, rank_within, ratio
from ..jobs import Work
from ..measures.gains import discount, ideal_dcg
from ..options import LABELED_ALIKE
from .model import Interval, Model
from .open_documents import OpenDocuments
from .placement import (
    ResidualPair,
    ResidualSide,
    branched_difference,
    greatest_of_all,
    place,
    places,
    relaxed_difference,
)
from .ratios import climb

# Steps of the search for weights of the ideal: each halves what is left, more or less.
_ROUNDS = 12
# Documents times places of one problem, beyond which intervals are the simple ones.
_MOST_STATES = 400_000
# Pairs of runs times queries times documents that are worked on at once.
_AT_ONCE = 1_000_000


class Sorted(NamedTuple):
    """The documents of each query by falling residual gain of one run, as if every open one had the highest gain."""

    row: IntArray  #: into the columns of the model, -1 where padded; shape (queries, documents)
    residual: FloatArray  #: 0 where padded
    forced: BoolArray  #: whether the judgments say that it has this gain

    def at(self, queries: IntArray) -> Sorted:
        """Those of some queries."""
        return Sorted(self.row[queries], self.residual[queries], self.forced[queries])


class Residual(Model):
    """NRG(base='nDCG').

    One run, binary labels: exact. For a fixed λ the labels that maximize ``Σ residual gain·seen - λ·ideal`` are found
    by :func:`place`; Dinkelbach's iteration on λ gives the extreme ratio. Graded labels: the least value is exact too,
    since ``Σ … - λ·ideal`` is concave in the gains, and so is least where each is the least or the greatest. The
    greatest is exact where few of the run's documents are open, by :func:`~.ideals.greatest_of_all`; else it is bounded
    by ideals with other placements of the documents than the best one, which are never above the ideal. For the
    difference of two runs see :mod:`.ideals`. See :meth:`.Labelings.residual_gain`.
    """

    def __init__(
        self,
        open_docs: OpenDocuments,
        survival: FloatArray,
        seen: FloatArray,
        gain: FloatArray,
        levels: FloatArray,
        cutoff: int | None,
    ) -> None:
        super().__init__(open_docs, gain)
        self.cutoff, self.levels, self.survival = cutoff, levels, survival
        self.weight = seen * survival
        top = np.where(self.open, levels[-1], self.known_gain)
        self.columns = np.flatnonzero(top > 0)
        self.query = open_docs.docs.query[self.columns]
        self.top = top[self.columns]
        self.forced = ~self.open[self.columns]

    def _ideals(self, gain: FloatArray) -> FloatArray:
        """The ideal of every run where the documents have these gains, shape (runs, queries)."""
        docs, n = self.open_docs.docs, self.open_docs.n_queries
        rows = [ideal_dcg(row * gain, docs.query, n, self.cutoff) for row in self.survival]
        return np.array(rows).reshape(len(self.survival), n)

    @cached_property
    def _ends_of_ideals(self) -> tuple[FloatArray, FloatArray]:
        """Where no open document has a gain, and where all have the highest."""
        most = np.where(self.open, self.levels[-1], self.known_gain)
        return self._ideals(self.known_gain), self._ideals(most)

    def sorted_by(self, run: int) -> Sorted:
        """The documents in the order of the run's residual gains."""
        residual = self.top * self.survival[run, self.columns]
        order = np.lexsort((-residual, self.query))
        query = self.query[order]
        column = rank_within(query) - 1
        row = np.full((self.open_docs.n_queries, int(column.max(initial=-1)) + 1), -1)
        row[query, column] = order
        return Sorted(row, _taken(residual, row), _taken(self.forced, row) > 0)

    def _side(self, one: Interval, runs: IntArray, rows: IntArray, queries: IntArray) -> ResidualSide:
        """A run for each problem, with its documents in the order of ``rows``, on its query."""
        found, residual = (
            np.where(rows >= 0, (self.top * part[:, self.columns])[runs[:, None], rows], 0.0)
            for part in (self.weight, self.survival)
        )
        return ResidualSide(found, residual, one.lower[runs, queries], one.upper[runs, queries])

    def sampled(self, gains: FloatArray) -> FloatArray:
        n = self.open_docs.n_queries
        result = np.zeros((len(self.weight), len(gains), n))
        if not len(self.columns) or self.levels[-1] <= 0:
            return result
        column = rank_within(self.query) - 1
        width = int(column.max()) + 1
        every = np.tile(self.known_gain[self.columns], (len(gains), 1))
        every[:, ~self.forced] = gains
        depth = width if self.cutoff is None else min(self.cutoff, width)
        seen = discount.up_to(depth)[1:]
        starts = np.flatnonzero(np.diff(self.query, prepend=-1))
        for run in range(len(self.weight)):
            found = np.zeros((len(gains), n))
            found[:, self.query[starts]] = np.add.reduceat(
                every * self.weight[run, self.columns], starts, axis=1
            )
            table = np.zeros((len(gains), n, width))
            table[:, self.query, column] = every * self.survival[run, self.columns]
            best = -np.sort(np.partition(-table, depth - 1, axis=2)[..., :depth], axis=2)
            result[run] = ratio(found, (best * seen).sum(axis=2))
        return result

    def one(self, work: Work) -> Interval:
        ends = np.zeros((3, len(self.weight), self.open_docs.n_queries))
        for run in range(len(self.weight)):
            ends[:, run] = self._extremes(run, work)
        return Interval(ends[0], ends[1], ends[2] > 0)

    def _extremes(self, run: int, work: Work) -> tuple[FloatArray, FloatArray, BoolArray]:
        docs = self.sorted_by(run)
        found = _taken(self.top * self.weight[run, self.columns], docs.row)
        n = docs.row.shape[1]
        if self.levels[0] > 0 or n * min(n, self.cutoff or n) > _MOST_STATES or work.expired():
            return self._simple(run, docs, found)
        lower = np.where(docs.forced.any(axis=1), extreme_ratio(docs, found, self.cutoff, -1.0), 0.0)
        upper = extreme_ratio(docs, found, self.cutoff, 1.0)
        if len(self.levels) <= 2:
            return lower, upper, np.ones(len(lower), dtype=bool)
        shares = self.levels / self.levels[-1]
        best = greatest_of_all(found, docs.residual, docs.forced, shares, self.cutoff)
        rest = np.flatnonzero(np.isnan(best))
        best[rest] = np.maximum(relaxed_ratio(docs.at(rest), found[rest], self.cutoff), upper[rest])
        exact = np.ones(len(best), dtype=bool)
        exact[rest] = best[rest] - upper[rest] <= LABELED_ALIKE
        return lower, best, exact

    def _simple(self, run: int, docs: Sorted, found: FloatArray) -> tuple[FloatArray, FloatArray, BoolArray]:
        """From the least and the greatest of the sum, and of the ideal."""
        least = self.levels[0] / self.levels[-1]
        share = np.where(docs.forced, 1.0, least)
        low, high = (found * share).sum(axis=1), found.sum(axis=1)
        query, n = self.open_docs.docs.query, self.open_docs.n_queries
        ideals = [
            ideal_dcg(self.survival[run] * np.where(self.open, end, self.known_gain), query, n, self.cutoff)
            for end in (self.levels[0], self.levels[-1])
        ]
        lower = ratio(low, ideals[1])
        upper = np.where(ideals[0] > 0, np.minimum(ratio(high, ideals[0]), 1.0), (high > 0).astype(float))
        return lower, upper, upper - lower <= LABELED_ALIKE

    def difference(self, a: IntArray, b: IntArray, work: Work) -> Interval:
        one = self.one(work)
        simple = one.of(a).minus(one.of(b))
        if self.levels[0] > 0 or not len(self.columns):
            return simple
        width = int(np.bincount(self.query).max())
        if width * min(width, self.cutoff or width) > _MOST_STATES // 10:
            return simple
        size = max(1, _AT_ONCE // (width * self.open_docs.n_queries))
        ends, exact = np.stack([simple.lower, simple.upper]), np.zeros(simple.exact.shape, dtype=bool)
        for part in (slice(i, i + size) for i in range(0, len(a), size)):
            if work.expired():
                break
            upper, most = self._above(one, a[part], b[part])
            lower, least = self._above(one, b[part], a[part])
            ends[:, part] = -lower, upper
            exact[part] = (upper - most <= LABELED_ALIKE) & (lower - least <= LABELED_ALIKE)
        return Interval(ends[0], ends[1], exact).within(simple)

    def _above(self, one: Interval, a: IntArray, b: IntArray) -> tuple[FloatArray, FloatArray]:
        """A bound of run a[i] less run b[i], and the greatest difference found; shape (pairs, queries)."""
        n = self.open_docs.n_queries
        orders = {run: self.sorted_by(run) for run in np.unique(b).tolist()}
        rows = np.concatenate([orders[run].row for run in b.tolist()])
        forced = np.concatenate([orders[run].forced for run in b.tolist()])
        query = np.tile(np.arange(n), len(b))
        open_here = np.bincount(self.query[~self.forced], minlength=n)[query] > 0
        first, second = (self._side(one, np.repeat(runs, n), rows, query) for runs in (a, b))
        bound = first.upper - second.lower
        reached = bound.copy()
        some = np.flatnonzero(open_here)
        if len(some):
            pair = ResidualPair(first, second, forced, rows >= 0, self.cutoff).at(some)
            shares = self.levels / self.levels[-1]
            bound[some], reached[some] = branched_difference(pair, shares, *relaxed_difference(pair))
        return bound.reshape(len(a), n), reached.reshape(len(a), n)

    def influence(self, a: int, b: int, reach: FloatArray) -> FloatArray:
        docs, n = self.open_docs.docs, self.open_docs.n_queries
        least: FloatArray = np.zeros(n)
        result = np.zeros(len(docs))
        for run, sign in ((a, 1.0), (b, -1.0)):
            known, full = (ends[run] for ends in self._ends_of_ideals)
            result += sign * self.weight[run] * ratio(np.full(n, self.levels[-1]), full)[docs.query]
            least = np.maximum(least, ratio(full - known, full))
        count = np.maximum(np.bincount(docs.query[self.open], minlength=n), 1)
        survives = np.maximum(self.survival[a], self.survival[b])
        grown = np.where(survives > 0, (reach * least / count)[docs.query], 0.0)
        return np.where(self.open, np.abs(result) + grown, 0.0)


def _taken(values: FloatArray | BoolArray, row: IntArray) -> FloatArray:
    """The values of some columns, 0 where there is none."""
    return np.where(row >= 0, values[row], 0.0) if len(values) else np.zeros(row.shape)


def _ratio_of(docs: Sorted, found: FloatArray, chosen: BoolArray, cutoff: int | None) -> FloatArray:
    ideal = (places(chosen, cutoff) * docs.residual).sum(axis=1)
    return ratio((found * chosen).sum(axis=1), ideal)


def extreme_ratio(docs: Sorted, found: FloatArray, cutoff: int | None, sign: float) -> FloatArray:
    """The greatest (1) or least (-1) sum over ideal where each open document has no gain or its highest; 0/0 is 0.

    The least only where a document with a gain is judged: an ideal of 0 is no ratio. Where it can be 0, so can the
    value, and the caller knows.
    """
    real = docs.row >= 0
    ends = [sign * _ratio_of(docs, found, chosen, cutoff) for chosen in (docs.forced, real)]
    best: FloatArray = np.maximum(*ends)

    def reach(rows: IntArray, least: FloatArray) -> FloatArray:
        some = docs.at(rows)
        chosen = place(sign * found[rows], some.residual, some.forced, -least, cutoff)
        return sign * _ratio_of(some, found[rows], chosen & (some.row >= 0), cutoff)

    climb(best, np.flatnonzero((~docs.forced & real).any(axis=1)), reach)
    return sign * best


def relaxed_ratio(docs: Sorted, found: FloatArray, cutoff: int | None) -> FloatArray:
    """No smaller than the sum over the ideal, whatever gains up to their highest the open documents have.

    The ideal is the largest sum over all placements of the documents. So with the weights of any one, or of a mean of
    several, the ratio is at least as large; and it is largest where every document has no gain, or its highest.
    """
    free = ~docs.forced & (docs.row >= 0)
    chosen = docs.row >= 0
    weights = places(chosen, cutoff)
    bound: FloatArray = np.ones(len(found))
    for step in range(1, _ROUNDS + 1):
        value, chosen = _greatest_of_sets(found, weights * docs.residual, docs.forced, free)
        bound = np.minimum(bound, value)
        weights = weights + (places(chosen, cutoff) - weights) / (step + 1)
    return bound


def _greatest_of_sets(
    found: FloatArray, ideal: FloatArray, forced: BoolArray, free: BoolArray
) -> tuple[FloatArray, BoolArray]:
    """The greatest ``Σ found / Σ ideal`` over sets of documents that hold the forced ones, and the set; at most 1."""
    best, chosen = np.zeros(len(found)), forced.copy()

    def reach(rows: IntArray, least: FloatArray) -> FloatArray:
        trial = forced[rows] | (free[rows] & (found[rows] - least[:, None] * ideal[rows] > 0))
        above, below = ((part[rows] * trial).sum(axis=1) for part in (found, ideal))
        value = np.where(below > 0, ratio(above, below), (above > 0).astype(np.float64))
        better = value > least
        chosen[rows[better]] = trial[better]
        return value

    climb(best, np.arange(len(found)), reach, most=1.0)
    return best, chosen
