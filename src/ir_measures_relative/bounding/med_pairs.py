"""Two rankings, of which MED maximizes the difference over all labels of the unjudged documents."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..context.tops import same_rankings
from ..data.arrays import BoolArray, FloatArray, IntArray, max_by_query, rank_within, ratio, sum_by_query
from ..data.rankings import known_depth
from ..measures.bases.base import BASES as RULES
from ..measures.bases.browsing import Geometric
from ..measures.bases.gains import compute_gains, discount, grades_between, reciprocal
from ..measures.med import BASES, SEARCHES
from .level_sums import LevelSums, greatest_lead, sums_of_first, swings

if TYPE_CHECKING:
    from ..context.evaluated import Evaluated
    from ..context.tops import Top
    from ..data.ids import Ids
    from ..measures.measure import RelativeMeasure


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
        in_run = run.docs.find_rows(reference.docs.query, reference.docs.ids, reference.hashes)
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


class RunPair:
    """Two runs on one set of judgments, and MED with its parameters: what a base asks for, computed once."""

    def __init__(self, run: Evaluated, measure: RelativeMeasure) -> None:
        self.run, self.reference, self.measure = run, run.reference(measure.get("ref")), measure
        self.collection = run.collection
        self.base: str = measure.get("base")
        self.cutoff: int | None = measure.get("cutoff")
        #: Whether an open document may take any grade, or is relevant or not.
        self.graded = BASES[self.base].graded and measure.get("rel") is None

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
        return compute_gains(grade, self.measure.get("dcg"), self.measure.get("gains"))

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
        return self.collection.memoize(key, count)

    def tail(self) -> FloatArray:
        """What RBP leaves to what may follow the run, and the reference, shape (2, queries)."""
        pool = self.pool
        held = pool.query[pool.y > 0], pool.query[pool.z > 0]
        lengths = np.stack([np.bincount(query, minlength=pool.n_queries) for query in held])
        if not self.measure.get("residual"):
            return np.zeros(lengths.shape)
        alike = np.ones(pool.n_queries, dtype=bool)
        alike[pool.query[pool.y != pool.z]] = False
        same = self._same_to_the_end(alike) if alike.any() else alike
        result: FloatArray = np.where(~same, Geometric(self.measure.get("p")).seen(lengths + 1), 0.0)
        return result

    def _same_to_the_end(self, alike: BoolArray) -> BoolArray:
        """Return which of these topics both runs rank alike; ValueError where rankings that are cut may go on alike."""
        depth = known_depth([self.run.run, self.reference], None)
        same = same_rankings(*self._tops(depth), alike)
        if depth is None or self.run.run is self.reference:
            return same
        docs, ends = self.collection.documents, np.zeros((2, len(alike)), dtype=np.int64)
        for end, run in zip(ends, (self.run.run, self.reference), strict=True):
            at = docs.match_queries(run)
            end[at[at >= 0]] = run.lengths[at >= 0]
        same &= ends[0] == ends[1]
        unknown = np.flatnonzero(same & (ends[0] > depth))
        if len(unknown):
            cut, names = self.run.run.cut or self.reference.cut, (self.run.run.name, self.reference.name)
            assert cut is not None
            topic = docs.query_ids[unknown[0]]
            raise cut.refuse(
                None, f"{self.measure}: whether {names[0]} and {names[1]} go on alike for topic {topic!r}"
            )
        return same


def register(*bases: str) -> Callable[[Callable[[RunPair], Solutions]], Callable[[RunPair], Solutions]]:
    """Register what finds the largest difference of two runs by some bases."""

    def add(solve: Callable[[RunPair], Solutions]) -> Callable[[RunPair], Solutions]:
        SEARCHES.register(*bases)(lambda run, measure: solve(RunPair(run, measure)))
        return solve

    return add


def decide(pool: PooledDocs, both: FloatArray, level: IntArray) -> Solutions:
    """The better of the two directions, the run's first: shapes (2, queries) and (2, documents)."""
    run_wins = both[0] >= both[1]
    value = both.max(axis=0).clip(0.0, 1.0)
    winner = np.where(value > 0, np.where(run_wins, 1, -1), 0)
    exact = np.ones(len(value), dtype=bool)
    return Solutions(value, value, exact, winner, np.where(run_wins[pool.query], level[0], level[1]))


@register("P", "RBP", "SDCG")
def weighted(task: RunPair) -> Solutions:
    """A static weighted-precision measure (Eqs. 2-5): one greedy labeling for each direction (§1)."""
    pool, levels = task.pool, task.levels
    share = RULES[task.base].rule(task.measure.get).seen.share
    weight = share(pool.y) - share(pool.z)
    tail = task.tail() if task.base == "RBP" else np.zeros((2, pool.n_queries))
    most = np.append(task.floor, levels)[-1:]
    known = pool.signed_sums(ratio(task.gain, most) * weight)
    free = np.where(pool.open & (len(levels) > 0), weight * (1.0 - ratio(np.array([task.floor]), most)), 0.0)
    up, down = swings(free, pool.query, pool.n_queries)
    both = np.stack([known + up + tail[0], -known - down + tail[1]])
    return decide(pool, both, np.where(np.stack([free, -free]) > 0, len(levels), 0))


@register("nDCG")
def greatest_ndcg_difference(task: RunPair) -> Solutions:
    """nDCG over all gains that an open document may have; Algorithm 1 where there is but one.

    With n_l the number of open documents that are given at least level l, both halves of the ratio are sums over the
    levels. The difference of the two DCGs is at most ``known + Σ_l Δ_l·D(n_l)``. Δ_l is the gain of a level above that
    of the one before, D(n) the sum of the n largest differences of discounts. The ideal DCG is ``Σ_l Δ_l·C(min(k, J_l +
    n_l))``. C(n) is the sum of the first n discounts, J_l the number of judged documents of at least that level.
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
    return decide(pool, both, level)


@register("RR")
def greatest_rr_difference(task: RunPair) -> Solutions:
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
    return decide(pool, both, level)
