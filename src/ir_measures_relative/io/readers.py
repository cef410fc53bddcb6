"""Readers of what the core does not read itself, which other modules add: files, objects, folders."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
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


class Given(NamedTuple):
    """A run or judgments, in a form that the core reads."""

    content: Any  #: a DataFrame, a dict of dict, or RunColumns
    tag: str | None = None  #: its own name for itself
    kind: str = "DataFrame"  #: what messages call a table
    columns: tuple[str, ...] = ()  #: of the whole table, of which a DataFrame holds what may be needed
    is_one_run: bool = False  #: whether a table was looked into for the rows of several runs


class FileContent(NamedTuple):
    """What a file holds: runs, or judgments."""

    parts: Sequence[Given]
    may_be_judgments: bool = False  #: whether what is read as runs may as well be judgments


class Described(NamedTuple):
    """What lies beside a run file and describes it; None where nothing does."""

    tag: str | None = None
    group: str | None = None
    task: str | None = None


class FolderContent(NamedTuple):
    """What a folder says of the run files in it, in their order, and its files of judgments."""

    runs: Mapping[Path, Described]
    judgments: Sequence[Path] = ()
    doubt: str = ""  #: what to warn of where the runs are read


#: Reader of a file's content, its name for messages, the part that is meant, ``as_run``; None for another kind.
FILES: Registry[str, Callable[..., FileContent | None]] = Registry("readers of files")
#: Reader of an object and its name for messages, ``as_run``; None where it is something else.
OBJECTS: Registry[str, Callable[..., Given | None]] = Registry("readers of objects")
#: Reader of the layout of a folder; None where it is a plain folder of run files.
FOLDERS: Registry[str, Callable[[Path], FolderContent | None]] = Registry("readers of folders")


def read_foreign_file(data: bytes, source: str, part: str | None, *, as_run: bool) -> FileContent | None:
    """What a file of another format holds, by the first reader that knows it; None for TREC's format."""
    found = (read(data, source, part, as_run=as_run) for read in FILES.values())
    try:
        return next((content for content in found if content is not None), None)
    except MemoryError as error:
        raise MemoryError(f"{source} has {len(data):,} bytes; {error}") from None


def read_object(value: Any, source: str, *, as_run: bool) -> Given | None:
    """What an object of another library holds, by the first reader that knows it; None for any other object."""
    if isinstance(value, Mapping):
        plain = not value or any(isinstance(docs, Mapping) for docs in value.values())
    else:
        is_list = isinstance(value, (list, tuple))
        plain = is_list and not (value and all(isinstance(row, Mapping) or is_series(row) for row in value))
    if plain:  # which the core reads itself
        return None
    found = (read(value, source, as_run=as_run) for read in OBJECTS.values())
    return next((given for given in found if given is not None), None)


def is_series(value: Any) -> bool:
    """Whether a value is one column of a table of pandas, polars or the like."""
    return all(hasattr(value, name) for name in ("name", "dtype", "to_list"))


def read_folder(folder: Path) -> FolderContent | None:
    """The layout of a folder, by the first reader that knows it; None for a plain folder."""
    found = (read(folder) for read in FOLDERS.values())
    return next((content for content in found if content is not None), None)


def import_pyterrier() -> Any:
    """The module ``pyterrier``."""
    try:
        import pyterrier
    except ModuleNotFoundError as error:
        if error.name != "pyterrier":
            raise
        raise needs_extra("to run pipelines", "pyterrier") from None
    return pyterrier


def read_topics(topics: Any) -> Any:
    """The topics for PyTerrier; those of a file, where a path is given."""
    known = "give a DataFrame with the columns qid and query, or the path of a topics file"
    if topics is None:
        raise TypeError(f"topics is None; {known}")
    if not isinstance(topics, (str, os.PathLike)):
        return topics
    if not os.path.isfile(topics):
        raise FileNotFoundError(f"topics={os.fspath(topics)!r}: no such file; {known}")
    return import_pyterrier().io.read_topics(os.fspath(topics))


def check_topics_once(topics: Any, systems: Iterable[Any]) -> None:
    """Raise ValueError for topics that are given twice, whose documents a pipeline would rank twice."""
    import pandas as pd

    columns = [name for name in ("qid", "docno") if name in getattr(topics, "columns", ())]
    if "qid" not in columns or all(isinstance(system, pd.DataFrame) for system in systems):
        return
    again = topics["qid"][topics.duplicated(columns)]
    if len(again):
        raise ValueError(
            f"the topics hold the qid {brief(again.iloc[0])} twice, as {counted(len(again), 'row')} in all; give each "
            f"topic once, such as by topics.drop_duplicates({columns!r})"
        )


def run_pipelines(pipelines: Mapping[str, Any], topics: Any) -> tuple[dict[str, Any], frozenset[str]]:
    """Return the results of each pipeline for the topics, by name, and the ids of the topics; each runs once."""
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
