"""TREC run files and qrels files -> columns."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..arrays import FloatArray, IntArray
from ..ids import Ids, pair_keys
from ..rankings import Rankings
from . import text


def read_trec_run(data: bytes, source: str, name: str) -> Rankings:
    """The rankings of a TREC run file: ``query_id Q0 doc_id rank score tag`` a line.

    Row order and the rank column are ignored.

    Args:
        data: the content of the file.
        source: what messages call it.
        name: what the rankings are called.

    Raises:
        ValueError: a line without six columns, a score that is not a number, a document that stands twice; names
            file and line.
    """
    result = _run_or_mistake(data, source, name)
    if isinstance(result, str):  # and what it took to find the mistake is let go
        raise ValueError(result)
    return result


def _run_or_mistake(data: bytes, source: str, name: str) -> Rankings | str:
    try:
        checked = _check_run(data)
    except ValueError:
        checked = None
    if checked is None:
        number, line = text.first_bad_line(data, _check_run)
        return f"{source}, line {number}: {_what_is_wrong_in_run(line)}"
    columns, scores = checked
    tags = columns.ids(5)
    tags = tags.take(tags.changes())
    tag = tags.string(0) if len(tags) == 1 else None
    rankings = Rankings(columns.ids(0), columns.ids(2), scores, name=name, tag=tag)
    try:
        rankings.check_documents()
    except ValueError as error:
        return _repeated(columns, source) or str(error)
    return rankings


def _check_run(data: bytes) -> tuple[text.Columns, FloatArray]:
    columns = text.Columns(data, 6)
    return columns, columns.floats(4)


def _what_is_wrong_in_run(line: bytes) -> str:
    wrong = text.what_is_wrong(line)
    if wrong:
        return wrong
    fields = line.split()
    if len(fields) != 6:
        return (
            f"{len(fields)} columns where a TREC run has six (query_id Q0 doc_id rank score tag): "
            f"{text.shown(line)}{text.format_hint(line)}"
        )
    query_id, doc_id, score = (text.shown(fields[i]) for i in (0, 2, 4))
    try:
        finite = bool(np.isfinite(float(fields[4])))
    except ValueError:
        finite = True
    if not finite:  # nan, inf, or 1e400
        return (
            f"query {query_id}, document {doc_id} has the score {score[1:-1]}; every score must be a finite number: "
            "drop the row or give it a score"
        )
    return f"the score {score} is not a number; write numbers with the digits 0 to 9, such as 12.5 or 1.25e1"


def _repeated(columns: text.Columns, source: str) -> str | None:
    """Where a document stands a second time in a ranking; None where none does."""
    queries, docs = columns.ids(0), columns.ids(2)
    keys = pair_keys(queries.hashes().view(np.int64), docs.hashes())
    order = np.argsort(keys, kind="stable")
    same = np.flatnonzero(keys[order[1:]] == keys[order[:-1]])
    first, second = order[same], order[same + 1]
    true = queries.equal(first, queries, second) & docs.equal(first, docs, second)
    if not true.any():
        return None
    pair = int(np.flatnonzero(true)[np.argmin(second[true])])
    a, b = int(first[pair]), int(second[pair])
    return (
        f"{source}, line {columns.line(b)}: query {queries.string(b)!r} lists document {docs.string(b)!r} more than "
        f"once, before in line {columns.line(a)}; a ranking holds a document once: drop the duplicates"
    )


class TrecQrels(NamedTuple):
    """The columns of a TREC qrels file."""

    query_ids: Ids
    iterations: Ids  #: mostly 0; the subtopic where there are some
    doc_ids: Ids
    relevance: IntArray


def read_trec_qrels(data: bytes, source: str) -> TrecQrels:
    """The columns of a TREC qrels file: ``query_id 0 doc_id relevance`` a line.

    Args:
        data: the content of the file.
        source: what messages call it.

    Raises:
        ValueError: a line without four columns, or a relevance that is not a whole number; names file and line.
    """
    result = _qrels_or_mistake(data, source)
    if isinstance(result, str):
        raise ValueError(result)
    return result


def _qrels_or_mistake(data: bytes, source: str) -> TrecQrels | str:
    try:
        return _check_qrels(data)
    except ValueError:
        pass
    number, line = text.first_bad_line(data, _check_qrels)
    return f"{source}, line {number}: {_what_is_wrong_in_qrels(line)}"


def _check_qrels(data: bytes) -> TrecQrels:
    columns = text.Columns(data, 4)
    return TrecQrels(columns.ids(0), columns.ids(1), columns.ids(2), columns.whole_numbers(3))


def _what_is_wrong_in_qrels(line: bytes) -> str:
    wrong = text.what_is_wrong(line)
    if wrong:
        return wrong
    fields = line.split()
    if len(fields) != 4:
        return f"a TREC qrels line is 'query_id 0 doc_id relevance', not {text.shown(line)}{text.format_hint(line)}"
    return (
        f"the relevance {text.shown(fields[3])} is not a whole number below 2^31 in size, written with the digits 0 "
        "to 9"
    )
