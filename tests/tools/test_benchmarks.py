"""``python -m benchmarks --record``: a table of ratios by version."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from benchmarks.__main__ import main
from benchmarks.report import Row, record
from benchmarks.timing import Cost

import ir_measures_relative


def test_ratios_are_kept_by_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of the same work replace earlier ones of this version; those of other work and versions stay."""

    def measure(work: str, seconds: float, ids: str = "") -> tuple[str, Row]:
        return "a track", Row(work, "nDCG@10", Cost(seconds, seconds), Cost(2.0, 1.0), ids=ids)

    table = tmp_path / "history.csv"
    for version, rows in (
        ("0.10.0", [measure("NRG@10", 1.0, "str"), measure("worth", 4.0)]),
        ("0.9.0", [measure("NRG@10", 3.0, "str")]),
        ("0.10.0", [measure("NRG@10", 0.5, "str"), measure("NRG@10", 1.5, "object")]),
    ):
        monkeypatch.setattr(ir_measures_relative, "__version__", version)
        record(rows, table)
    kept = pd.read_csv(table, keep_default_na=False)
    assert list(kept) == ["version", "collection", "row", "against", "ids", "ratio"]
    assert kept[["version", "row", "ids", "ratio"]].to_numpy().tolist() == [
        ["0.9.0", "NRG@10", "str", 1.5],
        ["0.10.0", "worth", "", 2.0],
        ["0.10.0", "NRG@10", "str", 0.25],
        ["0.10.0", "NRG@10", "object", 0.75],
    ]


@pytest.mark.parametrize("others", [["--quick"], ["--only", "growth"]])
def test_a_first_look_is_not_kept(others: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """Growth has no ratio, and a first look is of too few rounds."""
    with pytest.raises(SystemExit):
        main(["--record", *others])
    assert "--record" in capsys.readouterr().err
