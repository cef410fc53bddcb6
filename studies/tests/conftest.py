"""The runs that the papers' experiments are run on."""

# ruff: noqa: F401, F811

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest
from studies.reproduce.data import Campaign

# Their folders, and the settings of Hypothesis.
from tests.conftest import dl19_path, dl21_path, robust03_path

# The experiments import what draws and tests: without it, not even the files are read.
_THERE = all(map(importlib.util.find_spec, ("matplotlib", "statsmodels")))
collect_ignore_glob = [] if _THERE else ["test_*.py"]


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
