"""``sweep``: what a run adds as more is deployed."""

from __future__ import annotations

import argparse

from . import arguments
from .output import check_table, show

USAGE = "QRELS RUNS [MEASURE] [--over SETS] [--to RUNS …] [options]"
EXAMPLE = "campaign/qrels.txt campaign/runs/3-grams.run \\\n    --to campaign/runs"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    arguments.add_runs(parser)
    arguments.add_measure(parser, "UniqueRel(rel=1)@10")
    parser.add_argument(
        "--over",
        default="size",
        metavar="SETS",
        help="sets of other runs: size (random sets of each size; default), or names and globs separated by commas",
    )
    parser.add_argument(
        "--samples", type=int, default=100, metavar="N", help="random sets per size (default: 100)"
    )
    arguments.add_table(parser)


def run(args: argparse.Namespace) -> None:
    check_table(args)
    measure = arguments.measure_of(args)
    import pandas as pd

    from ..decisions import added_value_curve
    from .inputs import read

    over = args.over if args.over == "size" else args.over.split(",")
    given = read(args)
    curves = [
        added_value_curve(context, given.judgments, measure, over, names, samples=args.samples)
        for names, context in given.campaigns()
    ]
    table = pd.concat(curves, ignore_index=True)
    show(table.drop(columns="priors") if over == "size" else table, args)  # which names no set of a size
