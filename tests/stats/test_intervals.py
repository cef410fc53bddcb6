"""Intervals of means that cannot be negative."""

import math

import numpy as np
import pandas as pd
import pytest
import scipy.special
import scipy.stats

from ir_measures_relative.stats.intervals import (
    effect_interval,
    mean_interval,
    means_and_margins,
    student_interval,
    topic_counts,
    topics_to_settle,
    value_range,
)
from ir_measures_relative.stats.regret import cautious_upper_end


@pytest.mark.parametrize(
    ("positive", "tail", "least"),
    [(0.06, 0.7, 0.93), (0.1, 0.7, 0.93), (0.15, 0.7, 0.93), (0.06, 0.4, 0.9)],
)
def test_coverage_of_sparse_values(positive: float, tail: float, least: float) -> None:
    """Mostly 0, and a count elsewhere: the interval holds the mean where Student's misses it.

    The first three are as UniqueRel(rel=2)@10 of DL 2021's runs, 6 to 19 % of the topics above 0, and 1.3 there. The last has a
    heavier tail, where neither is good. Samples that are all 0, which leave the upper end open, do not count.
    """
    rng = np.random.default_rng(0)
    shape = 10000, 50
    found = (rng.random(shape) < positive) * rng.geometric(tail, size=shape)
    found, mean = found[found.any(axis=1)], positive / tail
    ours, students = mean_interval(found, 0.95), student_interval(found, 0.95)

    def coverage(ends: tuple[np.ndarray, np.ndarray]) -> float:
        return float(((ends[0] <= mean) & (mean <= ends[1])).mean())

    assert coverage(ours) >= least and coverage(students) < 0.9
    assert (students[0] < 0).any() and (ours[0] >= 0).all()


@pytest.mark.filterwarnings("error")
def test_values_without_spread_or_with_both_signs() -> None:
    """Where all values are 0, only the lower end is known. Signed measures have another interval, without a warning."""
    low, high = mean_interval(np.array([[0.0] * 5, [0.3] * 5]), 0.95)
    np.testing.assert_array_equal([low, high], [[0.0, np.nan], [np.nan, np.nan]])
    np.testing.assert_array_equal(mean_interval(np.zeros((1, 1)), 0.95), [[np.nan], [np.nan]])
    low, high = mean_interval(np.array([[1.0, -1.0]]), 0.95)
    assert low == 0 and np.isnan(high).all()


def test_the_scale_is_that_of_the_measure() -> None:
    """A run that never falls below 0 has Student's interval where another does, as of one measure."""
    a, b, zero = [0.0, 0.0, 0.0, 1.0], [0.5, -0.5, 0.1, 0.2], [0.0] * 4
    rows = [
        {"name": n, "query_id": str(i), "measure": m, "value": v}
        for m, runs in (("may", {"a": a, "b": b}), ("never", {"a": a, "zero": zero}))
        for n, of_run in runs.items()
        for i, v in enumerate(of_run)
    ]
    means, margins = means_and_margins(pd.DataFrame(rows), "may", "never")
    assert means["may"][0] - margins["may"][0][0] == pytest.approx(
        float(student_interval(np.array(a), 0.95)[0])
    )
    assert 0 < means["never"][0] - margins["never"][0][0] < 0.25
    assert margins["never"][0][2] == 0 and np.isnan(margins["never"][1][2])


@pytest.mark.parametrize(("n", "effect"), [(10, 0.8), (50, -0.5)])
def test_the_interval_of_an_effect_covers(n: int, effect: float) -> None:
    """At 95 %, of normal differences, where it is exact; and where Student's interval ends at 0, so does it."""
    draws = np.random.default_rng(0).normal(effect, 1.0, size=(500, n))
    found = draws.mean(axis=1) / draws.std(axis=1, ddof=1)
    low, high = effect_interval(found, np.full(500, n), np.full(500, scipy.stats.t.ppf(0.975, n - 1)))
    assert 0.93 <= np.mean((low <= effect) & (effect <= high)) <= 0.97
    mirrored = effect_interval(-found, np.full(500, n), np.full(500, scipy.stats.t.ppf(0.975, n - 1)))
    np.testing.assert_array_equal([-high, -low], mirrored)
    lower, upper = student_interval(draws, 0.95)
    assert ((lower > 0) == (low > 0)).all() and ((upper < 0) == (high < 0)).all()


def test_an_effect_without_a_finite_interval() -> None:
    low, high = effect_interval(np.array([0.5, -0.5, np.nan]), np.full(3, 9), np.array([np.inf, np.nan, 2.0]))
    np.testing.assert_array_equal([low, high], [[-np.inf, np.nan, np.nan], [np.inf, np.nan, np.nan]])


