"""``--report``: a campaign as one HTML file."""

from __future__ import annotations

import argparse
import os
import shlex
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import ir_measures

from .output import PROG, check_loss, given_flags, writing

if TYPE_CHECKING:
    from .inputs import Inputs


FLAGS = ("report",)


def add_arguments(parser: Any, folder: Any) -> None:
    """The flag."""
    folder.add_argument(
        "--report",
        metavar="FILE",
        help="writes what there is to see of the campaign into one HTML file: intervals, pictures, a page a run, and "
        "what the numbers are relative to",
    )


def check(args: argparse.Namespace) -> None:
    """Raises ValueError for flags that do not go together."""
    for flag in given_flags(args, "bounds", "verdicts", "judge", "compare"):
        if args.report:
            raise ValueError(
                f"--report goes with the table of scores, and --{flag} is another table; leave one of them out"
            )


def prepare(
    args: argparse.Namespace, measures: Sequence[ir_measures.Measure], inputs: Mapping[str, str]
) -> None:
    """Raises ValueError where the report cannot be written without a loss; ImportError for a missing package."""
    from ..io.files import check_writable
    from ..reporting import require_packages

    require_packages()
    from ..reporting.page import is_report

    path = args.report
    check_loss("--report", path, inputs, "report", is_report)
    if os.path.isdir(args.run) and os.path.dirname(os.path.realpath(path)) == os.path.realpath(args.run):
        raise ValueError(
            f"--report {path} lies in the folder of runs, where it would be taken for a run; give another path"
        )
    check_writable(path, f"--report {path}")


def write(given: Inputs) -> None:
    """Writes the report; the texts are those of QRELS where that is a dataset of ir_datasets."""
    from .. import reporting

    path = given.args.report
    with writing("--report", path, "report"):
        reporting.write(
            given.context,
            given.qrels.columns,
            given.measures,
            path,
            given=given.scores,
            dataset=given.qrels.dataset,
            command=shlex.join([PROG, *given.args.arguments]),
        )
