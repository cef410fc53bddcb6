"""``--compare``: the runs of a folder two by two."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import ir_measures_relative as package

from .output import rows

if TYPE_CHECKING:
    from .inputs import Inputs


FLAGS = ("compare",)


def add_arguments(parser: Any, folder: Any) -> None:
    """The flag."""
    folder.add_argument(
        "--compare",
        nargs="?",
        const=True,
        metavar="BASELINE",
        help="instead of the means, compares the runs two by two, or all with BASELINE (the name or the file of one): "
        "differences, intervals and paired tests, corrected for the number of rows; write it last, or "
        "--compare=BASELINE",
    )


def check(args: argparse.Namespace) -> None:
    """Raises ValueError for flags that do not go together."""
    if args.compare and not args.is_folder:
        raise ValueError(
            f"--compare goes with a folder of runs, and {args.run} is not one; give the folder as RUN, and if that was "
            "the baseline, write --compare=BASELINE"
        )
    for flag in ("ci", "by_query", "provider", "plot"):
        if args.compare and getattr(args, flag):
            raise ValueError(f"--compare has a table of its own; leave out --{flag}")


def lines(given: Inputs) -> Iterator[str]:
    """The table of :func:`ir_measures_relative.compare`."""
    context, baseline = given.context, None
    if given.args.compare is not True:
        baseline = given.name_of(given.args.compare)
        if baseline is None:
            raise ValueError(
                f"--compare {given.args.compare} is not a run of the folder; its runs are {', '.join(context.names)}"
            )
    table = package.compare(context, given.qrels.columns, given.measures, baseline=baseline)
    return rows(table, given.args)
