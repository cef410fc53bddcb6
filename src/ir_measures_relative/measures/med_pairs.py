"""The measures whose differences MED maximizes, as data. A new base is an entry of :data:`BASES`.

Here are those whose labels are found by sums over documents. The others, which need a search, are registered in
:data:`SEARCHES`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from ..context.tops import same_rankings
from ..data.arrays import (
    BoolArray,
    FloatArray,
    IntArray,
    max_by_query,
    rank_within,
    ratio,
    rows_of_queries,
    sum_by_query,
)
from ..data.ids import Ids
from ..data.rankings import Rankings
from ..data.registry import Registry
from .bases.browsing import BrowsingModel, Geometric, LogDiscount, TopK
from .bases.gains import check_grades, discount, gain_of, grades_between, reciprocal
from .med_level_sums import LevelSums, greatest_lead, sums_of_first, swings
from .parameters import Base

if TYPE_CHECKING:
    from ..context.tops import Top
    from ..context.view import View
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
    """

    def __init__(self, view: View, reference: Rankings, measure: RelativeMeasure) -> None:
        self.view, self.reference, self.measure = view, reference, measure
        self.base = BASES[measure.get("base")]
        self.cutoff: int | None = measure.get("cutoff")

    @property
    def graded(self) -> bool:
        """Whether an open document may take any grade, or is relevant or not."""
        return self.base.graded and self.measure.get("rel") is None

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


#: Finds the largest difference of every query.
Solve: TypeAlias = Callable[[RunPair], Solutions]

#: The searches for the labels, by the name of the base.
SEARCHES: Registry[str, Solve] = Registry("MED searches")


@dataclass(frozen=True)
class MEDBase(Base):
    """A measure whose difference is maximized."""

    solve: Solve
    graded: bool = False  #: whether an open document may take any grade


def _decide(pool: PooledDocs, both: FloatArray, level: IntArray) -> Solutions:
    """The better of the two directions, the run's first: shapes (2, queries) and (2, documents)."""
    run_wins = both[0] >= both[1]
    value = both.max(axis=0).clip(0.0, 1.0)
    winner = np.where(value > 0, np.where(run_wins, 1, -1), 0)
    exact = np.ones(len(value), dtype=bool)
    return Solutions(value, value, exact, winner, np.where(run_wins[pool.query], level[0], level[1]))


def _weighted(browsing_of: Callable[[RunPair], BrowsingModel]) -> Solve:
    """A static weighted-precision measure (Eqs. 2-5), whose W(i) is the share of attention of each position.

    One greedy labeling for each direction (§1). Gains are relative to the highest.
    """

    def solve(task: RunPair) -> Solutions:
        pool, levels = task.pool, task.levels
        share = browsing_of(task).share
        weight = share(pool.y) - share(pool.z)
        tail = task.tail() if "residual" in task.base.parameters else np.zeros((2, pool.n_queries))
        most = np.append(task.floor, levels)[-1:]
        known = pool.signed_sums(ratio(task.gain, most) * weight)
        free = np.where(
            pool.open & (len(levels) > 0), weight * (1.0 - ratio(np.array([task.floor]), most)), 0.0
        )
        up, down = swings(free, pool.query, pool.n_queries)
        both = np.stack([known + up + tail[0], -known - down + tail[1]])
        return _decide(pool, both, np.where(np.stack([free, -free]) > 0, len(levels), 0))

    return solve


def _solve_rr(task: RunPair) -> Solutions:
    """Reciprocal rank: one open document alone is relevant, or none."""
    pool, relevant = task.pool, task.gain > 0
    worth = [reciprocal(pool.y), reciprocal(pool.z)]
    known = [max_by_query(w[relevant], pool.query[relevant], pool.n_queries) for w in worth]
    rows = np.flatnonzero(pool.open)
    both, level = np.zeros((2, pool.n_queries)), np.zeros((2, len(pool.query)), dtype=np.int64)
    for i, (won, lost) in enumerate(((0, 1), (1, 0))):
        of_both, query = (known[won], known[lost]), pool.query[rows]
        both[i], leads = greatest_lead(worth[won][rows], worth[lost][rows], of_both, query)
        best = np.flatnonzero((leads == both[i, query]) & (leads > (of_both[0] - of_both[1])[query]))
        _, first = np.unique(query[best], return_index=True)
        level[i, rows[best[first]]] = 1
    return _decide(pool, both, level)


