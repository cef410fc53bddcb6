"""``score``: the values of measures. ir_measures' own output where RUN is a file, else a table of a row a run."""

from __future__ import annotations

import argparse
import re
import shlex
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..measures.strings import registered
from . import arguments
from .output import PROG
from .tables import check_table, show

if TYPE_CHECKING:
    import pandas as pd

    from ..scoring import Scores

USAGE = "QRELS RUN MEASURE… [--to RUNS …] [options]"
EXAMPLE = (
    "campaign/qrels.txt campaign/runs/3-grams.run nDCG@10 UniqueRel@10 \\\n    --to campaign/runs/BM25.run"
)

_ALL_QUERIES = "all"  # what ir_measures calls the aggregate over queries


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Those of ir_measures' own command, and the runs to compare with."""
    arguments.add_runs(parser, "RUN", to=("--to", "--prior"))
    arguments.add_measures(parser)
    arguments.add_context(parser)
    arguments.add_provider(parser)
    parser.add_argument(
        "--by_query", "-q", action="store_true", help="a row for every query, then the summary"
    )
    parser.add_argument("--no_summary", "-n", action="store_true", help="with -q: without the summary")
    parser.add_argument(
        "--ci", action="store_true", help="with every mean, its 95 %% interval over queries; nan: not known"
    )
    arguments.add_table(parser)
    ours = textwrap.fill(", ".join(sorted(registered(), key=str.lower)), 96)
    parser.epilog = f"relative measures:\n{textwrap.indent(ours, '  ')}\n\n{parser.epilog}"


def run(args: argparse.Namespace) -> None:
    """Prints the means, with their intervals where asked for; or the queries."""
    if args.no_summary and not args.by_query:
        raise ValueError(
            "--no_summary (-n) leaves out the summary of --by_query (-q): give -q as well, or no -n"
        )
    if args.ci and args.by_query:
        raise ValueError(
            "--ci is about the means, and --by_query (-q) lists the queries; leave one of them out"
        )
    check_table(args)
    measures = arguments.measures_of(args)
    provider = arguments.provider_of(args, measures)
    # What follows reads runs; help, and a mistake in the arguments, need not wait for its import.
    from ..messages import warn
    from ..scoring import one_topic_counts
    from .inputs import read

    given = read(args, measures)
    scores = given.scores(measures, provider)
    message = None if args.by_query else one_topic_counts(scores)
    if message is not None:
        in_python = message.replace("meta.reliability", "meta.reliability in Python")
        warn(in_python.replace("by topic", "by topic (-q)"))
    if args.ci:
        show(_with_intervals(scores, given.is_folder), args, header=given.is_folder)
    else:
        rows = _rows(scores, given.is_folder, args.by_query, not args.no_summary)
        show(rows, args, header=given.is_folder)


def _rows(scores: Scores, is_folder: bool, by_query: bool, summary: bool) -> Iterator[Mapping[str, Any]]:
    """A row a run; or one a query and measure, then the summary."""
    measures = list(map(str, scores.measures))
    means = scores.means().tolist()
    for name, values, of_run in zip(scores.names, scores.values, means, strict=True):
        head = {"name": name} if is_folder else {}
        if is_folder and not by_query:
            yield head | dict(zip(measures, of_run, strict=True))
            continue
        for query_id, of_query in zip(scores.query_ids, values.T.tolist(), strict=True) if by_query else ():
            for measure, value in zip(measures, of_query, strict=True):
                if value == value:
                    yield head | {"query_id": query_id, "measure": measure, "value": value}
        for measure, value in zip(measures, of_run, strict=True) if summary else ():
            of_all = {"query_id": _ALL_QUERIES} if by_query else {}
            yield head | of_all | {"measure": measure, "value": value}


def _with_intervals(scores: Scores, is_folder: bool) -> pd.DataFrame:
    import pandas as pd

    from ..scoring import is_summed
    from ..stats.intervals import means_and_margins

    summed = [str(m) for m in scores.measures if is_summed(m)]
    if summed:
        raise ValueError(
            f"--ci: {summed[0]} is a sum over queries, and no mean that has an interval; leave it out"
        )
    names = list(map(str, scores.measures))
    means, margins = means_and_margins(scores.long_table(), *names)
    ends = {name: (means[name] - margins[name][0], means[name] + margins[name][1]) for name in names}
    if is_folder:
        columns: dict[str, Any] = {"name": means["name"]}
        for name, (lower, upper) in ends.items():
            columns |= {name: means[name], f"{name} lower": lower, f"{name} upper": upper}
        return pd.DataFrame(columns)
    return pd.DataFrame(
        [
            {"measure": name, "value": means[name][0], "lower": lower[0], "upper": upper[0]}
            for name, (lower, upper) in ends.items()
        ]
    )


#: Flags of version 0.2 that are commands now: which one, what the flag is there, and how many arguments it has.
_MOVED: dict[str, tuple[str, str, str]] = {
    "--cite": ("cite", "", "*"),
    "--judge": ("unjudged", "--judge", "?"),
    "--bounds": ("unjudged", "--bounds", ""),
    "--odds": ("unjudged", "--odds", ""),
    "--verdicts": ("unjudged", "", ""),
    "--jobs": ("unjudged", "--jobs", "?"),
    "--compare": ("compare", "--baseline", "?"),
    "--report": ("report", "--output", "?"),
    "--plot": ("plot", "--output", "?"),
}


def refuse_old_flags(given: Sequence[str]) -> None:
    """Raises ValueError for a flag that is a command now, with what to type instead."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    for flag, (_, _, number) in _MOVED.items():
        takes: dict[str, Any] = {"nargs": number} if number else {"action": "store_true"}
        parser.add_argument(flag, dest=flag, default=None, **takes | ({"const": ""} if number == "?" else {}))
    found, rest = parser.parse_known_args(list(given))
    asked = {flag: value for flag, value in vars(found).items() if value is not None}
    if not asked:
        return
    first = next(flag for flag in _MOVED if flag in asked)
    command = _MOVED[first][0]
    # --prior is a flag of score alone
    words = [] if command == "cite" else [re.sub("^--prior(?==|$)", "--to", word) for word in rest]
    for flag, value in asked.items():
        values = [value] if value and isinstance(value, str) else value if isinstance(value, list) else []
        if _MOVED[flag][0] == command:
            words += ([_MOVED[flag][1]] if _MOVED[flag][1] and (values or value is True) else []) + values
    raise ValueError(f"{first} is a command now; type: {shlex.join([PROG, command, *words])}")
