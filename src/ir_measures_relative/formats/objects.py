"""Objects of other libraries that hold runs or judgments, recognized by their attributes: no library is imported."""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Mapping, Set
from typing import Any

from ..io.frames import RUN_COLUMNS, SYNONYMS, column_names, is_frame, names_in
from ..io.readers import OBJECTS, RawData, is_series
from ..messages import kind_of, warn
from .content import has_known_columns, scores_in_order

# --- tables


@OBJECTS.register("tables")
def _table(value: Any, source: str, *, as_run: bool) -> RawData | None:
    """Return the data of a table that is no DataFrame of pandas; None for anything else."""
    kind = type(value).__name__
    if is_series(value):
        raise ValueError(f"{source}: a Series is one column; give the DataFrame with queries and documents")
    if isinstance(value, Mapping):
        return _read_columns(dict(value), kind) if has_known_columns(value) else None
    if hasattr(value, "collect_schema") and hasattr(value, "collect"):  # a polars LazyFrame
        value = value.collect()
    if hasattr(value, "with_format") and hasattr(value, "column_names"):  # a HuggingFace Dataset
        names = value.column_names
        if isinstance(names, Mapping):
            return None  # one dataset per split
        if getattr(value, "format", {}).get("type") == "custom":  # a function makes the rows
            return _read_columns(dict(value[:]), kind)
        if names is not None and hasattr(value, "select_columns") and hasattr(value, "__len__"):
            needed = value.select_columns([c for c in names if c in _MAY_BE_NEEDED])
            return RawData(frame_from_arrow(needed.with_format("arrow")[:]), kind=kind, columns=tuple(names))
        value = list(value)  # a stream of rows
    if hasattr(value, "__arrow_c_stream__"):
        return _read_arrow_stream(value, kind, source)
    if isinstance(value, (list, tuple)) and value:
        if all(map(is_series, value)):  # what an iterator over a DataFrame of polars returns
            return _read_columns({column.name: column for column in value}, "DataFrame")
        import pandas as pd

        frame = pd.DataFrame(list(value), dtype=object)
        return RawData(frame, kind="list of dicts", columns=tuple(map(str, frame.columns)))
    return None


# Other columns, such as texts, are not converted.
_MAY_BE_NEEDED = {"iteration", "subtopic_id", "rank", *RUN_COLUMNS}.union(*SYNONYMS.values())


def _read_columns(columns: dict[str, Any], kind: str) -> RawData:
    import pandas as pd

    needed = {str(name): column for name, column in columns.items() if name in _MAY_BE_NEEDED}
    for name, column in needed.items():
        if isinstance(column, (str, bytes, Set)) or not isinstance(column, Iterable):
            raise ValueError(f"the column {name!r} of the {kind} is {kind_of(column)}; give a list")
    lists = {  # Arrow's scalars must become Python's values
        name: column.to_pylist() if hasattr(column, "to_pylist") else list(column)
        for name, column in needed.items()
    }
    topics = lists.get("query", [])
    if names_in(columns, "query_id") == ["query"] and all(
        isinstance(t, numbers.Integral) and not isinstance(t, bool) for t in topics
    ):
        lists["query"] = list(map(str, topics))  # HuggingFace's evaluate requires numbers
    lengths = {name: len(column) for name, column in lists.items()}
    if len(set(lengths.values())) > 1:
        raise ValueError(f"the columns of the {kind} differ in length: {lengths}; give one value a row")
    return RawData(pd.DataFrame(lists, dtype=object), kind=kind, columns=tuple(map(str, columns)))


def _read_arrow_stream(value: Any, kind: str, source: str) -> RawData:
    try:
        import pyarrow
    except ImportError:
        raise ImportError(f"to read {kind_of(value)} needs pyarrow: pip install pyarrow") from None
    try:
        table = value.to_arrow() if hasattr(value, "to_arrow") else value
        if not isinstance(table, pyarrow.Table):
            table = pyarrow.table(table)
    except pyarrow.ArrowException as error:  # a single column, or an unknown type
        raise ValueError(f"{source}: {kind_of(value)} that is no table to pyarrow ({error})") from None
    places = [i for i, name in enumerate(table.column_names) if name in _MAY_BE_NEEDED]
    return RawData(frame_from_arrow(table.select(places)), kind=kind, columns=tuple(table.column_names))


def frame_from_arrow(table: Any) -> Any:
    """Return a pandas DataFrame on the columns of an Arrow table, without a copy of the bytes of its ids."""
    import pandas as pd
    import pyarrow

    fields = [field.with_type(_plain_type(field.type)) for field in table.schema]
    return table.cast(pyarrow.schema(fields)).to_pandas(types_mapper=pd.ArrowDtype)


