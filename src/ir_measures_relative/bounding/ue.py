"""Strict bounds of UE of nDCG and AP, whose random level moves with the labels too."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from ..data.arrays import FloatArray, IntArray, ratio, sum_by_query
from ..measures.bases.ap import expected_precision_sum
from ..measures.bases.base import partial_sums
from ..measures.bases.gains import discount
from ..measures.form import Rule
from ..measures.measure import RelativeMeasure
from ..measures.ue import Normalizers, normalize
from ..tolerances import LABELED_ALIKE
from .ap import PrecisionLabelings
from .forms import FormLabelings, SumLabelings
from .intervals import Interval, TimeLimit
from .labelings import Labelings
from .level_sums import LevelSums, sum_largest


class _AboveChance(FormLabelings):
    """Labelings of UE: the value of a ranking by a base, compared with that of a random ranking of the pool."""

    @cached_property
    def rule(self) -> Rule:
        return self.measure.base.rule(self.measure.get)

    @cached_property
    def pool_size(self) -> IntArray:
        """The number of documents in each query's pool, open documents included."""
        docs, corpus = self.docs, self.runs[0].collection.num_docs
        query = docs.query[docs.grade >= 0] if self.judged_only else docs.query
        size = np.bincount(query, minlength=docs.n_queries)
        return np.full(len(size), corpus, dtype=np.int64) if self.measure.get("pool") == "corpus" else size

    @property
    def depth(self) -> IntArray:
        """The depth to which the pool of each query is ranked."""
        return self.pool_size if self.cutoff is None else np.minimum(self.pool_size, self.cutoff)

    bound_differences = Labelings.bound_differences


