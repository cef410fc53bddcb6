"""The command ``unjudged``: bounds, verdicts, odds, and documents to judge."""

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from command_line import run
from ir_measures_relative.cli.tables import print_table
from ir_measures_relative.context import collection
from ir_measures_relative.io import qrels as io_qrels
from ir_measures_relative.io import trec_files


@pytest.fixture
def campaign(tmp_path: Path) -> list[str]:
    runs = tmp_path / "runs"
    runs.mkdir()
    for name, docs in {"a": "AB", "b": "BX"}.items():
        (runs / f"{name}.run").write_text("".join(f"q Q0 {d} {i} {-i} {name}\n" for i, d in enumerate(docs)))
    qrels = tmp_path / "qrels.txt"
    qrels.write_text("q 0 A 1\n")
    return [str(qrels), str(runs)]


def test_bounds(campaign: list[str]) -> None:
    rows = run("unjudged", *campaign, "P@2", "--bounds", "-o", "tsv").stdout.splitlines()
    assert rows[0].split("\t") == ["name", "measure", "worst", "value", "best", "exact"]
    assert rows[1].split("\t") == ["a", "P@2", "0.5000", "0.5000", "1.0000", "True"]


def test_verdicts(campaign: list[str]) -> None:
    asked = "unjudged", *campaign, "P@2", "--probability"
    assert "at least 4 runs to learn from, and there are 2" in run(*asked).stderr
    for name in "cd":
        (Path(campaign[1]) / f"{name}.run").write_text(f"q Q0 A 0 1 {name}\nq Q0 B 1 0 {name}\n")
    row = json.loads(run(*asked, "-o", "jsonl").stdout.splitlines()[0])
    assert (row["name"], row["other"], row["settled"], row["n_deciding"]) == ("a", "b", "undecided", 1)
    assert row["worst"] == 0.0 and row["best"] == 0.5 and 0 < row["probability"] < 1
    said = run(*asked, "--llm-judgments", campaign[0]).stderr
    assert "People judged 1 of the documents that the language model" in said


def test_judge(campaign: list[str]) -> None:
    asked = *campaign, "P@2", "--judge", "5"
    assert run("unjudged", *asked).stdout == "q X\n"
    assert run("unjudged", *campaign, "AP@2", "--judge", "5").stdout == "q B\nq X\n"
    Path(campaign[0]).write_text("q 0 A 1\nq 0 B 0\nq 0 X 0\n")
    assert "no judgment can change an order by P@2" in run("unjudged", *asked).stderr


@pytest.mark.parametrize(
    "flags", [["unjudged", "--bounds"], ["unjudged"], ["unjudged", "--judge=3"], ["compare"]]
)
def test_judgments_and_runs_are_read_once(
    campaign: list[str], monkeypatch: pytest.MonkeyPatch, flags: list[str]
) -> None:
    if flags == ["compare"]:
        pytest.importorskip("statsmodels", reason="statsmodels is not installed")
    read: list[str] = []

    def counted(module: Any, name: str) -> None:
        function = getattr(module, name)
        monkeypatch.setattr(module, name, lambda *args, **more: read.append(name) or function(*args, **more))

    counted(trec_files, "read_trec_runs")
    counted(trec_files, "read_trec_qrels")
    counted(collection, "make_judgments")
    monkeypatch.setattr(io_qrels, "QrelsConverter", None)  # which takes judgments as tuples
    assert run(*flags[:1], *campaign, "P@2", *flags[1:]).returncode == 0
    assert sorted(read) == ["make_judgments", "read_trec_qrels", *["read_trec_runs"] * 2]


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (["--bounds", "--probability"], "not allowed with argument --bounds"),
        (["--probability", "-q"], "does not go with --probability"),
        (["--llm-judgments", "x.qrels"], "--llm-judgments goes with --probability"),
        (["--judge", "0"], "--judge=0 is not allowed"),
    ],
)
def test_what_does_not_go_together(campaign: list[str], flags: list[str], words: str) -> None:
    done = run("unjudged", *campaign, "P@2", *flags)
    assert done.returncode == 2 and words in done.stderr


def test_what_is_not_certain_is_not_printed_as_certain(capsys: pytest.CaptureFixture[str]) -> None:
    """No -0.00; and no open chance of 0 or 1, which a proof alone has."""
    args = argparse.Namespace(output_format="tsv", places=3, sort=None)
    table = pd.DataFrame(
        {"value": [-1e-9, -0.5, np.nan, 0.25], "settled": ["undecided", "undecided", "undecided", "above"]}
    )
    table["probability"] = [0.99999, 0.00001, 0.5, 1.0]
    print_table(table, args, header=False)
    assert capsys.readouterr().out.replace("\t", " ").splitlines() == [
        "0.000 undecided >0.999",
        "-0.500 undecided <0.001",
        "nan undecided 0.500",
        "0.250 above 1.000",
    ]
