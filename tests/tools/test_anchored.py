"""``python -m tools.anchored``: values that are the same, values that moved, and by how much they may."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import ir_measures
import numpy as np
import pytest
from tools.anchored.__main__ import main
from tools.anchored.campaign import Campaign
from tools.anchored.cases import PARTS, Table, cases, measures_of
from tools.anchored.comparison import compare
from tools.anchored.measures import QUICK, QUICK_BOUNDED, bounded_measures
from tools.anchored.names import asked, public
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


def test_other_runs_are_refused(folder: Path, tmp_path: Path) -> None:
    asked = ["--quick", "--part", "measures", "--only", "UniqueRel"]
    full, other = tmp_path / "a.npz", write_campaign(tmp_path / "other", runs=3, topics=5, seed=2)
    assert main(["write", str(full), "--campaign", f"small={folder}", *asked]) == 0
    with pytest.raises(SystemExit, match="the runs or the qrels are not those"):
        main(["compare", str(full), "--campaign", f"small={other}", *asked])
    with pytest.raises(SystemExit, match="no table to compare"):
        main(["compare", str(full), "--campaign", f"other={other}", *asked])
    with pytest.raises(SystemExit, match="must end in"):
        main(["write", str(tmp_path / "a.txt")])


def test_every_measure_is_there_and_each_case_once(folder: Path) -> None:
    campaign = Campaign("small", folder)
    measures = measures_of(campaign)
    registered = [
        n
        for n, m in ir_measures.measures.registry.items()
        if hasattr(m, "RELATIVE_TO")
        and n == m.NAME
        and not m.looks_at_aspects  # which these qrels do not name
        and n not in ("LexiRank", "Rareness")  # which are newer than the anchor
    ]
    assert len(registered) >= 15
    assert not [name for name in registered if not any(re.match(rf"{name}\b", m) for m in measures)]
    assert set(measures) >= QUICK
    assert set(bounded_measures(campaign.names)) >= QUICK_BOUNDED
    names = [(case.part, case.name) for case in cases(campaign)]
    assert len(names) == len(set(names))
    assert {part for part, _ in names} == set(PARTS)


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


def test_what_is_refused_now_and_was_not_is_wrong() -> None:
    computed = _outputs("measures", value=[0.5])
    refused = replace(computed, results=dict.fromkeys(computed.results, Result(0.0, "ValueError")))
    assert compare(computed, refused) == 1
    assert compare(refused, computed) == 0
    assert compare(refused, refused) == 0


def test_hashes_tell_that_values_differ(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one, other = _outputs("measures", value=[0.5, 0.25]), _outputs("measures", value=[0.5, 0.75])
    one.save_digest(tmp_path / "a.json.gz")
    other.save(tmp_path / "b.npz")
    assert main(["compare", str(tmp_path / "a.json.gz"), "--with", str(tmp_path / "b.npz")]) == 1
    assert "means differ by 0.25 at most (value)" in capsys.readouterr().out
    apart = [_outputs("bounds", **_interval(0.0, upper, True)) for upper in (0.5, 0.5 + 1e-13)]
    apart[0].save_digest(tmp_path / "a.json.gz")
    apart[1].save(tmp_path / "b.npz")
    assert main(["compare", str(tmp_path / "a.json.gz"), "--with", str(tmp_path / "b.npz")]) == 0


def test_what_0_3_0_called_otherwise_compares_equal(tmp_path: Path) -> None:
    old = _outputs("verdicts", lower=[0.0], upper=[0.5], verdict=["better"], open=[2.0])
    new = _outputs("verdicts", worst=[0.0], best=[0.5], settled=["above"], n_deciding=[2.0])
    for outputs, before, name in ((old, "elsewhere=2", "old"), (new, "unretrieved_relevant=2", "new")):
        key = Key("small", "verdicts", f"P@10, {before}")
        replace(outputs, results={key: next(iter(outputs.results.values()))}).save(tmp_path / f"{name}.npz")
    assert main(["compare", str(tmp_path / "old.npz"), "--with", str(tmp_path / "new.npz")]) == 0
    assert main(["compare", str(tmp_path / "new.npz"), "--with", str(tmp_path / "old.npz")]) == 0


def test_an_option_is_passed_by_the_name_that_the_version_has() -> None:
    def old(context: str, elsewhere: int = 0) -> tuple[str, int]:
        return context, elsewhere

    def new(context: str, unretrieved_relevant: int = 0) -> tuple[str, int]:
        return context, unretrieved_relevant

    assert asked(old, "c", unretrieved_relevant=2) == asked(new, "c", unretrieved_relevant=2) == ("c", 2)
    assert public("RunContext") is ir_measures_relative.RunContext
    with pytest.raises(AttributeError, match="adding_up"):
        public("adding_up")
