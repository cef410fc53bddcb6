"""``fuse``: which runs to fuse, and what that is worth on topics that had no say in the choice."""

from __future__ import annotations

import argparse

import ir_measures_relative as package

from . import arguments
from .tables import check_table, show

USAGE = "QRELS RUNS [MEASURE] [--number N] [options]"
EXAMPLE = "campaign/qrels.txt campaign/runs nDCG@10 --number 3"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """How many runs, and how they are fused."""
    arguments.add_runs(parser, to=())
    arguments.add_measure(parser, "nDCG@10")
    parser.add_argument(
        "--number", type=int, default=2, metavar="N", help="how many runs to fuse (default: %(default)s)"
    )
    parser.add_argument("--method", default="rrf", help="rrf (default), isr, combsum or combmnz")
    parser.add_argument(
        "--depth", type=int, default=1000, help="how deep runs are read (default: %(default)s)"
    )
    parser.add_argument(
        "--strategies",
        default="single,top,greedy,exact,all",
        metavar="NAMES",
        help="how runs are chosen (default: %(default)s); of many runs leave exact out",
    )
    parser.add_argument(
        "--pairs",
        action="store_true",
        help="instead: what fusing each two runs gains over the better of them",
    )
    arguments.add_table(parser)


def run(args: argparse.Namespace) -> None:
    """Prints the table of :func:`ir_measures_relative.fuse`, or of :func:`~ir_measures_relative.fusion_pairs`."""
    check_table(args)
    measure = arguments.measure_of(args)
    from .inputs import read

    given = read(args)
    how = {"method": args.method, "depth": args.depth}
    if args.pairs:
        table = package.fusion_pairs(given.together, given.judgments, measure, **how)
    else:
        table = package.fuse(
            given.together,
            given.judgments,
            args.number,
            measure,
            strategies=args.strategies.split(","),
            **how,
        )
    show(table, args)
