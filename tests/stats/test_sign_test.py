"""The sign test."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ir_measures_relative.stats import sign_test


def exact_p(wins: int, losses: int) -> float:
    """The two-sided p-value: twice the smaller tail of Binomial(n, 1/2), at most 1."""
    n = wins + losses
    tail = sum(math.comb(n, i) for i in range(min(wins, losses) + 1))
    return float(min(Fraction(1), Fraction(2 * tail, 2**n)))


@given(st.lists(st.tuples(st.integers(-2, 2), st.integers(-2, 2)), max_size=60))
def test_it_is_the_binomial_test_of_the_pairs_that_differ(pairs: Any) -> None:
    a, b = np.array([p[0] for p in pairs]), np.array([p[1] for p in pairs])
    result = sign_test(a, b)
    wins, losses = int((a > b).sum()), int((a < b).sum())
    assert result.statistic == wins
    assert result[1] == result.pvalue == pytest.approx(exact_p(wins, losses), rel=1e-12)
    assert sign_test(b, a).pvalue == pytest.approx(result.pvalue)


def test_worked_numbers() -> None:
    assert sign_test([1] * 6, [0] * 6).pvalue == 2 / 64
    assert sign_test([3, 1, 2], [3, 1, 2]) == (0, 1.0)
    assert sign_test([], []).pvalue == 1.0
    assert sign_test([0.1, 0.5], [0.2, 0.4]).pvalue == 1.0
    assert sign_test([5.0, -1e-300], [0, 0]) == sign_test([1, -1], [0, 0])  # the size does not count


@pytest.mark.parametrize(
    ("a", "b", "message"),
    [
        ([1, 2], [1], r"same length, not shapes \(2,\) and \(1,\)"),
        ([[1, 2]], [[1, 2]], "same length"),
        (1.0, 2.0, "same length"),
        ([1, math.nan], [1, 2], "pair 1 holds a NaN"),
        ([1, 2], [math.nan, 2], "pair 0 holds a NaN"),
    ],
)
def test_what_is_no_pair_of_lists(a: Any, b: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        sign_test(a, b)
