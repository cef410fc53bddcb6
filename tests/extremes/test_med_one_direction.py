"""The greatest difference in one direction, which may be below 0, against every labeling tried."""

from __future__ import annotations

import os
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pytest

from ir_measures_relative.extremes import Clock, greatest_difference, greatest_err_difference
from ir_measures_relative.extremes import precision_search as search_module
from oracles.med_exact import labelings, sum_precision

# How many random cases each test tries.
CASES = int(os.environ.get("DIRECTION_CASES", "500"))
TOLERANCE = 1e-11


class Case:
    """Two short rankings with gaps (what is judged not relevant), judged relevant documents, and open ones."""

    def __init__(self, rng: np.random.Generator) -> None:
        n = int(rng.integers(0, 8))
        self.cutoff = int(rng.integers(1, 12))
        self.winner, self.loser = (self._positions(rng, n) for _ in range(2))
        if rng.random() < 0.5:  # much alike, the winner's a little deeper
            order = (self.loser + 3 * rng.random(n)).argsort()
            self.winner[order] = np.sort(rng.permutation(14)[:n]) + 1
            self.winner[(rng.random(n) < 0.3) | (self.winner > self.cutoff)] = 0
        self.label = np.where(rng.random(n) < rng.uniform(0.3, 1), -1, rng.integers(0, 2, n))
        self.label[(self.loser > 0) & (self.winner == 0) & (rng.random(n) < 0.3)] = 1
        self.other, self.outside = int(rng.choice([0, 0, 1, 5])), int(rng.choice([0, 0, 1, 3, 8]))

    def _positions(self, rng: np.random.Generator, n: int) -> np.ndarray:
        """Where some of the documents are; what is below the cutoff is absent."""
        result = np.zeros(n, dtype=np.int64)
        length = int(rng.integers(0, n + 1))
        result[rng.permutation(n)[:length]] = rng.permutation(12)[:length] + 1
        return np.where(result <= self.cutoff, result, 0)

    def difference(self, labels: np.ndarray, outside: int) -> Fraction:
        relevant = max(int((labels == 1).sum()) + self.other + outside, 1)
        won, lost = (sum_precision(p.tolist(), labels.tolist()) for p in (self.winner, self.loser))
        return (won - lost) / relevant

    def greatest(self) -> float:
        """The greatest difference of all labelings."""
        ends = (0, self.outside)  # the value is monotone in between
        found = (np.array(labels) for labels in labelings(self.label.tolist(), (0, 1)))
        return float(max(self.difference(labels, n) for labels in found for n in ends))

    def check(self, seconds: float | None = None) -> tuple[float, np.ndarray]:
        best = self.greatest()
        found = greatest_difference(
            self.winner,
            self.loser,
            self.label,
            cutoff=self.cutoff,
            other_relevant=self.other,
            outside=self.outside,
            clock=Clock(seconds),
            tolerance=TOLERANCE,
        )
        judged = self.label != -1
        np.testing.assert_array_equal(found.labels[judged], self.label[judged])
        assert set(found.labels.tolist()) <= {0, 1}
        assert 0 <= found.outside <= self.outside
        attained = float(self.difference(found.labels, found.outside))
        assert found.value == pytest.approx(attained, abs=1e-13), vars(self)
        assert found.value <= best + 1e-12 and best <= found.upper + 1e-12, vars(self)
        if seconds is None:
            assert found.upper - found.value <= TOLERANCE
            assert found.value == pytest.approx(best, abs=2 * TOLERANCE), vars(self)
        return best, found.labels


@pytest.mark.parametrize("seed", range(5))
def test_sum_precision_equals_brute_force(seed: int) -> None:
    rng = np.random.default_rng(seed)
    below = helped = 0
    for _ in range(CASES):
        case = Case(rng)
        best, labels = case.check()
        below += best < 0
        helped += best < 0 and bool(((labels == 1) & (case.label == -1) & (case.winner == 0)).any())
    # It is no use without cases in which what only the loser holds must be relevant.
    assert below > CASES / 10 and helped > CASES / 20


def test_the_bound_holds_when_time_runs_out() -> None:
    rng = np.random.default_rng(11)
    for _ in range(CASES):
        Case(rng).check(seconds=0)


@pytest.mark.parametrize("attempts", [2, 12])
def test_the_proof_does_not_lean_on_a_good_start(attempts: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search_module.Search, "_greedy", lambda *_: None)
    monkeypatch.setattr(search_module, "ATTEMPTS", attempts)
    rng = np.random.default_rng(attempts)
    for _ in range(CASES):
        Case(rng).check()


def test_documents_that_only_the_loser_holds_may_have_to_be_relevant() -> None:
    """The loser has the relevant documents at 1 and 2, and one that is open at 10: 2/2 against 2.3/3 below 0."""
    winner, loser = np.array([0, 0, 0]), np.array([1, 2, 10])
    arguments = {"cutoff": 10, "tolerance": TOLERANCE, "clock": Clock()}
    alone = greatest_difference(winner, loser, np.array([1, 1, -1]), **arguments)
    assert alone.value == pytest.approx(-2.3 / 3) and alone.labels.tolist() == [1, 1, 1]
    with_one = greatest_difference(winner, loser, np.array([1, 1, -1]), outside=1, **arguments)
    assert with_one.value == pytest.approx(-2.3 / 4) and with_one.outside == 1
    with_many = greatest_difference(winner, loser, np.array([1, 1, -1]), outside=100, **arguments)
    assert with_many.value == pytest.approx(-2 / 102) and with_many.labels.tolist() == [1, 1, 0]


def corners(low: np.ndarray, high: np.ndarray) -> Iterator[np.ndarray]:
    open_ones = [-1 if a < b else 0 for a, b in zip(low, high, strict=True)]
    for choice in labelings(open_ones, (0, 1)):
        yield np.where(np.array(choice) == 1, high, low)


def plain_err(positions: np.ndarray, stop: np.ndarray) -> float:
    value, reached = 0.0, 1.0
    for position, chance in sorted(zip(positions.tolist(), stop.tolist(), strict=True)):
        if position:
            value += reached * chance / position
            reached *= 1 - chance
    return value


@pytest.mark.parametrize("seed", range(2))
def test_err_equals_brute_force(seed: int) -> None:
    rng = np.random.default_rng([7, seed])
    below = 0
    for _ in range(CASES):
        case = Case(rng)
        known = rng.choice([0, 1, 3, 7, 15], len(case.label)) / 16
        top = rng.choice([1, 3, 15]) / 16
        low, high = np.where(case.label == -1, 0, known), np.where(case.label == -1, top, known)
        values = [plain_err(case.winner, s) - plain_err(case.loser, s) for s in corners(low, high)]
        found = greatest_err_difference(
            case.winner, case.loser, low, high, clock=Clock(), tolerance=TOLERANCE
        )
        assert found.value == pytest.approx(max(values), abs=2 * TOLERANCE)
        assert found.upper - found.value <= TOLERANCE
        attained = plain_err(case.winner, found.stop) - plain_err(case.loser, found.stop)
        assert attained == pytest.approx(found.value, abs=1e-13)
        assert ((low <= found.stop) & (found.stop <= high)).all()
        stopped = greatest_err_difference(case.winner, case.loser, low, high, clock=Clock(0))
        assert stopped.value - 1e-12 <= max(values) <= stopped.upper + 1e-12
        below += max(values) < 0
    assert below > CASES / 20
