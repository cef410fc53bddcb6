"""Intervals of values and differences, and the time that a search for their ends may take."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np

from ..data.arrays import BoolArray, FloatArray, IntArray
from ..tolerances import LABELED_ALIKE
from ..work import Work, map_tasks

#: The CPU seconds of one search: for MED, and for each end of an interval of bounds and verdicts, which make many more.
MED_SECONDS, END_SECONDS = 10.0, 1.0

# The number of pairs of runs in one task.
_PAIRS = 250


class Clock:
    """The time of a search: its CPU seconds in this thread, and its share of the time of the call."""

    def __init__(self, cpu_seconds: float | None = None, work: Work | None = None) -> None:
        self._limit = math.inf if cpu_seconds is None else cpu_seconds
        self._work = work or Work()
        self._wall, self._cpu = time.monotonic(), time.thread_time()

    def expired(self) -> bool:
        """Whether the time is up."""
        if self._work.expired():
            return True
        # A thread cannot use more CPU time than passes on the wall clock, which is cheaper to read.
        passed = time.monotonic() - self._wall >= self._limit
        return passed and time.thread_time() - self._cpu >= self._limit


def share(work: Work, left: int) -> Work:
    """Return the time of one part of a call: the remaining time, divided by the ``left`` parts that are still to do."""
    seconds = work.remaining()
    return Work(work.jobs, None if seconds is None else seconds / max(left, 1))


class Interval(NamedTuple):
    """The least and the greatest value of each query, any shape (…, queries)."""

    lower: FloatArray  #: the least value
    upper: FloatArray  #: the greatest
    exact: BoolArray  #: whether labelings attain both ends

    @classmethod
    def attained(cls, lower: FloatArray, upper: FloatArray) -> Interval:
        """Return an interval whose ends labelings attain."""
        return cls(lower, upper, np.ones(lower.shape, dtype=bool))

    @classmethod
    def unknown(cls, shape: tuple[int, ...]) -> Interval:
        """Return an interval without known ends: NaN."""
        return cls(np.full(shape, np.nan), np.full(shape, np.nan), np.zeros(shape, dtype=bool))

    def select(self, runs: IntArray) -> Interval:
        """Return the intervals of some runs."""
        return Interval(self.lower[runs], self.upper[runs], self.exact[runs])

    def subtract(self, other: Interval) -> Interval:
        """Return the interval of the difference of two values, which may depend on each other in any way."""
        lower, upper = self.lower - other.upper, self.upper - other.lower
        return Interval(lower, upper, upper - lower <= LABELED_ALIKE)

    def intersect(self, other: Interval) -> Interval:
        """Return the intersection of two intervals of one value."""
        lower, upper = np.maximum(self.lower, other.lower), np.minimum(self.upper, other.upper)
        return Interval(lower, upper, self.exact | other.exact)


class End(NamedTuple):
    """A bound of the greatest difference, and the greatest that labels are known to attain."""

    bound: float
    reached: float


#: From the documents that either of two runs retrieves, their positions in both, 0 where not retrieved, and the time to
#: the greatest difference of the first less the second.
PairSolver: TypeAlias = Callable[[BoolArray, IntArray, IntArray, Work], End]


def bound_pairs(
    solver: Callable[[int], PairSolver],
    position: IntArray,
    rows: list[IntArray],
    queries: BoolArray,
    a: IntArray,
    b: IntArray,
    work: Work,
) -> Interval:
    """Return the intervals of run a[i] less run b[i], shape (pairs, queries); infinite on queries that do not count.

    ``solver`` returns the solver of a query, ``position`` has the shape (runs, items), and ``rows`` are the items
    of each query that matter.
    """
    parts = [slice(start, start + _PAIRS) for start in range(0, len(a), _PAIRS)]
    where = [(part, q) for q in np.flatnonzero(queries).tolist() for part in parts]
    processes = work.jobs if work.jobs > 0 else os.cpu_count() or 1
    shape, done = (len(a), len(rows)), 0
    lower, upper, exact = np.full(shape, -np.inf), np.full(shape, np.inf), np.zeros(shape, dtype=bool)

    def task(part: slice, q: int) -> tuple[PairSolver, IntArray, IntArray, Work]:
        # Several tasks run at once, and some wait; only finished ones are counted.
        seconds = share(work, math.ceil((len(where) - done) / processes)).remaining()
        # The runs of these pairs are all that is sent to a process.
        runs, pairs = np.unique(np.stack([a[part], b[part]]), return_inverse=True)
        return solver(q), position[np.ix_(runs, rows[q])], pairs.reshape(2, -1), Work(time_limit=seconds)

    tasks = (task(part, q) for part, q in where)
    results = map_tasks(_find_ends, tasks, work.jobs, total=len(where), desc="bounding")
    for (part, q), (up, down) in zip(where, results, strict=True):
        lower[part, q], upper[part, q] = -down[:, 0], up[:, 0]
        exact[part, q] = np.maximum(up[:, 0] - up[:, 1], down[:, 0] - down[:, 1]) <= LABELED_ALIKE
        done += 1
    return Interval(lower, upper, exact)


def _find_ends(task: tuple[PairSolver, IntArray, IntArray, Work]) -> FloatArray:
    """Return the :class:`End` of either run of each pair less the other, shape (2, pairs, 2)."""
    solve, position, pairs, work = task
    ends = []
    for i, (a, b) in enumerate(pairs.T):
        retrieved = (position[a] > 0) | (position[b] > 0)
        x, y = position[a, retrieved], position[b, retrieved]
        left = 2 * (pairs.shape[1] - i)
        first = solve(retrieved, x, y, share(work, left))
        ends.append((first, solve(retrieved, y, x, share(work, left - 1))))
    return np.array(ends).swapaxes(0, 1)
