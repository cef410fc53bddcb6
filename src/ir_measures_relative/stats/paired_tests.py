"""Paired tests: is the mean difference of each pair of runs above or below 0? And the one rule for ties.

A new test is an entry of :data:`TESTS`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ..arguments import check_choice, check_confidence, check_count
from ..data.arrays import BoolArray, FloatArray, IntArray
from ..tolerances import ROUNDED, TIED
from .intervals import BATCH, critical_t, lowest_tied, resampled_t, student_interval, topic_counts

#: Up to how many topics Wilcoxon's test is exact, where none are tied; and where some are. As in scipy.
_MOST_EXACT, _MOST_EXACT_TIED = 50, 13


def tie_limit(values: FloatArray) -> float:
    """Return the largest difference that is still a tie: :data:`.TIED` of the spread of all values compared."""
    defined = values[~np.isnan(values)]
    if not defined.size:
        return 0.0
    return max(TIED * float(np.ptp(defined)), ROUNDED * float(np.abs(defined).max()))


def with_ties(values: FloatArray, limit: float) -> FloatArray:
    """Return the values with ties along the last axis made equal: each becomes the lowest that it is tied with."""
    order = np.argsort(values, axis=-1, kind="stable")
    ordered = np.take_along_axis(values, order, axis=-1)
    apart = np.diff(ordered, axis=-1, prepend=-np.inf) > limit
    lowest = np.maximum.accumulate(np.where(apart, np.arange(values.shape[-1]), 0), axis=-1)
    result = np.empty_like(values)
    np.put_along_axis(result, order, np.take_along_axis(ordered, lowest, axis=-1), axis=-1)
    return result


@dataclass(frozen=True)
class Pairs:
    """Pairs of runs on the same topics: by how much the first is better, 0 for a tie, NaN where a value is unknown.

    Attributes:
        differences: pairs × topics.
        limit: the largest difference that is still a tie.
    """

    differences: FloatArray
    limit: float

    @classmethod
    def between(cls, first: FloatArray, second: FloatArray, limit: float | None = None) -> Pairs:
        """Return pairs of values, pairs × topics each; tied by ``limit``, or by the spread of these values."""
        if limit is None:
            limit = tie_limit(np.concatenate([first.ravel(), second.ravel()]))
        differences = first - second
        return cls(np.where(np.abs(differences) <= limit, 0.0, differences), limit)

    @classmethod
    def from_differences(cls, differences: FloatArray) -> Pairs:
        """Return pairs by their differences, pairs × topics, whose spread is from the largest to its negative."""
        limit = tie_limit(np.concatenate([differences.ravel(), -differences.ravel()]))
        return cls.between(differences, np.zeros_like(differences), limit)

    @cached_property
    def wins(self) -> IntArray:
        """The number of topics on which each pair's first run is better."""
        wins: IntArray = (self.differences > 0).sum(axis=1)
        return wins

    @cached_property
    def losses(self) -> IntArray:
        """The number of topics on which each pair's first run is worse."""
        losses: IntArray = (self.differences < 0).sum(axis=1)
        return losses

    @cached_property
    def constant(self) -> BoolArray:
        """Whether the differences of a pair are the same on all topics, 0 or another number; NaN are not allowed."""
        result: BoolArray = np.ptp(self.differences, axis=1) <= self.limit
        return result


@dataclass(frozen=True, kw_only=True)
class PairedTestOptions:
    """Options of a paired test."""

    confidence: float = 0.95  #: of the interval
    resamples: int = 9999  #: of the bootstrap and the randomization test
    seed: int = 0  #: the seed, set anew for each test, so that no test depends on those before it

    def __post_init__(self) -> None:
        check_confidence(self.confidence)
        check_count("resamples", self.resamples, 99)
        check_count("seed", self.seed, 0)


class TestResult(NamedTuple):
    """The result of a test on pairs."""

    p: FloatArray  #: the p-value of each pair; 1 if the two never differ, NaN where the test says nothing
    #: from the confidence of each pair to the ends of its interval; None for Student's
    interval: Callable[[FloatArray], tuple[FloatArray, FloatArray]] | None = None


class Outcome(NamedTuple):
    """The result of a test of each pair: p, and the ends of the interval of the mean difference."""

    p: FloatArray  #: of each pair
    lower: FloatArray  #: the lower end of each interval
    upper: FloatArray  #: the upper end


class PairedTest(NamedTuple):
    """A paired test."""

    run: Callable[[Pairs, PairedTestOptions], TestResult]  #: tests pairs without NaN
    by_spread: bool = False  #: whether it says nothing of differences that are all the same and not 0
    by_t: bool = False  #: whether it finds a mean other than 0 exactly where t is large


def check_test(test: Any) -> PairedTest:
    """Return the test of this name; raise ValueError if there is none."""
    check_choice("test", test, list(TESTS))
    return TESTS[test]


