"""The measures whose differences MED maximizes, as data. A new base is an entry of :data:`BASES`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ...arrays import BoolArray, FloatArray, IntArray
from ...messages import warn
from ..gains import check_grades, discount, gain_of, grades_between, persistence
from .pool import Pool, pool_tops, same_rankings
from .solvers import Solutions, med_ndcg, med_rr, med_weighted

if TYPE_CHECKING:
    from ...comparison import Comparison, JudgedTop
    from ...extremes.exact import Solution
    from ...rankings import Rankings


class Task:
    """Two runs on one set of judgments, and the parameters: what a base asks for, computed once.

    Args:
        comparison: the evaluated run, beside the context.
        reference: the other run.
        params: the value of every parameter of MED, by name; None where it was not given.
        text: the measure, for messages.
    """

    def __init__(
        self, comparison: Comparison, reference: Rankings, params: dict[str, Any], text: str
    ) -> None:
        self.comparison = comparison
        self.reference = reference
        self.params = params
        self.text = text
        self.base = BASES[params["base"]]
        self.cutoff: int | None = params["cutoff"]

    @property
    def graded(self) -> bool:
        """Whether an open document may take any grade, or is relevant or not."""
        return self.base.graded and self.params["rel"] is None

    @cached_property
    def pool(self) -> Pool:
        """The documents of the two rankings."""
        run, reference = self._tops(self.cutoff)
        return pool_tops(run, reference, self.comparison.judgments.n_queries, self.params["judged"])

    def _tops(self, cutoff: int | None) -> tuple[JudgedTop, JudgedTop]:
        judged = self.comparison.judged
        return judged.top(self.comparison.rankings, cutoff), judged.top(self.reference, cutoff)

    def gain_of(self, grade: IntArray) -> FloatArray:
        """The gain of each grade."""
        if not self.graded:
            return (grade >= (self.params["rel"] or 1)).astype(np.float64)
        return gain_of(grade, self.params["dcg"], self.params["gains"])

    @cached_property
    def gain(self) -> FloatArray:
        """The gain of each document of the pool, 0 where open."""
        return np.where(self.pool.open, 0.0, self.gain_of(self.pool.grade))

    @cached_property
    def levels(self) -> tuple[FloatArray, IntArray]:
        """The gains above 0 that a document may have, ascending, and a label that gives each."""
        if not self.graded:
            return np.ones(1), np.array([self.params["rel"] or 1])
        lowest = self.comparison.grades[0]  # custom gains may reward a label below 1
        grades = grades_between(lowest, self.highest)
        gains, first = np.unique(self.gain_of(grades), return_index=True)
        return gains[gains > 0], grades[first][gains > 0]

    @property
    def highest(self) -> int:
        """The highest grade that a document may have."""
        limit, highest = self.params["max_grade"], self.comparison.grades[1]
        if limit is None:
            return highest
        if self.params["judged"]:
            check_grades(self.text, self.comparison.judgments, limit)
        return int(limit)

    def judged_at(self, levels: FloatArray) -> IntArray:
        """How many judged documents of each query have at least each of these gains; (queries, levels)."""
        docs = self.comparison.judgments
        if not self.params["judged"]:
            return np.zeros((docs.n_queries, len(levels)), dtype=np.int64)

        def count() -> IntArray:
            gain = self.gain_of(docs.grade)
            result = np.zeros((docs.n_queries, len(levels)), dtype=np.int64)
            for i, level in enumerate(levels):
                result[:, i] = np.bincount(docs.query[gain >= level], minlength=docs.n_queries)
            return result

        gains = self.params["gains"]
        mapped = None if gains is None else tuple(sorted(gains.items()))
        key = "judged at", self.graded, self.params["rel"], self.params["dcg"], mapped, levels.tobytes()
        return self.comparison.judged.cached(key, count)

    def tail(self) -> FloatArray:
        """What RBP leaves to what may follow the run, and the reference, shape (2, queries)."""
        pool, reading = self.pool, self.params["residual"]
        lengths = np.stack([(pool.y > 0).sum(axis=1), (pool.z > 0).sum(axis=1)])
        if reading is False or (reading == "at-cutoff" and self.cutoff is None):
            return np.zeros(lengths.shape)
        reached = lengths == self.cutoff if reading == "at-cutoff" else np.ones(lengths.shape, dtype=bool)
        alike = reached.any(axis=0) & (pool.y == pool.z).all(axis=1)
        same = same_rankings(*self._tops(None), alike) if alike.any() else alike
        result: FloatArray = np.where(reached & ~same, persistence(self.params["p"])(lengths + 1), 0.0)
        return result


@dataclass(frozen=True)
class Base:
    """A measure whose difference is maximized.

    Attributes:
        solve: finds the largest difference of every query.
        graded: whether an open document may take any grade.
        needs_cutoff: whether it is nothing without ``@k``.
        parameters: those of MED's parameters that only some bases have, and this one has.
    """

    solve: Callable[[Task], Solutions]
    parameters: frozenset[str] = frozenset()
    graded: bool = False
    needs_cutoff: bool = False


def _weighted(weight_of: Callable[[Task, IntArray], FloatArray]) -> Callable[[Task], Solutions]:
    """A static weighted-precision measure, by its W(i) (Eqs. 2-5): 0 at position 0, which is not retrieved."""

    def solve(task: Task) -> Solutions:
        pool = task.pool
        weight = weight_of(task, pool.y) - weight_of(task, pool.z)
        tail = task.tail() if "residual" in task.base.parameters else np.zeros((2, len(weight)))
        return med_weighted(pool, weight, task.gain, task.levels[0], tail)

    return solve


def _weight_in_p(task: Task, position: IntArray) -> FloatArray:
    """1/k."""
    return (position > 0).astype(np.float64) / (task.cutoff or 1)


def _weight_in_rbp(task: Task, position: IntArray) -> FloatArray:
    """(1 - p)·p^(i - 1)."""
    p = float(task.params["p"])
    return (1.0 - p) * persistence(p)(position)


def _weight_in_sdcg(task: Task, position: IntArray) -> FloatArray:
    """1/(S_k·log2(1 + i)), with the S_k that makes the k weights sum to 1."""
    scale = float(discount(np.arange(1, _k(task) + 1)).sum())
    return discount(position) / scale


def _solve_ndcg(task: Task) -> Solutions:
    levels, _ = task.levels
    return med_ndcg(task.pool, task.gain, levels, task.judged_at(levels), task.cutoff)


def _solve_rr(task: Task) -> Solutions:
    return med_rr(task.pool, task.gain > 0)


def _solve_err(task: Task) -> Solutions:
    from ...extremes.exact import med_err

    label = np.where(task.pool.open, -1, np.maximum(task.pool.grade, 0))
    highest = task.highest

    def solve(row: int, n: int) -> Solution:
        y, z = task.pool.y[row, :n], task.pool.z[row, :n]
        return med_err(
            y, z, label[row, :n], cutoff=_k(task), max_grade=highest, time_limit=task.params["time_limit"]
        )

    return _one_by_one(task, solve)


def _solve_sum_precision(norm: str | None) -> Callable[[Task], Solutions]:
    """SSP, AP and Q, which has a β; the norm, where it is the base's own."""

    def solve_all(task: Task) -> Solutions:
        from ...extremes.exact import med_blended, med_sum_precision

        relevant: BoolArray = ~task.pool.open & (task.gain_of(task.pool.grade) > 0)
        label = np.where(task.pool.open, -1, relevant)
        elsewhere = task.judged_at(np.ones(1))[:, 0] - relevant.sum(axis=1)
        blended = "beta" in task.base.parameters
        med: Any = partial(med_blended, beta=task.params["beta"]) if blended else med_sum_precision

        def solve(row: int, n: int) -> Solution:
            y, z = task.pool.y[row, :n], task.pool.z[row, :n]
            # Deeper than both rankings, and than there may be relevant documents, k changes nothing; but SSP's divisor.
            enough = max(int(y.max(initial=1)), int(z.max(initial=1)), n + int(elsewhere[row]))
            found: Solution = med(
                y,
                z,
                label[row, :n],
                cutoff=_k(task) if norm == "k" else min(_k(task), enough),
                norm=norm or task.params["norm"],
                other_relevant=int(elsewhere[row]),
                time_limit=task.params["time_limit"],
            )
            return found

        return _one_by_one(task, solve)

    return solve_all


