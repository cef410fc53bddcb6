"""Sums over the gain levels of unjudged documents: the greatest ratio that grades can give them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..data.arrays import FloatArray, IntArray, ratio, row_sums, sum_by_query, table
from ..tolerances import ROUNDED


def swings(weight: FloatArray, query: IntArray, n_queries: int) -> tuple[FloatArray, FloatArray]:
    """How far open documents with these weights can raise the sum of each query, and lower it, with gains of 0 or 1."""
    raised, lowered = np.maximum(weight, 0.0), np.minimum(weight, 0.0)
    return sum_by_query(raised, query, n_queries), sum_by_query(lowered, query, n_queries)


def greatest_lead(
    won: FloatArray, lost: FloatArray, known: tuple[FloatArray, FloatArray], query: IntArray
) -> tuple[FloatArray, FloatArray]:
    """By how much one run can lead another where each is worth its best relevant document.

    Where a labeling makes the lead as large as can be, one relevant document decides the winner's value, and any other
    open one can only raise the loser's: it is enough to try each open document alone, and none. From the worth of each
    open document in the winner and in the loser, and that of the two where none is relevant, to the greatest lead of
    each query and the lead by each document.
    """
    leads = np.maximum(won, known[0][query]) - np.maximum(lost, known[1][query])
    greatest = known[0] - known[1]
    np.maximum.at(greatest, query, leads)
    return greatest, leads


def climb(best: FloatArray, active: IntArray, reach: Callable[[IntArray, FloatArray], FloatArray]) -> None:
    """Dinkelbach's iteration on some problems: raises ``best`` to the greatest ratios.

    With λ the ratio reached so far, a better one exists if and only if the greatest ``above - λ·below`` over the
    labelings is above 0 (W. Dinkelbach, "On Nonlinear Fractional Programming", Management Science, 1967). ``reach``
    gives the ratios at labelings that maximize it, from some problems and the λ of each.
    """
    while len(active):
        reached = reach(active, best[active])
        better = reached > best[active]
        active = active[better]
        best[active] = reached[better]


class LevelSums:
    """``(above + Σ_l Δ_l·above_l[n_l]) / (below + Σ_l Δ_l·below_l[n_l])`` over ``n_1 ≥ n_2 ≥ … ≥ 0``.

    n_l is how many open documents are given at least level l; ``counts`` has those of the last ratio that was found.
    The greatest ``above - λ·below`` is a dynamic program over the levels. λ may be negative.

    Args:
        above: one a problem; and by level, shape (problems, levels, 1 + documents).
        below: the same; a sum of 0 only where what is above is 0.
        sizes: the number of open documents of each problem; entries beyond are not looked at.
        step: Δ_l, one a level; 1 if not given.
        falling: whether the best n_l of each level by itself fall, but for rounding: then no program is needed.
    """

    def __init__(
        self,
        above: tuple[FloatArray, FloatArray],
        below: tuple[FloatArray, FloatArray],
        sizes: IntArray,
        *,
        step: FloatArray | None = None,
        falling: bool = False,
    ) -> None:
        self._above, above_by_level = above
        self._below, self._below_by_level = below
        self._sizes, self._falling = sizes, falling
        _, levels, width = above_by_level.shape
        self._step = np.ones(levels) if step is None else step
        # What is beyond the open documents is never chosen.
        beyond = (np.arange(width) > sizes[:, None])[:, None, :]
        self._above_by_level = np.where(beyond, -np.inf, above_by_level)
        self.counts: IntArray = np.zeros((len(sizes), levels), dtype=np.int64)

    def greatest(self) -> FloatArray:
        """The greatest ratio; 0/0 is 0."""
        rows = np.arange(len(self._above))
        above, all_below = self._sums(rows, np.repeat(self._sizes[:, None], len(self._step), axis=1))
        _, none_below = self._sums(rows, self.counts)
        best = ratio(above, all_below)
        climb(best, np.flatnonzero(all_below > 0), self._reach)
        # A labeling without a gain to find has the value 0 by definition.
        result: FloatArray = np.where(none_below > 0, best, np.maximum(best, 0.0))
        return result

    def greatest_positive(self) -> FloatArray:
        """The greatest ratio where that is above 0, else 0; where the numerator is, the denominator must be too."""
        best = np.zeros(len(self._above))
        climb(best, np.arange(len(best)), self._reach)
        return best

    def _reach(self, rows: IntArray, least: FloatArray) -> FloatArray:
        score = self._above_by_level[rows] - least[:, None, None] * self._below_by_level[rows]
        if self._falling:
            chosen = np.minimum.accumulate(score.argmax(axis=2), axis=1)
        else:
            chosen = _nested_choice(self._step[:, None] * score)
        above, below = self._sums(rows, chosen)
        reached = ratio(above, np.where(below > ROUNDED, below, 0.0))
        better = reached > least
        self.counts[rows[better]] = chosen[better]
        return reached

    def _sums(self, rows: IntArray, counts: IntArray) -> tuple[FloatArray, FloatArray]:
        """The numerator and the denominator of some problems, for numbers of documents at each level."""
        at = rows[:, None], np.arange(counts.shape[1]), counts
        above = self._above[rows] + row_sums(self._step * self._above_by_level[at])
        return above, self._below[rows] + row_sums(self._step * self._below_by_level[at])


def _nested_choice(score: FloatArray) -> IntArray:
    """The ``n_1 ≥ n_2 ≥ …`` that maximize ``Σ_l score[l, n_l]``, shape (problems, levels)."""
    problems, levels, width = score.shape
    places = np.arange(1, width)
    tail: FloatArray = np.zeros((problems, width))
    at = np.zeros((levels, problems, width), dtype=np.int64)
    for level in reversed(range(levels)):
        total = score[:, level] + tail
        tail = np.maximum.accumulate(total, axis=1)
        # Where the running maximum was last raised is where it is attained.
        raised = places * (total[:, 1:] > tail[:, :-1])
        np.maximum.accumulate(raised, axis=1, out=at[level, :, 1:])
    chosen = np.empty((problems, levels), dtype=np.int64)
    limit = np.full(problems, width - 1)
    for level in range(levels):
        limit = at[level][np.arange(problems), limit]
        chosen[:, level] = limit
    return chosen


def sort_and_sum(
    weight: FloatArray, query: IntArray, n_queries: int, width: int
) -> tuple[IntArray, FloatArray]:
    """The documents of each query by falling weight, and the sums of the first 0, 1, … weights."""
    order = np.lexsort((-weight, query))
    by_query = table(weight[order], query[order], n_queries, 0.0)[:, : width - 1]
    sums = np.zeros((n_queries, width))
    np.cumsum(by_query, axis=1, out=sums[:, 1 : 1 + by_query.shape[1]])
    return order, sums
