"""Vega's program in the page: made once a version of vl-convert, and kept."""

from pathlib import Path

import pytest

pytest.importorskip("vl_convert", reason="needs the extra [report]")

from ir_measures_relative.reporting import page


def test_the_program_is_made_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IR_DATASETS_HOME", str(tmp_path / "home"))
    made = page._bundle.__wrapped__()
    (kept,) = (tmp_path / "home" / "ir_measures_relative").iterdir()
    assert "vegaEmbed" in made and kept.read_text(encoding="utf-8") == made
    monkeypatch.setattr(page, "_make_bundle", lambda: pytest.fail("made again"))
    assert page._bundle.__wrapped__() == made


def test_a_folder_that_nobody_may_write_to_is_none_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "home").write_text("a file")
    monkeypatch.setenv("IR_DATASETS_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(page, "_make_bundle", lambda: "program")
    assert page._bundle.__wrapped__() == "program"
