"""FusionGain: against ir_measures on the fused runs written out, against ranx, and by its properties."""

from __future__ import annotations

import random
from typing import Any

import ir_measures
import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

import random_campaigns
from all_labelings import check, random_campaign
from ir_measures_relative import FusionGain, RelativeWarning, RunContext, bounds, explain, verdicts
from ir_measures_relative.context.view import view_of
from ir_measures_relative.further_measures.fusion_gain import METHODS, Fusion, fused_rankings
from oracles.fusion import fuse_runs
from random_campaigns import Labels, Run
from scored import assume_common, per_query

# Of trec_eval, whose order of ties it is; other providers of ir_measures, such as that of Judged, have their own.
BASES = ["nDCG@3", "nDCG", "P@2", "AP", "AP@4", "RR", "R(rel=2)@3", "Success@1", "nDCG(judged_only=True)@2"]
_methods = st.sampled_from(METHODS)


@given(random_campaigns.contexts.filter(bool), random_campaigns.qrels, st.sampled_from([1, 2, 5, 1000]))
@example(
    {"a": {"q1": {"a": 1.0, "b": 0.5, "c": 0.0}}, "b": {"q1": {"c": 7.0, "d": 7.0}}}, {"q1": {"a": 1}}, 9
)
def test_the_fused_scores_are_the_oracle(priors: dict[str, Run], qrels: Labels, depth: int) -> None:
    view = view_of(RunContext(priors), qrels)
    for method, k in [("rrf", 0), ("rrf", 60), *((m, 60) for m in METHODS)]:
        found = fused_rankings(view, range(len(priors)), Fusion(method, k, depth)).as_given()
        expected = fuse_runs(list(priors.values()), method, k, depth)
        assert set(found) == set(expected) & set(qrels)
        for query, scores in found.items():
            assert scores == pytest.approx(expected[query], rel=1e-12)


def values(base: str, qrels: Labels, run: Run) -> dict[str, float]:
    """Of a run, by ir_measures; 0 for a query that the run lacks."""
    return dict.fromkeys(qrels, 0.0) | per_query(base, qrels, run) if run else dict.fromkeys(qrels, 0.0)


@given(
    random_campaigns.runs,
    random_campaigns.contexts,
    random_campaigns.pytrec_eval_qrels,
    st.sampled_from(BASES),
    _methods,
    st.sampled_from([0, 1, 60]),
    st.sampled_from([1, 2, 5, 1000]),
)
def test_it_is_what_ir_measures_says_of_the_fused_runs(
    run: Run, priors: dict[str, Run], qrels: Labels, base: str, method: str, k: int, depth: int
) -> None:
    assume_common(run, qrels)
    assume(any(docs for prior in priors.values() for docs in prior.values()))
    for prior in priors.values():
        assume_common(prior, qrels)
    options = {"k": k} if method == "rrf" else {}
    measure = FusionGain(base=base, method=method, depth=depth, **options)
    got = per_query(measure, qrels, run, RunContext(priors))
    without = fuse_runs(list(priors.values()), method, k, depth)
    together = fuse_runs([*priors.values(), run], method, k, depth)
    assume(set(without) & set(qrels) and set(together) & set(qrels))  # ir_measures refuses others
    before, after = values(base, qrels, without), values(base, qrels, together)
    assert got == pytest.approx({q: after[q] - before[q] for q in qrels}, abs=1e-12)


@given(random_campaigns.runs, random_campaigns.qrels, _methods, st.sampled_from([1, 3, 1000]))
def test_a_copy_of_the_only_prior_gains_exactly_nothing(
    run: Run, qrels: Labels, method: str, depth: int
) -> None:
    assume_common(run, qrels)
    context = RunContext({"old": run, "copy": {q: dict(docs) for q, docs in run.items()}})
    for base in ("nDCG@3", "AP", "P@2"):
        measure = FusionGain(base=base, method=method, depth=depth)
        table = context.evaluate(qrels, [measure])
        assert table[str(measure)].tolist() == [0.0, 0.0]


@given(random_campaigns.runs, random_campaigns.contexts, random_campaigns.qrels, _methods)
def test_a_member_has_the_value_of_the_same_run_as_a_new_run(
    run: Run, others: dict[str, Run], qrels: Labels, method: str
) -> None:
    assume_common(run, qrels)
    for other in others.values():
        assume_common(other, qrels)
    measure = FusionGain(method=method, base="nDCG@3", depth=4)
    new_run = per_query(measure, qrels, run, RunContext(others))
    with RunContext({**others, "run": run}).evaluating("run") as context:
        member = per_query(measure, qrels, run, context)
    assert member == new_run


def test_without_priors_it_is_the_base() -> None:
    qrels, run = {"q": {"A": 2, "B": 1}}, {"q": {"B": 3.0, "X": 2.0, "A": 1.0}}
    with RunContext({}):
        value = FusionGain(base="nDCG@3", depth=1).calc_aggregate(qrels, run)
    assert value == (ir_measures.nDCG @ 3).calc_aggregate(qrels, run)


