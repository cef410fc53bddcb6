"""Estimates: unbiased over all samples, as the formulas say, and exact where every label is known."""

from __future__ import annotations

import itertools
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from audited import CONTEXT, DOCS, HUMAN, JUDGE, RUNS, TOPICS, labels_of
from drawn import times
from ir_measures_relative import RunContext, audit, compare
from ir_measures_relative.audit.sampling import Sample, chances, estimated_sums, reach, within
from ir_measures_relative.io.qrels import qrels_columns
from oracles import audit as oracle

TINY = [
    oracle.Doc(topic, cell, Fraction(*weight), Fraction(*chance), Fraction(*gain))
    for topic, cell, weight, chance, gain in [
        (0, 0, (1, 5), (1, 2), (1, 1)),
        (0, 1, (-1, 3), (2, 3), (0, 1)),
        (1, 0, (2, 5), (1, 3), (1, 3)),
        (1, 1, (1, 7), (1, 1), (1, 1)),
        (2, 0, (-3, 5), (3, 4), (0, 1)),
        (2, 1, (1, 2), (1, 5), (2, 3)),
    ]
]


def test_unbiased_over_all_samples_in_exact_fractions() -> None:
    mean, every = Fraction(0), range(len(TINY))
    for size in range(len(TINY) + 1):
        for sample in itertools.combinations(every, size):
            chance = Fraction(1)
            for d in every:
                chance *= TINY[d].chance if d in sample else 1 - TINY[d].chance
            if chance:
                mean += chance * oracle.estimated(TINY, sample)
    assert mean == sum(doc.weight * doc.gain for doc in TINY)


def test_estimates_and_variances_are_the_oracles() -> None:
    query, cell = (np.array([getattr(doc, name) for doc in TINY]) for name in ("topic", "cell"))
    weight, chance, gain = (
        np.array([float(getattr(doc, name)) for doc in TINY]) for name in ("weight", "chance", "gain")
    )
    for asked in itertools.product((False, True), repeat=len(TINY)):
        sample = [d for d, is_asked in enumerate(asked) if is_asked]
        seen = np.where(asked, gain, 0.0)  # nothing else is known
        found = estimated_sums(weight[None], seen, Sample(query, 3, chance, np.array(asked)), cell)
        assert found.by_query.sum() == pytest.approx(float(oracle.estimated(TINY, sample)), abs=1e-12)
        assert found.variance[0] == pytest.approx(oracle.variance(TINY, sample), abs=1e-12)


@pytest.mark.parametrize("budget", [1, 3, 6])
def test_chances_add_up_to_the_budget(budget: int) -> None:
    score = np.array([0.5, 0.0, 4.0, 0.1, 0.1, 2.0, 0.01, 1.0])
    assert chances(score, budget) == pytest.approx(oracle.chances(score.tolist(), budget), abs=1e-9)
    assert chances(score, budget).sum() == pytest.approx(budget)
    assert chances(score, 9).tolist() == [1, 0, 1, 1, 1, 1, 1, 1]


LINEAR = ["P(", "UniqueRel(", "NRG(base='P',", "NRG(base='RBP',", "Shapley(", "P_Rareness("]


@pytest.mark.parametrize(
    "measure", [*(f"{name}rel=2)@5" for name in LINEAR), "NRG(norm=None,gains={0:1,2:3})@5"]
)
def test_with_all_labels_it_is_compare_to_the_last_digits(measure: str) -> None:
    plan = audit.plan(CONTEXT, JUDGE, [measure], 10_000)
    assert plan["ask"].all() and (plan["probability"] == 1).all()
    found = audit.estimate(CONTEXT, plan, labels_of(plan), JUDGE, [measure])
    expected = compare(CONTEXT, HUMAN, [measure], test="t", correction=None)
    assert found["difference"].to_numpy() == pytest.approx(expected["difference"].to_numpy(), abs=1e-12)
    assert (found["ci_upper"] == found["ci_lower"]).all() and (found["human_only"] == 0).all()
    assert found["judge_alone"].to_numpy() == pytest.approx(
        compare(CONTEXT, JUDGE, [measure], test="t", correction=None)["difference"].to_numpy(), abs=1e-12
    )
    like = audit.estimate(CONTEXT, plan, labels_of(plan), JUDGE, [measure], like_these=True)
    # Topics are then all there is to draw, and Student's interval says so.
    ends = ["ci_lower", "ci_upper"]
    assert like[ends].to_numpy() == pytest.approx(expected[ends].to_numpy(), abs=1e-9)


