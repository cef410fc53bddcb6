"""The warnings of this package: one category, each about a line of the user's."""

from __future__ import annotations

import sys
import warnings


class RelativeWarning(UserWarning):
    """A number is not what it may look like; the message says why, and what to do."""


# Whose lines a warning is not about: this package's, its hosts', and those of what calls back from them.
_NOT_THE_USERS = frozenset(
    {
        "ir_measures_relative",
        "ir_measures_relative_plugin",
        "ir_measures",
        "pyterrier",
        "pyterrier_alpha",
        "dask",
        "distributed",
        "joblib",
        "matplotlib",
        "pandas",
        "tqdm",
        "concurrent",
        "contextlib",
        "importlib",
        "threading",
    }
)


def warn(message: str) -> None:
    """Warns of something on the line of the user's code that led here, wherever inside the hosts it came up.

    ``warnings.warn`` with a ``stacklevel`` would not do: it counts the frames of an import differently from the
    stack. Where no line is the user's, as in a thread that runs a function of this package, it is the outermost.
    """
    frame = sys._getframe(1)
    while frame.f_back is not None and _package(frame.f_globals) in _NOT_THE_USERS:
        frame = frame.f_back
    warnings.warn_explicit(
        message,
        RelativeWarning,
        filename=frame.f_code.co_filename,
        lineno=frame.f_lineno,
        module=str(frame.f_globals.get("__name__")),
        registry=frame.f_globals.setdefault("__warningregistry__", {}),
    )


def _package(module: dict[str, object]) -> str:
    return str(module.get("__name__")).partition(".")[0]
