"""Two rankings, of which MED maximizes the difference over all labels of the unjudged documents."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..data.arrays import (
    BoolArray,
    FloatArray,
    IntArray,
    ratio,
    row_sums,
    sum_by_query,
    table,
)
from ..data.registry import Registry
from ..tolerances import ROUNDED
from .bases.base import BASES
from .bases.browsing import Geometric
from .bases.gains import gain_of, grades_between

if TYPE_CHECKING:
    from ..context.evaluated import Evaluated
    from ..context.tops import Top
    from ..data.ids import Ids
    from ..data.rankings import Rankings
    from .measure import RelativeMeasure


class PooledDocs(NamedTuple):
    """The documents that two rankings hold, sorted by query: the run's in its order, then the others."""

    query: IntArray  #: of ``n_queries``, ascending
    n_queries: int
    y: IntArray  #: position from 1 in the run's top, 0 if it is not there
    z: IntArray  #: in the reference's
    grade: IntArray  #: the judged grade; of no meaning where open
    open: BoolArray  #: whether the judgments leave the document open
    ids: Ids

    @classmethod
    def of(cls, run: Top, reference: Top, n_queries: int, judged: bool = True) -> PooledDocs:
        """The union of two tops; every document is open where the judgments do not count."""
        in_run = run.docs.rows_of(reference.docs.query, reference.docs.ids, reference.hashes)
        shared, other = np.flatnonzero(in_run >= 0), np.flatnonzero(in_run < 0)
        z_of_run = np.zeros(len(run.position), dtype=np.int64)
        z_of_run[in_run[shared]] = reference.position[shared]
        query = np.concatenate([run.docs.query, reference.docs.query[other]])
        order = np.argsort(query, kind="stable")

        def joined(of_run: Any, of_others: Any) -> Any:
            return np.concatenate([of_run, of_others])[order]

        y = joined(run.position, np.zeros(len(other), dtype=np.int64))
        z = joined(z_of_run, reference.position[other])
        grade = joined(run.docs.grade, reference.docs.grade[other])
        known = joined(run.docs.judged, reference.docs.judged[other])
        if not judged:
            known = np.zeros_like(known)
        ids = run.docs.ids.followed_by(reference.docs.ids.take(other)).take(order)
        return cls(query[order], n_queries, y, z, grade, ~known, ids)

    def sums(self, values: FloatArray) -> FloatArray:
        """The sums of each query, added in the order of the documents."""
        return sum_by_query(values, self.query, self.n_queries)

    def signed_sums(self, terms: FloatArray) -> FloatArray:
        """The sums, and 0 where the terms cancel but for rounding: no ranking wins by 1e-17."""
        total = self.sums(terms)
        return np.where(np.abs(total) > 1e-14 * self.sums(np.abs(terms)), total, 0.0)


class Solutions(NamedTuple):
    """The largest difference of each query, and what attains it."""

    value: FloatArray  #: that was found
    upper: FloatArray  #: no labeling exceeds it
    exact: BoolArray
    winner: IntArray  #: 1 the run, -1 the reference, 0 where no labeling tells the two apart
    level: IntArray  #: one a document of the pool: the gain level given to each open one, from 1; 0 is none


@dataclass(frozen=True, kw_only=True)
class Difference:
    """What MED asks of a base."""

    solve: Callable[[RunPair], Solutions]
    parameters: Collection[str] = ()  #: those of MED that it has, and other bases lack
    needs_cutoff: bool = False  #: whether it is nothing without ``@k``
    graded: bool = False  #: whether an open document may take any grade


