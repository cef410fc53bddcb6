"""Run files: which files a path, folder or glob stands for, their runs, and the names of these."""

from __future__ import annotations

import glob
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..context.run_context import DESCRIPTIONS
from ..data.rankings import Rankings
from ..io.datasets import load_dataset
from ..io.files import split_part
from ..io.qrels import QrelsColumns, read_qrels_file
from ..io.runs import RunPaths, check_not_empty, read_runs_in_file
from ..io.trec_columns import starts_as_trec
from ..messages import counted, few, kind_of, one_warning_of_a_kind, progress, warn
from .folders import RunInfo, files_in, first_bytes, may_hold_run, read_folder

# The first bytes of runs that are neither TREC's nor tables: JSON, MS MARCO's lines, Parquet, packed files.
_STARTS = re.compile(rb"\s*[{\[]|[^\t\n]+\t[^\t\n]+\t[0-9]+\r?\n|PAR1|\x1f\x8b|BZh|\xfd7zXZ")
_TABLES = (".csv", ".tsv")
#: The endings of packed files.
PACKED = (".gz", ".bz2", ".xz")
# The endings of run files, which are no part of a run's name.
_ENDINGS = (
    *(".run", ".txt", ".trec", ".res", ".msmarco", ".kilt"),
    *(".json", ".jsonl", ".ndjson", ".parquet", *_TABLES),
)
_MAX_GRADES = 7  # of a scale of relevance; most have two to five


@DESCRIPTIONS.register("read files")
def read_files(
    paths: Sequence[Any], task: str | None, judgments: Any, allow_empty: bool
) -> tuple[dict[str, Rankings], dict[str, str] | None, Any]:
    """Return the runs of :meth:`RunContext.from_files`, their groups, and the dataset of their judgments."""
    given: Any = paths[0] if len(paths) == 1 else paths
    given = list(given) if isinstance(given, Iterator) else given
    files = run_files(given, task)
    dataset = judgments = _judgments_in_folder(given) if judgments is None else judgments
    if judgments is not None:
        is_file = isinstance(judgments, (str, os.PathLike)) and os.path.isfile(split_part(judgments)[0])
        dataset = QrelsDataset(judgments) if is_file else load_dataset(judgments)
    runs = read_runs(files, given, allow_empty=allow_empty)
    return runs, run_groups(runs), dataset


