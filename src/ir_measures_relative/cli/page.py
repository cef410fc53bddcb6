"""``--report``: the page that the command writes, and where it may be put."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .output import PROG

if TYPE_CHECKING:
    from pathlib import Path

    from ..context import RunContext
    from ..scoring import Scores
    from .inputs import Judged


def add_argument(folder: Any) -> None:
    """The argument."""
    folder.add_argument(
        "--report",
        metavar="FILE",
        help="writes what there is to see of the campaign into one HTML file: intervals, pictures, a page a run, and "
        "what the numbers are relative to",
    )


def check_flags(args: argparse.Namespace) -> None:
    """Raises ValueError for flags that do not go together."""
    for flag in ("bounds", "verdicts", "judge", "compare"):
        if args.report and getattr(args, flag) not in (None, False):
            raise ValueError(
                f"--report goes with the table of scores, and --{flag} is another table; leave one of them out"
            )


def check_report(args: argparse.Namespace, inputs: Mapping[str, Path]) -> None:
    """Raises ValueError where the report cannot be written without a loss; ImportError for a missing package."""
    from pathlib import Path

    from ..reporting import require_packages
    from .destination import check_loss, check_writable

    require_packages()
    from ..reporting.page import is_report

    path = args.report
    if os.path.exists(path):
        check_loss("--report", path, inputs, "report", is_report)
    if os.path.isdir(args.run) and Path(path).resolve().parent == Path(args.run).resolve():
        raise ValueError(
            f"--report {path} lies in the folder of runs, where it would be taken for a run; give another path"
        )
    check_writable("--report", path)


def write_report(
    args: argparse.Namespace,
    arguments: Sequence[str] | None,
    context: RunContext,
    scores: Scores,
    qrels: Judged,
) -> None:
    """Writes the report; the texts are those of QRELS where that is a dataset of ir_datasets.

    Raises:
        OSError: it cannot be written; what was there is still there.
    """
    import shlex

    from ..io.datasets import dataset_of
    from ..reporting import write

    command = shlex.join([PROG, *(sys.argv[1:] if arguments is None else arguments)])
    dataset = None if os.path.exists(args.qrels) else dataset_of(args.qrels)
    try:
        write(
            context,
            qrels.columns,
            scores.measures,
            args.report,
            given=scores,
            dataset=dataset,
            command=command,
        )
    except OSError as error:
        raise OSError(
            f"--report {args.report}: the report could not be written ({error.strerror or error}); make room, or give "
            "another path"
        ) from None
