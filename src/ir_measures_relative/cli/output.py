"""What the command writes: tables and messages."""

from __future__ import annotations

import argparse
import io
import os
import re
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..arrays import FloatArray
    from ..scoring import Scores

PROG = "ir_measures_relative"
DEFAULT_PLACES = 4
ALL_QUERIES = "all"  #: what ir_measures calls the aggregate over queries


def lines(scores: Scores, args: argparse.Namespace) -> Iterator[str]:
    """The output, line by line: ir_measures' own where RUN is a file, else tables that start with the name."""
    import json

    tsv = args.output_format == "tsv"
    names = list(map(str, scores.measures))
    means = scores.means().tolist()
    if args.is_folder and not args.by_query:
        if tsv:
            yield "\t".join(["name", *names])
        for name, of_run in zip(scores.names, means, strict=True):
            row: dict[str, Any] = {"name": name} | dict(zip(names, of_run, strict=True))
            yield _tsv(row, args.places) if tsv else json.dumps(row)
        return
    if args.is_folder and tsv:
        yield "name\tquery_id\tmeasure\tvalue"
    for name, values, of_run in zip(scores.names, scores.values, means, strict=True):
        head: dict[str, Any] = {"name": name} if args.is_folder else {}
        for query_id, measure, value in _long(scores, values, of_run, args):
            of_query = {"query_id": query_id} if args.by_query else {}
            line = head | of_query | {"measure": measure, "value": value}
            yield _tsv(line, args.places) if tsv else json.dumps(line)


def _long(
    scores: Scores, values: FloatArray, means: list[float], args: argparse.Namespace
) -> Iterator[tuple[str, str, float]]:
    """Query, measure and value of one run: every query where asked for, then the summary."""
    names = list(map(str, scores.measures))
    if args.by_query:
        for query_id, of_query in zip(scores.query_ids, values.T.tolist(), strict=True):
            yield from ((query_id, name, v) for name, v in zip(names, of_query, strict=True) if v == v)
    if not args.no_summary:
        yield from ((ALL_QUERIES, name, mean) for name, mean in zip(names, means, strict=True))


def _tsv(row: dict[str, Any], places: int) -> str:
    spec = "" if places == -1 else f".{places}f"
    return "\t".join(cell if isinstance(cell, str) else format(cell, spec) for cell in row.values())


# What the messages of the package call an argument, and what it is called here.
_FLAGS = {"num_docs=": "--num_docs", "reference=": "--reference"}


def in_these_terms(error: BaseException) -> str:
    """What an error says, in the terms of the command line."""
    if isinstance(error, OSError) and error.strerror and error.filename:
        return f"{error.filename}: {error.strerror}; check the path and its permissions"
    if isinstance(error, MemoryError):
        why = f" ({error})" if str(error) else ""
        return (
            f"there is not enough memory for this{why}; give fewer runs at a time, or allow more (ulimit -v)"
        )
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
    """One line on stderr; nothing where that cannot be written."""
    line = re.sub(r"\S{1000,}", lambda word: f"{word[0][:100]}… ({len(word[0])} characters)", message)
    with suppress(OSError):
        # Beside a progress bar, if something imported what draws one.
        write = sys.modules["tqdm"].tqdm.write if "tqdm" in sys.modules else print
        write(f"{PROG}: {kind}: {' '.join(line.split())}", file=sys.stderr)


def open_streams() -> None:
    """Makes stdout and stderr usable, whatever the command was given for them.

    Raises:
        ValueError: stdout is closed.
    """
    for descriptor in range(3):  # so that no file that is opened later takes the place of a closed one
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115  (as long as the process lives)
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115
        raise ValueError("the standard output is closed; open it, or send it to a file or to /dev/null")
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.errors == "strict":
        # The name of a file need not be text in the encoding of the terminal; it goes out as it came in.
        utf8 = sys.stdout.encoding.lower().replace("-", "") == "utf8"
        sys.stdout.reconfigure(errors="surrogateescape" if utf8 else "backslashreplace")


def drop_output() -> None:
    """Keeps the interpreter from writing, on its way out, what could not be written."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
