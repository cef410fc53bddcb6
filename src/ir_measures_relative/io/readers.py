"""Readers that other modules add, of files and objects; and what pipelines return."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from ..data.arrays import FloatArray, IntArray, ObjectArray
from ..data.ids import Ids
from ..data.registry import Registry
from ..messages import brief, counted, few, kind_of, needs_extra, warn


class RunColumns(NamedTuple):
    """The rows of a run."""

    query_ids: Ids | ObjectArray
    doc_ids: Ids | ObjectArray
    scores: FloatArray | IntArray


class RawData(NamedTuple):
    """A run or judgments in a form that the core reads."""

    content: Any  #: a DataFrame, a dict of dict, RunColumns, or of the judgments in a file QrelsColumns
    tag: str | None = None  #: the run's own name
    kind: str = "DataFrame"  #: the kind of table, for messages
    columns: tuple[str, ...] = ()  #: all columns of a table, of which a DataFrame may hold only those needed
    is_one_run: bool = False  #: whether a reader has split the table into runs


class FileContent(NamedTuple):
    """The runs or the judgments in a file."""

    parts: Sequence[RawData]
    may_be_judgments: bool = False  #: whether runs may as well be judgments


#: A reader takes the content of a file, its name for messages, a part or None, and ``as_run``; it returns None for a
#: file of another format.
FILES: Registry[str, Callable[..., FileContent | None]] = Registry("readers of files")
#: A reader takes an object, its name for messages, and ``as_run``; it returns None for another object.
OBJECTS: Registry[str, Callable[..., RawData | None]] = Registry("readers of objects")


def read_foreign_file(data: bytes, source: str, part: str | None, *, as_run: bool) -> FileContent | None:
    """Return the content of a file in another format, by the first reader that knows it; None for TREC's format."""
    contents = (read(data, source, part, as_run=as_run) for read in FILES.values())
    try:
        return next((content for content in contents if content is not None), None)
    except MemoryError as error:
        raise MemoryError(f"{source} has {len(data):,} bytes; {error}") from None


def read_object(value: Any, source: str, *, as_run: bool) -> RawData | None:
    """Return the data in an object of another library, by the first reader that knows it; None for any other object."""
    if isinstance(value, Mapping):
        is_plain = not value or any(isinstance(docs, Mapping) for docs in value.values())
    else:
        is_list = isinstance(value, (list, tuple))
        is_plain = is_list and not (
            value and all(isinstance(row, Mapping) or is_series(row) for row in value)
        )
    if is_plain:  # the core reads it itself
        return None
    results = (read(value, source, as_run=as_run) for read in OBJECTS.values())
    return next((raw for raw in results if raw is not None), None)


def is_series(value: Any) -> bool:
    """Return whether a value is one column of a table of pandas, polars or the like."""
    return all(hasattr(value, name) for name in ("name", "dtype", "to_list"))


def import_pyterrier() -> Any:
    """Return the module ``pyterrier``."""
    try:
        import pyterrier
    except ModuleNotFoundError as error:
        if error.name != "pyterrier":
            raise
        raise needs_extra("to run pipelines", "pyterrier") from None
    return pyterrier


def read_topics(topics: Any) -> Any:
    """Return the topics for PyTerrier: those of a file if they are a path."""
    remedy = "give a DataFrame with the columns qid and query, or the path of a topics file"
    if topics is None:
        raise TypeError(f"topics is None; {remedy}")
    if not isinstance(topics, (str, os.PathLike)):
        return topics
    if not os.path.isfile(topics):
        raise FileNotFoundError(f"topics={os.fspath(topics)!r}: no such file; {remedy}")
    return import_pyterrier().io.read_topics(os.fspath(topics))


def check_topics_once(topics: Any, systems: Iterable[Any]) -> None:
    """Raise ValueError for duplicate topics, whose documents a pipeline would rank twice."""
    import pandas as pd

    columns = [name for name in ("qid", "docno") if name in getattr(topics, "columns", ())]
    if "qid" not in columns or all(isinstance(system, pd.DataFrame) for system in systems):
        return
    duplicates = topics["qid"][topics.duplicated(columns)]
    if len(duplicates):
        raise ValueError(
            f"the topics hold the qid {brief(duplicates.iloc[0])} twice, as {counted(len(duplicates), 'row')} in all; "
            f"give each topic once, such as by topics.drop_duplicates({columns!r})"
        )


def run_pipelines(pipelines: Mapping[str, Any], topics: Any) -> tuple[dict[str, Any], frozenset[str]]:
    """Run each pipeline once; return its results for the topics, by name, and the ids of the topics."""
    import pandas as pd

    pt = import_pyterrier()
    if not isinstance(pipelines, Mapping):
        raise TypeError(f"pipelines is {kind_of(pipelines)}; give a dict from name to transformer")
    for name, pipeline in pipelines.items():
        if not isinstance(pipeline, (pd.DataFrame, pt.Transformer)):
            raise TypeError(f"pipeline {name!r} is {kind_of(pipeline)}; give a transformer or a DataFrame")
    topics = read_topics(topics)
    check_topics_once(topics, pipelines.values())
    results: dict[str, Any] = {}
    for name in pt.tqdm(pipelines, desc="running pipelines", unit="pipeline", disable=None, leave=False):
        pipeline = pipelines[name]
        frame = pipeline if isinstance(pipeline, pd.DataFrame) else pipeline.transform(topics)
        results[name] = pt.model.coerce_dataframe_types(frame.copy())
    empty = [name for name, frame in results.items() if not len(frame)]
    if empty:
        warn(f"pipeline {few(map(repr, empty))} gave no result for any topic; check it, or leave it out")
    return results, frozenset(topics["qid"]) if "qid" in getattr(topics, "columns", ()) else frozenset()
