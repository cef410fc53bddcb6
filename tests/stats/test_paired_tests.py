"""The paired tests of many pairs at once: each is scipy's of each pair; what counts as a tie; what they refuse."""

import itertools
from typing import Any

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from drawn import examples
from ir_measures_relative.stats.intervals import resampled_t, student_interval, topic_counts
from ir_measures_relative.stats.paired_tests import (
    TESTS,
    PairedTestOptions,
    Pairs,
    flipped_signs,
    paired_test,
    tie_limit,
    with_ties,
)

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
