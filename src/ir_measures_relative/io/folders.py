"""The files in a folder and in those below it, and which of them may hold a run."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from .files import is_picture
from .trec_columns import starts_as_trec

#: The endings of text about runs, such as ``README.md`` and TIRA's ``retrieval-ir-metadata.yml``.
_PAGES = (".md", ".rst", ".html", ".htm", ".yml", ".yaml")
_HEAD = 2048  # bytes in which the first line of a run ends
# How the files start that may hold runs, beside TREC's and tables: JSON, MS MARCO's lines, Parquet, packed files.
_STARTS = re.compile(rb"\s*[{\[]|[^\t\n]+\t[^\t\n]+\t[0-9]+\r?\n|PAR1|\x1f\x8b|BZh|\xfd7zXZ")
_TABLES = (".csv", ".tsv")


def files_in(folder: Path) -> list[Path]:
    """Return what a folder holds beside folders, but for hidden files, sorted."""
    return sorted(path for path in folder.iterdir() if not path.is_dir() and not path.name.startswith("."))


def folders_in(folder: Path) -> list[Path]:
    """Return the folders in a folder, but for hidden ones and links to a folder that they lie in, sorted."""
    return sorted(
        path
        for path in folder.iterdir()
        if path.is_dir() and not path.name.startswith(".") and not is_in_loop(path)
    )


def files_below(folder: Path) -> Iterator[Path]:
    """Yield the files of a folder and of all folders below it, but for hidden ones."""
    yield from files_in(folder)
    for below in folders_in(folder):
        yield from files_below(below)


def is_in_loop(path: Path) -> bool:
    """Return whether a path passes through a link to a folder that the link itself lies in."""
    folders = [os.path.realpath(folder) for folder in (path.absolute(), *path.absolute().parents)]
    return len({*folders}) < len(folders)


def has_runs_below(folder: Path) -> bool:
    """Return whether files that look like runs lie in a folder or below it, as far as it may be read."""
    try:
        return any(may_hold_run(file) and _looks_like_run(file) for file in files_below(folder))
    except PermissionError:
        return False


def _looks_like_run(file: Path) -> bool:
    start = _start_of(file)
    is_known = file.suffix.lower() in _TABLES or _STARTS.match(start) is not None
    return is_known or starts_as_trec(start, columns=6, number=4)


def may_hold_run(file: Path) -> bool:
    """Return whether a file among runs may be one: it is no picture, and no page about runs."""
    if not file.is_file() or is_picture(file):
        return False
    return file.suffix.lower() not in _PAGES or starts_as_trec(_start_of(file), columns=6, number=4)


def _start_of(file: Path) -> bytes:
    with open(file, "rb") as opened:
        return opened.read(_HEAD)
