"""What holds for every measure of the package, present and future."""

from __future__ import annotations

import random
import re
import warnings
from typing import Any

import ir_measures
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from aspect_campaigns import with_aspects
from drawn import examples
from example_measures import EXAMPLES, PLAIN_EXAMPLES, REGISTERED, variants
from ir_measures_relative import MED, RunContext
from random_campaigns import Labels, Run, contexts, pytrec_eval_qrels, qrels, runs
from scored import assume_common, per_query, per_query_of_each


@pytest.mark.parametrize("measure", EXAMPLES, ids=str)
def test_repr_round_trips(measure: Any) -> None:
    again = ir_measures.parse_measure(repr(measure))
    assert again == measure
    assert repr(again) == repr(measure)


@pytest.mark.parametrize("name", REGISTERED)
def test_declared_in_full(name: str) -> None:
    measure = REGISTERED[name]
    assert measure.PRETTY_NAME
    assert measure.SHORT_DESC.endswith(".")
    doc = type(measure).__doc__
    assert "Source:" in doc or "Sources:" in doc
    assert re.search(r"\b[Rr]ange\b", doc)
    assert ">>>" in doc
    assert len(doc.splitlines()) <= 25
    for spec in measure.SUPPORTED_PARAMS.values():
        assert spec.desc
        assert spec.describe()
    assert ir_measures.DefaultPipeline.supports(variants(measure)[0])


# What a value of RBP once depended on: with the third position alone, and beside the first of another query.
THIRD: Run = {"q1": {"a": 0.0, "b": 1.0, "c": 2.0}}
THIRD_AND_FIRST: Run = {**THIRD, "q2": {"a": 1.0}}


@pytest.mark.parametrize("name", REGISTERED)
@examples(16)
@given(context=contexts, run=runs, labels=qrels)
@example(context={"r1": THIRD_AND_FIRST}, run={}, labels={"q1": {"a": 1, "b": 3}, "q2": {"a": 2}})
@example(context={"r1": {"q1": {"b": 1.0}}}, run=THIRD_AND_FIRST, labels={"q1": {"a": 1}, "q2": {"a": 1}})
@example(context={"r1": {}}, run=THIRD_AND_FIRST, labels={"q1": {"a": 1, "b": -1}, "q2": {"a": 3}})
@example(  # MED once added the documents of q1 in an order that q2 decided
    context={"r1": {}},
    run={"q2": {"c": 3.0, "f": 2.0, "d": 1.0}, "q1": {"f": 3.0, "d": 2.0, "c": 1.0}},
    labels={"q2": {"e": 3}, "q1": {"d": 1, "c": 1, "f": 1}},
)
def test_a_query_does_not_depend_on_the_others(
    name: str, context: dict[str, Run], run: Run, labels: Labels
) -> None:
    """Not in the last bit: PyTerrier scores in batches, and a campaign may be split over machines."""
    assume_common(run, labels)
    options: dict[str, Any] = {"num_docs": 50, "reference": next(iter(context), None), "grades": (-1, 3)}
    measures = [e for e in EXAMPLES if name == e.NAME]
    if "ref" in measures[0].SUPPORTED_PARAMS and not context:
        return
    judged = with_aspects(labels) if measures[0].looks_at_aspects else labels
    together = per_query_of_each(measures, judged, run, RunContext(context, **options))
    for values in together.values():
        assert set(values) == set(labels)
        assert all(np.isfinite(list(values.values())))
    for query, docs in labels.items():
        alone = RunContext({n: {q: r[q] for q in r if q == query} for n, r in context.items()}, **options)
        own = {q: run[q] for q in run if q == query}
        expected = {measure: {query: values[query]} for measure, values in together.items()}
        own_judged = with_aspects({query: docs}) if measures[0].looks_at_aspects else {query: docs}
        assert per_query_of_each(measures, own_judged, own, alone) == expected


