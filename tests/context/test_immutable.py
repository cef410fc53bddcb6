"""A context and an evaluator keep what they were made of: nothing done to it later changes a value."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import Any

import ir_measures
import numpy as np
import pandas as pd
import pytest
from ir_measures import Qrel, ScoredDoc

from ir_measures_relative import MED, NRG, RunContext, UniqueRel
from ir_measures_relative.context.priors import BestOfOtherGroups, fields_of

RUNS: dict[str, dict[str, dict[str, float]]] = {
    "A": {"1": {"a": 3.0, "b": 2.0, "x": 1.0}, "2": {"c": 1.0}},
    "B": {"1": {"a": 2.0, "y": 1.0}, "2": {"d": 2.0, "c": 1.0}},
    "C": {"1": {"b": 1.0}},
}
LABELS = {"1": {"a": 2, "b": 1, "x": 0}, "2": {"c": 1, "d": 2}}
MEASURES = [NRG @ 10, UniqueRel @ 10, MED @ 10]

TEXT = ["object", "str", "string[python]", "category"]
if find_spec("pyarrow"):
    TEXT.append("string[pyarrow]")


def frame_of(rows: list[tuple[str, str, Any]], value: str, text: str, number: str) -> pd.DataFrame:
    """A frame each of whose columns has its own memory."""
    columns: dict[str, Any] = dict(zip(["query_id", "doc_id", value], zip(*rows, strict=True), strict=True))
    kinds = {"query_id": text, "doc_id": text, value: number}
    return pd.DataFrame({name: pd.Series(values, dtype=kinds[name]) for name, values in columns.items()})


def scored_rows(run: dict[str, dict[str, float]], text: str, number: str) -> pd.DataFrame:
    return frame_of([(q, d, s) for q, docs in run.items() for d, s in docs.items()], "score", text, number)


def judged_rows(text: str) -> pd.DataFrame:
    return frame_of(
        [(q, d, n) for q, docs in LABELS.items() for d, n in docs.items()], "relevance", text, "int64"
    )


def overwrite(frame: pd.DataFrame) -> None:
    """Writes into every column of a frame, in place: no reference to a column is held, which would make pandas copy."""
    for name in frame.columns:
        last = frame[name].iloc[-1]  # a value that a category knows
        for row in frame.index:
            frame.loc[row, name] = last


def scores_of(evaluator: Any, run: Any) -> list[tuple[str, str, float]]:
    return sorted((str(m.measure), m.query_id, m.value) for m in evaluator.iter_calc(run))


@pytest.mark.parametrize("dtype", TEXT)
@pytest.mark.parametrize("used", [False, True])
def test_a_frame_of_qrels_may_change_after_the_evaluator_was_made(dtype: str, used: bool) -> None:
    frame = judged_rows(dtype)
    with RunContext(RUNS, reference="B").evaluating("A"):
        expected = scores_of(ir_measures.evaluator(MEASURES, LABELS), RUNS["A"])
    context = RunContext(RUNS, reference="B")
    with context.evaluating("A"):
        evaluator = ir_measures.evaluator(MEASURES, frame)
    if used:
        assert scores_of(evaluator, RUNS["A"]) == expected
    overwrite(frame)
    assert scores_of(evaluator, RUNS["A"]) == expected
    found = context.evaluate(judged_rows(dtype), MEASURES)
    pd.testing.assert_frame_equal(found, RunContext(RUNS, reference="B").evaluate(LABELS, MEASURES))


@pytest.mark.parametrize("dtype", TEXT)
def test_what_was_kept_of_qrels_is_not_taken_for_what_they_became(dtype: str) -> None:
    frame = judged_rows(dtype)
    context = RunContext(RUNS)
    before = context.evaluate(frame, [UniqueRel @ 10])
    frame.loc[3, "doc_id"] = "x"
    frame.loc[2, "relevance"] = 1
    changed = context.evaluate(frame, [UniqueRel @ 10])
    assert not changed.equals(before)
    pd.testing.assert_frame_equal(changed, RunContext(RUNS).evaluate(frame.copy(), [UniqueRel @ 10]))


def test_a_dict_and_a_list_of_qrels_may_change() -> None:
    labels = {q: dict(docs) for q, docs in LABELS.items()}
    listed = [Qrel(q, d, label) for q, docs in LABELS.items() for d, label in docs.items()]
    with RunContext(RUNS, reference="B").evaluating("A"):
        evaluators = [ir_measures.evaluator(MEASURES, given) for given in (labels, listed)]
        expected = scores_of(ir_measures.evaluator(MEASURES, LABELS), RUNS["A"])
    labels["1"].update(a=0, y=3)
    labels["3"] = {"z": 1}
    listed[:] = [Qrel("1", "y", 3)]
    assert [scores_of(e, RUNS["A"]) for e in evaluators] == [expected, expected]


@pytest.mark.parametrize("dtype", TEXT)
@pytest.mark.parametrize("float_type", ["float64", "float32", "int64"])
def test_frames_of_runs_may_change(dtype: str, float_type: str) -> None:
    frames = {name: scored_rows(run, dtype, float_type) for name, run in RUNS.items()}
    context = RunContext(frames, reference="B")
    for frame in frames.values():  # before anything of them was looked at
        overwrite(frame)
    del frames["C"]
    expected = RunContext(RUNS, reference="B").evaluate(LABELS, MEASURES)
    pd.testing.assert_frame_equal(context.evaluate(LABELS, MEASURES), expected)


def test_scores_that_changed_are_not_given_to_the_host() -> None:
    frame = scored_rows(RUNS["A"], "str", "float64")
    context = RunContext({"A": frame})
    overwrite(frame)
    with pytest.raises(ValueError, match="run 'A': its scores were changed in place"):
        context.evaluate(LABELS, [ir_measures.Compat()])


def test_dicts_and_lists_of_runs_may_change() -> None:
    given: dict[str, Any] = {
        "A": {q: dict(docs) for q, docs in RUNS["A"].items()},
        "B": [ScoredDoc(q, d, s) for q, docs in RUNS["B"].items() for d, s in docs.items()],
        "C": RUNS["C"],
    }
    context = RunContext(given, reference="B")
    given["A"]["1"].clear()
    given["B"].clear()
    given["D"] = {"1": {"a": 1.0}}
    expected = RunContext(RUNS, reference="B").evaluate(LABELS, MEASURES)
    pd.testing.assert_frame_equal(context.evaluate(LABELS, MEASURES), expected)


def test_lists_dicts_and_groups_of_priors_may_change() -> None:
    listed = ["A"]
    mapped = {"A": ["B"], "B": ["A"], "C": ["A", "B"]}
    groups = {"A": "g", "B": "h", "C": "h"}
    contexts = [
        RunContext(RUNS, priors=listed),
        RunContext(RUNS, priors=mapped),
        RunContext(RUNS, priors=BestOfOtherGroups(), groups=groups),
    ]
    before = [c.evaluate(LABELS, [UniqueRel @ 10]) for c in contexts]
    contexts += [
        RunContext(RUNS, priors=listed),
        RunContext(RUNS, priors=mapped),
        RunContext(RUNS, priors=BestOfOtherGroups(), groups=groups),
    ]
    listed[:] = ["C", "nobody"]
    mapped["C"].clear()
    mapped["A"] = ["nobody"]
    del mapped["B"]
    groups.update(A="h", B="g")
    for context, expected in zip(contexts, before * 2, strict=True):
        pd.testing.assert_frame_equal(context.evaluate(LABELS, [UniqueRel @ 10]), expected)


def attributes(context: RunContext) -> Iterator[str]:
    yield from (
        "runs",
        "groups",
        "priors",
        "policy",
        "reference",
        "num_docs",
        "grades",
        "dataset",
        "names",
        "other",
    )


@pytest.mark.parametrize("name", list(attributes(RunContext({}))))
def test_no_attribute_can_be_set(name: str) -> None:
    context = RunContext(RUNS, num_docs=10)
    for change in (lambda: setattr(context, name, None), lambda: delattr(context, name)):
        with pytest.raises(
            AttributeError, match=rf"does not change once it is made.* make a new one.*{name}"
        ):
            change()
    assert context.num_docs == 10


CHANGES: list[Callable[[Any], Any]] = [
    lambda c: c.runs.__setitem__("D", c.runs["A"]),
    lambda c: c.runs.__delitem__("A"),
    lambda c: c.groups.__setitem__("C", "g"),
    lambda c: c.runs.update(D=c.runs["A"]),
    lambda c: c.runs.pop("A"),
    lambda c: c.runs.clear(),
]


@pytest.mark.parametrize("change", CHANGES)
def test_no_run_can_be_put_in_or_taken_out(change: Callable[[Any], Any]) -> None:
    context = RunContext(RUNS, groups={"A": "g"})
    with pytest.raises(TypeError, match="a RunContext does not change once it is made.* make a new one"):
        change(context)
    context.names.append("D")
    assert context.names == ["A", "B", "C"]


def test_what_a_policy_was_given_as_is_shown_as_given() -> None:
    assert RunContext(RUNS, priors="earlier").priors == "earlier"
    assert RunContext(RUNS, priors=["A"]).priors == ["A"]
    assert np.array_equal(RunContext(RUNS).names, list(RUNS))


def test_what_was_computed_is_not_handed_on() -> None:
    """A context with other priors starts with nothing of what was computed for these."""
    assert "_views" not in fields_of(RunContext({"a": {"q": {"d": 1.0}}}))
