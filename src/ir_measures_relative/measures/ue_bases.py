"""The measures that UE normalizes, as data. A new base is an entry of :data:`BASES`."""

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
from .random_rankings import (
    PoolGains,
    chance_of_none,
    deviation_of_count,
    deviation_of_rr,
    deviation_of_sum,
    expected_count,
    expected_dcg,
    expected_err,
    expected_rr,
    expected_success,
    expected_sum,
    expected_sum_of_precisions,
)


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


def _rr(ranking: RankedGains, settings: BaseSettings) -> FloatArray:
    return max_by_query(ranking.gain * reciprocal(ranking.position), ranking.query, ranking.n_queries)


def _sp(ranking: RankedGains, settings: BaseSettings) -> FloatArray:
    position = ranking.position * (ranking.gain > 0)
    return sum_of_precisions(position, ranking.query, ranking.n_queries)


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
        actual=_rr,
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
        actual=_sp,
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
