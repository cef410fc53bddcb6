"""The runs that the papers' experiments are run on."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from reproduce.data import Campaign


@pytest.fixture(scope="session")
def dl19_campaign() -> Campaign:
    """The 37 official runs of the TREC 2019 Deep Learning track; skips where they are absent."""
    named = os.environ.get("DL19")
    folder = Path(named) if named else Path(__file__).resolve().parents[3] / "shared" / "dl19"
    if not (folder / "qrels.txt.gz").exists():
        pytest.skip(
            "the Deep Learning runs are not here: set DL19 to their folder, or put it at ../shared/dl19"
        )
    return Campaign(folder)


@pytest.fixture(scope="session")
def robust03_campaign(robust03_path: Path) -> Campaign:
    """The 17 runs of the TREC 2003 Robust track; skips where they are absent."""
    return Campaign(robust03_path)
