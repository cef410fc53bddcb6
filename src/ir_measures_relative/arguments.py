"""Checks of arguments that many functions share, and the names of runs in them."""

from __future__ import annotations

import fnmatch
import sys
from collections.abc import Collection, Iterable, Sequence
from typing import Any

import numpy as np

from .messages import few_quoted


def is_number(value: Any) -> bool:
    """Return whether a value is a number of Python or numpy that a double can hold; True and False are not."""
    number = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    return number and not (isinstance(value, int) and abs(value) > sys.float_info.max)


def check_count(name: str, value: Any, least: int) -> None:
    """Raise ValueError unless a value is a whole number of at least ``least``."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
        which = f"of at least {least}" if least else "from 0 up"
        raise ValueError(f"{name}={value!r} is not allowed; it must be a whole number {which}")


def check_choice(name: str, value: Any, allowed: Sequence[str]) -> None:
    """Raise ValueError unless a value is one of the allowed words."""
    if not isinstance(value, str) or value not in allowed:
        raise ValueError(
            f"{name}={value!r} is not allowed; it must be one of {', '.join(map(repr, allowed))}"
        )


def check_confidence(value: Any) -> None:
    """Raise ValueError unless a value is the confidence of an interval."""
    if not is_number(value) or not 0 < value < 1:
        raise ValueError(f"confidence={value!r} is not allowed; it must be between 0 and 1, such as 0.95")


def check_run_names(names: Iterable[Any]) -> None:
    """Raise ValueError for a name that no run can have."""
    for name in names:
        if not isinstance(name, str) or not name:
            problem = "is empty" if name == "" else "is not a string"
            raise ValueError(f"the run name {name!r} {problem}; name every run with a string")


def check_names(argument: str, chosen: Collection[str], names: Sequence[str]) -> None:
    """Raise ValueError for names of runs that a context, or a table, does not hold."""
    if unknown := [n for n in chosen if n not in set(names)]:
        raise ValueError(
            f"{argument} names {unknown}, which the context does not hold; its runs are {few_quoted(names)}"
        )


def match_pattern(pattern: str, names: Sequence[str]) -> list[str]:
    """Return the runs that match a name or a glob; a run of exactly this name wins, since a name may hold a ``*``."""
    return [pattern] if pattern in names else [n for n in names if fnmatch.fnmatchcase(n, pattern)]


def match_patterns(prior: str, names: Sequence[str], parameter: str = "prior") -> list[str]:
    """Return the runs that match a parameter such as ``prior=``: names or globs, separated by commas."""
    if prior in names:  # a name may hold a comma, or blanks at its ends
        return [prior]
    runs: list[str] = []
    for pattern in filter(None, map(str.strip, prior.split(","))):
        if not (fit := match_pattern(pattern, names)):
            raise ValueError(
                f"{parameter}={prior!r}: {pattern!r} fits no run of the context; its runs are {few_quoted(names)}"
            )
        runs += fit
    return runs
