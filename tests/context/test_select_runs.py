"""A context of some runs, and one of some labels."""

import pickle

import pytest

from ir_measures_relative import RunContext, UniqueRel
from ir_measures_relative.context.collection import judged_collection
from ir_measures_relative.context.evaluate import score_runs
from ir_measures_relative.context.priors import BestOfOtherGroups

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
    some = judged_collection(whole, QRELS).select_runs(["c", "a"])
    made = RunContext({n: RUNS[n] for n in "ac"}, priors=left, groups={"a": "g", "c": "i"}, grades=(0, 3))
    assert some.names == ["a", "c"] and some.groups == made.groups and some.grades == (0, 3)
    assert some.reference is None
    assert judged_collection(RunContext(RUNS, reference="b"), QRELS).select_runs(["b", "a"]).reference == "b"
    for collection in (some, pickle.loads(pickle.dumps(some))):
        scores = score_runs(collection, collection.names, [UniqueRel @ 2])
        assert scores.table().equals(made.evaluate(QRELS, [UniqueRel @ 2]))


def test_parts_keep_the_grades_of_the_whole() -> None:
    """A grade that is left out of a sample is a grade still: what is graded stays on one scale."""
    collection = judged_collection(RunContext(RUNS), QRELS)
    assert collection.grades == (0, 2)
    assert collection.select_runs(["a", "b"]).grades == (0, 2)
