"""Paired tests: is the mean difference of each pair of runs above or below 0? And the one rule for ties.

A new test is an entry of :data:`TESTS`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
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
        return (self.differences > 0).sum(axis=1)

    @cached_property
    def losses(self) -> IntArray:
        """The number of topics on which each pair's first run is worse."""
        return (self.differences < 0).sum(axis=1)

    @cached_property
    def constant(self) -> BoolArray:
        """Whether the differences of a pair are the same on all topics, 0 or another number; NaN are not allowed."""
        return np.ptp(self.differences, axis=1) <= self.limit


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


class Outcome(NamedTuple):
    """The result of a test of each pair: p, and the ends of the interval of the mean difference."""

    p: FloatArray  #: of each pair
    lower: FloatArray  #: the lower end of each interval
    upper: FloatArray  #: the upper end


def _student_interval(
    pairs: Pairs, options: PairedTestOptions, confidence: FloatArray
) -> tuple[FloatArray, FloatArray]:
    return student_interval(pairs.differences, confidence, pairs.constant)


class PairedTest(NamedTuple):
    """A paired test, of pairs without NaN."""

    #: returns the p-value of each pair that differs somewhere; NaN where the test says nothing
    p: Callable[[Pairs, PairedTestOptions], FloatArray]
    #: returns the ends of the interval of each pair, at its own confidence
    interval: Callable[[Pairs, PairedTestOptions, FloatArray], tuple[FloatArray, FloatArray]] = (
        _student_interval
    )
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
        p = np.where(some.differences.any(axis=1), chosen.p(some, options), 1.0)
        outcome[:, rows] = p, *chosen.interval(some, options, confidence[rows])
    return Outcome(*outcome)


def _two_sided(tail: Callable[[FloatArray], FloatArray], statistic: FloatArray) -> FloatArray:
    """Return p by a statistic that is symmetric about 0; ``tail`` is how likely a statistic of at least that is."""
    return np.minimum(1.0, 2 * tail(np.abs(statistic)))


def _t(pairs: Pairs, options: PairedTestOptions) -> FloatArray:
    """Make Student's paired t-test."""
    from scipy.special import stdtr

    d = pairs.differences
    n = d.shape[1]
    error = np.where(pairs.constant, 0.0, d.std(axis=1, ddof=1)) / n**0.5
    with np.errstate(divide="ignore", invalid="ignore"):
        t = d.mean(axis=1) / error
    return _two_sided(lambda t: stdtr(n - 1, -t), np.where(error > 0, t, np.nan))


def _sign(pairs: Pairs, options: PairedTestOptions) -> FloatArray:
    """Make the sign test, which is binomial; ties do not count."""
    from scipy.stats import binom  # loading it takes longer than most verdicts, which need no such test

    signs = np.sign(pairs.differences)
    count = np.abs(signs).sum(axis=1)

    def tail(sums: FloatArray) -> FloatArray:
        return binom.cdf(np.round((count - sums) / 2), count, 0.5)

    return _two_sided(tail, signs.sum(axis=1))


def _wilcoxon(pairs: Pairs, options: PairedTestOptions) -> FloatArray:
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
        return _p_by_flipping(terms, 0.0, replace(options, resamples=2**_MOST_EXACT_TIED))
    exact = ~tied & (n <= _MOST_EXACT)
    below = np.cumsum(_count_subset_sums(n)) / 2.0**n if exact.any() else np.ones(1)

    def tail(sums: FloatArray) -> FloatArray:
        with np.errstate(divide="ignore", invalid="ignore"):
            p: FloatArray = ndtr(-sums / deviation)
        fewer = np.round((ranks.sum(axis=1) - sums) / 2).astype(np.int64)
        return np.where(exact, below[np.minimum(fewer, len(below) - 1)], p)

    return _two_sided(tail, terms.sum(axis=1))


def _count_subset_sums(n: int) -> FloatArray:
    """Return how many sets of the numbers from 1 to n have each sum."""
    counts: FloatArray = np.ones(1)
    for i in range(1, n + 1):
        longer = np.zeros(len(counts) + i)
        longer[: len(counts)] += counts
        longer[i:] += counts
        counts = longer
    return counts


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


def _bootstrap(pairs: Pairs, options: PairedTestOptions) -> FloatArray:
    r"""Make the studentized bootstrap test: t of resampled differences, shifted to a mean of 0.

    p is (1 + how many resampled \|t\| are at least the observed) / (1 + resamples): Sakai's achieved significance
    level. It is NaN where fewer than five topics differ, or more than one resample in a hundred has no spread.
    """
    d, p = pairs.differences, np.full(len(pairs.differences), np.nan)
    for rows, resampled in _resample(pairs, options):
        t = d[rows].mean(axis=1) / (d[rows].std(axis=1, ddof=1) / d.shape[1] ** 0.5)
        p[rows] = (1 + (np.abs(resampled) >= lowest_tied(np.abs(t))).sum(axis=0)) / (1 + len(resampled))
    return p


def _bootstrap_interval(
    pairs: Pairs, options: PairedTestOptions, confidence: FloatArray
) -> tuple[FloatArray, FloatArray]:
    d, reach = pairs.differences, np.full(len(pairs.differences), np.nan)
    for rows, resampled in _resample(pairs, options):
        errors = critical_t(np.abs(resampled), 1 - confidence[rows])
        reach[rows] = errors * d[rows].std(axis=1, ddof=1) / d.shape[1] ** 0.5
    mean = d.mean(axis=1)
    return mean - reach, mean + reach


def _resample(pairs: Pairs, options: PairedTestOptions) -> Iterator[tuple[IntArray, FloatArray]]:
    counts = topic_counts(options.resamples, pairs.differences.shape[1], options.seed)
    return resampled_t(pairs.differences, pairs.limit, counts)


#: The tests by name.
TESTS: dict[str, PairedTest] = {
    "t": PairedTest(_t, by_spread=True, by_t=True),
    "wilcoxon": PairedTest(_wilcoxon),
    "sign": PairedTest(_sign),
    # The signs of the differences flipped: in all ways, where there are at most ``resamples``.
    "randomization": PairedTest(
        lambda pairs, options: _p_by_flipping(pairs.differences, pairs.limit, options)
    ),
    "bootstrap": PairedTest(_bootstrap, _bootstrap_interval, by_spread=True, by_t=True),
}
