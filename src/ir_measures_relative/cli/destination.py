"""Where the command may put a file: nowhere that something else would be lost."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path


def check_loss(
    flag: str, path: str, inputs: Mapping[str, Path], kind: str, is_one: Callable[[str], bool]
) -> None:
    """Raises ValueError where a file would take the place of anything but one of its kind, or an empty file.

    Args:
        flag: what asks for the file.
        path: where it is to be put; something is there.
        inputs: the files that the command reads, by what they are called.
        kind: what the file is called.
        is_one: whether what is there is such a file.
    """
    for called, file in inputs.items():
        if os.path.exists(file) and os.path.samefile(file, path):
            raise ValueError(
                f"{flag} {path} is {called}, which the {kind} would overwrite; give another path"
            )
    if _is_output(path):
        raise ValueError(f"{flag} {path} is where the table goes; give another path")
    if not os.path.isfile(path):
        raise ValueError(f"{flag} {path}: cannot be written, since it is not a file; give another path")
    if os.path.getsize(path) and not is_one(path):
        raise ValueError(
            f"{flag} {path} exists and is not a {kind}; it is not overwritten: remove it, or give another path"
        )


def check_writable(flag: str, path: str) -> None:
    """Raises ValueError where no file can be written."""
    folder = Path(path).resolve().parent
    if not folder.is_dir():
        raise ValueError(f"{flag} {path}: there is no folder {folder}; make it first")
    if not all(os.access(place, os.W_OK) for place in (folder, path) if os.path.exists(place)):
        raise ValueError(f"{flag} {path}: cannot be written; give another path")


def _is_output(path: str) -> bool:
    try:
        return os.path.samestat(os.fstat(sys.stdout.fileno()), os.stat(path))
    except (OSError, ValueError):  # no file at all
        return False
