"""The documents that two rankings hold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...arrays import BoolArray, IntArray, rank_within

if TYPE_CHECKING:
    from ...comparison import JudgedTop
    from ...ids import Ids


class Pool(NamedTuple):
    """The documents that the two rankings hold, one row a query; all but ``ids`` of shape (queries, documents).

    Rows are padded with judged documents of grade 0 that neither ranking holds.
    """

    y: IntArray  #: 1-based position in the run's top, 0 if it is not there
    z: IntArray  #: 1-based position in the reference's top, 0 if it is not there
    grade: IntArray  #: the judged grade; 0 where open
    open: BoolArray  #: whether the judgments leave the document open
    row: IntArray  #: the document, as a row of ``ids``; -1 where padded
    ids: Ids  #: the documents


def pool_tops(run: JudgedTop, reference: JudgedTop, n_queries: int, judged: bool = True) -> Pool:
    """The union of the tops of two rankings, for every query.

    In a row stand the documents of the run in its order, then those that only the reference holds in its order: in
    another order the last bit of a sum would depend on the rankings of other queries.

    Args:
        judged: whether the judgments count; every document is open if not.
    """
    in_run = run.docs.rows_of(reference.docs.query, reference.docs.ids, reference.hashes)
    shared, other = np.flatnonzero(in_run >= 0), np.flatnonzero(in_run < 0)
    z_of_run = np.zeros(len(run.position), dtype=np.int64)
    z_of_run[in_run[shared]] = reference.position[shared]
    query = np.concatenate([run.docs.query, reference.docs.query[other]])
    order = np.argsort(query, kind="stable")
    query = query[order]
    y = np.concatenate([run.position, np.zeros(len(other), dtype=np.int64)])[order]
    z = np.concatenate([z_of_run, reference.position[other]])[order]
    grade, known = (
        np.concatenate([of_run, of_reference[other]])[order]
        for of_run, of_reference in ((run.docs.grade, reference.docs.grade), (run.judged, reference.judged))
    )
    if not judged:
        grade, known = np.zeros_like(grade), np.zeros_like(known)
    column = rank_within(query) - 1
    shape = n_queries, int(column.max(initial=-1)) + 1

    def padded(values: Any, fill: Any) -> Any:
        result = np.full(shape, fill, dtype=values.dtype)
        result[query, column] = values
        return result

    ids = run.docs.ids.followed_by(reference.docs.ids.take(other))
    return Pool(padded(y, 0), padded(z, 0), padded(grade, 0), padded(~known, False), padded(order, -1), ids)


def same_rankings(run: JudgedTop, reference: JudgedTop, among: BoolArray) -> BoolArray:
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
