"""Parts of the searches, against all labelings: what they fix, and how they bound the rest."""

from __future__ import annotations

import itertools
import math
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from drawn import examples
from ir_measures_relative.bounding.ap_relaxation import Quadratic, sum_of_precisions
from ir_measures_relative.bounding.err import _Difference
from ir_measures_relative.bounding.placement import (
    ResidualPair,
    ResidualSide,
    TwoIdeals,
    branched_difference,
    ideal_of,
    relaxed_difference,
)
from ir_measures_relative.bounding.preferences import (
    greatest_lexicographic,
    greatest_paired,
    may_win_worst_case,
)
from ir_measures_relative.data.arrays import ratio
from ir_measures_relative.measures.bases.browsing import Reciprocal
from oracles.lexiprecision import rpp_oracle, rrlp_oracle, sgnlr_oracle

DOCS = 6
rankings = st.permutations(range(DOCS)).flatmap(
    lambda order: st.integers(0, DOCS).map(lambda depth: np.array([i + 1 if i < depth else 0 for i in order]))
)
points = st.lists(st.floats(0.05, 1.0), min_size=DOCS, max_size=DOCS).map(np.array)
shares = st.lists(st.sampled_from([0.0, 0.3, 0.8, 1.0]), min_size=DOCS, max_size=DOCS).map(np.array)


def err(positions: np.ndarray, go_on: np.ndarray) -> float:
    """By the definition: Σ 1/i · (1 - s_i) · Π s above it."""
    value, reached = 0.0, 1.0
    for position in range(1, DOCS + 1):
        if position in positions:
            s = go_on[positions.tolist().index(position)]
            value, reached = value + reached * (1 - s) / position, reached * s
    return value


@examples(40)
@given(winner=rankings, loser=rankings, corners=st.tuples(points, points), share=shares)
def test_no_point_of_a_box_exceeds_its_bounds(
    winner: np.ndarray, loser: np.ndarray, corners: tuple[np.ndarray, np.ndarray], share: np.ndarray
) -> None:
    low, high = np.minimum(*corners), np.maximum(*corners)
    inside = low + share * (high - low)

    def difference(go_on: np.ndarray) -> float:
        return err(winner, go_on) - err(loser, go_on)

    objective = _Difference(winner, loser)
    bound, least, greatest = objective.over(low, high)
    exact, *slopes = objective.over(inside, inside)
    assert exact == pytest.approx(difference(inside), abs=1e-12)
    assert exact <= bound + 1e-12
    for d in range(DOCS):  # linear in each coordinate, so that any two points tell the slope
        up, down = inside.copy(), inside.copy()
        up[d], down[d] = 1.0, 0.0
        slope = difference(down) - difference(up)  # by r = 1 - s
        assert [s[d] for s in slopes] == pytest.approx([slope, slope], abs=1e-12)
        assert least[d] - 1e-12 <= slope <= greatest[d] + 1e-12


OPEN = -1
labels = st.lists(st.sampled_from([OPEN, OPEN, OPEN, 0, 1]), min_size=6, max_size=6).map(np.array)


@examples(40)
@given(
    winner=rankings,
    loser=rankings,
    label=labels,
    prices=st.lists(st.floats(-0.2, 1.2), min_size=3, max_size=3),
)
def test_what_is_decided_is_so_in_a_best_labeling(
    winner: np.ndarray, loser: np.ndarray, label: np.ndarray, prices: list[float]
) -> None:
    """At every price of a relevant document between the least and the most."""
    free = np.flatnonzero(label == OPEN)
    least, price, most = sorted(prices)
    quadratic = Quadratic.of(winner, loser, label == 1, free)
    decided = label.copy()
    for value, those in enumerate(quadratic.decided(least, most)):
        decided[free[those]] = value
    assert (decided[label != OPEN] == label[label != OPEN]).all()
    for cost in (least, price, most):
        best = best_decided = -np.inf
        for values in itertools.product((0, 1), repeat=len(free)):
            whole = label.copy()
            whole[free] = values
            relevant, x = whole == 1, np.array(values, dtype=float)
            value = sum_of_precisions(winner[relevant]) - sum_of_precisions(loser[relevant])
            written = quadratic.constant + quadratic.linear @ x + x @ quadratic.pairs @ x / 2
            assert written == pytest.approx(value, abs=1e-12)
            value -= cost * sum(values)
            best = max(best, value)
            if ((decided == OPEN) | (decided == whole)).all():
                best_decided = max(best_decided, value)
        assert best_decided == pytest.approx(best, abs=1e-12)


def ideal(gains: list[float], cutoff: int | None) -> float:
    ranked = sorted(gains, reverse=True)[:cutoff]
    return sum(gain / math.log2(place + 1) for place, gain in enumerate(ranked, 1))


