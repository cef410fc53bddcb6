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
from oracles.lexirank import order_of_sets, reciprocal_ranks
from random_campaigns import Labels, Run, cutoffs, qrels, runs
from scored import assume_common, per_query, ranking


@pytest.mark.parametrize("depth", range(1, 7))
@pytest.mark.parametrize("relevant", range(8))
def test_places_are_those_of_the_sorted_list(depth: int, relevant: int) -> None:
    for n in (None, *range(max(depth, relevant), depth + 4)):
        order = order_of_sets(relevant, depth, n)
        below = None if n is None else n - depth
        places = [place_in_order(s, relevant, depth, below) for s in order]
        assert places == [(i, len(order) - 1) for i in range(len(order))]
        if n == depth:
            assert len(order) == math.comb(n, relevant)


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
        order = order_of_sets(relevant, k, None)
        assert ours[query] == (order.index(found) / (len(order) - 1) if relevant else 0.0)


def test_exact_places_go_on_where_doubles_tie() -> None:
    """20 relevant documents, at 1 and from the 62nd place on, of which the last of two rankings differ by one place."""
    docs, others = [f"d{i}" for i in range(20)], [f"x{i}" for i in range(60)]
    deep = {"q": {d: -float(i) for i, d in enumerate([docs[0], *others, *docs[1:]])}}
    deeper = {"q": {d: -float(i) for i, d in enumerate([docs[0], *others, *docs[1:19], "y", docs[19]])}}
    labels = {"q": dict.fromkeys(docs, 1)}
    assert per_query(sgnLP @ 100, labels, deep, RunContext({"deeper": deeper})) == {"q": 1.0}
    assert per_query(LexiRank @ 100, labels, deep) == per_query(LexiRank @ 100, labels, deeper)
    places = [place_in_order([1, *range(62, 80), last], 20, 100, None) for last in (80, 81)]
    assert places[0][0] == places[1][0] + 1 and places[0][1] > 2**53


@pytest.mark.parametrize("n", [None, 1000, 10**6])
def test_perfect_and_empty(n: int | None) -> None:
    measure = (LexiRank if n is None else LexiRank(n=n)) @ 5
    labels: Labels = {"q": {d: 1 for d in "abcdefg"}, "none": {"a": 0}}
    run: Run = {q: {d: -float(i) for i, d in enumerate("abcdefg")} for q in labels}
    assert per_query(measure, labels, run) == {"q": 1.0, "none": 0.0}
    assert per_query(measure, labels, {}) == {"q": 0.0, "none": 0.0}


def test_what_is_refused() -> None:
    with pytest.raises(ValueError, match="needs cutoff"):
        LexiRank.validate_params()
    with pytest.raises(ValueError, match=r"n=3 documents are ranked, and the cutoff is 5"):
        (LexiRank(n=3) @ 5).validate_params()
    labels: Labels = {"p": {"a": 1}, "q": {"a": 1, "b": 1, "c": 1}}
    message = r"query 'q' has 2 documents in the top 2 and 2 other relevant ones, which is more than n=3"
    with pytest.raises(ValueError, match=message):
        per_query(LexiRank(n=3) @ 2, labels, {"q": {"a": 2.0, "x": 1.0}})
    assert per_query(LexiRank(n=3, judged_only=True) @ 2, labels, {"q": {"a": 2.0, "x": 1.0}})["q"] == 0.0
    with pytest.raises(
        ValueError, match=r"0 documents in the top 2 and 3 other relevant ones, .* more than n=2"
    ):
        per_query(LexiRank(n=2) @ 2, labels, {"p": {"a": 1.0}})


@pytest.mark.parametrize("depth", range(1, 5))
@pytest.mark.parametrize("below", range(3))
def test_a_ranking_that_ends_early_beats_the_arrangements_below_it(depth: int, below: int) -> None:
    """Also where it leaves out more relevant documents than there are places below: nothing is an empty ranking's."""
    n = depth + below
    measure = LexiRank(n=n) @ depth
    for relevant in range(1, n + 1):
        labels: Labels = {"q": {f"d{i}": 1 for i in range(relevant)}, "other": {"d0": 1}}
        order = order_of_sets(relevant, depth, n)
        for length in range(depth + 1):
            for found in order_of_sets(min(relevant, length), length, None):
                names = iter(labels["q"])
                run = {f"x{i}" if i not in found else next(names): -float(i) for i in range(1, length + 1)}
                if length + relevant - len(found) > n:
                    continue
                better = [reciprocal_ranks(found, relevant) > reciprocal_ranks(s, relevant) for s in order]
                value = sum(better) / (len(order) - 1) if len(order) > 1 else 0.0
                assert per_query(measure, labels, {"q": run, "other": {"d0": 1.0}})["q"] == value
    assert per_query(measure, labels, {"other": {"d0": 1.0}})["q"] == 0.0


def test_sets_of_positions_are_counted_exactly() -> None:
    assert sets_of_positions(200, 3, 100) == sum(math.comb(200, size) for size in range(3, 101))
