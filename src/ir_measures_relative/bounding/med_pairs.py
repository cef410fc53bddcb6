"""MED of two runs: the largest difference over all labels of the unjudged documents, by bases without a search."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from ..context.checks import check_whole_to
from ..context.tops import same_rankings
from ..data.arrays import BoolArray, FloatArray, IntArray, max_by_query, ratio, sum_by_query
from ..data.rankings import known_depth
from ..measures.bases.base import BASES as RULES
from ..measures.bases.browsing import Geometric
from ..measures.bases.gains import compute_gains, discount, reciprocal
from ..measures.med import BASES, SEARCHES
from .level_sums import LevelSums, grades_between, greatest_lead, sum_largest, swings

if TYPE_CHECKING:
    from ..context.evaluated import Evaluated
    from ..context.tops import Top
    from ..measures.measure import RelativeMeasure


class PooledDocs(NamedTuple):
    """The documents of two rankings, sorted by query: the run's in its order, then the reference's other ones."""

    query: IntArray  #: of ``n_queries``, ascending
    n_queries: int
    y: IntArray  #: position from 1 in the run's top, 0 if it is not there
    z: IntArray  #: position in the reference's top
    grade: IntArray  #: the judged grade; meaningless where open
    open: BoolArray  #: whether the document is unjudged, or its judgment does not count

    @classmethod
    def of(cls, run: Top, reference: Top, n_queries: int, judged: bool = True) -> PooledDocs:
        """Return the union of two tops; without ``judged``, every document is open."""
        in_run = run.docs.find_rows(reference.docs.query, reference.docs.ids, reference.hashes)
        shared, other = np.flatnonzero(in_run >= 0), np.flatnonzero(in_run < 0)
        z_of_run = np.zeros(len(run.position), dtype=np.int64)
        z_of_run[in_run[shared]] = reference.position[shared]
        query = np.concatenate([run.docs.query, reference.docs.query[other]])
        order = np.argsort(query, kind="stable")

        def join(values_of_run: Any, other_values: Any) -> Any:
            return np.concatenate([values_of_run, other_values])[order]

        y = join(run.position, np.zeros(len(other), dtype=np.int64))
        z = join(z_of_run, reference.position[other])
        grade = join(run.docs.grade, reference.docs.grade[other])
        is_open = ~join(run.docs.judged, reference.docs.judged[other]) | (not judged)
        return cls(query[order], n_queries, y, z, grade, is_open)

    def sums(self, values: FloatArray) -> FloatArray:
        """Return the sum of each query, added in the order of the documents."""
        return sum_by_query(values, self.query, self.n_queries)

    def signed_sums(self, terms: FloatArray) -> FloatArray:
        """Return the sums, and 0 where the terms cancel up to rounding: no ranking wins by 1e-17."""
        total = self.sums(terms)
        return np.where(np.abs(total) > 1e-14 * self.sums(np.abs(terms)), total, 0.0)


class RunPair:
    """Two runs on one set of judgments, and MED with its parameters; computes once what bases have in common."""

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
        check_whole_to((self.run.run, self.reference), cutoff, str(self.measure))
        return self.run.top(cutoff), self.collection.top(self.reference, cutoff)

    @property
    def depth(self) -> int:
        """The cutoff, for a base that needs one."""
        assert self.cutoff is not None
        return self.cutoff

    def gain_for(self, grade: IntArray) -> FloatArray:
        """Return the gain of each grade."""
        if not self.graded:
            return (grade >= (self.measure.get("rel") or 1)).astype(np.float64)
        return compute_gains(grade, self.measure.get("dcg"), self.measure.get("gains"))

    @cached_property
    def gain(self) -> FloatArray:
        """The gain of each document of the pool; the least possible one where open."""
        return np.where(self.pool.open, self.floor, self.gain_for(self.pool.grade))

    @cached_property
    def open_gains(self) -> FloatArray:
        """The gains that an open document may have, ascending."""
        if not self.graded:
            return np.array([0.0, 1.0])
        # From the lowest label on, since custom gains may reward one below 1.
        return np.unique(self.gain_for(grades_between(self.collection.grades[0], self.highest)))

    @property
    def floor(self) -> float:
        """The least gain of a document: above 0 where custom gains reward every label."""
        return float(self.open_gains[0])

    @property
    def levels(self) -> FloatArray:
        """The larger gains, ascending."""
        return self.open_gains[1:]

    @property
    def highest(self) -> int:
        """The highest grade that a document may have."""
        limit = self.measure.get("max_grade")
        return int(self.collection.grades[1] if limit is None else limit)

    def judged_at(self, levels: FloatArray) -> IntArray:
        """Count the judged documents of each query with at least each of these gains; shape (queries, levels)."""
        docs = self.collection.documents
        if not self.measure.get("judged"):
            return np.zeros((docs.n_queries, len(levels)), dtype=np.int64)

        def count() -> IntArray:
            gain, n = self.gain_for(docs.grade), docs.n_queries
            counts = [np.bincount(docs.query[gain >= level], minlength=n) for level in levels]
            return np.array(counts, dtype=np.int64).reshape(len(levels), n).T

        rel, dcg, gains = map(self.measure.get, ("rel", "dcg", "gains"))
        key = "judged at", self.graded, rel, dcg, str(gains), levels.tobytes()
        return self.collection.memoize(key, count)

    def tail(self) -> FloatArray:
        """Return the share of RBP below the run, and below the reference, shape (2, queries)."""
        pool = self.pool
        retrieved = pool.query[pool.y > 0], pool.query[pool.z > 0]
        lengths = np.stack([np.bincount(query, minlength=pool.n_queries) for query in retrieved])
        if not self.measure.get("residual"):
            return np.zeros(lengths.shape)
        alike = np.ones(pool.n_queries, dtype=bool)
        alike[pool.query[pool.y != pool.z]] = False
        same = self._same_to_the_end(alike) if alike.any() else alike
        return np.where(~same, Geometric(self.measure.get("p")).seen(lengths + 1), 0.0)

    def _same_to_the_end(self, alike: BoolArray) -> BoolArray:
        """Return whether both runs rank each topic equally; ValueError where cut rankings may go on equally."""
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


#: From two runs to the largest difference of each query.
Solver: TypeAlias = Callable[[RunPair], FloatArray]


def register(*bases: str) -> Callable[[Solver], Solver]:
    """Return a decorator that registers a solver for some bases: it maximizes the difference of two runs."""

    def add(solve: Solver) -> Solver:
        SEARCHES.register(*bases)(lambda run, measure: solve(RunPair(run, measure)))
        return solve

    return add


def larger_difference(differences: FloatArray) -> FloatArray:
    """Return the larger of the differences in either direction, shape (2, queries)."""
    return differences.max(axis=0).clip(0.0, 1.0)


@register("P", "RBP", "SDCG")
def solve_weighted_precision(task: RunPair) -> FloatArray:
    """Solve a static weighted-precision measure (Eqs. 2-5): one greedy labeling for each direction (§1)."""
    pool, levels = task.pool, task.levels
    share = RULES[task.base].rule(task.measure.get).seen.share
    weight = share(pool.y) - share(pool.z)
    tail = task.tail() if task.base == "RBP" else np.zeros((2, pool.n_queries))
    most = np.append(task.floor, levels)[-1:]
    judged = pool.signed_sums(ratio(task.gain, most) * weight)
    free = np.where(pool.open & (len(levels) > 0), weight * (1.0 - ratio(np.array([task.floor]), most)), 0.0)
    up, down = swings(free, pool.query, pool.n_queries)
    return larger_difference(np.stack([judged + up + tail[0], -judged - down + tail[1]]))


@register("nDCG")
def solve_ndcg(task: RunPair) -> FloatArray:
    """Solve nDCG over all gains that an open document may have; with only one, this is Algorithm 1.

    With n_l the number of open documents that are given at least level l, both halves of the ratio are sums over the
    levels. The difference of the two DCGs is at most ``judged + Σ_l Δ_l·D(n_l)``. Δ_l is the gain of a level above that
    of the one before, D(n) the sum of the n largest differences of discounts. The ideal DCG is ``Σ_l Δ_l·C(min(k, J_l +
    n_l))``. C(n) is the sum of the first n discounts, J_l the number of judged documents of at least that level.
    """
    pool, levels = task.pool, task.levels
    weight = discount(pool.y) - discount(pool.z)
    judged = pool.signed_sums(task.gain * weight)
    free = np.where(pool.open & (len(levels) > 0), np.maximum(np.stack([weight, -weight]), 0.0), 0.0)
    most = max(int(np.bincount(pool.query[part > 0], minlength=1).max()) for part in free)
    size = task.judged_at(levels)[:, :, None] + np.arange(most + 1)
    n_open = np.bincount(pool.query[pool.open], minlength=pool.n_queries)
    floor_size = task.judged_at(np.array([task.floor]))[:, 0] + n_open  # their gain is the least anyway
    if task.cutoff is not None:
        size, floor_size = np.minimum(size, task.cutoff), np.minimum(floor_size, task.cutoff)
    sums_of_discounts = np.cumsum(discount.up_to(int(max(size.max(initial=0), floor_size.max(initial=0)))))
    ideal, floor = sums_of_discounts[size], task.floor * sums_of_discounts[floor_size]
    differences = np.zeros((2, pool.n_queries))
    for i, sign in enumerate((1.0, -1.0)):
        won = sum_largest(free[i], pool.query, pool.n_queries, most + 1)
        sums = LevelSums(
            (sign * judged, np.broadcast_to(won[:, None, :], ideal.shape)),
            (floor, ideal),
            np.full(pool.n_queries, most),
            step=np.diff(levels, prepend=task.floor),
            falling=True,
        )
        differences[i] = sums.greatest_positive()
    return larger_difference(differences)


@register("RR")
def solve_rr(task: RunPair) -> FloatArray:
    """Solve reciprocal rank: one open document alone is relevant, or none."""
    pool, relevant = task.pool, task.gain > 0
    worth = [reciprocal(pool.y), reciprocal(pool.z)]
    judged = np.array([max_by_query(w[relevant], pool.query[relevant], pool.n_queries) for w in worth])
    y, z = (w[pool.open] for w in worth)
    query = pool.query[pool.open]
    either = greatest_lead(y, z, judged, query), greatest_lead(z, y, judged[::-1], query)
    return larger_difference(np.stack(either))
