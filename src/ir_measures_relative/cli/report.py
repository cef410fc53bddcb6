"""``report`` and ``plot``: a test collection as one HTML file, or as a figure of its runs."""

from __future__ import annotations

import argparse
import os
import shlex

from ..context.measure_strings import is_relative
from . import arguments
from .arguments import Command, add_option
from .output import PROG, check_output, writing


def _add_report_arguments(parser: argparse.ArgumentParser) -> None:
    arguments.add_runs(parser)
    arguments.add_measures(parser, "nDCG@10", "NRG(norm='ideal')@10", "UniqueRel(rel=1)@10")
    add_option(parser, "-o --output FILE", "the file to write, such as campaign.html", required=True)
    add_option(parser, "--title TEXT", "title of the report")
    arguments.add_context(parser)
    arguments.add_options(parser, "--provider")


def _run_report(args: argparse.Namespace) -> None:
    measures = arguments.named_measures(args)
    provider = arguments.named_provider(args, measures)
    from .. import reporting
    from ..messages import warn
    from .inputs import read
    from .run_files import find_files, input_files

    reporting.require_packages()
    from ..reporting.page import is_report

    files, path = find_files(args), args.output
    check_output(path, input_files(args, files.all()), "report", is_report)
    if os.path.splitext(path)[1].lower() not in ("", ".html", ".htm"):
        raise ValueError(f"--output {path}: give a name that ends in .html")
    folders = [folder for folder in (args.run, *args.to) if os.path.isdir(folder)]
    if any(os.path.dirname(os.path.realpath(path)) == os.path.realpath(folder) for folder in folders):
        raise ValueError(f"--output {path} lies in the folder of runs; give another path")
    given = read(args, measures, files)
    assert given.judgments is not None
    with writing(path, "report"):
        warning = reporting.write(
            given.together,
            given.judgments,
            measures,
            path,
            scores=given.scores(measures, provider, of_all=True),
            dataset=given.dataset,
            title=args.title,
            collection=None if args.qrels == "-" else args.qrels,
            command=shlex.join([PROG, *args.arguments]),
        )
    if warning is not None:
        warn(warning)


def _add_plot_arguments(parser: argparse.ArgumentParser) -> None:
    arguments.add_runs(parser)
    arguments.add_measures(parser, "nDCG@10", "NRG(norm='ideal')@10")
    text = "the file to write; its ending sets the format: .png, .pdf, .svg …"
    add_option(parser, "--output FILE", text, required=True)
    arguments.add_context(parser)
    arguments.add_options(parser, "--provider")


def _run_plot(args: argparse.Namespace) -> None:
    measures = arguments.named_measures(args)
    provider = arguments.named_provider(args, measures)
    relative = next((m for m in measures if is_relative(m)), None)
    absolute = next((m for m in measures if not is_relative(m)), None)
    if relative is None or absolute is None:
        lacking = "a relative one, such as NRG@10" if relative is None else "an absolute one, such as nDCG@10"
        raise ValueError(f"plot draws a relative measure against an absolute one: add {lacking}")
    from ..io.files import is_picture
    from ..plots import new_figure, relative_against_absolute
    from ..writing import write_whole
    from .inputs import read
    from .run_files import find_files, input_files

    path, files, figure = args.output, find_files(args), new_figure()
    check_output(path, input_files(args, files.all()), "picture", is_picture)
    formats = figure.canvas.get_supported_filetypes()
    if os.path.splitext(path)[1][1:].lower() not in formats:
        raise ValueError(f"--output {path}: give a name that ends in one of .{', .'.join(formats)}")
    given = read(args, measures, files)
    table = given.scores([relative, absolute], provider).table()
    ax, groups = figure.subplots(), given.groups or None
    relative_against_absolute(table, str(relative), str(absolute), groups=groups, ax=ax)
    with writing(path, "picture"):
        write_whole(path, lambda temporary: figure.savefig(temporary, dpi=150))


report = Command(
    "QRELS RUNS [MEASURE…] --output FILE [options]",
    "campaign/qrels.txt campaign/runs --output campaign.html",
    _add_report_arguments,
    _run_report,
)
plot = Command(
    "QRELS RUNS [MEASURE…] --output FILE [--to RUNS …] [options]",
    "campaign/qrels.txt campaign/runs --output campaign.png",
    _add_plot_arguments,
    _run_plot,
)
