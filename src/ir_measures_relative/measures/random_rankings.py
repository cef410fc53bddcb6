"""What a random ranking of a pool is worth, and where a value lies between that and a perfect ranking.

Means and standard deviations are over all rankings of the pool, and exact.

A pool has n documents, of which some are judged relevant or have a gain; the others have none. All its rankings are
equally likely. ``depth`` is min(k, n) throughout. Where a mean depends on whole numbers alone, it is computed once for
each combination, however many queries share it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..arrays import FloatArray, IntArray, max_by_query, ratio, row_sums, sum_by_query, table
from .browsing import BrowsingModel, LogDiscount
from .gains import reciprocal


class Normalizers(NamedTuple):
    """What a ranking is measured against, one value a query."""

    upper: FloatArray  #: IUB: the value of a perfect ranking of the pool
    expected: FloatArray  #: REB: the mean over all rankings of the pool
    room: FloatArray | None = None  #: IUB - REB, where rounding would not leave it
    deviation: FloatArray | None = None  #: σ: the standard deviation over all rankings of the pool


def normalize(actual: FloatArray, normalizers: Normalizers, version: int | str) -> FloatArray:
    """A@k normalized by IUB and REB: version 1 (Eq. 5), 2 (Eq. 6), or (A - REB)/σ ('z'); 0/0 is 0.

    Args:
        actual: A@k of each query, at least 0; above IUB by rounding alone, which is taken off.
    """
    upper, expected, room, deviation = normalizers
    actual = np.minimum(actual, upper)
    if version == 1:
        return ratio(actual, upper) * ratio(actual, actual + expected)
    above = actual - expected
    if room is None:
        room = upper - expected
    else:
        above = np.where(above >= 0, room - (upper - actual), above)
    if version == "z":
        assert deviation is not None  # UE asks for a base that has one
        return ratio(above, deviation)
    return ratio(above, np.where(above >= 0, room, expected))


class PoolGains(NamedTuple):
    """The gains of the documents of each query's pool; those that are not here gain nothing."""

    gain: FloatArray  #: above 0
    query: IntArray  #: ascending
    size: IntArray  #: n of each query


def expected_sum(mean_gain: FloatArray, depth: IntArray, browsing: BrowsingModel) -> FloatArray:
    """E[Σ_{i≤k} w(i)·g(d_i)] of a random ranking: every position holds the pool's mean gain.

    Args:
        mean_gain: of the pool of each query.
        depth: min(k, n), n the size of the pool.
        browsing: whose ``seen`` is w.
    """
    return mean_gain * _partial_sums(browsing.seen(np.arange(1, _longest(depth) + 1)))[depth]


def expected_dcg(mean_gain: FloatArray, depth: IntArray) -> FloatArray:
    """E[DCG@k] (Eq. 7): :func:`expected_sum` with nDCG's discount."""
    return expected_sum(mean_gain, depth, LogDiscount())


def deviation_of_sum(pool: PoolGains, depth: IntArray, browsing: BrowsingModel) -> FloatArray:
    """The standard deviation of Σ_{i≤k} w(i)·g(d_i), a linear rank statistic.

    ``Var = Σ_i (w_i - w̄)² · Σ_d (g_d - ḡ)² / (n - 1)`` over all n positions, w being 0 beyond k, and all n documents.
    """
    n_queries = len(pool.size)
    size = pool.size.astype(np.float64)
    highest = max_by_query(pool.gain, pool.query, n_queries)
    gain = ratio(pool.gain, highest[pool.query])  # up to 1, whose square is a number
    order = np.lexsort((gain, pool.query))  # whichever order the qrels have
    gain, query = gain[order], pool.query[order]
    mean = ratio(sum_by_query(gain, query, n_queries), size)
    without = size - np.bincount(query, minlength=n_queries)
    of_gains = sum_by_query((gain - mean[query]) ** 2, query, n_queries) + without * mean**2

    def of_weights(size: IntArray, depth: IntArray) -> FloatArray:
        weights = browsing.seen(np.arange(1, _longest(depth) + 1))
        mean = ratio(_partial_sums(weights)[depth], size.astype(np.float64))
        inside = np.arange(1, len(weights) + 1) <= depth[:, None]
        squares = np.where(inside, (weights - mean[:, None]) ** 2, 0.0)
        return row_sums(squares) + (size - depth) * mean**2

    result: FloatArray = highest * np.sqrt(
        ratio(_once_each(of_weights, pool.size, depth) * of_gains, size - 1.0)
    )
    return result


