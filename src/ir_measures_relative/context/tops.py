"""The first documents of rankings, as deep as a measure looks."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..data.arrays import BoolArray, IntArray
from ..data.documents import Documents
from ..data.ids import Ids, WordArray, pair_keys
from ..data.rankings import Rankings

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Top(NamedTuple):
    """The first documents of a run for the judged queries, judged or not; sorted by query, then by position."""

    docs: Documents
    position: IntArray  #: 1-based
    hashes: WordArray  #: ``docs.ids.hashes()``
    score: NDArray[np.float32]  #: as it is compared; equal where two documents of a query are tied


def find_top(known: Documents, rankings: Rankings, depth: int | None) -> Top:
    """The top of a run, with the grades of those that are known."""
    top = rankings.top(depth)
    query = known.queries_of(rankings)[top.query]
    rows = np.flatnonzero(query >= 0)
    rows = rows[np.argsort(query[rows], kind="stable")]
    query, ids, hashes = query[rows], top.ids.take(rows), top.hashes[rows]
    row = known.rows_of(query, ids, hashes)
    grade, judged = np.zeros_like(row), np.zeros(len(row), dtype=bool)
    found = row >= 0
    grade[found], judged[found] = known.grade[row[found]], known.judged[row[found]]
    docs = Documents(known.query_ids, query, ids, grade, judged=judged)
    return Top(docs, top.position[rows], hashes, top.score[rows])


def unjudged(tops: Sequence[Top], query_ids: np.ndarray) -> Documents:
    """The unjudged documents of tops, each once, sorted by query."""
    nothing = Documents(query_ids, np.empty(0, dtype=np.int64), Ids.of([]), np.empty(0, dtype=np.int64))
    ids: list[Ids] = []
    query = [nothing.query]
    for top in tops:
        rows = np.flatnonzero(~top.docs.judged)
        query.append(top.docs.query[rows])
        ids.append(top.docs.ids.take(rows))
    queries = np.concatenate(query)
    order = np.argsort(queries, kind="stable")
    all_ids, zeros = Ids.joined(ids).take(order), np.zeros(len(order), dtype=np.int64)
    found = Documents(query_ids, queries[order], all_ids, zeros, judged=zeros > 0)
    again, _ = found.repeats()
    keep = np.ones(len(found), dtype=bool)
    keep[again] = False
    return found.select(keep)


def numbered(tops: Sequence[Top]) -> list[IntArray]:
    """Of each top a number for each document, by query: one number for one document in all of them."""
    query = np.concatenate([top.docs.query for top in tops])
    ids, ends = Ids.joined([top.docs.ids for top in tops]), np.cumsum([len(top.position) for top in tops])
    for seed in itertools.count():
        hashes = ids.hashes(seed) if seed else np.concatenate([top.hashes for top in tops])
        _, first, number = np.unique(pair_keys(query, hashes), return_index=True, return_inverse=True)
        rows = np.flatnonzero(first[number] != np.arange(len(query)))
        known = first[number[rows]]
        if (query[rows] == query[known]).all() and ids.equal(rows, ids, known).all():
            return np.split(number, ends[:-1])
    raise AssertionError  # seeds do not end


def same_rankings(run: Top, reference: Top, among: BoolArray) -> BoolArray:
    """Which of the queries ``among`` the two runs rank alike, by their whole rankings."""
    if run is reference or not among.any():
        return among
    n = len(among)
    sizes_y, sizes_z = (np.bincount(side.docs.query, minlength=n) for side in (run, reference))
    same: BoolArray = among & (sizes_y == sizes_z)
    rows_y, rows_z = (np.flatnonzero(same[side.docs.query]) for side in (run, reference))
    alike = run.docs.ids.equal(rows_y, reference.docs.ids, rows_z)
    same[run.docs.query[rows_y[~alike]]] = False
    return same
