"""Intervals of values and differences, and the time that a search for their ends may take."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np
from tqdm import tqdm

from ..arguments import is_number
from ..data.arrays import BoolArray, FloatArray, IntArray
from ..tolerances import LABELED_ALIKE

#: The CPU seconds of one search: for MED, and for each end of an interval of bounds and verdicts, which make many more.
MED_SECONDS, END_SECONDS = 10.0, 1.0


class TimeLimit:
    """The seconds of a call, from the creation of the object on; None for no limit."""

    def __init__(self, seconds: float | None = None) -> None:
        if seconds is not None and not (is_number(seconds) and seconds >= 0):
            raise ValueError(f"time_limit={seconds!r} is not allowed; give seconds from 0 up, or None")
        self._end = math.inf if seconds is None else time.monotonic() + float(seconds)

    def remaining(self) -> float:
        """Return the seconds that remain, at least 0; inf without a limit."""
        return max(self._end - time.monotonic(), 0.0)

    def expired(self) -> bool:
        """Return whether the time is over."""
        return time.monotonic() >= self._end

    def share(self, left: int) -> TimeLimit:
        """Return the time of one part of a call: what remains, divided by the ``left`` parts that are still to do."""
        return self if self._end == math.inf else TimeLimit(self.remaining() / max(left, 1))


class Clock:
    """The time of a search: its CPU seconds in this thread, and its share of the time of the call."""

    def __init__(self, cpu_seconds: float = math.inf, limit: TimeLimit | None = None) -> None:
        self._seconds, self._limit = cpu_seconds, limit or TimeLimit()
        self._wall, self._cpu = time.monotonic(), time.thread_time()

    def expired(self) -> bool:
        """Return whether the time is up."""
        if self._limit.expired():
            return True
        # A thread cannot use more CPU time than passes on the wall clock, which is cheaper to read.
        passed = time.monotonic() - self._wall >= self._seconds
        return passed and time.thread_time() - self._cpu >= self._seconds


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
PairSolver: TypeAlias = Callable[[BoolArray, IntArray, IntArray, TimeLimit], End]


def bound_pairs(
    solver: Callable[[int], PairSolver],
    position: IntArray,
    rows: list[IntArray],
    queries: BoolArray,
    a: IntArray,
    b: IntArray,
    limit: TimeLimit,
) -> Interval:
    """Return the intervals of run a[i] less run b[i], shape (pairs, queries); infinite on queries that do not count.

    ``solver`` returns the solver of a query, ``position`` has the shape (runs, items), and ``rows`` are the items
    of each query that matter.
    """
    shape, counted = (len(a), len(rows)), np.flatnonzero(queries).tolist()
    lower, upper, exact = np.full(shape, -np.inf), np.full(shape, np.inf), np.zeros(shape, dtype=bool)
    left = 2 * len(a) * len(counted)  # ends to find
    for q in tqdm(counted, desc="bounding", unit="topic", disable=None, leave=False):
        solve, of_query = solver(q), position[:, rows[q]]
        for i, (x, y) in enumerate(zip(a, b, strict=True)):
            retrieved = (of_query[x] > 0) | (of_query[y] > 0)
            first, second = of_query[x, retrieved], of_query[y, retrieved]
            up = solve(retrieved, first, second, limit.share(left))
            down = solve(retrieved, second, first, limit.share(left - 1))
            left -= 2
            lower[i, q], upper[i, q] = -down.bound, up.bound
            exact[i, q] = max(up.bound - up.reached, down.bound - down.reached) <= LABELED_ALIKE
    return Interval(lower, upper, exact)
