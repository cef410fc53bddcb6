"""``compare``: is the difference of two runs real?"""

from __future__ import annotations

import argparse

import ir_measures_relative as package

from ..messages import counted, few, warn
from . import arguments
from .output import check_table, show

USAGE = "QRELS RUNS MEASURE… [--baseline RUN] [--to RUNS …] [options]"
EXAMPLE = "campaign/qrels.txt campaign/runs nDCG@10 --baseline BM25"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    arguments.add_runs(parser)
    arguments.add_measures(parser)
    arguments.add_context(parser)
    parser.add_argument(
        "--baseline",
        metavar="RUN",
        help="compare every run with this one (name or file); default: all pairs",
    )
    parser.add_argument("--between", nargs=2, metavar="RUN", help="compare only these two runs")
    parser.add_argument(
        "--test",
        metavar="NAME",
        help="t, wilcoxon, sign, randomization or bootstrap; the default depends on the measure",
    )
    arguments.add_missing(parser)
    parser.add_argument("--confidence", type=float, default=0.95, metavar="C", help="default: %(default)s")
    arguments.add_table(parser)


def run(args: argparse.Namespace) -> None:
    if args.between and args.baseline:
        raise ValueError("--between names both runs, and --baseline the other of each pair; leave one out")
    check_table(args)
    measures = arguments.measures_of(args)
    from ..context.duplicates import depth_of, find_duplicates
    from ..context.run_context import collection_of
    from .inputs import read
    from .run_files import find_files

    unsigned = [
        m for m in measures if not getattr(m, "SIGNED", False)
    ]  # by the others every pair is compared
    given = read(args, unsigned, find_files(args, args.baseline))
    fixed = given.others if given.alone else None
    baseline = None if args.baseline is None else given.asked_for("--baseline", args.baseline)
    between = [given.asked_for("--between", name) for name in args.between or ()]
    if len(between) > len({*between}):
        raise ValueError(f"--between names {between[0]} twice, and no run is compared with itself")
    names = between or list(dict.fromkeys([*given.candidates, *([baseline] if baseline else [])]))
    depth = depth_of(measures)
    together = given.together
    first = find_duplicates(collection_of(together, given.judgments), depth) if fixed and depth != 0 else {}
    compared = {first.get(name, name) for name in names}
    both = [name for name in fixed or () if first.get(name, name) in compared]
    if both:
        fixed = [name for name in given.others if name not in both]
        if not fixed:
            raise ValueError(
                f"--to holds no run but {few(both)}, and no run is compared with itself; give --priors others"
            )
        warn(
            f"compare leaves {few(both)} out of --to, as runs that are compared or rank as one does: all are scored "
            f"against the same {counted(len(fixed), 'run')}; to score each against all others, set --priors others"
        )
    if names == [baseline]:
        raise ValueError(f"--baseline {args.baseline} is the evaluated run itself; name another run")
    if len(names) < 2:
        raise ValueError(f"{args.run} is one run; name the other with --baseline RUN")
    table = package.compare(
        given.together,
        given.judgments,
        measures,
        names,
        fixed,
        baseline,
        args.test,
        confidence=args.confidence,
        missing=args.missing,
    )
    show(table, args)
