"""The paired tests of many pairs at once, each as scipy's of each pair; and intervals of means and effects."""

import itertools
import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.special
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from drawn import examples
from ir_measures_relative.stats.intervals import (
    effect_interval,
    mean_interval,
    means_and_margins,
    resampled_t,
    student_interval,
    topic_counts,
    topics_to_settle,
    value_range,
)
from ir_measures_relative.stats.paired_tests import (
    TESTS,
    PairedTestOptions,
    Pairs,
    flipped_signs,
    paired_test,
    tie_limit,
    with_ties,
)
from ir_measures_relative.stats.regret import cautious_upper_end

seeds = st.integers(0, 2**32 - 1)


def differences(seed: int, pairs: int = 4, topics: int | None = None) -> Any:
    """With ties or without, of pairs that differ or do not."""
    rng = np.random.default_rng(seed)
    shape = pairs, topics or int(rng.integers(2, 70))
    values = rng.normal(rng.choice([0, 0.5]), 1, shape)
    return np.round(values, int(rng.choice([0, 1, 15])))


def p_by_scipy(test: str, d: Any) -> float:
    if not d.any():
        return 1.0
    if test == "t":
        return float(scipy.stats.ttest_1samp(d, 0).pvalue) if np.ptp(d) else np.nan
    if test == "wilcoxon":
        return float(scipy.stats.wilcoxon(d).pvalue)
    if test == "sign":
        wins, losses = int((d > 0).sum()), int((d < 0).sum())
        return float(scipy.stats.binomtest(wins, wins + losses).pvalue)
    found = scipy.stats.permutation_test(
        (d,),
        lambda x, axis: np.round(x.mean(axis), 12),
        permutation_type="samples",
        vectorized=True,
        n_resamples=499,
        rng=np.random.default_rng(7),
    )
    return float(found.pvalue)


@pytest.mark.filterwarnings("ignore:Precision loss")  # scipy's, of differences that are nearly constant
@pytest.mark.parametrize("test", ["t", "sign", "randomization"])
@examples(40)
@given(seed=seeds)
def test_each_pair_is_that_of_scipy(test: str, seed: int) -> None:
    check_by_scipy(test, seed)


@pytest.mark.filterwarnings("ignore:Precision loss")
@examples(12)  # scipy tries all signs of few differences with ties, which takes a tenth of a second
@given(seed=seeds)
def test_wilcoxon_of_each_pair_is_that_of_scipy(seed: int) -> None:
    check_by_scipy("wilcoxon", seed)


def test_wilcoxon_of_14_topics_with_ties_is_not_exact_as_in_scipy() -> None:
    d = np.random.default_rng(14).integers(-3, 7, (2, 14)) / 7
    found = paired_test(Pairs.from_differences(d), "wilcoxon", PairedTestOptions())
    for row, p in zip(d, found.p, strict=True):
        assert p == pytest.approx(p_by_scipy("wilcoxon", row), rel=1e-9)


def check_by_scipy(test: str, seed: int) -> None:
    d = differences(seed)
    options = PairedTestOptions(resamples=499, seed=7)
    found = paired_test(Pairs.from_differences(d), test, options)
    for row, p in zip(d, found.p, strict=True):
        assert p == pytest.approx(p_by_scipy(test, row), rel=1e-9, abs=1e-14, nan_ok=True)


@pytest.mark.parametrize("test", TESTS)
@examples(20)
@given(seed=seeds)
def test_a_pair_alone_is_that_among_others(test: str, seed: int) -> None:
    pairs = Pairs.from_differences(differences(seed))
    options = PairedTestOptions(resamples=199)
    together = np.array(paired_test(pairs, test, options))
    for i in range(4):
        alone = Pairs(pairs.differences[[i]], pairs.limit)
        assert np.array(paired_test(alone, test, options))[:, 0] == pytest.approx(
            together[:, i], rel=1e-12, nan_ok=True
        )


@pytest.mark.parametrize("test", TESTS)
def test_topics_without_a_value_are_left_out(test: str) -> None:
    d = differences(5, topics=30)
    d[1, 4] = d[2, :29] = d[3, [2, 4]] = np.nan
    found = np.array(paired_test(Pairs.from_differences(d), test))
    for i in (0, 1, 3):
        pairs = Pairs(d[[i]][:, ~np.isnan(d[i])], tie_limit(d))
        assert found[:, i] == pytest.approx(np.array(paired_test(pairs, test))[:, 0])
    assert np.isnan(found[:, 2]).all()


@given(seed=seeds, confidence=st.sampled_from([0.3, 0.8, 0.95]))
def test_students_interval(seed: int, confidence: float) -> None:
    d = differences(seed) + 0.001 * np.arange(4)[:, None]
    for row, low, high in zip(d, *student_interval(d, confidence), strict=True):
        if np.ptp(row):
            one = scipy.stats.ttest_1samp(row, 0)
            assert (low, high) == pytest.approx(tuple(one.confidence_interval(confidence)))
    assert np.isnan(student_interval(np.array([[0.1] * 5, [0.3 - 0.2] * 5]), 0.95)).all()
    assert np.isnan(student_interval(np.ones((2, 1)), 0.95)).all()