def _k(task: Task) -> int:
    assert task.cutoff is not None  # the declaration asks for it
    return task.cutoff


def _one_by_one(task: Task, solve: Callable[[int, int], Solution]) -> Solutions:
    """Asks a solver that takes one query at a time. In a row of the pool the documents come first, then padding."""
    pool = task.pool
    sizes = ((pool.y > 0) | (pool.z > 0)).sum(axis=1).tolist()
    found = [solve(row, n) for row, n in enumerate(sizes)]
    level = np.zeros(pool.y.shape, dtype=np.int64)
    for row, solution in zip(level, found, strict=True):
        row[: len(solution.labels)] = solution.labels
    value, lower, upper = (
        np.array([getattr(s, what) for s in found], dtype=np.float64) for what in ("value", "lower", "upper")
    )
    upper = np.minimum(upper, 1.0)  # no base goes beyond, so that a value of 1 is exact
    exact = np.array([s.exact for s in found], dtype=bool) | (upper <= value)
    winner = np.array([s.winner for s in found], dtype=np.int64)
    if not exact.all():
        warn(
            f"{task.text}: {task.params['time_limit']:g} s were not enough for {(~exact).sum()} of {len(exact)} "
            "queries; their values are the largest differences found, and the true ones may be larger by up to "
            f"{(upper - lower)[~exact].max():.4f}: raise time_limit, or lower the cutoff"
        )
    return Solutions(value, lower, upper, exact, winner, np.where(pool.open, level, 0))


#: The bases of MED.
BASES = {
    "P": Base(_weighted(_weight_in_p), frozenset({"rel"}), needs_cutoff=True),
    "RBP": Base(_weighted(_weight_in_rbp), frozenset({"rel", "p", "residual"})),
    "SDCG": Base(
        _weighted(_weight_in_sdcg),
        frozenset({"rel", "dcg", "gains", "max_grade"}),
        graded=True,
        needs_cutoff=True,
    ),
    "nDCG": Base(_solve_ndcg, frozenset({"rel", "dcg", "gains", "max_grade"}), graded=True),
    "RR": Base(_solve_rr, frozenset({"rel"})),
    "SSP": Base(_solve_sum_precision("k"), frozenset({"rel", "time_limit"}), needs_cutoff=True),
    "AP": Base(_solve_sum_precision(None), frozenset({"rel", "norm", "time_limit"}), needs_cutoff=True),
    "Q": Base(
        _solve_sum_precision(None), frozenset({"rel", "norm", "beta", "time_limit"}), needs_cutoff=True
    ),
    "ERR": Base(_solve_err, frozenset({"max_grade", "time_limit"}), graded=True, needs_cutoff=True),
}


def bases_with(parameter: str) -> tuple[str, ...]:
    """The names of the bases that have a parameter."""
    return tuple(name for name, base in BASES.items() if parameter in base.parameters)
