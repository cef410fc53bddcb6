"""How far two runs can be apart by average precision."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...arrays import BoolArray, FloatArray, IntArray
from ...measures.med.exact import greatest_difference
from .model import TOLERANCE
from .sums_of_precisions import MOST_PAIRED, difference_of_sums, greatest_by_halves, sum_of_precisions

# Beyond so many open documents of two runs their difference is that of two intervals.
_MOST_EVEN = 2000


class Task(NamedTuple):
    """One query, its open documents and those judged relevant, and pairs of runs."""

    position: IntArray  #: shape (runs, documents), 0 where not retrieved
    open: BoolArray
    weight: FloatArray
    relevant: int  #: how many are judged relevant
    a: IntArray
    b: IntArray
    time_limit: float | None


class End(NamedTuple):
    """A bound of the greatest difference, and the greatest that labels are known to attain."""

    bound: float
    reached: float


def apart(task: Task) -> FloatArray:
    """Lower, upper, and 1 where both are attained, of each pair; shape (3, pairs)."""
    if not task.open.any():
        sums = np.array([sum_of_precisions(position, task.weight) for position in task.position])
        value = (sums[task.a] - sums[task.b]) / max(task.relevant, 1)
        return np.stack([value, value, np.ones(len(value))])
    solve = _even if (task.weight == 1.0).all() else _weighted
    found = []
    for a, b in zip(task.a, task.b, strict=True):
        held = (task.position[a] > 0) | (task.position[b] > 0)
        x, y = task.position[a, held], task.position[b, held]
        outside = int((task.open & ~held).sum())
        up, down = solve(task, held, x, y, outside), solve(task, held, y, x, outside)
        found.append((-down.bound, up.bound, all(e.bound - e.reached <= TOLERANCE for e in (up, down))))
    return np.array(found).T


def _even(task: Task, held: BoolArray, winner: IntArray, loser: IntArray, outside: int) -> End:
    """By branch and bound."""
    is_open = task.open[held]
    if is_open.sum() > _MOST_EVEN:
        return End(np.inf, -np.inf)
    found = greatest_difference(
        winner,
        loser,
        np.where(is_open, -1, 1),
        cutoff=int(max(winner.max(initial=1), loser.max(initial=1))),
        other_relevant=task.relevant - int((~is_open).sum()),
        outside=outside,
        time_limit=task.time_limit,
        tolerance=TOLERANCE,
    )
    proved = found.upper - found.value <= TOLERANCE
    return End(found.value if proved else found.upper, found.value)


def _weighted(task: Task, held: BoolArray, winner: IntArray, loser: IntArray, outside: int) -> End:
    is_open = task.open[held]
    if is_open.sum() > MOST_PAIRED:
        return End(np.inf, -np.inf)
    quadratic = difference_of_sums(winner, loser, task.weight[held], is_open)
    return End(*greatest_by_halves(quadratic, task.relevant, outside))
