"""The picture that the command draws, and where it may be put."""

from __future__ import annotations

import os
import stat
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import ir_measures

from ..io.files import is_picture
from ..measures.declaration import is_relative


def check_plot(
    path: str, measures: Sequence[ir_measures.Measure], inputs: Mapping[str, Path]
) -> tuple[str, str]:
    """The relative and the absolute measure to draw.

    Args:
        path: where the picture is to be put.
        measures: what is computed.
        inputs: the files that the command reads, by what they are called.

    Raises:
        ValueError: there are not both, or the picture cannot be written there without a loss.
    """
    relative = [str(m) for m in measures if is_relative(m)]
    absolute = [str(m) for m in measures if not is_relative(m)]
    if not relative or not absolute:
        lacking = "a relative one, such as NRG@10" if not relative else "an absolute one, such as nDCG@10"
        raise ValueError(f"--plot draws a relative measure against an absolute one: add {lacking}")
    if os.path.exists(path):
        _check_loss(path, inputs)
    from ..plots import new_figure

    formats = new_figure().canvas.get_supported_filetypes()
    if Path(path).suffix[1:].lower() not in formats:
        raise ValueError(
            f"--plot {path}: the ending of the name says the format; give one of .{', .'.join(formats)}"
        )
    folder = Path(path).resolve().parent
    if not folder.is_dir():
        raise ValueError(f"--plot {path}: there is no folder {folder}; make it first")
    if not all(os.access(place, os.W_OK) for place in (folder, path) if os.path.exists(place)):
        raise ValueError(f"--plot {path}: cannot be written; give another path")
    return relative[0], absolute[0]


def _check_loss(path: str, inputs: Mapping[str, Path]) -> None:
    """Raises ValueError where the picture would take the place of anything but a picture, or an empty file."""
    for called, file in inputs.items():
        if os.path.exists(file) and os.path.samefile(file, path):
            raise ValueError(
                f"--plot {path} is {called}, which the picture would overwrite; give another path"
            )
    if _is_output(path):
        raise ValueError(f"--plot {path} is where the table goes; give another path")
    if not os.path.isfile(path):
        raise ValueError(f"--plot {path}: cannot be written, since it is not a file; give another path")
    if os.path.getsize(path) and not is_picture(path):
        raise ValueError(
            f"--plot {path} exists and is not a picture; it is not overwritten: remove it, or give another path"
        )


def _is_output(path: str) -> bool:
    try:
        return os.path.samestat(os.fstat(sys.stdout.fileno()), os.stat(path))
    except (OSError, ValueError):  # no file at all
        return False


def plot(path: str, table: Any, relative: str, absolute: str, groups: dict[str, str]) -> None:
    """Draws the picture, beside its place first, so that nothing half written is ever there.

    Raises:
        OSError: it cannot be written; what was there is still there.
    """
    from ..plots import new_figure, relative_against_absolute

    figure = new_figure()
    relative_against_absolute(table, relative, absolute, groups=groups or None, ax=figure.subplots())
    target = Path(os.path.realpath(path))  # a link stays one
    try:
        # A name that starts with a dot: should it be left over, it is not a run of the folder.
        handle, beside = tempfile.mkstemp(prefix=".", suffix=target.suffix, dir=target.parent)
        os.close(handle)
        try:
            figure.savefig(beside, dpi=150)
            os.chmod(beside, _mode(target))
            os.replace(beside, target)
        finally:
            with suppress(FileNotFoundError):
                os.unlink(beside)
    except OSError as error:
        raise OSError(
            f"--plot {path}: the picture could not be written ({error.strerror or error}); make room, or give another "
            "path"
        ) from None


def _mode(target: Path) -> int:
    """The permissions that the file has, or that a new one gets."""
    if target.exists():
        return stat.S_IMODE(target.stat().st_mode)
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
