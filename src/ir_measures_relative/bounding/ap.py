"""Strict bounds of average precision: the precisions at the relevant documents, over the number of relevant ones."""

from __future__ import annotations

from functools import cached_property, partial
from typing import NamedTuple

import numpy as np

from ..data.arrays import BoolArray, FloatArray, IntArray, query_slices
from ..measures.bases.gains import reciprocal
from ..tolerances import LABELED_ALIKE
from .ap_relaxation import Quadratic, greatest_over_relevant, precision_sum
from .ap_search import Search
from .forms import FormLabelings
from .intervals import END_SECONDS, Clock, End, Interval, PairSolver, TimeLimit, bound_pairs

# With more open documents of two runs, their difference is that of two intervals; the second is for unequal weights.
_MOST_EVEN, _MOST_WEIGHTED = 2000, 600
# Up to this number of open documents of a query are tried in order where weights differ.
_MOST_WEIGHED = 300


class QueryDocuments(NamedTuple):
    """The documents of one query that are open, or judged relevant."""

    open: BoolArray
    weight: FloatArray
    n_relevant: int  #: how many are judged relevant, also among those that no run retrieves


class PrecisionLabelings(FormLabelings):
    """Labelings of AP and AP_Rareness: ``(1/R)·Σ_d (1/p_d)·Σ_e weight(e)``, d and e relevant, e no deeper than d.

    One run is exact if all weights are equal. The difference of two is a quadratic function of the labels.
    """

    @cached_property
    def weight(self) -> FloatArray:
        """The weight of each item if it is relevant, in all runs alike."""
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
    def rows(self) -> list[IntArray]:
        """The items of each query that are open, or judged relevant."""
        rows = np.flatnonzero(~self.items.judged | (self.judged_gain > 0))
        return [rows[some] for some in query_slices(self.items.query[rows], self.docs.n_queries)]

    @cached_property
    def query_documents(self) -> list[QueryDocuments]:
        """The documents of each query, in the order of :attr:`rows`."""
        is_open = ~self.items.judged
        return [
            QueryDocuments(is_open[rows], self.weight[rows], int((self.judged_gain[rows] > 0).sum()))
            for rows in self.rows
        ]

    def normalize(self, total: FloatArray, n_relevant: IntArray, query: int) -> FloatArray:
        """Return AP, from the sum of precisions and the number of relevant documents."""
        return total / np.maximum(n_relevant, 1)

    def bound_runs(self, limit: TimeLimit) -> Interval:
        n_runs, n_queries = len(self.position), len(self.rows)
        if self.even:
            ends = [[self._extremes(run, q) for q in range(n_queries)] for run in range(n_runs)]
            worst, best = np.moveaxis(np.array(ends).reshape(n_runs, n_queries, 2), 2, 0)
            return Interval.attained(worst, best)
        # As the difference from a run that retrieves nothing.
        position = np.append(self.position, np.zeros((1, self.position.shape[1]), dtype=np.int64), axis=0)
        runs, nothing = np.arange(n_runs), np.full(n_runs, n_runs)
        every = np.ones(n_queries, dtype=bool)
        return bound_pairs(self._solver, position, self.rows, every, runs, nothing, limit)

    def _extremes(self, run: int, q: int) -> tuple[float, float]:
        docs, position = self.query_documents[q], self.position[run, self.rows[q]]
        retrieved = position > 0
        least, most = sums_by_count(position[retrieved], docs.weight[retrieved], docs.open[retrieved], True)
        outside = int((docs.open & ~retrieved).sum())
        count = docs.n_relevant + np.arange(len(least))[:, None] + np.arange(outside + 1)
        low = self.normalize(np.broadcast_to(least[:, None], count.shape), count, q)
        high = self.normalize(np.broadcast_to(most[:, None], count.shape), count, q)
        return float(low.min()), float(high.max())

    def bound_differences(self, a: IntArray, b: IntArray, limit: TimeLimit) -> Interval:
        runs = self.bound_runs(limit if self.even else limit.share(2))
        pairs = bound_pairs(self._solver, self.position, self.rows, ~self.closed_queries, a, b, limit)
        return pairs.intersect(runs.select(a).subtract(runs.select(b)))

    def _solver(self, q: int) -> PairSolver:
        return partial(even_difference if self.even else weighted_difference, self.query_documents[q])

    def influence(self, a: int, b: int, reach: FloatArray) -> FloatArray:
        query, n_relevant = self.open_query, [docs.n_relevant for docs in self.query_documents]
        size = np.maximum(np.array(n_relevant) + self.n_open / 2, 1.0)
        # A relevant document adds its precision, and one to the precision of those below it.
        x, y = self.position[a][self.open_items], self.position[b][self.open_items]
        moved = np.abs(reciprocal(x) - reciprocal(y)) * np.log1p(np.maximum(x, y))
        grown = np.where(reach > 0, reach, 0.0) / size
        return self._pad(moved / size[query] + grown[query])


