"""Upper and expected value normalization: labels move the random level as well as the value and the ideal."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeAlias

import numpy as np

from ..arrays import BoolArray, FloatArray, IntArray, ratio
from ..jobs import Work
from ..measures.gains import discount
from ..options import LABELED_ALIKE
from .labelings import OpenDocuments
from .model import Interval, Model
from .precisions import Precisions
from .ratios import Normalized

#: From sums of precisions, numbers of relevant documents, sizes of the pool and depths to values; one each a labeling.
ValueOfSums: TypeAlias = Callable[[FloatArray, IntArray, IntArray, IntArray], FloatArray]
#: From the value of rankings, of perfect ones, and of random ones to the normalized value, elementwise.
ValueOfGains: TypeAlias = Callable[[FloatArray, FloatArray, FloatArray], FloatArray]


class PoolSize:
    """The size of the pool of each query when its open documents are judged.

    Args:
        whole: the size of the collection, where that is the pool.
        judged_only: whether documents with a negative label are out of it.
    """

    def __init__(self, open_docs: OpenDocuments, whole: int | None, judged_only: bool) -> None:
        docs = open_docs.docs
        inside = docs.query[docs.grade >= 0] if judged_only else docs.query
        size = np.bincount(inside, minlength=docs.n_queries)
        self.size: IntArray = size if whole is None else np.full(len(size), whole, dtype=np.int64)
        cutoff = open_docs.cutoff
        self.depth: IntArray = self.size if cutoff is None else np.minimum(self.size, cutoff)


class PrecisionsAboveChance(Precisions):
    """AP_UE, exact for one run: for a given number of relevant documents it rises with the sum of precisions.

    Args:
        position: of every document in every run, shape (runs, documents).
        relevant: which judged documents are.
        pool: what is ranked perfectly and at random.
        value_of: the normalized value.
    """

    def __init__(
        self,
        open_docs: OpenDocuments,
        position: IntArray,
        relevant: BoolArray,
        pool: PoolSize,
        value_of: ValueOfSums,
    ) -> None:
        super().__init__(open_docs, position, relevant, np.ones(len(relevant)))
        self.pool, self.value_of = pool, value_of

    def normalized(self, total: FloatArray, n_relevant: IntArray, query: int) -> FloatArray:
        flat, relevant = total.reshape(-1), n_relevant.reshape(-1)
        size = np.full(len(flat), self.pool.size[query])
        depth = np.full(len(flat), self.pool.depth[query])
        return self.value_of(flat, relevant, size, depth).reshape(total.shape)

    difference = Model.difference


class GainsAboveChance(Normalized):
    """nDCG_UE: version 2 exact for one run, version 1 the product of its two factors' extremes.

    Args:
        weight, gain, levels, cutoff: as for :class:`Normalized`.
        pool: what is ranked perfectly and at random.
        version: 1 or 2.
        value_of: the normalized value of that version.
    """

    def __init__(
        self,
        open_docs: OpenDocuments,
        weight: FloatArray,
        gain: FloatArray,
        levels: FloatArray,
        cutoff: int | None,
        pool: PoolSize,
        version: Literal[1, 2],
        value_of: ValueOfGains,
    ) -> None:
        super().__init__(open_docs, weight, gain, levels, cutoff)
        self.pool, self.version, self.value_of = pool, version, value_of

    def _random_level(self) -> tuple[FloatArray, FloatArray]:
        """REB for a gain of 1 in all, and what the judged documents and the least gains make of it."""
        so_far = np.concatenate([[0.0], np.cumsum(discount.up_to(int(self.pool.depth.max(initial=0)))[1:])])
        unit = ratio(so_far[self.pool.depth], self.pool.size.astype(np.float64))
        known = self.open_docs.sums(self.gain, ~self.open) + self.least * self.sizes
        return unit, unit * known

    def one(self, work: Work) -> Interval:
        known, n = self._known_sums(), self.open_docs.n_queries
        unit, chance = self._random_level()
        # REB by level, shaped like the ideals; what is above it, and the room that it leaves.
        width = np.arange(self.ideals.shape[2])
        chances = np.multiply.outer(unit, np.multiply.outer(self.steps, width))
        room, rooms = self.ideal - chance, self.ideals - chances
        ends = np.empty((2, *known.shape))
        exact = np.ones(known.shape, dtype=bool)
        for run, weight in enumerate(self.weight):
            found, more = self._above(known[run], weight)
            less_found, less = self._above(-known[run], -weight)
            if self.version == 1:
                for end, sign, above in ((0, -1.0, (less_found, less)), (1, 1.0, (found, more))):
                    of_ideal, of_chance = (
                        sign * self._over(*above, *below).greatest()
                        for below in ((self.ideal, self.ideals), (chance, chances))
                    )
                    ends[end, run] = of_ideal * (of_chance / (1.0 + of_chance))  # A/(A + REB) from A/REB
                exact[run] = ends[1, run] - ends[0, run] <= LABELED_ALIKE
                continue
            above = found - chance, more - chances
            most = self._over(*above, room, rooms).greatest_positive()
            highest = np.where(most > 0, most, self._over(*above, chance, chances).greatest())
            below = less_found + chance, less + chances
            worst = self._over(*below, chance, chances).greatest_positive()
            least_above = -self._over(*below, room, rooms).greatest()
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
        share = ratio(reach, np.maximum(self.pool.size, 1).astype(np.float64))[self.open_docs.docs.query]
        result: FloatArray = super().influence(a, b, reach) + np.where(self.open, share, 0.0)
        return result

    def sampled(self, gains: FloatArray) -> FloatArray:
        found, ideal = self.parts(gains)
        unit, known = self._random_level()
        total = known + self.over_open(gains - self.least) * unit
        # A pool of one gain has nothing to rank: the two differ by rounding alone.
        total = np.where(ideal - total <= LABELED_ALIKE * ideal, ideal, total)
        return self.value_of(found, np.broadcast_to(ideal, found.shape), np.broadcast_to(total, found.shape))