def paired_test(
    pairs: Pairs, test: str, options: PairedTestOptions | None = None, confidence: FloatArray | None = None
) -> Outcome:
    """Test each pair on its own, on the topics on which both of its runs have a value.

    p and the interval are NaN for a pair with fewer than two such topics, and where the test says nothing. Two runs
    that never differ have p = 1 and no interval.

    Args:
        pairs: the pairs of runs.
        test: ``"t"``, ``"wilcoxon"``, ``"sign"``, ``"randomization"`` or ``"bootstrap"``.
        options: the confidence, and the resamples of the last two tests.
        confidence: that of each pair, instead of the options'.
    """
    chosen, options = check_test(test), options or PairedTestOptions()
    if confidence is None:
        confidence = np.full(len(pairs.differences), options.confidence)
    outcome = np.full((3, len(pairs.differences)), np.nan)
    patterns, which = np.unique(~np.isnan(pairs.differences), axis=0, return_inverse=True)
    for i, has_value in enumerate(patterns):
        if has_value.sum() < 2:
            continue
        rows = np.flatnonzero(which.ravel() == i)
        some = Pairs(pairs.differences[rows][:, has_value], pairs.limit)
        result = chosen.run(some, options)
        if result.interval is None:
            lower, upper = student_interval(some.differences, confidence[rows], some.constant)
        else:
            lower, upper = result.interval(confidence[rows])
        outcome[:, rows] = result.p, lower, upper
    return Outcome(*outcome)


def _result_from_tail(
    pairs: Pairs, tail: Callable[[FloatArray], FloatArray], statistic: FloatArray
) -> TestResult:
    """Return a result without its own interval, by a statistic that is symmetric about 0.

    ``tail`` returns how likely a statistic of at least that is.
    """
    return _result(pairs, np.minimum(1.0, 2 * tail(np.abs(statistic))))


def _result(pairs: Pairs, p: FloatArray) -> TestResult:
    return TestResult(np.where(pairs.differences.any(axis=1), p, 1.0))


def _t(pairs: Pairs, options: PairedTestOptions) -> TestResult:
    """Make Student's paired t-test."""
    from scipy.special import stdtr

    d = pairs.differences
    n = d.shape[1]
    error = np.where(pairs.constant, 0.0, d.std(axis=1, ddof=1)) / n**0.5
    with np.errstate(divide="ignore", invalid="ignore"):
        t = d.mean(axis=1) / error
    return _result_from_tail(pairs, lambda t: stdtr(n - 1, -t), np.where(error > 0, t, np.nan))


def _sign(pairs: Pairs, options: PairedTestOptions) -> TestResult:
    """Make the sign test, which is binomial; ties do not count."""
    from scipy.stats import binom  # loading it takes longer than most verdicts, which need no such test

    signs = np.sign(pairs.differences)
    count = np.abs(signs).sum(axis=1)

    def tail(sums: FloatArray) -> FloatArray:
        losses: FloatArray = binom.cdf(np.round((count - sums) / 2), count, 0.5)
        return losses

    return _result_from_tail(pairs, tail, signs.sum(axis=1))


def _wilcoxon(pairs: Pairs, options: PairedTestOptions) -> TestResult:
    """Make Wilcoxon's test of signed ranks, as scipy does: tied topics do not count, tied sizes share their ranks."""
    from scipy.special import ndtr
    from scipy.stats import rankdata

    d = pairs.differences
    n, zeros = d.shape[1], (d == 0).sum(axis=1)
    size = np.where(d == 0, -1.0, with_ties(np.abs(d), pairs.limit))
    ranks = np.where(d == 0, 0.0, rankdata(size, axis=1) - zeros[:, None])
    tied = (zeros > 0) | (np.diff(np.sort(size, axis=1), axis=1) == 0).any(axis=1)
    deviation = np.sqrt((ranks**2).sum(axis=1))
    terms = np.sign(d) * ranks
    if n <= _MOST_EXACT_TIED:
        every = replace(options, resamples=2**_MOST_EXACT_TIED)
        return _result(pairs, _p_by_flipping(terms, 0.0, every))
    exact = ~tied & (n <= _MOST_EXACT)
    below = np.cumsum(_count_subset_sums(n)) / 2.0**n if exact.any() else np.ones(1)

    def tail(sums: FloatArray) -> FloatArray:
        with np.errstate(divide="ignore", invalid="ignore"):
            p: FloatArray = ndtr(-sums / deviation)
        fewer = np.round((ranks.sum(axis=1) - sums) / 2).astype(np.int64)
        return np.where(exact, below[np.minimum(fewer, len(below) - 1)], p)

    return _result_from_tail(pairs, tail, terms.sum(axis=1))


def _count_subset_sums(n: int) -> FloatArray:
    """Return how many sets of the numbers from 1 to n have each sum."""
    counts: FloatArray = np.ones(1)
    for i in range(1, n + 1):
        longer = np.zeros(len(counts) + i)
        longer[: len(counts)] += counts
        longer[i:] += counts
        counts = longer
    return counts


def _randomization(pairs: Pairs, options: PairedTestOptions) -> TestResult:
    """Flip the signs of the differences: in all ways, where there are at most ``resamples``."""
    return _result(pairs, _p_by_flipping(pairs.differences, pairs.limit, options))


