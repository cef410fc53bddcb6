"""Checks of arguments: each raises ValueError with the argument and what is allowed."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any


def is_number(value: Any) -> bool:
    """Whether a value is a real number; True and False are not."""
    return isinstance(value, Real) and not isinstance(value, bool)


def check_count(name: str, value: Any, least: int) -> None:
    """Raises ValueError for anything but a whole number of at least ``least``."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise ValueError(f"{name}={value!r} is not allowed; give a whole number of at least {least}")


def check_share(name: str, value: Any) -> None:
    """Raises ValueError for anything but a number between 0 and 1."""
    if not is_number(value) or not 0 < value < 1:
        raise ValueError(f"{name}={value!r} is not allowed; give a number between 0 and 1, such as 0.05")


def check_choice(name: str, value: Any, allowed: Sequence[str]) -> None:
    """Raises ValueError for a value that is not in a list of words."""
    if not isinstance(value, str) or value not in allowed:
        raise ValueError(f"{name}={value!r} is not allowed; give one of {', '.join(map(repr, allowed))}")


def check_statistics(statistics: str | Sequence[str], allowed: Sequence[str]) -> list[str]:
    """Return the statistics, each once; ValueError for none, or one that is not allowed."""
    chosen = [statistics] if isinstance(statistics, str) else list(dict.fromkeys(statistics))
    if not chosen:
        raise ValueError(f"statistics is empty; give some of {', '.join(map(repr, allowed))}")
    for statistic in chosen:
        check_choice("statistics", statistic, allowed)
    return chosen
