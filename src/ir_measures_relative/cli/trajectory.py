"""``trajectory``: the worth of each further search of an agent, or of a user in a session."""

from __future__ import annotations

import argparse
import os

import ir_measures_relative as package

from . import arguments
from .arguments import Command, add_option
from .tables import print_table


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("qrels", metavar="QRELS", help="a qrels file, or an ir_datasets id")
    text = (
        "CSV, JSON Lines, JSON or Parquet with the columns query_id, search, doc_id, and rank or score; or a "
        "folder of runs, which are the searches in the order of their names"
    )
    parser.add_argument("traces", metavar="TRACES", help=text)
    add_option(parser, "-k K", "count the first K documents of each search (default: all)")
    add_option(parser, "--topic FILE", "CSV of trajectory,topic, where trajectories share a topic")
    add_option(parser, "--deeper RUN", "search 1 as a longer run: compare at the same cost")
    text = "the smallest difference that matters (default: 0.02)"
    add_option(parser, "--margin MARGIN", text, type=float, default=0.02)
    text = "what unjudged documents count as at the same cost"
    add_option(parser, "--labels {judged,strict}", text, choices=("judged", "strict"))
    add_option(parser, "--pays N", "new relevant documents that pay for a search", type=float)
    arguments.add_table(parser, is_text=True)


def _run(args: argparse.Namespace) -> None:
    from .inputs import read_pairs, read_qrels

    topic = None if args.topic is None else read_pairs("--topic", args.topic, "trajectory,topic")
    traces = package.RunContext.from_files(args.traces) if os.path.isdir(args.traces) else args.traces
    answer = package.trajectory(
        traces,
        read_qrels(args.qrels)[0],
        args.k,
        topic=topic,
        deeper=args.deeper,
        margin=args.margin,
        labels=args.labels,
        pays=args.pays,
    )
    if args.output_format is None:
        print(answer)
    else:
        print_table(answer.searches, args)


trajectory = Command(
    "QRELS TRACES [-k K] [--topic FILE] [--deeper RUN] [options]",
    "campaign/qrels.txt campaign/runs -k 10",
    _add_arguments,
    _run,
)