class QrelsDataset:
    """A file of judgments with the interface of an ir_datasets dataset that has only judgments."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = path

    def has(self, part: str) -> bool:
        """Return whether the dataset has a part, such as "qrels"."""
        return part == "qrels" and self.has_qrels()

    def has_qrels(self) -> bool:
        """Return whether there are judgments."""
        return True

    def has_queries(self) -> bool:
        """Return whether there are the texts of queries."""
        return False

    def qrels_columns(self) -> QrelsColumns:
        """Return the judgments."""
        return read_qrels_file(self.path)


def run_groups(runs: Mapping[str, Rankings]) -> dict[str, str] | None:
    """Return the group of every run; None unless each run has one."""
    groups = {name: run.group for name, run in runs.items() if run.group}
    return groups if len(groups) == len(runs) else None


def run_files(paths: RunPaths, task: str | None = None) -> list[Path]:
    """Return the run files of a path, folder, glob or list of these; a part behind a ``#`` is of each file.

    A folder stands for its files, or for all files below it if it has none. Hidden files, pictures, pages about runs
    and known judgments are left out.
    """
    if not isinstance(paths, (str, os.PathLike, Iterable)):
        raise TypeError(f"the runs are {kind_of(paths)}; give a path, a glob, or a list of these")
    if not isinstance(paths, (str, os.PathLike)):
        with one_warning_of_a_kind():
            files = [file for path in paths for file in run_files(path, task)]
        if files:
            return files
        raise FileNotFoundError("no run file is given; give a folder, a glob, or a list of paths")
    if not os.fspath(paths):  # pathlib takes it for the current folder
        raise FileNotFoundError("the path of a run is an empty string; give a file, folder or glob")
    path = Path(paths)
    if path.is_dir():
        if files := _files_in_folder(path, task):
            return files
        raise FileNotFoundError(f"{path}: the folder holds no file of a run; put the run files into it")
    return [path] if path.exists() else _files_of_glob(paths, task)


def _files_of_glob(pattern: str | os.PathLike[str], task: str | None) -> list[Path]:
    text = os.fspath(pattern)
    paths = glob.glob(text, recursive=True) if glob.has_magic(text) else []
    matches = [match for match in sorted(map(Path, paths)) if not _is_in_loop(match)]
    folders = [match for match in matches if match.is_dir()]
    if files := _without_pages(match for match in matches if not match.is_dir()):
        unread = [folder for folder in folders if not any(file.is_relative_to(folder) for file in files)]
        _warn_of_unread(text, unread, f"{text.rstrip('/*')}/**")
        return files
    with one_warning_of_a_kind():
        files = [file for folder in folders for file in _files_in_folder(folder, task)]
    if files:
        return files
    if folders:
        raise FileNotFoundError(f"{text}: the folders hold no file of a run; put the run files into them")
    before, mark, part = text.rpartition("#")
    if mark and before:
        return [Path(f"{file}#{part}") for file in run_files(before, task)]
    shown = repr(text) if text.isspace() else Path(text)
    raise FileNotFoundError(f"{shown}: no such file or folder, and no file matches it as a glob")


def _files_in_folder(folder: Path, task: str | None) -> list[Path]:
    content = read_folder(folder)
    if files := _without_pages(file for file in files_in(folder) if file not in content.judgments):
        _warn_of_unread(str(folder), _folders_in(folder), f"{glob.escape(str(folder))}/**")
    else:
        files = _without_pages(file for below in _folders_in(folder) for file in _files_below(below))
    in_order = [file for file in dict.fromkeys([*content.runs, *files]) if file in files]
    return _select_task({file: content.runs.get(file, RunInfo()) for file in in_order}, task, folder)


def _select_task(runs: Mapping[Path, RunInfo], task: str | None, folder: Path) -> list[Path]:
    """Return the files of the runs of a task; of all runs if none is named and there is one task at most."""
    tasks = Counter(info.task for info in runs.values() if info.task)
    shown = ", ".join(f"{name!r} ({counted(count, 'run')})" for name, count in sorted(tasks.items()))
    if task is None and len(tasks) > 1:
        raise ValueError(
            f"{folder} holds runs of several tasks: {shown}; name one in task=, or pass its run files"
        )
    if task is not None and task not in tasks:
        raise ValueError(f"{folder} has no run of the task {task!r}; there are {shown or 'no tasks'}")
    return [file for file, info in runs.items() if task is None or info.task == task]


def _warn_of_unread(path: str, folders: Iterable[Path], instead: str) -> None:
    """Warn of folders with runs that are not read, next to files that are; ``instead`` is a glob of all files."""
    if unread := list(filter(_has_runs_below, folders)):
        warn(
            f"{path}: its files are read, and not those of {counted(len(unread), 'folder')} beside them "
            f"({few(unread, 3)}); to read these too, pass them as well, or the glob '{instead}'"
        )


def _judgments_in_folder(paths: RunPaths) -> Path | None:
    """Return the file of judgments that a reader of folders finds in a folder of runs; None for anything else."""
    if not isinstance(paths, (str, os.PathLike)) or not os.path.isdir(paths):
        return None
    files = read_folder(Path(paths)).judgments
    if len(files) > 1:
        names = ", ".join(file.name for file in files)
        raise ValueError(f"{paths} holds several files of judgments, {names}; name one in judgments=")
    return files[0] if files else None


# ---- folders


def _folders_in(folder: Path) -> list[Path]:
    folders = (path for path in folder.iterdir() if path.is_dir() and not path.name.startswith("."))
    return sorted(path for path in folders if not _is_in_loop(path))


def _files_below(folder: Path) -> Iterator[Path]:
    yield from files_in(folder)
    for below in _folders_in(folder):
        yield from _files_below(below)


def _is_in_loop(path: Path) -> bool:
    """Return whether a path passes through a link to a folder that contains the link."""
    absolute = path.absolute()
    real, seen = absolute.anchor, set[str]()
    for part in absolute.parts[1:]:
        real = os.path.join(real, part)
        if os.path.islink(real):
            real = os.path.realpath(real)
        if real in seen:
            return True
        seen.add(real)
    return False


def _has_runs_below(folder: Path) -> bool:
    try:
        return any(may_hold_run(file) and _looks_like_run(file) for file in _files_below(folder))
    except PermissionError:
        return False


def _looks_like_run(file: Path) -> bool:
    start = first_bytes(file)
    is_known = file.suffix.lower() in _TABLES or _STARTS.match(start) is not None
    return is_known or starts_as_trec(start, columns=6, number=4)


def _without_pages(paths: Iterable[Path]) -> list[Path]:
    """Return the files that may hold a run; raise FileNotFoundError for what is no file."""
    files = list(paths)
    if odd := [file for file in files if not file.is_file()]:
        raise FileNotFoundError(
            f"{odd[0]} is no file, or a link to none; remove it from the folder of runs, or mend the link"
        )
    return [file for file in files if may_hold_run(file)]


# ---- the runs of files


def read_runs(
    files: Sequence[Path], named: RunPaths = (), *, allow_empty: bool = False
) -> dict[str, Rankings]:
    """Return the runs of files, by name; a file may hold several.

    Files that the user ``named`` one by one hold runs, whatever they look like. The others are from a folder, which
    may hold judgments as well.
    """
    if twice := [file for file, count in Counter(files).items() if count > 1]:
        raise ValueError(f"{twice[0]} is given twice; give each file once")
    file_by_run, runs, doubtful = list[Path](), list[Rankings](), list[int]()
    visible = dict.fromkeys(f.parent for f in files if f.is_file() and not f.name.startswith("."))
    folders = {folder: read_folder(folder) for folder in visible if os.access(folder, os.R_OK)}
    certain = {Path(path).resolve() for path in ([named] if isinstance(named, (str, os.PathLike)) else named)}
    with one_warning_of_a_kind():
        for content in folders.values():
            if content.warning:
                warn(content.warning)
        for file in progress(files, "reading runs", "run"):
            runs_in_file, may_be_judgments = read_runs_in_file(file, str(file))
            if not allow_empty:
                check_not_empty(runs_in_file, str(file), "set allow_empty=True")
            info = folders[file.parent].runs.get(file, RunInfo()) if file.parent in folders else RunInfo()
            if may_be_judgments and file.resolve() not in certain:
                doubtful += range(len(runs), len(runs) + len(runs_in_file))
            described = {k: v for k, v in (("tag", info.tag), ("group", info.group)) if v is not None}
            runs += [run.with_attributes(**described) for run in runs_in_file]
            file_by_run += [file] * len(runs_in_file)
    _check_doubtful(file_by_run, runs, doubtful)
    names = name_runs(file_by_run, runs)
    return {name: run.with_attributes(name=f"run {name!r}") for name, run in zip(names, runs, strict=True)}


def _check_doubtful(files: Sequence[Path], runs: Sequence[Rankings], doubtful: Sequence[int]) -> None:
    """Raise ValueError for runs that are judgments by the look of their scores; warn of those that may be."""
    unclear = list[Path]()
    for i in doubtful:
        is_run, why = _scores_look_like_run(runs[i]), "most rankings have ties or one document"
        rest = [run for j, run in enumerate(runs) if j != i]
        if is_run is None and rest and not _shares_documents(runs[i], rest):
            is_run, why = False, "no other run retrieves its documents"
        if is_run is False:
            raise ValueError(
                f"{files[i]} may be judgments: all its scores are whole numbers, and {why}; take it out of the folder, "
                "or, if it is a run, pass the path of this file itself"
            )
        if is_run is None and rest:
            unclear.append(files[i])
    if unclear:
        warn(
            f"{few(unclear, 3)} may be judgments: all scores are whole numbers; they are read as runs, so take out of "
            "the folder what holds judgments"
        )


def _scores_look_like_run(run: Rankings) -> bool | None:
    """Return whether scores order documents as those of a run do, and grades do not; None if both are possible."""
    differs = (np.diff(run.given_scores, prepend=0) != 0).astype(np.int64)
    differs[run.starts[:-1]] = 0  # from the last document of one query to the first of the next
    n_different, sizes = np.add.reduceat(differs, run.starts[:-1]), np.diff(run.starts)
    if n_different.max() >= _MAX_GRADES:
        return bool(2 * n_different.sum() > (sizes - 1).sum())
    has_ties = n_different.sum() < (sizes - 1).sum()
    return False if has_ties or 2 * np.count_nonzero(sizes == 1) > len(sizes) else None


def _shares_documents(run: Rankings, rest: Sequence[Rankings]) -> bool:
    """Return whether any of the rest ranks a document of the run for the same query."""
    return any(
        not docs.keys().isdisjoint(other.select_query(query).rows()[1].strings())
        for query, docs in run.as_given().items()
        for other in rest
    )


def name_runs(files: Sequence[Path], runs: Sequence[Rankings]) -> list[str]:
    """Return the tags if all differ, else the names of the files, with enough of their folders to make them differ."""
    tags = [run.tag for run in runs]
    if None not in tags and _all_differ(tags):
        return [str(tag) for tag in tags]
    runs_in_file = Counter(files)
    parts = [f"#{run.tag}" if runs_in_file[file] > 1 else "" for file, run in zip(files, runs, strict=True)]
    places = [Path(os.path.abspath(split_part(file)[0])).parts[1:] for file in files]
    for stems in ([_stem(file) for file in files], [place[-1] for place in places]):
        for depth in range(max(map(len, places), default=1)):
            folders = ["".join(f"{name}/" for name in place[-1 - depth : -1]) for place in places]
            names = ["".join(name) for name in zip(folders, stems, parts, strict=True)]
            if _all_differ(names):
                return names
    twice = next(name for name, count in Counter(names).items() if count > 1)
    raise ValueError(f"two runs are called {twice!r}, as are their tags; rename one")


def _all_differ(names: Sequence[Any]) -> bool:
    return len({*names}) == len(names)


def _stem(file: Path) -> str:
    """Return the name of a file without its endings and without a part."""
    name = Path(split_part(file)[0]).name
    for endings in (PACKED, _ENDINGS):
        name = next((name.removesuffix(e) for e in endings if name.endswith(e) and name != e), name)
    return name
