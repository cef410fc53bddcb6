"""The run files that paths, folders and globs stand for, their runs, and the names of these."""

from __future__ import annotations

import glob
import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from ..data.rankings import Rankings
from ..messages import counted, few, kind_of, one_warning_of_a_kind, progress, warn
from .files import located
from .folders import files_below, files_in, folders_in, has_runs_below, is_in_loop, may_hold_run
from .readers import Described, FolderContent, read_folder
from .run_file import check_has_rows, runs_of_file
from .runs import run_of_given

#: What stands for files of runs.
RunPaths: TypeAlias = "str | os.PathLike[str] | Iterable[str | os.PathLike[str]]"


def run_files(paths: RunPaths, task: str | None = None) -> list[Path]:
    """Return the run files that a path, folder, glob or list of these stands for; behind a ``#`` the part of each file.

    Of a folder with run files these are read, else all files in the folders below it. Hidden files, pictures and pages
    about runs are left out, and judgments that a reader of folders knows.
    """
    if not isinstance(paths, (str, os.PathLike, Iterable)):
        raise TypeError(f"the runs are {kind_of(paths)}; give a path, a glob, or a list of these")
    if not isinstance(paths, (str, os.PathLike)):
        with one_warning_of_a_kind():
            found = [file for path in paths for file in run_files(path, task)]
        if found:
            return found
        raise FileNotFoundError("no run file is given; give a folder, a glob, or a list of paths")
    if not os.fspath(paths):  # which would be the folder that the program runs in
        raise FileNotFoundError("the path of a run is an empty string; give a file, folder or glob")
    path = Path(paths)
    if path.is_dir():
        if runs := _files_of_folder(path, task):
            return runs
        raise FileNotFoundError(f"{path}: the folder holds no file of a run; put the run files into it")
    if path.exists():
        return [path]
    globbed = glob.glob(os.fspath(paths), recursive=True) if glob.has_magic(os.fspath(paths)) else []
    matches = [match for match in sorted(map(Path, globbed)) if not is_in_loop(match)]
    folders = [match for match in matches if match.is_dir()]
    if runs := _without_pages(match for match in matches if not match.is_dir()):
        unread = [folder for folder in folders if not any(file.is_relative_to(folder) for file in runs)]
        _warn_of_unread(os.fspath(paths), unread, f"{os.fspath(paths).rstrip('/*')}/**")
        return runs
    with one_warning_of_a_kind():
        runs = [file for folder in folders for file in _files_of_folder(folder, task)]
    if runs:
        return runs
    if folders:
        raise FileNotFoundError(f"{paths}: the folders hold no file of a run; put the run files into them")
    file, mark, part = os.fspath(paths).rpartition("#")
    if mark and file:
        return [Path(f"{f}#{part}") for f in run_files(file, task)]
    shown = repr(str(path)) if str(path).isspace() else path
    raise FileNotFoundError(f"{shown}: no such file or folder, and no file matches it as a glob")


def _files_of_folder(folder: Path, task: str | None) -> list[Path]:
    content = read_folder(folder) or FolderContent({})
    if runs := _without_pages(file for file in files_in(folder) if file not in content.judgments):
        _warn_of_unread(str(folder), folders_in(folder), f"{glob.escape(str(folder))}/**")
    else:
        runs = _without_pages(file for below in folders_in(folder) for file in files_below(below))
    in_order = [file for file in dict.fromkeys([*content.runs, *runs]) if file in runs]
    return _of_task({file: content.runs.get(file, Described()) for file in in_order}, task, folder)


def _warn_of_unread(path: str, folders: Iterable[Path], instead: str) -> None:
    """Warn of folders with runs that are not read, beside files that are; ``instead`` is a glob of all files."""
    unread = list(filter(has_runs_below, folders))
    if unread:
        warn(
            f"{path}: its files are read, and not those of {counted(len(unread), 'folder')} beside them "
            f"({few(unread, 3)}); to read these too, pass them as well, or the glob '{instead}'"
        )


def judgments_beside(paths: RunPaths) -> Path | None:
    """The file of judgments in a folder of runs, where a reader of folders knows one; None for anything else."""
    if not isinstance(paths, (str, os.PathLike)) or not os.path.isdir(paths):
        return None
    content = read_folder(Path(paths))
    files = content.judgments if content is not None else ()
    if len(files) > 1:
        names = ", ".join(file.name for file in files)
        raise ValueError(f"{paths} holds several files of judgments, {names}; name one in judgments=")
    return files[0] if files else None


def _of_task(runs: Mapping[Path, Described], task: str | None, folder: Path) -> list[Path]:
    """The files of the runs of a task; of all runs where none is named and there is one task at most."""
    tasks = Counter(about.task for about in runs.values() if about.task)
    shown = ", ".join(f"{name!r} ({counted(count, 'run')})" for name, count in sorted(tasks.items()))
    if task is None and len(tasks) > 1:
        raise ValueError(
            f"{folder} holds runs of several tasks: {shown}; name one in task=, or pass its run files"
        )
    if task is not None and task not in tasks:
        raise ValueError(f"{folder} has no run of the task {task!r}; there are {shown or 'no tasks'}")
    return [file for file, about in runs.items() if task is None or about.task == task]


def _without_pages(files: Iterable[Path]) -> list[Path]:
    """Return the files that may hold a run; raises FileNotFoundError for a link to nothing, and what is no file."""
    found = list(files)
    if odd := [file for file in found if not file.is_file()]:
        raise FileNotFoundError(
            f"{odd[0]} is no file, or a link to none; remove it from the folder of runs, or mend the link"
        )
    return [file for file in found if may_hold_run(file)]


