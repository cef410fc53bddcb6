"""TREC run files and qrels files -> columns."""

from __future__ import annotations

import os
from typing import NamedTuple

from ..arrays import IntArray
from ..ids import Ids
from ..rankings import Rankings
from . import text
from .files import read_bytes


def read_trec_run(data: bytes, source: str, name: str) -> Rankings:
    """The rankings of a TREC run file: ``query_id Q0 doc_id rank score tag`` a line.

    Row order and the rank column are ignored.

    Args:
        data: the content of the file.
        source: what messages call it.
        name: what the rankings are called.

    Raises:
        ValueError: a line without six columns, a score that is not a number, a document that stands twice; names
            file and line, or query and document.
    """
    try:
        columns = text.Columns(data, 6)
        scores = columns.floats(4)
    except ValueError:
        raise ValueError(_first_bad_line_of_run(data, source)) from None
    tags = columns.ids(5)
    tags = tags.take(tags.changes())
    tag = tags.string(0) if len(tags) == 1 else None
    rankings = Rankings(columns.ids(0), columns.ids(2), scores, name=name, tag=tag)
    rankings.check_documents()
    return rankings


def _first_bad_line_of_run(data: bytes, source: str) -> str:
    for number, line in text.lines(data):
        where = f"{source}, line {number}: "
        wrong = text.what_is_wrong(line)
        if wrong:
            return where + wrong
        fields = line.split()
        if len(fields) != 6:
            hint = (
                "; it looks like CSV: read it with pandas and give the DataFrame" if text.is_csv(line) else ""
            )
            return (
                f"{where}{len(fields)} columns where a TREC run has six (query_id Q0 doc_id rank score tag): "
                f"{text.shown(line)}{hint}"
            )
        score = fields[4]
        if text.is_number(score):
            continue
        query_id, doc_id, shown = (fields[i][:80].decode() for i in (0, 2, 4))
        if score.lower().lstrip(b"+-") in (b"nan", b"inf", b"infinity"):
            return (
                f"{where}query {query_id!r}, document {doc_id!r} has the score {shown}; every score must be a finite "
                "number: drop the row or give it a score"
            )
        return f"{where}the score {shown!r} is not a number"
    return f"{source}: not a TREC run file in UTF-8"


class TrecQrels(NamedTuple):
    """The columns of a TREC qrels file."""

    query_ids: Ids
    iterations: Ids  #: mostly 0; the subtopic where there are some
    doc_ids: Ids
    relevance: IntArray


def read_trec_qrels(path: str | os.PathLike[str]) -> TrecQrels:
    """Reads a TREC qrels file: ``query_id 0 doc_id relevance`` a line, plain or packed.

    Raises:
        FileNotFoundError: no such file.
        ValueError: a line without four columns, or a relevance that is not a whole number; names file and line.
    """
    source = f"the qrels {path}"
    data = read_bytes(path, source)
    try:
        columns = text.Columns(data, 4)
        return TrecQrels(columns.ids(0), columns.ids(1), columns.ids(2), columns.whole_numbers(3))
    except ValueError:
        raise ValueError(_first_bad_line_of_qrels(data, source)) from None


def _first_bad_line_of_qrels(data: bytes, source: str) -> str:
    for number, line in text.lines(data):
        where = f"{source}, line {number}: "
        wrong = text.what_is_wrong(line)
        if wrong:
            return where + wrong
        try:
            text.Columns(line, 4).whole_numbers(3)
        except ValueError:
            hint = (
                "; it looks like CSV: read it with pandas and give the DataFrame" if text.is_csv(line) else ""
            )
            return f"{where}a TREC qrels line is 'query_id 0 doc_id relevance', not {text.shown(line)}{hint}"
    return f"{source}: not a TREC qrels file in UTF-8"