def expected_count(relevant: IntArray, pool: IntArray, depth: IntArray) -> FloatArray:
    """E of the number of relevant documents in the top k: ``min(k, n)·m/n``.

    Args:
        relevant: m, the number of relevant documents in the pool of each query.
        pool: n, the number of documents in it.
        depth: min(k, n).
    """
    return ratio((depth * relevant).astype(np.float64), pool.astype(np.float64))


def deviation_of_count(relevant: IntArray, pool: IntArray, depth: IntArray) -> FloatArray:
    """The standard deviation of a hypergeometric number: ``√(d·(m/n)·(1 - m/n)·(n - d)/(n - 1))``, d = min(k, n)."""
    m, n, d = (x.astype(np.float64) for x in (relevant, pool, depth))
    return np.sqrt(ratio(ratio(d * m, n) * ratio((n - m) * (n - d), n), n - 1.0))


class First(NamedTuple):
    """Where the first relevant document of a random ranking stands."""

    chance: FloatArray  #: that it is at i = 1, 2, …; shape (queries, longest depth), 0 beyond the depth
    none: FloatArray  #: that there is none down to the depth


def first_relevant(relevant: IntArray, pool: IntArray, depth: IntArray) -> First:
    """``C(n - i, m - 1)/C(n, m)`` and ``C(n - m, min(k, n))/C(n, min(k, n))``, as running products."""
    i = np.arange(1, _longest(depth) + 1)
    left = np.maximum(pool[:, None] - i + 1, 1)  # documents that may stand at i
    others = np.maximum(pool[:, None] - relevant[:, None] - i + 1, 0)
    none = np.ones((len(pool), len(i) + 1))
    np.multiply.accumulate(others / left, axis=1, out=none[:, 1:])
    chance = np.where(i <= depth[:, None], none[:, :-1] * (relevant[:, None] / left), 0.0)
    return First(chance, none[np.arange(len(pool)), depth])


def chance_of_none(relevant: IntArray, pool: IntArray, depth: IntArray) -> FloatArray:
    """1 - E[Success@k]: the chance that the top k holds no relevant document, however small."""
    return _once_each(lambda *numbers: first_relevant(*numbers).none, relevant, pool, depth)


def expected_success(relevant: IntArray, pool: IntArray, depth: IntArray) -> FloatArray:
    """E[Success@k]: the chance that the top k holds a relevant document, however small."""
    some = _once_each(lambda *numbers: row_sums(first_relevant(*numbers).chance), relevant, pool, depth)
    return np.minimum(some, 1.0)


def expected_rr(relevant: IntArray, pool: IntArray, depth: IntArray) -> FloatArray:
    """``E[RR@k] = Σ_{i≤min(k,n)} C(n - i, m - 1)/(i·C(n, m))``."""
    return _once_each(lambda *numbers: _mean_rr(first_relevant(*numbers)), relevant, pool, depth)


def deviation_of_rr(relevant: IntArray, pool: IntArray, depth: IntArray) -> FloatArray:
    """The standard deviation of RR@k, from the distribution of the first relevant document."""

    def deviation(*numbers: IntArray) -> FloatArray:
        first = first_relevant(*numbers)
        mean = _mean_rr(first)
        rr = reciprocal(np.arange(1, first.chance.shape[1] + 1))
        squares = row_sums(first.chance * (rr - mean[:, None]) ** 2) + first.none * mean**2
        result: FloatArray = np.sqrt(squares)
        return result

    return _once_each(deviation, relevant, pool, depth)


def _mean_rr(first: First) -> FloatArray:
    return row_sums(first.chance * reciprocal(np.arange(1, first.chance.shape[1] + 1)))


