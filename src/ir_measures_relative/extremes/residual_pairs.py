"""How far apart two runs can be by NRG(base='nDCG'), under one labeling.

With N the sum of a run and I its ideal, N/I is at most ``λ + (N - λ·I)/I'`` where λ is the greatest value of the run
and I' its greatest ideal, and at least that where λ is the least value. So the difference of two runs is at most a sum
over documents, less a multiple of the one ideal, plus a multiple of the other. The first ideal is no smaller than with
other placements of its documents than the best one, which makes it a sum over documents as well; then
:func:`~.placement.place` finds the greatest value. Where few documents of the two are open,
:mod:`.residual_branches` comes nearer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..arrays import BoolArray, FloatArray, IntArray, ratio
from .placement import ideal_of, place, places

if TYPE_CHECKING:
    from .residual import Residual

# Rounds of the search for the placements.
_ROUNDS = 3


class Side(NamedTuple):
    """One of the two runs: what each document adds at its highest gain, and the ends of the value."""

    found: FloatArray  #: to the sum; shape (problems, documents)
    residual: FloatArray  #: to the ideal
    lower: FloatArray  #: the least value, one a problem
    upper: FloatArray  #: the greatest

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
        return ratio((self.found * chosen).sum(axis=1), ideal_of(self.residual * chosen, cutoff))


def side_of(model: Residual, runs: IntArray, rows: IntArray, queries: IntArray) -> Side:
    """A run for each problem, with its documents in the order of ``rows``, on its query."""
    one = model.one()
    found, residual = (
        np.where(rows >= 0, (model.top * part[:, model.columns])[runs[:, None], rows], 0.0)
        for part in (model.weight, model.survival)
    )
    return Side(found, residual, one.lower[runs, queries], one.upper[runs, queries])


def greatest_difference(
    first: Side, second: Side, forced: BoolArray, real: BoolArray, cutoff: int | None
) -> tuple[FloatArray, FloatArray]:
    """A bound of the greatest difference of each problem, and the greatest that was found.

    The documents are in the order of the second's residual gains.
    """
    bound, best = first.upper - second.lower, forced
    reached: FloatArray = np.full(len(forced), -np.inf)
    for chosen in (real, forced, forced | (real & (first.found > second.found))):
        best, reached = _keep(first, second, chosen, best, reached, cutoff)
    x, y = first.upper, second.lower
    s, t = (ratio(np.ones(len(forced)), ideal_of(side.residual * real, cutoff)) for side in (first, second))
    linear = s[:, None] * first.found - t[:, None] * second.found
    weights = first.ideal_weights(best, cutoff)
    for step in range(1, _ROUNDS + 1):
        by_document = linear - (s * x)[:, None] * weights * first.residual
        chosen = place(by_document, second.residual, forced, t * y, cutoff) & real
        ideal = ideal_of(second.residual * chosen, cutoff)
        bound = np.minimum(bound, x - y + (by_document * chosen).sum(axis=1) + t * y * ideal)
        best, reached = _keep(first, second, chosen, best, reached, cutoff)
        weights = weights + (first.ideal_weights(chosen, cutoff) - weights) / (step + 1)
    return np.maximum(bound, reached), reached


def _keep(
    first: Side, second: Side, chosen: BoolArray, best: BoolArray, reached: FloatArray, cutoff: int | None
) -> tuple[BoolArray, FloatArray]:
    """The better of two labelings, and its difference."""
    value = first.value(chosen, cutoff) - second.value(chosen, cutoff)
    better = value > reached
    return np.where(better[:, None], chosen, best), np.where(better, value, reached)
