"""NRG with base nDCG: the ideal ranking is one of residual gains, and every run has its own."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ..context.view import View
from ..data.arrays import BoolArray, FloatArray, IntArray, rank_within, ratio
from ..measures.bases.gains import discount, ideal_dcg
from ..measures.med_pairs import climb
from ..tolerances import LABELED_ALIKE
from ..work import Work
from .model import Interval, Model
from .placement import (
    ResidualPair,
    ResidualSide,
    branched_difference,
    greatest_of_all,
    place,
    places,
    relaxed_difference,
)

# Steps of the search for weights of the ideal: each halves what is left, more or less.
_ROUNDS = 12
# Documents times places of one problem, beyond which intervals are the simple ones.
_MOST_STATES = 400_000
# Pairs of runs times queries times documents that are worked on at once.
_AT_ONCE = 60_000


class Sorted(NamedTuple):
    """The documents of each query, from the highest residual gain of one run on, if every open one has the top gain."""

    row: IntArray  #: into ``Residual.columns``, -1 where padded; shape (queries, documents)
    residual: FloatArray  #: 0 where padded
    forced: BoolArray  #: whether it is judged, so that this is its gain

    def at(self, queries: IntArray) -> Sorted:
        """Those of some queries."""
        return Sorted(self.row[queries], self.residual[queries], self.forced[queries])


class Residual(Model):
    """NRG(base='nDCG'); ``survival`` is the chance that the priors left each document to find, (runs, documents).

    ``columns`` are the rows of ``docs`` that can have a gain. The arrays ``query``, ``top`` (the highest gain) and
    ``forced`` (judged) have one entry for each of them.

    One run, binary labels: exact, since :func:`place` maximizes ``Σ residual gain·seen - λ·ideal``, and Dinkelbach's
    iteration (:func:`.climb`) gives the extreme ratio. Graded labels: the least value is exact, since that function is
    concave in the gains; the greatest where few of the run's documents are open. Two runs: see :mod:`.placement`.
    """

    def __init__(
        self,
        views: Sequence[View],
        survival: FloatArray,
        seen: FloatArray,
        gain: FloatArray,
        levels: FloatArray,
        cutoff: int | None,
    ) -> None:
        super().__init__(views, gain)
        self.cutoff, self.levels, self.survival = cutoff, levels, survival
        self.weight = seen * survival
        top = np.where(self.open, levels[-1], self.known_gain)
        self.columns = np.flatnonzero(top > 0)
        self.query = self.docs.query[self.columns]
        self.top = top[self.columns]
        self.forced = ~self.open[self.columns]

    def _ideal(self, run: int, least: float) -> FloatArray:
        """The ideal of a run in each query where every open document has this gain."""
        docs, gain = self.docs, np.where(self.open, least, self.known_gain)
        return ideal_dcg(self.survival[run] * gain, docs.query, docs.n_queries, self.cutoff)

    @cached_property
    def _ends_of_ideals(self) -> list[tuple[FloatArray, FloatArray]]:
        """Of every run, where no open document has a gain, and where all have the highest."""
        return [(self._ideal(run, 0.0), self._ideal(run, self.levels[-1])) for run in range(len(self.weight))]

    def sorted_by(self, run: int) -> Sorted:
        """The documents in the order of the run's residual gains."""
        residual = self.top * self.survival[run, self.columns]
        order = np.lexsort((-residual, self.query))
        query = self.query[order]
        column = rank_within(query) - 1
        row = np.full((self.docs.n_queries, int(column.max(initial=-1)) + 1), -1)
        row[query, column] = order
        return Sorted(row, _taken(residual, row), _taken(self.forced, row) > 0)

    @cached_property
    def _counting(self) -> BoolArray:
        """The columns that may count: what each run retrieves, or may be in the top k of its ideal; (runs, columns)."""
        if self.cutoff is None:
            return np.ones((len(self.weight), len(self.columns)), dtype=bool)
        least = np.zeros((len(self.weight), self.docs.n_queries))
        for run, of_run in enumerate(least):
            docs = self.sorted_by(run)
            last = docs.forced & (np.cumsum(docs.forced, axis=1) == self.cutoff)
            of_run[:] = (docs.residual * last).sum(axis=1)
        found, residual = self._highest
        result: BoolArray = (found > 0) | (residual >= least[:, self.query])
        return result

    @cached_property
    def _highest(self) -> tuple[FloatArray, FloatArray]:
        """What every document adds to the sum of every run at its highest gain, and its residual gain then."""
        weight, survival = self.weight[:, self.columns], self.survival[:, self.columns]
        return self.top * weight, self.top * survival

    def _side(self, one: Interval, runs: IntArray, rows: IntArray, queries: IntArray) -> ResidualSide:
        """A run for each problem, with its documents in the order of ``rows``, on its query."""
        found, residual = (np.where(rows >= 0, part[runs[:, None], rows], 0.0) for part in self._highest)
        return ResidualSide(found, residual, one.lower[runs, queries], one.upper[runs, queries])

    def sampled(self, gains: FloatArray) -> FloatArray:
        n = self.docs.n_queries
        result = np.zeros((len(self.weight), len(gains), n))
        if not len(self.columns) or self.levels[-1] <= 0:
            return result
        column = rank_within(self.query) - 1
        width = int(column.max()) + 1
        every = np.tile(self.known_gain[self.columns], (len(gains), 1))
        every[:, ~self.forced] = gains
        depth = width if self.cutoff is None else min(self.cutoff, width)
        seen = discount.up_to(depth)[1:]
        for run in range(len(self.weight)):
            found = self.docs.by_query(every * self.weight[run, self.columns], self.columns, np.add)
            table = np.zeros((len(gains), n, width))
            table[:, self.query, column] = every * self.survival[run, self.columns]
            best = -np.sort(np.partition(-table, depth - 1, axis=2)[..., :depth], axis=2)
            result[run] = ratio(found, (best * seen).sum(axis=2))
        return result

    def one(self, work: Work) -> Interval:
        ends = np.zeros((3, len(self.weight), self.docs.n_queries))
        for run in range(len(self.weight)):
            ends[:, run] = self._extremes(run, work)
        return Interval(ends[0], ends[1], ends[2] > 0)

    def _extremes(self, run: int, work: Work) -> tuple[FloatArray, FloatArray, BoolArray]:
        docs = self.sorted_by(run)
        found = _taken(self.top * self.weight[run, self.columns], docs.row)
        n = docs.row.shape[1]
        if self.levels[0] > 0 or n * min(n, self.cutoff or n) > _MOST_STATES or work.expired():
            return self._simple(run, docs, found)
        lower, upper = (extreme_ratio(docs, found, self.cutoff, sign) for sign in (-1.0, 1.0))
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
        """Wider ends, which take no search: the least sum over the greatest ideal, and the reverse."""
        least = self.levels[0] / self.levels[-1]
        share = np.where(docs.forced, 1.0, least)
        low, high = (found * share).sum(axis=1), found.sum(axis=1)
        most, few = self._ideal(run, self.levels[-1]), self._ideal(run, self.levels[0])
        lower = ratio(low, most)
        upper = np.where(few > 0, np.minimum(ratio(high, few), 1.0), (high > 0).astype(float))
        return lower, upper, upper - lower <= LABELED_ALIKE

    def difference(self, a: IntArray, b: IntArray, work: Work) -> Interval:
        one = self.one(work)
        simple = one.of(a).minus(one.of(b))
        if self.levels[0] > 0 or not len(self.columns):
            return simple
        width = int(np.bincount(self.query).max())
        if width * min(width, self.cutoff or width) > _MOST_STATES // 10:
            return simple
        n = self.docs.n_queries
        ends, exact = np.stack([simple.lower, simple.upper]), np.zeros(simple.exact.shape, dtype=bool)
        # Problems of about as many documents together: the others are padded.
        counts = np.array([np.bincount(self.query[counting], minlength=n) for counting in self._counting])
        pair, query = (part.reshape(-1) for part in np.indices((len(a), n)))
        size = counts[a[pair], query] + counts[b[pair], query]
        order = np.argsort(size, kind="stable")
        for some in np.split(order, np.flatnonzero(np.diff(np.cumsum(size[order]) // _AT_ONCE)) + 1):
            if work.expired():
                break
            x, y, q = a[pair[some]], b[pair[some]], query[some]
            upper, most = self._above(one, x, y, q)
            lower, least = self._above(one, y, x, q)
            ends[:, pair[some], q] = -lower, upper
            exact[pair[some], q] = (upper - most <= LABELED_ALIKE) & (lower - least <= LABELED_ALIKE)
        return Interval(ends[0], ends[1], exact).within(simple)

    @cached_property
    def _orders(self) -> IntArray:
        """The documents of every run in the order of its residual gains, shape (runs, queries, documents)."""
        return np.array([self.sorted_by(run).row for run in range(len(self.weight))])

    def _above(
        self, one: Interval, a: IntArray, b: IntArray, query: IntArray
    ) -> tuple[FloatArray, FloatArray]:
        """A bound of run a[i] less run b[i] on query[i], and the greatest difference found."""
        rows = self._orders[b, query]
        counting = (self._counting[runs[:, None], rows] for runs in (a, b))
        rows = _pushed_left(rows, np.logical_or(*counting) & (rows >= 0))
        forced = _taken(self.forced, rows) > 0
        open_here = np.bincount(self.query[~self.forced], minlength=self.docs.n_queries)[query] > 0
        first, second = (self._side(one, runs, rows, query) for runs in (a, b))
        # The difference of a run and its copy is 0 under all labels, which the searches would not see.
        alike = [
            np.abs(x - y).max(axis=1) <= LABELED_ALIKE for x, y in zip(first[:2], second[:2], strict=True)
        ]
        differ = ~np.logical_and(*alike)
        bound = np.where(differ, first.upper - second.lower, 0.0)
        reached = bound.copy()
        some = np.flatnonzero(open_here & differ)
        if len(some):
            pair = ResidualPair(first, second, forced, rows >= 0, self.cutoff).at(some)
            shares = self.levels / self.levels[-1]
            bound[some], reached[some] = branched_difference(pair, shares, *relaxed_difference(pair))
        return bound, reached

    def influence(self, a: int, b: int, reach: FloatArray) -> FloatArray:
        docs, n = self.docs, self.docs.n_queries
        least: FloatArray = np.zeros(n)
        result = np.zeros(len(docs))
        for run, sign in ((a, 1.0), (b, -1.0)):
            known, full = self._ends_of_ideals[run]
            result += sign * self.weight[run] * ratio(np.full(n, self.levels[-1]), full)[docs.query]
            least = np.maximum(least, ratio(full - known, full))
        count = np.maximum(np.bincount(docs.query[self.open], minlength=n), 1)
        survives = np.maximum(self.survival[a], self.survival[b])
        grown = np.where(survives > 0, (reach * least / count)[docs.query], 0.0)
        return np.where(self.open, np.abs(result) + grown, 0.0)


def _pushed_left(rows: IntArray, keep: BoolArray) -> IntArray:
    """In each row those to keep, in their order, followed by -1 where others have more."""
    result = np.full((len(rows), max(int(keep.sum(axis=1).max(initial=0)), 1)), -1)
    at = np.cumsum(keep, axis=1)[keep] - 1
    result[np.nonzero(keep)[0], at] = rows[keep]
    return result


def _taken(values: FloatArray | BoolArray, row: IntArray) -> FloatArray:
    """The values of some columns, 0 where there is none."""
    return np.where(row >= 0, values[row], 0.0) if len(values) else np.zeros(row.shape)


def _ratio_of(docs: Sorted, found: FloatArray, chosen: BoolArray, cutoff: int | None) -> FloatArray:
    ideal = (places(chosen, cutoff) * docs.residual).sum(axis=1)
    return ratio((found * chosen).sum(axis=1), ideal)


def extreme_ratio(docs: Sorted, found: FloatArray, cutoff: int | None, sign: float) -> FloatArray:
    """The greatest (1) or least (-1) sum over ideal where each open document has no gain or its highest; 0/0 is 0."""
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
    """No smaller than the sum over the ideal, by ideals with other placements of the documents than the best one."""
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