@pytest.mark.parametrize("measure", ["RBP(rel=2)@5", "SDCG(max_rel=3)@5", "DCG@5"])
def test_with_all_labels_others_are_their_sums(measure: str) -> None:
    plan = audit.plan(CONTEXT, JUDGE, [measure], 10_000)
    found = audit.estimate(CONTEXT, plan, labels_of(plan), JUDGE, [measure])
    scored = "SDCG(max_rel=3)@5" if measure == "DCG@5" else measure  # over the DCG of five of grade 3
    table = {(q, d): g for q, of in HUMAN.items() for d, g in of.items()}

    def value(run: dict[str, dict[str, float]]) -> float:
        total = 0.0
        for q, docs in run.items():
            for i, d in enumerate(sorted(docs, key=docs.__getitem__, reverse=True)[:5], 1):
                if scored.startswith("RBP"):
                    total += 0.2 * 0.8 ** (i - 1) * (table[q, d] >= 2)
                else:
                    total += table[q, d] / 3 / np.log2(i + 1) / sum(1 / np.log2(j + 1) for j in range(1, 6))
        return total / len(run)

    own = [value(RUNS[a]) - value(RUNS[b]) for a, b in itertools.combinations(RUNS, 2)]
    assert found["difference"].to_numpy() == pytest.approx(own, abs=1e-12)
    assert set(found["measure"]) == {measure}


@pytest.mark.parametrize("measure", ["nDCG@5", "NRG@5", "NRG(norm='ideal')@5", "Shapley(base='nDCG')@5"])
def test_topics_in_full_are_the_measure_itself(measure: str) -> None:
    plan = audit.plan(CONTEXT, JUDGE, [measure], 10_000, topics=len(TOPICS), depth=5)
    found = audit.estimate(CONTEXT, plan, labels_of(plan), JUDGE, [measure])
    assert repr(found).startswith(
        "These topics, with human judgments as the target; ideal rankings from the top 5 of the runs\n"
    )
    assert (found["ci_upper"] - found["ci_lower"]).max() == pytest.approx(0, abs=1e-12)
    for column, labels in ("difference", HUMAN), ("judge_alone", JUDGE):
        top = {
            q: {d: g for d, g in of.items() if any(run[q].get(d, 0) > 3 for run in RUNS.values())}
            for q, of in labels.items()
        }
        expected = compare(CONTEXT, top, [measure], test="t", correction=None)
        assert found[column].to_numpy() == pytest.approx(expected["difference"].to_numpy(), abs=1e-9)


def test_topics_like_these_vary_as_their_parts_do_together() -> None:
    """Where one document is relevant its run gains more than its DCG says; that is part of the variance, too."""
    human = {q: {d: int(d == "d0" or i >= 4) for d in DOCS} for i, q in enumerate(TOPICS)}
    first, last = ({q: {d: sign * n for n, d in enumerate(DOCS)} for q in TOPICS} for sign in (-1.0, 1.0))
    context = RunContext({"first": first, "last": last}, grades=(0, 1))
    plan = audit.plan(context, human, ["nDCG@5"], 10_000, topics=len(TOPICS), depth=100)
    found = audit.estimate(context, plan, labels_of(plan, human), human, ["nDCG@5"], like_these=True).iloc[0]
    student = compare(context, human, ["nDCG@5"], test="t").iloc[0]
    assert found["difference"] == pytest.approx(student["difference"]) == 0.5
    ratio = (found["ci_upper"] - found["ci_lower"]) / (student["ci_upper"] - student["ci_lower"])
    assert 0.9 < ratio < 1.02, ratio  # of the same variance; the parts have more degrees of freedom


