"""The measures that UE normalizes, as data, and what a random ranking is worth by them.

A new base is an entry of :data:`BASES`. Means and standard deviations are over all rankings of the pool, and exact. A
pool has n documents, of which some are judged relevant or have a gain; the others have none. All its rankings are
equally likely. ``depth`` is min(k, n) throughout. Where a mean depends on whole numbers alone, it is computed once for
each combination, however many queries share it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ..arrays import (
    BoolArray,
    FloatArray,
    IntArray,
    max_by_query,
    rank_within,
    ratio,
    row_sums,
    sum_by_query,
    table,
)
from .browsing import BrowsingModel, Geometric, LogDiscount
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
    """E[Σ_{i≤k} seen(i)·g(d_i)] of a random ranking: every position holds the pool's mean gain."""
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

    variance = ratio(_once_each(of_weights, pool.size, depth) * of_gains, size - 1.0)
    result: FloatArray = highest * np.sqrt(variance)
    return result


def expected_count(relevant: IntArray, pool: IntArray, depth: IntArray) -> FloatArray:
    """E of the number of relevant documents in the top k, of m in a pool of n documents: ``min(k, n)·m/n``."""
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

    With p = N_p/n, N_p of the pool's n documents being relevant, a document is so with probability p, and given that,
    each one above it with probability (N_p - 1)/(n - 1). So, exactly, ``E[SP@k] = Σ_{i≤min(k,n)} (1/i)(p + (i -
    1)·p·(N_p - 1)/(n - 1))``. The paper takes a document's relevance for independent of those above it (§6.4.1):
    ``min(k, n)·p²``.
    """
    p = ratio(relevant.astype(np.float64), pool.astype(np.float64))
    if not exact:
        return depth * p**2
    # Σ 1/i; so Σ (i - 1)/i is depth - it.
    harmonic = _partial_sums(1.0 / np.arange(1, _longest(depth) + 1))[depth]
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


# --- the bases


class BaseSettings(NamedTuple):
    """The parameters that a base may have."""

    cutoff: int | None
    p: float  #: the persistence of RBP
    exact: bool  #: whether E[SP@k] is the true one, or the published one


@dataclass(frozen=True)
class RankedGains:
    """The judged documents of every query that may gain, and where a ranking has them."""

    gain: FloatArray
    position: IntArray  #: 0 where not in the top k
    query: IntArray  #: ascending, of ``n_queries``
    n_queries: int

    def sum(self, browsing: BrowsingModel) -> FloatArray:
        """``Σ_i seen(i)·g(d_i)``."""
        return sum_by_query(self.gain * browsing.seen(self.position), self.query, self.n_queries)


@dataclass(frozen=True)
class RankedPool:
    """What the perfect and the random ranking rank.

    Attributes:
        gain: of each judged document.
        query: its query, ascending.
        size: n, the number of documents of each query's pool; those that are not judged gain nothing.
        depth: min(k, n).
        settings: the parameters.
    """

    gain: FloatArray
    query: IntArray
    size: IntArray
    depth: IntArray
    settings: BaseSettings

    @property
    def n_queries(self) -> int:
        return len(self.size)

    @cached_property
    def perfect(self) -> RankedGains:
        """The documents with a gain, from the highest gain on."""
        rows = np.flatnonzero(self.gain > 0)
        order = rows[np.lexsort((-self.gain[rows], self.query[rows]))]
        query, cutoff = self.query[order], self.settings.cutoff
        rank = rank_within(query)
        if cutoff is not None:
            rank = np.where(rank <= cutoff, rank, 0)
        return RankedGains(self.gain[order], rank, query, self.n_queries)

    @property
    def gains(self) -> PoolGains:
        """The documents with a gain."""
        return PoolGains(self.perfect.gain, self.perfect.query, self.size)

    @property
    def mean_gain(self) -> FloatArray:
        """The mean gain of a document."""
        return ratio(sum_by_query(self.gain, self.query, self.n_queries), self.size.astype(np.float64))

    @cached_property
    def relevant(self) -> IntArray:
        """The number of documents with a gain."""
        return np.bincount(self.perfect.query, minlength=self.n_queries)

    @property
    def numbers(self) -> tuple[IntArray, IntArray, IntArray]:
        """What the expectations of a binary base ask for: m, n, min(k, n)."""
        return self.relevant, self.size, self.depth

    @cached_property
    def alike(self) -> BoolArray:
        """Whether all documents of the pool have the same gain, so that every ranking is perfect."""
        highest = max_by_query(self.gain, self.query, self.n_queries)
        with_it = np.bincount(self.query[self.gain == highest[self.query]], minlength=self.n_queries)
        alike: BoolArray = (highest == 0) | (with_it == self.size)
        return alike


@dataclass(frozen=True)
class NormalizedBase:
    """A measure that is normalized; what is proportional to it serves as well.

    Attributes:
        actual: its value for a ranking. That of the perfect ranking is the upper bound.
        expected: its mean over all rankings of the pool.
        room: the upper bound less the mean, where rounding would not leave it.
        deviation: its standard deviation over all rankings of the pool; None where that is not computed.
        gain: what a document gains: by its label as ``dcg`` and ``gains`` say, 1 where it is relevant, or the chance
            that it satisfies.
        parameters: those that only some bases have, and this one has.
        needs_cutoff: whether it is nothing without ``@k``.
    """

    actual: Callable[[RankedGains, BaseSettings], FloatArray]
    expected: Callable[[RankedPool], FloatArray]
    room: Callable[[RankedPool], FloatArray] | None = None
    deviation: Callable[[RankedPool], FloatArray] | None = None
    gain: str = "relevant"
    parameters: frozenset[str] = frozenset({"rel"})
    needs_cutoff: bool = False


def sum_of_precisions(position: IntArray, query: IntArray, n_queries: int) -> FloatArray:
    """``SP@k = Σ_{i≤k} Prec(i)·R_i`` (Eq. 4) of each query.

    Args:
        position: of every relevant document in the ranking, 0 if it is not in the top k.
        query: its query, ascending, of ``n_queries``.
    """
    found = np.flatnonzero(position > 0)
    order = found[np.lexsort((position[found], query[found]))]
    positions = table(position[order].astype(np.float64), query[order], n_queries, np.inf)
    total: FloatArray = row_sums(np.arange(1, positions.shape[1] + 1) / positions)
    return total


def expected_reciprocal_rank(ranking: RankedGains) -> FloatArray:
    """``ERR@k = Σ_{i≤k} (1/i)·θ_i·Π_{l<i}(1 - θ_l)``, the gains being the chances θ that a document satisfies."""
    found = np.flatnonzero((ranking.position > 0) & (ranking.gain > 0))
    query = ranking.query[found]
    order = found[np.lexsort((ranking.position[found], query))]
    query = ranking.query[order]
    theta = table(ranking.gain[order], query, ranking.n_queries, 0.0)
    rank = table(reciprocal(ranking.position[order]), query, ranking.n_queries, 0.0)
    reached = np.ones((ranking.n_queries, theta.shape[1] + 1))
    np.multiply.accumulate(1.0 - theta, axis=1, out=reached[:, 1:])
    return row_sums(reached[:, :-1] * theta * rank)


def _found(ranking: RankedGains) -> FloatArray:
    """The number of relevant documents in the top k."""
    found = (ranking.gain > 0) & (ranking.position > 0)
    return sum_by_query(found.astype(np.float64), ranking.query, ranking.n_queries)


def _relevant(ranking: RankedGains) -> FloatArray:
    """The number of relevant documents."""
    return np.bincount(ranking.query[ranking.gain > 0], minlength=ranking.n_queries).astype(np.float64)


def _rbp(function: Callable[..., FloatArray], gains: FloatArray | PoolGains, pool: RankedPool) -> FloatArray:
    p = pool.settings.p
    return (1.0 - p) * function(gains, pool.depth, Geometric(p))


#: The bases of UE. P and R take the number found for what they are made of, nDCG takes DCG, AP the sum of precisions.
BASES = {
    "nDCG": NormalizedBase(
        actual=lambda ranking, settings: ranking.sum(LogDiscount()),
        expected=lambda pool: expected_dcg(pool.mean_gain, pool.depth),
        deviation=lambda pool: deviation_of_sum(pool.gains, pool.depth, LogDiscount()),
        gain="label",
        parameters=frozenset({"dcg", "gains"}),
    ),
    "P": NormalizedBase(
        actual=lambda ranking, settings: _found(ranking) / (settings.cutoff or 1),
        expected=lambda pool: expected_count(*pool.numbers) / (pool.settings.cutoff or 1),
        deviation=lambda pool: deviation_of_count(*pool.numbers) / (pool.settings.cutoff or 1),
        needs_cutoff=True,
    ),
    "R": NormalizedBase(
        actual=lambda ranking, settings: ratio(_found(ranking), _relevant(ranking)),
        expected=lambda pool: ratio(expected_count(*pool.numbers), pool.relevant.astype(np.float64)),
        deviation=lambda pool: ratio(deviation_of_count(*pool.numbers), pool.relevant.astype(np.float64)),
        needs_cutoff=True,
    ),
    "Success": NormalizedBase(
        actual=lambda ranking, settings: np.minimum(_found(ranking), 1.0),
        expected=lambda pool: expected_success(*pool.numbers),
        room=lambda pool: np.where(pool.relevant > 0, chance_of_none(*pool.numbers), 0.0),
        needs_cutoff=True,
    ),
    "RR": NormalizedBase(
        actual=lambda ranking, settings: max_by_query(
            ranking.gain * reciprocal(ranking.position), ranking.query, ranking.n_queries
        ),
        expected=lambda pool: expected_rr(*pool.numbers),
        deviation=lambda pool: deviation_of_rr(*pool.numbers),
    ),
    "RBP": NormalizedBase(
        actual=lambda ranking, settings: (1.0 - settings.p) * ranking.sum(Geometric(settings.p)),
        expected=lambda pool: _rbp(expected_sum, pool.mean_gain, pool),
        deviation=lambda pool: _rbp(deviation_of_sum, pool.gains, pool),
        parameters=frozenset({"rel", "p"}),
    ),
    "AP": NormalizedBase(
        actual=lambda ranking, settings: sum_of_precisions(
            ranking.position * (ranking.gain > 0), ranking.query, ranking.n_queries
        ),
        expected=lambda pool: expected_sum_of_precisions(*pool.numbers, pool.settings.exact),
        parameters=frozenset({"rel", "expected"}),
    ),
    "ERR": NormalizedBase(
        actual=lambda ranking, settings: expected_reciprocal_rank(ranking),
        expected=lambda pool: expected_err(pool.gains, pool.depth),
        gain="satisfaction",
        parameters=frozenset({"max_grade"}),
    ),
}


def bases_with(parameter: str) -> tuple[str, ...]:
    """The names of the bases that have a parameter."""
    return tuple(name for name, base in BASES.items() if parameter in base.parameters)
