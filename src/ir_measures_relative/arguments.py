"""Checks of arguments that many functions share."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np


def is_number(value: Any) -> bool:
    """Return whether a value is a number of Python or numpy that a double can hold; True and False are not."""
    number = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    return number and not (isinstance(value, int) and abs(value) > sys.float_info.max)


def check_count(name: str, value: Any, least: int) -> None:
    """Raise ValueError unless a value is a whole number of at least ``least``."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
        which = f"of at least {least}" if least else "from 0 up"
        raise ValueError(f"{name}={value!r} is not allowed; it must be a whole number {which}")


def check_amount(name: str, value: Any) -> None:
    """Raise ValueError unless a value is a finite number of at least 0, such as a cost."""
    if not is_number(value) or not 0 <= value < np.inf:
        raise ValueError(f"{name}={value!r} is not allowed; it must be a number from 0 up")


def check_choice(name: str, value: Any, allowed: Sequence[str]) -> None:
    """Raise ValueError unless a value is one of the allowed words."""
    if not isinstance(value, str) or value not in allowed:
        raise ValueError(
            f"{name}={value!r} is not allowed; it must be one of {', '.join(map(repr, allowed))}"
        )


def check_share(name: str, value: Any, example: str = "0.05") -> None:
    """Raise ValueError unless a value is between 0 and 1."""
    if not is_number(value) or not 0 < value < 1:
        raise ValueError(f"{name}={value!r} is not allowed; it must be between 0 and 1, such as {example}")


def check_confidence(value: Any) -> None:
    """Raise ValueError unless a value is the confidence of an interval."""
    check_share("confidence", value, "0.95")
