"""``--plot``: a picture of the runs, relative over absolute."""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import ir_measures

from ..measures.strings import is_relative
from .output import check_loss, writing

if TYPE_CHECKING:
    from .inputs import Inputs


FLAGS = ("plot",)


def add_arguments(parser: Any, folder: Any) -> None:
    """The flag."""
    folder.add_argument(
        "--plot",
        metavar="FILE",
        help="draws the first relative against the first absolute measure, a point a run; .png, .pdf, .svg …",
    )


def prepare(
    args: argparse.Namespace, measures: Sequence[ir_measures.Measure], inputs: Mapping[str, str]
) -> None:
    """Raises ValueError where there is nothing to draw, or the picture cannot be written without a loss."""
    relative, absolute = _drawn(measures)
    if not relative or not absolute:
        lacking = "a relative one, such as NRG@10" if not relative else "an absolute one, such as nDCG@10"
        raise ValueError(f"--plot draws a relative measure against an absolute one: add {lacking}")
    from ..io.files import check_writable, is_picture
    from ..plots import new_figure

    path = args.plot
    check_loss("--plot", path, inputs, "picture", is_picture)
    formats = new_figure().canvas.get_supported_filetypes()
    if os.path.splitext(path)[1][1:].lower() not in formats:
        raise ValueError(
            f"--plot {path}: the ending of the name says the format; give one of .{', .'.join(formats)}"
        )
    check_writable(path, f"--plot {path}")


def _drawn(measures: Sequence[ir_measures.Measure]) -> tuple[str, str]:
    """The first relative and the first absolute measure; "" where there is none."""
    relative = (str(m) for m in measures if is_relative(m))
    absolute = (str(m) for m in measures if not is_relative(m))
    return next(relative, ""), next(absolute, "")


def write(given: Inputs) -> None:
    """Draws the picture."""
    from ..io.files import write_whole
    from ..plots import new_figure, relative_against_absolute

    path, (relative, absolute) = given.args.plot, _drawn(given.measures)
    groups = dict(given.context.groups) or None
    figure = new_figure()
    relative_against_absolute(given.scores.table(), relative, absolute, groups=groups, ax=figure.subplots())
    with writing("--plot", path, "picture"):
        write_whole(path, lambda beside: figure.savefig(beside, dpi=150))
