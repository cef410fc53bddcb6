"""A run file -> :class:`Rankings`: TREC's format here, others by their readers."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, TypeAlias

import numpy as np

from ..data.arrays import FloatArray, IntArray
from ..data.ids import repeated
from ..data.rankings import NOT_FINITE, TOO_LARGE, Rankings
from ..messages import brief
from .files import located, read_bytes
from .frames import rows_by_run
from .readers import Given, read_foreign_file
from .trec_columns import Columns, header_for, is_number, parsed, shown, starts_as_trec, without_comments

#: What makes a run of what a reader of other formats returned: :func:`.runs.run_of_given`.
Converter: TypeAlias = Callable[[Given, str], Rankings]


def read_run_file(path: str | os.PathLike[str], name: str, convert: Converter) -> Rankings:
    """Return the one run of a file."""
    source = name if name == os.fspath(path) else f"{name} ({path})"
    found, _ = runs_of_file(path, source, convert)
    check_has_rows(found, source, "pass {} for a run that is meant to be empty")
    if len(found) > 1:
        tags = [str(run.tag) for run in found]
        raise ValueError(
            f"{source}: the file holds the runs {', '.join(map(repr, tags))}; say which behind the path, such as "
            f"'{path}#{tags[0]}', or read them all by RunContext.from_files"
        )
    return found[0].named(name)


def runs_of_file(
    path: str | os.PathLike[str], source: str, convert: Converter
) -> tuple[list[Rankings], bool]:
    """The runs that a file holds, or the one that a part of it is; and whether it may as well be judgments."""
    file, part = located(path)
    if os.path.isdir(file):
        raise IsADirectoryError(f"{source} is a folder; give a file, or use RunContext.from_files")
    data = read_bytes(file, source)
    is_trec = starts_as_trec(data, columns=6, number=4)
    content = None if is_trec else read_foreign_file(data, source, part, as_run=True)
    if content is None:
        runs = read_trec_runs(data, source)
        chosen = [run for run in runs if part in (None, run.tag)]
        if not chosen:
            raise ValueError(f"{source}: no run in the file has the tag {part!r}; leave out '#{part}'")
        return chosen, False
    found = [convert(given, source) for given in content.parts]
    for rankings in found:
        rankings.check_documents()
    return found, content.may_be_judgments


def check_has_rows(runs: Sequence[Rankings], source: str, otherwise: str) -> None:
    """Raises ValueError for a file without a ranking: a job that failed may have written it."""
    if not any(map(len, runs)):
        raise ValueError(f"{source} holds no ranking; check the job that wrote it, or {otherwise}")


def read_trec_runs(data: bytes, source: str) -> list[Rankings]:
    """The run in the content of a TREC run file, or the runs, where rankings have rows of several tags."""
    data = without_comments(data, columns=6, number=4)
    columns, scores = parsed(data, source, _trec_columns, _mistake)
    queries, docs, tags = (columns.ids(i) for i in (0, 2, 5))
    blocks = tags.changes()
    names = list(dict.fromkeys(tags.take(blocks).strings()))
    cut = len(blocks) == 2 and blocks[1] == len(tags) - 1 and names[0].startswith(names[1])
    if cut := cut and not data.endswith(b"\n"):  # in the middle of the last row
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
    for tag, of_run in rows.items():
        runs.append(Rankings(queries.take(of_run), docs.take(of_run), scores[of_run], name=source, tag=tag))
        if runs[-1].has_many_ties:
            with suppress(ValueError):  # what no program reads may be no number
                runs[-1].ranks = columns.floats(3)[of_run]
        try:
            runs[-1].check_documents()
        except ValueError as error:
            message = message or _repeated(columns, source, of_run) or str(error)
    runs[-1].ends_within_row = cut
    if not message:
        return runs
    del columns, scores, queries, docs, tags, blocks, rows, runs  # which the traceback would keep
    raise ValueError(message)


def _trec_columns(data: bytes) -> tuple[Columns, FloatArray]:
    columns = Columns(data, 6)
    scores = columns.floats(4)
    if np.abs(scores).max(initial=0) >= TOO_LARGE:
        raise ValueError
    return columns, scores


_SWAPPED = "; it looks like judgments: the qrels come first, then the run"


def _mistake(line: bytes) -> str:
    fields = line.split()
    if len(fields) != 6:
        hint = "; no id may hold a blank, and no word may follow the tag"
        if len(fields) < 6:
            hint = _SWAPPED if len(fields) == 4 else header_for(line, "score")
        return (
            f"{len(fields)} column{'s' * (len(fields) != 1)} where a TREC run has six "
            f"(query_id Q0 doc_id rank score tag): {shown(line)}{hint}"
        )
    query_id, doc_id, score = (shown(fields[i]) for i in (0, 2, 4))
    if is_number(fields[4]) and not abs(float(fields[4])) < TOO_LARGE:  # nan, inf, or 1e39
        return f"query {query_id}, document {doc_id} has the score {score[1:-1]}; {NOT_FINITE}"
    return f"the score {score} is not a number; write numbers with the digits 0 to 9, such as 12.5 or 1.25e1"


def _repeated(columns: Columns, source: str, of_run: IntArray | slice) -> str | None:
    """Where a document stands a second time in a ranking of the run that has these rows; None where none does."""
    queries, docs = columns.ids(0), columns.ids(2)
    own = queries.take(of_run)
    rows = repeated(own.hashes().view(np.int64), docs.take(of_run), docs.take(of_run).hashes())
    if rows is None:
        return None
    a, b = np.arange(len(columns))[of_run][list(rows)].tolist()
    return (
        f"{source}, line {columns.line(b)}: query {brief(queries.string(b))} lists document {brief(docs.string(b))} "
        f"more than once, before in line {columns.line(a)}; a ranking holds a document once: drop the duplicates"
    )