@pytest.mark.parametrize("topics", [0, 4])
def test_the_mean_over_many_plans_is_the_truth(topics: int) -> None:
    measure = "nDCG@5" if topics else "P(rel=2)@5"
    truth = compare(CONTEXT, HUMAN, [measure], test="t", correction=None).set_index(["name", "other"])
    values, held = [], []
    for seed in range(times(20)):
        budget = 75 if topics else 25
        plan = audit.plan(
            CONTEXT, JUDGE, [measure], budget, between=("a", "b"), topics=topics, depth=12, seed=seed
        )
        row = audit.estimate(CONTEXT, plan, labels_of(plan), JUDGE, [measure], ("a", "b")).iloc[0]
        values.append(row["difference"])
        held.append(row["ci_lower"] <= truth.loc[("a", "b"), "difference"] <= row["ci_upper"])
    error = np.std(values) / len(values) ** 0.5
    assert abs(np.mean(values) - truth.loc[("a", "b"), "difference"]) < 4 * error
    assert np.mean(held) >= 0.9


@pytest.mark.parametrize("judge", [JUDGE, {q: {d: 3 - g for d, g in of.items()} for q, of in JUDGE.items()}])
def test_no_judge_says_what_the_ideal_is(judge: dict[str, dict[str, int]]) -> None:
    pair = RunContext({name: RUNS[name] for name in "ab"}, grades=(0, 3))
    found = audit.simulate(pair, HUMAN, judge, ["nDCG@3"], [60], topics=4, depth=5, repeats=50).iloc[0]
    assert found["coverage"] >= 0.9


def test_one_run_against_fixed_priors() -> None:
    between = ("a", ["b", "c"])
    plan = audit.plan(CONTEXT, JUDGE, ["UniqueRel(rel=2)@5"], 10_000, between=between)
    found = audit.estimate(CONTEXT, plan, labels_of(plan), JUDGE, ["UniqueRel(rel=2)@5"], between)
    expected = RunContext(RUNS, priors=["b", "c"]).evaluate(HUMAN, ["UniqueRel(rel=2)@5"])
    assert found.loc[0, "difference"] == pytest.approx(expected.set_index("name").iloc[0, 0], abs=1e-12)
    assert found.loc[0, "other"] == "b,c"


def test_simultaneous_intervals_are_wider() -> None:
    plan = audit.plan(CONTEXT, JUDGE, ["P(rel=2)@5"], 40)
    one, all_at_once = (
        audit.estimate(CONTEXT, plan, labels_of(plan), JUDGE, ["P(rel=2)@5"], simultaneous=s)
        for s in (False, True)
    )
    width = [(table["ci_upper"] - table["ci_lower"]).to_numpy() for table in (one, all_at_once)]
    assert (width[1] > width[0]).all()
    assert (one["difference"] == all_at_once["difference"]).all()
    shared = audit.estimate(CONTEXT, plan, labels_of(plan), JUDGE, ["P(rel=2)@5"], ("a", "c")).iloc[0]
    same = one[(one["name"] == "a") & (one["other"] == "c")].iloc[0]
    assert shared["difference"] == pytest.approx(same["difference"], abs=1e-12)


def test_what_is_printed_first() -> None:
    plan = audit.plan(CONTEXT, JUDGE, ["P(rel=2)@5"], 40)
    found = audit.estimate(CONTEXT, plan, labels_of(plan), JUDGE, ["P(rel=2)@5"])
    for table in (plan, found, found[["name", "ci_lower"]]):
        assert repr(table).startswith("These topics, with human judgments as the target\n")
        assert "<p>These topics, with human judgments as the target</p>" in table._repr_html_()
    like = audit.estimate(CONTEXT, plan, labels_of(plan), JUDGE, ["P(rel=2)@5"], like_these=True)
    assert repr(like).startswith("Topics like these, with human judgments as the target\n")
    assert (like["ci_upper"] - like["ci_lower"] >= found["ci_upper"] - found["ci_lower"] - 1e-12).all()


