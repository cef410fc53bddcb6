"""What the command writes: tables, the picture, messages."""

from __future__ import annotations

import argparse
import json
import os
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import ir_measures
import numpy as np

from ..arrays import FloatArray
from ..measures.declaration import is_relative
from ..scoring import Scores, aggregate

PROG = "ir_measures_relative"
DEFAULT_PLACES = 4
ALL_QUERIES = "all"  #: what ir_measures calls the aggregate over queries


def lines(scores: Scores, args: argparse.Namespace) -> Iterator[str]:
    """The output, line by line: ir_measures' own where RUN is a file, else tables that start with the name."""
    tsv = args.output_format == "tsv"
    names = list(map(str, scores.measures))
    if args.is_folder and not args.by_query:
        if tsv:
            yield "\t".join(["name", *names])
        for name, means in zip(scores.names, scores.means().tolist(), strict=True):
            row: dict[str, Any] = {"name": name} | dict(zip(names, means, strict=True))
            yield _tsv(row, args.places) if tsv else json.dumps(row)
        return
    if args.is_folder and tsv:
        yield "name\tquery_id\tmeasure\tvalue"
    for name, values in zip(scores.names, scores.values, strict=True):
        head: dict[str, Any] = {"name": name} if args.is_folder else {}
        for query_id, measure, value in _long(scores, values, args):
            of_query = {"query_id": query_id} if args.by_query else {}
            line = head | of_query | {"measure": measure, "value": value}
            yield _tsv(line, args.places) if tsv else json.dumps(line)


def _long(scores: Scores, values: FloatArray, args: argparse.Namespace) -> Iterator[tuple[str, str, float]]:
    """Query, measure and value of one run: every query where asked for, then the summary."""
    names = list(map(str, scores.measures))
    if args.by_query:
        for query_id, of_query in zip(scores.query_ids, values.T.tolist(), strict=True):
            yield from (
                (query_id, name, v) for name, v in zip(names, of_query, strict=True) if not np.isnan(v)
            )
    if not args.no_summary:
        for measure, name, row in zip(scores.measures, names, values, strict=True):
            yield ALL_QUERIES, name, aggregate(measure, row)


def _tsv(row: dict[str, Any], places: int) -> str:
    spec = "" if places == -1 else f".{places}f"
    return "\t".join(cell if isinstance(cell, str) else format(cell, spec) for cell in row.values())


def check_plot(path: str, measures: Sequence[ir_measures.Measure]) -> tuple[str, str]:
    """The relative and the absolute measure to draw.

    Raises:
        ValueError: there are not both, or the picture cannot be written there.
    """
    relative = [str(m) for m in measures if is_relative(m)]
    absolute = [str(m) for m in measures if not is_relative(m)]
    if not relative or not absolute:
        lacking = "a relative one, such as NRG@10" if not relative else "an absolute one, such as nDCG@10"
        raise ValueError(f"--plot draws a relative measure against an absolute one: add {lacking}")
    from ..plots import new_figure

    formats = new_figure().canvas.get_supported_filetypes()
    if Path(path).suffix[1:].lower() not in formats:
        raise ValueError(
            f"--plot {path}: the ending of the name says the format; give one of .{', .'.join(formats)}"
        )
    folder = Path(path).resolve().parent
    if not folder.is_dir():
        raise ValueError(f"--plot {path}: there is no folder {folder}; make it first")
    if os.path.isdir(path) or not os.access(path if os.path.exists(path) else folder, os.W_OK):
        raise ValueError(f"--plot {path}: cannot be written; give another path")
    return relative[0], absolute[0]


def plot(path: str, table: Any, relative: str, absolute: str, groups: dict[str, str]) -> None:
    from ..plots import new_figure, relative_against_absolute

    figure = new_figure()
    relative_against_absolute(table, relative, absolute, groups=groups or None, ax=figure.subplots())
    figure.savefig(path, dpi=150)


# What the messages of the package call an argument, and what it is called here.
_FLAGS = {"num_docs=": "--num_docs", "reference=": "--reference"}


def in_these_terms(error: BaseException) -> str:
    """What an error says, in the terms of the command line."""
    if isinstance(error, OSError) and error.strerror and error.filename:
        return f"{error.filename}: {error.strerror}; check the path and its permissions"
    message = (isinstance(error, OSError) and error.strerror) or str(error) or type(error).__name__
    flags = [flag for argument, flag in _FLAGS.items() if argument in message and flag not in message]
    if not flags:
        return message
    return f"{message.split('; write')[0]} (on the command line: {', '.join(flags)})"  # without the Python to write


@contextmanager
def tidy_warnings() -> Iterator[None]:
    """Says every warning once, in one line."""
    said: set[str] = set()

    def show(message: Warning | str, *_: Any, **__: Any) -> None:
        if str(message) not in said:
            said.add(str(message))
            say("warning", str(message))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for category in (UserWarning, RuntimeWarning):
            warnings.simplefilter("always", category)
        warnings.showwarning = show
        yield


def say(kind: str, message: str) -> None:
    from tqdm import tqdm

    tqdm.write(f"{PROG}: {kind}: {' '.join(message.split())}", file=sys.stderr)


def drop_output() -> None:
    """Keeps the interpreter from writing, on its way out, what could not be written."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
