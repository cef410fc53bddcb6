"""The columns of a DataFrame: ir_measures' names, PyTerrier's, or other libraries'."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, TypeGuard

import numpy as np

from ..data.arrays import IntArray, ObjectArray, object_array
from ..data.ids import Ids
from ..messages import few, few_quoted, warn

#: ir_measures' name of a column, then PyTerrier's.
NAMES = {"query_id": "qid", "doc_id": "docno", "relevance": "label", "score": "score", "name": "name"}

#: Every name of a column, ours and PyTerrier's first: of several in one table, the first counts. The others are names
#: in trectools, HuggingFace's ``evaluate``, BEIR, ranx and LensKit, and in tables that people write themselves.
SYNONYMS: dict[str, tuple[str, ...]] = {
    "query_id": ("query_id", "qid", "query-id", "q_id", "topic_id", "user_id", "topic", "query", "user"),
    "doc_id": ("doc_id", "docno", "corpus-id", "docid", "item_id", "pid", "did", "document", "item"),
    "relevance": ("relevance", "label", "rel", "rating"),
    "score": ("score",),
    "name": ("name", "system"),
}

#: Columns that may say which run a row is of.
RUN_COLUMNS = ("name", "system", "system_id", "run", "run_id", "model", "tag")

# The columns of queries of BEIR and ranx, whose judgments have their grades in the column ``score``.
_JUDGED_BY_SCORE = {"query-id", "q_id"}

# Columns whose ids usually are numbers, which count as their digits.
_NUMBERED = ("user_id", "item_id", "user", "item")


def is_frame(value: object) -> TypeGuard[Any]:
    """Return whether a value is a DataFrame of pandas, or of a library that imitates it."""
    return hasattr(value, "itertuples") and hasattr(value, "columns")


def names_in(columns: Collection[Any], column: str) -> list[str]:
    """Return the names of a column among those of columns: one, or ours and PyTerrier's; none if it is missing."""
    names = [name for name in SYNONYMS[column] if name in columns]
    if column == "relevance" and not names and set(names_in(columns, "query_id")) & _JUDGED_BY_SCORE:
        return names_in(columns, "score")
    ours = [name for name in dict.fromkeys((column, NAMES[column])) if name in names]
    return ours or names[:1]


def column_names(
    frame: Any, wanted: Sequence[str], source: str, kind: str = "DataFrame", columns: Sequence[str] = ()
) -> list[list[str]]:
    """Return the names of each wanted column in a frame of pandas or Dask: one name, or both ours and PyTerrier's."""
    names = [names_in(frame.columns, column) for column in wanted]
    if all(names):
        return names
    column = wanted[names.index([])]
    other = f" (or {NAMES[column]!r})" if NAMES[column] != column else ""
    is_run = column == "relevance" and "score" in frame.columns
    raise ValueError(
        f"{source}: the {kind} has no column {column!r}{other}; its columns are "
        f"{few_quoted([str(c)[:80] for c in (columns or frame.columns)])}, and {', '.join(wanted[:-1])} and "
        f"{wanted[-1]} are needed{'; if it is a run, give the qrels first and then the run' if is_run else ''}"
    )


def find_columns(
    frame: Any, wanted: Sequence[str], source: str, kind: str = "DataFrame", columns: Sequence[str] = ()
) -> list[Any]:
    """Return the wanted columns of a pandas frame, whichever names it has for them."""
    names = column_names(frame, wanted, source, kind, columns)
    return [_find_column(frame, synonyms, source, kind) for synonyms in names]


def _find_column(frame: Any, names: list[str], source: str, kind: str) -> Any:
    column = frame[names[0]]
    if column.ndim != 1:
        raise ValueError(f"{source}: the column {names[0]!r} stands twice in the {kind}; drop one")
    if names[0] in _NUMBERED and column.dtype.kind in "iu":
        return column.astype(str)
    for other in names[1:]:
        if frame[other].ndim != 1 or not column.astype(object).equals(frame[other].astype(object)):
            raise ValueError(f"{source}: the columns {names[0]!r} and {other!r} differ; drop one")
    return column


