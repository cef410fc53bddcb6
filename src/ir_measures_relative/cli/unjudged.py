"""What the unjudged documents can change: ``--bounds``, ``--verdicts``, ``--judge``."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import ir_measures

    from ..context import RunContext
    from .inputs import Judged

_TABLES = ("bounds", "verdicts", "judge")


def add_flags(parser: argparse.ArgumentParser) -> None:
    """Adds the flags, which ask for another table than that of the scores."""
    group = parser.add_argument_group("what unjudged documents can change, where RUN is a folder")
    group.add_argument(
        "--bounds",
        action="store_true",
        help="the least and the greatest value of every run, whatever the labels of the unjudged documents are",
    )
    group.add_argument(
        "--verdicts",
        action="store_true",
        help="every two runs: which is better whatever those labels are, or whether that is open",
    )
    group.add_argument(
        "--odds", action="store_true", help="with --verdicts: the chance that the first run is the better one"
    )
    group.add_argument(
        "--judge",
        type=int,
        metavar="N",
        help="the N unjudged documents whose labels would settle most by the first measure, as a pool file",
    )
    group.add_argument(
        "--jobs",
        type=int,
        metavar="N",
        default=1,
        help="with these tables: how many processes compute the extremes of AP and ERR (default: %(default)s)",
    )


def check_flags(args: argparse.Namespace) -> None:
    """Raises ValueError for flags that do not go together."""
    asked = [name for name in _TABLES if wants(args, name)]
    if args.jobs != 1 and not asked:
        raise ValueError(
            f"--jobs goes with {', '.join('--' + name for name in _TABLES)}; give one of these as well"
        )
    if len(asked) > 1:
        raise ValueError(f"--{asked[0]} and --{asked[1]} are two tables; give one of them")
    if args.odds and not args.verdicts:
        raise ValueError("--odds goes with --verdicts; give that as well")
    if args.odds and args.by_query:
        raise ValueError("--odds are those of the means over queries; leave --by_query (-q) out")
    if asked and args.plot:
        raise ValueError(f"--plot draws scores, and --{asked[0]} is another table; leave one of them out")
    if asked and not args.is_folder:
        raise ValueError(
            f"--{asked[0]} goes with a folder of runs, and {args.run} is not one; give the folder as RUN"
        )


def wants(args: argparse.Namespace, *tables: str) -> bool:
    """Whether one of the tables is asked for; any, if none is named."""
    given = (getattr(args, name) for name in tables or _TABLES)
    return any(value is not None and value is not False for value in given)


def lines(
    context: RunContext, measures: Sequence[ir_measures.Measure], qrels: Judged, args: argparse.Namespace
) -> Iterator[str]:
    """The table that is asked for, line by line."""
    from ..unjudged.bounds import bounds
    from ..unjudged.verdicts import judge_next, verdicts

    judgments = list(qrels.as_ir_measures())
    if args.judge is not None:
        asked = judge_next(context, judgments, measures[0], args.judge, jobs=args.jobs)
        yield from (f"{query} {doc}" for query, doc in zip(asked["query_id"], asked["doc_id"], strict=True))
        return
    if args.bounds:
        table = bounds(context, judgments, measures, perquery=args.by_query, jobs=args.jobs)
    else:
        odds = "pool" if args.odds else None
        table = verdicts(context, judgments, measures, perquery=args.by_query, odds=odds, jobs=args.jobs)
    rows: list[dict[str, Any]] = table.to_dict("records")
    if args.output_format == "jsonl":
        import json

        yield from map(json.dumps, rows)
        return
    spec = "" if args.places == -1 else f".{args.places}f"
    yield "\t".join(table.columns)
    for row in rows:
        yield "\t".join(format(cell, spec) if isinstance(cell, float) else str(cell) for cell in row.values())
