"""The bounds by which the search for the largest difference in ERR leaves out labelings: no point of a box exceeds them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from drawn import examples
from ir_measures_relative.bounding.err import _Difference

DOCS = 5
rankings = st.permutations(range(DOCS)).flatmap(
    lambda order: st.integers(0, DOCS).map(lambda depth: [i + 1 if i < depth else 0 for i in order])
)
points = st.lists(st.floats(0.05, 1.0), min_size=DOCS, max_size=DOCS).map(np.array)
shares = st.lists(st.sampled_from([0.0, 0.3, 0.8, 1.0]), min_size=DOCS, max_size=DOCS).map(np.array)


def err(positions: list[int], go_on: np.ndarray) -> float:
    """By the definition: Σ 1/i · (1 - s_i) · Π s above it."""
    value, reached = 0.0, 1.0
    for position in range(1, DOCS + 1):
        if position in positions:
            s = go_on[positions.index(position)]
            value, reached = value + reached * (1 - s) / position, reached * s
    return value


@examples(40)
@given(winner=rankings, loser=rankings, corners=st.tuples(points, points), share=shares)
def test_no_point_of_a_box_exceeds_its_bounds(
    winner: list[int], loser: list[int], corners: tuple[np.ndarray, np.ndarray], share: np.ndarray
) -> None:
    low, high = np.minimum(*corners), np.maximum(*corners)
    inside = low + share * (high - low)

    def difference(go_on: np.ndarray) -> float:
        return err(winner, go_on) - err(loser, go_on)

    objective = _Difference(np.array(winner), np.array(loser))
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
