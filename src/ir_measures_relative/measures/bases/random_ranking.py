"""The measures that UE normalizes, as data, and what a random ranking is worth by them.

A new base is an entry of :data:`BASES`. Means and standard deviations are over all rankings of the pool, and exact. A
pool has n documents, of which some are judged relevant or have a gain; the others have none. All its rankings are
equally likely. ``depth`` is min(k, n) throughout. Where a mean depends on whole numbers alone, it is computed once for
each combination, however many queries share it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ...data.arrays import (
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
from ..parameters import Base
from .browsing import BrowsingModel, Geometric, LogDiscount, chance_to_reach
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


class BaseSettings(NamedTuple):
    """The parameters that a base may have."""

    cutoff: int | None
    p: float  #: the persistence of RBP
    exact: bool  #: whether E[SP@k] is the true one, or the published one

    @property
    def geometric(self) -> Geometric:
        """The browsing model of RBP."""
        return Geometric(self.p)


class RankedGains(NamedTuple):
    """The judged documents of every query that may gain, and where a ranking has them."""

    gain: FloatArray
    position: IntArray  #: 0 where not in the top k
    query: IntArray  #: ascending, of ``n_queries``
    n_queries: int

    def sum(self, browsing: BrowsingModel) -> FloatArray:
        """``Σ_i seen(i)·g(d_i)``."""
        return sum_by_query(self.gain * browsing.seen(self.position), self.query, self.n_queries)


@dataclass(frozen=True)
class RandomRanking:
    """What the perfect and the random ranking rank."""

    gain: FloatArray  #: of each judged document
    query: IntArray  #: its query, ascending
    size: IntArray  #: n, the number of documents of each query's pool; those that are not judged gain nothing
    depth: IntArray  #: min(k, n)
    settings: BaseSettings

    @property
    def n_queries(self) -> int:
        return len(self.size)

    @property
    def numbers(self) -> tuple[IntArray, IntArray, IntArray]:
        """What the expectations of a binary base ask for: m, n, min(k, n)."""
        return self.relevant, self.size, self.depth

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
    def mean_gain(self) -> FloatArray:
        """The mean gain of a document."""
        return ratio(sum_by_query(self.gain, self.query, self.n_queries), self.size.astype(np.float64))

    @cached_property
    def relevant(self) -> IntArray:
        """The number of documents with a gain."""
        return np.bincount(self.perfect.query, minlength=self.n_queries)

    @cached_property
    def alike(self) -> BoolArray:
        """Whether all documents of the pool have the same gain, so that every ranking is perfect."""
        highest = max_by_query(self.gain, self.query, self.n_queries)
        with_it = np.bincount(self.query[self.gain == highest[self.query]], minlength=self.n_queries)
        alike: BoolArray = (highest == 0) | (with_it == self.size)
        return alike


# --- what a random ranking is worth


def expected_sum(mean_gain: FloatArray, depth: IntArray, browsing: BrowsingModel) -> FloatArray:
    """E[Σ_{i≤k} seen(i)·g(d_i)] of a random ranking: every position holds the pool's mean gain."""
    return mean_gain * _partial_sums(browsing.seen(np.arange(1, _longest(depth) + 1)))[depth]


