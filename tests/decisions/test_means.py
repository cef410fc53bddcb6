"""mean_intervals(): scipy's interval, on the scale of the logarithm where values cannot be negative."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats
from ir_measures import NumRet

from ir_measures_relative import NRG, FusionGain, P_Rareness, RunContext, Shapley, TaSC, UniqueRel
from ir_measures_relative.decisions import mean_intervals
from oracles import meta as oracle

RUNS, LABELS = oracle.campaign(3, runs=4, topics=25)
CONTEXT = RunContext(RUNS, priors=["r3"])


@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_against_scipy(confidence: float) -> None:
    measures = [UniqueRel @ 5, FusionGain(base="nDCG@5")]
    values = CONTEXT.evaluate(LABELS, measures, perquery=True).groupby(["name", "measure"])["value"]
    table = mean_intervals(CONTEXT, LABELS, measures, confidence)
    assert list(table.columns) == ["name", "measure", "mean", "ci_lower", "ci_upper"]
    assert list(zip(table["name"], table["measure"], strict=True)) == [
        (name, str(measure)) for name in RUNS for measure in measures
    ]
    for row in table.itertuples():
        of_run = values.get_group((row.name, row.measure)).to_numpy()
        mean, reach = of_run.mean(), scipy.stats.t(24).ppf((1 + confidence) / 2) * scipy.stats.sem(of_run)
        low, high = mean - reach, mean + reach
        if row.measure == "UniqueRel@5" and reach:
            low, high = (
                mean * np.exp(-reach / mean),
                min(mean * np.exp(reach / mean), max(high, of_run.max())),
            )
        assert (row.mean, row.ci_lower, row.ci_upper) == pytest.approx((mean, low, high))


def test_a_sum_has_no_mean() -> None:
    with pytest.raises(ValueError, match="NumRet is a sum over topics"):
        mean_intervals(CONTEXT, LABELS, [NumRet])


def test_which_measures_are_0_for_a_duplicate() -> None:
    """A measure says so itself."""
    context = RunContext({"old": RUNS["r0"], "duplicate": RUNS["r0"]}, priors=["old"])
    for measure in (UniqueRel @ 5, NRG(base="P") @ 5):
        assert measure.zero_for_duplicate
        assert mean_intervals(context, LABELS, [measure]).iloc[1, 2:4].tolist() == [0.0, 0.0]
    for measure in (NRG @ 5, NRG(base="RBP"), NRG(base="RR"), Shapley @ 5, P_Rareness @ 5, TaSC):
        assert not measure.zero_for_duplicate
        assert mean_intervals(context, LABELS, [measure])["mean"][1] > 0
