"""worth() after an audit: P@k of each option by plain enumeration, over many samples, and what is rejected."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from audited import DOCS, HUMAN, RUNS, TOPICS, labels_of
from ir_measures_relative import RunContext
from ir_measures_relative.decisions import WorthAudit

MANY = [f"q{i}" for i in range(24)]
OLD, NEW, THIRD = (
    {q: dict(RUNS[run][TOPICS[i % len(TOPICS)]]) for i, q in enumerate(MANY)} for run in ("a", "b", "c")
)
PEOPLE = {q: HUMAN[TOPICS[i % len(TOPICS)]] for i, q in enumerate(MANY)}
CONTEXT = RunContext({"old": OLD, "new": NEW, "third": THIRD}, grades=(0, 3))
BY = "P(rel=2)@3"


def wrong(query_id: str, doc_id: str) -> int:
    """A judge that is always wrong."""
    return (PEOPLE[query_id][doc_id] + 1) % 4


def precision(query_id: str, *runs: dict[str, dict[str, float]]) -> float:
    """P(rel=2)@3 of these runs, one document of each in turn."""
    lists = [sorted(run[query_id], key=run[query_id].__getitem__, reverse=True) for run in runs]
    shown: list[str] = []
    while len(shown) < 3:
        for one in lists:
            shown += [next(doc for doc in one if doc not in shown)]
    return sum(PEOPLE[query_id][doc] >= 2 for doc in shown[:3]) / 3


def test_with_all_labels_the_differences_are_those_of_the_lists() -> None:
    audited = WorthAudit(CONTEXT, wrong, "new", ["old", "third"], BY, "interleave")
    plan = audited.plan(10_000)
    assert (plan["probability"] == 1).all()
    answer = audited.estimate(plan, labels_of(plan, PEOPLE))
    sets = [(OLD, THIRD), (OLD, THIRD, NEW), (THIRD, NEW), (OLD, NEW)]
    values = np.array([[precision(q, *runs) for q in MANY] for runs in sets]).mean(axis=1)
    table = answer.table
    assert list(table["option"]) == ["keep", "add", "replace old", "replace third"]
    for column in ("difference", "ci_lower", "ci_upper"):
        assert table[column].to_numpy() == pytest.approx(values - values[0], abs=1e-12)
    assert (table["lower"][1:] < table["ci_lower"][1:]).all()  # other topics
    assert answer.missing == ("topics" if answer.verdict in ("open", "add or replace") else None)


def test_over_many_samples_it_is_unbiased_and_covers() -> None:
    audited = WorthAudit(CONTEXT, wrong, "new", ["old"], BY)
    every = audited.plan(10_000)
    truth = audited.estimate(every, labels_of(every, PEOPLE)).table["difference"].to_numpy()[1:]
    budget, found = len(every) // 3, []
    for seed in range(25):
        plan = audited.plan(budget, seed=seed)
        assert plan["ask"].sum() <= budget
        found.append(audited.estimate(plan, labels_of(plan, PEOPLE)).table.iloc[1:])
    values, lower, upper = (
        np.array([one[name] for one in found]) for name in ("difference", "ci_lower", "ci_upper")
    )
    error = values.std(axis=0) / np.sqrt(len(found))
    assert (np.abs(values.mean(axis=0) - truth) < 4 * error).all()
    assert ((lower <= truth) & (truth <= upper)).all(axis=1).mean() > 0.85


def test_a_better_candidate_is_found_by_a_part_of_the_labels_of_a_bad_judge() -> None:
    best = {q: {d: PEOPLE[q][d] + 0.01 * i for i, d in enumerate(DOCS)} for q in MANY}
    audited = WorthAudit(CONTEXT, wrong, best, ["old"], BY)
    plan = audited.plan(60)
    answer = audited.estimate(plan, labels_of(plan, PEOPLE))
    assert answer.verdict == answer.as_judged == "replace old"
    assert answer.table["judge_alone"].iloc[2] < 0 < answer.table["lower"].iloc[2]
    assert set(answer.table) == {
        *("option", "runs", "difference", "ci_lower", "ci_upper", "lower", "upper", "labels", "judge_alone")
    }
    assert (
        f"{plan['ask'].sum()} human judgments on 24 topics" in answer.text
        and answer.to_dict()["verdict"] == answer.verdict
    )


def test_lists_that_differ_on_few_topics_settle_nothing() -> None:
    near = {q: dict(docs) for q, docs in OLD.items()}
    for q in itertools.islice(near, 9):
        near[q] = {d: PEOPLE[q][d] + 0.01 * i for i, d in enumerate(DOCS)}
    audited = WorthAudit(CONTEXT, wrong, near, ["old"], BY)
    plan = audited.plan(10_000)
    answer = audited.estimate(plan, labels_of(plan, PEOPLE))
    assert (answer.verdict, answer.missing) == ("open", "topics")
    assert list(answer.table["lower"][1:]) == [-1.0, -1.0]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"by": "nDCG@10"}, "by='nDCG@10' cannot be audited"),
        ({"by": "P"}, "P@k|cutoff"),
        ({"by": "R@10"}, "by='R@10'"),
        ({"method": "borda"}, "method='borda'"),
        ({"candidate": OLD, "deployed": ["old"]}, "nothing to judge"),
        ({"candidate": "old", "deployed": ["old"]}, "deployed already"),
        ({"margin": -1.0}, "margin"),
    ],
)
def test_what_it_rejects(arguments: dict[str, Any], message: str) -> None:
    given: dict[str, Any] = {"candidate": "new", "deployed": ["old"], "by": BY} | arguments
    with pytest.raises(ValueError, match=message):
        WorthAudit(CONTEXT, wrong, **given)


def test_labels_must_be_those_of_the_plan() -> None:
    audited = WorthAudit(CONTEXT, wrong, "new", ["old"], BY)
    plan = audited.plan(20)
    with pytest.raises(ValueError, match="missing"):
        audited.estimate(plan, {q: {} for q in MANY} | {"q0": {DOCS[0]: 1}})