@pytest.mark.parametrize("seed", range(150))
def test_against_all_choices(seed: int) -> None:
    """Exact for every number of open gains with one label a document; with two, no less, and exact where possible."""
    rng = random.Random(seed)
    cutoff, labels = rng.choice([1, 2, 3, 5, None]), rng.choice([1, 2])
    known = [[rng.choice([0.0, 0.2, 0.5, 1.0, rng.random()]) for _ in range(4)] for _ in range(2)]
    gains = [sorted(rng.choices([0.0, 0.5, rng.random()], k=labels)) for _ in range(rng.randint(1, 4))]
    alpha, beta, constant = rng.uniform(0.01, 2), rng.uniform(0, 2), rng.uniform(-1, 1)
    ideals = TwoIdeals((np.array(known[:1]), np.array(known[1:])), np.array([gains]), cutoff)
    start = np.full((1, ideals.states), np.inf)
    one = np.ones(1)
    ceiling, found, possible = ideals.lowered(
        start, np.zeros(1, dtype=int), constant * one, alpha * one, beta * one
    )
    best: dict[int, float] = {}
    for choice in itertools.product(*([0.0, *of_document] for of_document in gains)):
        held = [gain for gain in choice if gain > 0]
        value = constant + beta * ideal(known[1] + held, cutoff) - alpha * ideal(known[0] + held, cutoff)
        state = min(len(held), ideals.states - 1)
        best[state] = max(best.get(state, -math.inf), value)
    for state, value in best.items():
        assert ceiling[0, state] >= value - 1e-12
        assert labels > 1 or ceiling[0, state] == pytest.approx(value, abs=1e-12)
    if possible[0]:
        reached = constant + beta * found[1, 0] - alpha * found[0, 0]
        assert reached == pytest.approx(ceiling.max(), abs=1e-12)
        assert reached == pytest.approx(max(best.values()), abs=1e-12)
    assert labels > 1 or possible[0]


def drawn_pair(rng: np.random.Generator, n: int, cutoff: int | None) -> ResidualPair:
    """Problems of six documents, three of which each run holds, with other residual gains here and there."""
    shape = (n, 6)
    second = -np.sort(-rng.random(shape) * (rng.random(shape) < 0.9), axis=1)
    first = np.where(rng.random(shape) < 0.7, second, rng.random(shape))
    sides = []
    for residual in (first, second):
        place = rng.permuted(np.tile(np.arange(6), (n, 1)), axis=1)  # from 0; the last three are not held
        found = np.where(place < min(cutoff or 3, 3), residual / np.log2(place + 2), 0.0)
        sides.append(ResidualSide(found, residual, np.zeros(n), np.ones(n)))
    return ResidualPair(*sides, rng.random(shape) < 0.3, np.ones(shape, dtype=bool), cutoff)


@pytest.mark.parametrize("shares", [(0.0, 1.0), (0.0, 0.4, 1.0)], ids=["one gain", "two gains"])
@pytest.mark.parametrize("cutoff", [2, 3, None])
def test_the_greatest_difference_is_in_its_bounds(cutoff: int | None, shares: tuple[float, ...]) -> None:
    """Against all labelings: the bound holds, what is reached is reached, and branching loses nothing."""
    pair = drawn_pair(np.random.default_rng(0), 150, cutoff)
    greatest = np.full(len(pair.forced), -np.inf)
    for labels in itertools.product(shares, repeat=6):
        share = np.where(pair.forced, 1.0, labels)
        one, two = (
            ratio((side.found * share).sum(axis=1), ideal_of(side.residual * share, cutoff))
            for side in (pair.first, pair.second)
        )
        greatest = np.maximum(greatest, one - two)
    relaxed, found = relaxed_difference(pair)
    bound, reached = branched_difference(pair, np.array(shares), relaxed, found)
    assert (greatest <= bound + 1e-9).all() and (bound <= relaxed + 1e-9).all()
    assert (reached <= greatest + 1e-9).all() and (found <= reached).all()
    assert (np.abs(bound - greatest) < 1e-9).mean() > (0.55 if len(shares) > 2 else 0.95)


def levels(position: np.ndarray, relevant: list[int]) -> list[float]:
    """Where the relevant documents are, first ranks first; infinite where they are not retrieved."""
    return sorted(float(position[d]) if position[d] else np.inf for d in relevant)


def test_no_label_leaves_the_bounds_and_some_attain_them() -> None:
    rng, tight = np.random.default_rng(0), []
    for _ in range(400):
        n = int(rng.integers(1, 6))
        x, y = (np.where(rng.random(n) < 0.8, rng.permutation(n) + 1, 0) for _ in range(2))
        is_open = rng.random(n) < 0.6
        known, free = np.flatnonzero(~is_open).tolist(), np.flatnonzero(is_open).tolist()
        found = [
            [levels(position, [*known, *some]) for position in (x, y)]
            for size in range(len(free) + 1)
            for some in itertools.combinations(free, size)
        ]
        first, last = (max(oracle(*pair) for pair in found) for oracle in (rrlp_oracle, sgnlr_oracle))
        paired = max(rpp_oracle(*pair, "inverse") for pair in found)
        assert abs(greatest_lexicographic(x, y, is_open) - first) < 1e-12
        bound, attained = may_win_worst_case(x, y, is_open)
        assert bound == last if attained else bound >= last
        bound = greatest_paired(x, y, is_open, Reciprocal())
        assert bound >= paired - 1e-12
        tight.append(bound < paired + 1e-12)
    assert np.mean(tight) > 0.5
