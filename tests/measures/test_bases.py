"""What bases are made of: positions, gains, ideals, sums; far cutoffs; and which grades an open document may have."""

import math
import tracemalloc
from collections.abc import Callable
from typing import Any

import ir_measures
import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from ir_measures import Measure

from drawn import examples
from ir_measures_relative import MED, NRG, RunContext, Shapley, bounds, nDCG_UE
from ir_measures_relative.data.arrays import FloatArray, PositionTable
from ir_measures_relative.measures.bases.browsing import (
    BrowsingModel,
    Geometric,
    LogDiscount,
    Reciprocal,
    TopK,
    powers,
)
from ir_measures_relative.measures.bases.gains import (
    compute_gains,
    discount,
    reciprocal,
    total_discount,
)
from ir_measures_relative.measures.form import Ideal
from long_campaigns import qrels_frame
from random_campaigns import Labels, Run, contexts, qrels
from scored import assume_common, per_query

TABLES: dict[str, tuple[PositionTable, Callable[[int], float]]] = {
    "discount": (discount, lambda i: 1 / math.log2(i + 1)),
    "reciprocal": (reciprocal, lambda i: 1 / i),
    **{f"powers({p})": (powers(p), lambda i, p=p: p ** (i - 1)) for p in (0.5, 0.8, 0.95, 0.999)},
}


@pytest.mark.parametrize("name", TABLES)
@example(positions=[3, 1])  # where numpy's power of one number was not that of two
@given(positions=st.lists(st.integers(0, 3000), min_size=1, max_size=40))
def test_a_value_does_not_depend_on_the_others(name: str, positions: list[int]) -> None:
    table, definition = TABLES[name]
    together = table(np.array(positions))
    assert [float(table(np.array([i]))[0]) for i in positions] == together.tolist()
    assert table(np.array([positions])).tolist() == [together.tolist()]
    assert together.tolist() == table.up_to(3000)[positions].tolist()
    for position, value in zip(positions, together.tolist(), strict=True):
        assert value == (pytest.approx(definition(position), rel=1e-13) if position else 0)


@given(depths=st.lists(st.integers(0, 5000), min_size=1, max_size=6))
def test_a_value_does_not_depend_on_what_was_asked_before(depths: list[int]) -> None:
    def power(position: FloatArray) -> FloatArray:
        return np.power(0.8, position - 1.0)

    grown, fresh = PositionTable(power), PositionTable(power)
    for depth in depths:
        assert grown.up_to(depth).shape == (depth + 1,)
    assert grown.up_to(max(depths)).tolist() == fresh.up_to(max(depths)).tolist()
    assert powers(0.3) is powers(float(np.float64(0.3)))


def test_the_sum_of_many_discounts() -> None:
    """Equal to the last bit up to 2^20 terms, and as close as rounding allows beyond."""
    every = 1.0 / np.log2(np.arange(1, 2**21 + 8) + 1.0)
    for k in (1, 10, 1000, 2**20 + 1, 2**21 + 7):
        assert total_discount(k) == pytest.approx(every[:k].sum(), rel=1e-15 if k <= 1000 else 1e-14)
    assert total_discount(2**31 - 1) == pytest.approx(np.log(2) * 105103364.2, rel=1e-3)


RUNS = {"one": {"q": {"A": 3.0, "B": 2.0, "C": 1.0}}, "two": {"q": {"C": 3.0, "D": 2.0, "A": 1.0, "B": 0.0}}}
QRELS = {"q": {"A": 1, "B": 0, "X": 1}}


@pytest.mark.parametrize("measure", [MED(base="AP", norm=n) for n in ("R", "min")])
def test_far_cutoffs_give_the_same(measure: Measure) -> None:
    with RunContext(RUNS, reference="one"):
        near, far = ((measure @ k).calc_aggregate(QRELS, RUNS["two"]) for k in (10, 10**9))
    assert near == pytest.approx(far, abs=1e-15) and near > 0


@pytest.mark.parametrize("measure", [NRG(base="SDCG"), MED(base="SDCG"), Shapley(base="SDCG")])
def test_sdcg_of_far_cutoffs_takes_no_more_memory(measure: Measure) -> None:
    tracemalloc.start()
    with RunContext(RUNS, reference="one").evaluating("two"):
        value = (measure @ 10**9).calc_aggregate(QRELS, RUNS["two"])
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert 0 <= value < 1e-7 and most < 1e8


def test_the_ideal_where_one_query_has_most_rows() -> None:
    """A table of all queries would be large there, so that it is computed row by row."""
    gain, query = np.random.default_rng(0).random(1201), np.append(np.zeros(1200, dtype=np.int64), 1500)
    ideal = Ideal(LogDiscount(), 3).value(gain, query, 1501)
    best = np.sort(gain[:1200])[::-1][:3]
    assert ideal[0] == pytest.approx(best[0] + best[1] / np.log2(3) + best[2] / 2)
    assert ideal[1500] == gain[1200] and not ideal[1:1500].any()


