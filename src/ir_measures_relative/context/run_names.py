"""Names of the runs of a context: what they may be, and which of them a pattern stands for."""

from __future__ import annotations

import fnmatch
from collections.abc import Collection, Iterable, Sequence
from typing import Any

from ..messages import few_quoted


def check_run_names(names: Iterable[Any]) -> None:
    """Raises ValueError for a name that no run of a context can have."""
    for name in names:
        if not isinstance(name, str) or not name:
            problem = "is empty" if name == "" else "is not a string"
            raise ValueError(f"the run name {name!r} {problem}; name every run with a string")


def check_names(what: str, chosen: Collection[str], names: Sequence[str]) -> None:
    """Raises ValueError for names of runs that a context, or a table, does not hold."""
    unknown = [n for n in chosen if n not in set(names)]
    if unknown:
        raise ValueError(
            f"{what} names {unknown}, which the context does not hold; its runs are {few_quoted(names)}"
        )


def fitting(pattern: str, names: Sequence[str]) -> list[str]:
    """The runs that a name or a glob stands for; a name may hold glob characters, so the name itself goes first."""
    return [pattern] if pattern in names else [n for n in names if fnmatch.fnmatchcase(n, pattern)]


def matching(prior: str, names: Sequence[str], parameter: str = "prior") -> list[str]:
    """The runs that ``prior=``, or another parameter, of a measure stands for: names or globs, separated by commas."""
    if prior in names:  # a name may hold a comma, or blanks at its ends
        return [prior]
    found: list[str] = []
    for pattern in filter(None, map(str.strip, prior.split(","))):
        fit = fitting(pattern, names)
        if not fit:
            raise ValueError(
                f"{parameter}={prior!r}: {pattern!r} fits no run of the context; its runs are {few_quoted(names)}"
            )
        found += fit
    return found
