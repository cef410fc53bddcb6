"""The picture that the command draws, and where it may be put."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import ir_measures

from ..io.files import is_picture, write_whole
from ..measures.strings import is_relative
from .destination import check_loss, check_writable


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
        check_loss("--plot", path, inputs, "picture", is_picture)
    from ..plots import new_figure

    formats = new_figure().canvas.get_supported_filetypes()
    if Path(path).suffix[1:].lower() not in formats:
        raise ValueError(
            f"--plot {path}: the ending of the name says the format; give one of .{', .'.join(formats)}"
        )
    check_writable("--plot", path)
    return relative[0], absolute[0]


def plot(path: str, table: Any, relative: str, absolute: str, groups: dict[str, str]) -> None:
    """Draws the picture, beside its place first, so that nothing half written is ever there.

    Raises:
        OSError: it cannot be written; what was there is still there.
    """
    from ..plots import new_figure, relative_against_absolute

    figure = new_figure()
    relative_against_absolute(table, relative, absolute, groups=groups or None, ax=figure.subplots())
    try:
        write_whole(path, lambda beside: figure.savefig(beside, dpi=150))
    except OSError as error:
        raise OSError(
            f"--plot {path}: the picture could not be written ({error.strerror or error}); make room, or give another "
            "path"
        ) from None
