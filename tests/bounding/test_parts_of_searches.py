"""Parts of the searches, against all labelings: what they fix, and how they bound the rest."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from drawn import examples
from ir_measures_relative.bounding.ap_relaxation import Quadratic, precision_sum
from ir_measures_relative.bounding.level_sums import LevelSums
from ir_measures_relative.bounding.med_searches import _ErrDifference

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