def expected_sum_of_precisions(
    relevant: IntArray, pool: IntArray, depth: IntArray, exact: bool
) -> FloatArray:
    """E[SP@k] of a random ranking of the pool.

    With p = N_p/n, a document is relevant with probability p, and given that, each one above it with
    probability (N_p - 1)/(n - 1). So, exactly, ``E[SP@k] = Σ_{i≤min(k,n)} (1/i)(p + (i - 1)·p·(N_p - 1)/(n
    - 1))``. The paper takes a document's relevance for independent of those above it (§6.4.1): ``min(k,
    n)·p²``.

    Args:
        relevant: N_p, the number of relevant documents in the pool of each query.
        pool: n, the number of documents in it.
        depth: min(k, n).
    """
    p = ratio(relevant.astype(np.float64), pool.astype(np.float64))
    if not exact:
        return depth * p**2
    harmonic = _partial_sums(1.0 / np.arange(1, _longest(depth) + 1))[
        depth
    ]  # Σ 1/i; so Σ (i - 1)/i is depth - it
    given_relevant = ratio((relevant - 1).astype(np.float64), (pool - 1).astype(np.float64))
    return p * (harmonic + given_relevant * (depth - harmonic))


def expected_err(pool: PoolGains, depth: IntArray) -> FloatArray:
    """E[ERR@k], the gains being the chances that a document satisfies.

    ``Σ_{i≤min(k,n)} s_i/i`` with s_i the chance that the searcher leaves at i, satisfied, and g_i the chance to go on
    beyond i. They are those of a pool that grows by one document at a time: the new one, of chance θ, is at i, above
    i, or below i with the chances 1/n, (i - 1)/n and (n - i)/n. All terms are positive, so nothing cancels; and the
    documents that satisfy nobody, most of a collection, are there at the start. With e_i the elementary symmetric
    polynomial of all 1 - θ, g_i is e_i/C(n, i), and s_i is g_{i-1} - g_i.
    """
    n_queries = len(pool.size)
    found = np.flatnonzero(pool.gain > 0)
    order = found[np.lexsort((pool.gain[found], pool.query[found]))]  # whichever order the qrels have
    theta = table(pool.gain[order], pool.query[order], n_queries, 0.0)
    relevant = np.bincount(pool.query[order], minlength=n_queries)
    most_first = np.argsort(-relevant, kind="stable")
    at_once = max(_ELEMENTS // (_longest(depth) + 1), 1)
    result = np.zeros(n_queries)
    for start in range(0, n_queries, at_once):
        rows = most_first[start : start + at_once]
        result[rows] = _err_of_block(theta[rows], relevant[rows], pool.size[rows], depth[rows])
    return result


# Of a block of queries, which then stays in the processor's cache.
_ELEMENTS = 2**15


def _err_of_block(theta: FloatArray, relevant: IntArray, size: IntArray, depth: IntArray) -> FloatArray:
    """:func:`expected_err` of queries with ever fewer relevant documents, whose chances stand in ``theta``."""
    i = np.arange(1, _longest(depth) + 1)
    leave, go_on = np.zeros((len(size), len(i) + 1)), np.ones((len(size), len(i) + 1))
    for column in range(int(relevant.max(initial=0))):
        rows = slice(int(np.count_nonzero(relevant > column)))  # those with documents left
        n = (size - relevant)[rows, None] + (column + 1)
        at = np.minimum(i, n)  # beyond the pool are numbers that nothing else is made of
        here, past = theta[rows, column, None], 1.0 - theta[rows, column, None]
        s, g, below = leave[rows], go_on[rows], (n - at) / n
        s[:, 1:] = here / n * g[:, :-1] + past * ((at - 1) / n) * s[:, :-1] + below * s[:, 1:]
        g[:, 1:] = below * g[:, 1:] + past * (at / n) * g[:, :-1]
    return row_sums(np.where(i <= depth[:, None], leave[:, 1:] * reciprocal(i), 0.0))


def _once_each(function: Callable[..., FloatArray], *numbers: IntArray) -> FloatArray:
    """A function of several columns of whole numbers, one value a row; computed once for rows that are the same."""
    if not len(numbers[0]):
        return np.zeros(0)
    rows, which = np.unique(np.stack(numbers, axis=1), axis=0, return_inverse=True)
    result: FloatArray = function(*rows.T)[which.reshape(-1)]
    return result


def _longest(depth: IntArray) -> int:
    return int(depth.max(initial=0))


def _partial_sums(values: FloatArray) -> FloatArray:
    """Entry m is the sum of the first m values."""
    return np.concatenate([[0.0], np.cumsum(values)])
