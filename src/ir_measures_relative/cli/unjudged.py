"""What the unjudged documents can change: ``--bounds``, ``--verdicts``, ``--judge``."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import ir_measures_relative as package

from .output import check_folder, given_flags, rows

if TYPE_CHECKING:
    from .inputs import Inputs

FLAGS = ("bounds", "verdicts", "judge")


def add_arguments(parser: Any, folder: Any) -> None:
    """The flags, which ask for another table than that of the scores."""
    group = parser.add_argument_group("what unjudged documents can change, where RUN is a folder")
    group.add_argument(
        "--bounds",
        action="store_true",
        help="the least and the greatest value of every run, whatever the labels of the unjudged documents are",
    )
    group.add_argument(
        "--verdicts",
        action="store_true",
        help="every two runs: which is better whatever those labels are, or whether that is open; on these topics: "
        "of other topics only --compare speaks",
    )
    group.add_argument(
        "--odds",
        action="store_true",
        help="with --verdicts: the chance, over labels and on these topics, that the first run is the better one",
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


def check(args: argparse.Namespace) -> None:
    """Raises ValueError for flags that do not go together."""
    asked = given_flags(args, *FLAGS)
    if args.jobs != 1 and not asked:
        raise ValueError(
            f"--jobs goes with {', '.join('--' + name for name in FLAGS)}; give one of these as well"
        )
    if len(asked) > 1:
        raise ValueError(f"--{asked[0]} and --{asked[1]} are two tables; give one of them")
    if args.odds and not args.verdicts:
        raise ValueError("--odds goes with --verdicts; give that as well")
    if args.odds and args.by_query:
        raise ValueError("--odds are those of the means over queries; leave --by_query (-q) out")
    if asked and args.plot:
        raise ValueError(f"--plot draws scores, and --{asked[0]} is another table; leave one of them out")
    check_folder(args, *FLAGS)


def lines(given: Inputs) -> Iterator[str]:
    """The table that is asked for; documents to judge as the lines of a pool file."""
    args, context, qrels = given.args, given.context, given.qrels.columns
    options = {"perquery": args.by_query, "jobs": args.jobs}
    if args.judge is not None:
        from ..unjudged.verdicts import pool_lines

        asked = package.judge_next(context, qrels, given.measures[0], args.judge, jobs=args.jobs)
        yield from pool_lines(asked)
    elif args.bounds:
        yield from rows(package.bounds(context, qrels, given.measures, **options), args)
    else:
        odds = "pool" if args.odds else None
        yield from rows(package.verdicts(context, qrels, given.measures, odds=odds, **options), args)
