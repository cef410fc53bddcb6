"""A context of some runs, and one of some labels."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from ir_measures_relative import MED, RunContext, UniqueRel
from ir_measures_relative.context.evaluate import score_runs
from ir_measures_relative.context.priors import BestOfOtherGroups, some_runs
from ir_measures_relative.context.view import View, view_of
from ir_measures_relative.meta import reusability

RUNS = {
    name: {"q": {d: -float(i) for i, d in enumerate(docs)}}
    for name, docs in [("a", "AX"), ("b", "AB"), ("c", "BC")]
}
QRELS = {"q": {"A": 1, "B": 2, "C": 0}}


@pytest.mark.parametrize(
    ("priors", "left"),
    [
        ("others", "others"),
        ("earlier", "earlier"),
        (["b", "c"], ["c"]),
        ({"a": ["b"], "b": ["a"], "c": ["a", "b"]}, {"a": [], "c": ["a"]}),
        (BestOfOtherGroups(), BestOfOtherGroups()),
    ],
)
def test_some_runs_are_the_context_that_is_made_of_them(priors, left) -> None:
    groups = {"a": "g", "b": "h", "c": "i"}
    whole = RunContext(RUNS, priors=priors, groups=groups, reference="b", grades=(0, 3))
    some = some_runs(whole, ["c", "a"])
    made = RunContext({n: RUNS[n] for n in "ac"}, priors=left, groups={"a": "g", "c": "i"}, grades=(0, 3))
    assert some.names == ["a", "c"] and some.groups == made.groups and some.grades == (0, 3)
    assert some.reference is None and some_runs(RunContext(RUNS, reference="b"), ["b", "a"]).reference == "b"
    for context in (some, pickle.loads(pickle.dumps(some))):
        scores = score_runs(view_of(context, QRELS), context.names, [UniqueRel @ 2])
        assert scores.table().equals(made.evaluate(QRELS, [UniqueRel @ 2]))


def test_parts_keep_the_grades_of_the_whole() -> None:
    """A grade that is left out of a sample is a grade still: what is graded stays on one scale."""
    view = view_of(RunContext(RUNS), QRELS)
    assert view.grades == (0, 2)
    assert view.with_judgments(view.documents.grade < 2).grades == (0, 2)
    assert view.of_runs(["a", "b"]).grades == (0, 2)
    nothing = view.with_judgments(np.zeros(3, dtype=bool)).judgments
    assert nothing.doc_ids.tolist() == ["A"] and nothing.grade.tolist() == [0]


@pytest.mark.parametrize("judged_only", [False, True])
def test_with_fewer_labels_every_document_keeps_its_position(judged_only) -> None:
    """Of the labels that are left, and of the relevant ones."""
    whole = view_of(RunContext(RUNS), QRELS)
    fewer = whole.with_judgments(whole.judgments.ids.strings() != "A")
    anew = View.on(whole.members, fewer.judgments)
    whole.at(2).positions_of_runs(whole.documents)  # which are known, then
    for docs in (fewer.documents, fewer.relevant):
        found, expected = (view.at(2, judged_only).positions_of_runs(docs) for view in (fewer, anew))
        assert found.tolist() == expected.tolist()


def test_reusability_stays_on_one_scale() -> None:
    """B, of grade 2, is b's alone: without it, ERR's grades are those of a context that says there is a 2."""
    runs = {"a": {"q": {"A": 3.0, "X": 2.0, "Y": 1.0}}, "b": {"q": {"B": 3.0, "A": 2.0, "Z": 1.0}}}
    measure, left = MED(base="ERR") @ 2, {"q": {"A": 1, "C": 0}}
    found = reusability(RunContext(runs, reference="a"), QRELS, [measure], pool_depth=1).set_index("name")
    whole, own = (
        RunContext(runs, reference="a", grades=grades)
        .evaluate(left, [measure])
        .set_index("name")
        .loc["b"]
        .iloc[0]
        for grades in ((0, 2), None)
    )
    assert found.loc["b", "simulated"] == whole != own
