"""The dynamic program over two ideals, against all choices of open gains."""

from __future__ import annotations

import itertools
import math
import random

import numpy as np
import pytest

from ir_measures_relative.extremes.placement import TwoIdeals


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
