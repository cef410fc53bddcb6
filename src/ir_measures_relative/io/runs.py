"""Runs in any form as :class:`Rankings`."""

from __future__ import annotations

import itertools
import numbers
import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from operator import methodcaller
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from ..data.arrays import FloatArray, ObjectArray, object_array
from ..data.ids import Ids
from ..data.rankings import Rankings, has_many_ties
from ..messages import brief, few, kind_of
from .files import read_bytes, split_part
from .frames import find_columns, id_column, is_frame, names_in, rows_by_run, single_value
from .readers import RawData, RunColumns, read_foreign_file, read_object

if TYPE_CHECKING:
    import pandas as pd

#: What a run may be; see :func:`read_run`.
Run: TypeAlias = (
    "Rankings | Mapping[str, Mapping[str, float]] | Iterable[Any] | pd.DataFrame | str | os.PathLike[str]"
)

#: Paths of run files, folders, or globs.
RunPaths: TypeAlias = "str | os.PathLike[str] | Iterable[str | os.PathLike[str]]"

_FORMATS = (
    "a dict {query_id: {doc_id: score}}, an iterable of ir_measures.ScoredDoc, a DataFrame with columns "
    "query_id, doc_id, score (or qid, docno, score), or the path of a run file"
)


def read_run(run: Run, name: str = "the run", *, copy: bool = True) -> Rankings:
    """Return any run as :class:`Rankings`.

    Args:
        run: a dict of dict, an iterable of ``ScoredDoc``, a DataFrame (ir_measures' or PyTerrier's columns), the path
            of a file (TREC's format or one of the page "Files and libraries"), or the object of another library.
        name: the name of the run in messages.
        copy: whether to copy the ids of a frame, so that later changes of the frame do not matter.

    Raises:
        ValueError: content that is not a run; the message names run, query and document, or file and line.
        TypeError: an object of another kind.
        OSError: a file that cannot be read.
    """
    if isinstance(run, Rankings):
        return run
    if isinstance(run, (str, os.PathLike)):
        return _read_run_file(run, name)
    if isinstance(run, dict) and isinstance(next(iter(run.values()), None), Mapping):
        return _from_dict(run, name)
    if is_frame(run):
        return _from_frame(RawData(run), name, copy=copy)
    # Loading the readers of other libraries takes time; an iterator needs none, since no library has one for a run.
    raw = None if isinstance(run, Iterator) else read_object(run, name, as_run=True)
    if raw is not None:
        return _convert(raw, name)
    if isinstance(run, Mapping):
        return _from_dict(run, name)
    if isinstance(run, Iterable):
        return _from_scored_docs(run, name)
    raise TypeError(f"{name}: {kind_of(run)} is not a run; give {_FORMATS}")


def _from_dict(run: Mapping[str, Any], name: str, tag: str | None = None) -> Rankings:
    for query_id, docs in run.items():
        if not isinstance(docs, Mapping):
            raise ValueError(
                f"{name}: query {brief(query_id)} holds {kind_of(docs)}; a run given as a dict is "
                "{query_id: {doc_id: score}}, or has the columns query_id, doc_id and score"
            )
    joined = itertools.chain.from_iterable
    query_ids = np.fromiter(run, dtype=object).repeat(list(map(len, run.values())))
    scores = joined(map(methodcaller("values"), run.values()))
    unanswered = [q for q, docs in run.items() if not docs]  # empty rankings, on purpose
    return _from_columns(query_ids, joined(run.values()), scores, name, tag, unanswered)


def _from_scored_docs(run: Iterable[Any], name: str) -> Rankings:
    rows = list(run)
    raw = read_object(rows, name, as_run=True)  # rows that are dicts
    if raw is not None:
        return _convert(raw, name)
    columns = ("query_id", "doc_id", "score")
    try:
        query_ids, doc_ids, scores = ([getattr(row, column) for row in rows] for column in columns)
    except AttributeError:
        i, row = next((i, r) for i, r in enumerate(rows) if not all(hasattr(r, c) for c in columns))
        raise ValueError(
            f"{name}: an iterable whose item {i} is {kind_of(row)} is not a run; give {_FORMATS}"
        ) from None
    return _from_columns(object_array(query_ids), doc_ids, scores, name)


def _from_columns(
    queries: ObjectArray,
    doc_ids: Iterable[Any],
    scores: Iterable[Any],
    name: str,
    tag: str | None = None,
    asked: Collection[str] = (),
) -> Rankings:
    docs = object_array(doc_ids)
    values = _as_floats(object_array(scores), queries, docs, name)
    return Rankings(queries, docs, values, name=name, tag=tag, asked=asked)


def _convert(raw: RawData, name: str) -> Rankings:
    if is_frame(raw.content):
        return _from_frame(raw, name)
    if isinstance(raw.content, RunColumns):
        queries, docs, scores = raw.content
        return Rankings(queries, docs, scores.astype(np.float64), name=name, tag=raw.tag)
    return _from_dict(raw.content, name, raw.tag)