def test_fusing_with_a_bad_run_hurts_and_a_prior_can_be_chosen() -> None:
    qrels = {"q": {"A": 1, "B": 1}}
    runs: dict[str, Run] = {
        "good": {"q": {"A": 3.0, "B": 2.0}},
        "bad": {"q": {"X": 3.0, "Y": 2.0}},
        "other": {"q": {"B": 3.0, "Z": 2.0}},
    }
    measures = [FusionGain(base="P@2", prior="good"), FusionGain(base="P@1", method="combsum", prior="bad")]
    table = RunContext(runs).evaluate(qrels, measures).set_index("name")
    # good and bad: A and X tie at the top, and B and Y; X is the later id
    assert table[str(measures[0])].to_dict() == {"good": 1.0, "bad": -0.5, "other": 0.0}
    assert table[str(measures[1])]["good"] == 0.0


def test_explained_document_by_document() -> None:
    qrels = {"q": {"A": 1, "B": 2, "C": 1}, "other": {"A": 1}}
    runs: dict[str, Run] = {
        "old": {"q": {"A": 3.0, "X": 2.0, "B": 1.0}, "other": {"A": 1.0}},
        "new": {"q": {"B": 3.0, "C": 2.0, "Y": 1.0}},
    }
    context = RunContext(runs)
    for base in ("nDCG@2", "P@2", "R@2", "nDCG"):
        measure = FusionGain(base=base)
        scores = context.evaluate(qrels, [measure], perquery=True)
        table = explain(context, "new", qrels, measure)
        want = scores[scores["name"] == "new"].set_index("query_id")["value"]
        got = table.groupby("query_id")["contribution"].sum().reindex(want.index, fill_value=0.0)
        assert got.to_dict() == pytest.approx(want.to_dict(), abs=1e-12)
    with pytest.raises(ValueError, match="AP is not a sum over documents"):
        explain(context, "new", qrels, FusionGain(base="AP"))


@pytest.mark.parametrize("base", ["nDCG", "P", "RR", "AP"])
@pytest.mark.parametrize("seed", range(2))
def test_bounds_and_verdicts_against_every_labeling(base: str, seed: int) -> None:
    rng = random.Random(seed)
    while (campaign := random_campaign(rng, 2, 4)).cutoff is None:
        pass
    # what is fused is then no deeper than what may be open
    measures = [
        f"FusionGain(base='{base}@{campaign.cutoff}',depth={campaign.cutoff},method='{m}')" for m in METHODS
    ]
    counts = check(campaign, measures)
    assert counts


def test_two_runs_that_meet_the_same_priors_are_bounded_exactly() -> None:
    qrels = {"q": {"A": 1, "B": 0}}
    runs: dict[str, Run] = {
        "prior": {"q": {"A": 3.0, "B": 2.0, "C": 1.0}},
        "one": {"q": {"C": 3.0, "D": 2.0}},
        "two": {"q": {"E": 3.0, "A": 2.0}},
    }
    measure = FusionGain(base="P@2")
    context = RunContext(runs, priors={"one": ["prior"], "two": ["prior"], "prior": []}, grades=(0, 1))
    assert verdicts(context, qrels, [measure])["exact"].tolist()[2]
    assert bounds(context, qrels, [measure])["exact"].all()


def test_two_runs_stay_two_where_their_fusions_are_bounded() -> None:
    """Other relevant documents are then allowed for, as for the base; and the warning names the runs alone."""
    qrels: Labels = {"q": {"A": 1, "Y": 0}}
    context = RunContext({"a": {"q": {"A": 3.0, "X": 2.0}}, "b": {"q": {"Y": 3.0}}}, grades=(0, 1))
    measure = FusionGain(base="nDCG@3")
    tables = [
        bounds(context, qrels, [measure], **options)
        for options in ({}, {"unretrieved_relevant": 3}, {"unretrieved_relevant": 0})
    ]
    assert tables[0].equals(tables[1])
    assert (tables[0]["worst"] < tables[2]["worst"]).tolist() == [True, False]
    with pytest.warns(RelativeWarning, match=r"none of \['a', 'b'\] retrieves"):
        bounds(context, qrels, [FusionGain(base="nDCG")])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: FusionGain @ 10, r"FusionGain has no cutoff.*FusionGain\(base='nDCG@10'\)"),
        (lambda: FusionGain(method="sum"), "method='sum' is not allowed; it must be one of 'rrf'"),
        (lambda: FusionGain(depth=0), "depth=0 is not allowed"),
        (lambda: FusionGain(k=-1), "k=-1 is not allowed"),
        (lambda: FusionGain(k=10, method="isr").validate_params(), "k goes with method 'rrf', not 'isr'"),
        (lambda: FusionGain(base="NRG@10").validate_params(), "FusionGain: base='NRG@10' is itself relative"),
    ],
)
def test_bad_parameters(make: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


def test_its_range_is_that_of_a_difference() -> None:
    assert FusionGain(base="AP").value_range == (-1.0, 1.0)
    assert FusionGain(base="NumRet").value_range == (-np.inf, np.inf)


@pytest.mark.filterwarnings("ignore:the context holds no run but")
def test_without_priors_nothing_is_asked_of_no_documents() -> None:
    """Accuracy has no value where nothing is retrieved, so that what is left of it would be none."""
    context = RunContext({"a": {"q": {"d": 2.0, "e": 1.0}}})
    found = context.evaluate({"q": {"d": 1, "e": 0}}, ["FusionGain(base='Accuracy@5')", "Accuracy@5"])
    assert found.iloc[0, 1:].tolist() == [1.0, 1.0]
