"""Sums over the gain levels of unjudged documents: the greatest ratio that grades can give them."""

from __future__ import annotations

import itertools

import numpy as np

from ..data.arrays import BoolArray, FloatArray, IntArray, ratio, row_sums, sum_by_query, table
from ..measures.form import Ideal
from ..tolerances import ROUNDED


def swings(weight: FloatArray, query: IntArray, n_queries: int) -> tuple[FloatArray, FloatArray]:
    """Return how far open documents with gains of 0 or 1 can raise each query's weighted sum, and lower it."""
    raised, lowered = np.maximum(weight, 0.0), np.minimum(weight, 0.0)
    return sum_by_query(raised, query, n_queries), sum_by_query(lowered, query, n_queries)


def greatest_lead(won: FloatArray, lost: FloatArray, judged: FloatArray, query: IntArray) -> FloatArray:
    """Return how far one run can lead another on each query, where each is worth its best relevant document.

    Where a labeling makes the lead as large as possible, one relevant document decides the winner's value, and any
    other open one can only raise the loser's. So each open document is tried alone, and none.

    Args:
        won: the worth of each open document in the winner.
        lost: its worth in the loser.
        judged: the worth of winner and loser where no open document is relevant, shape (2, queries).
        query: the query of each open document.
    """
    greatest: FloatArray = judged[0] - judged[1]
    np.maximum.at(greatest, query, np.maximum(won, judged[0][query]) - np.maximum(lost, judged[1][query]))
    return greatest


def sum_largest(weight: FloatArray, query: IntArray, n_queries: int, width: int) -> FloatArray:
    """Return the sums of the 0, 1, … largest weights of each query, shape (queries, width)."""
    order = np.lexsort((-weight, query))
    by_query = table(weight[order], query[order], n_queries, 0.0)[:, : width - 1]
    sums = np.zeros((n_queries, width))
    np.cumsum(by_query, axis=1, out=sums[:, 1 : 1 + by_query.shape[1]])
    return sums


class OpenIdeals:
    """The ideal sums of queries over all gains that their open items may have.

    They depend only on how many open items reach each level. :attr:`least` is the ideal where all gain least, shape
    (queries); :attr:`added` is what n items that reach a level add, shape (queries, levels, n).
    """

    def __init__(
        self,
        ideal: Ideal,
        gain: FloatArray,
        is_open: BoolArray,
        query: IntArray,
        n_queries: int,
        levels: FloatArray,
    ) -> None:
        self._levels, self._open_query = levels, query[is_open]
        n_open = np.bincount(self._open_query, minlength=n_queries)
        width = int(n_open.max(initial=0)) + 1
        deepest = int(np.bincount(query, minlength=n_queries).max(initial=0)) + 1
        deepest = deepest if ideal.depth is None else min(ideal.depth, deepest)
        so_far = np.append(0.0, np.cumsum(ideal.seen.seen(np.arange(1, deepest + 1))))
        self.least, self.added = np.zeros(n_queries), np.zeros((n_queries, len(levels) - 1, width))

        def sum_first(count: IntArray) -> FloatArray:
            return so_far[np.minimum(count, deepest)]

        # Judged items may have gains between the levels, where the given grades are only a part of the scale.
        for low, high in itertools.pairwise(np.unique(np.concatenate([[0.0], levels, gain]))):
            count = np.bincount(query[~is_open & (gain >= high)], minlength=n_queries)
            if high <= levels[0]:
                self.least += (high - low) * sum_first(count + n_open)
            elif high > levels[-1]:
                self.least += (high - low) * sum_first(count)
            else:
                level = int(np.searchsorted(levels, high)) - 1
                self.added[:, level] += (high - low) * sum_first(count[:, None] + np.arange(width))

    def values(self, open_gain: FloatArray) -> FloatArray:
        """Return the ideals where the open items have these gains, shape (labelings, queries)."""
        n, result = len(self.least), np.repeat(self.least[None], len(open_gain), axis=0)
        for level, middle in enumerate((self._levels[1:] + self._levels[:-1]) / 2):
            count = sum_by_query((open_gain > middle).astype(np.float64), self._open_query, n)
            result += self.added[np.arange(n), level, count.astype(np.int64)]
        return result


