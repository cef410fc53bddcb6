"""Two rankings of each query, side by side: their lengths, their ties, and the documents that both hold."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...arrays import IntArray

if TYPE_CHECKING:
    from ...comparison import JudgedTop

# About how many positions of rankings are looked at together: what is computed on the way stays in the cache.
_TOGETHER = 1 << 16


class Side(NamedTuple):
    """A ranking of each query: rows sorted by query, then by position.

    Documents of equal score are a group, which stands at the positions ``first`` to ``last``; where ties are broken
    every document is a group of its own.
    """

    length: IntArray  #: of each query's ranking
    query: IntArray  #: of each row
    position: IntArray  #: of each row, from 1
    first: IntArray  #: of each row
    last: IntArray  #: of each row

    def of_queries(self, start: int, end: int) -> Side:
        """The rankings of some queries, which are then numbered from 0."""
        rows = slice(*np.searchsorted(self.query, [start, end]))
        return Side(
            self.length[start:end],
            self.query[rows] - start,
            self.position[rows],
            self.first[rows],
            self.last[rows],
        )


class Pair(NamedTuple):
    """A run's and a reference's rankings of the same queries."""

    run: Side
    reference: Side
    query: IntArray  #: of each document that both hold, ascending
    in_run: IntArray  #: its row in ``run``
    in_reference: IntArray  #: its row in ``reference``

    @property
    def n_queries(self) -> int:
        return len(self.run.length)

    def blocks(self) -> Iterator[Pair]:
        """The same for a few queries at a time."""
        deepest = max(int(side.length.max(initial=1)) for side in (self.run, self.reference))
        step = max(_TOGETHER // deepest, 1)
        for start in range(0, self.n_queries, step):
            yield self.of_queries(start, min(start + step, self.n_queries))

    def of_queries(self, start: int, end: int) -> Pair:
        """The same for some queries, which are then numbered from 0."""
        rows = slice(*np.searchsorted(self.query, [start, end]))
        return Pair(
            self.run.of_queries(start, end),
            self.reference.of_queries(start, end),
            self.query[rows] - start,
            self.in_run[rows] - np.searchsorted(self.run.query, start),
            self.in_reference[rows] - np.searchsorted(self.reference.query, start),
        )


def pair_of(run: JudgedTop, reference: JudgedTop, n_queries: int, tied: bool) -> Pair:
    """The two rankings of every query.

    Args:
        tied: whether documents of equal score are tied; else ties are broken as the positions have it.
    """
    found = run.docs.rows_of(reference.docs.query, reference.docs.ids, reference.hashes)
    shared = np.flatnonzero(found >= 0)
    return Pair(
        _side(run, n_queries, tied),
        _side(reference, n_queries, tied),
        reference.docs.query[shared],
        found[shared],
        shared,
    )


def _side(top: JudgedTop, n_queries: int, tied: bool) -> Side:
    query, position = top.docs.query, top.position
    length = np.bincount(query, minlength=n_queries)
    if not tied:
        return Side(length, query, position, position, position)
    changes = (top.score[1:] != top.score[:-1]) | (query[1:] != query[:-1])
    starts = np.flatnonzero(np.concatenate([[True], changes])) if len(query) else np.empty(0, dtype=np.int64)
    sizes = np.diff(np.append(starts, len(query)))
    first = np.repeat(position[starts], sizes)
    return Side(length, query, position, first, first + np.repeat(sizes, sizes) - 1)
