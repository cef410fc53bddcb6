"""Objects of other libraries that hold runs or judgments, known by what they can do: no library is imported."""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Mapping, Set
from typing import Any

from ..io.frames import RUN_COLUMNS, SYNONYMS, column_names, has_known_columns, is_frame, names_in
from ..io.readers import OBJECTS, RawData, is_series
from ..messages import kind_of, warn
from .content import keeping_order

# --- tables


@OBJECTS.register("tables")
def _table(value: Any, source: str, *, as_run: bool) -> RawData | None:
    """What a table holds that is no DataFrame of pandas'; None for anything else."""
    kind = type(value).__name__
    if is_series(value):
        raise ValueError(f"{source}: a Series is one column; give the DataFrame with queries and documents")
    if isinstance(value, Mapping):
        return _of_columns(dict(value), kind) if has_known_columns(value) else None
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
            return RawData(frame_of_arrow(chosen.with_format("arrow")[:]), kind=kind, columns=tuple(names))
        value = list(value)  # a stream of rows
    if hasattr(value, "__arrow_c_stream__"):
        return _of_arrow_stream(value, kind, source)
    if isinstance(value, (list, tuple)) and value:
        if all(map(is_series, value)):  # what an iterator over a DataFrame of polars returns
            return _of_columns({column.name: column for column in value}, "DataFrame")
        import pandas as pd

        frame = pd.DataFrame(list(value), dtype=object)
        return RawData(frame, kind="list of dicts", columns=tuple(map(str, frame.columns)))
    return None


# Columns beyond these, such as texts, are not converted.
_MAY_BE_NEEDED = {"iteration", "subtopic_id", "rank", *RUN_COLUMNS}.union(*SYNONYMS.values())


def _of_columns(columns: dict[str, Any], kind: str) -> RawData:
    import pandas as pd

    needed = {str(name): column for name, column in columns.items() if name in _MAY_BE_NEEDED}
    for name, column in needed.items():
        if isinstance(column, (str, bytes, Set)) or not isinstance(column, Iterable):
            raise ValueError(f"the column {name!r} of the {kind} is {kind_of(column)}; give a list")
    chosen = {  # those of Arrow's arrays are no values of Python's
        name: column.to_pylist() if hasattr(column, "to_pylist") else list(column)
        for name, column in needed.items()
    }
    topics = chosen.get("query", [])
    if names_in(columns, "query_id") == ["query"] and all(
        isinstance(t, numbers.Integral) and not isinstance(t, bool) for t in topics
    ):
        chosen["query"] = list(map(str, topics))  # HuggingFace's evaluate wants them as numbers
    lengths = {name: len(column) for name, column in chosen.items()}
    if len(set(lengths.values())) > 1:
        raise ValueError(f"the columns of the {kind} differ in length: {lengths}; give one value a row")
    return RawData(pd.DataFrame(chosen, dtype=object), kind=kind, columns=tuple(map(str, columns)))


def _of_arrow_stream(value: Any, kind: str, source: str) -> RawData:
    try:
        import pyarrow
    except ImportError:
        raise ImportError(f"to read {kind_of(value)} needs pyarrow: pip install pyarrow") from None
    try:
        table = value.to_arrow() if hasattr(value, "to_arrow") else value
        if not isinstance(table, pyarrow.Table):
            table = pyarrow.table(table)
    except pyarrow.ArrowException as error:  # a column alone, or of a type that only its own library knows
        raise ValueError(f"{source}: {kind_of(value)} that is no table to pyarrow ({error})") from None
    places = [i for i, name in enumerate(table.column_names) if name in _MAY_BE_NEEDED]
    return RawData(frame_of_arrow(table.select(places)), kind=kind, columns=tuple(table.column_names))


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


# --- objects that know what they hold


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
    """From trectools, which reads topics such as 401 as numbers: they count as their digits."""
    held = "run_data" if as_run else "qrels_data"
    if not hasattr(value, held):
        return None
    frame, kind = getattr(value, held), type(value).__name__
    if not is_frame(frame):
        raise ValueError(f"{source}: the {kind} holds no data; let it read a file first")
    if "query" in frame.columns and frame["query"].dtype.kind in "iu":
        frame = frame.assign(query=frame["query"].astype(str))
    return RawData(frame, kind=kind, columns=tuple(map(str, frame.columns)))


@OBJECTS.register("LensKit")
def _lenskit(value: Any, source: str, *, as_run: bool) -> RawData | None:
    """From LensKit, whose users and items often are numbers, as in MovieLens: they count as their digits."""
    if not (hasattr(value, "key_fields") and hasattr(value, "to_df")):
        return None
    fields = list(value.key_fields)
    if len(fields) != 1:
        raise ValueError(
            f"{source}: the lists of the ItemListCollection have the keys {fields}; give one key"
        )
    frame = value.to_df().rename(columns={fields[0]: "query_id"})
    frame = (
        items_as_columns(frame, source, all(items.ordered for items in value.lists()))
        if as_run
        else labelled_items(frame, source)
    )
    return RawData(frame, kind="ItemListCollection", columns=tuple(frame.columns))


def items_as_columns(frame: Any, source: str, ordered: bool = True) -> Any:
    """A run of LensKit's rows under our names: its order is kept, ties included, where it has ranks."""
    frame = _with_ids(frame, source)
    if "rank" not in frame.columns or not ordered:
        return frame
    scores = frame["score"].tolist() if "score" in frame.columns else None
    queries = frame.groupby("query_id", sort=False).ngroup().to_numpy()
    kept = keeping_order(queries, frame["rank"].to_numpy(dtype=float), scores)
    return frame.assign(score=kept)


def labelled_items(frame: Any, source: str) -> Any:
    """Judgments of LensKit's rows under our names: ratings are labels; without any, what is listed is relevant."""
    frame = _with_ids(frame, source)
    if {"relevance", "label"} & set(frame.columns):
        return frame
    if "rating" in frame.columns:
        make = "make labels of them, such as frame['relevance'] = (frame['rating'] >= 4).astype(int)"
        if (frame["rating"] % 1 != 0).any():
            raise ValueError(f"{source}: the ratings are no whole numbers; {make}")
        warn(
            f"{source}: ratings count as relevance labels, and any above 0 is relevant; if low ratings are not, {make}"
        )
        return frame.assign(relevance=frame["rating"])
    if "score" in frame.columns:
        raise ValueError(f"{source}: the lists hold scores and no labels; give the lists of what is relevant")
    return frame.assign(relevance=1)  # as LensKit's metrics have it


def _with_ids(frame: Any, source: str) -> Any:
    """LensKit's rows with the columns query_id and doc_id; ids that are numbers count as their digits."""
    [[queries, *_], [items, *_]] = column_names(frame, ("query_id", "doc_id"), source, "table of items")
    frame = frame.rename(columns={queries: "query_id", items: "doc_id"})
    numbers = [c for c in ("query_id", "doc_id") if frame[c].dtype.kind in "iu"]
    return frame.assign(**{c: frame[c].astype(str) for c in numbers})
