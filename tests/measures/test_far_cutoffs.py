"""A cutoff far beyond all rankings takes no more than one at their end, and gives the same."""

from __future__ import annotations

import pytest
from ir_measures import Measure

from ir_measures_relative import MED, RunContext

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
        pytest.raises(ValueError, match="The context holds none; make one with the run to compare"),
    ):
        (MED @ 10).calc_aggregate(QRELS, RUNS["two"])
