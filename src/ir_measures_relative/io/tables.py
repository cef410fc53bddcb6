"""Tables that are no DataFrame of pandas': Arrow tables, dicts of columns, rows that are dicts.

Arrow tables are those of polars, pyarrow, HuggingFace's data sets, and of all that hands on Arrow data.
"""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Mapping, Set
from typing import Any

from ..messages import kind_of
from .frames import OF_OTHERS, is_frame, known_columns, scheme_of_others
from .readers import Given


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
            return Given(_of_arrow(chosen.with_format("arrow")[:]), kind=kind, columns=tuple(names))
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
    return Given(_of_arrow(table.select(places)), kind=kind, columns=tuple(table.column_names))


def _of_arrow(table: Any) -> Any:
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
