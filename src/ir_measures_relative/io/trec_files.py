"""TREC's files of runs and of judgments."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import Any

import numpy as np

from ..data.arrays import FloatArray, IntArray
from ..data.ids import Ids, repeated
from ..data.rankings import NOT_FINITE, TOO_LARGE, Rankings, has_many_ties
from ..messages import brief
from .frames import rows_by_run
from .trec_columns import Columns, is_number, parse_lines, quote, suggest_header, without_comments


def read_trec_runs(data: bytes, source: str) -> list[Rankings]:
    """Return the run in the content of a file; several, where rankings have rows of several tags."""
    data = without_comments(data, columns=6, number=4)
    columns, scores = parse_lines(data, source, _run_columns, _explain_run_line)
    queries, docs, tags = (columns.ids(i) for i in (0, 2, 5))
    blocks = tags.changes()
    names = list(dict.fromkeys(tags.take(blocks).strings()))
    is_cut = len(blocks) == 2 and blocks[1] == len(tags) - 1 and names[0].startswith(names[1])
    if is_cut := is_cut and not data.endswith(b"\n"):  # within the tag of the last row
        names = names[:1]
    rows: dict[Any, Any] = {names[0] if len(names) == 1 else None: slice(None)}
    if len(names) > 1:
        import pandas as pd

        frame = pd.DataFrame(
            {n: columns.ids(i).strings() for n, i in (("query_id", 0), ("rank", 3), ("tag", 5))}
        )
        several = rows_by_run(frame, source)
        rows = rows if several is None else several[1]
    runs, message = list[Rankings](), ""
    for tag, run_rows in rows.items():
        run = Rankings(queries.take(run_rows), docs.take(run_rows), scores[run_rows], name=source, tag=tag)
        runs.append(run)
        if has_many_ties(run):
            with suppress(ValueError):  # ranks that no program reads may be no numbers
                run.ranks = columns.floats(3)[run_rows]
        try:
            run.check_documents()
        except ValueError as error:
            message = message or _explain_repeat(columns, source, run_rows) or str(error)
    runs[-1].ends_within_row = is_cut
    if not message:
        return runs
    del columns, scores, queries, docs, tags, blocks, rows, runs, run  # the traceback would keep them
    raise ValueError(message)


def _run_columns(data: bytes) -> tuple[Columns, FloatArray]:
    columns = Columns(data, 6)
    scores = columns.floats(4)
    if np.abs(scores).max(initial=0) >= TOO_LARGE:
        raise ValueError
    return columns, scores


def _explain_run_line(line: bytes) -> str:
    fields = line.split()
    if len(fields) != 6:
        hint = "; no id may hold a blank, and no word may follow the tag"
        if len(fields) == 4:
            hint = "; it looks like judgments: the qrels come first, then the run"
        elif len(fields) < 6:
            hint = suggest_header(line, "score")
        return (
            f"{len(fields)} column{'s' * (len(fields) != 1)} where a TREC run has six "
            f"(query_id Q0 doc_id rank score tag): {quote(line)}{hint}"
        )
    query_id, doc_id, score = (quote(fields[i]) for i in (0, 2, 4))
    if is_number(fields[4]) and not abs(float(fields[4])) < TOO_LARGE:  # nan, inf, or 1e39
        return f"query {query_id}, document {doc_id} has the score {score[1:-1]}; {NOT_FINITE}"
    return f"the score {score} is not a number; write numbers with the digits 0 to 9, such as 12.5 or 1.25e1"


def _explain_repeat(columns: Columns, source: str, run_rows: IntArray | slice) -> str | None:
    """Name the lines of the first document that a ranking of these rows lists twice; None without one."""
    queries, docs = columns.ids(0).take(run_rows), columns.ids(2).take(run_rows)
    rows = repeated(queries.hashes().view(np.int64), docs, docs.hashes())
    if rows is None:
        return None
    first, second = (columns.line(row) for row in np.arange(len(columns))[run_rows][list(rows)].tolist())
    query, doc = queries.string(rows[1]), docs.string(rows[1])
    return (
        f"{source}, line {second}: query {brief(query)} lists document {brief(doc)} more than once, before in line "
        f"{first}; a ranking holds a document once: drop the duplicates"
    )


#: What to do about grades that are fractions.
FRACTIONS_REMEDY = (
    "; if it is a run, give the qrels first and then the run, else make labels of fractions: by a threshold, such as "
    "int(grade >= 0.5), or by levels, such as round(10 * grade) with gains= in the measure"
)


def read_trec_qrels(data: bytes, source: str) -> tuple[Ids, Ids, Ids, IntArray]:
    """Return the columns of the content of a file with ``query_id iteration doc_id relevance`` in each line."""
    return parse_lines(
        without_comments(data, columns=4, number=3), source, _qrels_columns, _explain_qrels_line
    )


def _qrels_columns(data: bytes) -> tuple[Ids, Ids, Ids, IntArray]:
    columns = Columns(data, 4)
    return columns.ids(0), columns.ids(1), columns.ids(2), columns.whole_numbers(3)


def _explain_qrels_line(line: bytes) -> str:
    fields = line.split()
    if len(fields) != 4:
        swapped = "; it looks like a run: the qrels come first, then the run"
        hint = swapped if len(fields) == 6 else suggest_header(line, "relevance")
        return f"a TREC qrels line is 'query_id 0 doc_id relevance', not {quote(line)}{hint}"
    is_fraction = re.fullmatch(rb"[+-]?[0-9]*\.[0-9]*[1-9][0-9]*", fields[3])
    return (
        f"the relevance {quote(fields[3])} is not a whole number below 2^31 in size, written with the digits 0 to 9"
        + (FRACTIONS_REMEDY if is_fraction else "")
    )
