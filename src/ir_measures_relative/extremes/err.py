"""MED for expected reciprocal rank, the fourth metric of L. Tan and C. L. A. Clarke, "A Family of Rank
Similarity Measures Based on Maximized Effectiveness Difference" (TKDE 27(11), 2015).

With r_d the probability that the user stops at document d, and d_i the document at position i,

    ERR@k = Σ_{i ≤ k} (1/i) · r_{d_i} · Π_{j < i} (1 - r_{d_j}).

Every stop probability occurs at most once in every product, so ERR(Y) - ERR(Z) is linear in each of them
while the others stay fixed. Over a box such a function is largest at a corner: no open document needs a grade
other than 0 and the top one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from .solution import OPEN, TOLERANCE, Clock, FloatArray, IntArray, Solution, checked_rankings


def med_err(
    y: npt.ArrayLike,
    z: npt.ArrayLike,
    grade: npt.ArrayLike,
    *,
    cutoff: int,
    max_grade: int,
    time_limit: float | None = 10.0,
) -> Solution:
    """The largest ``|ERR@k(Y) - ERR@k(Z)|`` over all gradings of the open documents.

    A document of grade g stops the user with probability (2^g - 1)/2^max_grade. Branch and bound over the
    open documents, with the bounds of `_Difference.over`.

    Args:
        y: shape (documents,), the position from 1 in ranking Y of every document of the two top-k lists, 0 if
            absent.
        z: the same for ranking Z.
        grade: shape (documents,), -1 open, else 0 to `max_grade`.
        cutoff: k; later positions count as absent.
        max_grade: the top grade, at least 1.
        time_limit: seconds of CPU time, None for no limit; looked at between the steps of the search.

    Returns:
        The solution, its value in [0, 1). When time runs out, `lower` and `upper` enclose the maximum.

    Raises:
        ValueError: for input that is not as described.
    """
    if not 1 <= max_grade <= 1000:  # 2^max_grade must be a float
        raise ValueError(f"max_grade must be from 1 to 1000, got {max_grade}")
    clock = Clock(time_limit)
    y, z, grade = checked_rankings(y, z, grade, top_label=max_grade, cutoff=cutoff)

    # How likely the user goes on at each document, with the top grade where it is open, and with grade 0.
    low, high = (_go_on(np.where(grade == OPEN, label, grade), max_grade) for label in (max_grade, 0))
    value, upper, go_on = _search([(y, z), (z, y)], low, high, clock, abs)
    difference = _err(y, go_on) - _err(z, go_on)
    labels = np.where(grade == OPEN, np.where(go_on < high, max_grade, 0), grade)
    return Solution.of(difference, max(upper, value), labels)


class ErrExtreme(NamedTuple):
    """The largest difference in one direction.

    Attributes:
        value: the largest that was found.
        upper: no labeling exceeds it.
        stop: the probabilities to stop at each document, attaining `value`.
    """

    value: float
    upper: float
    stop: FloatArray


def greatest_err_difference(
    winner: IntArray,
    loser: IntArray,
    least: FloatArray,
    most: FloatArray,
    *,
    time_limit: float | None = 10.0,
    tolerance: float = TOLERANCE,
) -> ErrExtreme:
    """The largest ERR(winner) - ERR(loser), which is below 0 where the loser wins whatever the grades are.

    Args:
        winner: shape (documents,), the position from 1 of every document, 0 if absent.
        loser: the same for the other ranking.
        least: shape (documents,), the least probability to stop at each, from 0.
        most: the greatest, below 1; the same where the document is judged.
        time_limit: seconds of CPU time, None for no limit.
        tolerance: how much better a labeling may be that is missed.
    """
    clock = Clock(time_limit)
    found = _search([(winner, loser)], 1.0 - most, 1.0 - least, clock, float, tolerance)
    return ErrExtreme(found.value, found.upper, 1.0 - found.go_on)


class _Found(NamedTuple):
    value: float
    upper: float
    go_on: FloatArray


def _search(
    directions: Sequence[tuple[IntArray, IntArray]],
    low: FloatArray,
    high: FloatArray,
    clock: Clock,
    worth: Callable[[float], float],
    tolerance: float = TOLERANCE,
) -> _Found:
    """The largest difference in any of the directions.

    Args:
        directions: pairs of a winner and a loser.
        low, high: the range of every probability to go on.
        worth: what a difference in the first direction is worth: itself, or its size.
    """
    y, z = directions[0]

    def value_of(go_on: FloatArray) -> float:
        return worth(_err(y, go_on) - _err(z, go_on))

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
    return _Found(value, max([value] + [bound for bound, *_ in stack]), best)


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


def _err(positions: IntArray, go_on: FloatArray) -> float:
    """ERR of the ranking with its documents at these positions, 0 for the absent ones."""
    ranked = np.flatnonzero(positions)
    ranked = ranked[positions[ranked].argsort()]
    reached = np.append(1.0, go_on[ranked].cumprod())
    return float(((reached[:-1] - reached[1:]) / positions[ranked]).sum())


def _go_on(grades: IntArray, max_grade: int) -> FloatArray:
    """1 - (2^g - 1)/2^max_grade, written so that it is never rounded to 0."""
    return np.asarray((2.0**max_grade - 2.0**grades + 1) / 2.0**max_grade, dtype=np.float64)
