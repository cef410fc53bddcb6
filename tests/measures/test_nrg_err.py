"""NRG(base='ERR'): the oracle, gdeval's ERR, searchers who are followed, and what a prior and a label do."""

from __future__ import annotations

import random
import shutil
import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ir_measures import ERR

from drawn import examples
from ir_measures_relative import NRG, RunContext, Shapley, bounds, explain, select_complementary
from oracles.nrg_err import nrg_err_oracle, residual_theta
from random_campaigns import Labels, Run, contexts, cutoffs, qrels, runs
from scored import POLICIES, agree_with_oracle, assume_common, per_query, ranking

RANKING, PRIORS = list("ABCDEFGH"), [list("BADCXG"), list("GFAYC")]
LABELS = {"A": 1, "B": 2, "C": 3, "D": 1, "E": 2, "F": 3, "G": 1, "X": 0}


def as_run(docs: list[str]) -> Run:
    return {"q": {d: -float(i) for i, d in enumerate(docs)}}


def value_of(docs: list[str], priors: list[list[str]], labels: dict[str, int], measure: Any) -> float:
    context = RunContext({f"prior{i}": as_run(prior) for i, prior in enumerate(priors)})
    return per_query(measure, {"q": labels}, as_run(docs), context)["q"]


@examples(40)
@given(
    context=contexts,
    labels=qrels,
    k=st.one_of(st.none(), cutoffs),
    max_grade=st.sampled_from([3, 4, 9]),
    judged_only=st.booleans(),
    policy=st.sampled_from(POLICIES),
)
def test_oracle(
    context: dict[str, Run], labels: Labels, k: int | None, max_grade: int, judged_only: bool, policy: str
) -> None:
    measure = NRG(base="ERR", max_grade=max_grade, judged_only=judged_only)

    def oracle(docs: list[str], priors: list[list[str]], labels: dict[str, int]) -> float:
        return nrg_err_oracle(docs, priors, labels, k, max_grade)

    values = agree_with_oracle(context, labels, measure if k is None else measure @ k, policy, oracle, 1e-14)
    assert all(0 <= value < 1 for value in values)


@pytest.mark.skipif(not shutil.which("perl"), reason="ir_measures computes ERR by a script of Perl's")
def test_without_priors_it_is_err_as_gdeval_prints_it() -> None:
    """Which is five digits; gdeval has no line for a query without a relevant document, or without a ranking."""
    rng, docs = random.Random(3), [f"d{i}" for i in range(30)]
    labels = {str(q): {d: rng.choice([-1, 0, 0, 1, 2, 3, 4]) for d in docs[:20]} for q in range(60)}
    run = {q: {d: rng.randint(0, 9) / 1.0 for d in rng.sample(docs, rng.randint(1, 30))} for q in labels}
    for k in (1, 5, 20):
        expected = per_query(ERR @ k, labels, run)
        found = per_query(NRG(base="ERR") @ k, labels, run, RunContext({}))
        assert len(expected) == 60 and max(found.values()) > 0.5
        assert found == pytest.approx(expected, abs=5.1e-6)


@examples(20)
@given(context=contexts, run=runs, more=runs, labels=qrels, k=cutoffs)
def test_a_prior_never_raises_a_residual_chance_nor_the_value(
    context: dict[str, Run], run: Run, more: Run, labels: Labels, k: int
) -> None:
    for other in (run, more, *context.values()):
        assume_common(other, labels)
    measure = NRG(base="ERR") @ k
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        before = explain(RunContext(context), run, labels, measure)
        after = explain(RunContext({**context, "more": more}), run, labels, measure)
    assert (after["gain"] <= before["gain"] + 1e-15).all()
    for table, members in ((before, context), (after, {**context, "more": more})):
        values = per_query(measure, labels, run, RunContext(members))
        assert table.groupby("query_id")["contribution"].sum().to_dict() == pytest.approx(
            {q: values[q] for q in table["query_id"].unique()}, abs=1e-15
        )
        for row in table.itertuples():
            others = [ranking(r, row.query_id) for r in members.values()]
            expected = residual_theta(row.doc_id, others, labels[row.query_id], k, 4)
            assert row.gain == pytest.approx(expected, abs=1e-15)
    values = [per_query(measure, labels, run, RunContext(c)) for c in (context, {**context, "more": more})]
    assert all(values[1][q] <= values[0][q] + 1e-15 for q in labels)


@examples(30)
@given(context=contexts, run=runs, labels=qrels, k=cutoffs, data=st.data())
def test_a_higher_label_never_lowers_the_value(
    context: dict[str, Run], run: Run, labels: Labels, k: int, data: st.DataObject
) -> None:
    """Which the bounds rest on: it raises a chance to satisfy, and keeps searchers from what is below in the priors."""
    assume_common(run, labels)
    query = data.draw(st.sampled_from(sorted(labels)))
    doc = data.draw(st.sampled_from(sorted(labels[query])))
    higher = {**labels, query: {**labels[query], doc: labels[query][doc] + data.draw(st.integers(1, 3))}}
    measure = NRG(base="ERR", max_grade=7) @ k
    values = [per_query(measure, q, run, RunContext(context)) for q in (labels, higher)]
    assert all(values[1][q] >= values[0][q] - 1e-15 for q in labels)


