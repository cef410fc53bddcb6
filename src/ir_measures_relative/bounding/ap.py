"""Average precision: the precisions at the relevant documents of a run, over the number of all relevant documents."""

from __future__ import annotations

from functools import cached_property, partial
from typing import NamedTuple

import numpy as np

from ..data.arrays import BoolArray, FloatArray, IntArray, query_slices
from ..measures.bases.gains import reciprocal
from ..tolerances import LABELED_ALIKE
from ..work import Work
from .ap_relaxation import Quadratic, greatest_over_relevant, sum_of_precisions
from .ap_search import Search
from .forms import FormLabelings
from .intervals import END_SECONDS, Clock, End, Interval, PairSolver, bound_pairs, share

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


class Precisions(FormLabelings):
    """AP and AP_Rareness: ``(1/R)·Σ over relevant d of (1/p_d)·Σ weight(e)`` over the relevant e no deeper than d.

    One run is exact if all weights are equal. The difference of two is a quadratic function of the labels.
    """

    @cached_property
    def weight(self) -> FloatArray:
        """What each item counts if it is relevant, in all runs alike."""
        return self.forms[0].left

    @property
    def why_not_bounded(self) -> str | None:
        if all((form.left == self.weight).all() for form in self.forms[1:]):
            return None
        return f"{self.measure} has no strict bounds; AP of all runs or of groups has, and the bases P, RBP and nDCG"

    @cached_property
    def even(self) -> bool:
        """Whether all weights are 1."""
        return bool((self.weight == 1.0).all())

    @cached_property
    def position(self) -> IntArray:
        """The position of each item in every run, shape (runs, items)."""
        return np.array([form.position for form in self.forms])

    @cached_property
    def is_open(self) -> BoolArray:
        """Which items are open."""
        result: BoolArray = ~self.items.judged
        return result

    @cached_property
    def rows(self) -> list[IntArray]:
        """The items of each query that are open, or judged relevant."""
        rows = np.flatnonzero(self.is_open | (self.judged_gain > 0))
        return [rows[some] for some in query_slices(self.items.query[rows], self.docs.n_queries)]

    @cached_property
    def n_relevant(self) -> list[int]:
        """The number of judged relevant items of each query."""
        return [int((self.judged_gain[rows] > 0).sum()) for rows in self.rows]

    def normalized(self, total: FloatArray, n_relevant: IntArray, query: int) -> FloatArray:
        """Return AP, from the sum of precisions and the number of relevant documents."""
        return total / np.maximum(n_relevant, 1)

    def bound_runs(self, work: Work) -> Interval:
        self.check_bounded()
        runs, every = np.arange(len(self.position)), np.ones(len(self.rows), dtype=bool)
        if self.even:
            ends = np.array(
                [[self._extremes(run, q) for q in range(len(self.rows))] for run in runs.tolist()]
            )
            ends = ends.reshape(len(runs), len(self.rows), 2)
            return Interval.attained(ends[..., 0], ends[..., 1])
        # As the difference from a run that holds nothing.
        position = np.append(self.position, np.zeros((1, len(self.is_open)), dtype=np.int64), axis=0)
        nothing = np.full(len(runs), len(runs))
        return bound_pairs(self._solver, position, self.rows, every, runs, nothing, work)

    def _extremes(self, run: int, q: int) -> tuple[float, float]:
        rows = self.rows[q]
        position, weight, is_open = self.position[run, rows], self.weight[rows], self.is_open[rows]
        held = position > 0
        least, most = sums_by_count(position[held], weight[held], is_open[held], True)
        outside = int((is_open & ~held).sum())
        count = self.n_relevant[q] + np.arange(len(least))[:, None] + np.arange(outside + 1)
        low = self.normalized(np.broadcast_to(least[:, None], count.shape), count, q)
        high = self.normalized(np.broadcast_to(most[:, None], count.shape), count, q)
        return float(low.min()), float(high.max())

    def bound_differences(self, a: IntArray, b: IntArray, work: Work) -> Interval:
        one = self.bound_runs(work if self.even else share(work, 2))
        some = ~self.closed_queries
        pairs = bound_pairs(self._solver, self.position, self.rows, some, a, b, work)
        return pairs.within(one.of(a).minus(one.of(b)))

    def _solver(self, q: int) -> PairSolver:
        rows = self.rows[q]
        docs = DocumentsOfQuery(self.is_open[rows], self.weight[rows], self.n_relevant[q])
        return partial(even_difference if self.even else weighted_difference, docs)

    def influence(self, a: int, b: int, reach: FloatArray) -> FloatArray:
        query = self._open_query
        free = np.bincount(query, minlength=self.docs.n_queries)
        size = np.maximum(np.array(self.n_relevant) + free / 2, 1.0)
        # A relevant document adds its precision, and one to the precision of those below it.
        x, y = self.position[a][self.open_items], self.position[b][self.open_items]
        moved = np.abs(reciprocal(x) - reciprocal(y)) * np.log1p(np.maximum(x, y))
        grown = np.where(reach > 0, reach, 0.0) / size
        result = np.zeros(len(self.docs))
        result[self.open] = moved / size[query] + grown[query]
        return result


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
