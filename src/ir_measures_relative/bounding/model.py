"""What all extremes have in common: intervals, the models of measures, and the time that a search may take."""

from __future__ import annotations

import math
import os
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from ..context.view import View
from ..data.arrays import BoolArray, FloatArray, IntArray, rows_of_queries
from ..tolerances import LABELED_ALIKE
from ..work import Work, map_tasks

#: CPU seconds of one search: for MED, and for each end of an interval of bounds and verdicts, which make many more.
MED_SECONDS, END_SECONDS = 10.0, 1.0

# So many runs, or pairs of runs, are in one task.
_PAIRS = 250


class Clock:
    """Tells a search when its CPU seconds in this thread, or its share of the time of the call, are over."""

    def __init__(self, cpu_seconds: float | None = None, work: Work | None = None) -> None:
        self._limit = math.inf if cpu_seconds is None else cpu_seconds
        self._work = work or Work()
        self._wall, self._cpu = time.monotonic(), time.thread_time()

    def expired(self) -> bool:
        """Whether the time is up."""
        if self._work.expired():
            return True
        # A thread has used no more CPU time than has passed, and the clock on the wall is the cheaper to read.
        passed = time.monotonic() - self._wall >= self._limit
        return passed and time.thread_time() - self._cpu >= self._limit


def share(work: Work, left: int) -> Work:
    """The time of one part of a call: what is left, divided by the ``left`` parts that are to do."""
    seconds = work.remaining()
    return Work(work.jobs, None if seconds is None else seconds / max(left, 1))


class Interval(NamedTuple):
    """The least and the greatest value of each query, any shape (…, queries)."""

    lower: FloatArray  #: the least value
    upper: FloatArray  #: the greatest
    exact: BoolArray  #: whether labelings attain both ends

    @classmethod
    def attained(cls, lower: FloatArray, upper: FloatArray) -> Interval:
        """Ends that labelings attain."""
        return cls(lower, upper, np.ones(lower.shape, dtype=bool))

    def of(self, runs: IntArray) -> Interval:
        """The intervals of some runs."""
        return Interval(self.lower[runs], self.upper[runs], self.exact[runs])

    def minus(self, other: Interval) -> Interval:
        """What the difference of two values cannot leave, whatever they have to do with each other."""
        lower, upper = self.lower - other.upper, self.upper - other.lower
        return Interval(lower, upper, upper - lower <= LABELED_ALIKE)

    def within(self, other: Interval) -> Interval:
        """What two intervals have in common, where both hold."""
        lower, upper = np.maximum(self.lower, other.lower), np.minimum(self.upper, other.upper)
        return Interval(lower, upper, self.exact | other.exact)


class End(NamedTuple):
    """A bound of the greatest difference, and the greatest that labels are known to attain."""

    bound: float
    reached: float


#: From the documents that either of two runs holds, their positions in the one and in the other, 0 where not retrieved,
#: and the time for it to the greatest difference of the one less the other.
PairSolver: TypeAlias = Callable[[BoolArray, IntArray, IntArray, Work], End]


class Model(ABC):
    """A measure on the labelings of the open documents.

    Args:
        views: the runs, each on the judged and the open documents, as deep as the measure looks.
        gain: of every judged document of ``docs``; ``known_gain`` has 0 for the open ones.
    """

    def __init__(self, views: Sequence[View], gain: FloatArray | BoolArray) -> None:
        self.views, self.docs = views, views[0].documents
        self.open: BoolArray = ~self.docs.judged
        self.known_gain: FloatArray = np.where(self.open, 0.0, gain)

    def closed(self) -> BoolArray:
        """In which queries the judgments leave nothing open."""
        closed: BoolArray = np.ones(self.docs.n_queries, dtype=bool)
        closed[self.docs.query[self.open]] = False
        return closed

    def sums(self, values: FloatArray, among: BoolArray) -> FloatArray:
        """The sums by query over some of ``docs``; ``values`` of shape (…, documents)."""
        rows = np.flatnonzero(among)
        return self.docs.by_query(values[..., rows], rows)

    def over_open(self, values: FloatArray, function: np.ufunc = np.add) -> FloatArray:
        """What ``function`` joins of values of the open documents, shape (…, open documents), by query."""
        return self.docs.by_query(values, np.flatnonzero(self.open), function)

    def rows_by_query(self, among: BoolArray) -> list[IntArray]:
        """Of some documents those of each query, as rows of ``docs``."""
        docs, rows = self.docs, np.flatnonzero(among)
        return [rows[some] for some in rows_of_queries(docs.query[rows], docs.n_queries)]

    def value(self) -> FloatArray | None:
        """The value of every run where no open document has a gain, shape (runs, queries); None where it is unknown."""
        return None

    @abstractmethod
    def sampled(self, gains: FloatArray) -> FloatArray:
        """The values of labelings, (runs, labelings, queries); ``gains`` is of shape (labelings, open documents)."""

    @abstractmethod
    def one(self, work: Work) -> Interval:
        """Of every run, shape (runs, queries); what is not finished in time is wider, and not exact."""

    def difference(self, a: IntArray, b: IntArray, work: Work) -> Interval:
        """Of run a[i] less run b[i], shape (pairs, queries); by default from the intervals of the two."""
        one = self.one(work)
        return one.of(a).minus(one.of(b))

    @abstractmethod
    def influence(self, a: int, b: int, reach: FloatArray) -> FloatArray:
        """About how far the label of each of ``docs`` moves the difference of two runs, which is at most ``reach``."""


