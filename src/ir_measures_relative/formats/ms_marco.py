"""MS MARCO's runs: query, document and rank a line, between tabs."""

from __future__ import annotations

import re

import numpy as np

from ..data.arrays import rank_within
from ..io.files import check_lines
from ..io.frames import id_column
from ..io.readers import RawData, RunColumns
from ..messages import brief
from .content import Content, Format, Parts, add_formats
from .measures import is_table_of_measures
from .tables import plain_columns, read_cells

_RANKED = re.compile(rb"[^\t]+\t[^\t]+\t[0-9]+\s*")


def _read(content: Content) -> Parts:
    run = _plain_run(content) or _run_of_cells(content)
    ranks = run.scores
    # Whole numbers that count to four at most may be grades as well.
    scores = -ranks if ranks.max() <= 4 else -ranks.astype(np.float64)
    return {"": RawData(run._replace(scores=scores), kind="table")}


def _plain_run(content: Content) -> RunColumns | None:
    """Return the run with its ranks where each query's rows stand together, in order; None for a closer look."""
    check_lines(content.data, content.source)
    columns = plain_columns(content.table, "\t", 3)
    if columns is None:
        return None
    queries, texts = columns.ids(0), columns.ids(2)
    starts = queries.changes()
    heads = queries.take(starts).strings()
    numbered = rank_within(np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(columns)))))
    try:
        ranks = columns.whole_numbers(2)
    except ValueError:
        return None
    are_digits = (texts.data[texts.starts] != ord("+")).all()
    in_order = are_digits and len(set(heads)) == len(heads) and (ranks == numbered).all()
    return RunColumns(queries, columns.ids(1), ranks) if in_order else None


def _run_of_cells(content: Content) -> RunColumns:
    rows = read_cells(content, 3, (0, 1, 2), quoted=False, blank=None)
    if rows.shape[1] != 3:
        raise ValueError(f"{rows.shape[1]} columns where an MS MARCO run has three between tabs")
    whole = rows[2].str.fullmatch("[0-9]{1,9}")
    wrong = rows[~(whole & (rows[0] != "") & (rows[1] != ""))]
    if len(wrong):
        query, doc, rank = wrong.iloc[0]
        raise ValueError(
            f"query {brief(query)}, document {brief(doc)} has the rank {brief(rank)}; give whole numbers"
        )
    rank = rows[2].astype("int64")
    numbered = rank.groupby(rows[0], sort=False).rank(method="first").astype("int64")
    if (rank != numbered).any():
        query = rows[0][rank != numbered].iloc[0]
        raise ValueError(
            f"the third column of query {brief(query)} is not the ranks 1 to {int((rows[0] == query).sum())}; if it "
            "holds scores, put the header 'query_id<TAB>doc_id<TAB>score' above"
        )
    queries, docs = (id_column(rows[i], copy=False) for i in (0, 1))
    return RunColumns(queries, docs, rank.to_numpy())


add_formats(
    "ms_marco",
    Format(
        name="an MS MARCO run",
        holds=lambda content: (
            _RANKED.fullmatch(content.line) is not None and not is_table_of_measures(content)
        ),
        runs=_read,
        instead="if its third column holds grades, put the header 'query_id<TAB>doc_id<TAB>relevance' above",
        note="In the order of the ranks, which must be 1, 2, 3 … in each query.",
        may_be_either=True,
    ),
)
