"""nDCG (Järvelin and Kekäläinen, 2002). For UE it is DCG, and graded by ``dcg='exp-log2'`` there by default."""

from __future__ import annotations

import numpy as np

from ...data.arrays import rank_within
from ..med_pairs import LevelSums, RunPair, Solutions, decide, search, sums_of_first
from .base import Base, Chance, Difference, deviation_of_sum, expected_sum
from .browsing import LogDiscount
from .gains import discount


def greatest_difference(task: RunPair) -> Solutions:
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


nDCG = Base(
    name="nDCG",
    parameters=("norm", "dcg", "gains"),
    gain="label",
    browsing=lambda get: LogDiscount(),
    residual="sum",
    chance=Chance(
        value=lambda ranking, get: ranking.sum(LogDiscount()),
        expected=lambda pool: expected_sum(pool.mean_gain, pool.depth, LogDiscount()),
        deviation=lambda pool: deviation_of_sum(pool, LogDiscount()),
    ),
    difference=Difference(
        solve=greatest_difference, parameters=("rel", "dcg", "gains", "max_grade"), graded=True
    ),
)

mean_nDCG = Base(
    name="mean_nDCG", difference=Difference(solve=search, parameters=("rel",), needs_cutoff=True)
)
