"""A cutoff far beyond all rankings takes no more than one at their end, and gives the same."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from ir_measures import Measure

from ir_measures_relative import MED, NRG, RunContext, Shapley
from ir_measures_relative.measures.bases.gains import sum_of_discounts

QRELS = {"q": {"A": 1, "B": 0, "X": 1}}
RUNS = {"one": {"q": {"A": 3.0, "B": 2.0, "C": 1.0}}, "two": {"q": {"C": 3.0, "D": 2.0, "A": 1.0, "B": 0.0}}}


@pytest.mark.parametrize(
    "measure", [MED(base="AP"), MED(base="AP", norm="min"), MED(base="Q"), MED(base="Q", norm="min")]
)
def test_far_cutoffs(measure: Measure) -> None:
    with RunContext(RUNS, reference="one"):
        near, far = ((measure @ k).calc_aggregate(QRELS, RUNS["two"]) for k in (10, 10**9))
    assert near == pytest.approx(far, abs=1e-15) and near > 0


def test_without_a_run_to_compare_with() -> None:
    with (
        RunContext({}),
        pytest.raises(ValueError, match="which run is the reference"),
    ):
        (MED @ 10).calc_aggregate(QRELS, RUNS["two"])


def test_the_sum_of_many_discounts() -> None:
    """Equal to the last bit up to 2^20 terms, and as close as rounding allows beyond."""
    every = 1.0 / np.log2(np.arange(1, 2**22 + 1) + 1.0)
    for k in (1, 10, 1000):
        assert sum_of_discounts(k) == pytest.approx(every[:k].sum(), rel=1e-15)
    for k in (2**20 + 1, 2**21 + 7, 2**22):
        assert sum_of_discounts(k) == pytest.approx(every[:k].sum(), rel=1e-14)
    assert sum_of_discounts(2**31 - 1) == pytest.approx(np.log(2) * 105103364.2, rel=1e-3)


@pytest.mark.parametrize("measure", [NRG(base="SDCG"), MED(base="SDCG"), Shapley(base="SDCG")])
def test_sdcg_of_far_cutoffs_takes_no_more_memory(measure: Measure) -> None:
    tracemalloc.start()
    with RunContext(RUNS, reference="one").evaluating("two"):
        value = (measure @ 10**9).calc_aggregate(QRELS, RUNS["two"])
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert 0 <= value < 1e-7 and most < 1e8