def rows_by_run(frame: Any, source: str) -> tuple[str, dict[str, IntArray]] | None:
    """Return the column that names several runs, and the rows of each; None where all rows are of one run.

    They are of one run, with a warning, also where each topic has one name only, or where the ranks of a topic count
    through its rows of all names.
    """
    import pandas as pd

    for column in RUN_COLUMNS if names_in(frame.columns, "query_id") else ():
        if column not in frame.columns or frame[column].ndim != 1 or single_value(frame, column) is not None:
            continue
        values = frame[column].astype(str) if frame[column].dtype.kind in "iu" else frame[column]
        run, names = pd.factorize(object_array(v if isinstance(v, str) else "" for v in values))
        if len(names) - ("" in names) < 2:  # only strings, and whole numbers, name a run
            continue
        query = pd.factorize(frame[names_in(frame.columns, "query_id")[0]])[0]
        has_rank = "rank" in frame.columns and frame["rank"].ndim == 1
        rank = pd.factorize(frame["rank"])[0] if has_rank else np.zeros(len(frame), dtype=np.int64)
        by_topic = len(np.unique(query * len(names) + run)) == len(np.unique(query))
        if not by_topic and len(np.unique(query * len(frame) + rank)) < len(frame):
            return column, {name: np.flatnonzero(run == i) for i, name in enumerate(names)}
        why = "each topic has one of them" if by_topic else "the ranks count through the rows of all"
        warn(
            f"{source}: the column {column!r} names {few(names, 4)}, and {why}: they count as one run; split them if "
            "they are several"
        )
    return None


def id_column(column: Any, *, copy: bool = True) -> Ids | ObjectArray:
    """Return a column of ids: the bytes of an Arrow column as they are, else its objects, copied if asked for."""
    ids = _arrow_ids(column)
    if ids is not None:
        return ids
    objects: ObjectArray = column.to_numpy(dtype=object)
    return objects.copy() if copy else objects


def _arrow_ids(column: Any) -> Ids | None:
    """Return the ids of a column of Arrow strings; None for another column, or where a value is missing."""
    array = getattr(column, "array", None)
    if array is None or not hasattr(array, "__arrow_array__"):
        return None
    if getattr(column.dtype, "storage", "pyarrow") != "pyarrow":
        return None
    import pyarrow

    strings = array.__arrow_array__()
    if isinstance(strings, pyarrow.ChunkedArray):
        strings = strings.combine_chunks() if strings.num_chunks != 1 else strings.chunk(0)
    if strings.null_count or strings.type not in (pyarrow.string(), pyarrow.large_string()):
        return None
    _, offsets, data = strings.buffers()
    width = np.int64 if strings.type == pyarrow.large_string() else np.int32
    n, first = len(strings), strings.offset
    bounds = np.frombuffer(offsets, dtype=width)[first : first + n + 1].astype(np.int64, copy=False)
    bytes_ = np.frombuffer(data, dtype=np.uint8) if data is not None else np.zeros(0, dtype=np.uint8)
    if not bytes_[bounds[0] : bounds[-1]].all():  # a NUL, which the check of the ids will reject
        return None
    return Ids(bytes_, bounds[:-1], bounds[1:])


def single_value(frame: Any, column: str) -> str | None:
    """Return the string that a column holds in every row; None where it holds none, several, or something else."""
    if column not in frame.columns or not len(frame) or frame[column].ndim != 1:
        return None
    values = frame[column]
    first = values.iloc[0]
    if not isinstance(first, str):
        return None
    texts = id_column(values, copy=False)
    if isinstance(texts, Ids):
        return first if len(texts.changes()) == 1 else None
    return first if all(isinstance(text, str) and text == first for text in texts) else None
