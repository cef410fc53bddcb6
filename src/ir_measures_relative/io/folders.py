"""The files in a folder and in those below it, and which of them may hold a run."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from .files import is_picture
from .trec_columns import starts_as_trec

#: The endings of text about runs, such as ``README.md`` and TIRA's ``retrieval-ir-metadata.yml``.
_PAGES = (".md", ".rst", ".html", ".htm", ".yml", ".yaml")
_HEAD = 2048  # bytes in which the first line of a run ends


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


def may_hold_run(file: Path) -> bool:
    """Return whether a file among runs may be one: it is no picture, and no page about runs."""
    if not file.is_file() or is_picture(file):
        return False
    if file.suffix.lower() not in _PAGES:
        return True
    with open(file, "rb") as opened:
        return starts_as_trec(opened.read(_HEAD), columns=6, number=4)