def test_documents_without_a_label_of_the_judge_are_a_cell_and_not_zeros() -> None:
    half = {q: {d: g for d, g in of.items() if d < "d5"} for q, of in JUDGE.items()}
    everything = {q: dict.fromkeys(of, 3) for q, of in HUMAN.items()}
    plan = audit.plan(CONTEXT, half, ["P(rel=2)@5"], 30, between=("a", "b"))
    unknown = plan[~plan["doc_id"].isin([d for d in DOCS if d < "d5"])]
    assert len(unknown) and unknown["ask"].any()
    labels = labels_of(plan, everything)
    found = audit.estimate(CONTEXT, plan, labels, half, ["P(rel=2)@5"], ("a", "b")).iloc[0]
    assert (
        found["ci_lower"] <= 0 <= found["ci_upper"]
        and abs(found["difference"]) < abs(found["judge_alone"]) + 0.1
    )
    alone = compare(RunContext({name: RUNS[name] for name in "ab"}), half, ["P(rel=2)@5"], test="t")
    assert found["judge_alone"] == pytest.approx(alone.loc[0, "difference"], abs=1e-12)


def test_a_function_as_the_judge_is_asked_once_and_may_not_know() -> None:
    asked: list[tuple[str, str]] = []

    def judge(query_id: str, doc_id: str) -> int | None:
        asked.append((query_id, doc_id))
        return JUDGE[query_id].get(doc_id) if doc_id < "d5" else None

    known = {q: {d: g for d, g in of.items() if d < "d5"} for q, of in JUDGE.items()}
    plan = audit.plan(CONTEXT, judge, ["P(rel=2)@5"], 30)
    pd.testing.assert_frame_equal(plan, audit.plan(CONTEXT, known, ["P(rel=2)@5"], 30))
    asked.clear()
    found = audit.estimate(CONTEXT, plan, labels_of(plan), judge, ["P(rel=2)@5"])
    assert len(asked) == len(set(asked))
    pd.testing.assert_frame_equal(
        found, audit.estimate(CONTEXT, plan, labels_of(plan), known, ["P(rel=2)@5"])
    )


class TestStrangeCampaigns:
    def test_copies_are_equal(self) -> None:
        context = RunContext({"a": RUNS["a"], "copy": RUNS["a"], "b": RUNS["b"]}, grades=(0, 3))
        plan = audit.plan(context, JUDGE, ["P(rel=2)@5"], 20)
        found = audit.estimate(context, plan, labels_of(plan), JUDGE, ["P(rel=2)@5"]).iloc[0]
        assert found[["difference", "ci_lower", "ci_upper", "verdict"]].tolist() == [0, 0, 0, "equal"]
        nothing = audit.plan(context, JUDGE, ["P(rel=2)@5"], 20, between=("a", "copy"))
        assert len(nothing) == 0
        alone = audit.estimate(context, nothing, {}, JUDGE, ["P(rel=2)@5"], ("a", "copy"))
        assert alone.loc[0, "verdict"] == "equal" and alone.loc[0, "labels"] == 0

    @pytest.mark.parametrize("budget", [1, 2])
    def test_next_to_no_label_leaves_it_open(self, budget: int) -> None:
        for seed in range(8):
            plan = audit.plan(CONTEXT, JUDGE, ["P(rel=2)@5"], budget, between=("a", "b"), seed=seed)
            row = audit.estimate(CONTEXT, plan, labels_of(plan), JUDGE, ["P(rel=2)@5"], ("a", "b")).iloc[0]
            assert (
                row["verdict"] == "open"
                and -1 <= row["ci_lower"] <= row["difference"] <= row["ci_upper"] <= 1
            )

    @pytest.mark.parametrize("grade", [0, 3])
    def test_labels_that_are_all_alike_are_no_proof(self, grade: int) -> None:
        same = {q: dict.fromkeys(of, grade) for q, of in HUMAN.items()}
        truth = compare(CONTEXT, same, ["P(rel=2)@5"], test="t", correction=None)["difference"]
        plan = audit.plan(CONTEXT, same, ["P(rel=2)@5"], 30)
        found = audit.estimate(CONTEXT, plan, labels_of(plan, same), same, ["P(rel=2)@5"])
        assert (found["ci_lower"] <= truth + 1e-12).all() and (truth - 1e-12 <= found["ci_upper"]).all()
        assert (found["ci_upper"] > found["ci_lower"]).all()

    def test_topics_of_one_document_and_one_topic(self) -> None:
        runs = {"a": {q: {"A": 1.0} for q in TOPICS}, "b": {q: {"B": 1.0} for q in TOPICS}}
        judge = {q: {"A": 1, "B": 0} for q in TOPICS}
        context = RunContext(runs)
        plan = audit.plan(context, judge, ["P@1"], 8)
        found = audit.estimate(context, plan, labels_of(plan, judge), judge, ["P@1"])
        assert found.loc[0, "ci_lower"] <= 1 <= found.loc[0, "ci_upper"]
        one = RunContext({name: {"q0": run["q0"]} for name, run in RUNS.items()})
        plan = audit.plan(one, {"q0": JUDGE["q0"]}, ["P(rel=2)@5"], 5)
        assert len(audit.estimate(one, plan, labels_of(plan), {"q0": JUDGE["q0"]}, ["P(rel=2)@5"])) == 6
        with pytest.raises(ValueError, match="like_these=True needs two topics"):
            audit.estimate(one, plan, labels_of(plan), {"q0": JUDGE["q0"]}, ["P(rel=2)@5"], like_these=True)


