"""``score``: the values of measures, as ir_measures prints them of a file, and as a table of a folder."""

from __future__ import annotations

import argparse
import textwrap
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ..context.measure_strings import registered
from . import arguments
from .arguments import Command, add_option
from .tables import print_table

if TYPE_CHECKING:
    import pandas as pd

    from ..context.evaluate import Scores


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    arguments.add_runs(parser, "RUN", to="--to --prior RUNS")
    arguments.add_measures(parser)
    arguments.add_context(parser)
    arguments.add_options(parser, "--provider")
    add_option(parser, "--by_query -q", "print a row for every query, then the means")
    add_option(parser, "--no_summary -n", "with -q: do not print the means")
    add_option(parser, "--ci", "add the 95 %% interval of each mean over topics (nan: undefined)")
    arguments.add_table(parser)
    names = textwrap.fill(", ".join(sorted(registered(), key=str.lower)), 96)
    parser.epilog = f"relative measures:\n{textwrap.indent(names, '  ')}\n\n{parser.epilog}"


def _run(args: argparse.Namespace) -> None:
    if args.no_summary and not args.by_query:
        raise ValueError("--no_summary (-n) goes with --by_query (-q); add -q, or leave -n out")
    if args.ci and args.by_query:
        raise ValueError("--ci does not go with --by_query (-q); leave one of them out")
    measures = arguments.named_measures(args)
    provider = arguments.named_provider(args, measures)
    # What follows reads runs; help, and a mistake in the arguments, need not wait for its import.
    from ..context.evaluate import describe_dominant_topics
    from ..messages import warn
    from .inputs import read

    given = read(args, measures, shows_names=False)
    scores = given.scores(measures, provider)
    warning = None if args.by_query else describe_dominant_topics(scores)
    if warning is not None:
        warn(warning.replace("by topic", "by topic (-q)"))
    table: Any = _rows(scores, given.is_folder, args.by_query, not args.no_summary)
    if args.ci:
        table = _with_intervals(scores, given.is_folder)
    print_table(table, args, header=given.is_folder)


def _rows(scores: Scores, is_folder: bool, by_query: bool, summary: bool) -> Iterator[Mapping[str, Any]]:
    measures = list(map(str, scores.measures))
    means = scores.means().tolist()
    for name, run_values, run_means in zip(scores.names, scores.values, means, strict=True):
        head = {"name": name} if is_folder else {}
        if is_folder and not by_query:
            yield head | dict(zip(measures, run_means, strict=True))
            continue
        for query_id, values in zip(scores.query_ids, run_values.T.tolist(), strict=True) if by_query else ():
            for measure, value in zip(measures, values, strict=True):
                if value == value:
                    yield head | {"query_id": query_id, "measure": measure, "value": value}
        if summary:
            head |= {"query_id": "all"} if by_query else {}
            for measure, value in zip(measures, run_means, strict=True):
                yield head | {"measure": measure, "value": value}


def _with_intervals(scores: Scores, is_folder: bool) -> pd.DataFrame:
    from ..decisions.compare import tabulate_mean_intervals

    table = tabulate_mean_intervals(scores.long_table(), scores.measures)
    if not is_folder:
        return table.drop(columns="name").rename(columns={"mean": "value"})
    names = list(map(str, scores.measures))
    wide = table.pivot(index="name", columns="measure", values=["mean", "ci_lower", "ci_upper"])
    wide.columns = [name if end == "mean" else f"{name} {end}" for end, name in wide.columns]
    ordered = [f"{name}{end}" for name in names for end in ("", " ci_lower", " ci_upper")]
    return wide.loc[scores.names, ordered].reset_index()


score = Command(
    "QRELS RUN MEASURE… [--to RUNS …] [options]",
    "campaign/qrels.txt campaign/runs/3-grams.run nDCG@10 UniqueRel@10 \\\n    --to campaign/runs/BM25.run",
    _add_arguments,
    _run,
)