def even_difference(
    docs: QueryDocuments, retrieved: BoolArray, winner: IntArray, loser: IntArray, limit: TimeLimit
) -> End:
    """Find the greatest difference of one run less another, by branch and bound, where all weights are 1.

    ``retrieved`` are the documents that either run retrieves; ``winner`` and ``loser`` are their positions.
    """
    is_open = docs.open[retrieved]
    if is_open.sum() > _MOST_EVEN or limit.expired():
        return End(np.inf, -np.inf)
    label, deepest = np.where(is_open, -1, 1), int(max(winner.max(initial=1), loser.max(initial=1)))
    other_relevant, outside = docs.n_relevant - int((~is_open).sum()), int((docs.open & ~retrieved).sum())
    search = Search(winner, loser, label, deepest, "R", other_relevant, outside, LABELED_ALIKE)
    search.run(Clock(END_SECONDS, limit))
    proved = search.upper - search.difference <= LABELED_ALIKE
    return End(search.difference if proved else min(search.upper, 1.0), search.difference)


def weighted_difference(
    docs: QueryDocuments, retrieved: BoolArray, winner: IntArray, loser: IntArray, limit: TimeLimit
) -> End:
    """Find the greatest difference as :func:`even_difference` does, for any weights, in a limited number of steps."""
    is_open, weight = docs.open[retrieved], docs.weight[retrieved]
    outside, bound = int((docs.open & ~retrieved).sum()), np.inf
    if not (winner.any() and loser.any()):  # one run alone: the largest weights first, or the smallest
        least, most = sums_by_count(winner + loser, weight, is_open, False)
        relevant = np.maximum(docs.n_relevant + np.arange(len(least)), 1)
        bound = float((most / relevant).max() if winner.any() else -(least / (relevant + outside)).min())
    if is_open.sum() > _MOST_WEIGHTED or limit.expired():
        return End(bound, -np.inf)
    quadratic = Quadratic.of(winner, loser, ~is_open, np.flatnonzero(is_open), weight)
    end = greatest_over_relevant(quadratic, docs.n_relevant, outside, Clock(limit=limit))
    return End(min(bound, end.bound), end.reached)


def sums_by_count(
    position: IntArray, weight: FloatArray, is_open: BoolArray, even: bool
) -> tuple[FloatArray, FloatArray]:
    """Bound the sum of precisions from below and above where 0, 1, … open documents are relevant; exact if ``even``."""
    order = np.argsort(position)
    position, weight, is_open = position[order], weight[order], is_open[order]
    inverse = reciprocal(position)
    judged = ~is_open
    n = int(is_open.sum())
    if even:
        before = np.cumsum(judged)[is_open]
        after = (inverse * judged).sum() - np.cumsum(inverse * judged)[is_open]
        at = inverse[is_open]
        start = precision_sum(position[judged])
        first = (before + np.arange(1, n + 1)) * at + after  # those above it are relevant as well
        deeper = at.sum() - np.cumsum(at)
        last = ((before + 1) * at + after + deeper)[::-1]  # those below it are
        return start + np.append(0.0, np.cumsum(last)), start + np.append(0.0, np.cumsum(first))
    if n > _MOST_WEIGHED:
        least, most = sums_by_count(position, weight, is_open, True)
        return least * weight.min(), most * weight.max()
    places, ascending = np.flatnonzero(is_open), np.sort(weight[is_open])

    def add(relevant_places: IntArray, open_weights: FloatArray, sign: int) -> float:
        relevant = judged.copy()
        relevant[relevant_places] = True
        weights = np.sort(np.concatenate([weight[judged], open_weights]))[::sign]
        return float((np.cumsum(weights) * inverse[relevant]).sum())

    # The smallest weights, ascending, at the deepest places; or the largest, descending, at the highest.
    least = np.array([add(places[n - count :], ascending[:count], 1) for count in range(n + 1)])
    most = np.array([add(places[:count], ascending[n - count :], -1) for count in range(n + 1)])
    return least, most
