"""The paired tests, as a registry: is the mean difference of each pair of runs above or below 0?

A new test is an entry of :data:`TESTS`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv, ndtr, stdtr

from ..arguments import check_choice, check_confidence, check_count
from ..data.arrays import FloatArray
from ..tolerances import ROUNDED, TIED
from .intervals import (
    FEWEST_DIFFERING,
    almost,
    critical,
    mean_and_error,
    mean_interval,
    resampled_t,
    student_interval,
)
from .pairs_and_ties import BATCH, Pairs, flipped_signs, topic_counts, with_ties

#: Up to how many topics Wilcoxon's test is exact, where none are tied; and where some are. As in scipy.
_MOST_EXACT, _MOST_EXACT_TIED = 50, 13


@dataclass(frozen=True, kw_only=True)
class PairedTestOptions:
    """Options of a paired test."""

    confidence: float = 0.95  #: of the interval
    greater: bool = False  #: whether to ask only if the mean is above 0, and leave the upper end open
    resamples: int = 9999  #: of the bootstrap and the randomization test
    seed: int = 0  #: of every test anew, so that none depends on those made before it

    def __post_init__(self) -> None:
        check_confidence(self.confidence)
        check_count("resamples", self.resamples, 99)
        check_count("seed", self.seed, 0)


class TestResult(NamedTuple):
    """The result of a test on pairs."""

    p: FloatArray  #: of each pair; 1 of two that never differ, NaN where the test says nothing
    #: from the confidence of each pair to the ends of its interval; None for Student's
    interval: Callable[[FloatArray], tuple[FloatArray, FloatArray]] | None = None


class Outcome(NamedTuple):
    """The result of a test of each pair: p, and the ends of the interval of the mean difference."""

    p: FloatArray  #: of each pair
    lower: FloatArray  #: the lower end of each interval
    upper: FloatArray  #: the upper end


class PairedTest(NamedTuple):
    """One test; ``run`` makes it of pairs without NaN."""

    run: Callable[[Pairs, PairedTestOptions], TestResult]
    by_spread: bool = False  #: whether it says nothing of differences that are all the same and not 0
    of_t: bool = False  #: whether it says that the mean is not 0 just where t is large


def check_test(test: Any) -> PairedTest:
    """The test of this name; raises ValueError where there is none."""
    check_choice("test", test, list(TESTS))
    return TESTS[test]


def paired_test(
    pairs: Pairs, test: str, options: PairedTestOptions | None = None, confidence: FloatArray | None = None
) -> Outcome:
    """Test each pair on its own, on the topics on which both of its runs have a value.

    p and the interval are NaN for a pair with fewer than two such topics, and where the test says nothing. Two runs
    that never differ have p = 1 and no interval.

    Args:
        test: ``"t"``, ``"wilcoxon"``, ``"sign"``, ``"randomization"`` or ``"bootstrap"``.
        confidence: that of each pair, instead of the options'.
    """
    chosen, options = check_test(test), options or PairedTestOptions()
    if confidence is None:
        confidence = np.full(len(pairs.differences), options.confidence)
    result = np.full((3, len(pairs.differences)), np.nan)
    patterns, which = np.unique(~np.isnan(pairs.differences), axis=0, return_inverse=True)
    for i, known in enumerate(patterns):
        if known.sum() < 2:
            continue
        rows = np.flatnonzero(which.ravel() == i)
        some = Pairs(pairs.differences[rows][:, known], pairs.limit)
        found = chosen.run(some, options)
        if found.interval is None:
            lower, upper = student_interval(
                some.differences, confidence[rows], options.greater, some.constant
            )
        else:
            lower, upper = found.interval(confidence[rows])
        result[:, rows] = found.p, lower, upper
    return Outcome(*result)


def cautious_interval(
    values: FloatArray, ends: tuple[float, float], confidence: float, counts: NDArray[np.integer]
) -> tuple[float, float]:
    """Return the interval of the mean of one value per topic. It has two ends, whatever the values are.

    - Fewer than five topics say nothing: it is the range of the measure, ``ends``.
    - All values but at most four are the same, c, or so many are that the bootstrap says nothing. The others make up
      a share of at most s of all topics (Clopper and Pearson 1934), anywhere in the range: from ``(1 - s)·c +
      s·least`` to ``(1 - s)·c + s·greatest``. Of values from 0 up, of which one to four are not 0, the upper end is
      the greatest of them times s, or Student's on the scale of the logarithm, if that is higher.
    - Else it is the widest of Student's interval, of the studentized bootstrap's and, of values from 0 up, of
      Student's on the scale of the logarithm.
    """
    low, high = ends
    n = len(values)
    if n < FEWEST_DIFFERING:
        return low, high
    pairs = Pairs.of_differences(values[None])
    d = pairs.differences
    logs = mean_interval(d, confidence) if low >= 0 else (np.array([np.inf]), np.array([-np.inf]))
    _, which, count = np.unique(
        np.round(d[0] / max(pairs.limit, TIED)), return_inverse=True, return_counts=True
    )
    usual = d[0, (count == count.max())[which.ravel()]]  # several values where they are equally many
    n_other = n - int(count.max())
    intervals = [student_interval(d, confidence), logs]
    mean, error, _ = mean_and_error(d)
    for rows, t in resampled_t(d, pairs.limit, counts):
        if len(rows):  # else too many resamples hold one value alone
            below, above = (critical(side, (1 - confidence) / 2) for side in (t, -t))
            intervals.append((mean - below * error, mean + above * error))
    if n_other < FEWEST_DIFFERING or len(intervals) == 2:
        share = float(betaincinv(n_other + 1, n - n_other, (1 + confidence) / 2))
        lower, upper = (1 - share) * usual.min() + share * low, (1 - share) * usual.max() + share * high
        if low == usual.min() == 0 < n_other:
            upper = min(upper, max(share * d.max(), logs[1][0]))
        return float(lower), float(upper)
    lowest, highest = (pick(ends[i][0] for ends in intervals) for i, pick in enumerate((min, max)))
    return float(max(lowest, low)), float(min(highest, high))


def _of_pairs(pairs: Pairs, p: FloatArray) -> TestResult:
    """A test without an interval of its own; p is 1 of two runs that never differ."""
    return TestResult(np.where(pairs.differences.any(axis=1), p, 1.0))


def _from_tail(
    tail: Callable[[FloatArray], FloatArray], options: PairedTestOptions
) -> Callable[[FloatArray], FloatArray]:
    """The p-values of sums, from how likely a sum of at least that is; the distribution is symmetric about 0."""
    if options.greater:
        return tail
    return lambda sums: np.minimum(1.0, 2 * tail(np.abs(sums)))


def _t(pairs: Pairs, options: PairedTestOptions) -> TestResult:
    """Student's paired t-test."""
    d = pairs.differences
    n = d.shape[1]
    error = np.where(pairs.constant, 0.0, d.std(axis=1, ddof=1)) / n**0.5
    with np.errstate(divide="ignore", invalid="ignore"):
        p = _from_tail(lambda t: stdtr(n - 1, -t), options)(d.mean(axis=1) / error)
    return _of_pairs(pairs, np.where(error > 0, p, np.nan))


