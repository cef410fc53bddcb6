"""MED's searches: AP, SSP and ERR by branch and bound; mean_nDCG by trying each number of labels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from ..data.arrays import BoolArray, IntArray, max_by_query, query_slices
from ..measures.bases.gains import discount
from ..messages import warn
from ..tolerances import PROVED
from ..work import Work
from .ap_search import OPEN, Norm, Search
from .err import expected_reciprocal_rank, greatest_err_difference
from .intervals import MED_SECONDS, Clock, share
from .med_pairs import RunPair, Solutions, register


@dataclass(frozen=True)
class Solution:
    """The largest difference found, a proven bound, and the labeling that attains it."""

    value: float  #: ``|M(Y) - M(Z)|`` under `labels`, evaluated from the definition of M
    upper: float  #: no labeling exceeds this; equal to `value` when `exact`
    exact: bool  #: whether `value` is within :data:`~ir_measures_relative.tolerances.PROVED` of the maximum
    winner: int  #: +1 if `labels` makes M(Y) the larger, -1 if M(Z), 0 if `value` is 0
    labels: IntArray  #: shape (documents,); the input labels with every open one set to 0 or to the top label

    @classmethod
    def of(cls, difference: float, upper: float, labels: IntArray) -> Solution:
        """The solution for a signed `difference` M(Y) - M(Z), proved optimal if `upper` allows no more."""
        value = min(float(abs(difference)), 1.0)  # a score is in [0, 1], and a sum may round to more
        exact = bool(upper <= value + PROVED)
        winner = int(difference > 0) - int(difference < 0)
        # No difference exceeds 1, whatever the bound of an interrupted search.
        return cls(value, value if exact else min(float(upper), 1.0), exact, winner, labels)


def med_sum_precision(
    y: npt.ArrayLike,
    z: npt.ArrayLike,
    label: npt.ArrayLike,
    *,
    cutoff: int,
    norm: Norm,
    other_relevant: int = 0,
    clock: Clock | None = None,
) -> Solution:
    """The largest ``|M(Y) - M(Z)|`` over all labelings of the open documents, M = SP@k / N.

    N is k for ``norm="k"`` (SSP, Eq. 10), the number of relevant documents R for "R" (AP, Eq. 8), min(k, R)
    for "min" (AP, Eq. 9); 0/0 is 0. ``y`` and ``z`` are the positions of the documents of the two lists, from 1, 0 if
    absent; ``label`` is -1 where open. ``other_relevant`` documents in neither list count in R.
    """
    search = Search(*_cut(y, z, label, cutoff), cutoff, norm, other_relevant)
    search.run(clock or Clock(MED_SECONDS))
    return Solution.of(search.difference, search.upper, search.best)


def med_err(
    y: npt.ArrayLike,
    z: npt.ArrayLike,
    grade: npt.ArrayLike,
    *,
    cutoff: int,
    max_grade: int,
    clock: Clock | None = None,
) -> Solution:
    """The largest ``|ERR@k(Y) - ERR@k(Z)|`` over all gradings of the open documents, which have ``grade`` -1."""
    if not 1 <= max_grade <= 1000:  # 2^max_grade must be a float
        raise ValueError(f"max_grade must be from 1 to 1000, got {max_grade}")
    y, z, grade = _cut(y, z, grade, cutoff)
    # How likely the user goes on at each document, with the top grade where it is open, and with grade 0: 1 - (2^g -
    # 1)/2^max_grade, written so that it is never rounded to 0.
    low, high = (
        (2.0**max_grade - 2.0 ** np.where(grade == OPEN, label, grade) + 1) / 2.0**max_grade
        for label in (max_grade, 0)
    )
    clock = clock or Clock(MED_SECONDS)
    value, upper, go_on = greatest_err_difference(y, z, low, high, clock)
    difference = float(expected_reciprocal_rank(y, go_on) - expected_reciprocal_rank(z, go_on))
    labels = np.where(grade == OPEN, np.where(go_on < high, max_grade, 0), grade)
    return Solution.of(difference, max(upper, value), labels)


def med_mean_ndcg(
    y: npt.ArrayLike,
    z: npt.ArrayLike,
    label: npt.ArrayLike,
    *,
    cutoff: int,
    other_relevant: int = 0,
    clock: Clock | None = None,
) -> Solution:
    """The largest difference of ``(1/k) Σ_{i≤k} nDCG@i`` over all labelings of the open documents, binary.

    The ideal DCGs depend only on how many documents are relevant. For a given number each document has a fixed worth
    in each ranking, so the best open documents are those with the largest differences. Each number is tried: exact.

    The arguments, and what is returned: as for `med_sum_precision`. It takes no time to speak of, whatever `clock`.
    """
    y, z, label = _cut(y, z, label, cutoff)
    free, fixed = np.flatnonzero(label == OPEN), np.flatnonzero(label == 1)
    known = len(fixed) + other_relevant
    deepest = min(cutoff, max(int(y.max(initial=1)), int(z.max(initial=1)), known + len(free)))
    seen = discount.up_to(deepest)
    ideal = np.cumsum(seen)
    best, difference, chosen = 0.0, 0.0, free[:0]
    for relevant in range(max(known, 1), known + len(free) + 1):
        of_prefix = 1.0 / ideal[np.minimum(np.arange(1, deepest + 1), relevant)]
        below = (cutoff - deepest) * of_prefix[-1]  # the prefixes that add no document and no ideal one
        worth = np.concatenate([[0.0], seen[1:] * (np.cumsum(of_prefix[::-1])[::-1] + below) / cutoff])
        terms = worth[y] - worth[z]
        for sign in (1.0, -1.0):
            order = free[np.argsort(-sign * terms[free], kind="stable")[: relevant - known]]
            of_both = sign * terms[np.concatenate([fixed, order])]
            value = float(of_both.sum())
            if value > best and value > 1e-14 * float(np.abs(of_both).sum()):  # no ranking wins by rounding
                best, difference, chosen = value, sign * value, order
    labels = np.where(label == OPEN, 0, label)
    labels[chosen] = 1
    return Solution.of(difference, best, labels)


def _cut(
    y: npt.ArrayLike, z: npt.ArrayLike, labels: npt.ArrayLike, cutoff: int
) -> tuple[IntArray, IntArray, IntArray]:
    """The three as arrays, with 0 for positions beyond the cutoff."""
    y, z, labels = (np.asarray(values, dtype=np.int64) for values in (y, z, labels))
    return np.where(y <= cutoff, y, 0), np.where(z <= cutoff, z, 0), labels


#: From positions in two rankings, labels, and ``clock=``, the time it has, to the largest difference of one query.
_OneQuery: TypeAlias = Callable[..., Solution]


@register("ERR")
def _search_err(task: RunPair) -> Solutions:
    label = np.where(task.pool.open, -1, np.maximum(task.pool.grade, 0))
    return _one_by_one(task, label, lambda row: partial(med_err, cutoff=_k(task), max_grade=task.highest))


@register("SSP", "AP")
def _search_sum_precision(task: RunPair) -> Solutions:
    """SSP, whose norm is the cutoff, and AP."""
    pool = task.pool
    relevant: BoolArray = ~pool.open & (task.gain_of(pool.grade) > 0)
    label = np.where(pool.open, -1, relevant)
    elsewhere = task.judged_at(np.ones(1))[:, 0] - np.bincount(pool.query[relevant], minlength=pool.n_queries)
    norm = task.measure.get("norm") if task.base == "AP" else None
    med = partial(med_sum_precision, norm=norm or "k")
    held = np.bincount(pool.query, minlength=pool.n_queries) + elsewhere
    # Deeper than both rankings, and than there may be relevant documents, k changes nothing; but SSP's divisor.
    deepest = [max_by_query(side.astype(float), pool.query, pool.n_queries) for side in (pool.y, pool.z)]
    enough = np.max([*deepest, held], axis=0).clip(1, _k(task))

    def solver(row: int) -> _OneQuery:
        cutoff = int(enough[row]) if norm else _k(task)
        return partial(med, cutoff=cutoff, other_relevant=int(elsewhere[row]))

    return _one_by_one(task, label, solver)


@register("mean_nDCG")
def _search_mean_ndcg(task: RunPair) -> Solutions:
    pool = task.pool
    relevant: BoolArray = ~pool.open & (task.gain_of(pool.grade) > 0)
    elsewhere = task.judged_at(np.ones(1))[:, 0] - np.bincount(pool.query[relevant], minlength=pool.n_queries)
    label = np.where(pool.open, -1, relevant)

    def solver(row: int) -> _OneQuery:
        return partial(med_mean_ndcg, cutoff=_k(task), other_relevant=int(elsewhere[row]))

    return _one_by_one(task, label, solver)


def _k(task: RunPair) -> int:
    assert task.cutoff is not None  # the declaration asks for it
    return task.cutoff


def _one_by_one(task: RunPair, label: IntArray, solver: Callable[[int], _OneQuery]) -> Solutions:
    """Asks a solver a query: for the positions of its documents in the two rankings, and their labels."""
    pool, limit = task.pool, task.measure.get("time_limit")
    work, level = Work(time_limit=limit), np.zeros(len(pool.query), dtype=np.int64)
    found, hurried = [], []
    for row, docs in enumerate(query_slices(pool.query, pool.n_queries)):
        own = share(work, pool.n_queries - row)
        hurried.append(limit is not None and (own.remaining() or 0.0) < MED_SECONDS)
        clock = Clock(MED_SECONDS, own)
        found.append(solver(row)(pool.y[docs], pool.z[docs], label[docs], clock=clock))
        level[docs] = found[-1].labels
    value = np.array([s.value for s in found], dtype=np.float64)
    upper = np.array([min(s.upper, 1.0) for s in found], dtype=np.float64)
    exact = np.array([s.exact for s in found], dtype=bool) | (upper <= value)
    winner = np.array([s.winner for s in found], dtype=np.int64)
    if not exact.all():
        in_time = not (np.array(hurried) & ~exact).any()
        enough = f"{MED_SECONDS:g} s of CPU time each" if in_time else f"{limit:g} s"
        warn(
            f"{task.measure}: {enough} were not enough for {(~exact).sum()} of {len(exact)} queries; their values are "
            "the largest differences found, and the true ones may be larger by up to "
            f"{(upper - value)[~exact].max():.4f}: {'' if in_time else 'raise time_limit, or '}lower the cutoff"
        )
    return Solutions(value, upper, exact, winner, np.where(pool.open, level, 0))