def test_no_interval_leaves_the_range_of_its_measure() -> None:
    """As the measure declares it; what is not known of has no end."""
    near_the_top, near_the_bottom = [1.0] * 8 + [0.5, 0.9], [-1.0] * 8 + [-0.5, 1.0]
    values = {"nDCG@10": near_the_top, "rrLP": near_the_bottom, "mine": [2.0] * 8 + [0.1, 3.0]}
    rows = [("run", i, m, v) for m, of_measure in values.items() for i, v in enumerate(of_measure)]
    table = pd.DataFrame(rows, columns=["name", "query_id", "measure", "value"])
    means, margins = means_and_margins(table, *values, confidence=0.999)
    ends = {m: (means[m][0] - margins[m][0][0], means[m][0] + margins[m][1][0]) for m in values}
    assert ends["nDCG@10"][1] == 1.0 and ends["rrLP"][0] == -1.0
    assert ends["mine"][1] > 2


def test_measures_declare_their_range() -> None:
    for measure, expected in {
        "UniqueRel@7": (0, 7),
        "NRG(norm=None)@10": (0, np.inf),
        "P_Rareness(alpha=0.5)@10": (0, 1.5),
        "nDCG_UE@10": (-1, 1),
        "rrLP@10": (-1, 1),
        "nDCG_UE(version='z')@10": (-np.inf, np.inf),
        "AP": (0, 1),
        "TaSC(base='P@1')": (0, 1),
        "alpha_NRG@10": (0, np.e / (np.e - 1)),
        "NewAspects@10": (0, np.inf),
        "RBO(ref='a')@10": (0, 1),
        "NumRet": (-np.inf, np.inf),
        "no measure": (-np.inf, np.inf),
    }.items():
        assert value_range(measure) == expected, measure


@pytest.mark.parametrize("reach", [0.5, 2.0, 3.5, 4.8, 6.0])
def test_the_interval_of_an_effect_leaves_the_tails_out_that_it_says(reach: float) -> None:
    """Far tails, as of many rows corrected together, included: scipy's own inverse is nine times off there."""
    rng = np.random.default_rng(3)
    effect = np.append(rng.normal(0, 1, 30) * rng.choice([0.05, 0.5, 2.0], 30), [0.0, 0.196])
    n = np.tile([5.0, 8.0, 53.0, 250.0], 8)
    lower, upper = effect_interval(effect, n, np.full(32, reach))
    tail = scipy.stats.t.cdf(-reach, n - 1)
    above, below = (scipy.special.nctdtr(n - 1, end * n**0.5, effect * n**0.5) for end in (lower, upper))
    assert 1 - above == pytest.approx(tail, rel=1e-5, abs=1e-12)
    assert below == pytest.approx(tail, rel=1e-5, abs=1e-12)
    assert (lower < effect).all() and (effect < upper).all()


def test_the_cautious_end_is_no_lower_than_students() -> None:
    rng, counts = np.random.default_rng(1), topic_counts(999, 30, 0)
    for values in rng.normal(0.1, 0.2, (20, 30)):
        assert cautious_upper_end(values, 1.0, 0.95, counts) >= student_interval(values[None], 0.95)[1][0]


def test_few_topics_that_differ_may_be_more_of_all_topics() -> None:
    """Three of thirty: a share up to the end of Clopper and Pearson is anywhere up to the greatest value."""
    share = scipy.stats.beta.ppf(0.975, 4, 27)
    upper = cautious_upper_end(np.repeat([0.2, 0.5], [27, 3]), 1.0, 0.95, topic_counts(999, 30, 0))
    assert upper == pytest.approx(0.2 * (1 - share) + share)


def test_so_many_topics_have_the_power_that_was_asked_for() -> None:
    rng = np.random.default_rng(3)
    pilot = rng.normal(0.0, 0.2, 50)
    pilot = (pilot - pilot.mean()) / pilot.std(ddof=1) * 0.2 + 0.05
    needed, fewest, most = topics_to_settle(pilot, 0.0, 0.95)
    assert fewest < needed < most
    above = [student_interval(rng.normal(0.05, 0.2, (1, int(needed))), 0.95)[0][0] > 0 for _ in range(2000)]
    assert np.mean(above) == pytest.approx(0.8, abs=0.03)
    assert topics_to_settle(pilot - pilot.mean(), 0.0, 0.95) == (math.inf,) * 3
    values = np.linspace(-0.2, 0.3, 8)

    def fits(n: int) -> bool:
        tail, power = scipy.stats.t.ppf([0.95, 0.8], n - 1)
        return n**0.5 * 0.05 / values.std(ddof=1) >= 1.5 * tail + power

    reach = 1.5 * (student_interval(values[None], 0.9)[1][0] - 0.05)
    assert topics_to_settle(values, reach, 0.9)[0] == next(filter(fits, range(2, 1000)))
    # Of five topics four differ, and of seven five or more are expected to.
    assert topics_to_settle(np.array([1.0, 1.0, 1.0, 1.0, 0.0]), 0.0, 0.95)[:2] == (7, 7)
