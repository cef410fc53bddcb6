"""The experiments of the paper on Lexiprecision."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from .data import Data
from .finding import Finding

TITLE = "Lexiprecision"


def findings(data: Data, out: Path) -> Iterator[Finding]:
    """Every table and figure that can be run on these runs."""
    yield from ()
