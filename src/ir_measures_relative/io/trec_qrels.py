"""TREC's files of judgments -> columns."""

from __future__ import annotations

import re

from ..data.arrays import IntArray
from ..data.ids import Ids
from .trec_columns import Columns, header_for, parsed, shown, without_comments

#: What to do about grades that are fractions.
OF_FRACTIONS = (
    "; if it is a run, give the qrels first and then the run, else make labels of fractions: by a threshold, such as "
    "int(grade >= 0.5), or by levels, such as round(10 * grade) with gains= in the measure"
)


def read_trec_qrels(data: bytes, source: str) -> tuple[Ids, Ids, Ids, IntArray]:
    """Return the columns of a TREC qrels file: ``query_id iteration doc_id relevance`` a line."""
    return parsed(without_comments(data, columns=4, number=3), source, _read, _mistake)


def _read(data: bytes) -> tuple[Ids, Ids, Ids, IntArray]:
    columns = Columns(data, 4)
    return columns.ids(0), columns.ids(1), columns.ids(2), columns.whole_numbers(3)


def _mistake(line: bytes) -> str:
    fields = line.split()
    if len(fields) != 4:
        swapped = "; it looks like a run: the qrels come first, then the run"
        hint = swapped if len(fields) == 6 else header_for(line, "relevance")
        return f"a TREC qrels line is 'query_id 0 doc_id relevance', not {shown(line)}{hint}"
    wrong = f"the relevance {shown(fields[3])} is not a whole number below 2^31 in size, written with the digits 0 to 9"
    return wrong + (OF_FRACTIONS if re.fullmatch(rb"[+-]?[0-9]*\.[0-9]*[1-9][0-9]*", fields[3]) else "")
