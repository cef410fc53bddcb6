"""A fixed small corpus of half-written runs."""

from collections import Counter
from pathlib import Path

from half_written import outcome


def test_refused_told_or_the_value_of_the_rows(tmp_path: Path) -> None:
    found = Counter()
    for seed in range(60):
        folder = tmp_path / str(seed)
        folder.mkdir()
        found[outcome(seed, folder)] += 1
    assert min(found[kind] for kind in ("value", "told", "refused")) > 3, found