# Beside the examples, measures that share with them all but a gain, a threshold or a set of documents.
ALIKE = [
    *PLAIN_EXAMPLES,
    *map(
        ir_measures.parse_measure,
        [
            "NRG@5",
            "NRG(gains={0:1,1:2,2:3})@5",
            "NRG(gains={1:2,2:3})@5",
            "NRG(base='RBP',p=0.5)@3",
            "NRG(base='RBP',rel=2)@3",
            "NRG(base='P',judged_only=True)@3",
            "NRG(gains={0:1},judged_only=True)@3",
            "NRG(norm='whole')@3",
            "NRG(base='ERR',max_grade=5)@3",
            "NRG(base='ERR',judged_only=True)@3",
            "UniqueRel(rel=2)@3",
            "UniqueRel@5",
            "P_Rareness(alpha=0.5)@3",
            "P_Rareness(rel=2)@3",
            "AP_Rareness(judged_only=True)",
            "nDCG_UE(gains={0:1,2:5})@3",
            "nDCG_UE(gains={2:5})@3",
            "AP_UE(rel=2)@3",
            "UE(base='P')@5",
            "UE(base='P',rel=2)@3",
            "UE(base='RBP',p=0.5)@3",
            "UE(base='RBP',p=0.5,version='z')@3",
            "UE(base='ERR',max_grade=5)@3",
            "MED(rel=1)@3",
            "MED(rel=2)@3",
            "MED(max_grade=5)@3",
            MED(gains={-1: 2, 2: 5}) @ 3,
            "MED(base='SDCG',gains={2:5})@3",
            "MED(base='AP',rel=2)@3",
            "MED(base='Q',rel=2)@3",
            "MED(base='Q',beta=0.0)@3",
            "MED(base='RBP',p=0.5)@3",
            "MED(judged=False)@3",
            "RPP(rel=2)@3",
            "RBO@5",
            "RBO(p=0.5)@3",
            "RBA(p=0.5)@3",
            "TaSC(base='P@3')",
            "TaSC(base='P(rel=2)@3')",
            "nDCG@3",
            "nDCG(judged_only=True)@3",
            "P@3",
            "P(rel=2)@3",
            "RR",
        ],
    ),
]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")
@examples(4)
@given(context=contexts.filter(bool), labels=pytrec_eval_qrels, order=st.randoms(use_true_random=False))
@example(
    context={"r1": {"q1": {"a": 3.0, "b": 2.0, "c": 1.0}}, "r2": {"q1": {"c": 3.0, "a": 2.0, "z": 1.0}}},
    labels={"q1": {"a": 1, "b": 0, "c": 2, "d": -1}},
    order=random.Random(1),
)
def test_a_measure_does_not_depend_on_those_in_the_same_call(
    context: dict[str, Run], labels: Labels, order: random.Random
) -> None:
    """One context keeps what it computed for the next measure; no two share what is not the same."""
    for run in context.values():
        assume_common(run, labels)
    options: dict[str, Any] = {"num_docs": 50, "reference": next(iter(context))}
    shuffled = order.sample(ALIKE, len(ALIKE))
    together = RunContext(context, **options).evaluate(labels, shuffled, perquery=True).set_index("measure")
    for measure in ALIKE:
        alone = RunContext(context, **options).evaluate(labels, [measure], perquery=True)
        assert together.loc[[str(measure)], "value"].tolist() == alone["value"].tolist(), measure


#: Those by which a ranking is like itself: the least that there could be, and the mean over ties, may say less.
TELL_ALIKE = [
    e
    for e in EXAMPLES
    if "ref" in e.SUPPORTED_PARAMS
    and not (e.SIMILARITY and (e.get("variant") == "min" or e.get("ties") == "a"))
]


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted({e.NAME for e in TELL_ALIKE}))
@examples(16)
@given(run=runs, other=runs, labels=qrels)
def test_a_reference_scored_against_itself(name: str, run: Run, other: Run, labels: Labels) -> None:
    """0 for a difference, 1 for a similarity."""
    assume_common(run, labels)
    context = RunContext({"ref": run, "other": other, "third": {}}, reference="ref")
    measures = [e for e in TELL_ALIKE if name == e.NAME]
    with context.evaluating("ref"), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        values = list(ir_measures.iter_calc(measures, labels, run))
    same = 1.0 if measures[0].SIMILARITY else 0.0
    assert {m.value for m in values} == {same}
    assert {m.measure for m in values} == set(measures)
    of_a_new_run = per_query_of_each(measures, labels, run, context)
    assert [set(of_measure.values()) for of_measure in of_a_new_run.values()] == [{same}] * len(measures)


@pytest.mark.parametrize("measure", [e for e in EXAMPLES if "ref" in e.SUPPORTED_PARAMS], ids=str)
def test_the_choice_of_the_reference(measure: Any) -> None:
    labels = {"q": {"a": 1, "b": 1}}
    a, b = {"q": {"a": 2.0, "x": 1.0}}, {"q": {"x": 2.0, "y": 1.0}}
    one, two = RunContext({"A": a}), RunContext({"A": a, "B": b})
    expected = per_query(measure, labels, b, one)
    assert per_query(measure(ref="A"), labels, b, two) == expected
    assert per_query(measure, labels, b, RunContext({"A": a, "B": b}, reference="A")) == expected
    with two.evaluating("B"):
        assert {m.query_id: m.value for m in ir_measures.iter_calc([measure], labels, b)} == expected
    with pytest.raises(ValueError, match=r"which run is the reference\? The context holds \['A', 'B'\]"):
        per_query(measure, labels, {"q": {"z": 1.0}}, two)
    with pytest.raises(ValueError, match=r"ref='C' is not a run of the context; its runs are \['A', 'B'\]"):
        per_query(measure(ref="C"), labels, b, two)
    with pytest.raises(ValueError, match=r"which run is the reference\?"):
        per_query(measure, labels, b, RunContext({}))
