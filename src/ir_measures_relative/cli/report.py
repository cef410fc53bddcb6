"""``report``: a campaign as one HTML file, or as a folder of static files that a shared task publishes."""

from __future__ import annotations

import argparse
import os
import shlex
from pathlib import Path

from . import arguments
from .output import PROG, check_loss, writing

USAGE = "QRELS RUNS [MEASURE…] (--output FILE | --site FOLDER) [options]"
EXAMPLE = "campaign/qrels.txt campaign/runs --output campaign.html"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    arguments.add_runs(parser)
    arguments.add_measures(parser, "nDCG@10", "NRG(norm='ideal')@10", "UniqueRel(rel=1)@10")
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("-o", "--output", metavar="FILE", help="the file to write, such as campaign.html")
    where.add_argument(
        "--site", metavar="FOLDER", help="write a leaderboard instead: an index, and a page for each run"
    )
    parser.add_argument("--title", metavar="TEXT", help="title of the report or of the leaderboard")
    arguments.add_context(parser)
    arguments.add_provider(parser)


def run(args: argparse.Namespace) -> None:
    measures = arguments.measures_of(args)
    provider = arguments.provider_of(args, measures)
    from .. import reporting
    from ..messages import warn
    from ..work import check_writable
    from .inputs import find_files, named, read

    reporting.require_packages()
    from ..reporting.contents import campaign_of
    from ..reporting.page import check_place, is_report, write_site

    files, site = find_files(args), args.site is not None
    flag, path = ("--site", args.site) if site else ("--output", args.output)
    if not site:
        check_loss(path, named(args, files.all()), "report", is_report)
        if os.path.splitext(path)[1].lower() not in ("", ".html", ".htm"):
            raise ValueError(f"--output {path}: give a name that ends in .html")
    folders = [folder for folder in (args.run, *args.to) if os.path.isdir(folder)]
    if any(os.path.dirname(os.path.realpath(path)) == os.path.realpath(folder) for folder in folders):
        raise ValueError(f"{flag} {path} lies in the folder of runs; give another path")
    if site:
        check_place(path)
    else:
        check_writable(path, f"--output {path}")
    given = read(args, measures, files)
    assert given.qrels is not None
    asked = given.together, given.qrels.file.columns, measures
    scores, command = given.scores(measures, provider, of_all=True), shlex.join([PROG, *args.arguments])
    if site:
        with writing(path, "leaderboard", flag):
            campaign = campaign_of(*asked, given=scores, command=command)
            write_site(campaign, Path(path), args.title or "Leaderboard")
            message = campaign.one_topic
    else:
        with writing(path, "report"):
            more = {"given": scores, "dataset": given.qrels.dataset, "title": args.title, "command": command}
            message = reporting.write(*asked, path, **more)
    if message is not None:
        warn(message)