class RunPair:
    """Two runs on one set of judgments, and MED with its parameters: what a base asks for, computed once."""

    def __init__(
        self, run: Evaluated, reference: Rankings, measure: RelativeMeasure, difference: Difference
    ) -> None:
        self.run, self.reference, self.measure, self.difference = run, reference, measure, difference
        self.collection = run.collection
        self.base_name: str = measure.get("base")
        self.cutoff: int | None = measure.get("cutoff")

    @property
    def graded(self) -> bool:
        """Whether an open document may take any grade, or is relevant or not."""
        return self.difference.graded and self.measure.get("rel") is None

    @cached_property
    def pool(self) -> PooledDocs:
        """The documents of the two rankings."""
        n_queries = self.collection.documents.n_queries
        return PooledDocs.of(*self._tops(self.cutoff), n_queries, self.measure.get("judged"))

    def _tops(self, cutoff: int | None) -> tuple[Top, Top]:
        return self.run.top(cutoff), self.collection.top(self.reference, cutoff)

    def gain_of(self, grade: IntArray) -> FloatArray:
        """The gain of each grade."""
        if not self.graded:
            return (grade >= (self.measure.get("rel") or 1)).astype(np.float64)
        return gain_of(grade, self.measure.get("dcg"), self.measure.get("gains"))

    @cached_property
    def gain(self) -> FloatArray:
        """The gain of each document of the pool, the least that there is where open."""
        return np.where(self.pool.open, self.floor, self.gain_of(self.pool.grade))

    @cached_property
    def open_gains(self) -> tuple[FloatArray, IntArray]:
        """The gains that an open document may have, ascending, and a label that gives each."""
        if not self.graded:
            return np.array([0.0, 1.0]), np.array([0, self.measure.get("rel") or 1])
        grades = grades_between(
            self.collection.grades[0], self.highest
        )  # custom gains may reward a label below 1
        grades = grades[np.argsort(grades != 0, kind="stable")]
        gains, first = np.unique(self.gain_of(grades), return_index=True)
        return gains, grades[first]

    @property
    def floor(self) -> float:
        """The least gain of a document: above 0 where custom gains reward every label."""
        return float(self.open_gains[0][0])

    @property
    def levels(self) -> FloatArray:
        """The larger gains, ascending."""
        return self.open_gains[0][1:]

    @property
    def highest(self) -> int:
        """The highest grade that a document may have."""
        limit = self.measure.get("max_grade")
        return int(self.collection.grades[1] if limit is None else limit)

    def judged_at(self, levels: FloatArray) -> IntArray:
        """How many judged documents of each query have at least each of these gains; (queries, levels)."""
        docs = self.collection.documents
        if not self.measure.get("judged"):
            return np.zeros((docs.n_queries, len(levels)), dtype=np.int64)

        def count() -> IntArray:
            gain, n = self.gain_of(docs.grade), docs.n_queries
            counts = [np.bincount(docs.query[gain >= level], minlength=n) for level in levels]
            return np.array(counts, dtype=np.int64).reshape(len(levels), n).T

        rel, dcg, gains = map(self.measure.get, ("rel", "dcg", "gains"))
        key = "judged at", self.graded, rel, dcg, str(gains), levels.tobytes()
        return self.collection.kept(key, count)

    def tail(self) -> FloatArray:
        """What RBP leaves to what may follow the run, and the reference, shape (2, queries)."""
        from ..context.tops import same_rankings

        pool = self.pool
        held = pool.query[pool.y > 0], pool.query[pool.z > 0]
        lengths = np.stack([np.bincount(query, minlength=pool.n_queries) for query in held])
        if not self.measure.get("residual"):
            return np.zeros(lengths.shape)
        alike = np.ones(pool.n_queries, dtype=bool)
        alike[pool.query[pool.y != pool.z]] = False
        same = same_rankings(*self._tops(None), alike) if alike.any() else alike
        result: FloatArray = np.where(~same, Geometric(self.measure.get("p")).seen(lengths + 1), 0.0)
        return result


#: The searches for the labels, by the name of the base.
SEARCHES: Registry[str, Callable[[RunPair], Solutions]] = Registry("MED searches")


