"""The bases of MED: how the difference of each is maximized over the labels of the unjudged documents."""

from __future__ import annotations

import numpy as np

from ..data.arrays import max_by_query, rank_within
from .bases.gains import discount, reciprocal
from .med_pairs import (
    Difference,
    LevelSums,
    RunPair,
    Solutions,
    decide,
    greatest_lead,
    search,
    sums_of_first,
    weighted,
)


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


_GRADED = ("rel", "dcg", "gains", "max_grade")

#: How the difference of each base is maximized.
BASES = {
    "AP": Difference(solve=search, parameters=("rel", "norm", "time_limit"), needs_cutoff=True),
    "SSP": Difference(solve=search, parameters=("rel", "time_limit"), needs_cutoff=True),
    "ERR": Difference(solve=search, parameters=("max_grade", "time_limit"), needs_cutoff=True, graded=True),
    "nDCG": Difference(solve=greatest_ndcg_difference, parameters=_GRADED, graded=True),
    "mean_nDCG": Difference(solve=search, parameters=("rel",), needs_cutoff=True),
    "P": Difference(solve=weighted, parameters=("rel",), needs_cutoff=True),
    "RBP": Difference(solve=weighted, parameters=("rel", "p", "residual")),
    "RR": Difference(solve=greatest_rr_difference, parameters=("rel",)),
    "SDCG": Difference(solve=weighted, parameters=_GRADED, needs_cutoff=True, graded=True),
}