def test_what_every_searcher_of_a_prior_sees_is_worth_nothing() -> None:
    """The first relevant document of a prior, and whatever stands above; a document below its top k is new."""
    measure = NRG(base="ERR", max_grade=1) @ 3
    assert value_of(["A"], [["X", "Y", "A"]], {"A": 1, "X": 0}, measure) == 0.0
    assert value_of(["A"], [["X", "Y", "Z", "A"]], {"A": 1, "X": 0}, measure) == 0.5
    # A satisfies half of those who read the prior, and the others see B
    assert value_of(["B"], [["A", "B"]], {"A": 1, "B": 1}, measure) == 0.25
    # as a copy of the prior does: A is known to all
    assert value_of(["A", "B"], [["A", "B"]], {"A": 1, "B": 1}, measure) == 0.125
    # without the unjudged X, B is at 2 in the prior, within its top 2
    judged = NRG(base="ERR", max_grade=1, judged_only=True) @ 2
    assert value_of(["B"], [["A", "X", "B"]], {"A": 1, "B": 1}, judged) == 0.25
    assert value_of([], [["A"]], {"A": 1}, measure) == 0.0
    assert value_of(["A"], [[]], {"A": 1}, measure) == 0.5


@pytest.mark.parametrize(
    ("measure", "message"),
    [
        ("NRG(base='ERR',norm='ideal')@3", "norm goes with base 'nDCG', 'P', 'RBP', 'SDCG', not 'ERR'"),
        ("NRG(base='ERR',rel=2)@3", "rel goes with base 'P', 'RBP', 'RR', 'SDCG', not 'ERR'"),
        ("NRG(base='ERR',dcg='log2')@3", "dcg goes with base 'nDCG', not 'ERR'"),
        ("NRG(base='ERR',p=0.5)@3", "p goes with base 'RBP', not 'ERR'"),
        ("NRG(max_grade=3)@3", "max_grade goes with base 'ERR', not 'nDCG'"),
        ("NRG(base='ERR',max_grade=0)@3", "it must be a whole number from 1 to 1000"),
        ("NRG(base='P',norm='whole')@3", "norm='whole' goes with base 'nDCG', not 'P'"),
        ("Shapley(base='ERR')@3", "base='ERR' is not allowed; it must be one of 'nDCG', 'P', 'RBP'"),
    ],
)
def test_refused(measure: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        RunContext({"a": as_run(["A"])}).evaluate({"q": {"A": 1}}, [measure])


def test_grades_beyond_the_highest() -> None:
    context = RunContext({"a": as_run(["A", "B"]), "b": as_run(["C"])}, grades=(0, 5))
    for score in (context.evaluate, lambda q, m: bounds(context, q, m)):
        with pytest.raises(ValueError, match=r"the grade 5.*; max_grade.* must be at least that"):
            score({"q": {"A": 5}}, ["NRG(base='ERR')@3"])
    with pytest.raises(ValueError, match=r"the grade 4; max_grade must be at least that"):
        bounds(
            RunContext(dict(context.runs), grades=(0, 4)), {"q": {"A": 1}}, ["NRG(base='ERR',max_grade=3)@3"]
        )
    assert context.evaluate({"q": {"A": 5}}, ["NRG(base='ERR',max_grade=5)@3"]).iloc[0, 1] == 31 / 32


@pytest.mark.parametrize(
    "measure", ["NRG(base='ERR')@3", "UE(base='ERR')@3", "MED(base='ERR',max_grade=4,ref='b')@3"]
)
def test_grades_beyond_the_highest_in_the_same_words(measure: str) -> None:
    context = RunContext({"a": as_run(["A", "B"]), "b": as_run(["C"])})
    with pytest.raises(ValueError) as refused:
        context.evaluate({"p": {"B": 4}, "q": {"A": 5, "C": 6, "B": 1}}, [measure])
    assert str(refused.value) == (
        f"{measure}: the qrels hold the grade 6, of query 'q'; max_grade, 4 here, must be at least that: "
        "write max_grade=6"
    )


def test_a_group_of_runs_has_no_value() -> None:
    """Greedily by what each run adds to those chosen; what a group is worth together is not a sum."""
    context = RunContext({"a": as_run(list("AB")), "b": as_run(list("BA")), "c": as_run(list("CX"))})
    labels = {"q": {"A": 2, "B": 1, "C": 1}}
    chosen = select_complementary(context, labels, 3, NRG(base="ERR", max_grade=2) @ 2)
    assert chosen["name"].tolist()[0] == "a"
    assert np.isnan(chosen["cumulative"]).all() and np.isnan(chosen["bound"]).all()
    with pytest.raises(ValueError, match="method='exact' needs a measure"):
        select_complementary(context, labels, 2, "NRG(base='ERR')@2", method="exact")
    assert Shapley.SUPPORTED_PARAMS["base"].choices == ("nDCG", "P", "RBP", "SDCG")


def test_measures_do_not_share_what_they_must_not() -> None:
    """One context, in any order: the products over priors are kept, and depend on max_grade and the labels."""
    texts = ["NRG(base='ERR')@2", "NRG(base='ERR',max_grade=3)@2", "NRG(base='RR')@2", "NRG(base='ERR')@3"]
    runs = {f"r{i}": as_run(docs) for i, docs in enumerate([*PRIORS, RANKING])}
    labelings = [LABELS, {**LABELS, "B": 0}, {**LABELS, "B": 3}]
    shared = RunContext(runs)
    for labels in (*labelings, *labelings):
        for text in (*texts, *reversed(texts)):
            alone = RunContext(runs).evaluate({"q": labels}, [text])[text].tolist()
            assert shared.evaluate({"q": labels}, [text])[text].tolist() == alone
    together = shared.evaluate({"q": LABELS}, texts)
    assert len({tuple(together[t]) for t in texts}) == len(texts)
