"""``plot``: a figure of the runs, relative against absolute."""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping
from typing import Any

from ..context.measure_strings import is_relative
from . import arguments
from .arguments import Command
from .output import check_output, writing


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    arguments.add_runs(parser)
    arguments.add_measures(parser, "nDCG@10", "NRG(norm='ideal')@10")
    text = "the file to write; its ending sets the format: .png, .pdf, .svg …"
    arguments.add_option(parser, "--output FILE", text, required=True)
    arguments.add_context(parser)
    arguments.add_options(parser, "--provider")


def _run(args: argparse.Namespace) -> None:
    measures = arguments.named_measures(args)
    provider = arguments.named_provider(args, measures)
    relative = next((m for m in measures if is_relative(m)), None)
    absolute = next((m for m in measures if not is_relative(m)), None)
    if relative is None or absolute is None:
        lacking = "a relative one, such as NRG@10" if relative is None else "an absolute one, such as nDCG@10"
        raise ValueError(f"plot draws a relative measure against an absolute one: add {lacking}")
    from .inputs import read
    from .run_files import find_files, input_files

    path, files = args.output, find_files(args)
    check_picture(path, input_files(args, files.all()))
    given = read(args, measures, files)
    table = given.scores([relative, absolute], provider).table()
    draw_runs(path, table, relative, absolute, given.groups or None)


def check_picture(path: str, inputs: Mapping[str, str]) -> None:
    """Raise ValueError or OSError for a picture that cannot be written, or would replace another kind of file."""
    from ..formats.content import is_picture
    from ..plots import new_figure

    check_output(path, inputs, "picture", is_picture)
    formats = new_figure().canvas.get_supported_filetypes()
    if os.path.splitext(path)[1][1:].lower() not in formats:
        raise ValueError(f"--output {path}: give a name that ends in one of .{', .'.join(formats)}")


def draw_runs(path: str, table: Any, relative: Any, absolute: Any, groups: Mapping[str, str] | None) -> None:
    """Write the figure of :func:`~ir_measures_relative.plots.relative_against_absolute` to a file."""
    from ..plots import new_figure, relative_against_absolute
    from ..writing import write_whole

    figure = new_figure()
    relative_against_absolute(table, str(relative), str(absolute), groups=groups, ax=figure.subplots())
    with writing(path, "picture"):
        write_whole(path, lambda temporary: figure.savefig(temporary, dpi=150))


plot = Command(
    "QRELS RUNS [MEASURE…] --output FILE [--to RUNS …] [options]",
    "campaign/qrels.txt campaign/runs --output campaign.png",
    _add_arguments,
    _run,
)
