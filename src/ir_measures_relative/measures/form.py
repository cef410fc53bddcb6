"""The form of a measure: a :class:`Rule` turns a ranking into a value, a :class:`Form` adds the other runs.

Scores, contributions of documents, values under other grades, bounds and the choice of complementary runs derive from
these two.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal, Protocol

import numpy as np

from ..data.arrays import (
    FloatArray,
    IntArray,
    max_by_query,
    rank_within,
    ratio,
    row_sums,
    sum_by_query,
    table,
)
from .bases.browsing import BrowsingModel, TopK
from .bases.gains import Gain


class Items(Protocol):
    """Items that can gain: documents, or answers to aspects; sorted by query."""

    @property
    def query(self) -> IntArray:
        """The query of each item, ascending."""

    @property
    def grade(self) -> IntArray:
        """The grade of each item."""

    @property
    def n_queries(self) -> int:
        """The number of queries, with those without items."""


@dataclass(frozen=True)
class Ideal:
    """``Σ_i seen(i)·g_i`` of a query's items from the highest gain down to ``depth``; with ``TopK()``, their sum."""

    seen: BrowsingModel
    depth: int | None = None

    def value(self, gain: FloatArray, query: IntArray, n_queries: int) -> FloatArray:
        """Return one value per query, shape (…, queries), from gains of shape (…, items)."""
        if isinstance(self.seen, TopK) and self.depth is None:
            return sum_by_query(gain, query, n_queries)
        longest = int(np.bincount(query).max(initial=0))
        # A table of queries may be large.
        if gain.ndim == 1 and n_queries * longest > 2**20 + 16 * len(query):
            order = np.lexsort((-gain, query))
            rank = rank_within(query[order])
            rank = rank if self.depth is None else np.where(rank <= self.depth, rank, 0)
            return sum_by_query(gain[order] * self.seen.seen(rank), query[order], n_queries)
        # Else the same sums take a third of the time.
        seen = self.seen.seen(np.arange(1, longest + 1)[: self.depth])
        best = -np.sort(-table(gain, query, n_queries, 0.0), axis=-1)[..., : self.depth]
        return row_sums(best * seen)


@dataclass(frozen=True)
class Rule:
    """A measure of one ranking: what a grade gains, what a position counts, how terms join, what they are divided by.

    ``combine`` joins the terms of a query, ``g`` being the gain of an item and ``seen`` that of its position:

    - ``"sum"``: ``Σ seen·g``, as in DCG;
    - ``"largest"``: the largest ``seen·g``, as in reciprocal rank;
    - ``"cascade"``: ``Σ seen·g·Π_above (1 - g)``, as in ERR: a satisfied user stops;
    - ``"precisions"``: ``Σ seen·g·Σ_not_below g``, as in average precision.
    """

    gain: Gain
    seen: BrowsingModel
    combine: Literal["sum", "largest", "cascade", "precisions"] = "sum"
    over: float | Ideal = 1.0


@dataclass(frozen=True, eq=False)
class Form:
    """A measure of one run: a rule, the positions of the items in the run, and what the other runs leave of each.

    ``position`` and ``left`` must not depend on grades, so that bounds can change grades alone. If one does, as in the
    priors of a cascade, a subclass overrides :meth:`compute_left` or :meth:`over`.
    """

    items: Items
    position: IntArray  #: of each item in the run, from 1; 0 where it is not in the top
    rule: Rule
    #: The factor by which the other runs lower each item's gain (or raise it, as in rareness); 1 without other runs.
    left: FloatArray
    #: Whether the ideal ranking, and the user of a cascade, also get only the gains that the other runs leave.
    residual: bool = False

    @cached_property
    def gain(self) -> FloatArray:
        """The gain of each item."""
        return self.rule.gain(self.items.grade)

    @cached_property
    def retrieved(self) -> IntArray:
        """The items in the run's top; all others add exactly 0."""
        return np.flatnonzero(self.position)

    @cached_property
    def seen(self) -> FloatArray:
        """The weight of each item's position."""
        return self.rule.seen.seen(self.position)

    def compute_left(self, gain: FloatArray) -> FloatArray:
        """Return the factor ``left`` if the items had these gains, of shape (…, items)."""
        return self.left

    def values(self, grade: IntArray | None = None) -> FloatArray:
        """Return the value of each query, shape (…, queries), by grades of shape (…, items); default: the items'."""
        gain = self.gain if grade is None else self.rule.gain(grade)
        return ratio(self.joined(gain), self.over(gain))

    def joined(self, gain: FloatArray) -> FloatArray:
        """Return the joined terms of each query, before the division, from gains of shape (…, items)."""
        join = max_by_query if self.rule.combine == "largest" else sum_by_query
        return join(self.terms(gain), self.items.query[self.retrieved], self.items.n_queries)

    def contributions(self) -> tuple[FloatArray, FloatArray]:
        """Return the gain that the other runs leave of each item, and its share of the value of its query."""
        gain, rows, shares = self.gain, self.retrieved, np.zeros(len(self.position))
        query, terms = self.items.query[rows], self.terms(self.gain)
        if self.rule.combine == "largest":  # of equal terms, the first in the run
            order = np.lexsort((self.position[rows], -terms, query))
            first = order[rank_within(query[order]) == 1]
            shares[rows[first]] = terms[first]
        else:
            shares[rows] = ratio(terms, self.over(gain)[query])
        return gain * self.compute_left(gain), shares

    def terms(self, gain: FloatArray) -> FloatArray:
        """Return what each retrieved item adds before the division, shape (…, retrieved)."""
        rows, seen = self.retrieved, self.seen[self.retrieved]
        worth, gain = (gain * self.compute_left(gain))[..., rows], gain[..., rows]
        if self.rule.combine == "cascade":
            go_on = self._accumulated(1.0 - (worth if self.residual else gain), np.multiply, exclusive=True)
            return worth * seen * go_on
        if self.rule.combine == "precisions":
            return gain * seen * self._accumulated(worth, np.add, exclusive=False)
        return worth * seen

    def over(self, gain: FloatArray) -> FloatArray:
        """Return what each query's joined terms are divided by, shape (…, queries)."""
        over, query, n_queries = self.rule.over, self.items.query, self.items.n_queries
        if isinstance(over, (int, float)):
            return np.full(n_queries, over)
        return over.value(gain * self.compute_left(gain) if self.residual else gain, query, n_queries)

    def _accumulated(self, values: FloatArray, join: np.ufunc, *, exclusive: bool) -> FloatArray:
        """Return ``join`` of the values from the top of the run down to each retrieved item, or to just above it."""
        rows = self.retrieved
        order = np.lexsort((self.position[rows], self.items.query[rows]))
        query = self.items.query[rows][order]
        column = rank_within(query) - 1 + exclusive
        shape = (*values.shape[:-1], self.items.n_queries, int(column.max(initial=0)) + 1)
        from_the_top = np.full(shape, float(join.identity))
        from_the_top[..., query, column] = values[..., order]
        result = np.empty(values.shape)
        result[..., order] = join.accumulate(from_the_top, axis=-1)[..., query, column - exclusive]
        return result
