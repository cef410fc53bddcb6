"""Ratios of two sums, both of which the labels move; nDCG and its like."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import Literal

import numpy as np

from ..context.view import View
from ..data.arrays import FloatArray, IntArray, ratio
from ..measures.bases.gains import discount, ideal_dcg
from ..measures.med_pairs import LevelSums, sums_of_first
from ..measures.ue import Normalizers, normalize
from ..tolerances import LABELED_ALIKE
from ..work import Work
from .model import Interval, Model


class Normalized(Model):
    """A sum over the ideal DCG, exact for one run and for two: of given numbers of gains, the larger go to the larger
    weights.
    """

    def __init__(
        self,
        views: Sequence[View],
        weight: FloatArray,
        gain: FloatArray,
        levels: FloatArray,
        cutoff: int | None,
    ) -> None:
        super().__init__(views, gain)
        self.weight, self.cutoff = weight, cutoff
        self._rows = np.flatnonzero(self.open)
        self._query = self.docs.query[self._rows]
        self.sizes = np.bincount(self._query, minlength=self.docs.n_queries)
        # Levels as steps from 0 up: the least gain is one that every open document has.
        self.least = float(levels[0])
        self.steps = np.diff(levels)
        self.ideal, self.ideals = self._ideals(levels, int(self.sizes.max(initial=0)) + 1)

    def _ideals(self, levels: FloatArray, width: int) -> tuple[FloatArray, FloatArray]:
        """The ideal of the least gains, (queries), and what n documents at each level add, (queries, levels, n)."""
        docs, n = self.docs, self.docs.n_queries
        # Judged documents may have gains between the levels, where the grades known are a part of those that they have.
        every = np.unique(np.concatenate([[0.0], levels, self.known_gain]))
        deepest = int(np.bincount(docs.query, minlength=n).max(initial=0)) + 1
        so_far = np.cumsum(discount.up_to(deepest if self.cutoff is None else min(self.cutoff, deepest)))
        least, added = np.zeros(n), np.zeros((n, len(levels) - 1, width))

        def ideal_of(count: IntArray) -> FloatArray:
            return so_far[np.minimum(count, len(so_far) - 1)]

        for low, high in itertools.pairwise(every):
            count = np.bincount(docs.query[~self.open & (self.known_gain >= high)], minlength=n)
            if high <= levels[0]:
                least += (high - low) * ideal_of(count + self.sizes)
            elif high > levels[-1]:
                least += (high - low) * ideal_of(count)
            else:
                level = int(np.searchsorted(levels, high)) - 1
                added[:, level] += (high - low) * ideal_of(count[:, None] + np.arange(width))
        return least, added

    def value(self) -> FloatArray:
        ideal = ideal_dcg(self.known_gain, self.docs.query, self.docs.n_queries, self.cutoff)
        return ratio(self._known_sums(), ideal)

    def _known_sums(self) -> FloatArray:
        return self.sums(self.weight * self.known_gain, ~self.open)

    def sampled(self, gains: FloatArray) -> FloatArray:
        found, ideal = self.parts(gains)
        return ratio(found, np.broadcast_to(ideal, found.shape))

    def parts(self, gains: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The sums of some labelings, shape (runs, labelings, queries), and the ideals, (labelings, queries)."""
        n = self.docs.n_queries
        found = np.repeat(self._known_sums()[:, None, :], len(gains), axis=1)
        ideal = np.repeat(self.ideal[None], len(gains), axis=0)
        for level, step in enumerate(self.steps):
            reached = gains > self.least + self.steps[: level + 1].sum() - step / 2
            count = self.over_open(reached.astype(np.int64)).astype(np.int64)
            ideal += self.ideals[np.arange(n), level, count]
        for run, weight in enumerate(self.weight[:, self._rows]):
            found[run] += self.over_open(gains * weight)
        return found, ideal

    def one(self, work: Work) -> Interval:
        return self._extremes(zip(self._known_sums(), self.weight, strict=True))

    def difference(self, a: IntArray, b: IntArray, work: Work) -> Interval:
        known, pairs = self._known_sums(), zip(a, b, strict=True)
        return self._extremes((known[x] - known[y], self.weight[x] - self.weight[y]) for x, y in pairs)

    def _extremes(self, sums: Iterable[tuple[FloatArray, FloatArray]]) -> Interval:
        """Of sums over the ideal: each from what the judged documents add up to, and the weights."""
        ideal = self.ideal, self.ideals
        ends = [
            sign * LevelSums(self._above(sign * known, sign * weight), ideal, self.sizes).greatest()
            for known, weight in sums
            for sign in (-1.0, 1.0)
        ]
        both = np.array(ends).reshape(-1, 2, self.docs.n_queries)
        return Interval.attained(both[:, 0], both[:, 1])

    def _above(self, known: FloatArray, weight: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The numerator where all open documents have the least gain, and what each level adds to it."""
        n, _, width = self.ideals.shape
        _, won = sums_of_first(weight[self._rows], self._query, n, width)
        least: FloatArray = known + self.least * won[np.arange(n), self.sizes]
        return least, self.steps[:, None] * won[:, None, :]

    def influence(self, a: int, b: int, reach: FloatArray) -> FloatArray:
        query, n = self.docs.query, self.docs.n_queries
        known = self.ideal + self.ideals[..., 0].sum(axis=1)
        full = self.ideal + self.ideals[np.arange(n), :, self.sizes].sum(axis=1)
        # A document that neither run holds counts by what it adds to the ideal.
        grown = ratio(reach * (full - known), full * np.maximum(self.sizes, 1))
        moved = np.abs(self.weight[a] - self.weight[b]) * ratio(np.full(n, self.steps.sum()), full)[query]
        return np.where(self.open, moved + grown[query], 0.0)


class Recall(Normalized):
    """The share of the relevant documents that a run has in its top: a sum over their number."""

    def _ideals(self, levels: FloatArray, width: int) -> tuple[FloatArray, FloatArray]:
        n = self.docs.n_queries
        known = np.bincount(self.docs.query[self.known_gain > 0], minlength=n).astype(np.float64)
        return known, np.tile(np.arange(width, dtype=np.float64), (n, len(levels) - 1, 1))

    def value(self) -> FloatArray:
        return ratio(self._known_sums(), np.broadcast_to(self.ideal, self._known_sums().shape))


class GainsAboveChance(Normalized):
    """nDCG_UE, whose random level moves too: version 2 is exact for one run, version 1 a product of two extremes."""

    def __init__(
        self,
        views: Sequence[View],
        weight: FloatArray,
        gain: FloatArray,
        levels: FloatArray,
        cutoff: int | None,
        pool: tuple[IntArray, IntArray],
        version: Literal[1, 2],
    ) -> None:
        super().__init__(views, weight, gain, levels, cutoff)
        self.pool_size, self.depth = pool
        self.version = version

    def _random_level(self) -> tuple[FloatArray, FloatArray]:
        """REB for a gain of 1 in all, and what the judged documents and the least gains make of it."""
        so_far = np.concatenate([[0.0], np.cumsum(discount.up_to(int(self.depth.max(initial=0)))[1:])])
        unit = ratio(so_far[self.depth], self.pool_size.astype(np.float64))
        known = self.sums(self.known_gain, ~self.open) + self.least * self.sizes
        return unit, unit * known

    def one(self, work: Work) -> Interval:
        known, n = self._known_sums(), self.docs.n_queries
        unit, chance = self._random_level()
        # REB by level, shaped like the ideals; what is above it, and the room that it leaves.
        width = np.arange(self.ideals.shape[2])
        chances = np.multiply.outer(unit, np.multiply.outer(self.steps, width))
        room, rooms = self.ideal - chance, self.ideals - chances
        by_chance, above_chance = (chance, chances), (room, rooms)
        ends = np.empty((2, *known.shape))
        exact = np.ones(known.shape, dtype=bool)
        for run, weight in enumerate(self.weight):
            found, more = self._above(known[run], weight)
            less_found, less = self._above(-known[run], -weight)
            if self.version == 1:
                for end, sign, above in ((0, -1.0, (less_found, less)), (1, 1.0, (found, more))):
                    of_ideal, of_chance = (
                        sign * LevelSums(above, below, self.sizes).greatest()
                        for below in ((self.ideal, self.ideals), by_chance)
                    )
                    ends[end, run] = of_ideal * (of_chance / (1.0 + of_chance))  # A/(A + REB) from A/REB
                exact[run] = ends[1, run] - ends[0, run] <= LABELED_ALIKE
                continue
            above = found - chance, more - chances
            most = LevelSums(above, above_chance, self.sizes).greatest_positive()
            highest = np.where(most > 0, most, LevelSums(above, by_chance, self.sizes).greatest())
            below = less_found + chance, less + chances
            worst = LevelSums(below, by_chance, self.sizes).greatest_positive()
            least_above = -LevelSums(below, above_chance, self.sizes).greatest()
            # A pool of one gain has nothing to rank, which is 0.
            even = np.zeros(n, dtype=bool)
            for uniform in range(len(self.steps) + 1):
                at = np.where(np.arange(len(self.steps)) < uniform, self.sizes[:, None], 0)
                left = np.take_along_axis(rooms, at[:, :, None], axis=2)[..., 0].sum(axis=1)
                even |= room + left <= LABELED_ALIKE
            # Where all labelings are above chance, the least is above it too, but for such a pool.
            ends[0, run] = np.where(worst > 0, -worst, np.where(even, 0.0, np.maximum(least_above, 0.0)))
            ends[1, run] = np.clip(highest, -1.0, 1.0)
            exact[run] = ~even
        return Interval(ends[0], ends[1], exact)

    difference = Model.difference

    def influence(self, a: int, b: int, reach: FloatArray) -> FloatArray:
        # Every label moves the random level.
        share = ratio(reach, np.maximum(self.pool_size, 1).astype(np.float64))[self.docs.query]
        return super().influence(a, b, reach) + np.where(self.open, share, 0.0)

    def sampled(self, gains: FloatArray) -> FloatArray:
        found, ideal = self.parts(gains)
        unit, known = self._random_level()
        total = known + self.over_open(gains - self.least) * unit
        # A pool of one gain has nothing to rank: the two differ by rounding alone.
        total = np.where(ideal - total <= LABELED_ALIKE * ideal, ideal, total)
        levels = Normalizers(*(np.broadcast_to(level, found.shape) for level in (ideal, total)))
        return normalize(found, levels, self.version)
