"""``report``: in the place of no file that is not a report."""

import json
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("jinja2", reason="the report needs Jinja2, of the extra [report]")
pytest.importorskip("vl_convert", reason="the report needs vl-convert, of the extra [report]")

from ir_measures_relative import demo

ARGUMENTS = ["report", "qrels.txt", "runs", "nDCG@2", "NRG@2"]
Call = Callable[..., tuple[int, str, str]]


def without_advice(code: int, out: str, err: str) -> tuple[int, str, str]:
    """Without the line that so small a campaign draws: which grades are there?"""
    lines = [
        line for line in err.splitlines(keepends=True) if "are judged relevant, and unjudged" not in line
    ]
    return code, out, "".join(lines)


def data_of(path: Path, part: str = "data") -> dict[str, object]:
    match = re.search(rf'id="{part}">(.*?)</script>', path.read_text(encoding="utf-8"))
    assert match
    return dict(json.loads(match[1]))


def test_the_numbers_are_those_of_score(files: Path, call: Call) -> None:
    table = call("score", *ARGUMENTS[1:])
    assert without_advice(*call(*ARGUMENTS, "--output", "out.html")) == (0, "", "Wrote out.html\n")
    first = (files / "out.html").read_text(encoding="utf-8")
    assert "<pre>ir_measures_relative report qrels.txt runs nDCG@2 NRG@2 --output out.html</pre>" in first
    means = data_of(files / "out.html")["means"]
    rows = [line.split("\t")[1:] for line in table[1].splitlines()[1:]]
    assert [[f"{x:.4f}" for x in column] for column in means] == [
        list(column) for column in zip(*rows, strict=True)
    ]
    # a report takes the place of a report; -o is --output
    assert without_advice(*call(*ARGUMENTS, "-o", "out.html", "--title", "Our runs")) == (
        0,
        "",
        "Wrote out.html\n",
    )
    assert "<title>Our runs</title>" in (files / "out.html").read_text(encoding="utf-8")
    assert sorted(p.name for p in files.iterdir()) == ["out.html", "qrels.txt", "runs"]


def test_topics_of_a_dataset(files: Path, call: Call) -> None:
    demo.register()
    import ir_datasets

    dataset = ir_datasets.load(demo.DATASET_ID)
    queries = [q.query_id for q in dataset.queries_iter()]
    docs = [d.doc_id for d in dataset.docs_iter()][:4]
    for name in ("A", "B", "C"):
        rows = [f"{q} Q0 {d} 0 {-i} {name}\n" for q in queries for i, d in enumerate(docs)]
        (files / "runs" / f"{name}.run").write_text("".join(rows))
    code, _, said = call("report", demo.DATASET_ID, "runs", "P@2", "--output", "out.html")
    assert code == 0 and "of the mean NRG(norm='ideal')@10" in said  # four documents, one topic
    found = data_of(files / "out.html")
    assert all("query" in topic for topic in found["topics"])  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("notes.html", "notes.html exists and is not a report"),
        ("qrels.txt", "qrels.txt is the qrels"),
        ("runs/new.html", "runs/new.html lies in the folder of runs"),
        ("link.html", "link.html is the run runs/B.run"),
        ("pipe.html", "pipe.html: cannot be written, since it is not a file"),
        ("none/out.html", "none/out.html: there is no folder"),
        ("runs", "runs: cannot be written, since it is not a file"),
        ("report.txt", "give a name that ends in .html"),
    ],
)
def test_nothing_else_is_overwritten(files: Path, call: Call, path: str, message: str) -> None:
    (files / "notes.html").write_text("<!DOCTYPE html><p>do not lose me\n")
    os.symlink("runs/B.run", files / "link.html")
    if path == "pipe.html":
        os.mkfifo(files / path)
    before = (files / path).read_bytes() if (files / path).is_file() else b""
    code, out, said = call(*ARGUMENTS, "--output", path)
    assert (code, out, said.count("\n")) == (2, "", 1)
    assert said.startswith("ir_measures_relative: error: --output ") and message in said
    assert not before or (files / path).read_bytes() == before


def test_beside_other_runs(files: Path, call: Call) -> None:
    """The runs of --to are in it, and what all are compared with."""
    (files / "new").mkdir()
    (files / "runs" / "A.run").rename(files / "new" / "A.run")
    code, out, _ = call("report", "qrels.txt", "new", "UniqueRel@2", "--to", "runs", "--output", "out.html")
    assert (code, out) == (0, "")
    data = data_of(files / "out.html")
    _, scores, _ = call("score", "qrels.txt", "new", "UniqueRel@2", "--to", "runs")
    assert scores.splitlines()[1] == f"A\t{data['means'][0][0]:.4f}"  # type: ignore[index]
    assert len(data["means"][0]) == 3  # type: ignore[index]


def test_without_the_extra(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    code, out, said = call(*ARGUMENTS, "--output", "out.html")
    assert (code, out) == (2, "") and "pip install 'ir-measures-relative[report]'" in said


def test_no_room(files: Path, call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    code, _, said = call(*ARGUMENTS, "--output", "out.html")
    assert code == 2
    assert "--output out.html: the report could not be written (No space left on device)" in said
    assert sorted(p.name for p in files.iterdir()) == ["qrels.txt", "runs"]
