"""``python -m ir_measures_relative.distributed RUNS… FOLDER``: :func:`by_query` as a command."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from ..messages import escaped
from .by_query import _ROWS, by_query


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command, and returns its exit code: 2 for input that is wrong, with one line on stderr."""
    parser = argparse.ArgumentParser(
        prog="python -m ir_measures_relative.distributed",
        description="Rewrite run files as Parquet files. Each has some queries, with the rows of all runs, so that "
        "ir_measures_relative.distributed.evaluate reads them without a shuffle.",
    )
    parser.add_argument(
        "runs",
        metavar="RUNS",
        nargs="+",
        help="run files (TREC's format, may be compressed, or Parquet) or folders",
    )
    parser.add_argument("folder", metavar="FOLDER", help="the folder to write; it must not exist yet")
    parser.add_argument(
        "--rows", type=int, default=_ROWS, metavar="N", help=f"about how many rows a file gets ({_ROWS:,})"
    )
    args = parser.parse_args(arguments)
    try:
        names = by_query(args.runs, args.folder, rows_per_file=args.rows)
    except KeyboardInterrupt:
        return 130
    except (ValueError, OSError, ImportError) as error:
        print(f"{parser.prog}: error: {escaped(str(error))}", file=sys.stderr)
        return 2
    print(f"{len(names)} runs, written query by query into {escaped(str(args.folder))}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
