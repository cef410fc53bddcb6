"""Upper and expected value normalization: labels move the random level as well as the value and the ideal."""

from __future__ import annotations

import numpy as np

from ..arrays import FloatArray, IntArray, ratio
from ..measures.gains import discount
from ..measures.random_rankings import Normalizers, expected_sum_of_precisions, normalize
from .fractions import greatest_positive_ratio, greatest_ratio
from .labelings import OpenDocuments
from .model import TOLERANCE, Interval
from .normalized import Normalized
from .precisions import Precisions


class Pool:
    """The pool of each query when its open documents are judged.

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
    """AP_UE, exact for one run: for a given number of relevant documents it rises with the sum of precisions."""

    pool: Pool
    exact_level: bool
    version: int

    def normalized(self, total: FloatArray, n_relevant: IntArray, query: int) -> FloatArray:
        flat, relevant = total.reshape(-1), n_relevant.reshape(-1)
        size = np.full(len(flat), self.pool.size[query])
        depth = np.full(len(flat), self.pool.depth[query])
        upper = np.minimum(depth, relevant).astype(np.float64)
        expected = expected_sum_of_precisions(relevant, size, depth, self.exact_level)
        level = Normalizers(upper, np.where(relevant == size, upper, expected))
        return normalize(flat, level, self.version).reshape(total.shape)

    def difference(self, a: IntArray, b: IntArray) -> Interval:
        one = self.one()
        first, second = one.of(a), one.of(b)
        return first.minus(second)


class GainsAboveChance(Normalized):
    """nDCG_UE: version 2 exact for one run, version 1 the product of its two factors' extremes."""

    pool: Pool
    version: int

    def _random_level(self) -> tuple[FloatArray, FloatArray]:
        """REB for a gain of 1 in all, and what the judged documents and the least gains make of it."""
        so_far = np.concatenate([[0.0], np.cumsum(discount.up_to(int(self.pool.depth.max(initial=0)))[1:])])
        unit = ratio(so_far[self.pool.depth], self.pool.size.astype(np.float64))
        known = self.open_docs.sums(self.gain, ~self.open) + self.least * self.sizes
        return unit, unit * known

    def _levels(self) -> FloatArray:
        """REB as sums over levels, shaped like the ideals."""
        unit, known = self._random_level()
        result = np.zeros_like(self.ideals)
        result[:, 0] = known[:, None]
        width = np.arange(result.shape[2])
        result[:, 1:] = np.multiply.outer(unit, np.multiply.outer(self.steps, width))
        return result

    def one(self) -> Interval:
        known = self.open_docs.sums(self.weight * self.gain, ~self.open)
        level, n = self._levels(), self.open_docs.n_queries
        ends = np.empty((2, *known.shape))
        exact = np.ones(known.shape, dtype=bool)
        for run, weight in enumerate(self.weight):
            free = weight[self._rows]
            found, less = self._numerator(known[run], free), self._numerator(-known[run], -free)
            if self.version == 1:
                of_ideal, of_level = (greatest_ratio(found, x, self.sizes) for x in (self.ideals, level))
                least, least_level = (-greatest_ratio(less, x, self.sizes) for x in (self.ideals, level))
                ends[0, run] = least * _share(least_level)
                ends[1, run] = of_ideal * _share(of_level)
                exact[run] = ends[1, run] - ends[0, run] <= TOLERANCE
                continue
            above, room = found - level, self.ideals - level
            most = greatest_positive_ratio(above, room, self.sizes)
            ends[1, run] = np.where(most > 0, most, greatest_ratio(above, level, self.sizes))
            below = less + level
            worst = greatest_positive_ratio(below, level, self.sizes)
            least_above = -greatest_ratio(below, room, self.sizes)
            # A pool of one gain has nothing to rank, which is 0.
            even = np.zeros(n, dtype=bool)
            for uniform in range(self.ideals.shape[1]):
                at = np.where(np.arange(self.ideals.shape[1]) <= uniform, self.sizes[:, None], 0)
                room_left = np.take_along_axis(room, at[:, :, None], axis=2)[..., 0].sum(axis=1)
                even |= room_left <= TOLERANCE
            # Where all labelings are above chance, the least is above it too, but for such a pool.
            ends[0, run] = np.where(worst > 0, -worst, np.where(even, 0.0, np.maximum(least_above, 0.0)))
            ends[1, run] = np.clip(ends[1, run], -1.0, 1.0)
            exact[run] = ~even
        return Interval(ends[0], ends[1], exact)

    def difference(self, a: IntArray, b: IntArray) -> Interval:
        one = self.one()
        first, second = one.of(a), one.of(b)
        return first.minus(second)

    def influence(self, a: int, b: int, reach: FloatArray) -> FloatArray:
        # Every label moves the random level.
        share = ratio(reach, np.maximum(self.pool.size, 1).astype(np.float64))[self.open_docs.docs.query]
        result: FloatArray = super().influence(a, b, reach) + np.where(self.open, share, 0.0)
        return result

    def sampled(self, gains: FloatArray) -> FloatArray:
        found, ideal = self.parts(gains)
        unit, known = self._random_level()
        total = np.repeat(known[None], len(gains), axis=0)
        if len(self._rows):
            starts = np.flatnonzero(np.diff(self._query, prepend=-1))
            here = self._query[starts]
            total[:, here] += np.add.reduceat(gains - self.least, starts, axis=1) * unit[here]
        # A pool of one gain has nothing to rank: the two differ by rounding alone.
        total = np.where(ideal - total <= TOLERANCE * ideal, ideal, total)
        levels = Normalizers(np.broadcast_to(ideal, found.shape), np.broadcast_to(total, found.shape))
        return normalize(found, levels, self.version)


def _share(times_chance: FloatArray) -> FloatArray:
    """A/(A + REB) from A/REB."""
    result: FloatArray = times_chance / (1.0 + times_chance)
    return result