class LevelSums:
    """The ratio ``(above + Σ_l Δ_l·above_l[n_l]) / (below + Σ_l Δ_l·below_l[n_l])`` over ``n_1 ≥ n_2 ≥ … ≥ 0``.

    n_l is how many open documents are given at least level l. By Dinkelbach's iteration ("On Nonlinear Fractional
    Programming", Management Science, 1967), with λ the ratio reached so far, a larger one exists if and only if the
    greatest ``above - λ·below`` is above 0. That is a dynamic program over the levels. λ may be negative.

    Args:
        above: one value per problem; and by level, shape (problems, levels, 1 + documents).
        below: in the same shapes; 0 only where the sum above is 0.
        sizes: the number of open documents of each problem; entries beyond do not count.
        step: Δ_l, one per level; 1 if not given.
        falling: whether the best n_l of each level on its own fall, up to rounding: then no program is needed.
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
        # Entries beyond the open documents are never chosen.
        beyond = (np.arange(width) > sizes[:, None])[:, None, :]
        self._above_by_level = np.where(beyond, -np.inf, above_by_level)

    def greatest(self) -> FloatArray:
        """Return the greatest ratio; 0/0 is 0."""
        rows = np.arange(len(self._above))
        every = np.repeat(self._sizes[:, None], len(self._step), axis=1)
        above, all_below = self._sums(rows, every)
        _, none_below = self._sums(rows, np.zeros_like(every))
        best = ratio(above, all_below)
        self._climb(best, np.flatnonzero(all_below > 0))
        # A labeling without any gain has the value 0 by definition.
        return np.where(none_below > 0, best, np.maximum(best, 0.0))

    def greatest_positive(self) -> FloatArray:
        """Return the greatest ratio, at least 0; where the numerator is positive, the denominator must be too."""
        best = np.zeros(len(self._above))
        self._climb(best, np.arange(len(best)))
        return best

    def _climb(self, best: FloatArray, active: IntArray) -> None:
        """Raise the ratios of the active problems to the greatest."""
        while len(active):
            reached = self._ratios(active, best[active])
            better = reached > best[active]
            active = active[better]
            best[active] = reached[better]

    def _ratios(self, rows: IntArray, least: FloatArray) -> FloatArray:
        """Return the ratios of some problems where ``above - least·below`` is greatest."""
        score = self._above_by_level[rows] - least[:, None, None] * self._below_by_level[rows]
        if self._falling:
            chosen = np.minimum.accumulate(score.argmax(axis=2), axis=1)
        else:
            chosen = _nested_choice(self._step[:, None] * score)
        above, below = self._sums(rows, chosen)
        return ratio(above, np.where(below > ROUNDED, below, 0.0))

    def _sums(self, rows: IntArray, counts: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return the numerator and the denominator of some problems, for numbers of documents at each level."""
        at = rows[:, None], np.arange(counts.shape[1]), counts
        above = self._above[rows] + row_sums(self._step * self._above_by_level[at])
        return above, self._below[rows] + row_sums(self._step * self._below_by_level[at])


def _nested_choice(score: FloatArray) -> IntArray:
    """Return the ``n_1 ≥ n_2 ≥ …`` that maximize ``Σ_l score[l, n_l]``, shape (problems, levels)."""
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


_MOST_GRADES = 100_000


def grades_between(lowest: int, highest: int) -> IntArray:
    """Return all grades that an unjudged document may have, ascending; ValueError for more than 100,000."""
    if highest - lowest >= _MOST_GRADES:
        raise ValueError(
            f"documents may have grades from {lowest} to {highest}, and at most {_MOST_GRADES} different grades are "
            "tried: correct the qrels, grades= or max_grade="
        )
    return np.arange(lowest, highest + 1)
