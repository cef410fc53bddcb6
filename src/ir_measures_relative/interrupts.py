"""Ctrl-C while the command line is still being imported: the usual exit code, and no traceback.

Most of what a short command takes is the import of this package, which Python does before the command's first line
runs. So the package imports this module first. It does something in the process of the command line alone.
"""

from __future__ import annotations

import itertools
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

INTERRUPTED = 130  #: the exit code that shells give a command after Ctrl-C


def _leave(number: int, frame: FrameType | None) -> None:
    os._exit(INTERRUPTED)


def _is_command() -> bool:
    """Whether this process was started as ``ir_measures_relative`` or ``python -m ir_measures_relative``."""
    package = __name__.partition(".")[0]
    started = sys.argv[0] if sys.argv else ""
    if started == "-m":  # which Python says while it looks for the module
        options = sys.orig_argv
        return f"-m{package}" in options or ("-m", package) in itertools.pairwise(options)
    return os.path.basename(started).partition(".")[0] == package


if (
    _is_command()
    and threading.current_thread() is threading.main_thread()
    and signal.getsignal(signal.SIGINT) is signal.default_int_handler
):
    signal.signal(signal.SIGINT, _leave)


@contextmanager
def as_exceptions() -> Iterator[None]:
    """Inside, Ctrl-C raises KeyboardInterrupt also in the process of the command line."""
    if signal.getsignal(signal.SIGINT) is not _leave:
        yield
        return
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, _leave)
