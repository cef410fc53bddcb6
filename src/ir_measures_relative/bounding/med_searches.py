"""MED's searches: AP, SSP and ERR by branch and bound; mean_nDCG by trying each number of relevant documents.

Source of the difference by ERR: L. Tan and C. L. A. Clarke, TKDE 27(11), 2015.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple, TypeAlias

import numpy as np

from ..data.arrays import BoolArray, FloatArray, IntArray, max_by_query, query_slices
from ..measures.bases.gains import discount
from ..messages import warn
from ..tolerances import PROVED
from .ap_search import OPEN, Norm, Search
from .intervals import MED_SECONDS, Clock, TimeLimit
from .med_pairs import RunPair, register


class Solution(NamedTuple):
    """The largest difference that a search reached, and a proven bound."""

    value: float  #: ``|M(Y) - M(Z)|`` under some labeling
    upper: float  #: no labeling exceeds this; equal to ``value`` within :data:`.PROVED` of the maximum

    @classmethod
    def of(cls, value: float, upper: float) -> Solution:
        """Return the solution for a value that a labeling attains and a bound, neither of which can exceed 1."""
        value, upper = min(float(value), 1.0), min(float(upper), 1.0)  # a sum may round to more
        return cls(value, value if upper <= value + PROVED else upper)

    @property
    def exact(self) -> bool:
        """Whether the value is the largest."""
        return self.upper == self.value


def med_sum_precision(
    y: IntArray,
    z: IntArray,
    label: IntArray,
    *,
    cutoff: int,
    norm: Norm,
    other_relevant: int = 0,
    clock: Clock | None = None,
) -> Solution:
    """Find the largest ``|M(Y) - M(Z)|`` over all labelings of the open documents, M = SP@k / N.

    N is k for ``norm="k"`` (SSP, Eq. 10), the number of relevant documents R for "R" (AP, Eq. 8), min(k, R)
    for "min" (AP, Eq. 9); 0/0 is 0. ``y`` and ``z`` are the positions of the documents in the two lists, from 1 to k, 0
    if absent; ``label`` is -1 where open. ``other_relevant`` documents in neither list count in R.
    """
    search = Search(y, z, label, cutoff, norm, other_relevant)
    search.run(clock or Clock(MED_SECONDS))
    return Solution.of(search.value, search.upper)


def med_mean_ndcg(
    y: IntArray,
    z: IntArray,
    label: IntArray,
    *,
    cutoff: int,
    other_relevant: int = 0,
    clock: Clock | None = None,
) -> Solution:
    """Find the largest difference of ``(1/k) Σ_{i≤k} nDCG@i`` over all binary labelings of the open documents.

    The ideal DCGs depend only on how many documents are relevant. For a given number each document has a fixed worth
    in each ranking, so the best open documents are those with the largest differences. Each number is tried: exact.
    The arguments are those of :func:`med_sum_precision`; the search is so short that it needs no clock.
    """
    free, judged_relevant = np.flatnonzero(label == OPEN), np.flatnonzero(label == 1)
    fewest = len(judged_relevant) + other_relevant
    deepest = min(cutoff, max(int(y.max(initial=1)), int(z.max(initial=1)), fewest + len(free)))
    seen = discount.up_to(deepest)
    ideal = np.cumsum(seen)
    best = 0.0
    for n_relevant in range(max(fewest, 1), fewest + len(free) + 1):
        per_prefix = 1.0 / ideal[np.minimum(np.arange(1, deepest + 1), n_relevant)]
        below = (cutoff - deepest) * per_prefix[-1]  # the prefixes that add no document and no ideal one
        worth = np.concatenate([[0.0], seen[1:] * (np.cumsum(per_prefix[::-1])[::-1] + below) / cutoff])
        terms = worth[y] - worth[z]
        for sign in (1.0, -1.0):
            order = free[np.argsort(-sign * terms[free], kind="stable")[: n_relevant - fewest]]
            relevant_terms = sign * terms[np.concatenate([judged_relevant, order])]
            value = float(relevant_terms.sum())
            if value > best and value > 1e-14 * float(np.abs(relevant_terms).sum()):  # more than rounding
                best = value
    return Solution.of(best, best)


def med_err(
    y: IntArray,
    z: IntArray,
    grade: IntArray,
    *,
    cutoff: int,
    max_grade: int,
    clock: Clock | None = None,
) -> Solution:
    """Find the largest ``|ERR@k(Y) - ERR@k(Z)|`` over all gradings of the open documents, which have ``grade`` -1."""
    if not 1 <= max_grade <= 1000:  # 2^max_grade must be a float
        raise ValueError(f"max_grade must be from 1 to 1000, got {max_grade}")
    # The probability that the user goes on at each document, with the top grade where it is open, and with grade 0: 1 -
    # (2^g - 1)/2^max_grade, written so that it is never rounded to 0.
    low, high = (
        (2.0**max_grade - 2.0 ** np.where(grade == OPEN, label, grade) + 1) / 2.0**max_grade
        for label in (max_grade, 0)
    )
    return _search_by_probabilities(y, z, low, high, clock or Clock(MED_SECONDS))


def _expected_reciprocal_rank(position: IntArray, go_on: FloatArray) -> float:
    """Return the ERR of a ranking; ``go_on`` is the probability that a user goes on after each document."""
    retrieved = np.flatnonzero(position)
    order = retrieved[position[retrieved].argsort()]
    reached = np.append(1.0, np.cumprod(go_on[order]))
    return float(((reached[:-1] - reached[1:]) / position[order]).sum())


def _search_by_probabilities(
    y: IntArray, z: IntArray, low: FloatArray, high: FloatArray, clock: Clock
) -> Solution:
    """Find the largest ``|ERR(y) - ERR(z)|`` by the probabilities to go on after each document.

    The difference is linear in each document's probability, from ``low`` > 0 to ``high``; so only the ends matter.
    """

    def evaluate(go_on: FloatArray) -> float:
        return abs(_expected_reciprocal_rank(y, go_on) - _expected_reciprocal_rank(z, go_on))

    value = evaluate(high)
    if (low == high).all():
        return Solution.of(value, value)
    # A node is a bound, the difference to maximize, and the range of every document.
    stack = [(1.0, _ErrDifference(*pair), low, high) for pair in ((y, z), (z, y))]
    while stack and not clock.expired():
        _, objective, low, high = stack.pop()
        bound, least, greatest = objective.bound(low, high)
        if bound <= value + PROVED:
            continue
        # A slope that has one sign all over the box decides its document.
        falling = greatest <= 0
        rising = (least >= 0) & ~falling
        low, high = np.where(falling, high, low), np.where(rising, low, high)
        value = max(value, evaluate(np.where(least + greatest > 0, low, high)))
        undecided = np.flatnonzero(low < high)
        if len(undecided):
            # Branch on the document that matters most whichever way it is decided.
            branch = undecided[np.minimum(greatest, -least)[undecided].argmax()]
            for side in (high, low):
                lows, highs = low.copy(), high.copy()
                lows[branch] = highs[branch] = side[branch]
                stack.append((bound, objective, lows, highs))
    return Solution.of(value, max([value] + [bound for bound, *_ in stack]))


class _ErrDifference:
    """ERR(winner) - ERR(loser) as a function of the probabilities s_d to go on after each document.

    With S_i the product of s over the first i documents, ERR = 1 - Σ_i w_i S_i, w_i = 1/i - 1/(i+1), or 1/i at the
    last depth. So the difference is Σ_i w_i C_i (L_i - W_i): C_i is the product of s over the documents that both
    retrieve by depth i, L_i and W_i those over what only the loser, or only the winner, does.
    """

    def __init__(self, winner: IntArray, loser: IntArray) -> None:
        depth = np.arange(1, max(winner.max(initial=0), loser.max(initial=0)) + 1)
        won, lost = ((positions > 0) & (positions <= depth[:, None]) for positions in (winner, loser))
        # Whether a document is among those of C_i, W_i, L_i; each of shape (depths, documents).
        self.members = [mask.astype(float) for mask in (won & lost, won & ~lost, lost & ~won)]
        self.weight = 1 / depth - np.where(depth < len(depth), 1 / (depth + 1), 0)

    def bound(self, low: FloatArray, high: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        """Return the upper bound for s in [low, high], and the least and greatest slope ∂/∂(1 - s_d) there."""
        # Products of positive factors are least where all factors are, and greatest where all are.
        common_low, won_low, lost_low = (np.exp(m @ np.log(low)) for m in self.members)
        common_high, won_high, lost_high = (np.exp(m @ np.log(high)) for m in self.members)
        lead_low, lead_high = lost_low - won_high, lost_high - won_low  # L - W
        common_low, common_high = self.weight * common_low, self.weight * common_high

        # ∂/∂r_d = -∂/∂s_d: at every depth, + C W / s_d for a d in W, - C L / s_d in L, - C (L - W) / s_d in C.
        # Such a product without its factor s_d is least, and greatest, at the same corners as the whole.
        def slope(common: FloatArray, won: FloatArray, lost: FloatArray, lead: FloatArray) -> FloatArray:
            in_common, in_won, in_lost = self.members
            return (common * won) @ in_won - (common * lost) @ in_lost - (common * lead) @ in_common

        none = np.zeros_like(lead_low)
        greatest = (
            slope(common_high, won_high, none, np.minimum(lead_low, 0)) / high
            + slope(common_low, none, lost_low, np.maximum(lead_low, 0)) / low
        )
        least = (
            slope(common_low, won_low, none, np.minimum(lead_high, 0)) / low
            + slope(common_high, none, lost_high, np.maximum(lead_high, 0)) / high
        )
        # C (L - W) at every depth; and from either end of the box to any point, one coordinate at a time: the
        # difference, linear in it, grows by a slope found in the box times at most high_d - low_d.
        bound = min(
            (np.where(lead_high > 0, common_high, common_low) * lead_high).sum(),
            (common_high * (lost_high - won_high)).sum() + (high - low) @ np.maximum(greatest, 0),
            (common_low * (lost_low - won_low)).sum() + (high - low) @ np.maximum(-least, 0),
        )
        return float(bound), least, greatest


#: From positions in two rankings, labels, and ``clock=`` to the largest difference of one query.
_OneQuery: TypeAlias = Callable[..., Solution]


@register("ERR")
def _solve_err(task: RunPair) -> FloatArray:
    label = np.where(task.pool.open, OPEN, np.maximum(task.pool.grade, 0))
    solver = partial(med_err, cutoff=task.depth, max_grade=task.highest)
    return _solve_each(task, label, lambda row: solver)


@register("SSP", "AP")
def _solve_sum_precision(task: RunPair) -> FloatArray:
    """Solve SSP, whose norm is the cutoff, and AP."""
    pool, (label, other_relevant) = task.pool, _label_binary(task)
    norm = task.measure.get("norm") if task.base == "AP" else None
    n_docs = np.bincount(pool.query, minlength=pool.n_queries) + other_relevant
    # Deeper than both rankings, and than there may be relevant documents, k changes nothing; but SSP's divisor.
    deepest = [max_by_query(side.astype(float), pool.query, pool.n_queries) for side in (pool.y, pool.z)]
    enough = np.max([*deepest, n_docs], axis=0).clip(1, task.depth)

    def solver(row: int) -> _OneQuery:
        cutoff = int(enough[row]) if norm else task.depth
        return partial(
            med_sum_precision, norm=norm or "k", cutoff=cutoff, other_relevant=int(other_relevant[row])
        )

    return _solve_each(task, label, solver)


@register("mean_nDCG")
def _solve_mean_ndcg(task: RunPair) -> FloatArray:
    label, other_relevant = _label_binary(task)

    def solver(row: int) -> _OneQuery:
        return partial(med_mean_ndcg, cutoff=task.depth, other_relevant=int(other_relevant[row]))

    return _solve_each(task, label, solver)


def _label_binary(task: RunPair) -> tuple[IntArray, IntArray]:
    """Return the labels of the documents, and how many relevant ones of each query are in neither ranking."""
    pool = task.pool
    relevant: BoolArray = ~pool.open & (task.gain_for(pool.grade) > 0)
    n_relevant = np.bincount(pool.query[relevant], minlength=pool.n_queries)
    return np.where(pool.open, OPEN, relevant), task.judged_at(np.ones(1))[:, 0] - n_relevant


def _solve_each(task: RunPair, label: IntArray, solver: Callable[[int], _OneQuery]) -> FloatArray:
    """Solve each query from the positions of its documents in the two rankings, and their labels."""
    pool, seconds = task.pool, task.measure.get("time_limit")
    limit, solutions, hurried = TimeLimit(seconds), [], []
    for row, docs in enumerate(query_slices(pool.query, pool.n_queries)):
        part = limit.share(pool.n_queries - row)
        hurried.append(part.remaining() < MED_SECONDS)
        clock = Clock(MED_SECONDS, part)
        solutions.append(solver(row)(pool.y[docs], pool.z[docs], label[docs], clock=clock))
    value, upper = (np.array([s[end] for s in solutions], dtype=np.float64) for end in (0, 1))
    exact = upper == value
    if not exact.all():
        in_time = not (np.array(hurried) & ~exact).any()
        enough = f"{MED_SECONDS:g} s of CPU time each" if in_time else f"{seconds:g} s"
        warn(
            f"{task.measure}: {enough} were not enough for {(~exact).sum()} of {len(exact)} queries; their values are "
            "the largest differences found, and the true ones may be larger by up to "
            f"{(upper - value)[~exact].max():.4f}: {'' if in_time else 'raise time_limit, or '}lower the cutoff"
        )
    return value
