"""``select``: the runs that complement each other."""

from __future__ import annotations

import argparse

import ir_measures_relative as package

from . import arguments
from .tables import answer, check_table

USAGE = "QRELS RUNS [MEASURE] [--number N] [options]"
EXAMPLE = "campaign/qrels.txt campaign/runs --number 3"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    arguments.add_runs(parser, to=())
    arguments.add_measure(parser, "UniqueRel(rel=1)@10")
    parser.add_argument(
        "--number", type=int, default=3, metavar="N", help="number of runs to choose (default: %(default)s)"
    )
    arguments.add_missing(parser)
    arguments.add_table(parser, answers=True)


def run(args: argparse.Namespace) -> None:
    check_table(args)
    measure = arguments.measure_of(args)
    from .inputs import read

    given = read(args)
    chosen = package.select_complementary(
        given.together, given.judgments, args.number, measure, missing=args.missing
    )
    answer(chosen, args, chosen.columns)
