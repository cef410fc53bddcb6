"""Any run -> :class:`Rankings`."""

from __future__ import annotations

import itertools
import numbers
import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from operator import methodcaller
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from ..data.arrays import FloatArray, ObjectArray, object_array
from ..data.ids import Ids
from ..data.rankings import Rankings
from ..messages import brief, few, kind_of
from .frames import find_columns, is_frame, names_in, rows_by_run, single_value, text_of
from .readers import Given, RunColumns, read_object

if TYPE_CHECKING:
    import pandas as pd

#: What a run may be; see :func:`read_run`.
Run: TypeAlias = (
    "Rankings | Mapping[str, Mapping[str, float]] | Iterable[Any] | pd.DataFrame | str | os.PathLike[str]"
)

_FORMATS = (
    "a dict {query_id: {doc_id: score}}, an iterable of ir_measures.ScoredDoc, a DataFrame with columns "
    "query_id, doc_id, score (or qid, docno, score), or the path of a run file"
)


def read_run(run: Run, name: str = "the run", *, kept: bool = True) -> Rankings:
    """Any run as :class:`Rankings`.

    Args:
        run: a dict of dict, an iterable of ``ScoredDoc``, a DataFrame (ir_measures' or PyTerrier's columns), the path
            of a file (TREC's format or one of the page "Formats"), or the object of another library.
        name: what messages call it.
        kept: whether the rankings outlast what the caller may do to a frame.

    Raises:
        ValueError: content that is not a run; the message names run, query and document, or file and line.
        TypeError: an object of another kind.
        OSError: a file that cannot be read.
    """
    if isinstance(run, Rankings):
        return run
    if isinstance(run, (str, os.PathLike)):
        from .run_file import read_run_file  # which frames and dicts do without

        return read_run_file(run, name, run_of_given)
    if isinstance(run, dict) and isinstance(next(iter(run.values()), None), Mapping):
        return _from_dict(run, name)
    if is_frame(run):
        return _from_frame(Given(run), name, kept=kept)
    # To look for the readers of other libraries takes time, and none of these libraries' objects is an iterator.
    given = None if isinstance(run, Iterator) else read_object(run, name, as_run=True)
    if given is not None:
        return run_of_given(given, name)
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
    query_ids = joined(map(itertools.repeat, run, map(len, run.values())))
    scores = joined(map(methodcaller("values"), run.values()))
    unanswered = [q for q, docs in run.items() if not docs]  # which are empty rankings on purpose
    return _from_columns(query_ids, joined(run.values()), scores, name, tag, unanswered)


def _from_scored_docs(run: Iterable[Any], name: str) -> Rankings:
    rows = list(run)
    given = read_object(rows, name, as_run=True)  # rows that are dicts
    if given is not None:
        return run_of_given(given, name)
    try:
        query_ids, doc_ids, scores = (
            [getattr(r, column) for r in rows] for column in ("query_id", "doc_id", "score")
        )
    except AttributeError:
        place, bad = next(
            (i, r)
            for i, r in enumerate(rows)
            if not all(hasattr(r, c) for c in ("query_id", "doc_id", "score"))
        )
        raise ValueError(
            f"{name}: an iterable whose item {place} is {kind_of(bad)} is not a run; give {_FORMATS}"
        ) from None
    return _from_columns(query_ids, doc_ids, scores, name)


def _from_columns(
    query_ids: Iterable[Any],
    doc_ids: Iterable[Any],
    scores: Iterable[Any],
    name: str,
    tag: str | None = None,
    asked: Collection[str] = (),
) -> Rankings:
    queries, docs = object_array(query_ids), object_array(doc_ids)
    values = _as_floats(object_array(scores), queries, docs, name)
    return Rankings(queries, docs, values, name=name, tag=tag, asked=asked)


def run_of_given(given: Given, name: str) -> Rankings:
    """Return what a reader of other formats or objects made as :class:`Rankings`."""
    if is_frame(given.content):
        return _from_frame(given, name)
    if isinstance(given.content, RunColumns):
        queries, docs, scores = given.content
        return Rankings(queries, docs, scores.astype(np.float64), name=name, tag=given.tag)
    return _from_dict(given.content, name, given.tag)


def _from_frame(given: Given, name: str, *, kept: bool = True) -> Rankings:
    frame = given.content
    wanted = ("query_id", "doc_id", "score")
    query_column, doc_column, score_column = find_columns(frame, wanted, name, given.kind, given.columns)
    several = None if given.is_one_run else rows_by_run(frame, name)
    if several is not None:
        column, rows = several
        raise ValueError(
            f"{name}: the {given.kind} holds {len(rows)} runs, by its column {column!r}: {few(rows)}; choose one, such "
            f"as frame[frame[{column!r}] == {next(iter(rows))!r}]"
        )
    queries = text_of(query_column, kept=False)
    docs = text_of(doc_column, kept=kept)
    rankings = Rankings(
        queries,
        docs,
        scores_of(score_column, queries, docs, name),
        name=name,
        tag=given.tag
        or next((single_value(frame, column) for column in names_in(frame.columns, "name")), None),
        group=(single_value(frame, "group") or "") if "group" in frame.columns and len(frame) else None,
    )
    if rankings.has_many_ties and "rank" in frame.columns and frame["rank"].ndim == 1:
        ranks = frame["rank"]
        if ranks.dtype.kind in "iuf" and ranks.notna().all():
            rankings.ranks = ranks.to_numpy(dtype=np.float64)
    return rankings


def scores_of(column: Any, queries: Ids | ObjectArray, docs: Ids | ObjectArray, name: str) -> FloatArray:
    """The scores in a column of a DataFrame; raises ValueError for one that is not a number."""
    if column.dtype.kind in "fiu":
        scores: FloatArray = column.to_numpy(dtype=np.float64, na_value=np.nan)
        return scores
    return _as_floats(column.to_numpy(dtype=object), queries, docs, name)


def _as_floats(
    scores: ObjectArray, queries: Ids | ObjectArray, docs: Ids | ObjectArray, name: str
) -> FloatArray:
    if set(map(type, scores)) <= {float}:  # as JSON has them: there is nothing to look at
        return scores.astype(np.float64)
    values = np.empty(len(scores))
    for row, score in enumerate(scores):
        # numpy's and torch's scalars are not numbers.Real, but turn into one; a string would too, and must not.
        wrong = None
        if isinstance(score, str) or not (isinstance(score, numbers.Real) or hasattr(score, "__float__")):
            from .trec_columns import is_number

            convert = not isinstance(score, str) or is_number(score)
            remedy = "convert them with float()" if convert else "write them as 1234.5, without commas"
            wrong = f"has the score {brief(score)}, {kind_of(score)}; scores must be numbers: {remedy}"
        else:
            try:
                values[row] = float(score)
            except (TypeError, ValueError, OverflowError) as error:
                wrong = f"has a score that is not a float ({error})"
        if wrong:
            query, doc = (c.string(row) if isinstance(c, Ids) else c[row] for c in (queries, docs))
            raise ValueError(f"{name}: query {brief(query)}, document {brief(doc)} {wrong}")
    return values


def run_groups(runs: Mapping[str, Rankings]) -> dict[str, str] | None:
    """The group of every run, where the files say one of each; else None."""
    groups = {name: run.group for name, run in runs.items() if run.group}
    return groups if len(groups) == len(runs) else None
