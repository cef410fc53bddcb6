"""Contexts and evaluators as objects: they pickle, copy and do not change; what is no input is told in words."""

import copy
import pickle
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import ir_measures
import numpy as np
import pandas as pd
import pytest
from ir_measures import AP, Qrel, ScoredDoc, nDCG

import ir_measures_relative
from ir_measures_relative import MED, NRG, P_Rareness, RunContext, TaSC, UniqueRel, explain, nDCG_UE, rrLP
from ir_measures_relative.bounding import judge_next
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
@pytest.mark.parametrize("before", [[], MEASURES], ids=len)
@pytest.mark.parametrize(
    "priors", ["others", {"A": ["B"], "B": [], "C": ["A"]}, BestOfOtherGroups()], ids=str
)
def test_a_context_pickles_and_copies_at_any_time(how: str, before: list[Any], priors: Any) -> None:
    original = context(priors=priors)
    if before:
        original.evaluate(LABELS, before)
    again = COPIES[how](original)
    assert not again._collections  # what was computed stays behind
    assert repr(again) == repr(original)
    expected = context(priors=priors).evaluate(LABELS, MEASURES)
    for one in (again, original):
        pd.testing.assert_frame_equal(one.evaluate(LABELS, MEASURES), expected)
    with pytest.raises(AttributeError, match="does not change once it is made"):
        again.num_docs = 3
    with pytest.raises(TypeError, match="does not change once it is made"):
        again.runs["D"] = again.runs["A"]


@pytest.mark.parametrize("how", COPIES)
@pytest.mark.parametrize("used", [False, True])
def test_an_evaluator_pickles_and_copies_at_any_time(how: str, used: bool) -> None:
    with context().evaluating("A"):
        evaluator = ir_measures.evaluator(RELATIVE, LABELS)
    expected = context().evaluate(LABELS, RELATIVE).set_index("name").loc["A"]
    if used:
        evaluator.calc_aggregate(RUNS["A"])
    found = COPIES[how](evaluator).calc_aggregate(RUNS["A"])
    assert {str(m): value for m, value in found.items()} == expected.to_dict()


TEXT = ["object", "str", "category", *(["string[pyarrow]"] if find_spec("pyarrow") else [])]
FEW = [NRG @ 10, UniqueRel @ 10, MED @ 10]


def frame_of(given: dict[str, dict[str, Any]], value: str, text: str, number: str = "int64") -> pd.DataFrame:
    """A frame each of whose columns has its own memory."""
    rows = [(q, d, n) for q, docs in given.items() for d, n in docs.items()]
    columns = zip(("query_id", "doc_id", value), zip(*rows, strict=True), strict=True)
    return pd.DataFrame({n: pd.Series(of, dtype=number if n == value else text) for n, of in columns})


def overwrite(frame: pd.DataFrame) -> None:
    """Writes into every column of a frame, in place: no reference to a column is held, which would make pandas copy."""
    for name in frame.columns:
        last = frame[name].iloc[-1]  # a value that a category knows
        for row in frame.index:
            frame.loc[row, name] = last


def scores_of(evaluator: Any, run: Any) -> list[tuple[str, str, float]]:
    return sorted((str(m.measure), m.query_id, m.value) for m in evaluator.iter_calc(run))


@pytest.mark.parametrize("kind", [*TEXT, "dict", "list"])
@pytest.mark.parametrize("used", [False, True])
def test_qrels_may_change_after_the_evaluator_was_made(kind: str, used: bool) -> None:
    given: Any = frame_of(LABELS, "relevance", kind) if kind in TEXT else copy.deepcopy(LABELS)
    if kind == "list":
        given = [Qrel(q, d, label) for q, docs in LABELS.items() for d, label in docs.items()]
    made = RunContext(RUNS, reference="B")
    with made.evaluating("A"):
        expected = scores_of(ir_measures.evaluator(FEW, LABELS), RUNS["A"])
        evaluator = ir_measures.evaluator(FEW, given)
    if used:
        assert scores_of(evaluator, RUNS["A"]) == expected
    if kind in TEXT:
        overwrite(given)
    elif kind == "dict":
        given["1"].update(a=0, y=3)
        given["3"] = {"z": 1}
    else:
        given[:] = [Qrel("1", "y", 3)]
    assert scores_of(evaluator, RUNS["A"]) == expected


@pytest.mark.parametrize("dtype", TEXT)
def test_what_was_kept_of_qrels_is_not_taken_for_what_they_became(dtype: str) -> None:
    frame, made = frame_of(LABELS, "relevance", dtype), RunContext(RUNS)
    before = made.evaluate(frame, [UniqueRel @ 10])
    frame.loc[3, "doc_id"] = "x"
    frame.loc[2, "relevance"] = 1
    changed = made.evaluate(frame, [UniqueRel @ 10])
    assert not changed.equals(before)
    pd.testing.assert_frame_equal(changed, RunContext(RUNS).evaluate(frame.copy(), [UniqueRel @ 10]))


@pytest.mark.parametrize("dtype", TEXT)
@pytest.mark.parametrize("number", ["float64", "float32", "int64"])
def test_runs_may_change(dtype: str, number: str) -> None:
    given: dict[str, Any] = {name: frame_of(RUNS[name], "score", dtype, number) for name in "AB"}
    made = RunContext(given | {"C": copy.deepcopy(RUNS["C"])}, reference="B")
    for frame in given.values():  # before anything of them was looked at
        overwrite(frame)
    del given["B"]
    expected = RunContext(RUNS, reference="B").evaluate(LABELS, FEW)
    pd.testing.assert_frame_equal(made.evaluate(LABELS, FEW), expected)
    if number == "float64":  # else they were copied
        with pytest.raises(ValueError, match="run 'A': its scores were changed in place"):
            made.evaluate(LABELS, [ir_measures.Compat()])  # the host is not given other scores


