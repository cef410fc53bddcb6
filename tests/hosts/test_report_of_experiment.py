"""``pt.relative.Experiment(…, report=path)``."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

pt = pytest.importorskip("pyterrier", reason="needs PyTerrier, of the extra [pyterrier]")
pytest.importorskip("jinja2", reason="the report needs Jinja2, of the extra [report]")
pytest.importorskip("vl_convert", reason="the report needs vl-convert, of the extra [report]")

# Tiny campaigns: the section on unjudged documents asks which grades there are.
pytestmark = pytest.mark.filterwarnings("ignore:only .* documents are judged relevant")

TOPICS = pd.DataFrame({"qid": ["1", "2"], "query": ["tea", "milk"]})
QRELS = pd.DataFrame(
    {"qid": ["1", "1", "2", "3"], "docno": ["a", "b", "a", "z"], "label": [1, 0, 1, 1]},
)


def ranking(*docnos: str) -> pd.DataFrame:
    rows = [(qid, d, -float(i), i, f"text of {d}") for qid in ("1", "2") for i, d in enumerate(docnos)]
    return pd.DataFrame(rows, columns=["qid", "docno", "score", "rank", "text"])


SYSTEMS = {"one": ranking("a", "c"), "two": ranking("d", "a")}


def data_of(path: Path) -> dict[str, Any]:
    match = re.search(r'id="data">(.*?)</script>', path.read_text(encoding="utf-8"))
    assert match
    return dict(json.loads(match[1]))


def test_the_same_numbers(tmp_path: Path) -> None:
    path = tmp_path / "experiment.html"
    metrics = ["map", "NRG@2", "mrt"]
    found = pt.relative.Experiment(SYSTEMS, TOPICS, QRELS, metrics, report=path)
    pd.testing.assert_frame_equal(
        found.drop(columns="mrt"), pt.relative.Experiment(SYSTEMS, TOPICS, QRELS, metrics[:2])
    )
    data = data_of(path)
    assert [m["name"] for m in data["measures"]] == ["AP", "NRG@2"]
    assert data["means"] == [pytest.approx(found[c].tolist(), abs=1e-5) for c in ("map", "NRG@2")]
    assert [(t["id"], t["query"]) for t in data["topics"]] == [("1", "tea"), ("2", "milk")]
    about = data["documents"]
    assert dict(zip(about["docs"], about["texts"], strict=True)) == {d: f"text of {d}" for d in "acd"}


def test_looked_at_before_anything_runs(tmp_path: Path) -> None:
    def never(frame: pd.DataFrame) -> pd.DataFrame:
        raise AssertionError

    pipelines = {"one": pt.apply.generic(never), "two": ranking("a")}
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        pt.relative.Experiment(pipelines, TOPICS, QRELS, ["NRG@2"], report=tmp_path / "none" / "x.html")


def test_of_a_context(tmp_path: Path) -> None:
    context = pt.relative.RunContext(SYSTEMS)
    assert pt.relative.report(context, QRELS[:3], ["NRG@2"], tmp_path / "x.html") == tmp_path / "x.html"
