"""How far apart two runs can be by NRG(base='nDCG'), under one labeling.

With N the sum of a run and I its ideal, NRG = N/I is at most ``λ + t·(N - λ·I)`` for any λ and the right t, the one
end of 1/I where N - λ·I is below 0 and the other where it is above. So the difference of two runs is at most a sum
over documents, less a multiple of the one ideal, plus a multiple of the other. The first ideal is no smaller than with
other placements of its documents than the best one, which makes it a sum over documents as well; then
:func:`~.placement.place` finds the greatest value.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...arrays import BoolArray, FloatArray, IntArray, ratio
from ...measures.gains import discount
from .placement import place, places

if TYPE_CHECKING:
    from .residual import Residual

# Rounds of the search for the placements.
_ROUNDS = 3
# How many times the smallest ideal the largest may be for a second search.
_NEAR = 3.0


class Side(NamedTuple):
    """One of the two runs: what each document adds at its highest gain, and the ends of the value and of 1/ideal."""

    found: FloatArray  #: to the sum; shape (problems, documents)
    residual: FloatArray  #: to the ideal
    lower: FloatArray  #: the least value, one a problem
    upper: FloatArray  #: the greatest
    flat: FloatArray  #: one over the largest ideal, 0 where that is 0
    steep: FloatArray  #: one over the smallest, infinite where that is 0

    def at(self, rows: IntArray) -> Side:
        """That of some problems."""
        return Side(*(np.asarray(part)[rows] for part in self))

    def ideal_weights(self, chosen: BoolArray, cutoff: int | None) -> FloatArray:
        """What the place of each chosen document in the ideal counts."""
        order = np.argsort(-np.where(chosen, self.residual, -1.0), axis=1, kind="stable")
        result = np.empty(chosen.shape)
        np.put_along_axis(result, order, places(np.take_along_axis(chosen, order, axis=1), cutoff), axis=1)
        return result

    def value(self, chosen: BoolArray, cutoff: int | None) -> FloatArray:
        """N/I where the chosen documents have their highest gains, and the others none."""
        ideal = (self.ideal_weights(chosen, cutoff) * self.residual).sum(axis=1)
        return ratio((self.found * chosen).sum(axis=1), ideal)


def side_of(model: Residual, runs: IntArray, rows: IntArray, queries: IntArray) -> Side:
    """A run for each problem, with its documents in the order of ``rows``, on its query."""
    one = model.one()
    found = np.array([model.found(int(run), row[None])[0] for run, row in zip(runs, rows, strict=True)])
    residual = np.array(
        [
            model.taken(model.top * model.survival[run, model.columns], row[None])[0]
            for run, row in zip(runs, rows, strict=True)
        ]
    )
    forced, real = model.judged_at(rows), rows >= 0
    ends = []
    for chosen in (real, forced):
        largest = -np.sort(-residual * chosen, axis=1)
        seen = discount.up_to(largest.shape[1])[1:].copy()
        if model.cutoff is not None:
            seen[model.cutoff :] = 0.0
        ends.append((largest * seen).sum(axis=1))
    flat = ratio(np.ones(len(runs)), ends[0])
    steep = np.where(ends[1] > 0, ratio(np.ones(len(runs)), ends[1]), np.inf)
    return Side(found, residual, one.lower[runs, queries], one.upper[runs, queries], flat, steep)


def greatest_difference(
    first: Side, second: Side, forced: BoolArray, real: BoolArray, cutoff: int | None
) -> tuple[FloatArray, FloatArray]:
    """A bound of the greatest difference of each problem, and the greatest that was found.

    The documents are in the order of the second's residual gains.
    """
    bound = first.upper - second.lower
    reached = np.full(len(bound), -np.inf)
    trials = [real, forced, forced | (real & (first.found > second.found))]
    best = forced
    for chosen in trials:
        best, reached = _keep(first, second, chosen, best, reached, cutoff)
    # Where λ is the greatest value of the first and the least of the second, only one end of 1/ideal is needed.
    value, best, reached = _relaxed(
        first,
        second,
        forced,
        real,
        cutoff,
        (first.upper, second.lower),
        (first.flat, second.flat),
        best,
        reached,
    )
    bound = np.minimum(bound, value)
    # And once more around the best labels found, where the ideals do not vary so much that it would be in vain.
    near = np.flatnonzero((first.steep <= _NEAR * first.flat) & (second.steep <= _NEAR * second.flat))
    if len(near):
        one, two = first.at(near), second.at(near)
        fixed, some, labels, most = forced[near], real[near], best[near], reached[near]
        at = one.value(labels, cutoff), two.value(labels, cutoff)
        corners = []
        for ends in itertools.product((one.flat, one.steep), (two.flat, two.steep)):
            value, labels, most = _relaxed(one, two, fixed, some, cutoff, at, ends, labels, most)
            corners.append(value)
        bound[near] = np.minimum(bound[near], np.max(corners, axis=0))
        reached[near] = most
    return np.maximum(bound, reached), reached


def _keep(
    first: Side, second: Side, chosen: BoolArray, best: BoolArray, reached: FloatArray, cutoff: int | None
) -> tuple[BoolArray, FloatArray]:
    """The better of two labelings, and its difference."""
    value = first.value(chosen, cutoff) - second.value(chosen, cutoff)
    better = value > reached
    return np.where(better[:, None], chosen, best), np.where(better, value, reached)


def _relaxed(
    first: Side,
    second: Side,
    forced: BoolArray,
    real: BoolArray,
    cutoff: int | None,
    at: tuple[FloatArray, FloatArray],
    ends: tuple[FloatArray, FloatArray],
    best: BoolArray,
    reached: FloatArray,
) -> tuple[FloatArray, BoolArray, FloatArray]:
    """The bound with λ ``at`` and 1/ideal at ``ends``, and the better labels that its search came by."""
    (x, y), (s, t) = at, ends
    linear = s[:, None] * first.found - t[:, None] * second.found
    weights = first.ideal_weights(best, cutoff)
    bound = np.full(len(x), np.inf)
    for step in range(1, _ROUNDS + 1):
        by_document = linear - (s * x)[:, None] * weights * first.residual
        chosen = place(by_document, second.residual, forced, t * y, cutoff) & real
        ideal = (second.ideal_weights(chosen, cutoff) * second.residual).sum(axis=1)
        value = x - y + (by_document * chosen).sum(axis=1) + t * y * ideal
        bound = np.minimum(bound, value)
        best, reached = _keep(first, second, chosen, best, reached, cutoff)
        weights = weights + (first.ideal_weights(chosen, cutoff) - weights) / (step + 1)
    return bound, best, reached
