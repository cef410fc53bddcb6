"""The greatest difference in one direction, which may be below 0, against every labeling tried."""

import os
from fractions import Fraction

import numpy as np
import pytest

from ir_measures_relative.bounding import ap_search as search_module
from ir_measures_relative.bounding.ap_search import Search
from ir_measures_relative.bounding.intervals import Clock
from oracles.med_exact import all_labelings, sum_precision, sum_precision_differences

# How many random cases each test tries.
CASES = int(os.environ.get("DIRECTION_CASES", "120"))
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
        found = sum_precision_differences(self.winner, self.loser, all_labelings(self.label)).items()
        return float(max(most / max(n + self.other + end, 1) for n, (_, most) in found for end in ends))

    def check(self) -> tuple[float, np.ndarray]:
        best = self.greatest()
        arguments = self.cutoff, "R", self.other, self.outside, TOLERANCE
        found = Search(self.winner, self.loser, self.label, *arguments)
        assert found.value <= best + 1e-12 and best <= found.upper + 1e-12, vars(
            self
        )  # before the search, too
        found.run(Clock())
        judged = self.label != -1
        np.testing.assert_array_equal(found.best[judged], self.label[judged])
        assert set(found.best.tolist()) <= {0, 1}
        # Where it is below 0, all documents outside are relevant.
        attained = float(self.difference(found.best, self.outside if found.value < 0 else 0))
        assert found.value == pytest.approx(attained, abs=1e-13), vars(self)
        assert best <= found.upper + 1e-12 and found.upper - found.value <= TOLERANCE
        assert found.value == pytest.approx(best, abs=2 * TOLERANCE), vars(self)
        return best, found.best


@pytest.mark.parametrize("seed", range(3))
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


@pytest.mark.parametrize("attempts", [2, 12])
def test_the_proof_does_not_lean_on_a_good_start(attempts: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search_module.Search, "_greedy", lambda *_: None)
    monkeypatch.setattr(search_module, "ATTEMPTS", attempts)
    rng = np.random.default_rng(attempts)
    for _ in range(CASES):
        Case(rng).check()
