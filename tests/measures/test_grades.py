"""Which grades an open document may have: the context's, where the qrels come in parts."""

from typing import Any

import ir_measures
import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given

from drawn import examples
from ir_measures_relative import MED, NRG, RunContext, bounds, nDCG_UE
from long_campaigns import qrels_frame
from random_campaigns import Labels, Run, contexts, qrels
from scored import assume_common, per_query

GRADED = [
    MED @ 3,
    MED(base="SDCG") @ 3,
    MED(base="ERR") @ 3,
    MED(base="SDCG", gains={-1: 2, 2: 5}) @ 3,
    MED(gains={-1: 4, 3: 1}),
]
RUNS: dict[str, Run] = {
    "ref": {"1": {"a": 1.0}, "2": {"b": 2.0, "x": 1.0}, "3": {"a": 1.0}},
    "run": {"1": {"b": 1.0}, "2": {"y": 2.0, "a": 1.0}, "3": {"b": 1.0}},
}
LABELS: Labels = {"1": {"c": 3}, "2": {"c": 1}, "3": {"c": -1, "a": 2}}


@pytest.mark.parametrize("measure", GRADED, ids=str)
@examples(20)
@given(context=contexts.filter(bool), labels=qrels)
@example(context=RUNS, labels=LABELS)
def test_parts_are_on_the_scale_of_the_context(measure: Any, context: dict[str, Run], labels: Labels) -> None:
    """Query by query, with a context that knows the grades, what the whole gives."""
    for run in context.values():
        assume_common(run, labels)
    names = list(context)
    found = [label for docs in labels.values() for label in docs.values()]
    grades = min(found), max(*found, 1)
    run = context[names[-1]]
    whole = per_query(measure, labels, run, RunContext(context, reference=names[0]))
    parts = RunContext(context, reference=names[0], grades=grades)
    assert per_query(measure, labels, run, parts) == whole
    for query, docs in labels.items():
        own = {q: r for q, r in run.items() if q == query}
        assert per_query(measure, {query: docs}, own, parts) == {query: whole[query]}


@pytest.mark.parametrize("measure", GRADED[:3], ids=str)
def test_an_open_document_may_have_the_grade_that_the_context_says(measure: Any) -> None:
    labels, run = {"q": {"c": 1, "d": 1}}, {"q": {"b": 1.0}}
    asked = [(measure, None), (measure, (0, 1)), (measure, (0, 4)), (measure(max_grade=4), (0, 1))]
    values = [
        per_query(m, labels, run, RunContext({"ref": {"q": {"a": 2.0, "c": 1.0}}}, grades=grades))["q"]
        for m, grades in asked
    ]
    assert values[0] == values[1] != values[2] == values[3]  # max_grade goes before the context's


@pytest.mark.parametrize(("grades", "beyond"), [((0, 2), 3), ((0, 1), 3), ((1, 3), -1), ((0, 3), -1)])
def test_a_label_beyond_the_grades_of_the_context(grades: tuple[int, int], beyond: int) -> None:
    context = RunContext(RUNS, grades=grades)
    message = f"the qrels hold the grade {beyond}, "
    for perquery in (False, True):
        with pytest.raises(ValueError, match=message):
            context.evaluate(LABELS, [NRG @ 3], perquery=perquery)
    with context, pytest.raises(ValueError, match=message):
        ir_measures.evaluator([nDCG_UE @ 3], LABELS)


@pytest.mark.parametrize(
    "grades", [(3, 0), (0,), (0, 1, 2), "01", 3, (0, 1.5), (0, "a"), (0, True), (0, 2**31)]
)
def test_grades_that_are_none(grades: Any) -> None:
    with pytest.raises(ValueError, match=r"grades=.* is not allowed"):
        RunContext(RUNS, grades=grades)


def test_grades_of_numpy() -> None:
    grades: Any = [np.int64(-1), np.int32(3)]
    assert RunContext(RUNS, grades=grades).grades == (-1, 3)


def test_grades_beyond_number() -> None:
    """As many bytes as a machine has, if each were looked at."""
    context, high = RunContext(RUNS, reference="ref"), {"1": {"c": 2**31 - 1, "b": 1}}
    tried: list[Any] = [
        lambda: context.evaluate(high, [MED @ 3]),
        lambda: context.evaluate(high, [MED(base="SDCG") @ 3]),
        lambda: context.evaluate(LABELS | {"3": {"a": 2}}, [MED(max_grade=2**31 - 1) @ 3]),
    ]
    for measure in ("nDCG@3", "NRG(norm='ideal')@3"):
        tried.append(lambda m=measure: bounds(RunContext(RUNS, grades=(0, 2**31 - 1)), high, [m]))
    for ask in tried:
        with pytest.raises(ValueError, match="grades from 0 to 2147483647, and at most 100000"):
            ask()
    assert (context.evaluate(high, [NRG @ 3])["NRG@3"] >= 0).all()  # which knows what it gains
    assert (context.evaluate({"1": {"c": 99_999}}, [MED @ 1]).iloc[:, 1] >= 0).all()


def evaluators(context: RunContext, measure: Any, labels: Labels) -> None:
    whole = qrels_frame(labels)
    with context:
        for query in labels:
            ir_measures.evaluator([measure], whole[whole["query_id"] == query])


def test_parts_on_two_scales_are_an_error_at_the_first_conflict() -> None:
    for measure in GRADED:
        with pytest.raises(ValueError, match=r"in those of other topics.*RunContext\(…, grades=\(lowest"):
            evaluators(RunContext(RUNS, reference="ref"), measure, LABELS)
        evaluators(RunContext(RUNS, reference="ref", grades=(-1, 3)), measure, LABELS)
    # Not where no number would be another one.
    for fine in (MED(max_grade=3) @ 3, MED(rel=1) @ 3, MED(base="AP") @ 3, MED(base="RBP"), NRG @ 3):
        evaluators(RunContext(RUNS, reference="ref"), fine, LABELS)


def test_the_lowest_grade_counts_only_where_it_gains() -> None:
    """Many collections have junk at -2 in some topics and not in others."""
    labels: Labels = {"1": {"a": 3, "b": -2}, "2": {"a": 3, "b": 0}}
    for measure in (MED @ 3, MED(base="SDCG", gains={-2: 0, 3: 1}) @ 3):
        evaluators(RunContext(RUNS, reference="ref"), measure, labels)
    for measure in (MED(gains={-2: 1}) @ 3, MED(gains={-2: 1}, max_grade=3) @ 3):
        with pytest.raises(ValueError, match="would be rated on two scales"):
            evaluators(RunContext(RUNS, reference="ref"), measure, labels)


def test_no_measure_writes_into_the_context() -> None:
    """What was scored before changes nothing: neither on other qrels, nor on the same."""
    context = RunContext(RUNS, reference="ref", num_docs=9)
    before = context.evaluate({"2": LABELS["2"]}, GRADED)
    context.evaluate(LABELS, GRADED)
    assert context.grades is None
    pd.testing.assert_frame_equal(context.evaluate({"2": LABELS["2"]}, GRADED), before)
