"""Plans: what they ask for, that they can be drawn anew, and what is refused."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from audited import CONTEXT, HUMAN, JUDGE, RUNS, TOPICS, labels_of
from ir_measures_relative import RunContext, audit
from ir_measures_relative.audit.sampling import chances, draw_order
from ir_measures_relative.bounding import judge_next
from ir_measures_relative.context.priors import BestOfOtherGroups
from oracles import audit as oracle

P, UNIQUE = ["P(rel=2)@5"], ["UniqueRel@5"]
OF_GROUPS = RunContext(RUNS, priors=BestOfOtherGroups(), groups={n: n for n in RUNS})


def test_chances_go_by_weights_and_by_the_judge() -> None:
    plan = audit.plan(CONTEXT, JUDGE, P, 20, between=("a", "b"))
    rankings = [
        {q: sorted(docs, key=docs.__getitem__, reverse=True) for q, docs in RUNS[name].items()}
        for name in ("a", "b")
    ]
    weights = {ids: w for ids, w in oracle.precision_weights(*rankings, 5).items() if w}
    assert set(zip(plan["query_id"], plan["doc_id"], strict=True)) == set(weights)  # no other label matters
    chance = {g: 0.05 + 0.75 * g / 3 for g in range(4)}
    score = {
        (q, d): float(abs(w)) * ((chance[JUDGE[q][d]] * (1 - chance[JUDGE[q][d]])) ** 0.5 + 0.1)
        for (q, d), w in weights.items()
    }
    expected = dict(zip(score, oracle.chances(list(score.values()), 20), strict=True))
    own = zip(plan["query_id"], plan["doc_id"], plan["probability"], strict=True)
    assert {(q, d): p for q, d, p in own} == pytest.approx(expected, abs=1e-9)
    unequal = RunContext({"a": {"q": {"A": 2.0, "B": 1.0}}, "b": {"q": {"X": 2.0}}})
    found = audit.plan(unequal, {"q": dict.fromkeys("ABX", 1)}, ["RBP(rel=1,p=0.5)@2"], 1).set_index("doc_id")
    assert found["probability"][list("ABX")].tolist() == pytest.approx([0.4, 0.2, 0.4])


def test_what_is_asked_for_comes_up_as_often_as_its_chance() -> None:
    plans = [
        audit.plan(CONTEXT, JUDGE, P, 20, between=("a", "b"), seed=seed).sort_values(["query_id", "doc_id"])
        for seed in range(60)
    ]
    share = np.mean([plan["ask"] for plan in plans], axis=0)
    chance = plans[0]["probability"].to_numpy()
    assert (np.abs(share - chance) < 4.5 * np.sqrt(chance * (1 - chance) / 60) + 1e-9).all()
    counts = [plan["ask"].sum() for plan in plans]
    assert set(counts) == {20}


@pytest.mark.parametrize("budget", [1, 2, 7, 60, 10_000])
def test_a_budget_is_what_people_are_asked_for(budget: int) -> None:
    for seed in range(10):
        plan = audit.plan(CONTEXT, JUDGE, P, budget, seed=seed)
        assert plan["ask"].sum() == min(budget, len(plan))
        drawn = plan["probability"].sum()
        assert drawn == pytest.approx(min(budget, len(plan)))


@pytest.mark.parametrize("n", [1, 3, 20])
def test_documents_are_drawn_with_their_chances(n: int) -> None:
    chance = chances(np.random.default_rng(n).lognormal(size=2 * n + 4), n)
    ids, maybe = list(map(str, range(len(chance)))), np.flatnonzero(chance < 1)
    drawn = np.zeros(len(chance))
    for seed in range(1500):
        order = np.argsort(draw_order(seed, [[ids[i] for i in maybe]], chance[maybe]))
        drawn[maybe[order[: round(chance[maybe].sum())]]] += 1 / 1500
    drawn[chance == 1] = 1
    assert np.abs(drawn - chance).max() < 0.02 * chance.max() + 4 * (0.25 / 1500) ** 0.5


def test_a_larger_budget_asks_for_more_of_the_same() -> None:
    few, many = (audit.plan(CONTEXT, JUDGE, P, budget, seed=3) for budget in (10, 30))
    asked = [set(zip(p["query_id"][p["ask"]], p["doc_id"][p["ask"]], strict=True)) for p in (few, many)]
    assert asked[0] < asked[1]
    backwards = {q: dict(reversed(of.items())) for q, of in reversed(JUDGE.items())}
    again = audit.plan(CONTEXT, backwards, P, 10, seed=3)
    order = ["query_id", "doc_id"]
    pd.testing.assert_frame_equal(
        *(pd.DataFrame(p).sort_values(order, ignore_index=True) for p in (few, again))
    )


def test_one_plan_for_several_measures_counts_each_alike() -> None:
    alone = audit.plan(CONTEXT, JUDGE, ["UniqueRel(rel=2)@5"], 10)
    both = audit.plan(CONTEXT, JUDGE, ["UniqueRel(rel=2)@5", "NRG(base='P',rel=2)@5"], 10)
    assert both["probability"].to_numpy() == pytest.approx(alone["probability"].to_numpy())
    # UniqueRel@5 is five times NRG of base P: beside a third measure it counts no more for that.
    five, one = (
        audit.plan(CONTEXT, JUDGE, [m, "P(rel=2)@2"], 10)
        for m in ("UniqueRel(rel=2)@5", "NRG(base='P',rel=2)@5")
    )
    assert five["probability"].to_numpy() == pytest.approx(one["probability"].to_numpy())
    found = audit.estimate(CONTEXT, both, labels_of(both), JUDGE, ["UniqueRel(rel=2)@5"], ("a", "b"))
    assert found.loc[0, "ci_lower"] < found.loc[0, "ci_upper"]


def test_topics_in_full() -> None:
    plan = audit.plan(CONTEXT, JUDGE, ["nDCG@5"], 50, between=("a", "b"), topics=3, depth=7)
    certain = plan[plan["probability"] == 1].groupby("query_id")["doc_id"].agg(set)
    tops = {q: {d for run in RUNS.values() for d, score in run[q].items() if score > 1} for q in TOPICS}
    assert sum(certain[q] == tops[q] for q in certain.index) == 3
    assert plan["probability"].sum() == pytest.approx(50)
    assert plan["ask"].tolist() == sorted(plan["ask"], reverse=True)  # what to label comes first


class TestAcrossFiles:
    def test_a_table_that_was_written_and_read(self, tmp_path: Path) -> None:
        plan = audit.plan(CONTEXT, JUDGE, P, 30, seed=7)
        expected = audit.estimate(CONTEXT, plan, labels_of(plan), JUDGE, P)
        plan.to_csv(tmp_path / "plan.csv", index=False)
        read = pd.read_csv(tmp_path / "plan.csv")
        with pytest.raises(ValueError, match="made with None.*give the table of audit.plan, or its path="):
            audit.estimate(CONTEXT, read, labels_of(plan), JUDGE, P)
        read.attrs = plan.attrs
        renamed = read.sample(frac=1, random_state=0).rename(columns={"query_id": "qid", "doc_id": "docno"})
        pd.testing.assert_frame_equal(audit.estimate(CONTEXT, renamed, labels_of(plan), JUDGE, P), expected)

    def test_the_pool_and_what_stands_beside_it(self, tmp_path: Path) -> None:
        path = tmp_path / "pool.txt"
        plan = audit.plan(CONTEXT, JUDGE, ["nDCG@5"], 60, topics=3, depth=10, seed=5, path=path)
        asked = plan[plan["ask"]]
        assert path.read_text().split() == [x for row in asked.itertuples(index=False) for x in row[:2]]
        expected = audit.estimate(CONTEXT, plan, labels_of(plan), JUDGE, ["nDCG@5"])
        for given in (path, str(path) + ".plan.csv"):
            found = audit.estimate(CONTEXT, given, labels_of(plan), JUDGE, ["nDCG@5"])
            pd.testing.assert_frame_equal(found, expected)
        several = [("a", ["b", "c"]), ("c", "d")]
        plan = audit.plan(CONTEXT, JUDGE, P, 30, between=several, path=path)
        found = audit.estimate(CONTEXT, path, labels_of(plan), JUDGE, P, several)
        assert found["other"].tolist() == ["b,c", "d"]
        assert len(audit.estimate(CONTEXT, path, labels_of(plan), JUDGE, P, ("c", "d"))) == 1
        with pytest.raises(FileNotFoundError, match="no such file"):
            audit.estimate(CONTEXT, tmp_path / "other", {}, JUDGE, P)
        with pytest.raises(FileNotFoundError, match="no folder"):
            audit.plan(CONTEXT, JUDGE, P, 10, path=tmp_path / "none" / "pool")


class TestChanged:
    PLAN = audit.plan(CONTEXT, JUDGE, P, 30)

    def refused(
        self, message: str, plan: pd.DataFrame | None = None, labels: Any = None, **others: Any
    ) -> None:
        plan = self.PLAN if plan is None else plan
        labels = labels_of(self.PLAN) if labels is None else labels
        arguments = {"context": CONTEXT, "judge": JUDGE, "measures": P} | others
        with pytest.raises(ValueError, match=message):
            audit.estimate(plan=plan, labels=labels, **arguments)

    def test_by_hand(self) -> None:
        for change in ("ask", "probability", "row", "added"):
            plan = self.PLAN.copy()
            if change == "ask":
                plan.loc[plan.index[3], "ask"] = not plan["ask"][3]
            elif change == "probability":
                plan.loc[3, "probability"] *= 0.99
            elif change == "row":
                plan = plan.drop(index=[3])
            else:
                plan.loc[len(plan)] = ["q0", "other", 1.0, True]
            plan.attrs = dict(self.PLAN.attrs)
            self.refused(r"the plan differs in \d+ documents from audit.plan", plan)
        twice = pd.concat([self.PLAN, self.PLAN[:2]])
        self.refused("2 documents stand in the plan twice", twice)

    def test_other_runs_or_another_judge(self) -> None:
        others = RunContext({**RUNS, "a": RUNS["b"]}, grades=(0, 3))
        self.refused("the plan differs in", context=others)
        self.refused("the plan differs in", judge=HUMAN)

    def test_labels_that_are_missing_or_too_many(self) -> None:
        labels = labels_of(self.PLAN)
        hard = {q: {d: g for d, g in of.items() if g == JUDGE[q][d]} for q, of in labels.items()}
        skipped = sum(map(len, labels.values())) - sum(map(len, hard.values()))
        assert skipped > 3
        self.refused(
            f"{skipped} of the {self.PLAN['ask'].sum()} judgments that the plan asks for are missing",
            labels=hard,
        )
        partial = {q: of for q, of in labels.items() if q != "q0"}
        self.refused(f"{len(labels['q0'])} of the .* such as query 'q0', document 'd", labels=partial)
        whole = sum(map(len, HUMAN.values())) - self.PLAN["ask"].sum()
        self.refused(f"{whole} judgments are of documents that the plan does not ask for", labels=HUMAN)

    def test_grades_that_the_context_does_not_know(self) -> None:
        labels = labels_of(self.PLAN)
        first = next(iter(labels))
        labels[first] = dict.fromkeys(labels[first], 7)
        self.refused("the judgments of the assessors hold the grade 7, and RunContext", labels=labels)
        for judge in (lambda q, d: 100, {q: dict.fromkeys(of, 100) for q, of in JUDGE.items()}):
            with pytest.raises(ValueError, match="the judgments of the judge hold the grade 100"):
                audit.plan(CONTEXT, judge, P, 30)

    def test_a_list_that_is_no_plan(self) -> None:
        asked = judge_next(CONTEXT, {q: {} for q in TOPICS} | {"q0": {"d0": 1}}, P[0], 10)
        self.refused("no column probability and ask", asked)
        self.refused("the plan is a dict; give the table", plan={})

    def test_measures_that_it_is_not_for(self) -> None:
        self.refused(r"P\(rel=2\)@8 looks at \d+ documents outside the plan", measures=["P(rel=2)@8"])
        pair = audit.plan(CONTEXT, JUDGE, P, 30, between=("a", "b"))
        self.refused(r"P\(rel=2\)@5 looks at \d+ documents", pair, labels_of(pair))


@pytest.mark.parametrize("measure", ["nDCG@5", "NRG@5", "NRG(norm='ideal')@5", "ERR@5"])
def test_not_by_documents_alone(measure: str) -> None:
    message = (
        f"{re.escape(measure)}: a sample of documents is not enough, because topics differ in their ideal"
    )
    with pytest.raises(ValueError, match=message):
        audit.plan(CONTEXT, JUDGE, [measure], 30)
    assert audit.plan(CONTEXT, JUDGE, [measure], 60, topics=3, depth=10)["ask"].any()


@pytest.mark.parametrize(
    "measure", ["AP", "AP@100", "RR@10", "AP_Rareness@10", "NRG(base='RR')@10", "TaSC", "rrLP"]
)
@pytest.mark.parametrize("topics", [0, 3])
def test_not_at_all(measure: str, topics: int) -> None:
    with pytest.raises(ValueError, match=r"cannot be audited|relative to|reference|needs"):
        audit.plan(RunContext(RUNS, grades=(0, 3), reference="a"), JUDGE, [measure], 400, topics=topics)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"budget": 0}, "budget=0 is not allowed"),
        ({"budget": 2.5}, "budget=2.5 is not allowed"),
        ({"topics": 1}, "topics=1 is not allowed"),
        ({"topics": 9, "budget": 1000}, "topics=9 is more than the 8"),
        ({"topics": 5, "budget": 10}, r"to judge 5 topics in full takes \d+ judgments, and budget=10"),
        ({"topics": 5, "budget": 40, "measures": ["nDCG@5"], "depth": 8}, "and budget=40"),
        ({"topics": 3, "measures": ["nDCG@20"], "depth": 10}, "it looks at 20 documents, and depth=10"),
        ({"topics": 3, "measures": ["ERR"]}, "it looks at all documents, and depth=20"),
        ({"topics": 3, "measures": ["NRG(norm='whole')@5"]}, "it looks at all documents"),
        ({"seed": -1}, "seed=-1 is not allowed"),
        ({"between": ("a", "z")}, r"between names \['z'\], not runs of the context"),
        ({"between": ("a", "a")}, "compares 'a' with itself"),
        ({"between": ("a", [])}, "between has no prior"),
        ({"between": "ab"}, "must be the names of two runs"),
        ({"between": []}, "between is empty"),
        ({"measures": []}, "measures is empty"),
        ({"measures": ["P(rel=2,judged_only=True)@5"]}, "drop judged_only"),
        ({"measures": ["DCG"]}, "DCG needs a cutoff: write DCG@10"),
        ({"judge": {"z": {"d0": 1}}}, "no query in common"),
        (
            {"context": RunContext({name: {q: {} for q in RUNS["a"]} for name in "ab"})},
            "no run ranks a document",
        ),
        ({"context": RunContext(RUNS, priors="earlier"), "measures": UNIQUE}, "are different quantities"),
        ({"context": OF_GROUPS, "measures": UNIQUE}, "the judgments decide which runs are whose priors"),
    ],
)
def test_refused(arguments: dict[str, Any], message: str) -> None:
    given = {"context": CONTEXT, "judge": JUDGE, "measures": P, "budget": 30} | arguments
    with pytest.raises(ValueError, match=message):
        audit.plan(**given)


def test_the_budget_that_topics_in_full_take_is_enough() -> None:
    with pytest.raises(ValueError, match="takes") as refused:
        audit.plan(CONTEXT, JUDGE, P, 2, topics=2)
    least = int(re.search(r"takes (\d+)", str(refused.value))[1])  # type: ignore[index]
    assert audit.plan(CONTEXT, JUDGE, P, least, topics=2)["ask"].sum() == least
    with pytest.raises(ValueError, match="takes"):
        audit.plan(CONTEXT, JUDGE, P, least - 1, topics=2)


def test_a_pool_with_labels_is_not_overwritten(tmp_path: Path) -> None:
    pool = tmp_path / "pool.txt"
    for seed in range(2):  # without labels, it is
        audit.plan(CONTEXT, JUDGE, P, 30, seed=seed, path=pool)
    lines = pool.read_text().splitlines()
    labelled = "\n".join([lines[0], lines[1] + " 1", *lines[2:]])
    pool.write_text(labelled)
    for write in (
        lambda: audit.plan(CONTEXT, JUDGE, P, 30, path=pool),
        lambda: judge_next(CONTEXT, {TOPICS[0]: {"d0": 1}}, "P@5", 3, path=pool),
    ):
        with pytest.raises(ValueError, match=r"pool\.txt, line 2: it holds .* labels.* give another path"):
            write()
    assert pool.read_text() == labelled


@pytest.mark.parametrize("which", ["labels", "judge"])
def test_two_labels_of_a_document_are_refused(which: str) -> None:
    plan = audit.plan(CONTEXT, JUDGE, P, 30, between=("a", "b"))
    rows = [(q, d, g) for q, of in labels_of(plan).items() for d, g in of.items()]
    again = pd.DataFrame([*rows, rows[0]], columns=["query_id", "doc_id", "relevance"])
    given = {"labels": labels_of(plan), "judge": JUDGE}
    again.loc[len(rows), "relevance"] += 1
    with pytest.raises(
        ValueError, match=f"query {rows[0][0]!r}, document {rows[0][1]!r}; give each document one"
    ):
        audit.estimate(CONTEXT, plan, **{**given, which: again}, measures=P, between=("a", "b"))