def test_the_largest_label_whose_exponential_gain_is_a_number() -> None:
    assert compute_gains(np.array([1000]), "exp-log2", None).tolist() == [2.0**1000 - 1]
    with pytest.raises(ValueError, match="the label 1001, in the qrels, is too large"):
        compute_gains(np.array([1001]), "exp-log2", None)


@pytest.mark.parametrize("seen", [LogDiscount(), Reciprocal(), Geometric(0.5), TopK()], ids=str)
def test_an_ideal_is_that_of_its_browsing_model(seen: BrowsingModel) -> None:
    gain, query = np.array([1.0, 3.0, 2.0, 1.0]), np.array([0, 0, 0, 1])
    weights = seen.seen(np.arange(1, 4)).tolist()
    for depth in (1, 2, None):
        want = [
            sum(g * w for g, w in zip(sorted(gain[query == q], reverse=True)[:depth], weights, strict=False))
            for q in (0, 1)
        ]
        ideal = Ideal(seen, depth)
        assert ideal.value(gain, query, 2) == pytest.approx(want)
        assert ideal.value(np.array([gain, 2 * gain]), query, 2)[1] == pytest.approx(2 * np.array(want))


GRADED = [
    MED @ 3,
    MED(base="SDCG") @ 3,
    MED(base="ERR") @ 3,
    MED(base="SDCG", gains={-1: 2, 2: 5}) @ 3,
    MED(gains={-1: 4, 3: 1}),
]
GRADED_RUNS: dict[str, Run] = {
    "ref": {"1": {"a": 1.0}, "2": {"b": 2.0, "x": 1.0}, "3": {"a": 1.0}},
    "run": {"1": {"b": 1.0}, "2": {"y": 2.0, "a": 1.0}, "3": {"b": 1.0}},
}
LABELS: Labels = {"1": {"c": 3}, "2": {"c": 1}, "3": {"c": -1, "a": 2}}


@pytest.mark.parametrize("measure", GRADED, ids=str)
@examples(20)
@given(context=contexts.filter(bool), labels=qrels)
@example(context=GRADED_RUNS, labels=LABELS)
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
    context = RunContext(GRADED_RUNS, grades=grades)
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
        RunContext(GRADED_RUNS, grades=grades)


def test_grades_of_numpy() -> None:
    grades: Any = [np.int64(-1), np.int32(3)]
    assert RunContext(GRADED_RUNS, grades=grades).grades == (-1, 3)


def test_grades_beyond_number() -> None:
    """As many bytes as a machine has, if each were looked at."""
    context, high = RunContext(GRADED_RUNS, reference="ref"), {"1": {"c": 2**31 - 1, "b": 1}}
    tried: list[Any] = [
        lambda: context.evaluate(high, [MED @ 3]),
        lambda: context.evaluate(high, [MED(base="SDCG") @ 3]),
        lambda: context.evaluate(LABELS | {"3": {"a": 2}}, [MED(max_grade=2**31 - 1) @ 3]),
    ]
    for measure in ("nDCG@3", "NRG(norm='ideal')@3"):
        tried.append(lambda m=measure: bounds(RunContext(GRADED_RUNS, grades=(0, 2**31 - 1)), high, [m]))
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
            evaluators(RunContext(GRADED_RUNS, reference="ref"), measure, LABELS)
        evaluators(RunContext(GRADED_RUNS, reference="ref", grades=(-1, 3)), measure, LABELS)
    # Not where no number would be another one.
    for fine in (MED(max_grade=3) @ 3, MED(rel=1) @ 3, MED(base="AP") @ 3, MED(base="RBP"), NRG @ 3):
        evaluators(RunContext(GRADED_RUNS, reference="ref"), fine, LABELS)


def test_the_lowest_grade_counts_only_where_it_gains() -> None:
    """Many collections have junk at -2 in some topics and not in others."""
    labels: Labels = {"1": {"a": 3, "b": -2}, "2": {"a": 3, "b": 0}}
    for measure in (MED @ 3, MED(base="SDCG", gains={-2: 0, 3: 1}) @ 3):
        evaluators(RunContext(GRADED_RUNS, reference="ref"), measure, labels)
    for measure in (MED(gains={-2: 1}) @ 3, MED(gains={-2: 1}, max_grade=3) @ 3):
        with pytest.raises(ValueError, match="would be rated on two scales"):
            evaluators(RunContext(GRADED_RUNS, reference="ref"), measure, labels)


def test_no_measure_writes_into_the_context() -> None:
    """What was scored before changes nothing: neither on other qrels, nor on the same."""
    context = RunContext(GRADED_RUNS, reference="ref", num_docs=9)
    before = context.evaluate({"2": LABELS["2"]}, GRADED)
    context.evaluate(LABELS, GRADED)
    assert context.grades is None
    pd.testing.assert_frame_equal(context.evaluate({"2": LABELS["2"]}, GRADED), before)
