"""Tables as LaTeX."""

from __future__ import annotations

import pandas as pd
import pytest

from ir_measures_relative import RunContext, compare
from ir_measures_relative.formats.export import latex_table, to_latex


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