def _sign(pairs: Pairs, options: PairedTestOptions) -> TestResult:
    """The sign test, binomial; ties do not count."""
    from scipy.stats import binom  # loading it takes longer than most verdicts, which ask for no such test

    signs = np.sign(pairs.differences)
    count = np.abs(signs).sum(axis=1)

    def tail(sums: FloatArray) -> FloatArray:
        losses: FloatArray = binom.cdf(np.round((count - sums) / 2), count, 0.5)
        return losses

    return _of_pairs(pairs, _from_tail(tail, options)(signs.sum(axis=1)))


def _wilcoxon(pairs: Pairs, options: PairedTestOptions) -> TestResult:
    """Wilcoxon's signed ranks, without topics that tie; sizes that are tied share their ranks. As scipy does it."""
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
        return _of_pairs(pairs, _by_flipping(terms, 0.0, every))
    exact = ~tied & (n <= _MOST_EXACT)
    below = np.cumsum(_subset_sums(n)) / 2.0**n if exact.any() else np.ones(1)

    def tail(sums: FloatArray) -> FloatArray:
        with np.errstate(divide="ignore", invalid="ignore"):
            p: FloatArray = ndtr(-sums / deviation)
        fewer = np.round((ranks.sum(axis=1) - sums) / 2).astype(np.int64)
        return np.where(exact, below[np.minimum(fewer, len(below) - 1)], p)

    return _of_pairs(pairs, _from_tail(tail, options)(terms.sum(axis=1)))


