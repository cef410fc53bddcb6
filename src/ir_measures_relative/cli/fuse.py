"""``fuse``: which runs to fuse, and what that is worth on topics that had no say in the choice."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

import ir_measures_relative as package

from ..messages import few
from . import arguments
from .output import check_table, show, text_of, wrapped

if TYPE_CHECKING:
    import ir_measures
    import pandas as pd

USAGE = "QRELS RUNS [MEASURE] [--number N] [options]"
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
    arguments.add_table(parser)


def run(args: argparse.Namespace) -> None:
    """Prints the table; without ``-o`` long lists are shortened, and the answer stands below it."""
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
    answer = _which(table, measure, args.places)
    if not args.output_format:
        most = max(args.number, 3)
        table["names"] = [few(names, most) for names in table["names"]]
        shares = [[f"{name} {text_of(x, args.places)}" for name, x in of.items()] for of in table["chosen"]]
        table["chosen"] = [few(of, most) for of in shares]
    show(table, args)
    if answer and not args.output_format:
        print(wrapped(answer))


def _which(table: pd.DataFrame, measure: ir_measures.Measure, places: int) -> str:
    """Which runs to fuse, and what that is worth, by the strategy that is fixed beforehand, else the first fusion."""
    from ..decisions.fuse import FIXED_BEFOREHAND

    fusions = table[table["strategy"] != "single"]
    if not len(fusions):
        return ""
    fixed = fusions[fusions["strategy"] == FIXED_BEFOREHAND]
    best = (fixed if len(fixed) else fusions).iloc[0]
    strategy = best["strategy"]
    gain, lower, upper = (
        text_of(x, places) for x in (abs(best["difference"]), best["ci_lower"], best["ci_upper"])
    )
    worth = f"{gain} {measure} on held-out topics (95 % interval {lower} to {upper})"
    if best["ci_lower"] > 0:
        return (
            f"Fuse {few(best['names'])} ({strategy}). They gain {worth} over the best single run. This strategy is "
            "fixed beforehand: the intervals are not corrected for several, and take the judgments as they are."
        )
    does, advice = ("gains", "") if best["difference"] > 0 else ("loses", " Keep the single run.")
    return (
        f"The fusion ({strategy}) is not significantly above the best single run: it {does} {worth}.{advice}"
    )
