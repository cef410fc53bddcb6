"""MS MARCO's runs: query, document and rank a line, between tabs."""

from __future__ import annotations

import re

from ..io.readers import Given
from ..messages import brief
from .content import Content, Format, Parts, add_formats
from .measures import is_table_of_measures
from .tables import read_cells

_RANKED = re.compile(rb"[^\t]+\t[^\t]+\t[0-9]+\s*")


def _read(content: Content) -> Parts:
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
    named = rows.rename(columns={0: "query_id", 1: "doc_id"})
    # Whole numbers that count to four at most may be grades as well.
    may_be_grades = rank.max() <= 4
    return {"": Given(named.assign(score=-rank if may_be_grades else -rank.astype(float)), kind="table")}


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
