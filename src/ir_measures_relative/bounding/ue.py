"""Strict bounds of UE of nDCG and AP, whose random level moves with the labels too."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from ir_measures import Measure

from ..data.arrays import FloatArray, IntArray, ratio, sum_by_query
from ..measures.bases.ap import expected_precision_sum
from ..measures.bases.base import partial_sums
from ..measures.bases.gains import discount
from ..measures.form import Rule
from ..measures.ue import _UE, Normalizers, normalize
from ..tolerances import LABELED_ALIKE
from ..work import Work
from .ap import Precisions
from .forms import FormLabelings
from .intervals import Interval
from .labelings import BOUNDS, Labelings
from .level_sums import LevelSums


class _AboveChance(FormLabelings):
    """UE of a base: what a ranking is worth, and what a random ranking of the pool is."""

    @cached_property
    def rule(self) -> Rule:
        rule: Rule = self.measure.base.rule(self.measure.get)
        return rule

    @cached_property
    def pool_size(self) -> IntArray:
        """The number of documents in each query's pool, open documents included."""
        docs, corpus = self.docs, self.runs[0].collection.num_docs
        query = docs.query[docs.grade >= 0] if self.judged_only else docs.query
        size = np.bincount(query, minlength=docs.n_queries)
        return np.full(len(size), corpus, dtype=np.int64) if self.measure.get("pool") == "corpus" else size

    @property
    def depth(self) -> IntArray:
        """How deep the pool of each query is ranked."""
        return self.pool_size if self.cutoff is None else np.minimum(self.pool_size, self.cutoff)


class GainsAboveChance(_AboveChance):
    """nDCG_UE: version 2 is exact for one run, version 1 a product of two extremes."""

    def _random_level(self) -> tuple[FloatArray, FloatArray]:
        """Return REB for a gain of 1 in all, and what the judged documents and the least gains make of it."""
        so_far = partial_sums(discount(np.arange(1, int(self.depth.max(initial=0)) + 1)))
        unit = ratio(so_far[self.depth], self.pool_size.astype(np.float64))
        judged = sum_by_query(self.judged_gain, self.items.query, self.docs.n_queries)
        return unit, unit * (judged + self.levels[0] * self.sizes)

    def bound_runs(self, work: Work) -> Interval:
        known, n, (ideal, ideals), steps = self._known, self.docs.n_queries, self.ideal, np.diff(self.levels)
        unit, chance = self._random_level()
        # REB by level, shaped like the ideals; what is above it, and the room that it leaves.
        chances = np.multiply.outer(unit, np.multiply.outer(steps, np.arange(ideals.shape[2])))
        room, rooms = ideal - chance, ideals - chances
        by_chance, above_chance = (chance, chances), (room, rooms)
        ends = np.empty((2, *known.shape))
        exact = np.ones(known.shape, dtype=bool)
        for run, weight in enumerate(self._weights):
            most_known, more = self.above(known[run], weight)
            least_known, less = self.above(-known[run], -weight)
            if self.measure.get("version") == 1:
                for end, sign, above in ((0, -1.0, (least_known, less)), (1, 1.0, (most_known, more))):
                    of_ideal, of_chance = (
                        sign * LevelSums(above, below, self.sizes).greatest()
                        for below in ((ideal, ideals), by_chance)
                    )
                    ends[end, run] = of_ideal * (of_chance / (1.0 + of_chance))  # A/(A + REB) from A/REB
                exact[run] = ends[1, run] - ends[0, run] <= LABELED_ALIKE
                continue
            above = most_known - chance, more - chances
            most = LevelSums(above, above_chance, self.sizes).greatest_positive()
            highest = np.where(most > 0, most, LevelSums(above, by_chance, self.sizes).greatest())
            below = least_known + chance, less + chances
            worst = LevelSums(below, by_chance, self.sizes).greatest_positive()
            least_above = -LevelSums(below, above_chance, self.sizes).greatest()
            # A pool of one gain has nothing to rank, which is 0.
            even = np.zeros(n, dtype=bool)
            for uniform in range(len(steps) + 1):
                at = np.where(np.arange(len(steps)) < uniform, self.sizes[:, None], 0)
                left = np.take_along_axis(rooms, at[:, :, None], axis=2)[..., 0].sum(axis=1)
                even |= room + left <= LABELED_ALIKE
            # Where all labelings are above chance, the least is above it too, but for such a pool.
            ends[0, run] = np.where(worst > 0, -worst, np.where(even, 0.0, np.maximum(least_above, 0.0)))
            ends[1, run] = np.clip(highest, -1.0, 1.0)
            exact[run] = ~even
        return Interval(ends[0], ends[1], exact)

    bound_differences = Labelings.bound_differences

    def influence(self, a: int, b: int, reach: FloatArray) -> FloatArray:
        # Every label moves the random level.
        share = ratio(reach, np.maximum(self.pool_size, 1).astype(np.float64))[self.docs.query]
        return super().influence(a, b, reach) + np.where(self.open, share, 0.0)

    def values(self, grade: IntArray) -> FloatArray:
        of_open, n = self.rule.gain(grade), self.docs.n_queries
        gain, ideal = self._gains(of_open), self._ideals(of_open)
        actual = np.array([form.joined(gain) for form in self.forms])
        unit, known = self._random_level()
        total = known + sum_by_query(of_open - self.levels[0], self._open_query, n) * unit
        # A pool of one gain has nothing to rank: the two differ by rounding alone.
        total = np.where(ideal - total <= LABELED_ALIKE * ideal, ideal, total)
        levels = Normalizers(*(np.broadcast_to(level, actual.shape) for level in (ideal, total)))
        return normalize(actual, levels, self.measure.get("version"))


class PrecisionsAboveChance(_AboveChance, Precisions):
    """AP_UE, exact for one run: for a given number of relevant documents it rises with the sum of precisions."""

    def normalized(self, total: FloatArray, n_relevant: IntArray, query: int) -> FloatArray:
        m, exact = n_relevant.reshape(-1), self.measure.get("expected") == "exact"
        size, depth = (np.full(total.size, part[query]) for part in (self.pool_size, self.depth))
        upper = np.minimum(depth, m).astype(np.float64)
        expected = np.where(m == size, upper, expected_precision_sum(m, size, depth, exact))
        values = normalize(total.reshape(-1), Normalizers(upper, expected), self.measure.get("version"))
        return values.reshape(total.shape)

    bound_differences = Labelings.bound_differences

    def values(self, grade: IntArray) -> FloatArray:
        gain = self._gains(self.rule.gain(grade))
        total = np.array([form.joined(gain) for form in self.forms])
        count = self.forms[0].over(gain).astype(np.int64)
        values = np.empty(total.shape)
        for query in range(self.docs.n_queries):
            of_labelings = np.broadcast_to(count[:, query], total.shape[:2])
            values[..., query] = self.normalized(total[..., query], of_labelings, query)
        return values


class _NotBounded(Labelings):
    """UE of another base, version or pool."""

    @property
    def why_not_bounded(self) -> str:
        return f"{self.measure} has no strict bounds; version=1 or 2 of nDCG and AP has, with pool='judged' or 'corpus'"


@BOUNDS.register(_UE)
def _labelings(measure: Measure, *given: Any) -> Labelings:
    base, versions = measure.base_name, (1, 2)
    if base not in ("AP", "nDCG") or measure.get("version") not in versions or measure.get("pool") == "run":
        return _NotBounded(measure, *given)
    return (PrecisionsAboveChance if base == "AP" else GainsAboveChance)(measure, *given)
