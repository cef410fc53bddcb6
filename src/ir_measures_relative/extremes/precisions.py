"""Average precision: the precisions at the relevant documents of a run, over the number of all relevant documents."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple, TypeAlias

import numpy as np

from ..arrays import BoolArray, FloatArray, IntArray
from ..jobs import Work
from ..measures.gains import reciprocal
from ..options import LABELED_ALIKE
from .model import (
    END_SECONDS,
    Clock,
    End,
    Interval,
    Model,
    ends_of_pairs,
    interval_by_query,
    runs_of_pairs,
    share,
)
from .open_documents import OpenDocuments
from .precision_search import greatest_difference
from .precision_sums import Quadratic, greatest_over_relevant, sum_of_precisions

# Beyond these numbers of open documents of two runs, their difference is that of two intervals; the second is where
# weights differ.
_MOST_EVEN, _MOST_WEIGHTED = 2000, 600
# Up to this number of open documents of a query are tried in order with weights that differ.
_MOST_WEIGHED = 300

#: From sums of precisions, numbers of relevant documents, sizes of the pool and depths to values; one each a labeling.
ValueOfSums: TypeAlias = Callable[[FloatArray, IntArray, IntArray, IntArray], FloatArray]


class RunsOnQuery(NamedTuple):
    """One query, its open documents and those judged relevant, and pairs of runs."""

    position: IntArray  #: shape (runs, documents), 0 where not retrieved
    open: BoolArray
    weight: FloatArray
    relevant: int  #: how many are judged relevant
    a: IntArray
    b: IntArray


class Precisions(Model):
    """AP and AP_Rareness: ``(1/R)·Σ over relevant d of (1/p_d)·Σ weight(e)`` over the relevant e no deeper than d.

    For a given number of relevant open documents a run does best with the first it holds, and worst with the last; so
    one run is exact where all weights are equal. With weights, the largest of them are thought first, and the smallest.
    The difference of two runs is a quadratic function of the labels. Its extremes are found by MED's branch and bound;
    with weights it is bounded by giving each of a pair of documents half of what they add together. See
    :meth:`.Labelings.precisions`; the positions of every document in every run are of shape (runs, documents).
    """

    def __init__(
        self, open_docs: OpenDocuments, position: IntArray, relevant: BoolArray, weight: FloatArray
    ) -> None:
        super().__init__(open_docs, relevant)
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
        runs = np.arange(len(self.position))
        if self.even:
            found = [[self._extremes(i, q) for q in range(len(self.rows))] for i in range(len(runs))]
            ends = np.array(found).reshape(len(runs), len(self.rows), 2)
            return Interval.attained(ends[..., 0], ends[..., 1])
        return interval_by_query(alone, self._task, runs, runs, len(self.rows), work)

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
        found = interval_by_query(apart, self._task, a, b, len(self.rows), work)
        return found.within(one.of(a).minus(one.of(b)))

    def _task(self, q: int, a: IntArray, b: IntArray) -> RunsOnQuery:
        rows, (runs, *pairs) = self.rows[q], runs_of_pairs(a, b)
        position = self.position[np.ix_(runs, rows)]
        return RunsOnQuery(position, self.open[rows], self.weight[rows], self.n_relevant[q], *pairs)

    def influence(self, a: int, b: int, reach: FloatArray) -> FloatArray:
        docs, n = self.open_docs.docs, self.open_docs.n_queries
        free = np.bincount(docs.query[self.open], minlength=n)
        size = np.maximum(np.array(self.n_relevant) + free / 2, 1.0)
        # A relevant document adds its precision, and one to the precision of those below it.
        x, y = self.position[a], self.position[b]
        moved = np.abs(reciprocal(x) - reciprocal(y)) * np.log1p(np.maximum(x, y))
        grown = np.where(reach > 0, reach, 0.0) / size
        return np.where(self.open, moved / size[docs.query] + grown[docs.query], 0.0)


class PrecisionsAboveChance(Precisions):
    """AP_UE, exact for one run: for a given number of relevant documents it rises with the sum of precisions.

    Labels move the random level as well. See :meth:`.Labelings.precisions_above_chance`; the pool is that of
    :meth:`.OpenDocuments.pool`.
    """

    def __init__(
        self,
        open_docs: OpenDocuments,
        position: IntArray,
        relevant: BoolArray,
        pool: tuple[IntArray, IntArray],
        value_of: ValueOfSums,
    ) -> None:
        super().__init__(open_docs, position, relevant, np.ones(len(relevant)))
        self.pool, self.value_of = pool, value_of

    def normalized(self, total: FloatArray, n_relevant: IntArray, query: int) -> FloatArray:
        size, depth = (np.full(total.size, part[query]) for part in self.pool)
        return self.value_of(total.reshape(-1), n_relevant.reshape(-1), size, depth).reshape(total.shape)

    difference = Model.difference


def apart(task: RunsOnQuery, work: Work) -> FloatArray:
    """Lower, upper, and 1 where both are attained, of each pair; shape (3, pairs)."""
    if not task.open.any():
        sums = np.array([sum_of_precisions(position, task.weight) for position in task.position])
        value = (sums[task.a] - sums[task.b]) / max(task.relevant, 1)
        return np.stack([value, value, np.ones(len(value))])
    solve = _even if (task.weight == 1.0).all() else _weighted
    return ends_of_pairs(partial(solve, task), task, work)


def alone(task: RunsOnQuery, work: Work) -> FloatArray:
    """The same of each run of ``task.a``."""
    found = []
    for i, position in enumerate(task.position[task.a]):
        held = position > 0
        x = position[held]
        # The largest weights first, and the smallest; or as the difference from a run that holds nothing.
        least, most = sums_by_count(x, task.weight[held], task.open[held], False)
        fewest = np.maximum(task.relevant + np.arange(len(least)), 1)
        lower = float((least / (fewest + (task.open & ~held).sum())).min())
        upper = float((most / fewest).max())
        nothing = np.zeros(len(x), dtype=np.int64)
        left = 2 * (len(task.a) - i)
        up = _weighted(task, held, x, nothing, share(work, left))
        down = _weighted(task, held, nothing, x, share(work, left - 1))
        lower, upper = max(lower, -down.bound), min(upper, up.bound)
        found.append((lower, upper, max(upper - up.reached, -lower - down.reached) <= LABELED_ALIKE))
    return np.array(found).T


def _even(task: RunsOnQuery, held: BoolArray, winner: IntArray, loser: IntArray, work: Work) -> End:
    """The greatest difference of one run less another, by branch and bound, where all weights are 1."""
    is_open = task.open[held]
    if is_open.sum() > _MOST_EVEN or work.expired():
        return End(np.inf, -np.inf)
    found = greatest_difference(
        winner,
        loser,
        np.where(is_open, -1, 1),
        cutoff=int(max(winner.max(initial=1), loser.max(initial=1))),
        other_relevant=task.relevant - int((~is_open).sum()),
        outside=int((task.open & ~held).sum()),
        clock=Clock(END_SECONDS, work),
        tolerance=LABELED_ALIKE,
    )
    proved = found.upper - found.value <= LABELED_ALIKE
    return End(found.value if proved else found.upper, found.value)


def _weighted(task: RunsOnQuery, held: BoolArray, winner: IntArray, loser: IntArray, work: Work) -> End:
    """The same for any weights; the search ends after a number of steps."""
    is_open = task.open[held]
    if is_open.sum() > _MOST_WEIGHTED or work.expired():
        return End(np.inf, -np.inf)
    quadratic = Quadratic.of(winner, loser, ~is_open, np.flatnonzero(is_open), task.weight[held])
    outside = int((task.open & ~held).sum())
    return greatest_over_relevant(quadratic, task.relevant, outside, Clock(None, work))


def sums_by_count(
    position: IntArray, weight: FloatArray, is_open: BoolArray, even: bool
) -> tuple[FloatArray, FloatArray]:
    """No more, and no less, than the sum of precisions where 0, 1, … of the open documents are relevant.

    Args:
        position: of the documents that the run holds and that are open, or judged relevant.
        even: whether all weights are 1; the sums are then attained.
    """
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
