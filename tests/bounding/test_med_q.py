"""MED of Q-measure: the measure itself, every labeling tried, its bounds, its relation to AP, real runs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ir_measures_relative.bounding import ap_search as blended
from ir_measures_relative.bounding.ap_relaxation import Relaxation
from ir_measures_relative.bounding.ap_search import open_documents
from ir_measures_relative.bounding.med_searches import med_sum_precision
from ir_measures_relative.bounding.model import Clock
from oracles.med_q import all_labelings, q_differences

NORMS = ["R", "min"]
BETAS = [0.0, 0.1, 1.0, 1.0, 10.0, 1e4]

Pair = tuple[np.ndarray, np.ndarray, np.ndarray]


def random_pair(rng: np.random.Generator, documents: int) -> Pair:
    """Two rankings of unequal length, or a ranking and a near copy; few or many of their documents judged."""
    y, z = np.zeros(documents, int), np.zeros(documents, int)
    if rng.random() < 0.5:
        for ranking in (y, z):
            length = rng.integers(0, documents + 1)
            ranking[rng.permutation(documents)[:length]] = np.arange(1, length + 1)
    else:
        y = np.arange(1, documents + 1)
        z = (y + rng.normal(0, 1.5, documents)).argsort().argsort() + 1
    judged = rng.integers(0, 2, documents)
    return y, z, np.where(rng.random(documents) < rng.choice([0.3, 0.7, 1.0]), -1, judged)


def check(pair: Pair, cutoff: int, **arguments: Any) -> None:
    """The value against every labeling tried, the labels against the value, and both intervals."""
    y, z, label = pair
    tried = cutoff, arguments["beta"], arguments["norm"], arguments["other_relevant"]
    best = float(np.abs(q_differences(y, z, all_labelings(label), *tried)).max())
    found = med_sum_precision(y, z, label, cutoff=cutoff, **arguments)
    assert found.exact and found.value == found.upper
    assert found.value == pytest.approx(best, abs=2e-10), (pair, cutoff, arguments)
    stopped = med_sum_precision(y, z, label, cutoff=cutoff, clock=Clock(0), **arguments)
    assert stopped.value - 1e-12 <= best <= stopped.upper + 1e-12 <= 1 + 2e-12
    for solution in (found, stopped):
        judged = label != -1
        np.testing.assert_array_equal(solution.labels[judged], label[judged])
        (signed,) = q_differences(y, z, solution.labels[None], *tried)
        assert signed == pytest.approx(solution.winner * solution.value, abs=1e-12)
    if arguments["beta"] == 0:
        del arguments["beta"]
        ap = med_sum_precision(y, z, label, cutoff=cutoff, **arguments)
        assert found.value == pytest.approx(ap.value, abs=2e-10)


def drawn(rng: np.random.Generator) -> dict[str, Any]:
    return {
        "norm": str(rng.choice(NORMS)),
        "beta": float(rng.choice(BETAS)),
        "other_relevant": int(rng.choice([0, 0, 1, 3, 9])),
    }


# ---- every labeling tried --------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_equals_brute_force(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(80):
        documents = int(rng.integers(0, 10))
        check(random_pair(rng, documents), int(rng.integers(1, documents + 3)), **drawn(rng))


@pytest.mark.parametrize("norm", NORMS)
def test_equals_brute_force_on_eighteen_open_documents(norm: str) -> None:
    rng = np.random.default_rng(NORMS.index(norm))
    order = np.arange(1, 19)
    if norm == "R":  # a near copy
        y, z = order, (order + rng.normal(0, 2, 18)).argsort().argsort() + 1
    else:  # two that share eight documents
        y, z = np.where(order <= 13, order, 0), np.where(order > 5, order - 5, 0)
    check((y, z, np.full(18, -1)), 13, norm=norm, beta=1.0, other_relevant=0)


@pytest.mark.parametrize(("attempts", "end"), [(2, "first"), (12, "first"), (2, "last")])
def test_the_proof_does_not_lean_on_good_labelings(
    attempts: int, end: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a poor start, poor labelings on the way and poor prices, the bounds and the branches do the work.

    The documents in doubt are then the first: where the labelings hold the last, no labeling on the way is one of theirs.
    """

    class Poor:
        def __init__(self, y: np.ndarray, z: np.ndarray, label: np.ndarray, *_: Any) -> None:
            self.best = np.where(label == -1, 0, label)

    def labels(relaxation: Relaxation, table: np.ndarray, count: int) -> np.ndarray:
        chosen = (np.arange(table.shape[1] - 1) < count).astype(float)
        return chosen if end == "first" else chosen[::-1]

    monkeypatch.setattr(blended, "Search", Poor)
    monkeypatch.setattr(blended, "ATTEMPTS", attempts)
    monkeypatch.setattr(Relaxation, "labels", labels)
    rng = np.random.default_rng(attempts)
    for _ in range(60):
        check(random_pair(rng, 7), int(rng.integers(3, 9)), **drawn(rng))


