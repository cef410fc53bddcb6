"""How far two runs can be apart by average precision, query by query; and how far one run can go with weights."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..arrays import BoolArray, FloatArray, IntArray
from .exact import greatest_difference
from .model import TOLERANCE
from .sums_of_precisions import sum_of_precisions, sums_by_count
from .weighted import End, Quadratic, greatest_over_relevant

# Beyond so many open documents of two runs their difference is that of two intervals; and where weights differ.
_MOST_EVEN, _MOST_WEIGHTED = 2000, 600


class Task(NamedTuple):
    """One query, its open documents and those judged relevant, and pairs of runs."""

    position: IntArray  #: shape (runs, documents), 0 where not retrieved
    open: BoolArray
    weight: FloatArray
    relevant: int  #: how many are judged relevant
    a: IntArray
    b: IntArray
    time_limit: float | None


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


def alone(task: Task) -> FloatArray:
    """The same of each run of ``task.a``."""
    found = []
    for position in task.position[task.a]:
        held = position > 0
        x, weight, is_open = position[held], task.weight[held], task.open[held]
        outside = int((task.open & ~held).sum())
        # The largest weights first, and the smallest; or as the difference from a run that holds nothing.
        least, most = sums_by_count(x, weight, is_open, False)
        fewest = np.maximum(task.relevant + np.arange(len(least)), 1)
        lower, upper = float((least / (fewest + outside)).min()), float((most / fewest).max())
        nothing = np.zeros(len(x), dtype=np.int64)
        up = _weighted(task, held, x, nothing, outside)
        down = _weighted(task, held, nothing, x, outside)
        lower, upper = max(lower, -down.bound), min(upper, up.bound)
        found.append((lower, upper, max(upper - up.reached, -lower - down.reached) <= TOLERANCE))
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
    if is_open.sum() > _MOST_WEIGHTED:
        return End(np.inf, -np.inf)
    quadratic = Quadratic.of(winner, loser, task.weight[held], is_open)
    return greatest_over_relevant(quadratic, task.relevant, outside)
