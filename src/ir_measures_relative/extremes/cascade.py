"""Expected reciprocal rank: each document stops some of the readers that got to it.

It is the fourth metric of L. Tan and C. L. A. Clarke, "A Family of Rank Similarity Measures Based on Maximized
Effectiveness Difference" (TKDE 27(11), 2015). With r_d the probability that the user stops at document d, and d_i the
document at position i,

    ERR@k = Σ_{i ≤ k} (1/i) · r_{d_i} · Π_{j < i} (1 - r_{d_j}).

Every stop probability occurs at most once in every product, so ERR(Y) - ERR(Z) is linear in each of them
while the others stay fixed. Over a box such a function is largest at a corner: no open document needs a grade
other than 0 and the top one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..arrays import BoolArray, FloatArray, IntArray, sum_by_query
from ..jobs import Work
from ..measures.browsing import chance_to_reach
from ..measures.gains import reciprocal
from ..options import LABELED_ALIKE, PROVED
from .model import (
    END_SECONDS,
    MED_SECONDS,
    Clock,
    End,
    Interval,
    Model,
    ends_of_pairs,
    interval_by_query,
    runs_of_pairs,
)
from .open_documents import OpenDocuments
from .precision_search import OPEN, Solution, checked_rankings


def expected_reciprocal_rank(position: IntArray, go_on: FloatArray) -> FloatArray:
    """ERR of a ranking.

    Args:
        position: of each document, 0 where not retrieved.
        go_on: the chance that a reader goes on after it, shape (…, documents).
    """
    held = np.flatnonzero(position)
    order = held[position[held].argsort()]
    reached = np.ones((*go_on.shape[:-1], len(order) + 1))
    np.cumprod(go_on[..., order], axis=-1, out=reached[..., 1:])
    result: FloatArray = ((reached[..., :-1] - reached[..., 1:]) / position[order]).sum(axis=-1)
    return result


def med_err(
    y: npt.ArrayLike,
    z: npt.ArrayLike,
    grade: npt.ArrayLike,
    *,
    cutoff: int,
    max_grade: int,
    clock: Clock | None = None,
) -> Solution:
    """The largest ``|ERR@k(Y) - ERR@k(Z)|`` over all gradings of the open documents.

    A document of grade g stops the user with probability (2^g - 1)/2^max_grade. Branch and bound over the
    open documents, with the bounds of `_Difference.over`.

    Args:
        grade: shape (documents,), -1 open, else 0 to `max_grade`.
        max_grade: the top grade, at least 1.

    The other arguments, what is returned (a value in [0, 1)) and what is raised: as for `med_sum_precision`.
    """
    if not 1 <= max_grade <= 1000:  # 2^max_grade must be a float
        raise ValueError(f"max_grade must be from 1 to 1000, got {max_grade}")
    clock = clock or Clock(MED_SECONDS)
    y, z, grade = checked_rankings(y, z, grade, top_label=max_grade, cutoff=cutoff)

    # How likely the user goes on at each document, with the top grade where it is open, and with grade 0.
    low, high = (_go_on(np.where(grade == OPEN, label, grade), max_grade) for label in (max_grade, 0))
    value, upper, go_on = _search([(y, z), (z, y)], low, high, clock, abs)
    difference = float(expected_reciprocal_rank(y, go_on) - expected_reciprocal_rank(z, go_on))
    labels = np.where(grade == OPEN, np.where(go_on < high, max_grade, 0), grade)
    return Solution.of(difference, max(upper, value), labels)


class ErrExtreme(NamedTuple):
    """The largest difference in one direction."""

    value: float  #: the largest that was found
    upper: float  #: no labeling exceeds it
    stop: FloatArray  #: the probabilities to stop at each document, attaining `value`


def greatest_err_difference(
    winner: IntArray,
    loser: IntArray,
    least: FloatArray,
    most: FloatArray,
    *,
    clock: Clock,
    tolerance: float = PROVED,
) -> ErrExtreme:
    """The largest ERR(winner) - ERR(loser), which is below 0 where the loser wins whatever the grades are.

    Args:
        least: shape (documents,), the least probability to stop at each, from 0.
        most: the greatest, below 1; the same where the document is judged.

    The other arguments: as for :func:`.greatest_difference`.
    """
    value, upper, go_on = _search([(winner, loser)], 1.0 - most, 1.0 - least, clock, float, tolerance)
    return ErrExtreme(value, upper, 1.0 - go_on)


def _search(
    directions: Sequence[tuple[IntArray, IntArray]],
    low: FloatArray,
    high: FloatArray,
    clock: Clock,
    worth: Callable[[float], float],
    tolerance: float = PROVED,
) -> tuple[float, float, FloatArray]:
    """The largest difference in any of the directions.

    Args:
        directions: pairs of a winner and a loser.
        low, high: the range of every probability to go on.
        worth: what a difference in the first direction is worth: itself, or its size.

    Returns:
        the largest that was found, what no labeling exceeds, and the probabilities to go on that attain the former.
    """
    y, z = directions[0]

    def value_of(go_on: FloatArray) -> float:
        return worth(float(expected_reciprocal_rank(y, go_on) - expected_reciprocal_rank(z, go_on)))

    best, value = high, value_of(high)
    # A node is a bound, the difference to maximize, and the range that every document is confined to.
    stack = [(1.0, _Difference(*pair), low, high) for pair in directions]
    while stack and not clock.expired():
        _, objective, low, high = stack.pop()
        bound, least, greatest = objective.over(low, high)
        if bound <= value + tolerance:
            continue
        # A slope that has one sign all over the box decides its document.
        falling = greatest <= 0
        rising = (least >= 0) & ~falling
        low, high = np.where(falling, high, low), np.where(rising, low, high)
        corner = np.where(least + greatest > 0, low, high)
        found = value_of(corner)
        if found > value:
            best, value = corner, found
        undecided = np.flatnonzero(low < high)
        if len(undecided):
            # Branch on the document that matters most whichever way it is decided.
            branch = undecided[np.minimum(greatest, -least)[undecided].argmax()]
            for side in (high, low):
                lows, highs = low.copy(), high.copy()
                lows[branch] = highs[branch] = side[branch]
                stack.append((bound, objective, lows, highs))
    return value, max([value] + [bound for bound, *_ in stack]), best


class _Difference:
    """ERR(winner) - ERR(loser) as a function of what the user does at every document.

    Let s_d = 1 - r_d be the probability of going on, and S_i the product of s over the first i documents of a
    ranking. Summation by parts gives ERR = 1 - Σ_i w_i S_i with w_i = 1/i - 1/(i+1), or 1/i at the last depth,
    so the difference is Σ_i w_i (S_i(loser) - S_i(winner)). Documents that both rankings hold by depth i are
    in both products, so that S_i(loser) - S_i(winner) = C_i (L_i - W_i), where C_i is the product of s over
    these, and L_i and W_i those over the documents that only the loser, or only the winner, holds by then.
    """

    def __init__(self, winner: IntArray, loser: IntArray) -> None:
        depth = np.arange(1, max(winner.max(initial=0), loser.max(initial=0)) + 1)
        won, lost = ((positions > 0) & (positions <= depth[:, None]) for positions in (winner, loser))
        # Whether a document is among those of C_i, W_i, L_i; each of shape (depths, documents).
        self.members = [mask.astype(float) for mask in (won & lost, won & ~lost, lost & ~won)]
        self.weight = 1 / depth - np.where(depth < len(depth), 1 / (depth + 1), 0)

    def over(self, low: FloatArray, high: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        """How the difference behaves while every s_d stays in [low_d, high_d], 0 < low.

        Returns:
            An upper bound on the difference, and the least and the greatest slope ∂/∂r_d, shape (documents,),
            that it can have anywhere in the box.
        """
        # Products of positive factors are least where all factors are, and greatest where all are.
        common_low, won_low, lost_low = (np.exp(m @ np.log(low)) for m in self.members)
        common_high, won_high, lost_high = (np.exp(m @ np.log(high)) for m in self.members)
        lead_low, lead_high = lost_low - won_high, lost_high - won_low  # L - W
        common_low, common_high = self.weight * common_low, self.weight * common_high

        # ∂/∂r_d = -∂/∂s_d: at every depth, + C W / s_d for a d in W, - C L / s_d in L, - C (L - W) / s_d in C.
        # Such a product without its factor s_d is least, and greatest, at the same corners as the whole.
        def slope(common: FloatArray, won: FloatArray, lost: FloatArray, lead: FloatArray) -> FloatArray:
            in_common, in_won, in_lost = self.members
            total: FloatArray = (
                (common * won) @ in_won - (common * lost) @ in_lost - (common * lead) @ in_common
            )
            return total

        none = np.zeros_like(lead_low)
        greatest = (
            slope(common_high, won_high, none, np.minimum(lead_low, 0)) / high
            + slope(common_low, none, lost_low, np.maximum(lead_low, 0)) / low
        )
        least = (
            slope(common_low, won_low, none, np.minimum(lead_high, 0)) / low
            + slope(common_high, none, lost_high, np.maximum(lead_high, 0)) / high
        )
        # Three bounds. C (L - W) at every depth: the greatest L - W, with the greatest C where it is positive,
        # else the least. And from either end of the box to any point in it, one coordinate at a time: the
        # difference, linear in that coordinate, grows by a slope found in the box times at most high_d - low_d.
        bound = min(
            (np.where(lead_high > 0, common_high, common_low) * lead_high).sum(),
            (common_high * (lost_high - won_high)).sum() + (high - low) @ np.maximum(greatest, 0),
            (common_low * (lost_low - won_low)).sum() + (high - low) @ np.maximum(-least, 0),
        )
        return float(bound), least, greatest


def _go_on(grades: IntArray, max_grade: int) -> FloatArray:
    """1 - (2^g - 1)/2^max_grade, written so that it is never rounded to 0."""
    return np.asarray((2.0**max_grade - 2.0**grades + 1) / 2.0**max_grade, dtype=np.float64)


class StopsOnQuery(NamedTuple):
    """One query, its open documents and those that may stop a reader, and pairs of runs."""

    position: IntArray  #: shape (runs, documents), 0 where not retrieved
    least: FloatArray  #: the range of the chance that a document stops a reader
    most: FloatArray
    a: IntArray
    b: IntArray


class Cascade(Model):
    """ERR, ``Σ_i (1/i)·stop(d_i)·Π_{j<i} (1 - stop(d_j))``.

    A higher grade never lowers it, so one run is exact. In the difference of two runs a document that only one holds
    is best at one end; one that both hold too, since the difference is linear in its chance to stop a reader, but at
    which end takes MED's branch and bound to say. See :meth:`.Labelings.cascade`; the positions of every document in
    every run are of shape (runs, documents).
    """

    def __init__(
        self, open_docs: OpenDocuments, position: IntArray, stop: FloatArray, highest: float
    ) -> None:
        super().__init__(open_docs, stop)
        self.position, self.highest = position, highest
        self.rows = self.rows_by_query(self.open | (self.known_gain > 0))

    def _values(self, stop: FloatArray) -> FloatArray:
        """The value of every run, shape (runs, …, queries), where documents have these chances, (…, documents)."""
        found = [
            [expected_reciprocal_rank(row[rows], 1.0 - stop[..., rows]) for rows in self.rows]
            for row in self.position
        ]
        result = np.array(found).reshape(len(self.position), len(self.rows), *stop.shape[:-1])
        return np.moveaxis(result, 1, -1)

    def sampled(self, gains: FloatArray) -> FloatArray:
        stop = np.tile(self.known_gain, (len(gains), 1))
        stop[:, self.open] = gains
        return self._values(stop)

    def value(self) -> FloatArray:
        return self._values(self.known_gain)

    def one(self, work: Work) -> Interval:
        most = np.where(self.open, self.highest, self.known_gain)
        return Interval.attained(self.value(), self._values(most))

    def difference(self, a: IntArray, b: IntArray, work: Work) -> Interval:
        one = self.one(work)
        found = interval_by_query(_apart, self._task, a, b, len(self.rows), work)
        return found.within(one.of(a).minus(one.of(b)))

    def _task(self, q: int, a: IntArray, b: IntArray) -> StopsOnQuery:
        rows, (runs, *pairs) = self.rows[q], runs_of_pairs(a, b)
        stop = self.known_gain[rows]
        most = np.where(self.open[rows], self.highest, stop)
        return StopsOnQuery(self.position[np.ix_(runs, rows)], stop, most, *pairs)

    def influence(self, a: int, b: int, reach: FloatArray) -> FloatArray:
        x, y = reciprocal(self.position[a]), reciprocal(self.position[b])
        moved = np.abs(x - y) + x * y
        result: FloatArray = np.where(self.open & (np.maximum(x, y) > LABELED_ALIKE), moved, 0.0)
        return result * self.highest


def _apart(task: StopsOnQuery, work: Work) -> FloatArray:
    """Lower, upper, and 1 where both are attained, of each pair; shape (3, pairs)."""

    def greatest(held: BoolArray, winner: IntArray, loser: IntArray, work: Work) -> End:
        least, most = task.least[held], task.most[held]
        # What only one of the two holds is decided.
        least, most = np.where(loser > 0, least, most), np.where(winner > 0, most, least)
        if (least == most).all():
            go_on = 1.0 - least
            value = float(expected_reciprocal_rank(winner, go_on) - expected_reciprocal_rank(loser, go_on))
            return End(value, value)
        clock = Clock(END_SECONDS, work)
        found = greatest_err_difference(winner, loser, least, most, clock=clock, tolerance=LABELED_ALIKE)
        return End(found.upper, found.value)

    return ends_of_pairs(greatest, task, work)


class ResidualCascade(Model):
    """``Σ_i (1/i)·θ'(d_i)·Π_{l<i} (1 - θ'(d_l))`` with ``θ'(d) = θ(d)·Π_j (1 - Π_{e above d in j} (1 - θ(e)))``.

    A higher grade never lowers it: it raises the θ of its document, and turns searchers away from those below it in
    the priors, so it lowers no θ'; and the value never falls in a θ', since to be satisfied at i is worth 1/i, and to
    read on no more than 1/(i + 1). So one run is exact, with no open document relevant and with all at the highest
    grade. Of two runs the difference is bounded by their intervals, whatever these have to do with each other: a
    label may help both, and θ' is no linear function of a label, so that not even the ends of its range need do. See
    :meth:`.Labelings.residual_cascade`; the priors of every run are rows of ``position``.
    """

    def __init__(
        self,
        open_docs: OpenDocuments,
        position: IntArray,
        priors: Sequence[IntArray],
        theta: FloatArray,
        highest: float,
    ) -> None:
        super().__init__(open_docs, theta)
        self.priors, self.highest = priors, highest
        self.rows = np.flatnonzero(self.open | (self.known_gain > 0))
        self.position = position[:, self.rows]

    def _values(self, theta: FloatArray) -> FloatArray:
        """The value of every run, shape (runs, queries), where the documents satisfy with these chances."""
        n, theta, query = self.open_docs.n_queries, theta[self.rows], self.open_docs.docs.query[self.rows]
        not_seen = [1.0 - chance_to_reach(row, theta, query, n) for row in self.position]
        result = np.empty((len(self.position), n))
        for i, priors in enumerate(self.priors):
            left = theta.copy()
            for j in priors.tolist():
                left *= not_seen[j]
            row = self.position[i]
            result[i] = sum_by_query(left * reciprocal(row) * chance_to_reach(row, left, query, n), query, n)
        return result

    def sampled(self, gains: FloatArray) -> FloatArray:
        result = np.empty((len(self.position), len(gains), self.open_docs.n_queries))
        theta = self.known_gain.copy()
        for i, labeling in enumerate(gains):
            theta[self.open] = labeling
            result[:, i] = self._values(theta)
        return result

    @cached_property
    def _one(self) -> Interval:
        most = np.where(self.open, self.highest, self.known_gain)
        return Interval.attained(self._values(self.known_gain), self._values(most))

    def one(self, work: Work) -> Interval:
        return self._one

    def influence(self, a: int, b: int, reach: FloatArray) -> FloatArray:
        own, other = reciprocal(self.position[a]), reciprocal(self.position[b])
        shown = np.union1d(self.priors[a], self.priors[b])
        above = reciprocal(self.position[shown]).max(axis=0, initial=0.0)  # of what is below it in a prior
        query = self.open_docs.docs.query[self.rows]
        result = np.zeros(len(self.open))
        result[self.rows] = np.abs(own - other) + own * other + above * reach[query]
        return np.where(self.open, result * self.highest, 0.0)
