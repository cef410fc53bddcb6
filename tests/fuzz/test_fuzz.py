"""A fixed small corpus of the fuzz targets."""

from collections import Counter
from pathlib import Path

import pytest

from fuzzing import OF_FORMATS, TARGETS, outcome


@pytest.mark.parametrize("target", TARGETS)
def test_read_or_refused_in_words(target: str, tmp_path: Path) -> None:
    found = Counter(outcome(target, seed, tmp_path) for seed in range(80))
    assert found["read"] > 10 and found.total() - found["read"] > 20, found


@pytest.mark.parametrize("target", OF_FORMATS)
def test_files_of_other_tools_are_read_or_refused_in_words(target: str, tmp_path: Path) -> None:
    if "Parquet" in target or "LensKit" in target:
        pytest.importorskip("pyarrow")
    found = Counter(outcome(target, seed, tmp_path) for seed in range(40))
    assert found.total() - found["read"] > 3, found
    assert found["read"] > 3 or target.startswith("neither"), found
