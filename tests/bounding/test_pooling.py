"""pool_next: against the rules written out, in batches and one document at a time."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drawn import examples
from ir_measures_relative import RunContext
from ir_measures_relative.bounding import pool_next
from ir_measures_relative.bounding.judge_next import METHODS
from oracles.pooling import next_document
from random_campaigns import Labels, Run, contexts, qrels
from scored import assume_common, ranking


@examples(60)
@given(
    context=contexts.filter(bool),
    labels=qrels,
    method=st.sampled_from(list(METHODS)),
    depth=st.sampled_from([1, 3, 100]),
    n=st.sampled_from([1, 4, 1000]),
    rel=st.sampled_from([1, 2]),
)
def test_against_the_rules(
    context: dict[str, Run], labels: Labels, method: str, depth: int, n: int, rel: int
) -> None:
    for run in context.values():
        assume_common(run, labels)
    found = pool_next(RunContext(context), labels, n, method, depth=depth, rel=rel)
    known: dict[str, dict[str, Any]] = {
        q: {d: label >= rel for d, label in docs.items()} for q, docs in labels.items()
    }
    tops = {q: [ranking(run, q)[:depth] for run in context.values()] for q in labels}
    want: list[tuple[str, str, str]] = []
    left = list(labels)
    while left and len(want) < n:
        for query in list(left):
            chosen = next_document(tops[query], known[query], method)
            if chosen is None:
                left.remove(query)
            elif len(want) < n:
                known[query][chosen[0]] = None
                want.append((query, chosen[0], list(context)[chosen[1]]))
    assert list(found.itertuples(index=False, name=None)) == want


@pytest.mark.parametrize("method", METHODS)
def test_all_of_the_pool_is_judged_in_the_end(method: str) -> None:
    """One document at a time, with its label, from nothing on; every document once."""
    runs: dict[str, Run] = {
        "a": {"q": {d: -float(i) for i, d in enumerate("abcdef")}},
        "b": {"q": {d: -float(i) for i, d in enumerate("bgahic")}},
    }
    context = RunContext(runs)
    first = pool_next(context, None, 1, method)
    judged = {first["doc_id"][0]: 1}
    while len(asked := pool_next(context, {"q": judged}, 1, method)):
        doc = asked["doc_id"][0]
        assert doc not in judged
        judged[doc] = int(doc in "ahc")
    assert set(judged) == set("abcdefghi")


def test_what_each_method_is_for() -> None:
    """Run a found a relevant document, b none; the next of a stands at the top of c, that of b is b's alone."""
    runs: dict[str, Run] = {
        "a": {"q": {"A": 3.0, "C": 2.0}},
        "b": {"q": {"X": 3.0, "B": 2.0}},
        "c": {"q": {"C": 3.0}},
    }
    context, labels = RunContext(runs), {"q": {"A": 1, "X": 0}}
    chosen = {m: tuple(pool_next(context, labels, 1, m).loc[0, ["doc_id", "name"]]) for m in METHODS}
    assert chosen == {
        "depth": ("C", "c"),
        "move-to-front": ("C", "a"),
        "bandit": ("C", "a"),
        "unique": ("B", "b"),
    }
    assert 1 / 3 / math.log2(3) > 0  # of B; C is worth nothing to who has read c


def test_equal_heads_go_to_the_run_that_found_more_and_then_to_the_first() -> None:
    runs: dict[str, Run] = {
        "a": {"q": {"B": 1.0}},
        "b": {"q": {"A": 3.0, "C": 2.0}},
        "c": {"q": {"A": 3.0, "D": 2.0}},
    }
    chosen = {m: pool_next(RunContext(runs), {"q": {"A": 1}}, 1, m)["name"][0] for m in METHODS}
    assert chosen == {"depth": "a", "move-to-front": "b", "bandit": "b", "unique": "a"}


def test_the_mean_of_a_run_starts_from_one_of_each() -> None:
    """One of three relevant, so that the mean is 2/5; none of one, so that it is 1/3."""
    tops = {"a": "NX", "b": "ROPY"}
    runs: dict[str, Run] = {n: {"q": {d: -float(i) for i, d in enumerate(top)}} for n, top in tops.items()}
    labels = {"q": {"N": 0, "R": 1, "O": 0, "P": 0}}
    assert pool_next(RunContext(runs), labels, 1, "bandit").loc[0, ["doc_id", "name"]].tolist() == ["Y", "b"]


def test_rounding_decides_no_tie() -> None:
    """The head of b and of c is one document at one place, but the products of their factors differ in a last bit."""
    tops = {"a": "XYZA", "b": "UA", "c": "VA"}
    runs: dict[str, Run] = {n: {"q": {d: -float(i) for i, d in enumerate(top)}} for n, top in tops.items()}
    labels = {"q": dict.fromkeys("XYZUV", 0)}
    found = pool_next(RunContext(runs), labels, 1, "unique")
    assert found.loc[0, ["doc_id", "name"]].tolist() == ["A", "b"]


def test_what_is_refused() -> None:
    context = RunContext({"a": {"q": {"A": 1.0}}})
    with pytest.raises(ValueError, match="method='mtf' must be one of 'depth', 'move-to-front', 'bandit'"):
        pool_next(context, None, 1, "mtf")
    for options in ({"n": 0}, {"n": 1, "depth": 0}, {"n": 1, "rel": 0}):
        with pytest.raises(ValueError, match="must be"):
            pool_next(context, None, **options)
