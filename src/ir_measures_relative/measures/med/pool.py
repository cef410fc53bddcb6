"""The documents that two rankings hold."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...arrays import BoolArray, IntArray, ObjectArray, rank_within
from ...ids import Ids
from ...judgments import Judgments
from ...rankings import Rankings


class Pool(NamedTuple):
    """The documents that the two rankings hold, one row a query; all of shape (queries, documents).

    Rows are padded with judged documents of grade 0 that neither ranking holds.
    """

    y: IntArray  #: 1-based position in the run's top, 0 if it is not there
    z: IntArray  #: 1-based position in the reference's top, 0 if it is not there
    grade: IntArray  #: the judged grade; 0 where open
    open: BoolArray  #: whether the judgments leave the document open
    doc_ids: ObjectArray  #: None where padded


def pool_tops(
    run: Rankings, reference: Rankings, judgments: Judgments, cutoff: int | None, judged: bool = True
) -> Pool:
    """The union of the two rankings' first ``cutoff`` documents, for every query of ``judgments``.

    Args:
        judged: whether the judgments count; every document is open if not.
    """
    tops = run.top(cutoff), reference.top(cutoff)
    query = np.concatenate(
        [judgments.queries_of(r)[t.query] for r, t in zip((run, reference), tops, strict=True)]
    )
    keep = query >= 0
    in_run = (np.arange(len(query)) < len(tops[0].query))[keep]
    position = np.concatenate([t.position for t in tops])[keep]
    doc_ids = np.concatenate([t.doc_ids for t in tops])[keep]
    query = query[keep]

    code_of = {d: i for i, d in enumerate(dict.fromkeys(doc_ids))}
    code = np.fromiter(map(code_of.__getitem__, doc_ids), dtype=np.int64, count=len(doc_ids))
    _, first, row = np.unique(query * len(code_of) + code, return_index=True, return_inverse=True)
    # In a row the documents stand as the two rankings have them: in the order of their codes, the last bit of a sum
    # would depend on the rankings of other queries.
    order = np.lexsort((first, query[first]))
    first, row = first[order], np.argsort(order)[row]
    y, z = np.zeros((2, len(first)), dtype=np.int64)
    y[row[in_run]] = position[in_run]
    z[row[~in_run]] = position[~in_run]
    query, doc_ids = query[first], doc_ids[first]
    known = judgments.rows_of(query, Ids.of(doc_ids)) if judged else np.full(len(query), -1)
    grade = np.zeros(len(query), dtype=np.int64)
    grade[known >= 0] = judgments.grade[known[known >= 0]]

    column = rank_within(query) - 1
    shape = judgments.n_queries, int(column.max(initial=-1)) + 1

    def padded(values: Any, fill: Any) -> Any:
        result = np.full(shape, fill, dtype=values.dtype)
        result[query, column] = values
        return result

    return Pool(padded(y, 0), padded(z, 0), padded(grade, 0), padded(known < 0, False), padded(doc_ids, None))


def same_rankings(run: Rankings, reference: Rankings, judgments: Judgments, among: BoolArray) -> BoolArray:
    """Which of the queries ``among`` the two runs rank alike, down to the last document."""
    if run is reference or not among.any():
        return among
    sides = []
    for rankings in (run, reference):
        top, index = rankings.top(), judgments.queries_of(rankings)
        query = index[top.query]
        rows = np.flatnonzero((query >= 0) & among[query])
        rows = rows[np.argsort(query[rows], kind="stable")]
        sides.append((query[rows], top.doc_ids[rows]))
    (query_y, docs_y), (query_z, docs_z) = sides
    sizes_y, sizes_z = (np.bincount(q, minlength=len(among)) for q in (query_y, query_z))
    same = among & (sizes_y == sizes_z)
    query_y, docs_y, docs_z = query_y[same[query_y]], docs_y[same[query_y]], docs_z[same[query_z]]
    differ: BoolArray = np.asarray(docs_y != docs_z, dtype=bool)
    same[query_y[differ]] = False
    return np.asarray(same, dtype=bool)