def _from_frame(raw: RawData, name: str, *, copy: bool = True) -> Rankings:
    frame = raw.content
    wanted = ("query_id", "doc_id", "score")
    query_column, doc_column, score_column = find_columns(frame, wanted, name, raw.kind, raw.columns)
    several = None if raw.is_one_run else rows_by_run(frame, name)
    if several is not None:
        column, rows = several
        raise ValueError(
            f"{name}: the {raw.kind} holds {len(rows)} runs, by its column {column!r}: {few(rows)}; choose one, such "
            f"as frame[frame[{column!r}] == {next(iter(rows))!r}]"
        )
    queries, docs = id_column(query_column, copy=False), id_column(doc_column, copy=copy)
    if score_column.dtype.kind in "fiu":
        scores: FloatArray = score_column.to_numpy(dtype=np.float64, na_value=np.nan)
    else:
        scores = _as_floats(score_column.to_numpy(dtype=object), queries, docs, name)
    names = (single_value(frame, column) for column in names_in(frame.columns, "name"))
    group = (single_value(frame, "group") or "") if "group" in frame.columns and len(frame) else None
    rankings = Rankings(queries, docs, scores, name=name, tag=raw.tag or next(names, None), group=group)
    if "rank" in frame.columns and frame["rank"].ndim == 1 and has_many_ties(rankings):
        ranks = frame["rank"]
        if ranks.dtype.kind in "iuf" and ranks.notna().all():
            rankings.ranks = ranks.to_numpy(dtype=np.float64)
    return rankings


def _as_floats(
    scores: ObjectArray, queries: Ids | ObjectArray, docs: Ids | ObjectArray, name: str
) -> FloatArray:
    if set(map(type, scores)) <= {float}:  # the usual case, and the fast way
        return scores.astype(np.float64)
    values = np.empty(len(scores))
    for row, score in enumerate(scores):
        mistake = None
        # Scalars of numpy and torch are not numbers.Real, but turn into one; a string would too, and must not.
        if isinstance(score, str) or not (isinstance(score, numbers.Real) or hasattr(score, "__float__")):
            from .trec_columns import is_number

            is_numeric = not isinstance(score, str) or is_number(score)
            remedy = "convert them with float()" if is_numeric else "write them as 1234.5, without commas"
            mistake = f"has the score {brief(score)}, {kind_of(score)}; scores must be numbers: {remedy}"
        else:
            try:
                values[row] = float(score)
            except (TypeError, ValueError, OverflowError) as error:
                mistake = f"has a score that is not a float ({error})"
        if mistake:
            query, doc = (c.string(row) if isinstance(c, Ids) else c[row] for c in (queries, docs))
            raise ValueError(f"{name}: query {brief(query)}, document {brief(doc)} {mistake}")
    return values


def _read_run_file(path: str | os.PathLike[str], name: str) -> Rankings:
    """Read the one run of a file."""
    source = name if name == os.fspath(path) else f"{name} ({path})"
    runs, _ = read_runs_in_file(path, source)
    check_not_empty(runs, source, "pass {} for a run that is meant to be empty")
    if len(runs) > 1:
        tags = [str(run.tag) for run in runs]
        raise ValueError(
            f"{source}: the file holds the runs {', '.join(map(repr, tags))}; say which behind the path, such as "
            f"'{path}#{tags[0]}', or read them all by RunContext.from_files"
        )
    return runs[0].with_attributes(name=name)


def read_runs_in_file(path: str | os.PathLike[str], source: str) -> tuple[list[Rankings], bool]:
    """Return the runs in a file, or in the part behind a ``#``; and whether they could also be judgments."""
    from .trec_columns import starts_as_trec  # not needed for frames and dicts
    from .trec_files import read_trec_runs

    file, part = split_part(path)
    if os.path.isdir(file):
        raise IsADirectoryError(f"{source} is a folder; give a file, or use RunContext.from_files")
    data = read_bytes(file, source)
    is_trec = starts_as_trec(data, columns=6, number=4)
    content = None if is_trec else read_foreign_file(data, source, part, as_run=True)
    if content is None:
        runs = [run for run in read_trec_runs(data, source) if part in (None, run.tag)]
        if not runs:
            raise ValueError(f"{source}: no run in the file has the tag {part!r}; leave out '#{part}'")
        return runs, False
    runs = [_convert(raw, source) for raw in content.parts]
    for rankings in runs:
        rankings.check_documents()
    return runs, content.may_be_judgments


def check_not_empty(runs: Sequence[Rankings], source: str, alternative: str) -> None:
    """Raise ValueError for a file without a ranking: a job that failed may have written it."""
    if not any(map(len, runs)):
        raise ValueError(f"{source} holds no ranking; check the job that wrote it, or {alternative}")
