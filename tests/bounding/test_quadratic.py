"""What the search for the largest difference in AP fixes, and how it bounds what is left: against all labelings."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from drawn import examples
from ir_measures_relative.bounding.ap_relaxation import Quadratic, sum_of_precisions

OPEN = -1
rankings = st.permutations(range(6)).flatmap(
    lambda order: st.integers(0, 6).map(lambda depth: np.array([i + 1 if i < depth else 0 for i in order]))
)
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
