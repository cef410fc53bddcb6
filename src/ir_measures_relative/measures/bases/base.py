"""Bases: the measures that NRG, Rareness, Shapley and UE extend, and their means over random rankings.

Means and standard deviations are over all rankings of a pool of n documents, and exact; ``depth`` is min(k, n).
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias, cast

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
)
from ...data.registry import Registry, fill
from ..form import Form, Items, Rule
from .browsing import BrowsingModel
from .gains import Relevant

#: ``get`` of a measure: from the name of a parameter to its value.
Get: TypeAlias = Callable[..., Any]


class RankedGains(NamedTuple):
    """The judged documents of every query that may gain, and where a ranking has them."""

    gain: FloatArray
    position: IntArray  #: 0 where not in the top k
    query: IntArray  #: ascending, of ``n_queries``
    n_queries: int

    def value(self, rule: Rule) -> FloatArray:
        """Return the value of the ranking by a rule, one a query."""
        # The gains are passed, so that the form needs no grades.
        form = Form(cast("Items", self), self.position, rule, left=np.ones(len(self.position)))
        return ratio(form.joined(self.gain), form.over(self.gain))


@dataclass(frozen=True)
class RandomRanking:
    """The pool of each query, as the perfect and the random ranking order it."""

    gain: FloatArray  #: of each judged document
    query: IntArray  #: its query, ascending
    size: IntArray  #: n, the number of documents of each query's pool; those that are not judged gain nothing
    depth: IntArray  #: min(k, n)
    get: Get  #: the parameters of the measure

    @property
    def n_queries(self) -> int:
        return len(self.size)

    @property
    def numbers(self) -> tuple[IntArray, IntArray, IntArray]:
        """The arguments of the expectations of a binary base: m, n, min(k, n)."""
        return self.relevant, self.size, self.depth

    @cached_property
    def perfect(self) -> RankedGains:
        """The documents with a gain, from the highest gain on."""
        rows = np.flatnonzero(self.gain > 0)
        order = rows[np.lexsort((-self.gain[rows], self.query[rows]))]
        query, cutoff = self.query[order], self.get("cutoff")
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
        """Whether any ranking is perfect, since all documents of the pool have the same gain."""
        highest = max_by_query(self.gain, self.query, self.n_queries)
        with_it = np.bincount(self.query[self.gain == highest[self.query]], minlength=self.n_queries)
        return (highest == 0) | (with_it == self.size)


def expected_sum(mean_gain: FloatArray, depth: IntArray, browsing: BrowsingModel) -> FloatArray:
    """E[Σ_{i≤k} seen(i)·g(d_i)] of a random ranking: every position holds the pool's mean gain."""
    return mean_gain * partial_sums(browsing.seen(np.arange(1, longest(depth) + 1)))[depth]


def weighted_sum_deviation(pool: RandomRanking, browsing: BrowsingModel) -> FloatArray:
    """Return the standard deviation of Σ_{i≤k} w(i)·g(d_i): ``Var = Σ_i (w_i - w̄)² · Σ_d (g_d - ḡ)² / (n - 1)``."""
    docs, n_queries, size = pool.perfect, pool.n_queries, pool.size.astype(np.float64)
    highest = max_by_query(docs.gain, docs.query, n_queries)
    gain = ratio(docs.gain, highest[docs.query])  # up to 1, whose square is a number
    order = np.lexsort((gain, docs.query))  # whichever order the qrels have
    gain, query = gain[order], docs.query[order]
    mean = ratio(sum_by_query(gain, query, n_queries), size)
    without = size - np.bincount(query, minlength=n_queries)
    gain_squares = sum_by_query((gain - mean[query]) ** 2, query, n_queries) + without * mean**2

    def weight_squares(size: IntArray, depth: IntArray) -> FloatArray:
        weights = browsing.seen(np.arange(1, longest(depth) + 1))
        mean = ratio(partial_sums(weights)[depth], size.astype(np.float64))
        inside = np.arange(1, len(weights) + 1) <= depth[:, None]
        squares = np.where(inside, (weights - mean[:, None]) ** 2, 0.0)
        return row_sums(squares) + (size - depth) * mean**2

    variance = ratio(once_each(weight_squares, pool.size, pool.depth) * gain_squares, size - 1.0)
    return highest * np.sqrt(variance)


def once_each(function: Callable[..., FloatArray], *numbers: IntArray) -> FloatArray:
    """Wrap a function of columns of whole numbers, one value a row, so that it computes equal rows once."""
    if not len(numbers[0]):
        return np.zeros(0)
    rows, which = np.unique(np.stack(numbers, axis=1), axis=0, return_inverse=True)
    return function(*rows.T)[which.reshape(-1)]


def longest(depth: IntArray) -> int:
    """Return the greatest depth."""
    return int(depth.max(initial=0))


def partial_sums(values: FloatArray) -> FloatArray:
    """Return as entry m the sum of the first m values."""
    return np.concatenate([[0.0], np.cumsum(values)])


@dataclass(frozen=True, kw_only=True)
class Chance:
    """The expectations of a base over random rankings, for UE; a common factor does not matter."""

    expected: Callable[[RandomRanking], FloatArray]  #: its mean over all rankings of the pool
    #: The upper bound less the mean, where rounding would not leave it.
    room: Callable[[RandomRanking], FloatArray] | None = None
    deviation: Callable[[RandomRanking], FloatArray] | None = None  #: σ over these, where computed
    over: float | None = None  #: the divisor, if it is not the rule's


@dataclass(frozen=True, kw_only=True)
class Base:
    """A measure that others extend, by their parameter ``base``."""

    name: str
    rule: Callable[[Get], Rule]  #: its rule, from the parameters of the measure that extends it
    parameters: Collection[str] = ()  #: those that other bases lack
    needs_cutoff: bool = False  #: whether it requires ``@k``
    residual: bool = False  #: whether NRG extends it
    chance: Chance | None = None  #: for UE

    def chance_rule(self, get: Get) -> Rule:
        """Return the rule whose mean :attr:`chance` has."""
        rule, over = self.rule(get), None if self.chance is None else self.chance.over
        return rule if over is None else replace(rule, over=over)


#: The bases by name.
BASES: Registry[str, Base] = Registry("bases")
fill({"bases": [".ap", ".err", ".dcg", ".precision", ".rbp", ".rr"]}, __package__)


def add(base: Base) -> Base:
    """Add a base to :data:`BASES`. Returns it."""
    return BASES.register(base.name)(base)


def relevant(get: Get) -> Relevant:
    """Return the gain of a binary base."""
    return Relevant(get("rel", 1))