def test_a_document_that_the_loser_alone_holds_may_have_to_be_relevant() -> None:
    """At 1,000 it adds little, and R = 5 lowers the worth of position 5, where the loser has what the other lacks."""
    y, z = np.array([4, 2, 1, 3, 0, 0]), np.array([1, 5, 3, 4, 2, 1000])
    label = np.array([0, 1, 1, 1, 1, -1])
    without, with_it = q_differences(y, z, all_labelings(label), 1000, 1.0, "R")
    assert 0 < without < with_it
    found = med_sum_precision(y, z, label, cutoff=1000, norm="R", beta=1.0)
    assert found.exact and found.value == pytest.approx(with_it, abs=1e-12) and found.labels[-1] == 1


@pytest.mark.parametrize("seed", range(3))
def test_no_labeling_exceeds_the_bounds_for_its_number_of_relevant_documents(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(10):
        y, z, label = random_pair(rng, 8)
        beta, other = float(rng.choice(BETAS)), int(rng.choice([0, 2]))
        free = np.concatenate(open_documents(y, label))
        known = int((label == 1).sum())
        labelings = all_labelings(label)
        plain = Relaxation(y, z, label, free, 8)
        for count in range(len(free) + 1):
            relevant = known + count + other
            i = np.arange(1, 9)
            relaxation = plain.weighing((1 + beta) / (i + beta * np.minimum(i, max(relevant, 1))))
            of_count = labelings[labelings.sum(axis=1) == known + count]
            best = q_differences(y, z, of_count, 8, beta, "R", other).max() * relevant
            assert relaxation.ceiling(count) >= best - 1e-12
            for price in (rng.normal(3, 3, 8), relaxation.lost(np.ones(len(free)) / 2) + 0.5):
                bounds, table = relaxation.bounds(price, count)
                assert bounds[count] >= best - 1e-12
                assert relaxation.labels(table, count).sum() == count


def test_the_ceiling_at_one_depth() -> None:
    """T(Y_i) - T(Z_i), the most for each number of relevant documents; where the winner must be behind, too."""
    rng = np.random.default_rng(2)
    behind = 0
    for _ in range(60):
        y, z, label = random_pair(rng, 7)
        free = np.concatenate(open_documents(y, label))
        labelings = all_labelings(label)
        count = labelings[:, free].sum(axis=1)
        for i in range(1, 8):
            won, lost = (labelings[:, (p > 0) & (p <= i)].sum(axis=1) for p in (y, z))
            gain = (won * (won + 1) - lost * (lost + 1)) / 2
            at_i = Relaxation(y, z, label, free, 7).weighing((np.arange(1, 8) <= i).astype(float))
            for n in range(len(free) + 1):
                assert at_i.ceiling(n) >= gain[count == n].max()
            behind += gain.max() < 0 and len(free) > 1
    assert behind > 10


# ---- as a measure ----------------------------------------------------------------------------------------
