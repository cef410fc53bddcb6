"""ERR and NRG(base='ERR'): linear in each document's chance to satisfy, so only grade 0 and the highest matter.

Source: L. Tan and C. L. A. Clarke, TKDE 27(11), 2015.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property, partial

import numpy as np

from ..context.view import View
from ..data.arrays import BoolArray, FloatArray, IntArray
from ..measures.bases.err import chance_to_reach
from ..measures.bases.gains import reciprocal
from ..tolerances import LABELED_ALIKE, PROVED
from ..work import Work
from .model import END_SECONDS, Clock, End, Interval, Model, PairSolver, interval_of_pairs


def expected_reciprocal_rank(position: IntArray, go_on: FloatArray) -> FloatArray:
    """ERR of a ranking; ``go_on`` is the chance that a user goes on after each document, shape (…, documents)."""
    held = np.flatnonzero(position)
    order = held[position[held].argsort()]
    reached = np.ones((*go_on.shape[:-1], len(order) + 1))
    np.cumprod(go_on[..., order], axis=-1, out=reached[..., 1:])
    result: FloatArray = ((reached[..., :-1] - reached[..., 1:]) / position[order]).sum(axis=-1)
    return result


def greatest_err_difference(
    directions: Sequence[tuple[IntArray, IntArray]],
    low: FloatArray,
    high: FloatArray,
    clock: Clock,
    worth: Callable[[float], float] = float,
    tolerance: float = PROVED,
) -> tuple[float, float, FloatArray]:
    """The largest ERR(winner) - ERR(loser) found, what no labeling exceeds, and the chances to go on that attain the
    former.

    Each is from ``low``, above 0, to ``high``; ``worth`` of a difference in the first direction is itself, or its size.
    """
    y, z = directions[0]

    def value_of(go_on: FloatArray) -> float:
        return worth(float(expected_reciprocal_rank(y, go_on) - expected_reciprocal_rank(z, go_on)))

    best, value = high, value_of(high)
    if (low == high).all():
        return value, value, best
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
    """ERR(winner) - ERR(loser) as a function of the chances s_d to go on after each document.

    With S_i the product of s over the first i documents, ERR = 1 - Σ_i w_i S_i, w_i = 1/i - 1/(i+1), or 1/i at the
    last depth. So the difference is Σ_i w_i C_i (L_i - W_i): C_i is the product of s over the documents that both
    retrieve by depth i, L_i and W_i those over what only the loser, or only the winner, does.
    """

    def __init__(self, winner: IntArray, loser: IntArray) -> None:
        depth = np.arange(1, max(winner.max(initial=0), loser.max(initial=0)) + 1)
        won, lost = ((positions > 0) & (positions <= depth[:, None]) for positions in (winner, loser))
        # Whether a document is among those of C_i, W_i, L_i; each of shape (depths, documents).
        self.members = [mask.astype(float) for mask in (won & lost, won & ~lost, lost & ~won)]
        self.weight = 1 / depth - np.where(depth < len(depth), 1 / (depth + 1), 0)

    def over(self, low: FloatArray, high: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        """Its upper bound for s in [low, high], and the least and greatest slope ∂/∂(1 - s_d) there."""
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
        # C (L - W) at every depth; and from either end of the box to any point, one coordinate at a time: the
        # difference, linear in it, grows by a slope found in the box times at most high_d - low_d.
        bound = min(
            (np.where(lead_high > 0, common_high, common_low) * lead_high).sum(),
            (common_high * (lost_high - won_high)).sum() + (high - low) @ np.maximum(greatest, 0),
            (common_low * (lost_low - won_low)).sum() + (high - low) @ np.maximum(-least, 0),
        )
        return float(bound), least, greatest


class Cascade(Model):
    """``Σ_i (1/i)·θ'(d_i)·Π_{l<i} (1 - θ'(d_l))`` with ``θ'(d) = θ(d)·Π_j (1 - Π_{e above d in j} (1 - θ(e)))``.

    That is NRG(base='ERR') with the priors j of a run, and ERR without any. A higher grade never lowers it, so one
    run is exact. Two runs take MED's branch and bound; with priors, the intervals of the two. ``stop`` is θ of each
    judged document.
    """

    def __init__(
        self,
        views: Sequence[View],
        position: IntArray,
        priors: Sequence[IntArray],
        stop: FloatArray,
        highest: float,
    ) -> None:
        super().__init__(views, stop)
        self.priors, self.highest = priors, highest
        self.counts = self.open | (self.known_gain > 0)
        self.rows = np.flatnonzero(self.counts)
        self.position = position[:, self.rows]

    def _values(self, gain: FloatArray) -> FloatArray:
        """The value of every run, shape (runs, …, queries), where documents gain so much, (…, documents)."""
        query, n = self.docs.query[self.rows], self.docs.n_queries
        gain = gain[..., self.rows]
        not_seen = {
            j: 1.0 - chance_to_reach(self.position[j], gain, query, n)
            for j in {j for priors in self.priors for j in priors.tolist()}
        }
        result = np.empty((len(self.position), *gain.shape[:-1], n))
        for i, (row, priors) in enumerate(zip(self.position, self.priors, strict=True)):
            left = gain.copy()
            for j in priors.tolist():
                left *= not_seen[j]
            terms = left * reciprocal(row) * chance_to_reach(row, left, query, n)
            result[i] = self.docs.by_query(terms, self.rows, np.add)
        return result

    def sampled(self, gains: FloatArray) -> FloatArray:
        gain = np.tile(self.known_gain, (len(gains), 1))
        gain[:, self.open] = gains
        return self._values(gain)

    def value(self) -> FloatArray:
        return self._one.lower

    @property
    def _most(self) -> FloatArray:
        return np.where(self.open, self.highest, self.known_gain)

    @cached_property
    def _one(self) -> Interval:
        return Interval.attained(self._values(self.known_gain), self._values(self._most))

    def one(self, work: Work) -> Interval:
        return self._one

    def influence(self, a: int, b: int, reach: FloatArray) -> FloatArray:
        own, other = reciprocal(self.position[a]), reciprocal(self.position[b])
        shown = np.union1d(self.priors[a], self.priors[b])
        above = reciprocal(self.position[shown]).max(axis=0, initial=0.0)  # of what is below it in a prior
        query = self.docs.query[self.rows]
        result = np.zeros(len(self.open))
        result[self.rows] = np.abs(own - other) + own * other + above * reach[query]
        return np.where(self.open, result * self.highest, 0.0)

    def difference(self, a: IntArray, b: IntArray, work: Work) -> Interval:
        simple = super().difference(a, b, work)
        if any(len(priors) for priors in self.priors):
            return simple
        position = np.zeros((len(self.position), len(self.open)), dtype=np.int64)
        position[:, self.rows] = self.position
        rows, some = self.rows_by_query(self.counts), ~self.closed()
        low, high = 1.0 - self._most, 1.0 - self.known_gain

        def solver(q: int) -> PairSolver:
            return partial(_greatest_difference, low[rows[q]], high[rows[q]])

        return interval_of_pairs(solver, position, rows, some, a, b, work).within(simple)


def _greatest_difference(
    low: FloatArray, high: FloatArray, held: BoolArray, winner: IntArray, loser: IntArray, work: Work
) -> End:
    """The greatest ERR(winner) - ERR(loser) on a query, where a reader goes on at each document with these chances."""
    low, high = low[held], high[held]
    # What only one of the two holds is decided.
    low, high = np.where(winner > 0, low, high), np.where(loser > 0, high, low)
    value, upper, _ = greatest_err_difference(
        [(winner, loser)], low, high, Clock(END_SECONDS, work), tolerance=LABELED_ALIKE
    )
    return End(upper, value)
