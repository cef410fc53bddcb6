"""Two rankings, of which MED maximizes the difference over all labels of the documents that nobody judged.

What a base whose labels are found by sums over documents does with them is in its file. The others need a search, which
is registered in :data:`SEARCHES`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..context.tops import same_rankings
from ..data.arrays import (
    BoolArray,
    FloatArray,
    IntArray,
    ratio,
    rows_of_queries,
    sum_by_query,
)
from ..data.ids import Ids
from ..data.rankings import Rankings
from ..data.registry import Registry
from .bases.browsing import Geometric
from .bases.gains import check_grades, gain_of, grades_between
from .med_level_sums import swings

if TYPE_CHECKING:
    from ..context.tops import Top
    from ..context.view import View
    from .bases.base import Base
    from .measure import RelativeMeasure


class PooledDocs(NamedTuple):
    """The documents that two rankings hold, one row a document, sorted by query.

    The documents of the run come in its order, then those that only the reference holds in its order: in another order
    the last bit of a sum would depend on the rankings of other queries.
    """

    query: IntArray  #: of ``n_queries``, ascending
    n_queries: int
    y: IntArray  #: position from 1 in the run's top, 0 if it is not there
    z: IntArray  #: in the reference's
    grade: IntArray  #: the judged grade; 0 where open
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
            grade, known = np.zeros_like(grade), np.zeros_like(known)
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


class RunPair:
    """Two runs on one set of judgments, and the parameters: what a base asks for, computed once.

    Args:
        view: the evaluated run, and the context.
        reference: the other run.
        measure: MED with its parameters.
        base: the measure whose difference is maximized.
    """

    def __init__(self, view: View, reference: Rankings, measure: RelativeMeasure, base: Base) -> None:
        self.view, self.reference, self.measure, self.base = view, reference, measure, base
        assert base.difference is not None  # MED's declaration asks for one
        self.difference = base.difference
        self.cutoff: int | None = measure.get("cutoff")

    @property
    def graded(self) -> bool:
        """Whether an open document may take any grade, or is relevant or not."""
        return self.difference.graded and self.measure.get("rel") is None

    @cached_property
    def pool(self) -> PooledDocs:
        """The documents of the two rankings."""
        n_queries = self.view.n_queries
        return PooledDocs.of(*self._tops(self.cutoff), n_queries, self.measure.get("judged"))

    def _tops(self, cutoff: int | None) -> tuple[Top, Top]:
        top = self.view.at(cutoff)
        return top.top(), top.top(self.reference)

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
    def _gains(self) -> tuple[FloatArray, IntArray]:
        """The gains that an open document may have, ascending, and a label that gives each."""
        if not self.graded:
            return np.array([0.0, 1.0]), np.array([0, self.measure.get("rel") or 1])
        grades = grades_between(self.view.grades[0], self.highest)  # custom gains may reward a label below 1
        grades = grades[np.argsort(grades != 0, kind="stable")]
        gains, first = np.unique(self.gain_of(grades), return_index=True)
        return gains, grades[first]

    @property
    def floor(self) -> float:
        """The least gain of a document: above 0 where custom gains reward every label."""
        return float(self._gains[0][0])

    @property
    def levels(self) -> FloatArray:
        """The larger gains that a document may have, ascending."""
        return self._gains[0][1:]

    @property
    def highest(self) -> int:
        """The highest grade that a document may have."""
        limit, highest = self.measure.get("max_grade"), self.view.grades[1]
        if limit is None:
            return highest
        if self.measure.get("judged"):
            check_grades(self.measure, self.view.documents, limit)
        return int(limit)

    def judged_at(self, levels: FloatArray) -> IntArray:
        """How many judged documents of each query have at least each of these gains; (queries, levels)."""
        docs = self.view.documents
        if not self.measure.get("judged"):
            return np.zeros((docs.n_queries, len(levels)), dtype=np.int64)

        def count() -> IntArray:
            gain, n = self.gain_of(docs.grade), docs.n_queries
            counts = [np.bincount(docs.query[gain >= level], minlength=n) for level in levels]
            return np.array(counts, dtype=np.int64).reshape(len(levels), n).T

        gains = self.measure.get("gains")
        mapped = None if gains is None else tuple(sorted(gains.items()))
        key = (
            "judged at",
            self.graded,
            self.measure.get("rel"),
            self.measure.get("dcg"),
            mapped,
            levels.tobytes(),
        )
        return self.view.cached(key, count)

    def tail(self) -> FloatArray:
        """What RBP leaves to what may follow the run, and the reference, shape (2, queries)."""
        pool, reading = self.pool, self.measure.get("residual")
        held = pool.query[pool.y > 0], pool.query[pool.z > 0]
        lengths = np.stack([np.bincount(query, minlength=pool.n_queries) for query in held])
        if reading is False or (reading == "at-cutoff" and self.cutoff is None):
            return np.zeros(lengths.shape)
        reached = lengths == self.cutoff if reading == "at-cutoff" else np.ones(lengths.shape, dtype=bool)
        alike: BoolArray = np.asarray(reached.any(axis=0))
        alike[pool.query[pool.y != pool.z]] = False
        same = same_rankings(*self._tops(None), alike) if alike.any() else alike
        result: FloatArray = np.where(
            reached & ~same, Geometric(self.measure.get("p")).seen(lengths + 1), 0.0
        )
        return result

    def labelings(self, solutions: Solutions) -> list[dict[str, int]]:
        """The labels of the open documents that are not 0 under the labeling of each query."""
        found, labels = [], np.where(self.pool.open, self._gains[1][solutions.level], 0)
        for rows in rows_of_queries(self.pool.query, self.pool.n_queries):
            chosen = rows.start + np.flatnonzero(labels[rows])
            ids = self.pool.ids.take(chosen).strings()
            found.append(dict(zip(ids, labels[chosen].tolist(), strict=True)))
        return found


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
    """A static weighted-precision measure (Eqs. 2-5), whose W(i) is the share of attention of each position.

    One greedy labeling for each direction (§1). Gains are relative to the highest.
    """
    pool, levels = task.pool, task.levels
    share = task.base.browsing(task.measure.get).share
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
    return SEARCHES[task.base.name](task)
