"""What goes out to others: ranx's runs, LaTeX, ir_metadata."""

from __future__ import annotations

import json
from pathlib import Path

import ir_measures
import pandas as pd
import pytest
import yaml

from ir_measures_relative import RunContext, compare
from ir_measures_relative.formats.export import latex_table, to_latex, to_ranx, write_ir_metadata
from ir_measures_relative.io.runs import read_run
from kinds import QRELS, RUNS


def test_runs_of_ranx_rank_as_trec_eval_does() -> None:
    ranx = pytest.importorskip("ranx", reason="ranx is not installed")
    context = RunContext(RUNS)
    found = to_ranx(context)
    assert list(found) == list(RUNS) and all(run.name == name for name, run in found.items())
    for name, run in found.items():
        assert read_run(run).to_dict() == context.runs[name].to_dict()
        for query, docs in run.to_dict().items():
            assert docs == pytest.approx(RUNS[name][query], rel=1e-6)
            assert len(set(docs.values())) == len(docs)  # no ties
    judged = {q: docs for q, docs in QRELS.items() if q in RUNS["dense_ü"]}
    score = ranx.evaluate(ranx.Qrels(judged), found["dense_ü"], "map", make_comparable=True)
    assert score == pytest.approx(ir_measures.AP.calc_aggregate(judged, RUNS["dense_ü"]))


def lines_of(table: str) -> list[str]:
    return [" ".join(line.split()) for line in table.splitlines()]


def test_latex_has_the_best_in_bold_and_says_what_is_better() -> None:
    table = pd.DataFrame(
        {"name": ["BM25_a", "50%"], "nDCG@10": [0.25, 0.5], "NRG(p=.5)@10": [0.12345, 0.12349]}
    )
    rows = lines_of(to_latex(table, places=4))
    assert rows[2] == r"\# & Run & nDCG@10 & NRG(p=.5)@10 \\"
    assert rows[4] == r"a & BM25\_a & 0.2500 & 0.1235 \\" or r"\textbf{0.1235}" in rows[4]
    assert rows[5].startswith(r"b & 50\% & \textbf{0.5000} & \textbf{0.1235}")
    pairs = pd.DataFrame(
        {
            "name": ["BM25_a"] * 2,
            "other": ["50%"] * 2,
            "measure": ["nDCG@10", "NRG(p=.5)@10"],
            "difference": [-0.25, 0.0],
            "p_corrected": [0.01, 0.8],
        }
    )
    assert lines_of(to_latex(table, pairs))[5].startswith(r"b & 50\% & \textbf{0.500}$^{a}$ & ")
    assert "^{" not in to_latex(table, pairs, level=0.001)
    with pytest.raises(ValueError, match=r"the table has the columns \['x'\]; give one of context.evaluate"):
        to_latex(pd.DataFrame({"x": [1]}))
    with pytest.raises(ValueError, match="the comparisons lack measure, other, p_corrected"):
        to_latex(table, pairs[["name", "difference"]])


def test_latex_of_a_context() -> None:
    docs = [f"d{i}" for i in range(5)]
    good = {f"q{i}": {d: -float(j) for j, d in enumerate(docs)} for i in range(12)}
    bad = {q: {d: -s for d, s in run.items()} for q, run in good.items()}
    qrels = {q: {"d0": 1} | ({"d1": 1} if i % 3 else {}) for i, q in enumerate(good)}
    context = RunContext({"good": good, "bad": bad})
    measures = ["nDCG@10", "RR"]
    text = to_latex(
        context.evaluate(qrels, measures), compare(context, qrels, measures, test="t", correction=None)
    )
    assert r"a & good & \textbf{1.000}$^{b}$ & \textbf{1.000}$^{b}$ \\" in lines_of(text)


def test_latex_without_rows_has_its_columns() -> None:
    assert latex_table(["a", "b"], [], ["left", "right"]).startswith("\\begin{tabular}{lr}\n\\toprule\n")


def test_metadata_has_the_fingerprint(tmp_path: Path) -> None:
    context = RunContext(RUNS, reference="bm25-base")
    write_ir_metadata(context, tmp_path / "ir-metadata.yml", QRELS, ["NRG@10"])
    found = yaml.safe_load((tmp_path / "ir-metadata.yml").read_text("utf-8"))
    expected = json.loads(json.dumps(context.fingerprint(QRELS)))
    versions = expected.pop("versions")
    assert found["relative to"] == expected
    assert found["research goal"]["evaluation"] == {
        "reported measures": ["NRG@10"],
        "baseline": ["bm25-base"],
    }
    assert f"numpy=={versions['numpy']}" in found["platform"]["software"]["libraries"]["python"]
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        write_ir_metadata(context, tmp_path / "no" / "x.yml")
