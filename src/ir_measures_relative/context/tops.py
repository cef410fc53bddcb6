"""The first documents of rankings, as deep as a measure looks."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..data.arrays import BoolArray, IntArray
from ..data.documents import Documents
from ..data.ids import WordArray
from ..data.rankings import Rankings

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Look(NamedTuple):
    """How much of every ranking is looked at."""

    depth: int | None = None  #: so many documents, or all
    judged_only: bool = False  #: of the judged documents alone, in their order; or of all


class Top(NamedTuple):
    """The first documents of a run for the judged queries, judged or not; sorted by query, then by position."""

    docs: Documents  #: judged or not
    position: IntArray  #: 1-based
    hashes: WordArray  #: ``docs.ids.hashes()``
    score: NDArray[np.float32]  #: as it is compared; equal where two documents of a query are tied


def find_top(known: Documents, rankings: Rankings, depth: int | None) -> Top:
    """The top of a run, with the grades of those that are known."""
    top = rankings.top(depth)
    query = known.match_queries(rankings)[top.query]
    rows = np.flatnonzero(query >= 0)
    rows = rows[np.argsort(query[rows], kind="stable")]
    query, ids, hashes = query[rows], top.ids.take(rows), top.hashes[rows]
    row = known.find_rows(query, ids, hashes)
    grade, judged = np.zeros_like(row), np.zeros(len(row), dtype=bool)
    found = row >= 0
    grade[found], judged[found] = known.grade[row[found]], known.judged[row[found]]
    docs = Documents(known.query_ids, query, ids, grade, judged=judged)
    return Top(docs, top.position[rows], hashes, top.score[rows])


def same_rankings(run: Top, reference: Top, among: BoolArray, *, to_shorter: bool = False) -> BoolArray:
    """Which of the queries ``among`` the two runs rank alike, by their whole rankings or ``to_shorter`` of the two."""
    if run is reference or not among.any():
        return among
    n = len(among)
    sizes_y, sizes_z = (np.bincount(side.docs.query, minlength=n) for side in (run, reference))
    shorter = np.minimum(sizes_y, sizes_z)
    same: BoolArray = among & ((shorter > 0) if to_shorter else (sizes_y == sizes_z))
    rows_y, rows_z = (
        np.flatnonzero(same[side.docs.query] & (side.position <= shorter[side.docs.query]))
        for side in (run, reference)
    )
    alike = run.docs.ids.equal(rows_y, reference.docs.ids, rows_z)
    same[run.docs.query[rows_y[~alike]]] = False
    return same