def _p_by_flipping(terms: FloatArray, limit: float, options: PairedTestOptions) -> FloatArray:
    """Return the p-value of each pair's sum of terms (pairs × topics) among its sums with flipped signs.

    Means that differ by no more than the limit are tied.
    """
    n, sums = terms.shape[1], terms.sum(axis=1)
    signs, is_complete = flipped_signs(options.resamples, n, options.seed)
    n_observed = 0 if is_complete else 1  # drawn signs lack the observed ones, which count too
    slack = n * limit + ROUNDED * np.abs(terms).sum(axis=1)
    batch = max(1, BATCH // len(signs))
    p = np.empty(len(terms))
    for start in range(0, len(terms), batch):
        by_chance = np.sort(signs @ terms[start : start + batch].T, axis=0)
        for pair, null in enumerate(by_chance.T, start):
            above = n_observed + len(null) - np.searchsorted(null, sums[pair] - slack[pair])
            below = n_observed + np.searchsorted(null, sums[pair] + slack[pair], side="right")
            p[pair] = 2 * np.minimum(above, below) / (len(null) + n_observed)
    return np.minimum(p, 1.0)


def flipped_signs(resamples: int, topics: int, seed: int) -> tuple[FloatArray, bool]:
    """Return signs by topic, resamples × topics; and whether they are all possible ones, each once."""
    if 2**topics <= resamples:
        is_flipped: FloatArray = (np.arange(2**topics)[:, None] >> np.arange(topics) & 1).astype(np.float64)
        return 1.0 - 2.0 * is_flipped, True
    order = np.tile(np.arange(2, dtype=np.int8), (resamples, topics, 1))
    # As scipy's permutation_test draws them.
    drawn: FloatArray = np.random.default_rng(seed).permuted(order, axis=-1)[..., 0].astype(np.float64)
    return 1.0 - 2.0 * drawn, False


def _bootstrap(pairs: Pairs, options: PairedTestOptions) -> TestResult:
    r"""Make the studentized bootstrap test: t of resampled differences, shifted to a mean of 0; and its interval.

    p is (1 + how many resampled \|t\| are at least the observed) / (1 + resamples): Sakai's achieved significance
    level. It is NaN where fewer than five topics differ, or more than one resample in a hundred has no spread.
    """
    d = pairs.differences
    counts = topic_counts(options.resamples, d.shape[1], options.seed)
    p = np.where(d.any(axis=1), np.nan, 1.0)
    for rows, resampled in resampled_t(d, pairs.limit, counts):
        t = d[rows].mean(axis=1) / (d[rows].std(axis=1, ddof=1) / d.shape[1] ** 0.5)
        p[rows] = (1 + (np.abs(resampled) >= lowest_tied(np.abs(t))).sum(axis=0)) / (1 + len(resampled))

    def interval(confidence: FloatArray) -> tuple[FloatArray, FloatArray]:
        mean, reach = d.mean(axis=1), np.full(len(d), np.nan)
        for rows, resampled in resampled_t(d, pairs.limit, counts):
            errors = critical_t(np.abs(resampled), 1 - confidence[rows])
            reach[rows] = errors * d[rows].std(axis=1, ddof=1) / d.shape[1] ** 0.5
        return mean - reach, mean + reach

    return TestResult(p, interval)


#: The tests by name.
TESTS: dict[str, PairedTest] = {
    "t": PairedTest(_t, by_spread=True, by_t=True),
    "wilcoxon": PairedTest(_wilcoxon),
    "sign": PairedTest(_sign),
    "randomization": PairedTest(_randomization),
    "bootstrap": PairedTest(_bootstrap, by_spread=True, by_t=True),
}


class SignTest(NamedTuple):
    """The result of :func:`sign_test`; PyTerrier reads the second value."""

    statistic: int  #: the number of pairs in which ``a`` is larger
    pvalue: float  #: two-sided


def sign_test(a: Any, b: Any) -> SignTest:
    """Test whether paired values of ``a`` are above those of ``b`` as often as below: exact, two-sided, ties left out.

    It is the binomial test that the lexiprecision paper uses for sgnLP; p is 1 where all are tied. For
    ``pt.Experiment(…, [sgnLP], baseline=0, test=sign_test)`` with the baseline as the reference.

    Raises:
        ValueError: values that are not two lists of the same length, or that hold a NaN.

    Example:
        >>> from ir_measures_relative.stats import sign_test
        >>> sign_test([1, 1, 1, 1, 1, -1, 0], [0, 0, 0, 0, 0, 0, 0])
        SignTest(statistic=5, pvalue=0.21875)
    """
    x, y = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    if x.ndim != 1 or x.shape != y.shape:
        raise ValueError(
            f"the sign test needs two lists of the same length, not shapes {x.shape} and {y.shape}"
        )
    missing = np.flatnonzero(np.isnan(x) | np.isnan(y))
    if len(missing):
        raise ValueError(f"the sign test needs numbers, and pair {missing[0]} holds a NaN")
    pairs = Pairs.between(x[None], y[None])
    return SignTest(int(pairs.wins[0]), float(_sign(pairs, PairedTestOptions()).p[0]))
