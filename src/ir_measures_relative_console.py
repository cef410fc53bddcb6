"""The command ``ir_measures_relative``, beside the package: so Ctrl-C is dealt with before the package is imported."""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Callable
from types import FrameType


def main() -> int:
    """Run the command and return its exit code; on Ctrl-C before or after it, end the process with 130."""
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:  # somebody ignores it, say
        return _imported()()
    signal.signal(signal.SIGINT, _leave)
    command = _imported()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # the command deals with it itself
    try:
        return command()
    finally:
        signal.signal(signal.SIGINT, _leave)


def _imported() -> Callable[[], int]:
    """Import the command; the garbage collector need not look through what is imported, now or at the end."""
    gc.disable()
    from ir_measures_relative.cli import main as command

    gc.freeze()
    gc.enable()
    return command


def _leave(number: int, frame: FrameType | None) -> None:
    os._exit(130)


if __name__ == "__main__":
    sys.exit(main())
