"""``report``: a campaign as one HTML file."""

from __future__ import annotations

import argparse
import os
import shlex

from . import arguments
from .output import PROG, check_loss, writing

USAGE = "QRELS RUNS [MEASURE…] --output FILE [--to RUNS …] [options]"
EXAMPLE = "campaign/qrels.txt campaign/runs --output campaign.html"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Where the report goes."""
    arguments.add_runs(parser)
    arguments.add_measures(parser, "nDCG@10", "NRG(norm='ideal')@10", "UniqueRel@10")
    arguments.add_output(parser, "where the report goes, such as campaign.html")
    arguments.add_context(parser)
    arguments.add_provider(parser)


def run(args: argparse.Namespace) -> None:
    """Writes the report; the texts are those of QRELS where that is a dataset of ir_datasets."""
    measures = arguments.measures_of(args)
    provider = arguments.provider_of(args, measures)
    from .. import reporting
    from ..io.files import check_writable
    from ..messages import warn
    from .inputs import find_files, named, read

    reporting.require_packages()
    from ..reporting.page import is_report

    path, files = args.output, find_files(args)
    check_loss(path, named(args, files.all()), "report", is_report)
    folders = [folder for folder in (args.run, *args.to) if os.path.isdir(folder)]
    if any(os.path.dirname(os.path.realpath(path)) == os.path.realpath(folder) for folder in folders):
        raise ValueError(
            f"--output {path} lies in the folder of runs, where it would be taken for a run; give another path"
        )
    check_writable(path, f"--output {path}")
    given = read(args, measures, files)
    assert given.qrels is not None
    with writing(path, "report"):
        message = reporting.write(
            given.together,
            given.qrels.columns,
            measures,
            path,
            given=given.scores(measures, provider, of_all=True),
            dataset=given.qrels.dataset,
            command=shlex.join([PROG, *args.arguments]),
        )
    if message is not None:
        warn(message)
