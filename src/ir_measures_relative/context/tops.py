"""The first documents of rankings, down to the depth that a measure reads."""

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
    """How much of every ranking a measure reads."""

    depth: int | None = None  #: the number of documents; None for all
    judged_only: bool = False  #: whether unjudged documents are skipped


class Top(NamedTuple):
    """The first documents of a run for the judged queries; sorted by query, then by position."""

    docs: Documents  #: judged or not
    position: IntArray  #: 1-based
    hashes: WordArray  #: ``docs.ids.hashes()``
    score: NDArray[np.float32]  #: as it is compared; equal where two documents of a query are tied


def find_top(judged: Documents, rankings: Rankings, depth: int | None) -> Top:
    """Return the top of a run, with the grades of the judged documents in it."""
    top = rankings.top(depth)
    query = judged.match_queries(rankings)[top.query]
    rows = np.flatnonzero(query >= 0)
    rows = rows[np.argsort(query[rows], kind="stable")]
    query, ids, hashes = query[rows], top.ids.take(rows), top.hashes[rows]
    row = judged.find_rows(query, ids, hashes)
    grade, is_judged, matched = np.zeros_like(row), np.zeros(len(row), dtype=bool), row >= 0
    grade[matched], is_judged[matched] = judged.grade[row[matched]], judged.judged[row[matched]]
    docs = Documents(judged.query_ids, query, ids, grade, judged=is_judged)
    return Top(docs, top.position[rows], hashes, top.score[rows])


def same_rankings(run: Top, reference: Top, among: BoolArray, *, to_shorter: bool = False) -> BoolArray:
    """Return on which of the queries ``among`` two rankings are equal, or equal to the end of the shorter one."""
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