@pytest.mark.parametrize("topics", [3, 8, 9, 30])
def test_signs_are_all_where_there_are_few(topics: int) -> None:
    signs, every = flipped_signs(299, topics, 0)
    assert every == (topics <= 8) and set(signs.ravel()) == {-1, 1}
    assert len(signs) == (2**topics if every else 299)
    if every:
        assert len(np.unique(signs, axis=0)) == 2**topics


@given(seed=seeds)
def test_ties_are_made_equal(seed: int) -> None:
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 5, (3, 8)) / 7 + rng.choice([0, 1e-16, -1e-16], (3, 8))
    snapped = with_ties(values, 1e-9)
    assert snapped == pytest.approx(values, abs=1e-12)
    for a, b in itertools.combinations(range(8), 2):
        assert ((snapped[:, a] == snapped[:, b]) == (abs(values[:, a] - values[:, b]) < 1e-9)).all()


@pytest.mark.parametrize("unit", [1e-8, 1.0, 1e8])
def test_a_tie_goes_by_the_spread(unit: float) -> None:
    values = unit * np.array([[0.1, 0.7, 0.4, 0.5], [0.1, 0.7 + 1e-10, 0.4 - 1e-6, 0.5 + 1e-16]])
    for shift in (0.0, unit):
        pairs = Pairs.between(*(values + shift)[:, None])
        assert (pairs.differences[0] != 0).tolist() == [False, False, True, False]
    assert (pairs.wins[0], pairs.losses[0]) == (1, 0)


def test_copies_that_are_constant_but_for_rounding_are_tied() -> None:
    values = np.array([[0.5] * 6, [0.5 + 1e-16, 0.5, 0.5 - 1e-16] * 2])
    assert not Pairs.between(*values[:, None]).differences.any()
    assert tie_limit(np.array([np.nan])) == tie_limit(np.empty(0)) == 0


@pytest.mark.parametrize("test", TESTS)
def test_the_wins_are_those_of_the_test(test: str) -> None:
    """A difference of a billionth of the spread is a tie for the counts and for p alike."""
    rng = np.random.default_rng(3)
    one = rng.random((1, 20))
    other = one + rng.choice([0, 0.1, -0.1], (1, 20))
    nearly = Pairs.between(one, other + 1e-11 * rng.normal(size=(1, 20)))
    exactly = Pairs.between(one, other)
    for found in (nearly, exactly):
        assert (found.wins[0], found.losses[0]) == ((other < one).sum(), (other > one).sum())
    assert paired_test(nearly, test).p == pytest.approx(paired_test(exactly, test).p, abs=1e-9)


@pytest.mark.parametrize("topics", [4, 5, 20, 54, 200])
def test_the_bootstrap_says_nothing_where_fewer_than_five_topics_differ(topics: int) -> None:
    """However many topics there are: two that differ of 54 gave p = .15 and an interval of 1e15."""
    for differing in range(1, 7):
        d = np.zeros((1, topics))
        d[0, :differing] = np.linspace(0.2, 0.9, 6)[: min(differing, topics)]
        found = paired_test(Pairs.from_differences(d), "bootstrap")
        if min(differing, topics) < 5:
            assert np.isnan(found).all()
        else:
            assert 0 < found.p[0] < 1 and np.isfinite(found).all() and found.upper[0] < 2
    same = paired_test(Pairs.from_differences(np.zeros((1, topics))), "bootstrap")
    assert (same.p[0], same.lower[0], same.upper[0]) == pytest.approx((1, np.nan, np.nan), nan_ok=True)


def test_the_bootstrap_says_nothing_where_resamples_have_no_spread() -> None:
    """Five topics that differ, all alike, but for one: one resample in a hundred has them all the same."""
    d = np.array([[0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.9]])
    assert np.isnan(paired_test(Pairs.from_differences(d), "bootstrap")).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"confidence": 1}, "confidence=1 is not allowed; it must be between 0 and 1"),
        ({"confidence": True}, "confidence=True is not allowed"),
        ({"resamples": 98}, "resamples=98 is not allowed; it must be a whole number of at least 99"),
        ({"seed": -1}, "seed=-1 is not allowed"),
    ],
)
def test_options_are_checked(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        PairedTestOptions(**options)


def test_resampled_t_is_that_of_a_loop_over_the_topics_that_are_known() -> None:
    values = np.random.default_rng(0).gamma(2.0, 1.0, (2, 12))
    values[1, [2, 7]] = np.nan
    counts = topic_counts(50, 12, 1)
    ((rows, t),) = resampled_t(values, 1e-9, counts)
    assert rows.tolist() == [0, 1]
    for row, found in zip(values, t.T, strict=True):
        for count, one in zip(counts.astype(int), found, strict=True):
            drawn = np.repeat(row, count)
            drawn = drawn[~np.isnan(drawn)]
            mean, error = drawn.mean(), scipy.stats.sem(drawn)
            expected = mean - np.nanmean(row)
            assert one == pytest.approx(expected / error)


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