class GainsAboveChance(_AboveChance, SumLabelings):
    """Labelings of nDCG_UE: version 2 is exact for one run, version 1 a product of two extremes."""

    def _random_level(self) -> tuple[FloatArray, FloatArray]:
        """Return REB for a gain of 1 in all, and REB of the judged documents with the open ones at the least gain."""
        so_far = partial_sums(discount(np.arange(1, int(self.depth.max(initial=0)) + 1)))
        unit = ratio(so_far[self.depth], self.pool_size.astype(np.float64))
        judged = sum_by_query(self.judged_gain, self.items.query, self.docs.n_queries)
        return unit, unit * (judged + self.levels[0] * self.n_open)

    def bound_runs(self, limit: TimeLimit) -> Interval:
        unit, chance = self._random_level()
        ideal, ideals = self.ideals.least, self.ideals.added
        # REB by level, shaped like the ideals; and the room above it.
        chances = np.multiply.outer(unit, np.multiply.outer(np.diff(self.levels), np.arange(ideals.shape[2])))
        by_chance, room = (chance, chances), (ideal - chance, ideals - chances)
        ends = np.empty((2, *self.judged_sums.shape))
        exact = np.ones(self.judged_sums.shape, dtype=bool)
        uniform = self._has_uniform_pool(*room)
        for run, weight in enumerate(self.weights):
            most, more = self._split_by_level(self.judged_sums[run], weight)
            least, less = self._split_by_level(-self.judged_sums[run], -weight)
            if self.measure.get("version") == 1:
                for end, sign, above in ((0, -1.0, (least, less)), (1, 1.0, (most, more))):
                    over_ideal, over_chance = (
                        sign * LevelSums(above, below, self.n_open).greatest()
                        for below in ((ideal, ideals), by_chance)
                    )
                    ends[end, run] = over_ideal * (
                        over_chance / (1.0 + over_chance)
                    )  # A/(A + REB) from A/REB
                exact[run] = ends[1, run] - ends[0, run] <= LABELED_ALIKE
                continue
            above, below = (most - chance, more - chances), (least + chance, less + chances)
            best = LevelSums(above, room, self.n_open).greatest_positive()
            best = np.where(best > 0, best, LevelSums(above, by_chance, self.n_open).greatest())
            worst = LevelSums(below, by_chance, self.n_open).greatest_positive()
            least_above = -LevelSums(below, room, self.n_open).greatest()
            # Where all labelings are above chance, the least is above it too, but for a uniform pool.
            ends[0, run] = np.where(worst > 0, -worst, np.where(uniform, 0.0, np.maximum(least_above, 0.0)))
            ends[1, run] = np.clip(best, -1.0, 1.0)
            exact[run] = ~uniform
        return Interval(ends[0], ends[1], exact)

    def _split_by_level(self, judged: FloatArray, weight: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the sum of each query where all open items gain least, and what each level adds to it."""
        n, _, width = self.ideals.added.shape
        won = sum_largest(weight, self.open_query, n, width)
        return judged + self.levels[0] * won[np.arange(n), self.n_open], np.diff(self.levels)[:, None] * won[
            :, None
        ]

    def _has_uniform_pool(self, room: FloatArray, rooms: FloatArray) -> np.ndarray:
        """Return whether some labeling gives all documents of a query the same gain, for which the value is 0."""
        uniform, n_levels = np.zeros(len(room), dtype=bool), rooms.shape[1]
        for level in range(n_levels + 1):
            at = np.where(np.arange(n_levels) < level, self.n_open[:, None], 0)
            left = np.take_along_axis(rooms, at[:, :, None], axis=2)[..., 0].sum(axis=1)
            uniform |= room + left <= LABELED_ALIKE
        return uniform

    def influence(self, a: int, b: int, reach: FloatArray) -> FloatArray:
        # Every label moves the random level.
        share = ratio(reach, np.maximum(self.pool_size, 1).astype(np.float64))[self.docs.query]
        return super().influence(a, b, reach) + np.where(self.open, share, 0.0)

    def values(self, grade: IntArray) -> FloatArray:
        open_gain, n = self.rule.gain(grade), self.docs.n_queries
        gain, ideal = self.add_open_gains(open_gain), self.ideals.values(open_gain)
        actual = np.array([form.joined(gain) for form in self.forms])
        unit, least = self._random_level()
        total = least + sum_by_query(open_gain - self.levels[0], self.open_query, n) * unit
        # In a pool of one gain there is nothing to rank: the two differ by rounding alone.
        total = np.where(ideal - total <= LABELED_ALIKE * ideal, ideal, total)
        normalizers = Normalizers(*(np.broadcast_to(level, actual.shape) for level in (ideal, total)))
        return normalize(actual, normalizers, self.measure.get("version"))


class PrecisionsAboveChance(_AboveChance, PrecisionLabelings):
    """Labelings of AP_UE: exact for one run, since for a number of relevant documents it rises with the precisions."""

    def normalize(self, total: FloatArray, n_relevant: IntArray, query: int) -> FloatArray:
        """Return UE of AP, from the sum of precisions and the number of relevant documents."""
        m, exact = n_relevant.reshape(-1), self.measure.get("expected") == "exact"
        size, depth = (np.full(total.size, part[query]) for part in (self.pool_size, self.depth))
        upper = np.minimum(depth, m).astype(np.float64)
        expected = np.where(m == size, upper, expected_precision_sum(m, size, depth, exact))
        values = normalize(total.reshape(-1), Normalizers(upper, expected), self.measure.get("version"))
        return values.reshape(total.shape)

    def values(self, grade: IntArray) -> FloatArray:
        gain = self.add_open_gains(self.rule.gain(grade))
        total = np.array([form.joined(gain) for form in self.forms])
        count = self.forms[0].over(gain).astype(np.int64)
        values = np.empty(total.shape)
        for query in range(self.docs.n_queries):
            n_relevant = np.broadcast_to(count[:, query], total.shape[:2])
            values[..., query] = self.normalize(total[..., query], n_relevant, query)
        return values


class _NotBounded(Labelings):
    """Labelings of UE of another base, version or pool."""

    @property
    def why_not_bounded(self) -> str:
        return f"{self.measure} has no strict bounds; version=1 or 2 of nDCG and AP has, with pool='judged' or 'corpus'"


def above_chance_class(measure: RelativeMeasure) -> type[Labelings]:
    """Return the class of labelings of a measure of UE."""
    if measure.get("version") not in (1, 2) or measure.get("pool") == "run":
        return _NotBounded
    return {"AP": PrecisionsAboveChance, "nDCG": GainsAboveChance}.get(measure.base_name, _NotBounded)
