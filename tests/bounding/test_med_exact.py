"""Exact MED for AP, SSP and ERR, differences in one direction, and parts of the searches, against every labeling."""

import itertools
import os
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from drawn import examples
from ir_measures_relative.bounding import ap_relaxation as sums_module
from ir_measures_relative.bounding import ap_search as search_module
from ir_measures_relative.bounding import intervals as intervals_module
from ir_measures_relative.bounding.ap_relaxation import Mixture, Quadratic, Relaxation, precision_sum
from ir_measures_relative.bounding.ap_search import Search
from ir_measures_relative.bounding.intervals import Clock, TimeLimit
from ir_measures_relative.bounding.level_sums import LevelSums
from ir_measures_relative.bounding.med_searches import _ErrDifference, med_err, med_sum_precision
from oracles.med_exact import (
    all_labelings,
    errs,
    largest_sum_precision_difference,
    sum_precision,
    sum_precision_difference,
    sum_precision_differences,
)

NORMS = ["k", "R", "min"]


def random_pair(
    rng: np.random.Generator, documents: int, share_open: float, top_label: int = 1
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Two rankings of unequal length over the same documents, some of them judged."""
    y, z = np.zeros(documents, int), np.zeros(documents, int)
    for ranking in (y, z):
        length = rng.integers(0, documents + 1)
        ranking[rng.permutation(documents)[:length]] = np.arange(1, length + 1)
    judged = rng.integers(0, top_label + 1, documents)
    return y, z, np.where(rng.random(documents) < share_open, -1, judged)


def cut(cutoff: int, *rankings: np.ndarray) -> list[np.ndarray]:
    """The positions in the tops of rankings."""
    return [np.where(positions <= cutoff, positions, 0) for positions in rankings]


def near_copy(rng: np.random.Generator, documents: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A ranking, the same with some neighbours swapped, and most documents open."""
    y = np.arange(1, documents + 1)
    z = (y + rng.normal(0, 1, documents)).argsort().argsort() + 1
    return y, z, np.where(rng.random(documents) < 0.9, -1, 1)


def largest_err_difference(
    y: np.ndarray, z: np.ndarray, grade: np.ndarray, cutoff: int, max_grade: int
) -> float:
    """The largest difference where each open document has the grade 0 or the highest."""
    stops = (2.0 ** np.maximum(grade, 0) - 1) / 2.0**max_grade
    highest = (2.0**max_grade - 1) / 2.0**max_grade
    stops = np.where(grade == -1, all_labelings(np.where(grade == -1, -1, 0)) * highest, stops)
    won, lost = (errs(np.where(p <= cutoff, p, 0), stops) for p in (y, z))
    return float(np.abs(won - lost).max())


@pytest.mark.slow
@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("seed", range(2))
def test_sum_precision_equals_brute_force(norm: Any, seed: int) -> None:
    rng = np.random.default_rng([seed, NORMS.index(norm)])
    for _ in range(60):
        y, z, label = random_pair(rng, rng.integers(0, 9), rng.random() + 0.2)
        check_sum_precision(y, z, label, rng.integers(1, 11), norm, rng.choice([0, 0, 1, 7]))


@pytest.mark.parametrize("norm", NORMS)
def test_sum_precision_equals_brute_force_on_more_documents(norm: Any) -> None:
    rng = np.random.default_rng(NORMS.index(norm))
    for documents in (11, 12, 13, 14):
        check_sum_precision(*random_pair(rng, documents, 0.95), documents, norm, 0)
    for documents in (9, 10, 11):
        check_sum_precision(*near_copy(rng, documents), documents, norm, 0)


def check_sum_precision(
    y: np.ndarray, z: np.ndarray, label: np.ndarray, cutoff: int, norm: Any, other_relevant: int
) -> None:
    best = float(largest_sum_precision_difference(y, z, label, int(cutoff), norm, int(other_relevant)))
    arguments = {"cutoff": cutoff, "norm": norm, "other_relevant": other_relevant}
    y, z = cut(cutoff, y, z)
    solution = med_sum_precision(y, z, label, **arguments)
    assert solution.exact
    assert solution.value == pytest.approx(best, abs=1e-12)

    swapped = med_sum_precision(z, y, label, **arguments)
    assert swapped.value == pytest.approx(best, abs=1e-12)

    stopped = med_sum_precision(y, z, label, clock=Clock(0), **arguments)
    assert stopped.value - 1e-12 <= best <= stopped.upper + 1e-12
    assert not stopped.exact or stopped.value == pytest.approx(best, abs=1e-9)


@pytest.mark.parametrize("max_grade", [1, 2, 4])
@pytest.mark.parametrize("seed", range(4))
def test_err_equals_brute_force(max_grade: int, seed: int) -> None:
    rng = np.random.default_rng([seed, max_grade])
    for _ in range(60):
        y, z, grade = random_pair(rng, rng.integers(0, 9), rng.random() + 0.2, max_grade)
        check_err(y, z, grade, int(rng.integers(1, 11)), max_grade)


def check_err(y: np.ndarray, z: np.ndarray, grade: np.ndarray, cutoff: int, max_grade: int) -> None:
    best = largest_err_difference(y, z, grade, cutoff, max_grade)
    y, z = cut(cutoff, y, z)
    solution = med_err(y, z, grade, cutoff=cutoff, max_grade=max_grade)
    assert solution.exact
    assert solution.value == pytest.approx(best, abs=1e-12)
    stopped = med_err(y, z, grade, cutoff=cutoff, max_grade=max_grade, clock=Clock(0))
    assert stopped.value - 1e-12 <= best <= stopped.upper + 1e-12


@pytest.mark.parametrize("norm", NORMS)
def test_the_proof_does_not_lean_on_a_good_start(norm: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """From a poor labeling the value rises many times during the search: what was decided before must still hold."""
    monkeypatch.setattr(search_module.Search, "_greedy", lambda *_: None)
    monkeypatch.setattr(search_module, "ATTEMPTS", 2)
    rng = np.random.default_rng([2, NORMS.index(norm)])
    for _ in range(40):
        y, z, label = near_copy(rng, 16)
        label = np.where(rng.random(16) < 0.5, label, rng.integers(0, 2, 16))
        label[np.flatnonzero(label == -1)[9:]] = 0
        check_value(y, z, label, norm, int(rng.choice([0, 1, 5])))
        y, z, label = random_pair(rng, 9, 0.8)
        check_value(y, z, label, norm, int(rng.choice([0, 1, 5])))


def check_value(y: np.ndarray, z: np.ndarray, label: np.ndarray, norm: Any, other_relevant: int) -> None:
    best = largest_sum_precision_difference(y, z, label, 12, norm, other_relevant)
    y, z = cut(12, y, z)
    solution = med_sum_precision(y, z, label, cutoff=12, norm=norm, other_relevant=other_relevant)
    assert solution.exact
    assert solution.value == pytest.approx(float(best), abs=2e-10)


@pytest.mark.parametrize("seed", range(3))
def test_no_labeling_exceeds_the_bounds_for_its_number_of_relevant_documents(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(10):
        y, z, label = random_pair(rng, 8, 0.7)
        free = np.flatnonzero(label == -1)
        free = free[np.lexsort((y[free], y[free] == 0))]
        known, labelings = int((label == 1).sum()), all_labelings(label)
        relaxation = Relaxation(y, z, label, free, 8)
        for price in (rng.normal(3, 3, 8), relaxation.lost(np.ones(len(free)) / 2) + 0.5):
            bounds, table = relaxation.bounds(price, len(free))
            for count in range(len(free) + 1):
                of_count = labelings[labelings.sum(axis=1) == known + count]
                best = max(sum_precision_difference(y, z, row, 8, "k", 0) for row in of_count) * 8
                assert bounds[count] >= best - 1e-12
                assert relaxation.labels(table, count).sum() == count


def test_bounds_in_blocks_are_the_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """However few numbers of relevant documents are looked at together."""
    rng = np.random.default_rng(5)
    for _ in range(20):
        y, z, label = random_pair(rng, 9, 0.8)
        free = np.flatnonzero((label == -1) & (y > 0))
        free = free[y[free].argsort()]
        if not len(free):
            continue
        relaxation = Relaxation(y, z, label, free, 12)
        price = Mixture(relaxation, np.zeros(len(free))).price
        whole: list[Any] = []
        blocks: list[Any] = []
        for block, found in ((sums_module.BLOCK, whole), (1, blocks)):
            monkeypatch.setattr(sums_module, "BLOCK", block)
            bounds, table = relaxation.bounds(price, len(free))
            found += [bounds.tolist(), *(relaxation.labels(table, n).tolist() for n in range(len(free) + 1))]
        assert blocks == whole


@pytest.mark.parametrize("seconds", [0, 1e-3])
@pytest.mark.parametrize("on_the_wall", [False, True])
def test_interval_holds_the_maximum_when_time_runs_out(seconds: float, on_the_wall: bool) -> None:
    rng = np.random.default_rng(7)
    for norm in NORMS:
        y, z, label = random_pair(rng, 60, 0.9)
        given: dict[str, Any] = {"cutoff": 60, "norm": norm}
        exact = med_sum_precision(y, z, label, clock=Clock(), **given)
        clock = Clock(limit=TimeLimit(seconds)) if on_the_wall else Clock(seconds)
        stopped = med_sum_precision(y, z, label, clock=clock, **given)
        assert exact.exact
        assert stopped.value <= exact.value + 1e-9
        assert stopped.upper >= exact.value - 1e-9
        assert stopped.exact or stopped.upper > stopped.value


def test_a_search_counts_cpu_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine that is busy with other work does not end the search early."""
    y, z, label = random_pair(np.random.default_rng(7), 60, 0.9)
    hours = iter(range(0, 10**9, 3600))
    monkeypatch.setattr(intervals_module.time, "monotonic", lambda: float(next(hours)))
    assert med_sum_precision(y, z, label, cutoff=60, norm="R").exact
    assert med_err(*cut(10, y[:10], z[:10]), label[:10], cutoff=10, max_grade=1).exact


def test_no_documents() -> None:
    nothing = np.empty((3, 0), dtype=int)
    found = [med_sum_precision(*nothing, cutoff=5, norm=norm) for norm in NORMS]
    for solution in (*found, med_err(*nothing, cutoff=5, max_grade=4)):
        assert (solution.value, solution.exact) == (0, True)


def test_a_top_grade_that_is_too_large_is_named() -> None:
    with pytest.raises(ValueError, match="max_grade must be from 1 to 1000, got 1001"):
        med_err(*np.array([[1, 2], [2, 1], [-1, 0]]), cutoff=2, max_grade=1001)


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
def test_one_direction_equals_brute_force(seed: int) -> None:
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
def test_nor_does_the_proof_in_one_direction(attempts: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search_module.Search, "_greedy", lambda *_: None)
    monkeypatch.setattr(search_module, "ATTEMPTS", attempts)
    rng = np.random.default_rng(attempts)
    for _ in range(CASES):
        Case(rng).check()


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

    objective = _ErrDifference(winner, loser)
    bound, least, greatest = objective.bound(low, high)
    exact, *slopes = objective.bound(inside, inside)
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
            value = precision_sum(winner[relevant]) - precision_sum(loser[relevant])
            written = quadratic.constant + quadratic.linear @ x + x @ quadratic.pairs @ x / 2
            assert written == pytest.approx(value, abs=1e-12)
            value -= cost * sum(values)
            best = max(best, value)
            if ((decided == OPEN) | (decided == whole)).all():
                best_decided = max(best_decided, value)
        assert best_decided == pytest.approx(best, abs=1e-12)


def test_the_greatest_ratio_is_that_of_all_numbers() -> None:
    """Of documents at each level: also where any gain makes the value negative, and none at all makes it 0."""
    rng, levels, width = np.random.default_rng(0), 2, 4
    for signs in ((-1.0,), (-1.0, 1.0), (1.0,)):
        above = rng.random((100, levels, width)) * rng.choice(signs, (100, levels, width))
        below = rng.random((100, levels, width))
        above[..., 0] = below[..., 0] = 0.0
        above, below = above.cumsum(axis=2), below.cumsum(axis=2)
        base = rng.random((2, 100)) * rng.choice([0.0, 1.0], 100)
        sums = LevelSums((base[0], above), (base[1], below), np.full(100, width - 1))
        expected = np.full(100, -np.inf)
        for first in range(width):
            for second in range(first + 1):
                over = base[0] + above[:, 0, first] + above[:, 1, second]
                under = base[1] + below[:, 0, first] + below[:, 1, second]
                expected = np.maximum(expected, np.divide(over, under, out=np.zeros(100), where=under > 0))
        assert sums.greatest() == pytest.approx(expected, abs=1e-9)
