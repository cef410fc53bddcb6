"""``compare``: whether the difference between two runs is significant."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import ir_measures_relative as package

from ..messages import counted, few, warn
from ..tolerances import ROUNDED
from . import arguments
from .arguments import Command
from .output import SUPERSCRIPTS
from .tables import cell_text, print_answer

if TYPE_CHECKING:
    import pandas as pd

    from .inputs import CommandInputs

_COLUMNS = ("name", "other", "measure", "difference", "ci_lower", "ci_upper", "p_corrected", "topics_needed")
_SWAPPED = {"name": "other", "other": "name", "mean": "other_mean", "other_mean": "mean"}


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    arguments.add_runs(parser)
    arguments.add_measures(parser)
    arguments.add_context(parser)
    text = "compare every run with this one (name or file). Default: all pairs; of one run, with each of --to"
    arguments.add_option(parser, "--baseline RUN", text)
    arguments.add_option(parser, "--between RUN RUN", "compare only these two runs")
    text = "t, wilcoxon, sign, randomization or bootstrap; the default depends on the measure"
    arguments.add_option(parser, "--test NAME", text)
    text = "a row for each run, a column for each measure, and letters for the runs that it is significantly above"
    arguments.add_option(parser, "--matrix", text)
    arguments.add_options(parser, "--missing")
    arguments.add_option(parser, "--confidence C", "default: %(default)s", default=0.95)
    arguments.add_table(parser, answers=True)


def _run(args: argparse.Namespace) -> None:
    if args.between and args.baseline:
        raise ValueError("--between names both runs, and --baseline the other of each pair; leave one out")
    measures = arguments.named_measures(args)
    from .inputs import read

    # Every two runs are compared by a signed measure, which needs no reference.
    given = read(args, [m for m in measures if not getattr(m, "SIGNED", False)])
    baseline = None if args.baseline is None else given.find_name("--baseline", args.baseline)
    between = [given.find_name("--between", name) for name in args.between or ()]
    if len(between) > len({*between}):
        raise ValueError(f"--between names {between[0]} twice, and no run is compared with itself")
    names = between or list(dict.fromkeys([*given.candidates, *([baseline] if baseline else [])]))
    if names == [baseline]:
        raise ValueError(f"--baseline {args.baseline} is the evaluated run itself; name another run")
    if len(names) == 1 and (args.to or args.track):
        [baseline], names = names, list(dict.fromkeys([*names, *given.others]))
        priors: Any = "others" if given.alone else None
    else:
        priors = _common_priors(given, names, measures) if given.alone else None
    if len(names) < 2:
        raise ValueError(f"{args.run} is one run; name the other with --baseline RUN, or more with --to RUNS")
    table = package.compare(
        given.together,
        given.judgments,
        measures,
        names,
        priors,
        baseline,
        args.test,
        confidence=args.confidence,
        missing=args.missing,
    )
    if not args.matrix:
        print_answer(table, args, _COLUMNS)
        return
    matrix = _matrix(table, names, args)
    note = f"Letters: the runs that a run is significantly above (corrected p < {1 - args.confidence:.3g})."
    if args.output_format == "latex":
        print(f"% {note}")
    print_answer(table, args, matrix.columns, matrix)
    if args.output_format is None:
        print(f"\n{note}")


def _common_priors(given: CommandInputs, names: Sequence[str], measures: list[Any]) -> list[str]:
    """Return the runs of ``--to`` without those that are compared, and without their duplicates."""
    from ..context.collection import judged_collection
    from ..context.duplicates import deepest_cutoff, find_duplicates

    depth = deepest_cutoff(measures)
    collection = judged_collection(given.together, given.judgments)
    originals = {} if depth == 0 else find_duplicates(collection, depth)
    compared = {originals.get(name, name) for name in names}
    both = [name for name in given.others if originals.get(name, name) in compared]
    priors = [name for name in given.others if name not in both]
    if not priors:
        raise ValueError(
            f"--to holds no run but {few(both)}, and no run is compared with itself; give --priors others"
        )
    if both:
        warn(
            f"compare leaves {few(both)} out of --to, since they are compared, or rank like a run that is: all are "
            f"scored against the same {counted(len(priors), 'run')}; to score each against all others, set --priors "
            "others"
        )
    return priors


def _matrix(table: pd.DataFrame, names: Sequence[str], args: argparse.Namespace) -> pd.DataFrame:
    """Return the mean of each run by each measure, with the letters of the runs that it is significantly above."""
    import pandas as pd

    rows = pd.concat(
        [table, table.rename(columns=_SWAPPED).assign(difference=-table["difference"])], ignore_index=True
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
            cell_text(mean, args.places)
            + "".join(sign for other, sign in signs.items() if (measure, name, other) in beaten)
            for name, mean in values[measure].items()
        ]
    return matrix


compare = Command(
    "QRELS RUNS MEASURE… [--baseline RUN] [--to RUNS …] [options]",
    "campaign/qrels.txt campaign/runs nDCG@10 --baseline BM25",
    _add_arguments,
    _run,
)
