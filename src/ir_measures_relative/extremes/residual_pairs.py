"""How far apart two runs can be by NRG(base='nDCG'), under one labeling.

With N the sum of a run and I its ideal, N/I is at most ``λ + (N - λ·I)/I'`` where λ is the greatest value of the run
and I' its greatest ideal, and at least that where λ is the least value. So the difference of two runs is at most a sum
over documents, less a multiple of the one ideal, plus a multiple of the other. The first ideal is no smaller than with
other placements of its documents than the best one, which makes it a sum over documents as well; then
:func:`~.ideals.place` finds the greatest value.

Where few of the documents that the two hold are open, each labeling of these is tried. Then N of both is known, and
what is left to choose are labels of documents that neither holds, which move the ideals alone. N/I of the first is
convex in its I: between two values of that it is at most the line through its ends. -N/I of the second is concave: it
is at most any of its tangents. So the difference is at most a constant less a multiple of the one ideal plus a multiple
of the other, and nearer to it the closer the two values are; :class:`~.ideals.TwoIdeals` finds the greatest value of
that.
"""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np

from ..arrays import BoolArray, FloatArray, IntArray, ratio
from ..options import LABELED_ALIKE
from .ideals import TwoIdeals, ideal_of, place, places

# Rounds of the search for the placements.
_PLACEMENTS = 3
# Labelings of a pair's own open documents that are tried.
_MOST_LABELINGS = 32
# Into how many parts the range of the first ideal is cut, and how many tangents each tries.
_PARTS = 3
_TANGENTS = 4
# Problems times gains times numbers of gains that are worked on at once.
_AT_ONCE = 3_000_000


class ResidualSide(NamedTuple):
    """One of the two runs: what each document adds at its highest gain, and the ends of the value."""

    found: FloatArray  #: to the sum; shape (problems, documents)
    residual: FloatArray  #: to the ideal
    lower: FloatArray  #: the least value, one a problem
    upper: FloatArray  #: the greatest

    def at(self, rows: IntArray) -> ResidualSide:
        """That of some problems."""
        return ResidualSide(*(np.asarray(part)[rows] for part in self))

    def ideal_weights(self, chosen: BoolArray, cutoff: int | None) -> FloatArray:
        """What the place of each chosen document in the ideal counts."""
        order = np.argsort(-np.where(chosen, self.residual, -1.0), axis=1, kind="stable")
        result = np.empty(chosen.shape)
        np.put_along_axis(result, order, places(np.take_along_axis(chosen, order, axis=1), cutoff), axis=1)
        return result

    def value(self, chosen: BoolArray, cutoff: int | None) -> FloatArray:
        """N/I where the chosen documents have their highest gains, and the others none."""
        return ratio((self.found * chosen).sum(axis=1), ideal_of(self.residual * chosen, cutoff))


def relaxed_difference(
    first: ResidualSide, second: ResidualSide, forced: BoolArray, real: BoolArray, cutoff: int | None
) -> tuple[FloatArray, FloatArray]:
    """A bound of the greatest difference of each problem, and the greatest that was found.

    The documents are in the order of the second's residual gains.
    """
    bound, best = first.upper - second.lower, forced
    reached: FloatArray = np.full(len(forced), -np.inf)
    for chosen in (real, forced, forced | (real & (first.found > second.found))):
        best, reached = _better_of(first, second, chosen, best, reached, cutoff)
    x, y = first.upper, second.lower
    s, t = (ratio(np.ones(len(forced)), ideal_of(side.residual * real, cutoff)) for side in (first, second))
    linear = s[:, None] * first.found - t[:, None] * second.found
    weights = first.ideal_weights(best, cutoff)
    for step in range(1, _PLACEMENTS + 1):
        by_document = linear - (s * x)[:, None] * weights * first.residual
        chosen = place(by_document, second.residual, forced, t * y, cutoff) & real
        ideal = ideal_of(second.residual * chosen, cutoff)
        bound = np.minimum(bound, x - y + (by_document * chosen).sum(axis=1) + t * y * ideal)
        best, reached = _better_of(first, second, chosen, best, reached, cutoff)
        weights = weights + (first.ideal_weights(chosen, cutoff) - weights) / (step + 1)
    return np.maximum(bound, reached), reached


def _better_of(
    first: ResidualSide,
    second: ResidualSide,
    chosen: BoolArray,
    best: BoolArray,
    reached: FloatArray,
    cutoff: int | None,
) -> tuple[BoolArray, FloatArray]:
    """The better of two labelings, and its difference."""
    value = first.value(chosen, cutoff) - second.value(chosen, cutoff)
    better = value > reached
    return np.where(better[:, None], chosen, best), np.where(better, value, reached)


def branched_difference(
    first: ResidualSide,
    second: ResidualSide,
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
    alike = np.abs(first.residual - second.residual) <= LABELED_ALIKE
    own = ~forced & real & ((first.found > 0) | (second.found > 0) | ~alike)
    counts = own.sum(axis=1)
    gains = forced.shape[1] * (len(shares) - 1)
    size = max(1, _AT_ONCE // max(gains * (gains if cutoff is None else min(gains, cutoff + 1)), 1))
    for n in np.unique(counts).tolist():
        if len(shares) ** n > _MOST_LABELINGS:
            continue
        labels = np.array(list(itertools.product(shares, repeat=n))).reshape(len(shares) ** n, n)
        rows = np.flatnonzero((counts == n) & (bound - reached > LABELED_ALIKE))
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
    first: ResidualSide,
    second: ResidualSide,
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
    rows = np.flatnonzero((bound > np.maximum(reached, attained) + LABELED_ALIKE) & (least > 0).all(axis=0))
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
            left = np.flatnonzero(here.max(axis=1) > np.maximum(seen, found) + LABELED_ALIKE)
            n, m, from_low, to_high, v = (x[left] for x in (n_first, n_second, low, high, at))
            slope, tangent = n / (from_low * to_high), m / v**2
            constant = slope * (from_low + to_high) - 2 * m / v
            here[left], (one, two), possible = ideals.lowered(here[left], left, constant, slope, tangent)
            seen[left] = np.where(possible, np.maximum(seen[left], n / one - m / two), seen[left])
            at[left] = two
        found = np.maximum(found, here.max(axis=1))
    bound[rows], attained[rows] = np.minimum(bound[rows], found), np.maximum(attained[rows], seen)
    return bound, attained
