"""``compare``: is the difference of two runs real?"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

import ir_measures_relative as package

from ..messages import counted, few, warn
from ..tolerances import ROUNDED
from . import arguments
from .output import SUPERSCRIPTS
from .tables import answer, check_table, text_of

if TYPE_CHECKING:
    import pandas as pd

USAGE = "QRELS RUNS MEASURE… [--baseline RUN] [--to RUNS …] [options]"
_COLUMNS = ("name", "other", "measure", "difference", "ci_lower", "ci_upper", "p_corrected", "topics_needed")
_OTHER_SIDE = {"name": "other", "other": "name", "mean": "other_mean", "other_mean": "mean"}
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
    parser.add_argument(
        "--matrix",
        action="store_true",
        help="a row for each run, a column for each measure, and letters for the runs that it is significantly above",
    )
    arguments.add_missing(parser)
    parser.add_argument("--confidence", type=float, default=0.95, metavar="C", help="default: %(default)s")
    arguments.add_table(parser, answers=True)


def run(args: argparse.Namespace) -> None:
    if args.between and args.baseline:
        raise ValueError("--between names both runs, and --baseline the other of each pair; leave one out")
    check_table(args)
    measures = arguments.measures_of(args)
    from ..context.collection import judged_collection
    from ..context.duplicates import deepest_cutoff, find_duplicates
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
    depth = deepest_cutoff(measures)
    together = given.together
    first = (
        find_duplicates(judged_collection(together, given.judgments), depth) if fixed and depth != 0 else {}
    )
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
    if not args.matrix:
        answer(table, args, _COLUMNS)
        return
    matrix = _matrix(table, names, args)
    note = f"Letters: the runs that a run is significantly above (corrected p < {1 - args.confidence:.3g})."
    if args.output_format == "latex":
        print(f"% {note}")
    answer(table, args, matrix.columns, matrix)
    if args.output_format is None:
        print(f"\n{note}")


def _matrix(table: pd.DataFrame, names: Sequence[str], args: argparse.Namespace) -> pd.DataFrame:
    """Return the mean of each run by each measure, with the letters of the runs that it is significantly above."""
    import pandas as pd

    rows = pd.concat(
        [table, table.rename(columns=_OTHER_SIDE).assign(difference=-table["difference"])], ignore_index=True
    )
    means = rows.groupby(["measure", "name"])["mean"]
    spread = means.max() - means.min()
    if (spread > ROUNDED).any():
        raise ValueError(
            f"--matrix: a run has several values of {spread.idxmax()[0]}, one for each pair; leave this measure out"
        )
    values = means.first().unstack(0).loc[list(names), list(table["measure"].unique())]
    if args.sort in values:
        values, args.sort = values.sort_values(args.sort, ascending=False, kind="stable"), None
    if len(values) > len(SUPERSCRIPTS):
        raise ValueError(
            f"--matrix: there are letters for {len(SUPERSCRIPTS)} runs, and {len(values)} are compared; give fewer"
        )
    signs = dict(zip(values.index, SUPERSCRIPTS, strict=False))
    above = rows[(rows["p_corrected"] < 1 - args.confidence) & (rows["difference"] > 0)]
    beaten = set(above[["measure", "name", "other"]].itertuples(index=False, name=None))
    matrix = pd.DataFrame({"": [SUPERSCRIPTS[sign] for sign in signs.values()], "name": values.index})
    for measure in values:
        matrix[measure] = [
            text_of(mean, args.places)
            + "".join(sign for other, sign in signs.items() if (measure, name, other) in beaten)
            for name, mean in values[measure].items()
        ]
    return matrix
