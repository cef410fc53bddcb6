"""``--compare`` and ``--ci``: the runs of a folder two by two, and how sure the means are."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from pathlib import Path

    import ir_measures
    import pandas as pd

    from ..context import RunContext
    from ..scoring import Scores
    from .inputs import Judged


def add_arguments(single_or_folder: Any, folder: Any) -> None:
    """The two arguments."""
    single_or_folder.add_argument(
        "--ci",
        action="store_true",
        help="with every mean, the ends of its 95 %% interval over queries (Student's)",
    )
    folder.add_argument(
        "--compare",
        nargs="?",
        const=True,
        metavar="BASELINE",
        help="instead of the means, compares the runs two by two, or all with BASELINE (the name or the file of one): "
        "differences, intervals, paired t-tests corrected by Holm's method; write it last, or --compare=BASELINE",
    )


def check(args: argparse.Namespace) -> None:
    """Raises ValueError for arguments that do not go together."""
    if args.compare and not args.is_folder:
        raise ValueError(
            f"--compare goes with a folder of runs, and {args.run} is not one; give the folder as RUN, and if that was "
            "the baseline, write --compare=BASELINE"
        )
    for flag in ("ci", "by_query", "provider", "plot"):
        if args.compare and getattr(args, flag):
            raise ValueError(f"--compare has a table of its own; leave out --{flag}")
    if args.ci and args.by_query:
        raise ValueError(
            "--ci is about the means, and --by_query (-q) lists the queries; leave one of them out"
        )


def compared(
    context: RunContext,
    measures: Sequence[ir_measures.Measure],
    qrels: Judged,
    args: argparse.Namespace,
    files: Sequence[Path],
) -> Iterator[str]:
    """The table of :func:`ir_measures_relative.compare`, line by line."""
    from ..comparison import judged_context
    from ..questions.comparing import compare_judged

    baseline = None if args.compare is True else _name_of(args.compare, context.names, files)
    table = compare_judged(judged_context(context, qrels.columns), measures, baseline=baseline)
    return _rows(table, args)


def with_intervals(scores: Scores, args: argparse.Namespace) -> Iterator[str]:
    """The means with the ends of their intervals, line by line."""
    import pandas as pd

    from ..plots.intervals import means_and_bars
    from ..scoring import is_summed

    summed = [str(m) for m in scores.measures if is_summed(m)]
    if summed:
        raise ValueError(
            f"--ci: {summed[0]} is a sum over queries, and no mean that has an interval; leave it out"
        )
    names = list(map(str, scores.measures))
    means, bars = means_and_bars(scores.long_table(), *names)
    columns: dict[str, Any] = {"name": means["name"]}
    for name in names:
        below, above = bars[name]
        columns |= {
            name: means[name],
            f"{name} lower": means[name] - below,
            f"{name} upper": means[name] + above,
        }
    table = pd.DataFrame(columns)
    if args.is_folder:
        return _rows(table, args)
    row = table.iloc[0]
    long = [
        {"measure": n, "value": row[n], "lower": row[f"{n} lower"], "upper": row[f"{n} upper"]} for n in names
    ]
    return _rows(pd.DataFrame(long), args, header=False)


def _rows(table: pd.DataFrame, args: argparse.Namespace, header: bool = True) -> Iterator[str]:
    import json

    tsv = args.output_format == "tsv"
    if tsv and header:
        yield "\t".join(map(str, table.columns))
    for row in table.astype(object).where(table.notna(), None).to_dict("records"):
        if tsv:
            yield "\t".join(_cell(value, args.places) for value in row.values())
        else:
            yield json.dumps(
                {key: value.item() if isinstance(value, np.generic) else value for key, value in row.items()}
            )


def _cell(value: Any, places: int) -> str:
    if isinstance(value, (float, np.floating)):
        return format(float(value), "" if places == -1 else f".{places}f")
    return "nan" if value is None else str(value)


def _name_of(baseline: str, names: Sequence[str], files: Sequence[Path]) -> str:
    if baseline in names:
        return baseline
    from pathlib import Path

    at = [i for i, file in enumerate(files) if file.resolve() == Path(baseline).resolve()]
    if not at:
        raise ValueError(f"--compare {baseline} is not a run of the folder; its runs are {', '.join(names)}")
    return names[at[0]]
