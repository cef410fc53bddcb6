"""``report``: a test collection as one HTML file."""

from __future__ import annotations

import argparse
import os
import shlex

from . import arguments
from .arguments import Command, add_option
from .output import PROG, check_output, writing


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    arguments.add_runs(parser)
    arguments.add_measures(parser, "nDCG@10", "NRG(norm='ideal')@10", "UniqueRel(rel=1)@10")
    add_option(parser, "-o --output FILE", "the file to write, such as campaign.html", required=True)
    add_option(parser, "--title TEXT", "title of the report")
    arguments.add_context(parser)
    arguments.add_options(parser, "--provider")


def _run(args: argparse.Namespace) -> None:
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


report = Command(
    "QRELS RUNS [MEASURE…] --output FILE [options]",
    "campaign/qrels.txt campaign/runs --output campaign.html",
    _add_arguments,
    _run,
)
