"""The page on the pictures: its code runs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

pytest.importorskip("matplotlib", reason="the pictures need matplotlib: the extra plot")
pytest.importorskip("pyterrier", reason="the page makes its context of pipelines: the extra pyterrier")

PAGE = Path(__file__).resolve().parents[2] / "docs" / "plots.md"


def test_the_code_of_the_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import matplotlib.pyplot as plt

    monkeypatch.chdir(tmp_path)
    plt.switch_backend("agg")
    names = ["BM25", "BM25+", "LSI 50", "tf-idf"]
    topics = pd.DataFrame({"qid": ["q1", "q2"], "query": ["one", "two"]})
    results = {
        name: topics.merge(
            pd.DataFrame({"docno": [f"d{i}", "d9", f"d{i + 1}"], "score": [3.0, 2.0, 1.0]}), how="cross"
        )
        for i, name in enumerate(names)
    }
    qrels = {"q1": {"d0": 1, "d2": 1, "d9": 1}, "q2": {"d1": 2, "d3": 1}}
    page: dict[str, Any] = {"pipelines": results, "topics": topics, "qrels": qrels}
    for block in re.findall(
        r"^```py\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
    ):
        exec(compile(block, str(PAGE), "exec"), page)
    assert list(page["table"]["name"]) == names and (tmp_path / "campaign.pdf").stat().st_size
    plt.close("all")