def _solve_ndcg(task: RunPair) -> Solutions:
    """nDCG over all gains that an open document may have; Algorithm 1 where there is but one.

    With n_l the number of open documents that are given at least level l, both halves of the ratio are sums over the
    levels. The difference of the two DCGs is at most ``known + Σ_l Δ_l·D(n_l)``. Δ_l is the gain of a level above that
    of the one before, D(n) the sum of the n largest differences of discounts: the larger gains go to the larger
    differences. The ideal DCG is ``Σ_l Δ_l·C(min(k, J_l + n_l))``. C(n) is the sum of the first n discounts, J_l the
    number of judged documents of at least that level, also of those outside the rankings. Each level may take its own
    best n_l: ``n_1 ≥ n_2 ≥ …`` comes by itself, since ``J_1 ≥ J_2 ≥ …`` and the discounts fall, so that one more
    document never costs a lower level more than a higher.
    """
    pool, levels = task.pool, task.levels
    weight = discount(pool.y) - discount(pool.z)
    known = pool.signed_sums(task.gain * weight)
    free = np.where(pool.open & (len(levels) > 0), np.maximum(np.stack([weight, -weight]), 0.0), 0.0)
    most = max(int(np.bincount(pool.query[part > 0], minlength=1).max()) for part in free)
    size = task.judged_at(levels)[:, :, None] + np.arange(most + 1)
    n_open = np.bincount(pool.query[pool.open], minlength=pool.n_queries)
    floor_size = task.judged_at(np.array([task.floor]))[:, 0] + n_open  # which have the least gain anyway
    if task.cutoff is not None:
        size, floor_size = np.minimum(size, task.cutoff), np.minimum(floor_size, task.cutoff)
    sums_of_discounts = np.cumsum(discount.up_to(int(max(size.max(initial=0), floor_size.max(initial=0)))))
    ideal, floor = sums_of_discounts[size], task.floor * sums_of_discounts[floor_size]
    both, level = np.zeros((2, pool.n_queries)), np.zeros((2, len(pool.query)), dtype=np.int64)
    for i, sign in enumerate((1.0, -1.0)):
        order, won = sums_of_first(free[i], pool.query, pool.n_queries, most + 1)
        sums = LevelSums(
            (sign * known, np.broadcast_to(won[:, None, :], ideal.shape)),
            (floor, ideal),
            np.full(pool.n_queries, most),
            step=np.diff(levels, prepend=task.floor),
            falling=True,
        )
        both[i] = sums.greatest_positive()
        # From the place of a document in its order to the number of levels that reach down to it.
        query = pool.query[order]
        level[i, order] = (rank_within(query)[:, None] <= sums.counts[query]).sum(axis=1)
    return _decide(pool, both, level)


def _search(task: RunPair) -> Solutions:
    return SEARCHES[task.measure.get("base")](task)


#: The bases of MED.
BASES = {
    "P": MEDBase(_weighted(lambda task: TopK(task.cutoff)), parameters=["rel"], needs_cutoff=True),
    "RBP": MEDBase(
        _weighted(lambda task: Geometric(float(task.measure.get("p")))), parameters=["rel", "p", "residual"]
    ),
    "SDCG": MEDBase(
        _weighted(lambda task: LogDiscount(task.cutoff)),
        parameters=["rel", "dcg", "gains", "max_grade"],
        graded=True,
        needs_cutoff=True,
    ),
    "nDCG": MEDBase(_solve_ndcg, parameters=["rel", "dcg", "gains", "max_grade"], graded=True),
    "RR": MEDBase(_solve_rr, parameters=["rel"]),
    "SSP": MEDBase(_search, parameters=["rel", "time_limit"], needs_cutoff=True),
    "AP": MEDBase(_search, parameters=["rel", "norm", "time_limit"], needs_cutoff=True),
    "Q": MEDBase(_search, parameters=["rel", "norm", "beta", "time_limit"], needs_cutoff=True),
    "mean_nDCG": MEDBase(_search, parameters=["rel"], needs_cutoff=True),
    "ERR": MEDBase(_search, parameters=["max_grade", "time_limit"], graded=True, needs_cutoff=True),
}
