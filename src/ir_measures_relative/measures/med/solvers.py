"""The largest difference of two rankings, for the measures whose labelings need no search."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...arrays import BoolArray, FloatArray, IntArray, ratio, row_sums
from ..gains import discount, reciprocal
from .pool import Pool


class Solutions(NamedTuple):
    """The largest difference of each query, and what attains it."""

    value: FloatArray
    lower: FloatArray
    upper: FloatArray
    exact: BoolArray
    winner: IntArray  #: 1 the run, -1 the reference, 0 where no labeling tells the two apart
    level: IntArray  #: shape (queries, documents): the gain level given to each open one, from 1; 0 is none


def med_weighted(
    pool: Pool, weight: FloatArray, gain: FloatArray, levels: FloatArray, tail: FloatArray
) -> Solutions:
    """MED of a static weighted-precision measure (§1): one greedy labeling for each direction.

    Args:
        weight: W(y) - W(z) of every document.
        gain: of every document, 0 where open.
        levels: the gains above 0 that a document may have, ascending; the value is relative to the last.
        tail: what the run, and what the reference, may gain below the cutoff; shape (2, queries).
    """
    both = np.stack([weight, -weight])
    known = _signed_sum(ratio(gain, levels[-1:]) * weight) if len(levels) else np.zeros(len(gain))
    free = np.where(pool.open & (len(levels) > 0), np.maximum(both, 0.0), 0.0)
    return _decide(np.stack([known, -known]) + row_sums(free) + tail, np.where(free > 0, len(levels), 0))


def med_rr(pool: Pool, relevant: BoolArray) -> Solutions:
    """MED of reciprocal rank.

    A labeling that makes the first relevant document of the winner relevant, and no other, is as good as any:
    the others can only raise the loser. So it is enough to try each open document, and none.

    Args:
        relevant: whether a document is judged relevant.
    """
    inverse = np.stack([reciprocal(pool.y), reciprocal(pool.z)])
    judged = (inverse * relevant).max(axis=2, initial=0.0)
    single = np.where(pool.open, np.maximum(inverse, judged[:, :, None]), judged[:, :, None])
    # Column 0 is the labeling that makes no open document relevant; argmax prefers it.
    tried = np.concatenate([judged[:, :, None], single], axis=2)
    both = np.stack([tried[0] - tried[1], tried[1] - tried[0]])
    best = both.argmax(axis=2)[:, :, None]
    chosen = np.arange(1, both.shape[2]) == best
    return _decide(np.take_along_axis(both, best, axis=2)[:, :, 0], chosen.astype(np.int64))


def med_ndcg(
    pool: Pool, gain: FloatArray, levels: FloatArray, judged_at: IntArray, cutoff: int | None
) -> Solutions:
    """MED of nDCG over all gains that an open document may have; Algorithm 1 where there is but one.

    With n_l the number of open documents that are given at least level l, both halves of the ratio are sums
    over the levels: the difference of the two DCGs is at most ``known + Σ_l Δ_l·D(n_l)``, where Δ_l is the
    gain of a level above that of the one before and D(n) the sum of the n largest differences of discounts
    (the larger gains go to the larger differences), and the ideal DCG is ``Σ_l Δ_l·C(min(k, J_l + n_l))``,
    where C(n) is the sum of the first n discounts and J_l the number of judged documents of at least that
    level. Dinkelbach's iteration turns the largest ratio into a few maximizations of ``Σ_l Δ_l·(D(n_l) -
    λ·C(min(k, J_l + n_l)))``, λ being the ratio reached so far. Each level is then free to take its own best
    n_l: n_1 ≥ n_2 ≥ … comes by itself, since J_1 ≥ J_2 ≥ … and the discounts fall, so that one more document
    never costs a lower level more than a higher.

    Args:
        gain: of every document, 0 where open.
        levels: the gains above 0 that a document may have, ascending.
        judged_at: J_l of each query, documents outside the rankings included; shape (queries, levels).
    """
    weight = discount(pool.y) - discount(pool.z)
    known = _signed_sum(gain * weight)
    known = np.stack([known, -known])
    free = np.where(pool.open, np.maximum(np.stack([weight, -weight]), 0.0), 0.0)
    order = np.argsort(-free, axis=2, kind="stable")
    most = int((free > 0).sum(axis=2).max(initial=0))
    won = np.zeros((*known.shape, most + 1))
    np.cumsum(np.take_along_axis(free, order[:, :, :most], axis=2), axis=2, out=won[:, :, 1:])
    step = np.diff(levels, prepend=0.0)
    size = judged_at[:, :, None] + np.arange(most + 1)
    if cutoff is not None:
        size = np.minimum(size, cutoff)
    ideal = np.cumsum(discount.up_to(int(size.max(initial=0))))[size]

    best = np.zeros(known.shape)
    count = np.zeros((*known.shape, len(levels)), dtype=np.int64)
    while True:
        n = (won[:, :, None, :] - best[:, :, None, None] * ideal).argmax(axis=3)
        n = np.minimum.accumulate(n, axis=2)  # for ties that rounding broke
        numerator = known + row_sums(step * np.take_along_axis(won, n, axis=2))
        denominator = row_sums(step * np.take_along_axis(ideal[None], n[..., None], axis=3)[..., 0])
        value = ratio(numerator, denominator)
        better = value > best
        if not better.any():
            break
        best[better], count[better] = value[better], n[better]
    # From the place of a document in its order to the number of levels that reach down to it.
    reached = (np.arange(order.shape[2])[:, None] < count[:, :, None, :]).sum(axis=3)
    level = np.zeros(order.shape, dtype=np.int64)
    np.put_along_axis(level, order, reached, axis=2)
    return _decide(best, level)


def _decide(both: FloatArray, level: IntArray) -> Solutions:
    """The better of the two directions, the run's first: shapes (2, queries) and (2, queries, documents)."""
    run_wins = both[0] >= both[1]
    value = both.max(axis=0).clip(0.0, 1.0)
    winner = np.where(value > 0, np.where(run_wins, 1, -1), 0)
    exact = np.ones(len(value), dtype=bool)
    return Solutions(value, value, value, exact, winner, np.where(run_wins[:, None], level[0], level[1]))


def _signed_sum(terms: FloatArray) -> FloatArray:
    """The sum of each row, and 0 where the terms cancel but for rounding: no ranking wins by 1e-17."""
    total = row_sums(terms)
    return np.where(np.abs(total) > 1e-14 * row_sums(np.abs(terms)), total, 0.0)