def deviation_of_sum(pool: RandomRanking, browsing: BrowsingModel) -> FloatArray:
    """The standard deviation of Σ_{i≤k} w(i)·g(d_i), a linear rank statistic.

    ``Var = Σ_i (w_i - w̄)² · Σ_d (g_d - ḡ)² / (n - 1)`` over all n positions, w being 0 beyond k, and all n documents.
    """
    docs, n_queries, size = pool.perfect, pool.n_queries, pool.size.astype(np.float64)
    highest = max_by_query(docs.gain, docs.query, n_queries)
    gain = ratio(docs.gain, highest[docs.query])  # up to 1, whose square is a number
    order = np.lexsort((gain, docs.query))  # whichever order the qrels have
    gain, query = gain[order], docs.query[order]
    mean = ratio(sum_by_query(gain, query, n_queries), size)
    without = size - np.bincount(query, minlength=n_queries)
    of_gains = sum_by_query((gain - mean[query]) ** 2, query, n_queries) + without * mean**2

    def of_weights(size: IntArray, depth: IntArray) -> FloatArray:
        weights = browsing.seen(np.arange(1, _longest(depth) + 1))
        mean = ratio(_partial_sums(weights)[depth], size.astype(np.float64))
        inside = np.arange(1, len(weights) + 1) <= depth[:, None]
        squares = np.where(inside, (weights - mean[:, None]) ** 2, 0.0)
        return row_sums(squares) + (size - depth) * mean**2

    variance = ratio(_once_each(of_weights, pool.size, pool.depth) * of_gains, size - 1.0)
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


def of_first(function: Callable[[First], FloatArray], pool: RandomRanking) -> FloatArray:
    """What a function makes of where the first relevant document of a random ranking stands; one value a query."""
    return _once_each(lambda *numbers: function(first_relevant(*numbers)), *pool.numbers)


def expected_rr(first: First) -> FloatArray:
    """``E[RR@k] = Σ_{i≤min(k,n)} C(n - i, m - 1)/(i·C(n, m))``."""
    return row_sums(first.chance * reciprocal(np.arange(1, first.chance.shape[1] + 1)))


def deviation_of_rr(first: First) -> FloatArray:
    """The standard deviation of RR@k."""
    mean, rr = expected_rr(first), reciprocal(np.arange(1, first.chance.shape[1] + 1))
    squares = row_sums(first.chance * (rr - mean[:, None]) ** 2) + first.none * mean**2
    result: FloatArray = np.sqrt(squares)
    return result


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