def _subset_sums(n: int) -> FloatArray:
    """How many sets of the numbers from 1 to n have each sum."""
    counts: FloatArray = np.ones(1)
    for i in range(1, n + 1):
        longer = np.zeros(len(counts) + i)
        longer[: len(counts)] += counts
        longer[i:] += counts
        counts = longer
    return counts


def _randomization(pairs: Pairs, options: PairedTestOptions) -> TestResult:
    """The signs of the differences flipped: all ways to do that, where there are at most ``resamples``."""
    return _of_pairs(pairs, _by_flipping(pairs.differences, pairs.limit, options))


def _by_flipping(terms: FloatArray, limit: float, options: PairedTestOptions) -> FloatArray:
    """The p-values of the sums of terms, pairs × topics, from those of terms whose signs are flipped.

    Means are tied up to the limit.
    """
    n, sums = terms.shape[1], terms.sum(axis=1)
    signs, every = flipped_signs(options.resamples, n, options.seed)
    more = 0 if every else 1  # the observed signs, where they are not among them
    slack = n * limit + ROUNDED * np.abs(terms).sum(axis=1)
    batch = max(1, BATCH // len(signs))
    result = np.empty(len(terms))
    for start in range(0, len(terms), batch):
        by_chance = np.sort(signs @ terms[start : start + batch].T, axis=0)
        for pair, null in enumerate(by_chance.T, start):
            reached = more + len(null) - np.searchsorted(null, sums[pair] - slack[pair])
            if not options.greater:
                below = more + np.searchsorted(null, sums[pair] + slack[pair], side="right")
                reached = 2 * np.minimum(reached, below)
            result[pair] = reached / (len(null) + more)
    return np.minimum(result, 1.0)


def _bootstrap(pairs: Pairs, options: PairedTestOptions) -> TestResult:
    """The studentized bootstrap: of t, over resamples of the differences shifted to a mean of 0; and its interval.

    p is (1 + how many resampled \\|t\\| are at least the observed) / (1 + resamples): Sakai's achieved significance
    level. It says nothing, NaN, where fewer than five topics differ, or more than one resample in a hundred has no
    spread.
    """
    d = pairs.differences
    counts = topic_counts(options.resamples, d.shape[1], options.seed)

    def sided(t: FloatArray) -> FloatArray:
        return t if options.greater else np.abs(t)

    p = np.where(d.any(axis=1), np.nan, 1.0)
    for rows, resampled in resampled_t(d, pairs.limit, counts):
        some = d[rows]
        t = some.mean(axis=1) / (some.std(axis=1, ddof=1) / d.shape[1] ** 0.5)
        p[rows] = (1 + (sided(resampled) >= almost(sided(t))).sum(axis=0)) / (1 + len(resampled))

    def interval(confidence: FloatArray) -> tuple[FloatArray, FloatArray]:
        mean, reach = d.mean(axis=1), np.full(len(d), np.nan)
        for rows, resampled in resampled_t(d, pairs.limit, counts):
            errors = critical(sided(resampled), 1 - confidence[rows])
            reach[rows] = errors * d[rows].std(axis=1, ddof=1) / d.shape[1] ** 0.5
        return mean - reach, np.where(np.isnan(reach), np.nan, np.inf) if options.greater else mean + reach

    return TestResult(p, interval)


#: The tests by name.
TESTS: dict[str, PairedTest] = {
    "t": PairedTest(_t, by_spread=True, of_t=True),
    "wilcoxon": PairedTest(_wilcoxon),
    "sign": PairedTest(_sign),
    "randomization": PairedTest(_randomization),
    "bootstrap": PairedTest(_bootstrap, by_spread=True, of_t=True),
}


class SignTest(NamedTuple):
    """The result of :func:`sign_test`; PyTerrier reads the second value."""

    statistic: int  #: the number of pairs in which ``a`` is larger
    pvalue: float  #: two-sided


def sign_test(a: Any, b: Any) -> SignTest:
    """The exact two-sided sign test of paired values, ties left out: is ``a`` above ``b`` as often as below it?

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
