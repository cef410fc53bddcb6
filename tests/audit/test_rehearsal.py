"""Rehearsals: coverage by simulation, with judges that are good, bad and worse."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from audited import CONTEXT, HUMAN, JUDGE
from ir_measures_relative import RunContext, audit, compare
from ir_measures_relative.io.qrels import qrels_columns


def test_columns_and_the_same_again() -> None:
    table = audit.simulate(CONTEXT, HUMAN, JUDGE, ["P(rel=2)@5", "UniqueRel(rel=2)@5"], [40, 20], repeats=5)
    assert repr(table).startswith("These topics, with human labels as truth\n")
    assert list(table.columns) == [
        "measure", "budget", "labels", "coverage", "worst", "half_width", "human_only", "ratio", "decided", "wrong",
        "saved",
    ]  # fmt: skip
    assert table["budget"].tolist() == [20, 20, 40, 40]
    again = audit.simulate(CONTEXT, HUMAN, JUDGE, ["P(rel=2)@5"], 20, repeats=5)
    first = table[table["measure"] == "P(rel=2)@5"].iloc[0]
    assert first["coverage"] >= 0.8 and 0 < again.loc[0, "half_width"] < 1
    assert table.loc[0, "half_width"] > table.loc[2, "half_width"]


def test_a_perfect_judge_saves_labels_and_a_useless_one_does_no_harm() -> None:
    perfect, useless = (
        audit.simulate(CONTEXT, HUMAN, judge, ["P(rel=2)@5"], [15, 25, 35], between=("a", "b"), repeats=60)
        for judge in (HUMAN, {q: dict.fromkeys(of, 1) for q, of in HUMAN.items()})
    )
    assert (perfect["ratio"] < 0.95).all() and perfect["saved"].dropna().gt(0).all()
    assert useless["ratio"].to_numpy() == pytest.approx(1.0) and (useless["coverage"] > 0.85).all()


def test_with_all_labels_every_verdict_is_right() -> None:
    found = audit.simulate(CONTEXT, HUMAN, JUDGE, ["P(rel=2)@5"], 10_000, repeats=1).iloc[0]
    apart = compare(CONTEXT, HUMAN, ["P(rel=2)@5"])["difference"] != 0
    assert found["decided"] == apart.mean() > 0 and found["wrong"] == 0
    assert found["coverage"] == found["worst"] == 1 and found["half_width"] == 0


def test_what_people_did_not_label_has_the_grade_0() -> None:
    few = {q: {d: g for d, g in of.items() if d < "d4"} for q, of in HUMAN.items()}
    zeros = {q: {d: few[q].get(d, 0) for d in of} for q, of in HUMAN.items()}
    one, other = (audit.simulate(CONTEXT, human, JUDGE, ["P@5"], 20, repeats=2) for human in (few, zeros))
    assert one.equals(other)


def test_topics_of_both_must_be_the_same() -> None:
    other = {q: of for q, of in HUMAN.items() if q != "q0"}
    with pytest.raises(ValueError, match="different topics"):
        audit.simulate(CONTEXT, other, JUDGE, ["P(rel=2)@5"], [20])


@pytest.mark.slow
@pytest.mark.parametrize("wrong", [0.3])
def test_intervals_hold_on_robust_with_noisy_judges(robust03_path: Path, wrong: float) -> None:
    """A judge that changes a known share of the labels; 95 % of the intervals hold the human difference."""
    runs = sorted((robust03_path / "runs").glob("*.gz"))[:4]
    columns = qrels_columns(str(robust03_path / "qrels.txt.gz"))
    human: dict[str, dict[str, int]] = {}
    for q, d, g in zip(*columns.ids(), columns.relevance, strict=True):
        human.setdefault(q, {})[d] = int(g)
    rng = np.random.default_rng(1)
    judge = {
        q: {d: int(rng.integers(0, 3)) if rng.random() < wrong else g for d, g in of.items()}
        for q, of in human.items()
    }
    context = RunContext.from_files(runs, grades=(0, 2))
    found = audit.simulate(context, human, judge, ["P@10", "UniqueRel@10"], [80], repeats=40)
    assert (found["coverage"] >= 0.92).all() and (found["worst"] >= 0.8).all()
    assert (found["wrong"] <= 0.05).all()


@pytest.mark.slow
@pytest.mark.parametrize("between", [None, ("ICT-BERT2", ["bm25base_p"])])
@pytest.mark.parametrize("inverted", [False, True])
def test_two_parts_hold_on_dl19(dl19_path: Path, between: Any, inverted: bool) -> None:
    """Two runs alone, whose ideal documents a bad judge does not name; and one run given the other."""
    path = dl19_path / "llm" / "gpt-4o.qrels.gz"
    if not path.exists():
        pytest.skip("the labels of language models are not here")
    columns = qrels_columns(str(path))
    judge: dict[str, dict[str, int]] = {}
    for q, d, g in zip(*columns.ids(), columns.relevance, strict=True):
        judge.setdefault(q, {})[d] = 3 - int(g) if inverted else int(g)
    context = RunContext.from_files(
        [dl19_path / "runs" / f"{n}.gz" for n in ("ICT-BERT2", "bm25base_p")], grades=(0, 3)
    )
    found = audit.simulate(
        context, dl19_path / "qrels.txt.gz", judge, ["NRG(norm='ideal')@10" if between else "nDCG@10"], [310, 617],
        between=between, topics=5, repeats=40,
    )  # fmt: skip
    assert (found["coverage"] >= 0.87).all()
