"""How far apart two runs can be by NRG(base='nDCG'), where few of the documents that they hold are open.

Each labeling of these is tried. Then the sums N of the two runs are known, and what is left to choose are labels of
documents that neither holds, which move the ideals I alone. N/I of the first is convex in its I: between two values of
that it is at most the line through its ends. -N/I of the second is concave: it is at most any of its tangents. So the
difference is at most a constant less a multiple of the one ideal plus a multiple of the other, and nearer to it the
closer the two values are; :class:`~.two_ideals.TwoIdeals` finds the greatest value of that.
"""

from __future__ import annotations

import itertools

import numpy as np

from ..arrays import BoolArray, FloatArray, ratio
from .model import TOLERANCE
from .placement import ideal_of
from .residual_pairs import Side
from .two_ideals import TwoIdeals

# Labelings of a pair's own open documents that are tried.
_MOST_LABELINGS = 32
# Into how many parts the range of the first ideal is cut, and how many tangents each tries.
_PARTS = 3
_TANGENTS = 4
# Problems times gains times numbers of gains that are worked on at once.
_AT_ONCE = 3_000_000


def branched_difference(
    first: Side,
    second: Side,
    forced: BoolArray,
    real: BoolArray,
    shares: FloatArray,
    cutoff: int | None,
    bound: FloatArray,
    reached: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """The bound and the greatest difference found, better than these where few documents of the runs are open.

    Args:
        shares: the gains that a label can give, as parts of the highest.
        bound: of the greatest difference of each problem.
        reached: the greatest difference that was found.
    """
    bound, reached = bound.copy(), reached.copy()
    alike = np.abs(first.residual - second.residual) <= TOLERANCE
    own = ~forced & real & ((first.found > 0) | (second.found > 0) | ~alike)
    counts = own.sum(axis=1)
    gains = forced.shape[1] * (len(shares) - 1)
    size = max(1, _AT_ONCE // max(gains * (gains if cutoff is None else min(gains, cutoff + 1)), 1))
    for n in np.unique(counts).tolist():
        if len(shares) ** n > _MOST_LABELINGS:
            continue
        labels = np.array(list(itertools.product(shares, repeat=n))).reshape(len(shares) ** n, n)
        rows = np.flatnonzero((counts == n) & (bound - reached > TOLERANCE))
        for some in (rows[i : i + size] for i in range(0, len(rows), size)):
            best = np.full(len(some), -np.inf)
            for label in labels:
                value, attained = _labeled(
                    first.at(some),
                    second.at(some),
                    forced[some],
                    own[some],
                    label,
                    shares,
                    cutoff,
                    reached[some],
                )
                best = np.maximum(best, value)
                reached[some] = np.maximum(reached[some], attained)
            bound[some] = np.minimum(bound[some], np.maximum(best, reached[some]))
    return bound, reached


def _labeled(
    first: Side,
    second: Side,
    forced: BoolArray,
    own: BoolArray,
    label: FloatArray,
    shares: FloatArray,
    cutoff: int | None,
    reached: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """A bound of the difference where the runs' own open documents have these labels, and the greatest found."""
    share = np.where(forced, 1.0, 0.0)
    share[own] = np.tile(label, len(own))
    n_first, n_second = ((side.found * share).sum(axis=1) for side in (first, second))
    known = [side.residual * share for side in (first, second)]
    outside = np.where(forced | own, 0.0, first.residual)
    least, most = (
        np.array([ideal_of(np.where(known[i] > 0, known[i], of_outside), cutoff) for i in range(2)])
        for of_outside in (0.0, outside)
    )
    bound = ratio(n_first, least[0]) - ratio(n_second, most[1])
    none, all_of_them = (ratio(n_first, ideal[0]) - ratio(n_second, ideal[1]) for ideal in (least, most))
    attained = np.maximum(none, all_of_them)
    # Where an ideal may be 0, so is the sum, and one of these two is the greatest.
    rows = np.flatnonzero((bound > np.maximum(reached, attained) + TOLERANCE) & (least > 0).all(axis=0))
    if not len(rows):
        return bound, attained
    ideals = TwoIdeals((known[0][rows], known[1][rows]), outside[rows, :, None] * shares[1:], cutoff)
    n_first, n_second, least, most = n_first[rows], n_second[rows], least[:, rows], most[:, rows]
    cuts = least[0] * (most[0] / least[0]) ** (np.arange(_PARTS + 1)[:, None] / _PARTS)
    found, seen = np.full(len(rows), -np.inf), np.maximum(attained, reached)[rows]
    for low, high in itertools.pairwise(cuts):
        here = np.repeat((n_first / low - n_second / most[1])[:, None], ideals.states, axis=1)
        at = (least[1] + most[1]) / 2
        for _ in range(_TANGENTS):
            left = np.flatnonzero(here.max(axis=1) > np.maximum(seen, found) + TOLERANCE)
            n, m, from_low, to_high, v = (x[left] for x in (n_first, n_second, low, high, at))
            slope, tangent = n / (from_low * to_high), m / v**2
            constant = slope * (from_low + to_high) - 2 * m / v
            here[left], (one, two), possible = ideals.lowered(here[left], left, constant, slope, tangent)
            seen[left] = np.where(possible, np.maximum(seen[left], n / one - m / two), seen[left])
            at[left] = two
        found = np.maximum(found, here.max(axis=1))
    bound[rows], attained[rows] = np.minimum(bound[rows], found), np.maximum(attained[rows], seen)
    return bound, attained