def _plain_type(kind: Any) -> Any:
    """Return the type of the values of a dictionary or of string views; any other type as it is."""
    import pyarrow

    if pyarrow.types.is_dictionary(kind):
        return _plain_type(kind.value_type)
    is_view = getattr(pyarrow.types, "is_string_view", None)
    return pyarrow.large_string() if is_view is not None and is_view(kind) else kind


# --- objects of runs or judgments


@OBJECTS.register("ranx")
def _ranx(value: Any, source: str, *, as_run: bool) -> RawData | None:
    if not (hasattr(value, "get_doc_ids_and_scores") and hasattr(value, "to_dict")):
        return None
    if hasattr(value, "qrels") == as_run:
        name = f"{type(value).__module__.partition('.')[0]}.{type(value).__name__}"
        remedy = "judgments; give a ranx.Run as a run" if as_run else "a run; give a ranx.Qrels as judgments"
        raise ValueError(f"{source}: a {name} holds {remedy}")
    return RawData(value.to_dict(), tag=value.name if as_run and isinstance(value.name, str) else None)


@OBJECTS.register("trectools")
def _trectools(value: Any, source: str, *, as_run: bool) -> RawData | None:
    """Return the data of trectools, which reads topics such as 401 as numbers: they count as their digits."""
    attribute = "run_data" if as_run else "qrels_data"
    if not hasattr(value, attribute):
        return None
    frame, kind = getattr(value, attribute), type(value).__name__
    if not is_frame(frame):
        raise ValueError(f"{source}: the {kind} holds no data; let it read a file first")
    if "query" in frame.columns and frame["query"].dtype.kind in "iu":
        frame = frame.assign(query=frame["query"].astype(str))
    return RawData(frame, kind=kind, columns=tuple(map(str, frame.columns)))


@OBJECTS.register("LensKit")
def _lenskit(value: Any, source: str, *, as_run: bool) -> RawData | None:
    """Return the data of LensKit, whose users and items often are numbers: they count as their digits."""
    if not (hasattr(value, "key_fields") and hasattr(value, "to_df")):
        return None
    fields = list(value.key_fields)
    if len(fields) != 1:
        raise ValueError(
            f"{source}: the lists of the ItemListCollection have the keys {fields}; give one key"
        )
    frame = value.to_df().rename(columns={fields[0]: "query_id"})
    if as_run:
        frame = scored_items(frame, source, all(items.ordered for items in value.lists()))
    else:
        frame = labelled_items(frame, source)
    return RawData(frame, kind="ItemListCollection", columns=tuple(frame.columns))


def scored_items(frame: Any, source: str, ordered: bool = True) -> Any:
    """Return LensKit's rows as a run under our names; ranks keep their order, ties included."""
    frame = _with_ids(frame, source)
    if "rank" not in frame.columns or not ordered:
        return frame
    scores = frame["score"].tolist() if "score" in frame.columns else None
    queries = frame.groupby("query_id", sort=False).ngroup().to_numpy()
    return frame.assign(score=scores_in_order(queries, frame["rank"].to_numpy(dtype=float), scores))


def labelled_items(frame: Any, source: str) -> Any:
    """Return LensKit's rows as judgments under our names: ratings are grades; without any, all items are relevant."""
    frame = _with_ids(frame, source)
    if {"relevance", "label"} & set(frame.columns):
        return frame
    if "rating" in frame.columns:
        remedy = "make labels of them, such as frame['relevance'] = (frame['rating'] >= 4).astype(int)"
        if (frame["rating"] % 1 != 0).any():
            raise ValueError(f"{source}: the ratings are no whole numbers; {remedy}")
        warn(
            f"{source}: ratings count as relevance labels, and any above 0 is relevant; if low ratings are not, "
            f"{remedy}"
        )
        return frame.assign(relevance=frame["rating"])
    if "score" in frame.columns:
        raise ValueError(f"{source}: the lists hold scores and no labels; give the lists of what is relevant")
    return frame.assign(relevance=1)  # as in LensKit's metrics


def _with_ids(frame: Any, source: str) -> Any:
    """Return LensKit's rows with the columns query_id and doc_id, and numbers in them as their digits."""
    [[queries, *_], [items, *_]] = column_names(frame, ("query_id", "doc_id"), source, "table of items")
    frame = frame.rename(columns={queries: "query_id", items: "doc_id"})
    numeric = [c for c in ("query_id", "doc_id") if frame[c].dtype.kind in "iu"]
    return frame.assign(**{c: frame[c].astype(str) for c in numeric})
