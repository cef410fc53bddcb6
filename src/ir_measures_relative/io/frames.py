"""The columns of a DataFrame: ir_measures' names, PyTerrier's, or other libraries'."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, TypeGuard

import numpy as np

from ..data.arrays import ObjectArray
from ..data.ids import Ids
from ..messages import few_quoted

#: ir_measures' name of a column, then PyTerrier's.
NAMES = {"query_id": "qid", "doc_id": "docno", "relevance": "label", "score": "score", "name": "name"}

#: What others call them, all together: trectools and HuggingFace's ``evaluate``, BEIR's data sets, ranx, LensKit.
OF_OTHERS = (
    {"query_id": "query", "doc_id": "docid", "relevance": "rel", "score": "score", "name": "system"},
    {"query_id": "query-id", "doc_id": "corpus-id", "relevance": "score", "score": "score"},
    {"query_id": "q_id", "doc_id": "doc_id", "relevance": "score", "score": "score"},
    {"query_id": "user_id", "doc_id": "item_id", "relevance": "rating", "score": "score"},
)

_SWAPPED = "; if it is a run, give the qrels first and then the run"

#: Columns whose ids are numbers as a rule, which count as their digits.
_NUMBERED = ("user_id", "item_id")


def is_frame(value: object) -> TypeGuard[Any]:
    """Whether a value is a DataFrame, of pandas or made like one."""
    return hasattr(value, "itertuples") and hasattr(value, "columns")


def known_columns(columns: Collection[Any]) -> bool:
    """Whether columns of these names hold the ids of queries and documents, by names that are known."""
    ours = all(name in columns or NAMES[name] in columns for name in ("query_id", "doc_id"))
    return ours or _with_ids_of_others(columns) is not None


def scheme_of_others(columns: Collection[Any]) -> dict[str, str] | None:
    """The names of another library's, where a table has its columns of ids, and no query id by ours."""
    if "query_id" in columns or "qid" in columns:  # and 'query' is its text, as in PyTerrier
        return None
    return _with_ids_of_others(columns)


def _with_ids_of_others(columns: Collection[Any]) -> dict[str, str] | None:
    return next((s for s in OF_OTHERS if s["query_id"] in columns and s["doc_id"] in columns), None)


def column_names(
    frame: Any, wanted: Sequence[str], source: str, kind: str = "DataFrame", columns: Sequence[str] = ()
) -> list[list[str]]:
    """What a frame, of pandas or Dask, calls each column: one name, or both; arguments as for :func:`columns_of`."""
    scheme = scheme_of_others(frame.columns)
    found = []
    for column in wanted:
        ours, theirs = (column, NAMES[column]) if scheme is None else (scheme.get(column, column),) * 2
        named = [c for c in dict.fromkeys((ours, theirs)) if c in frame.columns]
        if (
            scheme is not None and column == "relevance"
        ):  # what is called so is meant, and not what may be a score
            named = [c for c in (column, NAMES[column]) if c in frame.columns] or named
        if not named:
            other = f" (or {theirs!r})" if theirs != ours else ""
            raise ValueError(
                f"{source}: the {kind} has no column {ours!r}{other}; its columns are "
                f"{few_quoted([str(c)[:80] for c in (columns or frame.columns)])}, and {', '.join(wanted[:-1])} and "
                f"{wanted[-1]} are needed{_SWAPPED if column == 'relevance' and 'score' in frame.columns else ''}"
            )
        found.append(named)
    return found


def columns_of(
    frame: Any, wanted: Sequence[str], source: str, kind: str = "DataFrame", columns: Sequence[str] = ()
) -> list[Any]:
    """The columns of a pandas frame, each under ir_measures' name, PyTerrier's, or another library's."""
    names = column_names(frame, wanted, source, kind, columns)
    return [_one_column(frame, of_one, source, kind) for of_one in names]


def _one_column(frame: Any, names: list[str], source: str, kind: str) -> Any:
    column = frame[names[0]]
    if column.ndim != 1:
        raise ValueError(f"{source}: the column {names[0]!r} stands twice in the {kind}; drop one")
    if names[0] in _NUMBERED and column.dtype.kind in "iu":
        return column.astype(str)
    for other in names[1:]:
        if frame[other].ndim != 1 or not column.astype(object).equals(frame[other].astype(object)):
            raise ValueError(f"{source}: the columns {names[0]!r} and {other!r} differ; drop one")
    return column


def text_of(column: Any, *, kept: bool = True) -> Ids | ObjectArray:
    """A column of ids: the bytes of an Arrow column as they are, else its objects, a copy of them if they are kept."""
    ids = _arrow_ids(column)
    if ids is not None:
        return ids
    objects: ObjectArray = column.to_numpy(dtype=object)
    return objects.copy() if kept else objects


def _arrow_ids(column: Any) -> Ids | None:
    """The ids in a column that pandas keeps as Arrow strings; None where it does not, or a value is missing."""
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
    if not bytes_[bounds[0] : bounds[-1]].all():  # a NUL, which is refused where the ids are looked at
        return None
    return Ids(bytes_, bounds[:-1], bounds[1:])


def single_value(frame: Any, column: str) -> str | None:
    """The one string that a column holds in every row; None where it holds none, several, or something else."""
    if column not in frame.columns or not len(frame) or frame[column].ndim != 1:
        return None
    values = frame[column]
    first = values.iloc[0]
    if not isinstance(first, str):
        return None
    text = text_of(values)
    if isinstance(text, Ids):
        return first if len(text.changes()) == 1 else None
    return first if all(isinstance(v, str) and v == first for v in text) else None