def test_dicts_and_lists_of_runs_may_change() -> None:
    listed = [ScoredDoc(q, d, s) for q, docs in RUNS["B"].items() for d, s in docs.items()]
    given: dict[str, Any] = {"A": copy.deepcopy(RUNS["A"]), "B": listed, "C": RUNS["C"]}
    made = RunContext(given, reference="B")
    given["A"]["1"].clear()
    listed.clear()
    given["D"] = {"1": {"a": 1.0}}
    expected = RunContext(RUNS, reference="B").evaluate(LABELS, FEW)
    pd.testing.assert_frame_equal(made.evaluate(LABELS, FEW), expected)


def test_lists_dicts_and_groups_of_priors_may_change() -> None:
    listed, mapped = ["A"], {"A": ["B"], "B": ["A"], "C": ["A", "B"]}
    groups = {"A": "g", "B": "h", "C": "h"}
    given: list[dict[str, Any]] = [{"priors": listed}, {"priors": mapped}]
    given += [{"priors": BestOfOtherGroups(), "groups": groups}]
    used, unused = ([RunContext(RUNS, **options) for options in given] for _ in range(2))
    before = [c.evaluate(LABELS, [UniqueRel @ 10]) for c in used]
    listed[:] = ["C", "nobody"]
    mapped["C"].clear()
    mapped["A"] = ["nobody"]
    del mapped["B"]
    groups.update(A="h", B="g")
    for one, expected in zip(used + unused, before * 2, strict=True):
        pd.testing.assert_frame_equal(one.evaluate(LABELS, [UniqueRel @ 10]), expected)


@pytest.mark.parametrize("name", [*RunContext({}).__dict__, "names", "other"])
def test_no_attribute_can_be_set(name: str) -> None:
    made = context()
    for change in (lambda: setattr(made, name, None), lambda: delattr(made, name)):
        with pytest.raises(
            AttributeError, match=rf"does not change once it is made.* make a new one.*{name}"
        ):
            change()
    assert made.num_docs == 9


CALLS: dict[Any, tuple[Any, ...]] = {
    ir_measures_relative.compare: (LABELS, ["nDCG@5"]),
    ir_measures_relative.select_complementary: (LABELS, 1),
    explain: ("a", LABELS),
    ir_measures_relative.bounds: (LABELS, ["P@1"]),
    ir_measures_relative.verdicts: (LABELS, ["P@1"]),
    ir_measures_relative.similarity: (LABELS,),
    judge_next: (LABELS, "P@1", 1),
}


@pytest.mark.parametrize("function", CALLS)
def test_a_dict_is_not_a_context(function: Any) -> None:
    for given, said in (
        (RUNS, r"is a dict; give RunContext\(runs\)"),
        ("runs/", "is a str; give a RunContext"),
    ):
        with pytest.raises(TypeError, match=f"the context {said}"):
            function(given, *CALLS[function])


def scored(runs: Any, qrels: Any = LABELS, measures: Any = (NRG @ 3,)) -> Any:
    return RunContext({**runs, "other": {"1": {"x": 1.0}}}).evaluate(qrels, measures)


@pytest.mark.parametrize(
    ("column", "value", "dtype", "message"),
    [
        ("relevance", pd.NA, "Int64", "has the relevance <NA>; relevance must be a whole number"),
        ("relevance", None, object, "has the relevance None; relevance must be a whole number"),
        ("relevance", np.array([1, 2]), object, "has the relevance .*; relevance must be a whole number"),
        ("query_id", pd.NA, object, "query id <NA> is a missing value"),
        ("query_id", "a\ud800", object, "query id 'a.ud800' holds half of a surrogate pair"),
        ("doc_id", pd.NA, "string", "document id <NA> is a missing value"),
        ("doc_id", "\udfff", object, "document id '.udfff' holds half of a surrogate pair"),
    ],
)
def test_what_is_no_judgment(column: str, value: Any, dtype: Any, message: str) -> None:
    frame = frame_of(LABELS, "relevance", "object").astype({column: object})
    frame.at[4, column] = value
    with pytest.raises(ValueError, match=f"the qrels: .*{message}"):
        scored(RUNS, frame.astype({column: dtype}))


RANKING = [ScoredDoc("1", "a", 2.0), ScoredDoc("1", "b", 1.0)]


@pytest.mark.parametrize(
    ("run", "message"),
    [
        ([*RANKING, ("1", "b", 2.0)], r"run 'r': an iterable whose item 2 is a tuple is not a run; give"),
        ([*RANKING, None], r"an iterable whose item 2 is (a )?NoneType is not a run"),
        ([*RANKING, Qrel("1", "a", 1)], r"an iterable whose item 2 is a Qrel is not a run"),
        ([ScoredDoc("1", "a\ud800", 2.0)], r"run 'r': query '1'"),
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
    new_run = pd.DataFrame({"query_id": ["1", "1"], "doc_id": ["b", "y"], "score": [2.0, 1.0]})
    names = np.empty(2, dtype=object)
    names[0], names[1] = (name, "A") if first else ("A", name)
    with RunContext({"A": RUNS["A"]}):
        named, unnamed = (
            (NRG @ 3).calc_aggregate(LABELS, run) for run in (new_run.assign(name=names), new_run)
        )
    assert named == unnamed


NO_MEASURES = ["-" * 100_000 + "1", "NRG(" * 50_000, "NRG@" + "9" * 50_000, "NRG(base=" + "(" * 2000 + ")"]


@pytest.mark.parametrize(
    "text", [*NO_MEASURES, "", " ", "@10", "\ud800", "NRG@10\0", "é@10"], ids=lambda t: ascii(t[:12])
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
