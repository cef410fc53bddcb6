"""Average precision: the precisions at the relevant documents of a run, over the number of all relevant documents."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Literal, NamedTuple

import numpy as np

from ..context.view import View
from ..data.arrays import BoolArray, FloatArray, IntArray
from ..measures.bases.ap import expected_sum_of_precisions
from ..measures.bases.gains import reciprocal
from ..measures.ue import Normalizers, normalize
from ..tolerances import LABELED_ALIKE
from ..work import Work
from .ap_relaxation import Quadratic, greatest_over_relevant, sum_of_precisions
from .ap_search import Search
from .model import END_SECONDS, Clock, End, Interval, Model, PairSolver, interval_of_pairs, share

# Beyond these numbers of open documents of two runs, their difference is that of two intervals; the second is where
# weights differ.
_MOST_EVEN, _MOST_WEIGHTED = 2000, 600
# Up to this number of open documents of a query are tried in order with weights that differ.
_MOST_WEIGHED = 300


class DocumentsOfQuery(NamedTuple):
    """The documents of one query that are open, or judged relevant."""

    open: BoolArray
    weight: FloatArray
    relevant: int  #: how many are judged relevant, also among those that no run holds


class Precisions(Model):
    """AP and AP_Rareness: ``(1/R)·Σ over relevant d of (1/p_d)·Σ weight(e)`` over the relevant e no deeper than d.

    One run is exact if all weights are equal. The difference of two is a quadratic function of the labels.
    """

    def __init__(
        self, views: Sequence[View], position: IntArray, relevant: BoolArray, weight: FloatArray
    ) -> None:
        super().__init__(views, relevant)
        self.position, self.relevant, self.weight = position, relevant, weight
        self.even = bool((weight == 1.0).all())
        self.rows = self.rows_by_query(self.open | relevant)
        self.n_relevant = [int(relevant[rows].sum()) for rows in self.rows]

    def sampled(self, gains: FloatArray) -> FloatArray:
        result = np.zeros((len(self.position), len(gains), len(self.rows)))
        relevant = np.zeros((len(gains), len(self.open)), dtype=bool)
        relevant[:, self.open] = gains > 0
        relevant[:, self.relevant] = True
        for q, rows in enumerate(self.rows):
            labels = relevant[:, rows]
            count = labels.sum(axis=1)
            for run, position in enumerate(self.position[:, rows]):
                held = np.flatnonzero(position > 0)
                order = held[np.argsort(position[held])]
                found = labels[:, order] * self.weight[rows[order]]
                precision = np.cumsum(found, axis=1) / position[order]
                total = (precision * labels[:, order]).sum(axis=1)
                result[run, :, q] = self.normalized(total, count, q)
        return result

    def normalized(self, total: FloatArray, n_relevant: IntArray, query: int) -> FloatArray:
        """AP, from the sum of precisions and R."""
        return total / np.maximum(n_relevant, 1)

    def one(self, work: Work) -> Interval:
        runs, every = np.arange(len(self.position)), np.ones(len(self.rows), dtype=bool)
        if self.even:
            found = [[self._extremes(i, q) for q in range(len(self.rows))] for i in range(len(runs))]
            ends = np.array(found).reshape(len(runs), len(self.rows), 2)
            return Interval.attained(ends[..., 0], ends[..., 1])
        # As the difference from a run that holds nothing.
        position = np.append(self.position, np.zeros((1, len(self.open)), dtype=np.int64), axis=0)
        nothing = np.full(len(runs), len(runs))
        return interval_of_pairs(self._solver, position, self.rows, every, runs, nothing, work)

    def _extremes(self, run: int, q: int) -> tuple[float, float]:
        rows = self.rows[q]
        position, weight, is_open = self.position[run, rows], self.weight[rows], self.open[rows]
        held = position > 0
        least, most = sums_by_count(position[held], weight[held], is_open[held], True)
        outside = int((is_open & ~held).sum())
        count = self.n_relevant[q] + np.arange(len(least))[:, None] + np.arange(outside + 1)
        low = self.normalized(np.broadcast_to(least[:, None], count.shape), count, q)
        high = self.normalized(np.broadcast_to(most[:, None], count.shape), count, q)
        return float(low.min()), float(high.max())

    def difference(self, a: IntArray, b: IntArray, work: Work) -> Interval:
        one = self.one(work if self.even else share(work, 2))
        some = ~self.closed()
        found = interval_of_pairs(self._solver, self.position, self.rows, some, a, b, work)
        return found.within(one.of(a).minus(one.of(b)))

    def _solver(self, q: int) -> PairSolver:
        rows = self.rows[q]
        docs = DocumentsOfQuery(self.open[rows], self.weight[rows], self.n_relevant[q])
        return partial(even_difference if self.even else weighted_difference, docs)

    def influence(self, a: int, b: int, reach: FloatArray) -> FloatArray:
        docs, n = self.docs, self.docs.n_queries
        free = np.bincount(docs.query[self.open], minlength=n)
        size = np.maximum(np.array(self.n_relevant) + free / 2, 1.0)
        # A relevant document adds its precision, and one to the precision of those below it.
        x, y = self.position[a], self.position[b]
        moved = np.abs(reciprocal(x) - reciprocal(y)) * np.log1p(np.maximum(x, y))
        grown = np.where(reach > 0, reach, 0.0) / size
        return np.where(self.open, moved / size[docs.query] + grown[docs.query], 0.0)


class PrecisionsAboveChance(Precisions):
    """AP_UE, exact for one run: for a given number of relevant documents it rises with the sum of precisions."""

    def __init__(
        self,
        views: Sequence[View],
        position: IntArray,
        relevant: BoolArray,
        pool: tuple[IntArray, IntArray],
        version: Literal[1, 2],
        exact_level: bool,
    ) -> None:
        super().__init__(views, position, relevant, np.ones(len(relevant)))
        self.pool, self.version, self.exact_level = pool, version, exact_level

    def normalized(self, total: FloatArray, n_relevant: IntArray, query: int) -> FloatArray:
        m = n_relevant.reshape(-1)
        size, depth = (np.full(total.size, part[query]) for part in self.pool)
        upper = np.minimum(depth, m).astype(np.float64)
        expected = np.where(m == size, upper, expected_sum_of_precisions(m, size, depth, self.exact_level))
        return normalize(total.reshape(-1), Normalizers(upper, expected), self.version).reshape(total.shape)

    difference = Model.difference


def even_difference(
    docs: DocumentsOfQuery, held: BoolArray, winner: IntArray, loser: IntArray, work: Work
) -> End:
    """The greatest difference of one run less another, by branch and bound, where all weights are 1."""
    is_open = docs.open[held]
    if is_open.sum() > _MOST_EVEN or work.expired():
        return End(np.inf, -np.inf)
    label, deepest = np.where(is_open, -1, 1), int(max(winner.max(initial=1), loser.max(initial=1)))
    elsewhere, outside = docs.relevant - int((~is_open).sum()), int((docs.open & ~held).sum())
    search = Search(winner, loser, label, deepest, "R", elsewhere, outside, LABELED_ALIKE)
    search.run(Clock(END_SECONDS, work))
    proved = search.upper - search.difference <= LABELED_ALIKE
    return End(search.difference if proved else min(search.upper, 1.0), search.difference)


def weighted_difference(
    docs: DocumentsOfQuery, held: BoolArray, winner: IntArray, loser: IntArray, work: Work
) -> End:
    """The same for any weights; the search ends after a number of steps."""
    is_open, weight, outside = docs.open[held], docs.weight[held], int((docs.open & ~held).sum())
    bound = np.inf
    if not (winner.any() and loser.any()):  # one run alone: the largest weights first, or the smallest
        least, most = sums_by_count(winner + loser, weight, is_open, False)
        relevant = np.maximum(docs.relevant + np.arange(len(least)), 1)
        bound = float((most / relevant).max() if winner.any() else -(least / (relevant + outside)).min())
    if is_open.sum() > _MOST_WEIGHTED or work.expired():
        return End(bound, -np.inf)
    quadratic = Quadratic.of(winner, loser, ~is_open, np.flatnonzero(is_open), weight)
    found = greatest_over_relevant(quadratic, docs.relevant, outside, Clock(None, work))
    return End(min(bound, found.bound), found.reached)


def sums_by_count(
    position: IntArray, weight: FloatArray, is_open: BoolArray, even: bool
) -> tuple[FloatArray, FloatArray]:
    """No more, and no less, than the sum of precisions where 0, 1, … open documents are relevant; exact if ``even``."""
    order = np.argsort(position)
    position, weight, is_open = position[order], weight[order], is_open[order]
    inverse = reciprocal(position)
    known = ~is_open
    n = int(is_open.sum())
    if even:
        before = np.cumsum(known)[is_open]
        after = (inverse * known).sum() - np.cumsum(inverse * known)[is_open]
        at = inverse[is_open]
        start = sum_of_precisions(position[known])
        first = (before + np.arange(1, n + 1)) * at + after  # those above it are relevant as well
        deeper = at.sum() - np.cumsum(at)
        last = ((before + 1) * at + after + deeper)[::-1]  # those below it are
        return start + np.append(0.0, np.cumsum(last)), start + np.append(0.0, np.cumsum(first))
    if n > _MOST_WEIGHED:
        least, most = sums_by_count(position, weight, is_open, True)
        return least * weight.min(), most * weight.max()
    least, most = np.empty((2, n + 1))
    places = np.flatnonzero(is_open)
    ascending = np.sort(weight[is_open])
    for count in range(n + 1):
        for result, where, which in (
            (least, places[n - count :], ascending[:count]),
            (most, places[:count], ascending[n - count :]),
        ):
            relevant = known.copy()
            relevant[where] = True
            weights = np.sort(np.concatenate([weight[known], which]))
            if result is most:
                weights = weights[::-1]
            result[count] = (np.cumsum(weights) * inverse[relevant]).sum()
    return least, most