def decide(pool: PooledDocs, both: FloatArray, level: IntArray) -> Solutions:
    """The better of the two directions, the run's first: shapes (2, queries) and (2, documents)."""
    run_wins = both[0] >= both[1]
    value = both.max(axis=0).clip(0.0, 1.0)
    winner = np.where(value > 0, np.where(run_wins, 1, -1), 0)
    exact = np.ones(len(value), dtype=bool)
    return Solutions(value, value, exact, winner, np.where(run_wins[pool.query], level[0], level[1]))


def weighted(task: RunPair) -> Solutions:
    """A static weighted-precision measure (Eqs. 2-5): one greedy labeling for each direction (§1)."""
    pool, levels = task.pool, task.levels
    share = BASES[task.base_name].rule(task.measure.get).seen.share
    weight = share(pool.y) - share(pool.z)
    tail = task.tail() if "residual" in task.difference.parameters else np.zeros((2, pool.n_queries))
    most = np.append(task.floor, levels)[-1:]
    known = pool.signed_sums(ratio(task.gain, most) * weight)
    free = np.where(pool.open & (len(levels) > 0), weight * (1.0 - ratio(np.array([task.floor]), most)), 0.0)
    up, down = swings(free, pool.query, pool.n_queries)
    both = np.stack([known + up + tail[0], -known - down + tail[1]])
    return decide(pool, both, np.where(np.stack([free, -free]) > 0, len(levels), 0))


def search(task: RunPair) -> Solutions:
    """By one of :data:`SEARCHES`."""
    return SEARCHES[task.base_name](task)


def swings(weight: FloatArray, query: IntArray, n_queries: int) -> tuple[FloatArray, FloatArray]:
    """How far open documents with these weights can raise the sum of each query, and lower it, with gains of 0 or 1."""
    raised, lowered = np.maximum(weight, 0.0), np.minimum(weight, 0.0)
    return sum_by_query(raised, query, n_queries), sum_by_query(lowered, query, n_queries)


def greatest_lead(
    won: FloatArray, lost: FloatArray, known: tuple[FloatArray, FloatArray], query: IntArray
) -> tuple[FloatArray, FloatArray]:
    """By how much one run can lead another where each is worth its best relevant document.

    Where a labeling makes the lead as large as can be, one relevant document decides the winner's value, and any other
    open one can only raise the loser's: it is enough to try each open document alone, and none. From the worth of each
    open document in the winner and in the loser, and that of the two where none is relevant, to the greatest lead of
    each query and the lead by each document.
    """
    leads = np.maximum(won, known[0][query]) - np.maximum(lost, known[1][query])
    greatest = known[0] - known[1]
    np.maximum.at(greatest, query, leads)
    return greatest, leads


def climb(best: FloatArray, active: IntArray, reach: Callable[[IntArray, FloatArray], FloatArray]) -> None:
    """Dinkelbach's iteration on some problems: raises ``best`` to the greatest ratios.

    With λ the ratio reached so far, a better one exists if and only if the greatest ``above - λ·below`` over the
    labelings is above 0 (W. Dinkelbach, "On Nonlinear Fractional Programming", Management Science, 1967). ``reach``
    gives the ratios at labelings that maximize it, from some problems and the λ of each.
    """
    while len(active):
        reached = reach(active, best[active])
        better = reached > best[active]
        active = active[better]
        best[active] = reached[better]


