"""Checks of arguments that several functions have."""

from __future__ import annotations

from typing import Any

import numpy as np


def check_count(name: str, value: Any, least: int) -> None:
    """Raises ValueError for what is not a whole number of at least that."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
        which = f"of at least {least}" if least else "from 0 up"
        raise ValueError(f"{name}={value!r} is not allowed; it must be a whole number {which}")
