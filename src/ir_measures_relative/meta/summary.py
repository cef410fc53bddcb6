"""Statistics over samples, and the names of what is computed on each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..options import check_choice


def summary(values: Sequence[float]) -> dict[str, Any]:
    """How many samples have a value, their mean, and their standard deviation (n - 1)."""
    known = np.array(values, dtype=np.float64)
    known = known[~np.isnan(known)]
    return {
        "samples": len(known),
        "mean": float(known.mean()) if len(known) else np.nan,
        "deviation": float(known.std(ddof=1)) if len(known) > 1 else np.nan,
    }


def check_kinds(kinds: str | Sequence[str], allowed: Sequence[str]) -> list[str]:
    """The kinds, each once.

    Raises:
        ValueError: none, or one that is not allowed.
    """
    chosen = [kinds] if isinstance(kinds, str) else list(dict.fromkeys(kinds))
    if not chosen:
        raise ValueError(f"kinds is empty; give some of {', '.join(map(repr, allowed))}")
    for kind in chosen:
        check_choice("kinds", kind, allowed)
    return chosen
