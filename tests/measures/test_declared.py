"""What a parameter takes, and what a group of runs would gain by one run more."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from example_measures import REGISTERED
from ir_measures_relative import MED, UE, Shapley
from ir_measures_relative.measures.coverage import Coverage
from ir_measures_relative.measures.parameters import MISSING


@pytest.mark.parametrize("name", REGISTERED)
def test_ir_measures_own_check_knows_what_is_required(name: str) -> None:
    for spec in REGISTERED[name].SUPPORTED_PARAMS.values():
        assert spec.validate(MISSING) is not spec.required


@pytest.mark.parametrize(
    ("measure", "message"),
    [
        (Shapley(base="nDCG", rel=2) @ 3, "rel goes with base 'P', 'RBP', not 'nDCG'"),
        (UE(base="Success"), "needs a cutoff"),
    ],
)
def test_refused(measure: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        measure.validate_params()


def test_a_number_beyond_its_range_is_refused() -> None:
    with pytest.raises(ValueError, match="beta=-1.0 is not allowed; it must be a number from 0 to 1e100"):
        (MED(base="Q", beta=-1.0) @ 3).validate_params()


@given(data=st.data(), best=st.booleans(), by_query=st.booleans())
def test_a_gain_is_the_difference_of_two_values(data: Any, best: bool, by_query: bool) -> None:
    n_runs, n_items = data.draw(st.integers(1, 4)), data.draw(st.integers(1, 5))
    numbers = st.floats(0, 1)
    seen = np.array(
        data.draw(
            st.lists(st.lists(numbers, min_size=n_items, max_size=n_items), min_size=n_runs, max_size=n_runs)
        )
    )
    weight = np.array(data.draw(st.lists(numbers, min_size=n_items, max_size=n_items)))
    query = (
        np.sort(data.draw(st.lists(st.integers(0, 2), min_size=n_items, max_size=n_items)))
        if by_query
        else None
    )
    coverage = Coverage(seen, weight, best=best, query=query)
    covered = coverage.covered(data.draw(st.lists(st.integers(0, n_runs - 1), max_size=3)))
    expected = [
        coverage.value(coverage.joined(covered, run)) - coverage.value(covered) for run in range(n_runs)
    ]
    assert coverage.gains(covered) == pytest.approx(expected, abs=1e-12)
