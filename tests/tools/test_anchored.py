"""``python -m tools.anchored`` (values that are the same, that moved, and by how much they may) and what a benchmark records."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from benchmarks.__main__ import main as benchmark
from benchmarks.report import Row, record
from benchmarks.timing import Cost
from tools.anchored.__main__ import main
from tools.anchored.cases import Table
from tools.anchored.comparison import compare
from tools.anchored.outputs import Key, Outputs, Result

import ir_measures_relative
from small_campaign import write_campaign

pytest.importorskip("statsmodels")  # what corrects the p-values of the statistics


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_campaign(tmp_path_factory.mktemp("anchored") / "small", runs=3, topics=5)


def test_what_was_written_is_what_is_computed_again(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """By every value and by hashes; the order of rows does not count, nor is a document's id in the file."""
    full, digest, given = tmp_path / "a.npz", tmp_path / "a.json.gz", f"small={folder}"
    assert main(["write", str(full), str(digest), "--campaign", given, "--quick"]) == 0
    assert main(["compare", str(full), "--campaign", given, "--quick", "--part", "verdicts"]) == 0
    said = capsys.readouterr().out
    assert re.search(
        r"small verdicts: \d+ tables, [\d,]+ values; all equal to the last bit; exact lost 0, won 0", said
    )
    assert main(["compare", str(digest), "--with", str(full)]) == 0
    assert main(["compare", str(full), "--with", str(digest), "--only", "NRG"]) == 0
    said = capsys.readouterr().out
    assert re.search(r"small measures: \d+ tables, [\d,]+ values; all equal to the last bit", said)
    with np.load(full) as arrays:
        assert not any(np.isin(["d1", "d2", "d3"], arrays[name].astype(str)).any() for name in arrays.files)


def _outputs(part: str, **values: list[float] | list[str]) -> Outputs:
    columns = {name: np.array(column) for name, column in values.items()}
    rows = len(next(iter(columns.values())))
    table = Table({"name": np.array(["a"] * rows), "query_id": np.arange(rows)}, columns)
    return Outputs({}, {"small": ""}, {Key("small", part, "P@10"): Result(0.0, table=table)})


def _interval(lower: float, upper: float, exact: bool, verdict: str = "open") -> dict[str, list]:
    return {
        "worst": [lower],
        "value": [0.25],
        "best": [upper],
        "exact": [float(exact)],
        "settled": [verdict],
    }


def test_a_measure_must_keep_its_last_bit(capsys: pytest.CaptureFixture[str]) -> None:
    before = _outputs("measures", value=[0.5, float("nan"), 0.25])
    assert compare(before, before) == 0
    after = _outputs("measures", value=[0.5, float("nan"), float(np.nextafter(0.25, 1))])
    capsys.readouterr()
    assert compare(before, after) == 1
    assert "WRONG P@10\n      name a, query 2, value: 0.25 → 0.25000000000000006" in capsys.readouterr().out
    assert compare(before, _outputs("measures", value=[0.5, 1.0, 0.25])) == 1
    assert compare(before, _outputs("measures", value=[0.5, float("nan")])) == 1
    assert compare(before, _outputs("measures", worth=[0.5, float("nan"), 0.25])) == 1


@pytest.mark.parametrize(
    ("before", "after", "wrong"),
    [
        (_interval(0.0, 0.5, True), _interval(1e-13, 0.5, True), 0),
        (_interval(0.0, 0.5, True), _interval(1e-11, 0.5, True), 1),
        (_interval(0.0, 0.5, True), _interval(0.0, 0.5, False), 1),
        (_interval(0.0, 0.5, False), _interval(0.0, 0.5, True), 0),
        (_interval(0.0, 0.5, False), _interval(0.1, 0.4, False, "above"), 0),
        (_interval(0.0, 0.5, False), _interval(0.0, 0.6, False), 1),
        (_interval(0.0, 0.5, False), _interval(-0.1, 0.5, True), 1),
        (_interval(0.0, 0.5, True), _interval(0.0, 0.5, True, "above"), 1),
    ],
)
def test_an_end_may_move_by_rounding_and_an_inexact_interval_may_shrink(
    before: dict[str, list], after: dict[str, list], wrong: int
) -> None:
    for part in ("bounds", "verdicts"):
        assert compare(_outputs(part, **before), _outputs(part, **after)) == wrong
        assert compare(_outputs("statistics", **before), _outputs("statistics", **after)) == 0


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
        benchmark(["--record", *others])
    assert "--record" in capsys.readouterr().err
