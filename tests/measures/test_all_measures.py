"""What holds for every measure of the package, present and future."""

from __future__ import annotations

import contextlib
import re
import warnings

import ir_measures
import numpy as np
import pytest
from hypothesis import given, settings

from example_measures import EXAMPLES, REGISTERED, variants
from ir_measures_relative import RunContext
from random_campaigns import contexts, qrels, runs
from scored import assume_common, per_query


@pytest.mark.parametrize("measure", EXAMPLES, ids=str)
def test_repr_round_trips(measure) -> None:
    again = ir_measures.parse_measure(repr(measure))
    assert again == measure
    assert repr(again) == repr(measure)


@pytest.mark.parametrize("name", REGISTERED)
def test_declared_in_full(name) -> None:
    measure = REGISTERED[name]
    assert measure.PRETTY_NAME
    assert measure.SHORT_DESC.endswith(".")
    doc = type(measure).__doc__
    assert "Source:" in doc or "Sources:" in doc
    assert re.search(r"\b[Rr]ange\b", doc)
    assert ">>>" in doc
    for spec in measure.SUPPORTED_PARAMS.values():
        assert spec.desc
        assert spec.describe()
    assert ir_measures.DefaultPipeline.supports(variants(measure)[0])


@pytest.mark.parametrize("measure", EXAMPLES, ids=str)
@settings(max_examples=25)
@given(context=contexts, run=runs, labels=qrels)
def test_a_query_does_not_depend_on_the_others(measure, context, run, labels) -> None:
    """Not in the last bit: PyTerrier scores in batches, and a campaign may be split over machines."""
    assume_common(run, labels)
    options = {"num_docs": 50, "reference": next(iter(context), None)}
    if "ref" in measure.SUPPORTED_PARAMS and not context:
        return
    if (
        "max_grade" in measure.SUPPORTED_PARAMS
    ):  # else the highest grade of the batch would bound the open documents
        graded = measure(max_grade=3)
        with contextlib.suppress(ValueError):  # a binary base has no grades to bound
            graded.validate_params()
            measure = graded
    together = per_query(measure, labels, run, RunContext(context, **options))
    assert set(together) == set(labels)
    assert all(np.isfinite(list(together.values())))
    for query, docs in labels.items():
        alone = RunContext({n: {q: r[q] for q in r if q == query} for n, r in context.items()}, **options)
        own = {q: run[q] for q in run if q == query}
        assert per_query(measure, {query: docs}, own, alone) == {query: together[query]}


@pytest.mark.parametrize("measure", [e for e in EXAMPLES if "ref" in e.SUPPORTED_PARAMS], ids=str)
@settings(max_examples=25)
@given(run=runs, other=runs, labels=qrels)
def test_a_reference_scored_against_itself_gives_0(measure, run, other, labels) -> None:
    assume_common(run, labels)
    context = RunContext({"ref": run, "other": other, "third": {}}, reference="ref")
    with context.evaluating("ref"), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        values = [m.value for m in ir_measures.iter_calc([measure], labels, run)]
    assert set(values) == {0.0}
    assert set(per_query(measure, labels, run, context).values()) == {0.0}


@pytest.mark.parametrize("measure", [e for e in EXAMPLES if "ref" in e.SUPPORTED_PARAMS], ids=str)
def test_the_choice_of_the_reference(measure) -> None:
    labels = {"q": {"a": 1, "b": 1}}
    a, b = {"q": {"a": 2.0, "x": 1.0}}, {"q": {"x": 2.0, "y": 1.0}}
    one, two = RunContext({"A": a}), RunContext({"A": a, "B": b})
    expected = per_query(measure, labels, b, one)
    assert per_query(measure(ref="A"), labels, b, two) == expected
    assert per_query(measure, labels, b, RunContext({"A": a, "B": b}, reference="A")) == expected
    with two.evaluating("B"):
        assert {m.query_id: m.value for m in ir_measures.iter_calc([measure], labels, b)} == expected
    with pytest.raises(
        ValueError, match=r"which run is the reference\? The context holds \['A', 'B'\].*reference=name"
    ):
        per_query(measure, labels, {"q": {"z": 1.0}}, two)
    with pytest.raises(ValueError, match=r"ref='C' is not a run of the context; its runs are \['A', 'B'\]"):
        per_query(measure(ref="C"), labels, b, two)
    with pytest.raises(ValueError, match=r"which run is the reference\? The context holds \[\]"):
        per_query(measure, labels, b, RunContext({}))
