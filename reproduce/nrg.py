"""The experiments of the paper on Normalized residual gain."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from .data import Data
from .finding import Finding

TITLE = "Normalized residual gain"


def findings(data: Data, out: Path) -> Iterator[Finding]:
    """Every table and figure that can be run on these runs."""
    yield from ()