def expected_err(pool: RandomRanking) -> FloatArray:
    """E[ERR@k], the gains being the chances that a document satisfies.

    ``Σ_{i≤min(k,n)} s_i/i`` with s_i the chance that the searcher leaves at i, satisfied, and g_i the chance to go on
    beyond i. They are those of a pool that grows by one document at a time: the new one, of chance θ, is at i, above
    i, or below i with the chances 1/n, (i - 1)/n and (n - i)/n. All terms are positive, so nothing cancels; and the
    documents that satisfy nobody, most of a collection, are there at the start. With e_i the elementary symmetric
    polynomial of all 1 - θ, g_i is e_i/C(n, i), and s_i is g_{i-1} - g_i.
    """
    docs, n_queries, relevant = pool.perfect, pool.n_queries, pool.relevant
    order = np.lexsort((docs.gain, docs.query))  # whichever order the qrels have
    theta = table(docs.gain[order], docs.query[order], n_queries, 0.0)
    most_first = np.argsort(-relevant, kind="stable")
    at_once = max(_ELEMENTS // (_longest(pool.depth) + 1), 1)
    result = np.zeros(n_queries)
    for start in range(0, n_queries, at_once):
        rows = most_first[start : start + at_once]
        result[rows] = _err_of_block(theta[rows], relevant[rows], pool.size[rows], pool.depth[rows])
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


@dataclass(frozen=True, kw_only=True)
class NormalizedBase(Base):
    """A measure that is normalized; what is proportional to it serves as well."""

    #: Its value for a ranking. That of the perfect ranking is the upper bound.
    actual: Callable[[RankedGains, BaseSettings], FloatArray]
    expected: Callable[[RandomRanking], FloatArray]  #: its mean over all rankings of the pool
    #: The upper bound less the mean, where rounding would not leave it.
    room: Callable[[RandomRanking], FloatArray] | None = None
    deviation: Callable[[RandomRanking], FloatArray] | None = None  #: σ over these, where computed
    #: What a document gains: by its label as ``dcg`` and ``gains`` say, 1 where it is relevant, or the chance that it
    #: satisfies.
    gain: str = "relevant"
    parameters: Collection[str] = ("rel",)


def sum_of_precisions(position: IntArray, query: IntArray, n_queries: int) -> FloatArray:
    """``SP@k = Σ_{i≤k} Prec(i)·R_i`` (Eq. 4) of each query.

    Args:
        position: of every relevant document in the ranking, 0 if it is not in the top k.
        query: its query, ascending, of ``n_queries``.
    """
    found = np.flatnonzero(position > 0)
    order = found[np.lexsort((position[found], query[found]))]
    return sum_by_query(rank_within(query[order]) / position[order], query[order], n_queries)


def expected_reciprocal_rank(ranking: RankedGains) -> FloatArray:
    """``ERR@k = Σ_{i≤k} (1/i)·θ_i·Π_{l<i}(1 - θ_l)``, the gains being the chances θ that a document satisfies."""
    found = np.flatnonzero(ranking.position > 0)
    order = found[np.lexsort((ranking.position[found], ranking.query[found]))]
    theta, position, query = ranking.gain[order], ranking.position[order], ranking.query[order]
    reached = chance_to_reach(position, theta, query, ranking.n_queries)
    return sum_by_query(reached * theta * reciprocal(position), query, ranking.n_queries)


def _found(ranking: RankedGains) -> FloatArray:
    """The number of relevant documents in the top k."""
    found = (ranking.gain > 0) & (ranking.position > 0)
    return sum_by_query(found.astype(np.float64), ranking.query, ranking.n_queries)


def _relevant(ranking: RankedGains) -> FloatArray:
    """The number of relevant documents."""
    return np.bincount(ranking.query[ranking.gain > 0], minlength=ranking.n_queries).astype(np.float64)


#: The bases of UE. P and R take the number found for what they are made of, nDCG takes DCG, AP the sum of precisions.
BASES = {
    "nDCG": NormalizedBase(
        actual=lambda ranking, settings: ranking.sum(LogDiscount()),
        expected=lambda pool: expected_sum(pool.mean_gain, pool.depth, LogDiscount()),
        deviation=lambda pool: deviation_of_sum(pool, LogDiscount()),
        gain="label",
        parameters=["dcg", "gains"],
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
        expected=lambda pool: np.minimum(of_first(lambda first: row_sums(first.chance), pool), 1.0),
        # However small the chance is that the top k holds no relevant document.
        room=lambda pool: np.where(pool.relevant > 0, of_first(lambda first: first.none, pool), 0.0),
        needs_cutoff=True,
    ),
    "RR": NormalizedBase(
        actual=lambda ranking, settings: max_by_query(
            ranking.gain * reciprocal(ranking.position), ranking.query, ranking.n_queries
        ),
        expected=lambda pool: of_first(expected_rr, pool),
        deviation=lambda pool: of_first(deviation_of_rr, pool),
    ),
    "RBP": NormalizedBase(
        actual=lambda ranking, settings: (1.0 - settings.p) * ranking.sum(settings.geometric),
        expected=lambda pool: (
            (1.0 - pool.settings.p) * expected_sum(pool.mean_gain, pool.depth, pool.settings.geometric)
        ),
        deviation=lambda pool: (1.0 - pool.settings.p) * deviation_of_sum(pool, pool.settings.geometric),
        parameters=["rel", "p"],
    ),
    "AP": NormalizedBase(
        actual=lambda ranking, settings: sum_of_precisions(
            ranking.position * (ranking.gain > 0), ranking.query, ranking.n_queries
        ),
        expected=lambda pool: expected_sum_of_precisions(*pool.numbers, pool.settings.exact),
        parameters=["rel", "expected"],
    ),
    "ERR": NormalizedBase(
        actual=lambda ranking, settings: expected_reciprocal_rank(ranking),
        expected=expected_err,
        gain="satisfaction",
        parameters=["max_grade"],
    ),
}
