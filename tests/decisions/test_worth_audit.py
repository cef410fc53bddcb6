"""worth() with a language model's labels: a plan where the verdict is open, and the verdict by what people then say."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from ir_measures import Qrel

from ir_measures_relative import RunContext, worth
from ir_measures_relative.decisions import Worth
from ir_measures_relative.io.qrels import read_qrels_file

TOPICS = [f"q{i:02}" for i in range(30)]
BY = ["UniqueRel@4"]


def ranking(docs: str) -> dict[str, float]:
    return {d: -float(i) for i, d in enumerate(docs)}


OLD = {q: ranking("ABCD") for q in TOPICS}
NEW = {q: ranking("AVWX") for q in TOPICS}
KNOWN = {q: {"A": 1, "B": 1, "C": 0, "D": 0} for q in TOPICS}


def people(seed: int) -> dict[str, dict[str, int]]:
    """All labels that people would give: two in three of the new documents are relevant."""
    rng = np.random.default_rng(seed)
    return {q: KNOWN[q] | {d: int(rng.random() < 2 / 3) for d in "VWX"} for q in TOPICS}


TRUTH = people(0)
# Wrong on every fourth topic.
JUDGE = {q: {d: g if i % 4 else 1 - g for d, g in TRUTH[q].items()} for i, q in enumerate(TOPICS)}


def ask(qrels, **options) -> Worth:
    return worth(RunContext({"BM25": OLD}, grades=(0, 1)), qrels, NEW, **{"by": BY, "judge": JUDGE} | options)


def labelled(plan, truth=TRUTH, known=KNOWN):
    """The qrels with the labels that a plan asks for."""
    qrels = {q: dict(docs) for q, docs in known.items()}
    for row in plan[plan["ask"]].itertuples():
        qrels.setdefault(row.query_id, {})[row.doc_id] = truth[row.query_id][row.doc_id]
    return qrels


def test_an_open_verdict_has_a_plan() -> None:
    found = ask(KNOWN, budget=40, margin=1)
    assert (found.verdict, found.missing) == ("open", "labels")
    assert found.plan is not None and set(found.plan["doc_id"]) == set("VWX")
    asked = int(found.plan["ask"].sum())
    assert f"people label the {asked} documents of the plan" in found.text
    assert "about these topics, with human labels as truth" in found.text
    assert len(found.to_dict()["plan"]) == len(found.plan)
    assert ask(KNOWN, judge=None, margin=1).plan is None


def test_the_labels_of_the_plan_decide() -> None:
    plan = ask(KNOWN, budget=60, margin=1).plan
    found = ask(labelled(plan), plan=plan, margin=1)
    true_mean = np.mean([sum(TRUTH[q][d] for d in "VWX") for q in TOPICS])
    assert found.audit is not None
    row = found.audit.iloc[0]
    assert row["ci_lower"] <= true_mean <= row["ci_upper"]
    assert (found.verdict, found.missing) == ("adds", None)
    assert found.text.startswith(
        "On these 30 topics, with human labels as truth, the candidate adds more than 1 to BM25."
    )
    assert f"from {row['labels']} labels by people" in found.text
    assert ask(labelled(plan), plan=plan, margin=2.9).verdict == "adds nothing"
    assert ask(labelled(plan), plan=plan, margin=float(row["difference"])).missing == "labels"


def test_all_labels_make_it_exact() -> None:
    plan = ask(KNOWN, budget=1000, margin=1).plan
    row = ask(TRUTH, plan=plan).audit.iloc[0]
    truth = ask(TRUTH, judge=None).table.iloc[0]["mean"]
    assert row["difference"] == row["ci_lower"] == row["ci_upper"] == pytest.approx(truth, abs=1e-12)


def test_labels_outside_the_plan_do_not_count() -> None:
    plan = ask(KNOWN, budget=40, margin=1).plan
    one, other = (ask(qrels, plan=plan).audit for qrels in (labelled(plan), labelled(plan, known=TRUTH)))
    assert one.equals(other)


def test_without_any_judgments() -> None:
    found = ask(None, budget=1000)
    assert found.missing == "judgments" and len(found.plan) == 90
    assert ask(labelled(found.plan, known={}), plan=found.plan).verdict == "adds"
    with pytest.raises(ValueError, match="90 of the 90 labels that the plan asks for are missing"):
        ask(None, plan=found.plan)


def test_coverage() -> None:
    """A small simulation, over labels and plans: the interval holds what all human labels say."""
    held = []
    for seed in range(40):
        truth = people(seed)
        plan = ask(KNOWN, budget=40, margin=1, seed=seed).plan
        row = ask(labelled(plan, truth), plan=plan, resamples=199, time_limit=1).audit.iloc[0]
        mean = np.mean([sum(truth[q][d] for d in "VWX") for q in TOPICS])
        held.append(row["ci_lower"] <= mean <= row["ci_upper"])
    assert np.mean(held) >= 0.85  # of 40 at 95 %, fewer come once in 100


def test_a_measure_that_is_no_sum_has_no_plan() -> None:
    found = ask(KNOWN, budget=40, by=["NRG@4"])
    assert found.plan is None
    assert (
        "There is no plan by NRG@4: what a run adds by it is no sum of labels. Give UniqueRel first."
        in found.text
    )


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"judge": None, "budget": 3}, "budget= needs judge="),
        ({}, "judge= needs budget="),
        ({"budget": 3, "plan": "x"}, "and not both"),
        ({"budget": 0}, "budget"),
        ({"plan": "x", "by": ["NRG@4"]}, "There is no plan by NRG@4"),
    ],
)
def test_what_does_not_go_together(options, words) -> None:
    with pytest.raises(ValueError, match=words):
        ask(KNOWN, **options)


def test_missing_labels_are_refused_with_their_number() -> None:
    plan = ask(KNOWN, budget=40, margin=1).plan
    qrels = labelled(plan)
    first = plan[plan["ask"]].iloc[0]
    del qrels[first["query_id"]][first["doc_id"]]
    with pytest.raises(ValueError, match="1 of the .* labels that the plan asks for are missing"):
        ask(qrels, plan=plan)
    asked = int(plan["ask"].sum())
    with pytest.raises(ValueError, match=f"{asked} of the {asked} labels that the plan asks for are missing"):
        ask(KNOWN, plan=plan)


def test_a_settled_verdict_has_no_plan(tmp_path: Path) -> None:
    assert ask(TRUTH, budget=40).plan is None


def test_dl19_with_half_of_the_labels(dl19_path: Path) -> None:
    """The audited interval holds what all labels say, of a real run, a real judge and real people."""
    runs = [dl19_path / "runs" / f"{name}.gz" for name in ("bm25base_p", "TUW19-p3-f")]
    found = {path.name.partition(".")[0]: path for path in (dl19_path / "runs").iterdir()}
    runs = [found[path.name.partition(".")[0]] for path in runs]
    context = RunContext.from_files(runs, grades=(0, 3))
    deployed, candidate = context.names
    qrels = read_qrels_file(dl19_path / "qrels.txt.gz").columns
    queries, docs = qrels.ids()
    every = list(zip(queries, docs, qrels.relevance.tolist(), strict=True))
    half = [Qrel(*row) for row in every[::2]]
    options = {"by": ["UniqueRel(rel=2)@10"], "judge": dl19_path / "llm" / "gpt-4o.qrels.gz", "margin": 2.5}
    plan = worth(context, half, candidate, **options, budget=100).plan
    assert plan is not None
    asked = set(map(tuple, plan.loc[plan["ask"], ["query_id", "doc_id"]].to_numpy()))
    whole = half + [Qrel(*row) for row in every[1::2] if row[:2] in asked]
    answer = worth(context, whole, candidate, **options, plan=plan)
    assert answer.text.startswith("On these 43 topics, with human labels as truth")
    truth = context.evaluate([Qrel(*row) for row in every], options["by"]).set_index("name").iloc[:, 0]
    row = answer.audit.iloc[0]
    assert row["ci_lower"] <= truth[candidate] <= row["ci_upper"] and row["ci_upper"] - row["ci_lower"] < 2
    assert deployed == row["other"]
