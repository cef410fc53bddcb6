"""NRG(base='INST') and NRG(base='BPM'): the oracle, cwl_eval, what a prior and a label do, the bounds, the refusals."""

from __future__ import annotations

import itertools
import random
from typing import Any

import ir_measures
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from all_labelings import check, random_campaign
from drawn import examples
from ir_measures_relative import (
    NRG,
    RunContext,
    audit,
    bounds,
    explain,
    select_complementary,
)
from oracles.nrg_goal import gain_of_label, nrg_goal_oracle, rate_of_gain
from random_campaigns import Labels, Run, contexts, cutoffs, qrels, runs
from scored import POLICIES, agree_with_oracle, assume_common, per_query, per_query_of_each, ranking

BASES = ["INST", "BPM"]
#: T, min_rel, max_rel
GOALS = [(1.0, 0, 1), (2.5, 0, 1), (0.5, 1, 2), (1.0, 0, 3), (3.0, 1, 3)]


def as_run(docs: Any) -> Run:
    return {"q": {d: -float(i) for i, d in enumerate(docs)}}


def value_of(docs: Any, priors: list[Any], labels: dict[str, int], measure: Any) -> float:
    context = RunContext({f"prior{i}": as_run(prior) for i, prior in enumerate(priors)})
    return per_query(measure, {"q": labels}, as_run(docs), context)["q"]


def measure_of(base: str, goal: tuple[float, int, int], k: int | None, **options: Any) -> Any:
    measure = NRG(base=base, T=goal[0], min_rel=goal[1], max_rel=goal[2], **options)
    return measure if k is None else measure @ k


@examples(12)
@given(
    context=contexts,
    labels=qrels,
    k=st.one_of(st.none(), cutoffs),
    goal=st.sampled_from(GOALS),
    judged_only=st.booleans(),
    policy=st.sampled_from(POLICIES),
)
def test_oracle(
    context: dict[str, Run],
    labels: Labels,
    k: int | None,
    goal: tuple[float, int, int],
    judged_only: bool,
    policy: str,
) -> None:
    base = "INST" if k is None or sum(map(len, labels.values())) % 2 else "BPM"
    measure = measure_of(base, goal, k, judged_only=judged_only)

    def oracle(docs: list[str], priors: list[list[str]], labels: dict[str, int]) -> float:
        return nrg_goal_oracle(docs, priors, labels, base, k, *goal)

    values = agree_with_oracle(context, labels, measure, policy, oracle, 1e-13)
    assert all(0 <= value <= 1 for value in values)


def campaign() -> tuple[Labels, Run]:
    """Few queries, with rankings deeper than cwl_eval reads."""
    rng, docs = random.Random(3), [f"d{i}" for i in range(1100)]
    labels = {str(q): {d: rng.choice([0, 0, 1, 2, 3]) for d in docs[: 10 + 90 * q]} for q in range(4)}
    return labels, {
        q: {d: rng.random() for d in rng.sample(docs, n)}
        for q, n in zip(labels, (5, 1100, 80, 1050), strict=True)
    }


def test_without_priors_it_is_the_base() -> None:
    labels, run = campaign()
    asked = [(base, goal, k) for base in BASES for goal in GOALS for k in (3, 1050)]
    found = per_query_of_each([measure_of(*one) for one in asked], labels, run, RunContext({}))
    for (base, goal, k), values in zip(asked, found.values(), strict=True):
        for query, value in values.items():
            gains = [gain_of_label(labels[query].get(d, 0), *goal[1:]) for d in ranking(run, query)[:k]]
            assert value == pytest.approx(rate_of_gain(gains, base, goal[0], k), abs=1e-13)


def test_without_priors_it_is_what_cwl_eval_computes() -> None:
    pytest.importorskip("cwl", reason="cwl_eval is not installed")
    labels, run = campaign()
    texts = ["T={},min_rel={},max_rel={}".format(*goal) for goal in GOALS]
    theirs = [f"INST({t})" for t in texts] + [f"BPM({t})@{k}" for t in texts for k in (1, 10, 1050)]
    ours = [measure_of("INST", goal, None) for goal in GOALS]
    ours += [measure_of("BPM", goal, k) for goal in GOALS for k in (1, 10, 1050)]
    expected = per_query_of_each([ir_measures.parse_measure(m) for m in theirs], labels, run)
    found = per_query_of_each(ours, labels, run, RunContext({}))
    for one, other in zip(found.values(), expected.values(), strict=True):
        assert len(one) == 4 and one == pytest.approx(other, abs=1e-12)


def test_by_hand() -> None:
    """With T = 1, a user of the prior reads down to A; B is new, and so is what stands below position k."""
    labels = {"A": 1, "B": 1, "C": 1, "X": 0}
    bpm = NRG(base="BPM") @ 3
    assert value_of("XAB", [], labels, bpm) == 1 / 2
    assert value_of("AB", ["XAB"], labels, bpm) == 1 / 2  # A is known, so B at 2 is the first find
    assert value_of("AX", ["XAB"], labels, bpm) == 0.0
    assert value_of("BC", ["XAB"], labels, NRG(base="BPM", T=2) @ 3) == 1 / 3  # the prior was read to B
    assert value_of("A", ["XYZA"], labels, bpm) == 1.0
    assert value_of("", ["A"], labels, bpm) == 0.0
    # With gains between 0 and 1 a prior may raise BPM: who has seen A does not stop at B, and finds C.
    graded = {"A": 1, "B": 2, "C": 3}
    assert value_of("ABC", [], graded, NRG(base="BPM", max_rel=3) @ 3) == pytest.approx(1 / 2)
    assert value_of("ABC", ["A"], graded, NRG(base="BPM", max_rel=3) @ 3) == pytest.approx(5 / 9)
    # The second document of a prior that shows a relevant one first is read with ((x - 1) / x)², x = 1 + 2 - 1.
    inst = NRG(base="INST")
    assert value_of("B", ["AB"], labels, inst) == pytest.approx(rate_of_gain([3 / 4], "INST", 1.0, None))
    assert value_of("A", ["AB"], labels, inst) == 0.0


