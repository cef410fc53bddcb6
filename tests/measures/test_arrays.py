"""Functions of positions: a value is the same number whatever else is asked for."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ir_measures_relative.data.arrays import FloatArray, PositionTable
from ir_measures_relative.measures.bases.browsing import powers
from ir_measures_relative.measures.bases.gains import discount, reciprocal

TABLES: dict[str, tuple[PositionTable, Callable[[int], float]]] = {
    "discount": (discount, lambda i: 1 / math.log2(i + 1)),
    "reciprocal": (reciprocal, lambda i: 1 / i),
    **{f"powers({p})": (powers(p), lambda i, p=p: p ** (i - 1)) for p in (0.5, 0.8, 0.95, 0.999)},
}


@pytest.mark.parametrize("name", TABLES)
@example(positions=[3, 1])  # where numpy's power of one number was not that of two
@given(positions=st.lists(st.integers(0, 3000), min_size=1, max_size=40))
def test_a_value_does_not_depend_on_the_others(name: str, positions: list[int]) -> None:
    table, definition = TABLES[name]
    together = table(np.array(positions))
    assert [float(table(np.array([i]))[0]) for i in positions] == together.tolist()
    assert table(np.array([positions])).tolist() == [together.tolist()]
    assert together.tolist() == table.up_to(3000)[positions].tolist()
    for position, value in zip(positions, together.tolist(), strict=True):
        assert value == (pytest.approx(definition(position), rel=1e-13) if position else 0)


@given(depths=st.lists(st.integers(0, 5000), min_size=1, max_size=6))
def test_a_value_does_not_depend_on_what_was_asked_before(depths: list[int]) -> None:
    def power(position: FloatArray) -> FloatArray:
        return np.power(0.8, position - 1.0)

    grown, fresh = PositionTable(power), PositionTable(power)
    for depth in depths:
        assert grown.up_to(depth).shape == (depth + 1,)
    assert grown.up_to(max(depths)).tolist() == fresh.up_to(max(depths)).tolist()


@given(p=st.floats(0.01, 0.999))
def test_equal_persistences_share_a_table(p: float) -> None:
    assert powers(p) is powers(float(np.float64(p)))
