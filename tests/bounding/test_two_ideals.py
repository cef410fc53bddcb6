"""The greatest difference of two residual sums over their ideals, and its parts, against all choices of open gains."""

from __future__ import annotations

import itertools
import math
import random

import numpy as np
import pytest

from ir_measures_relative.bounding.placement import (
    ResidualPair,
    ResidualSide,
    TwoIdeals,
    branched_difference,
    ideal_of,
    relaxed_difference,
)
from ir_measures_relative.data.arrays import ratio


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