#: The endings of packed files, and those of files of runs, which are no part of a run's name.
PACKED = (".gz", ".bz2", ".xz")
_RUNS = (".run", ".txt", ".trec", ".res", ".msmarco", ".kilt")
_ENDINGS = (*_RUNS, ".json", ".jsonl", ".ndjson", ".parquet", ".csv", ".tsv")


def read_runs(
    files: Sequence[Path],
    named: str | os.PathLike[str] | Iterable[str | os.PathLike[str]] = (),
    *,
    allow_empty: bool = False,
) -> dict[str, Rankings]:
    """Return the runs of some files, by name; a file may hold several.

    The ``named`` files are given one by one, and so hold runs whatever they look like. Others are of a folder, which
    may hold judgments as well.
    """
    if again := [f for f, count in Counter(files).items() if count > 1]:
        raise ValueError(f"{again[0]} is given twice; give each file once")
    of_file, runs, doubtful = list[Path](), list[Rankings](), list[int]()
    visible = dict.fromkeys(f.parent for f in files if f.is_file() and not f.name.startswith("."))
    folders = {folder: read_folder(folder) for folder in visible if os.access(folder, os.R_OK)}
    sure = {Path(path).resolve() for path in ([named] if isinstance(named, (str, os.PathLike)) else named)}
    with one_warning_of_a_kind():
        for layout in folders.values():
            if layout is not None and layout.doubt:
                warn(layout.doubt)
        for file in progress(files, "reading runs", "run"):
            found, may_be_judgments = runs_of_file(file, str(file), run_of_given)
            if not allow_empty:
                check_has_rows(found, str(file), "set allow_empty=True")
            layout = folders.get(file.parent)
            about = Described() if layout is None else layout.runs.get(file, Described())
            known = {"tag": about.tag, "group": about.group}
            if may_be_judgments and file.resolve() not in sure:
                doubtful += range(len(runs), len(runs) + len(found))
            runs += [run.described(**{k: v for k, v in known.items() if v is not None}) for run in found]
            of_file += [file] * len(found)
    _check_doubtful(of_file, runs, doubtful)
    return {
        name: run.named(f"run {name!r}") for name, run in zip(name_runs(of_file, runs), runs, strict=True)
    }


def _check_doubtful(files: Sequence[Path], runs: Sequence[Rankings], doubtful: Sequence[int]) -> None:
    """Raises ValueError for whole numbers in a folder of runs that are judgments; warns of those that may be."""
    unclear = list[Path]()
    for i in doubtful:
        order, why = _orders(runs[i]), "most rankings have ties or one document"
        others = [run for j, run in enumerate(runs) if j != i]
        if order is None and others and not _shares_documents(runs[i], others):
            order, why = False, "no other run retrieves its documents"
        if order is False:
            raise ValueError(
                f"{files[i]} may be judgments: all its scores are whole numbers, and {why}; take it out of the folder, "
                "or, if it is a run, pass the path of this file itself"
            )
        if order is None and others:
            unclear.append(files[i])
    if unclear:
        warn(
            f"{few(unclear, 3)} may be judgments: all scores are whole numbers; they are read as runs, so take out of "
            "the folder what holds judgments"
        )


#: A scale of relevance has no more grades; most have two to five.
_MOST_GRADES = 7


def _orders(run: Rankings) -> bool | None:
    """Return whether scores order documents as those of a run do, and grades do not; None where both are possible."""
    differs = (np.diff(run.given_scores, prepend=0) != 0).astype(np.int64)
    differs[run.starts[:-1]] = 0  # from the last document of one query to the first of the next
    different, sizes = np.add.reduceat(differs, run.starts[:-1]), np.diff(run.starts)
    if different.max() >= _MOST_GRADES:
        return bool(2 * different.sum() > (sizes - 1).sum())
    has_ties = different.sum() < (sizes - 1).sum()
    return False if has_ties or 2 * np.count_nonzero(sizes == 1) > len(sizes) else None


def _shares_documents(run: Rankings, others: Sequence[Rankings]) -> bool:
    """Return whether another run ranks one of the documents of a run for the same query."""
    return any(
        not docs.keys().isdisjoint(other.select_query(query).rows()[1].strings())
        for query, docs in run.as_given().items()
        for other in others
    )


def name_runs(files: Sequence[Path], runs: Sequence[Rankings]) -> list[str]:
    """Return the tags where every run has its own, else the names of the files, with as many folders as it takes."""
    tags = [run.tag for run in runs]
    if None not in tags and _all_differ(tags):
        return [str(tag) for tag in tags]
    of_several = [count > 1 for count in map(Counter(files).__getitem__, files)]
    parts = [f"#{run.tag}" if several else "" for run, several in zip(runs, of_several, strict=True)]
    places = [Path(os.path.abspath(located(file)[0])).parts[1:] for file in files]
    for last in ([_stem(file) for file in files], [place[-1] for place in places]):
        for depth in range(max(map(len, places), default=1)):
            folders = ["".join(f"{name}/" for name in place[-1 - depth : -1]) for place in places]
            names = ["".join(name) for name in zip(folders, last, parts, strict=True)]
            if _all_differ(names):
                return names
    twice = next(n for n, count in Counter(names).items() if count > 1)
    raise ValueError(f"two runs are called {twice!r}, as are their tags; rename one")


def _all_differ(names: Sequence[Any]) -> bool:
    return len({*names}) == len(names)


def _stem(file: Path) -> str:
    """The name of a file without the endings of packed files and of formats, and without the part of it."""
    name = Path(located(file)[0]).name
    for endings in (PACKED, _ENDINGS):
        name = next((name.removesuffix(e) for e in endings if name.endswith(e) and name != e), name)
    return name
