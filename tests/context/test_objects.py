"""Contexts and evaluators as objects, and odd values: they pickle and copy, and what is no input is told in words."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import ir_measures
import numpy as np
import pandas as pd
import pytest
from ir_measures import AP, Qrel, ScoredDoc, nDCG

from ir_measures_relative import MED, NRG, P_Rareness, RunContext, TaSC, UniqueRel, explain, nDCG_UE, rrLP
from ir_measures_relative.context.priors import BestOfOtherGroups

RUNS: dict[str, dict[str, dict[str, float]]] = {
    "A": {"1": {"a": 3.0, "b": 2.0, "x": 1.0}, "2": {"c": 1.0}},
    "B": {"1": {"a": 2.0, "y": 1.0}, "2": {"d": 2.0, "c": 1.0}},
    "C": {"1": {"b": 1.0}},
}
LABELS = {"1": {"a": 2, "b": 1, "x": 0}, "2": {"c": 1, "d": 2}}
RELATIVE = [NRG @ 10, UniqueRel @ 10, P_Rareness @ 10, nDCG_UE @ 10, MED @ 10, rrLP, TaSC(base="nDCG@10")]
MEASURES = [*RELATIVE, nDCG @ 10, AP]

COPIES: dict[str, Callable[[Any], Any]] = {
    "pickle": lambda o: pickle.loads(pickle.dumps(o)),
    "first pickle": lambda o: pickle.loads(pickle.dumps(o, protocol=0)),
    "deepcopy": copy.deepcopy,
    "copy": copy.copy,
}


def context(**options: Any) -> RunContext:
    groups = {"A": "g", "B": "h", "C": "h"}
    return RunContext(RUNS, reference="B", num_docs=9, grades=(0, 3), groups=groups, **options)


@pytest.mark.parametrize("how", COPIES)
@pytest.mark.parametrize("before", [[], [nDCG @ 10], RELATIVE, MEASURES], ids=len)
@pytest.mark.parametrize(
    "priors", ["others", "earlier", ["A"], {"A": ["B"], "B": [], "C": ["A"]}, BestOfOtherGroups()], ids=str
)
def test_a_context_pickles_and_copies_at_any_time(how: str, before: list[Any], priors: Any) -> None:
    original = context(priors=priors)
    if before:
        original.evaluate(LABELS, before)
    again = COPIES[how](original)
    assert repr(again) == repr(original)
    expected = context(priors=priors).evaluate(LABELS, MEASURES)
    pd.testing.assert_frame_equal(again.evaluate(LABELS, MEASURES), expected)
    pd.testing.assert_frame_equal(original.evaluate(LABELS, MEASURES), expected)
    with pytest.raises(AttributeError, match="does not change once it is made"):
        again.num_docs = 3
    with pytest.raises(TypeError, match="does not change once it is made"):
        again.runs["D"] = again.runs["A"]
    with again.evaluating("A"):
        assert ir_measures.calc_aggregate([UniqueRel(prior="B") @ 10], LABELS, RUNS["A"])


@pytest.mark.parametrize("how", COPIES)
@pytest.mark.parametrize("used", [False, True])
def test_an_evaluator_pickles_and_copies_at_any_time(how: str, used: bool) -> None:
    with context().evaluating("A"):
        evaluator = ir_measures.evaluator(RELATIVE, LABELS)
    expected = evaluator.calc_aggregate(RUNS["A"]) if used else None
    again = COPIES[how](evaluator)
    found = again.calc_aggregate(RUNS["A"])
    assert found == evaluator.calc_aggregate(RUNS["A"])
    assert expected is None or found == expected


# ---- odd values ---------------------------------------------------------------------------------------


def scored(runs: Any, qrels: Any = LABELS, measures: Any = (NRG @ 3,)) -> Any:
    return RunContext({**runs, "other": {"1": {"x": 1.0}}}).evaluate(qrels, measures)


def qrels_with(row: int, column: str, value: Any, dtype: Any = object) -> pd.DataFrame:
    rows = [(q, d, label) for q, docs in LABELS.items() for d, label in docs.items()]
    frame = pd.DataFrame(rows, columns=["query_id", "doc_id", "relevance"])
    frame[column] = frame[column].astype(object)
    frame.loc[row, column] = value
    return frame.astype({column: dtype})


@pytest.mark.parametrize("row", [0, 3, 4])
@pytest.mark.parametrize(
    ("column", "value", "dtype", "message"),
    [
        ("relevance", pd.NA, object, "has the relevance <NA>; relevance must be a whole number"),
        ("relevance", pd.NA, "Int64", "has the relevance <NA>; relevance must be a whole number"),
        ("relevance", None, object, "has the relevance None; relevance must be a whole number"),
        ("relevance", np.nan, float, "has the relevance .*nan.*; relevance must be a whole number"),
        ("relevance", "1", object, "has the relevance '1'; relevance must be a whole number"),
        ("relevance", np.array([1, 2]), object, "has the relevance .*; relevance must be a whole number"),
        ("query_id", pd.NA, object, "query id <NA> is a missing value"),
        ("query_id", np.nan, object, "query id nan is a missing value"),
        ("query_id", pd.NA, "string", "query id <NA> is a missing value"),
        ("query_id", "a\ud800", object, "query id 'a.ud800' is half of a surrogate pair"),
        ("doc_id", pd.NA, object, "document id <NA> is a missing value"),
        ("doc_id", pd.NA, "string", "document id <NA> is a missing value"),
        ("doc_id", None, object, "document id None is a missing value"),
        ("doc_id", "\udfff", object, "document id '.udfff' is half of a surrogate pair"),
    ],
)
def test_what_is_no_judgment(row: int, column: str, value: Any, dtype: Any, message: str) -> None:
    frame = (
        qrels_with(row, column, value, dtype)
        if not isinstance(value, np.ndarray)
        else qrels_with(row, column, 1)
    )
    if isinstance(value, np.ndarray):
        frame.at[row, column] = value
    with pytest.raises(ValueError, match=f"the qrels: .*{message}"):
        scored(RUNS, frame)


RANKING = [ScoredDoc("1", "a", 2.0), ScoredDoc("1", "b", 1.0)]


@pytest.mark.parametrize(
    ("run", "message"),
    [
        ([*RANKING, ("1", "b", 2.0)], r"run 'r': an iterable whose item 2 is a tuple is not a run; give"),
        ([("1", "b", 2.0), *RANKING], r"run 'r': an iterable whose item 0 is a tuple is not a run; give"),
        ([*RANKING, None], r"an iterable whose item 2 is (a )?NoneType is not a run"),
        ([*RANKING, Qrel("1", "a", 1)], r"an iterable whose item 2 is a Qrel is not a run"),
        ([ScoredDoc("1", "a\ud800", 2.0)], r"run 'r': query '1'"),
        ([ScoredDoc("\ud800", "a", 2.0)], r"run 'r': query id '.ud800' is half of a surrogate pair"),
        ({"1": {pd.NA: 1.0}}, r"run 'r': query '1': document id <NA> is a missing value"),
        ({"1": {"a": pd.NA}}, r"run 'r': query '1', document 'a' has a? ?.*score"),
        ({"1": {"a": np.array([1.0, 2.0])}}, r"run 'r': query '1'"),
        ({pd.NA: {"a": 1.0}}, r"run 'r': query id <NA> is a missing value"),
        ({"1": {"a": 1.0}, "2": None}, r"run 'r': query '2' holds (a )?NoneType; a run given as a dict"),
    ],
)
def test_what_is_no_run(run: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        scored({"r": run})
    with RunContext(RUNS), pytest.raises(ValueError, match=message.replace("run 'r'", "the run")):
        (NRG @ 3).calc_aggregate(LABELS, run)


@pytest.mark.parametrize("name", [np.array(["A", "A"]), ["A"], None, pd.NA, np.nan, 7, {"A": 1}], ids=repr)
@pytest.mark.parametrize("first", [False, True])
def test_a_name_column_that_names_nobody(name: Any, first: bool) -> None:
    """Only one string names a run; anything else is as good as no column."""
    frame = pd.DataFrame({"query_id": ["1", "1"], "doc_id": ["b", "y"], "score": [2.0, 1.0]})
    names = np.empty(2, dtype=object)
    names[0], names[1] = (name, "A") if first else ("A", name)
    frame["name"] = names
    new_run = frame.drop(columns="name")
    with RunContext({"A": RUNS["A"]}):
        assert (NRG @ 3).calc_aggregate(LABELS, frame) == (NRG @ 3).calc_aggregate(LABELS, new_run)


@pytest.mark.parametrize(
    "text",
    [
        "-" * 100_000 + "1",
        "NRG(" * 50_000,
        "NRG@" + "9" * 50_000,
        "NRG(base=" + "(" * 2000 + ")",
        "",
        " ",
        "@10",
        "\ud800",
        "NRG@10\0",
        "é@10",
    ],
    ids=lambda text: ascii(text[:12]),
)
def test_strings_that_are_no_measure(text: str) -> None:
    for call in (
        lambda: scored(RUNS, LABELS, [text]),
        lambda: explain(RunContext(RUNS), "A", LABELS, text),
        lambda: RunContext(RUNS, priors=BestOfOtherGroups(by=text), groups=dict.fromkeys(RUNS, "g")),
        lambda: scored(RUNS, LABELS, [TaSC(base=text)]),
    ):
        with pytest.raises(ValueError) as caught:
            call()
        assert len(str(caught.value)) < 1000


@pytest.mark.parametrize("measure", [None, 10, 1.5, b"NRG@10", ["NRG@10"], nDCG.__class__], ids=repr)
def test_values_that_are_no_measure(measure: Any) -> None:
    with pytest.raises(ValueError, match="is not a measure; give one such as NRG@10"):
        scored(RUNS, LABELS, [measure])
