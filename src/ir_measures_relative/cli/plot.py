"""``plot``: a picture of the runs, relative over absolute."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence

import ir_measures

from ..context.measure_strings import is_relative
from . import arguments
from .output import check_loss, writing

USAGE = "QRELS RUNS [MEASURE…] --output FILE [--to RUNS …] [options]"
EXAMPLE = "campaign/qrels.txt campaign/runs --output campaign.png"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    arguments.add_runs(parser)
    arguments.add_measures(parser, "nDCG@10", "NRG(norm='ideal')@10")
    what = "the file to write; its ending sets the format: .png, .pdf, .svg …"
    parser.add_argument("--output", required=True, metavar="FILE", help=what)
    arguments.add_context(parser)
    arguments.add_provider(parser)


def run(args: argparse.Namespace) -> None:
    measures = arguments.measures_of(args)
    provider = arguments.provider_of(args, measures)
    drawn = _drawn(measures)
    from ..io.files import is_picture
    from ..plots import new_figure, relative_against_absolute
    from ..work import check_writable, write_whole
    from .inputs import read
    from .run_files import find_files, named

    path, files = args.output, find_files(args)
    check_loss(path, named(args, files.all()), "picture", is_picture)
    formats = new_figure().canvas.get_supported_filetypes()
    if os.path.splitext(path)[1][1:].lower() not in formats:
        raise ValueError(f"--output {path}: give a name that ends in one of .{', .'.join(formats)}")
    check_writable(path, f"--output {path}")
    given = read(args, measures, files)
    table = given.scores(drawn, provider).table()
    figure = new_figure()
    relative, absolute = map(str, drawn)
    relative_against_absolute(table, relative, absolute, groups=given.groups or None, ax=figure.subplots())
    with writing(path, "picture"):
        write_whole(path, lambda beside: figure.savefig(beside, dpi=150))


def _drawn(measures: Sequence[ir_measures.Measure]) -> list[ir_measures.Measure]:
    relative = next((m for m in measures if is_relative(m)), None)
    absolute = next((m for m in measures if not is_relative(m)), None)
    if relative is None or absolute is None:
        lacking = "a relative one, such as NRG@10" if relative is None else "an absolute one, such as nDCG@10"
        raise ValueError(f"plot draws a relative measure against an absolute one: add {lacking}")
    return [relative, absolute]