@examples(6)
@given(context=contexts, run=runs, more=runs, labels=qrels, k=cutoffs, data=st.data())
def test_a_prior_never_raises_a_value_and_a_label_never_lowers_one(
    context: dict[str, Run], run: Run, more: Run, labels: Labels, k: int, data: st.DataObject
) -> None:
    """Which the bounds rest on; for BPM, where a document is relevant or not."""
    for other in (run, more, *context.values()):
        assume_common(other, labels)
    query = data.draw(st.sampled_from(sorted(labels)))
    doc = data.draw(st.sampled_from(sorted(labels[query])))
    higher = {**labels, query: {**labels[query], doc: labels[query][doc] + data.draw(st.integers(1, 3))}}
    goals = [goal for goal in GOALS if goal[2] == goal[1] + 1]
    measures = [measure_of("INST", goal, k) for goal in GOALS] + [measure_of("BPM", g, k) for g in goals]
    wider = RunContext({**context, "more": more})
    before, after = (per_query_of_each(measures, labels, run, c) for c in (RunContext(context), wider))
    raised = per_query_of_each(measures, higher, run, wider)
    for measure, q in itertools.product(measures, labels):
        assert after[measure][q] <= before[measure][q] + 1e-15
        assert raised[measure][q] >= after[measure][q] - 1e-15


def test_a_higher_gain_never_lowers_inst() -> None:
    """The proof is with the bounds; here gains anywhere in [0, 1], and T down to where it holds."""
    rng = np.random.default_rng(5)
    for _ in range(40):
        gains = np.round(rng.random(rng.integers(1, 12)), 2) * rng.integers(0, 2)
        place, goal = rng.integers(len(gains)), float(rng.choice([0.5, 0.7, 1.0, 4.0]))
        higher = gains.copy()
        higher[place] += (1 - higher[place]) * rng.random()
        low, high = (rate_of_gain(g.tolist(), "INST", goal, None) for g in (gains, higher))
        assert high >= low


@pytest.mark.parametrize("seed", range(3))
def test_bounds_hold_and_those_of_one_run_are_exact(seed: int) -> None:
    rng = random.Random(seed)
    highest = rng.choice([1, 3])
    campaign = random_campaign(rng, highest, 4 if highest == 1 else 2)
    at = "" if campaign.cutoff is None else f"@{campaign.cutoff}"
    measures = [f"NRG(base='INST'){at}", f"NRG(base='INST',max_rel={highest},T=2,judged_only=True){at}"]
    if campaign.cutoff is not None:
        measures += [f"NRG(base='BPM',T=2){at}", f"NRG(base='BPM',min_rel=1,max_rel=2){at}"]
    for tally in check(campaign, measures).values():
        count, exact, excess = tally["one"]
        assert exact == count and excess < 1e-9


def test_many_queries_and_what_each_document_adds() -> None:
    """More queries than are in one table; each has the value that it has alone."""
    rng = random.Random(1)
    labels = {f"q{i}": {d: rng.randint(0, 1) for d in "ABCD"} for i in range(1060)}
    two = [{q: {d: rng.random() for d in "ABCDE"} for q in labels} for _ in range(2)]
    context = RunContext({"old": two[0]})
    measure = NRG(base="INST", T=2)
    values = per_query(measure, labels, two[1], context)
    for query in ("q1047", "q1048", "q1059"):
        alone = per_query(measure, {query: labels[query]}, {query: two[1][query]}, context)
        assert alone[query] == values[query] > 0
    shares = explain(context, two[1], labels, measure).groupby("query_id")["contribution"].sum()
    assert all(share == pytest.approx(values[query], abs=1e-15) for query, share in shares.items())


@pytest.mark.parametrize(
    ("measure", "message"),
    [
        ("NRG(base='BPM')", r"needs a cutoff"),
        ("NRG(base='INST',T=0.4)", r"T=0.4 is not allowed; it must be a number of at least 0.5"),
        ("NRG(base='INST',min_rel=2)", r"min_rel must be below max_rel"),
        ("NRG(base='INST',norm='ideal')", r"norm goes with base 'nDCG', 'P', 'RBP', 'SDCG', not 'INST'"),
        ("NRG(T=2.0)@3", r"T goes with base 'INST', 'BPM', not 'nDCG'"),
        (
            "Shapley(base='INST')@3",
            r"base='INST' is not allowed; it must be one of 'nDCG', 'P', 'RBP', 'SDCG'",
        ),
    ],
)
def test_refused(measure: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        RunContext({"a": as_run("A")}).evaluate({"q": {"A": 1}}, [measure])


def test_questions_that_it_cannot_answer() -> None:
    context = RunContext({"a": as_run("ABX"), "b": as_run("BYA")}, grades=(0, 3))
    labels = {"q": {"A": 1, "B": 3}}
    with pytest.raises(
        ValueError, match=r"with a gain between 0 and 1 a higher label may lower it.*max_rel=min_rel\+1"
    ):
        bounds(context, labels, ["NRG(base='BPM',max_rel=3)@3"])
    with pytest.raises(ValueError, match="method='exact' needs a measure that sums"):
        select_complementary(context, labels, 2, "NRG(base='INST')@2", method="exact")
    with pytest.raises(ValueError, match="cannot be audited"):
        audit.plan(context, labels, ["NRG(base='INST')@3"], 10)
