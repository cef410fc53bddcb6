"""What bases are made of: functions of positions, gains, ideals, sums; and cutoffs far beyond all rankings."""

import math
import tracemalloc
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from ir_measures import Measure

from ir_measures_relative import MED, NRG, RunContext, Shapley
from ir_measures_relative.data.arrays import FloatArray, PositionTable
from ir_measures_relative.measures.bases.browsing import (
    BrowsingModel,
    Geometric,
    LogDiscount,
    Reciprocal,
    TopK,
    powers,
)
from ir_measures_relative.measures.bases.gains import (
    compute_gains,
    discount,
    reciprocal,
    total_discount,
)
from ir_measures_relative.measures.form import Ideal

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
    assert powers(0.3) is powers(float(np.float64(0.3)))


def test_the_sum_of_many_discounts() -> None:
    """Equal to the last bit up to 2^20 terms, and as close as rounding allows beyond."""
    every = 1.0 / np.log2(np.arange(1, 2**21 + 8) + 1.0)
    for k in (1, 10, 1000, 2**20 + 1, 2**21 + 7):
        assert total_discount(k) == pytest.approx(every[:k].sum(), rel=1e-15 if k <= 1000 else 1e-14)
    assert total_discount(2**31 - 1) == pytest.approx(np.log(2) * 105103364.2, rel=1e-3)


RUNS = {"one": {"q": {"A": 3.0, "B": 2.0, "C": 1.0}}, "two": {"q": {"C": 3.0, "D": 2.0, "A": 1.0, "B": 0.0}}}
QRELS = {"q": {"A": 1, "B": 0, "X": 1}}


@pytest.mark.parametrize("measure", [MED(base="AP", norm=n) for n in ("R", "min")])
def test_far_cutoffs_give_the_same(measure: Measure) -> None:
    with RunContext(RUNS, reference="one"):
        near, far = ((measure @ k).calc_aggregate(QRELS, RUNS["two"]) for k in (10, 10**9))
    assert near == pytest.approx(far, abs=1e-15) and near > 0


@pytest.mark.parametrize("measure", [NRG(base="SDCG"), MED(base="SDCG"), Shapley(base="SDCG")])
def test_sdcg_of_far_cutoffs_takes_no_more_memory(measure: Measure) -> None:
    tracemalloc.start()
    with RunContext(RUNS, reference="one").evaluating("two"):
        value = (measure @ 10**9).calc_aggregate(QRELS, RUNS["two"])
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert 0 <= value < 1e-7 and most < 1e8


def test_the_ideal_where_one_query_has_most_rows() -> None:
    """A table of all queries would be large there, so that it is computed row by row."""
    gain, query = np.random.default_rng(0).random(1201), np.append(np.zeros(1200, dtype=np.int64), 1500)
    ideal = Ideal(LogDiscount(), 3).value(gain, query, 1501)
    best = np.sort(gain[:1200])[::-1][:3]
    assert ideal[0] == pytest.approx(best[0] + best[1] / np.log2(3) + best[2] / 2)
    assert ideal[1500] == gain[1200] and not ideal[1:1500].any()


def test_the_largest_label_whose_exponential_gain_is_a_number() -> None:
    assert compute_gains(np.array([1000]), "exp-log2", None).tolist() == [2.0**1000 - 1]
    with pytest.raises(ValueError, match="the label 1001, in the qrels, is too large"):
        compute_gains(np.array([1001]), "exp-log2", None)


@pytest.mark.parametrize("seen", [LogDiscount(), Reciprocal(), Geometric(0.5), TopK()], ids=str)
def test_an_ideal_is_that_of_its_browsing_model(seen: BrowsingModel) -> None:
    gain, query = np.array([1.0, 3.0, 2.0, 1.0]), np.array([0, 0, 0, 1])
    weights = seen.seen(np.arange(1, 4)).tolist()
    for depth in (1, 2, None):
        want = [
            sum(g * w for g, w in zip(sorted(gain[query == q], reverse=True)[:depth], weights, strict=False))
            for q in (0, 1)
        ]
        ideal = Ideal(seen, depth)
        assert ideal.value(gain, query, 2) == pytest.approx(want)
        assert ideal.value(np.array([gain, 2 * gain]), query, 2)[1] == pytest.approx(2 * np.array(want))
