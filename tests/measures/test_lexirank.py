"""LexiRank: against all arrangements written out, and against the sign of lexiprecision."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from drawn import examples
from ir_measures_relative import LexiRank, RunContext, sgnLP
from ir_measures_relative.further_measures.lexirank import place_in_order, sets_of_positions
from oracles.lexirank import order_of_sets
from random_campaigns import Labels, Run, cutoffs, qrels, runs
from scored import assume_common, in_order, per_query, ranking


@pytest.mark.parametrize("depth", range(1, 7))
def test_places_are_those_of_the_sorted_list(depth: int) -> None:
    for relevant in range(8):
        order = order_of_sets(relevant, depth)
        places = [place_in_order(s, relevant, depth) for s in order]
        assert places == [(i, len(order) - 1) for i in range(len(order))]


@examples(60)
@given(run=runs, other=runs, labels=qrels, k=cutoffs, rel=st.sampled_from([1, 2]), judged_only=st.booleans())
def test_the_order_is_that_of_lexiprecision(
    run: Run, other: Run, labels: Labels, k: int, rel: int, judged_only: bool
) -> None:
    assume_common(run, labels)
    assume_common(other, labels)
    options: dict[str, Any] = {"rel": rel, "judged_only": judged_only}
    sign = per_query(sgnLP(**options) @ k, labels, run, RunContext({"other": other}))
    ours, theirs = (per_query(LexiRank(**options) @ k, labels, r) for r in (run, other))
    assert {q: np.sign(ours[q] - theirs[q]) for q in labels} == sign  # at most 10 documents: no doubles tie
    for query, docs in labels.items():
        relevant = sum(label >= rel for label in docs.values())
        ranked = [d for d in ranking(run, query) if not judged_only or docs.get(d, -1) >= 0][:k]
        found = tuple(i for i, d in enumerate(ranked, 1) if docs.get(d, 0) >= rel)
        order = order_of_sets(relevant, k)
        assert ours[query] == (order.index(found) / (len(order) - 1) if relevant else 0.0)


def test_exact_places_go_on_where_doubles_tie() -> None:
    """20 relevant documents, at 1 and from the 62nd place on, of which the last of two rankings differ by one place."""
    docs, others = [f"d{i}" for i in range(20)], [f"x{i}" for i in range(60)]
    deep, deeper = ({"q": in_order([docs[0], *others, *docs[1:19], *end, docs[19]])} for end in ([], ["y"]))
    labels = {"q": dict.fromkeys(docs, 1)}
    assert per_query(sgnLP @ 100, labels, deep, RunContext({"deeper": deeper})) == {"q": 1.0}
    assert per_query(LexiRank @ 100, labels, deep) == per_query(LexiRank @ 100, labels, deeper)
    places = [place_in_order([1, *range(62, 80), last], 20, 100) for last in (80, 81)]
    assert places[0][0] == places[1][0] + 1 and places[0][1] > 2**53
    assert sets_of_positions(200, 100) == sum(math.comb(200, size) for size in range(101))


def test_perfect_and_empty() -> None:
    labels: Labels = {"q": dict.fromkeys("abcdefg", 1), "none": {"a": 0}}
    run: Run = {q: in_order("abcdefg") for q in labels}
    assert per_query(LexiRank @ 5, labels, run) == {"q": 1.0, "none": 0.0}
    assert per_query(LexiRank @ 5, labels, {}) == {"q": 0.0, "none": 0.0}
    with pytest.raises(ValueError, match="needs cutoff"):
        LexiRank.validate_params()