class TaSCModel(Model):
    """TaSC by ``score``, from the intervals of its base: a run is best where its priors, a row each, are worst."""

    def __init__(
        self, base: Model, priors: list[IntArray], score: Callable[[FloatArray, FloatArray], FloatArray]
    ) -> None:
        super().__init__(base.views, base.known_gain)
        self.base, self.priors, self.score = base, priors, score

    def _scores(self, of_run: FloatArray, of_priors: FloatArray) -> FloatArray:
        rows = [self.score(of_run[run], of_priors[priors]) for run, priors in enumerate(self.priors)]
        return np.array(rows).reshape(of_run.shape)

    def sampled(self, gains: FloatArray) -> FloatArray:
        values = self.base.sampled(gains)
        return self._scores(values, values)

    def one(self, work: Work) -> Interval:
        lower, upper, exact = self.base.one(work)
        low, high = self._scores(lower, upper), self._scores(upper, lower)
        alone = np.array([not len(priors) for priors in self.priors])[:, None]
        return Interval(low, high, (exact & alone) | (high - low <= LABELED_ALIKE))

    def influence(self, a: int, b: int, reach: FloatArray) -> FloatArray:
        nearby = [self.base.influence(run, int(prior), reach) for run in (a, b) for prior in self.priors[run]]
        # A label may count by the prior that it makes the best one.
        moves = self.open & (reach > 0)[self.docs.query]
        least = np.where(moves, 2 * LABELED_ALIKE, 0.0)
        result: FloatArray = np.max([self.base.influence(a, b, reach), *nearby, least], axis=0)
        return result


def interval_of_pairs(
    solver: Callable[[int], PairSolver],
    position: IntArray,
    rows: list[IntArray],
    queries: BoolArray,
    a: IntArray,
    b: IntArray,
    work: Work,
) -> Interval:
    """The intervals of run a[i] less run b[i], shape (pairs, queries), on some queries; infinite on the others."""
    parts = [slice(start, start + _PAIRS) for start in range(0, len(a), _PAIRS)]
    where = [(part, q) for q in np.flatnonzero(queries).tolist() for part in parts]
    processes = work.jobs if work.jobs > 0 else os.cpu_count() or 1
    shape, done = (len(a), len(rows)), 0
    lower, upper, exact = np.full(shape, -np.inf), np.full(shape, np.inf), np.zeros(shape, dtype=bool)

    def task(part: slice, q: int) -> tuple[PairSolver, IntArray, IntArray, Work]:
        # Several are done at once, and some wait to be; those that are finished are counted.
        seconds = share(work, math.ceil((len(where) - done) / processes)).remaining()
        # The runs of these pairs are all that is sent to a process.
        runs, pairs = np.unique(np.stack([a[part], b[part]]), return_inverse=True)
        own = position[np.ix_(runs, rows[q])]
        return solver(q), own, pairs.reshape(2, -1), Work(time_limit=seconds)

    tasks = (task(part, q) for part, q in where)
    results = map_tasks(_ends_of_pairs, tasks, work.jobs, total=len(where), desc="bounding")
    for (part, q), (up, down) in zip(where, results, strict=True):
        lower[part, q], upper[part, q] = -down[:, 0], up[:, 0]
        exact[part, q] = np.maximum(up[:, 0] - up[:, 1], down[:, 0] - down[:, 1]) <= LABELED_ALIKE
        done += 1
    return Interval(lower, upper, exact)


def _ends_of_pairs(task: tuple[PairSolver, IntArray, IntArray, Work]) -> FloatArray:
    """The :class:`End` of either run of each pair less the other, shape (2, pairs, 2)."""
    solve, position, pairs, work = task
    ends = []
    for i, (a, b) in enumerate(pairs.T):
        held = (position[a] > 0) | (position[b] > 0)
        x, y = position[a, held], position[b, held]
        left = 2 * (pairs.shape[1] - i)
        ends.append((solve(held, x, y, share(work, left)), solve(held, y, x, share(work, left - 1))))
    return np.array(ends).swapaxes(0, 1)
