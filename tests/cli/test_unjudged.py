"""The flags ``--bounds``, ``--verdicts``, ``--odds`` and ``--judge``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ir_measures_relative.cli import main


@pytest.fixture
def campaign(tmp_path: Path) -> list[str]:
    runs = tmp_path / "runs"
    runs.mkdir()
    for name, docs in {"a": "AB", "b": "BX"}.items():
        (runs / f"{name}.run").write_text("".join(f"q Q0 {d} {i} {-i} {name}\n" for i, d in enumerate(docs)))
    qrels = tmp_path / "qrels.txt"
    qrels.write_text("q 0 A 1\n")
    return [str(qrels), str(runs)]


def output(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[str]:
    assert main(arguments) == 0
    return capsys.readouterr().out.splitlines()


def test_bounds(campaign: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    rows = output(capsys, *campaign, "P@2", "--bounds")
    assert rows[0].split("\t") == ["name", "measure", "lower", "value", "upper", "exact"]
    assert rows[1].split("\t") == ["a", "P@2", "0.5000", "0.5000", "1.0000", "True"]


def test_verdicts(campaign: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    row = json.loads(output(capsys, *campaign, "P@2", "--verdicts", "--odds", "-o", "jsonl")[0])
    assert (row["name"], row["other"], row["verdict"], row["open"]) == ("a", "b", "open", 1)
    assert row["lower"] == 0.0 and row["upper"] == 0.5 and 0 <= row["probability"] <= 1


def test_judge(campaign: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert output(capsys, *campaign, "P@2", "--judge", "5") == ["q X"]
    assert output(capsys, *campaign, "AP@2", "--judge", "5", "--jobs", "2") == ["q B", "q X"]


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (["--bounds", "--verdicts"], "two tables"),
        (["--odds"], "goes with --verdicts"),
        (["--verdicts", "--odds", "-q"], "leave --by_query"),
        (["--judge", "0"], "n=0"),
        (["--bounds", "--plot", "x.png"], "leave one of them out"),
        (["--jobs", "2"], "--jobs goes with --bounds, --verdicts, --judge"),
        (["--verdicts", "--jobs", "0"], "jobs=0"),
    ],
)
def test_what_does_not_go_together(
    campaign: list[str], capsys: pytest.CaptureFixture[str], flags: list[str], words: str
) -> None:
    assert main([*campaign, "P@2", *flags]) == 2
    assert words in capsys.readouterr().err
