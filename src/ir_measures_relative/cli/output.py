"""What the command writes: tables, files where nothing is lost, and messages."""

from __future__ import annotations

import argparse
import io
import json
import os
import re
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from types import FrameType
from typing import TYPE_CHECKING, Any

import numpy as np

from ..messages import escaped

if TYPE_CHECKING:
    import pandas as pd

PROG = "ir_measures_relative"
DEFAULT_PLACES = 4


def given_flags(args: argparse.Namespace, *flags: str) -> list[str]:
    """Those of the flags that are given; ``--judge 0`` is, and is refused where it is read."""
    values = {flag: getattr(args, flag) for flag in flags}
    return [
        flag for flag, value in values.items() if value is not None and value is not False and value != ""
    ]


def check_folder(args: argparse.Namespace, *flags: str) -> None:
    """Raises ValueError where one of these flags is given, and RUN is no folder."""
    for flag in () if args.is_folder else given_flags(args, *flags):
        raise ValueError(
            f"--{flag} goes with a folder of runs, and {args.run} is not one; give the folder as RUN"
        )


def rows(table: pd.DataFrame, args: argparse.Namespace, header: bool = True) -> Iterator[str]:
    """A table, line by line."""
    if header and args.output_format == "tsv":
        yield tsv(table.columns, args.places)
    for row in table.astype(object).where(table.notna(), None).to_dict("records"):
        if args.output_format == "tsv":
            yield tsv(
                (
                    _p(cell, args.places)
                    if name in _P
                    else _chance(cell, args.places, row.get("verdict") == "open")
                    if name == "probability"
                    else cell
                    for name, cell in row.items()
                ),
                args.places,
            )
        else:
            yield json.dumps(
                {name: cell.item() if isinstance(cell, np.generic) else cell for name, cell in row.items()}
            )


#: The columns of p-values.
_P = ("p", "p_corrected")


def _p(cell: Any, places: int) -> Any:
    """A p-value, which is never 0: one without a digit in so many places is said to be less than they can show."""
    small = isinstance(cell, float) and places > 0 and round(cell, places) == 0
    return f"<{10.0**-places:.{places}f}".replace("<0.", "<.") if small else cell


def _chance(cell: Any, places: int, is_open: bool) -> Any:
    """A probability, which is neither 0 nor 1 where the verdict is open, and is not printed so."""
    if is_open and isinstance(cell, float) and places > 0 and round(cell, places) == 1:
        return f">{1 - 10.0**-places:.{places}f}".replace(">0.", ">.")
    return _p(cell, places) if is_open else cell


def tsv(cells: Iterable[Any], places: int) -> str:
    """A line of cells, text without control characters. Numbers have ``places`` decimal places, all where it is -1."""
    spec = "" if places == -1 else f".{places}f"
    return "\t".join(
        format(float(cell) if places == -1 else round(float(cell), places) + 0.0, spec)  # no -0.00
        if isinstance(cell, (float, np.floating))
        else "nan"
        if cell is None
        else escaped(str(cell))
        for cell in cells
    )


def check_loss(
    flag: str, path: str, inputs: Mapping[str, str], kind: str, is_one: Callable[[str], bool]
) -> None:
    """Raises ValueError where a file would take the place of anything but one of its kind, or an empty file.

    Args:
        inputs: the files that the command reads, by what they are called.
        kind: what the file is called.
        is_one: whether what is there is such a file.
    """
    if not os.path.exists(path):
        return
    for called, file in inputs.items():
        if os.path.exists(file) and os.path.samefile(file, path):
            raise ValueError(
                f"{flag} {path} is {called}, which the {kind} would overwrite; give another path"
            )
    if _is_output(path):
        raise ValueError(f"{flag} {path} is where the table goes; give another path")
    if not os.path.isfile(path):
        raise ValueError(f"{flag} {path}: cannot be written, since it is not a file; give another path")
    if os.path.getsize(path) and not is_one(path):
        raise ValueError(
            f"{flag} {path} exists and is not a {kind}; it is not overwritten: remove it, or give another path"
        )


def _is_output(path: str) -> bool:
    try:
        return os.path.samestat(os.fstat(sys.stdout.fileno()), os.stat(path))
    except (OSError, ValueError):  # no file at all
        return False


@contextmanager
def writing(flag: str, path: str, kind: str) -> Iterator[None]:
    """Says of a file that cannot be written what to do; what was there is still there."""
    try:
        yield
    except OSError as error:
        raise OSError(
            f"{flag} {path}: the {kind} could not be written ({error.strerror or error}); make room, or give another "
            "path"
        ) from None


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
        write(f"{PROG}: {kind}: {escaped(' '.join(line.split()))}", file=sys.stderr)


def open_streams() -> None:
    """Makes stdout and stderr usable, also where the command was started with them closed.

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


@contextmanager
def leaving_in_order() -> Iterator[None]:
    """Lets SIGHUP and SIGTERM end the process as an exception does, so that no temporary file is left."""

    def leave(number: int, frame: FrameType | None) -> None:
        sys.exit(128 + number)

    names = ("SIGHUP", "SIGTERM") if threading.current_thread() is threading.main_thread() else ()
    signals = [getattr(signal, name) for name in names if hasattr(signal, name)]
    ours = [number for number in signals if signal.getsignal(number) is signal.SIG_DFL]  # nohup ignores one
    for number in ours:
        signal.signal(number, leave)
    try:
        yield
    finally:
        for number in ours:
            signal.signal(number, signal.SIG_DFL)


def drop_output() -> None:
    """Keeps the interpreter from writing, on its way out, what could not be written."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
