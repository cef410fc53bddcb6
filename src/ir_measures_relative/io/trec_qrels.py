"""TREC's files of judgments -> columns."""

from __future__ import annotations

import re

from .qrels import OF_FRACTIONS, QrelsColumns, QrelsFile, aspects_in
from .trec_columns import Columns, header_for, parsed, shown, without_comments


def read_trec_qrels(data: bytes, source: str) -> QrelsFile:
    """The judgments in the content of a TREC qrels file: ``query_id 0 doc_id relevance`` a line."""
    return parsed(without_comments(data, columns=4, number=3), source, _trec_columns, _mistake)


def _trec_columns(data: bytes) -> QrelsFile:
    columns = Columns(data, 4)
    iterations = columns.ids(1)
    judged = QrelsColumns(columns.ids(0), columns.ids(2), columns.whole_numbers(3), aspects_in(iterations))
    return QrelsFile(judged, iterations)


def _mistake(line: bytes) -> str:
    fields = line.split()
    if len(fields) != 4:
        swapped = "; it looks like a run: the qrels come first, then the run"
        hint = swapped if len(fields) == 6 else header_for(line, "relevance")
        return f"a TREC qrels line is 'query_id 0 doc_id relevance', not {shown(line)}{hint}"
    wrong = f"the relevance {shown(fields[3])} is not a whole number below 2^31 in size, written with the digits 0 to 9"
    return wrong + (OF_FRACTIONS if re.fullmatch(rb"[+-]?[0-9]*\.[0-9]*[1-9][0-9]*", fields[3]) else "")