def test_half_widths_add_up_by_satterthwaites_rule() -> None:
    one = reach([(np.array([4.0]), np.array([9.0]))], 0.95)
    assert one == pytest.approx(2 * 2.2622, abs=1e-3)
    both = reach([(np.array([4.0]), np.array([9.0])), (np.array([4.0]), np.array([9.0]))], 0.95)
    assert both == pytest.approx(8**0.5 * 2.1009, abs=1e-3)  # 18 degrees of freedom
    assert np.isinf(reach([(np.array([1.0]), np.array([0.0]))], 0.95)).all()
    assert reach([(np.array([0.0]), np.array([-1.0]))], 0.95) == 0.0
    assert within(np.array([2.0]), np.array([0.5]), np.array([-1.0]), np.array([1.0])) == (-1.0, 1.0)


def test_columns_and_the_same_again() -> None:
    table = audit.simulate(CONTEXT, HUMAN, JUDGE, ["P(rel=2)@5", "UniqueRel(rel=2)@5"], [40, 20], repeats=5)
    assert repr(table).startswith("These topics, with human judgments as the target\n")
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
        audit.simulate(CONTEXT, HUMAN, judge, ["P(rel=2)@5"], [15, 25, 35], between=("a", "b"), repeats=25)
        for judge in (HUMAN, {q: dict.fromkeys(of, 1) for q, of in HUMAN.items()})
    )
    assert (perfect["ratio"] < 0.95).all() and perfect["saved"].dropna().gt(0).all()
    assert useless["ratio"].to_numpy() == pytest.approx(1.0) and (useless["coverage"] > 0.85).all()


def test_with_all_labels_every_verdict_is_right() -> None:
    found = audit.simulate(CONTEXT, HUMAN, JUDGE, ["P(rel=2)@5"], 10_000, repeats=1).iloc[0]
    apart = compare(CONTEXT, HUMAN, ["P(rel=2)@5"])["difference"] != 0
    assert found["decided"] == apart.mean() > 0 and found["wrong"] == 0
    assert found["coverage"] == found["worst"] == 1 and found["half_width"] == 0


def test_the_worst_is_one_comparison_over_the_repeats() -> None:
    found = audit.simulate(CONTEXT, HUMAN, JUDGE, ["P(rel=2)@5"], 20, repeats=7, confidence=0.5).iloc[0]
    assert (
        found["worst"] * 7 == pytest.approx(round(found["worst"] * 7))
        and 0 < found["worst"] < found["coverage"]
    )


def test_topics_of_both_must_be_the_same() -> None:
    other = {q: of for q, of in HUMAN.items() if q != "q0"}
    with pytest.raises(ValueError, match="different topics"):
        audit.simulate(CONTEXT, other, JUDGE, ["P(rel=2)@5"], [20])
    with pytest.raises(ValueError, match="budgets is empty"):
        audit.simulate(CONTEXT, HUMAN, JUDGE, ["P(rel=2)@5"], [])


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
        between=between, topics=5, repeats=15,
    )  # fmt: skip
    assert (found["coverage"] >= 0.87).all()
