"""The runs that the papers' experiments are run on."""

from __future__ import annotations

from pathlib import Path

import pytest
from studies.reproduce.data import Campaign


@pytest.fixture(scope="session", autouse=True)
def _what_the_experiments_need() -> None:
    for library in ("matplotlib", "statsmodels"):
        pytest.importorskip(library, reason=f"the papers' experiments need {library}")


@pytest.fixture(scope="session")
def dl19_campaign(dl19_path: Path) -> Campaign:
    """The 37 official runs of the TREC 2019 Deep Learning track; skips where they are absent."""
    return Campaign(dl19_path)


@pytest.fixture(scope="session")
def dl21_campaign(dl21_path: Path) -> Campaign:
    """The 63 passage runs of the TREC 2021 Deep Learning track; skips where they are absent."""
    return Campaign(dl21_path)


@pytest.fixture(scope="session")
def robust03_campaign(robust03_path: Path) -> Campaign:
    """The 17 runs of the TREC 2003 Robust track; skips where they are absent."""
    return Campaign(robust03_path)
