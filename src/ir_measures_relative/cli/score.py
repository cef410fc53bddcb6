"""The values of the measures: ir_measures' own output where RUN is a file, else a table of a row a run; ``--ci``."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from .output import rows, tsv

if TYPE_CHECKING:
    from ..arrays import FloatArray
    from .inputs import Inputs

_ALL_QUERIES = "all"  # what ir_measures calls the aggregate over queries


def add_arguments(parser: Any, folder: Any) -> None:
    """The flag."""
    parser.add_argument(
        "--ci",
        action="store_true",
        help="with every mean, the ends of its 95 %% interval over queries; nan where all values are the same, as 0 "
        "of a run that adds nothing: how far others would be is not known",
    )


def check(args: argparse.Namespace) -> None:
    """Raises ValueError for flags that do not go together."""
    if args.ci and args.by_query:
        raise ValueError(
            "--ci is about the means, and --by_query (-q) lists the queries; leave one of them out"
        )


def lines(given: Inputs) -> Iterator[str]:
    """The means, with their intervals where asked for; or the queries."""
    args, scores = given.args, given.scores
    if args.ci:
        yield from _with_intervals(given)
        return
    write = (lambda row: tsv(row.values(), args.places)) if args.output_format == "tsv" else json.dumps
    is_table = args.is_folder and args.output_format == "tsv"
    names = list(map(str, scores.measures))
    means = scores.means().tolist()
    if args.is_folder and not args.by_query:
        if is_table:
            yield tsv(["name", *names], args.places)
        for name, of_run in zip(scores.names, means, strict=True):
            yield write({"name": name} | dict(zip(names, of_run, strict=True)))
        return
    if is_table:
        yield "name\tquery_id\tmeasure\tvalue"
    for name, values, of_run in zip(scores.names, scores.values, means, strict=True):
        head: dict[str, Any] = {"name": name} if args.is_folder else {}
        for query_id, measure, value in _by_query(given, values, of_run):
            of_query = {"query_id": query_id} if args.by_query else {}
            yield write(head | of_query | {"measure": measure, "value": value})


def _by_query(given: Inputs, values: FloatArray, means: list[float]) -> Iterator[tuple[str, str, float]]:
    """Query, measure and value of one run: every query where asked for, then the summary."""
    names = list(map(str, given.measures))
    if given.args.by_query:
        for query_id, of_query in zip(given.scores.query_ids, values.T.tolist(), strict=True):
            yield from ((query_id, name, v) for name, v in zip(names, of_query, strict=True) if v == v)
    if not given.args.no_summary:
        yield from ((_ALL_QUERIES, name, mean) for name, mean in zip(names, means, strict=True))


def _with_intervals(given: Inputs) -> Iterator[str]:
    import pandas as pd

    from ..scoring import is_summed
    from ..stats.intervals import means_and_margins

    summed = [str(m) for m in given.measures if is_summed(m)]
    if summed:
        raise ValueError(
            f"--ci: {summed[0]} is a sum over queries, and no mean that has an interval; leave it out"
        )
    names = list(map(str, given.measures))
    means, margins = means_and_margins(given.scores.long_table(), *names)
    ends = {name: (means[name] - margins[name][0], means[name] + margins[name][1]) for name in names}
    if given.args.is_folder:
        columns: dict[str, Any] = {"name": means["name"]}
        for name, (lower, upper) in ends.items():
            columns |= {name: means[name], f"{name} lower": lower, f"{name} upper": upper}
        return rows(pd.DataFrame(columns), given.args)
    of_run = [
        {"measure": name, "value": means[name][0], "lower": lower[0], "upper": upper[0]}
        for name, (lower, upper) in ends.items()
    ]
    return rows(pd.DataFrame(of_run), given.args, header=False)
