"""``fuse``: which runs to fuse, and what that is worth on topics that had no say in the choice."""

from __future__ import annotations

import argparse

import ir_measures_relative as package

from ..messages import few
from . import arguments
from .tables import answer, check_table, text_of

USAGE = "QRELS RUNS [MEASURE] [--number N] [options]"
_COLUMNS = ("strategy", "n", "names", "held_out", "difference", "ci_lower", "ci_upper", "in_sample")
EXAMPLE = "campaign/qrels.txt campaign/runs nDCG@10 --number 3"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    arguments.add_runs(parser, to=())
    arguments.add_measure(parser, "nDCG@10")
    parser.add_argument(
        "--number", type=int, default=2, metavar="N", help="number of runs to fuse (default: %(default)s)"
    )
    parser.add_argument("--method", default="rrf", help="rrf (default), isr, combsum or combmnz")
    parser.add_argument(
        "--depth",
        type=int,
        help="number of documents to fuse from each run (default: 1000, or all that a track has)",
    )
    parser.add_argument(
        "--strategies",
        default="single,top,greedy,exact,all",
        metavar="NAMES",
        help="how runs are chosen (default: %(default)s); with many runs, leave out exact",
    )
    arguments.add_missing(parser)
    arguments.add_table(parser, answers=True)


def run(args: argparse.Namespace) -> None:
    """Prints the answer and the table; without ``-o`` long lists are shortened."""
    check_table(args)
    measure = arguments.measure_of(args)
    from .inputs import read

    given = read(args)
    table = package.fuse(
        given.together,
        given.judgments,
        args.number,
        measure,
        method=args.method,
        depth=args.depth,
        strategies=args.strategies.split(","),
        missing=args.missing,
    )
    if args.output_format:
        answer(table, args, ())
        return
    most, short = max(args.number, 3), table.copy()
    short["names"] = [few(names, most) for names in table["names"]]
    shares = [[f"{name} {text_of(x, args.places)}" for name, x in of.items()] for of in table["chosen"]]
    short["chosen"] = [few(of, most) for of in shares]
    answer(table, args, _COLUMNS, short)