class LevelSums:
    """``(above + Σ_l Δ_l·above_l[n_l]) / (below + Σ_l Δ_l·below_l[n_l])`` over ``n_1 ≥ n_2 ≥ … ≥ 0``.

    n_l is how many open documents are given at least level l; ``counts`` has those of the last ratio that was found.
    The greatest ``above - λ·below`` is a dynamic program over the levels. λ may be negative.

    Args:
        above: one a problem; and by level, shape (problems, levels, 1 + documents).
        below: the same; a sum of 0 only where what is above is 0.
        sizes: the number of open documents of each problem; entries beyond are not looked at.
        step: Δ_l, one a level; 1 if not given.
        falling: whether the best n_l of each level by itself fall, but for rounding: then no program is needed.
    """

    def __init__(
        self,
        above: tuple[FloatArray, FloatArray],
        below: tuple[FloatArray, FloatArray],
        sizes: IntArray,
        *,
        step: FloatArray | None = None,
        falling: bool = False,
    ) -> None:
        self._above, self._above_by_level = above
        self._below, self._below_by_level = below
        self._sizes, self._falling = sizes, falling
        _, levels, width = self._above_by_level.shape
        self._step = np.ones(levels) if step is None else step
        self._beyond = np.arange(width) > sizes[:, None]
        self.counts: IntArray = np.zeros((len(sizes), levels), dtype=np.int64)

    def greatest(self) -> FloatArray:
        """The greatest ratio; 0/0 is 0."""
        rows = np.arange(len(self._above))
        above, all_below = self._sums(rows, np.repeat(self._sizes[:, None], len(self._step), axis=1))
        _, none_below = self._sums(rows, self.counts)
        best = ratio(above, all_below)
        climb(best, np.flatnonzero(all_below > 0), self._reach)
        # A labeling without a gain to find has the value 0 by definition.
        result: FloatArray = np.where(none_below > 0, best, np.maximum(best, 0.0))
        return result

    def greatest_positive(self) -> FloatArray:
        """The greatest ratio where that is above 0, else 0; where the numerator is, the denominator must be too."""
        best = np.zeros(len(self._above))
        climb(best, np.arange(len(best)), self._reach)
        return best

    def _reach(self, rows: IntArray, least: FloatArray) -> FloatArray:
        score = self._above_by_level[rows] - least[:, None, None] * self._below_by_level[rows]
        score[np.broadcast_to(self._beyond[rows, None, :], score.shape)] = -np.inf
        if self._falling:
            chosen = np.minimum.accumulate(score.argmax(axis=2), axis=1)
        else:
            chosen = _nested_choice(self._step[:, None] * score)
        above, below = self._sums(rows, chosen)
        reached = ratio(above, np.where(below > ROUNDED, below, 0.0))
        better = reached > least
        self.counts[rows[better]] = chosen[better]
        return reached

    def _sums(self, rows: IntArray, counts: IntArray) -> tuple[FloatArray, FloatArray]:
        """The numerator and the denominator of some problems, for numbers of documents at each level."""
        at = rows[:, None], np.arange(counts.shape[1]), counts
        above = self._above[rows] + row_sums(self._step * self._above_by_level[at])
        return above, self._below[rows] + row_sums(self._step * self._below_by_level[at])


def _nested_choice(score: FloatArray) -> IntArray:
    """The ``n_1 ≥ n_2 ≥ …`` that maximize ``Σ_l score[l, n_l]``, shape (problems, levels)."""
    problems, levels, width = score.shape
    places = np.arange(width)
    tail: FloatArray = np.zeros((problems, width))
    at = np.empty((levels, problems, width), dtype=np.int64)
    for level in reversed(range(levels)):
        total = score[:, level] + tail
        tail = np.maximum.accumulate(total, axis=1)
        # Where the running maximum was last raised is where it is attained.
        raised: BoolArray = np.ones_like(total, dtype=bool)
        raised[:, 1:] = total[:, 1:] > tail[:, :-1]
        at[level] = np.maximum.accumulate(np.where(raised, places, 0), axis=1)
    chosen = np.empty((problems, levels), dtype=np.int64)
    limit = np.full(problems, width - 1)
    for level in range(levels):
        limit = at[level][np.arange(problems), limit]
        chosen[:, level] = limit
    return chosen


def sums_of_first(
    weight: FloatArray, query: IntArray, n_queries: int, width: int
) -> tuple[IntArray, FloatArray]:
    """The documents of each query by falling weight, and the sums of the first 0, 1, … weights."""
    order = np.lexsort((-weight, query))
    by_query = table(weight[order], query[order], n_queries, 0.0)[:, : width - 1]
    sums = np.zeros((n_queries, width))
    np.cumsum(by_query, axis=1, out=sums[:, 1 : 1 + by_query.shape[1]])
    return order, sums
