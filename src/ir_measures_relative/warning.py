"""The warnings of this package: one category, each about a line of the user's."""

from __future__ import annotations

import sys
import warnings
from types import FrameType


class RelativeWarning(UserWarning):
    """A number is not what it may look like; the message says why, and what to do."""


# Whose lines a warning is not about: this package, its hosts, and what calls back from them.
_NOT_THE_USERS = frozenset(
    {"ir_measures_relative", "ir_measures", "pyterrier", "dask", "distributed", "contextlib"}
)


def warn(message: str) -> None:
    """Warns of something on the line of the user's code that led here, wherever inside the hosts it came up."""
    depth = 2  # the caller, for warnings.warn
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and str(frame.f_globals.get("__name__")).partition(".")[0] in _NOT_THE_USERS:
        frame, depth = frame.f_back, depth + 1
    warnings.warn(message, RelativeWarning, stacklevel=depth)
