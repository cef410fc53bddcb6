"""The columns of a DataFrame: ir_measures' names, PyTerrier's, or other libraries'."""

from __future__ import annotations

import numbers
from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from typing import Any, TypeGuard

import numpy as np

from ..data.arrays import ObjectArray
from ..data.ids import Ids
from ..messages import few_quoted, kind_of
from .readers import Given

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
    """The columns of a pandas frame, each under ir_measures' name, PyTerrier's, or another library's.

    Args:
        kind: what messages call it.
        columns: all that it has, where the frame holds a part.

    Raises:
        ValueError: one that is not there or stands twice, or two names of one that differ.
    """
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
            raise ValueError(
                f"{source}: the columns {names[0]!r} and {other!r} differ; drop the one that is not meant"
            )
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


def read_table(value: Any, source: str) -> Given | None:
    """What a table holds that is no DataFrame of pandas'; None for anything else.

    Raises:
        ValueError: a column that is none, columns of different lengths, a table that pyarrow cannot read.
    """
    kind = type(value).__name__
    if is_frame(value):
        return None
    if isinstance(value, Mapping):
        if any(isinstance(column, Mapping) for column in value.values()) or not known_columns(value):
            return None
        return _of_columns(dict(value), kind)
    if hasattr(value, "collect_schema") and hasattr(value, "collect"):  # a polars LazyFrame
        value = value.collect()
    if hasattr(value, "with_format") and hasattr(value, "column_names"):  # a HuggingFace Dataset
        names = value.column_names
        if isinstance(names, Mapping):
            return None  # several, one a split
        if getattr(value, "format", {}).get("type") == "custom":  # a function makes the rows
            return _of_columns(dict(value[:]), kind)
        if names is not None and hasattr(value, "select_columns") and hasattr(value, "__len__"):
            chosen = value.select_columns([c for c in names if c in _MAY_BE_NEEDED])
            return Given(frame_of_arrow(chosen.with_format("arrow")[:]), kind=kind, columns=tuple(names))
        value = list(value)  # a stream of rows
    if hasattr(value, "__arrow_c_stream__"):
        return _of_arrow_stream(value, kind, source)
    if isinstance(value, (list, tuple)) and value and all(isinstance(row, Mapping) for row in value):
        import pandas as pd

        frame = pd.DataFrame(list(value), dtype=object)
        return Given(frame, kind="list of dicts", columns=tuple(map(str, frame.columns)))
    return None


# Columns beyond these, such as texts, are not converted.
_MAY_BE_NEEDED = frozenset(
    ("query_id", "qid", "doc_id", "docno", "relevance", "label", "score", "name", "iteration", "subtopic_id")
) | {name for scheme in OF_OTHERS for name in scheme.values()}


def _of_columns(columns: dict[str, Any], kind: str) -> Given:
    import pandas as pd

    needed = {str(name): column for name, column in columns.items() if name in _MAY_BE_NEEDED}
    for name, column in needed.items():
        if isinstance(column, (str, bytes, Set)) or not isinstance(column, Iterable):
            raise ValueError(
                f"the column {name!r} of the {kind} is {kind_of(column)}; give a list, one value a row"
            )
    chosen = {  # those of Arrow's arrays are no values of Python's
        name: column.to_pylist() if hasattr(column, "to_pylist") else list(column)
        for name, column in needed.items()
    }
    topics = chosen.get("query", [])
    if (scheme_of_others(columns) or {}).get("query_id") == "query" and all(map(_is_whole_number, topics)):
        chosen["query"] = list(map(str, topics))  # HuggingFace's evaluate wants them as numbers
    lengths = {name: len(column) for name, column in chosen.items()}
    if len(set(lengths.values())) > 1:
        raise ValueError(
            f"the columns of the {kind} differ in length: {lengths}; give one value a row in each"
        )
    return Given(pd.DataFrame(chosen, dtype=object), kind=kind, columns=tuple(map(str, columns)))


def _is_whole_number(value: Any) -> bool:
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)


def _of_arrow_stream(value: Any, kind: str, source: str) -> Given:
    try:
        import pyarrow
    except ImportError:
        if not (hasattr(value, "columns") and hasattr(value, "to_dict")):
            raise ImportError(
                f"to read {kind_of(value)} needs pyarrow: pip install pyarrow", name="pyarrow"
            ) from None
        return _of_columns({name: value[name].to_list() for name in value.columns}, kind)  # polars
    try:
        table = value.to_arrow() if hasattr(value, "to_arrow") else value
        if not isinstance(table, pyarrow.Table):
            table = pyarrow.table(table)
    except pyarrow.ArrowException as error:  # a column alone, or of a type that only its own library knows
        raise ValueError(f"{source}: {kind_of(value)} that is no table to pyarrow ({error})") from None
    places = [i for i, name in enumerate(table.column_names) if name in _MAY_BE_NEEDED]
    return Given(frame_of_arrow(table.select(places)), kind=kind, columns=tuple(table.column_names))


def frame_of_arrow(table: Any) -> Any:
    """A pandas DataFrame on the columns of an Arrow table; the bytes of its ids are read where they are."""
    import pandas as pd
    import pyarrow

    fields = [field.with_type(_plain(field.type)) for field in table.schema]
    return table.cast(pyarrow.schema(fields)).to_pandas(types_mapper=pd.ArrowDtype)


def _plain(kind: Any) -> Any:
    """The type of Arrow's that values have, in place of one that refers to them or lays them out otherwise."""
    import pyarrow

    if pyarrow.types.is_dictionary(kind):
        return _plain(kind.value_type)
    is_view = getattr(pyarrow.types, "is_string_view", None)
    return pyarrow.large_string() if is_view is not None and is_view(kind) else kind
