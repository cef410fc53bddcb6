"""The difference of two runs by ERR: linear in each document's chance to satisfy, so only the extreme grades matter.

Source: L. Tan and C. L. A. Clarke, TKDE 27(11), 2015.
"""

from __future__ import annotations

import numpy as np

from ..data.arrays import FloatArray, IntArray
from ..tolerances import PROVED
from .intervals import Clock


def expected_reciprocal_rank(position: IntArray, go_on: FloatArray) -> FloatArray:
    """ERR of a ranking; ``go_on`` is the chance that a user goes on after each document, shape (…, documents)."""
    held = np.flatnonzero(position)
    order = held[position[held].argsort()]
    reached = np.ones((*go_on.shape[:-1], len(order) + 1))
    np.cumprod(go_on[..., order], axis=-1, out=reached[..., 1:])
    result: FloatArray = ((reached[..., :-1] - reached[..., 1:]) / position[order]).sum(axis=-1)
    return result


def greatest_err_difference(
    y: IntArray, z: IntArray, low: FloatArray, high: FloatArray, clock: Clock
) -> tuple[float, float, FloatArray]:
    """Return the largest ``|ERR(y) - ERR(z)|`` found, what no labeling exceeds, and the chances that attain the former.

    The chances to go on at each document are from ``low``, above 0, to ``high``.
    """

    def value_of(go_on: FloatArray) -> float:
        return abs(float(expected_reciprocal_rank(y, go_on) - expected_reciprocal_rank(z, go_on)))

    best, value = high, value_of(high)
    if (low == high).all():
        return value, value, best
    # A node is a bound, the difference to maximize, and the range that every document is confined to.
    stack = [(1.0, _Difference(*pair), low, high) for pair in ((y, z), (z, y))]
    while stack and not clock.expired():
        _, objective, low, high = stack.pop()
        bound, least, greatest = objective.over(low, high)
        if bound <= value + PROVED:
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
