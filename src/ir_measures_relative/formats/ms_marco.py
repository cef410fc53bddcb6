"""MS MARCO's runs: query, document and rank a line, between tabs."""

from __future__ import annotations

import re
from contextlib import suppress

import numpy as np

from ..data.arrays import IntArray
from ..data.ids import Ids
from ..io.readers import Given, Rows
from ..io.trec_columns import Columns
from ..messages import brief
from .content import Content, Format, Parts, codes_of

_RANKED = re.compile(rb"[^\t]+\t[^\t]+\t[0-9]+\s*")
_OTHER_SPACE = re.compile(rb"[ \v\f]")


def _read(content: Content) -> Parts:
    queries, docs, rank = _columns(content)
    heads = queries.changes()
    names = queries.take(heads).strings()
    query = np.repeat(codes_of(names), np.diff(np.append(heads, len(queries))))
    _check_ranks(query, rank, names)
    return {"": Given(Rows(queries, docs, -rank.astype(np.float64)))}


def _columns(content: Content) -> tuple[Ids, Ids, IntArray]:
    """The queries, the documents and the ranks; of the whole file at once where no id holds white space."""
    with suppress(ValueError):
        columns = Columns(content.data, 3)
        if not _OTHER_SPACE.search(content.data) and content.data.count(b"\t") == 2 * len(columns):
            return columns.ids(0), columns.ids(1), columns.whole_numbers(2)
    rows: list[list[str]] = []
    for number, line in enumerate(content.text.split("\n"), start=1):
        cells = [cell.strip() for cell in line.split("\t")]
        if not line.strip():
            continue
        if len(cells) != 3 or not all(cells):
            raise ValueError(
                f"{content.source}, line {number}: {len(cells)} columns where an MS MARCO run has three between tabs"
            )
        if not re.fullmatch("[0-9]{1,9}", cells[2]):
            raise ValueError(f"query {brief(cells[0])} has the rank {brief(cells[2])}; give whole numbers")
        rows.append(cells)
    queries, docs, ranks = map(list, zip(*rows, strict=True))
    return Ids.of(queries), Ids.of(docs), np.array(ranks, dtype=np.int64)


def _check_ranks(query: IntArray, rank: IntArray, names: object) -> None:
    """Raises ValueError where the numbers of a query are not 1, 2, 3 …: they may be scores."""
    order = np.lexsort((rank, query))
    first = np.flatnonzero(np.diff(query[order], prepend=-1))
    place = np.arange(len(order)) - np.repeat(first, np.diff(np.append(first, len(order)))) + 1
    wrong = np.flatnonzero(rank[order] != place)
    if len(wrong):
        code = query[order[wrong[0]]]
        name = list(dict.fromkeys(names))[code]  # type: ignore[call-overload]
        raise ValueError(
            f"the third column of query {brief(name)} is not the ranks 1 to {int((query == code).sum())}; if it holds "
            "scores, put the header 'query_id<TAB>doc_id<TAB>score' above"
        )


FORMATS = (
    Format(
        name="an MS MARCO run",
        holds=lambda content: _RANKED.fullmatch(content.line) is not None,
        runs=_read,
        note="In the order of the ranks, which must be 1, 2, 3 … in each query.",
    ),
)
