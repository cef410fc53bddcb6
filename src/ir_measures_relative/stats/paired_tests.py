"""The paired tests, as a registry: is the mean difference of each pair of runs above or below 0?

Most statistics are sums over topics, whose terms turn their signs where the names of the runs are swapped: so the
p-values of a thousand tables of swapped names are one product of matrices. A new test is an entry of :data:`TESTS`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
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
    without_rounding,
)
from .pairs_and_ties import BATCH, Pairs, flipped_signs, permuted_means, topic_counts, with_ties

#: Up to how many topics Wilcoxon's test is exact, where none are tied; and where some are. As in scipy.
_MOST_EXACT, _MOST_EXACT_TIED = 50, 13
#: How many p-values of the studentized range are integrated one by one: 15 ms each.
_MOST_INTEGRATED = 1000


@dataclass(frozen=True, kw_only=True)
class PairedTestOptions:
    """How a test is made; ``greater`` asks whether the mean is above 0, and leaves the upper end open."""

    confidence: float = 0.95
    greater: bool = False
    resamples: int = 9999
    seed: int = 0  #: of every test anew, so that none depends on those made before it

    def __post_init__(self) -> None:
        check_confidence(self.confidence)
        check_count("resamples", self.resamples, 99)
        check_count("seed", self.seed, 0)


class TestResult(NamedTuple):
    """What a test says of pairs."""

    p: FloatArray  #: of each pair; 1 of two that never differ, NaN where the test says nothing
    terms: FloatArray  #: pairs × topics: the test is for the run that their sum is for
    null: Callable[
        [int, int], FloatArray
    ]  #: p of so many tables where runs do not differ, by a seed; tables × pairs
    #: from the confidence of each pair to the ends of its interval; None for Student's
    interval: Callable[[FloatArray], tuple[FloatArray, FloatArray]] | None = None


class Outcome(NamedTuple):
    """What a test says of each pair: p, and the ends of the interval of the mean difference."""

    p: FloatArray
    lower: FloatArray
    upper: FloatArray


class PairedTest(NamedTuple):
    """One test; ``run`` makes it of pairs without NaN."""

    run: Callable[[Pairs, PairedTestOptions], TestResult]
    needs: str = "pair"  #: "pair", or "campaign" for a test that needs the values of all runs
    by_spread: bool = False  #: whether it says nothing of differences that are all the same and not 0
    corrects: bool = False  #: whether it allows for the number of pairs itself
    of_t: bool = False  #: whether it says that the mean is not 0 just where t is large


def check_test(test: Any, campaign: bool = False) -> PairedTest:
    """The test of this name; raises ValueError where there is none, or it needs all runs and has them not."""
    of_pairs = [name for name, known in TESTS.items() if known.needs == "pair"]
    if not campaign and isinstance(test, str) and test in TESTS and test not in of_pairs:
        raise ValueError(
            f"test={test!r} needs the values of all runs; give one of {', '.join(map(repr, of_pairs))}, or use "
            f"meta.discriminative_power(table, {test!r})"
        )
    check_choice("test", test, list(TESTS) if campaign else of_pairs)
    return TESTS[test]


def paired_test(
    pairs: Pairs, test: str, options: PairedTestOptions | None = None, confidence: FloatArray | None = None
) -> Outcome:
    """What a test says of each pair on its own, from the topics on which both of its runs have a value.

    NaN of a pair with fewer than two such topics, and where the test says nothing. Two runs that never differ have p
    = 1 and no interval. ``confidence`` is that of each pair, instead of the options'.
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
        some = pairs.on(known, rows)
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
    values: FloatArray, ends: tuple[float, float], confidence: float, counts: FloatArray
) -> tuple[float, float]:
    """The interval of the mean of one value a topic. It has two ends, whatever the values are.

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
    others = n - int(count.max())
    found = [student_interval(d, confidence), logs]
    mean, error, _ = mean_and_error(d)
    for rows, t in resampled_t(d, pairs.limit, counts):
        if len(rows):  # else too many resamples hold one value alone
            below, above = (critical(side, (1 - confidence) / 2) for side in (t, -t))
            found.append((mean - below * error, mean + above * error))
    if others < FEWEST_DIFFERING or len(found) == 2:
        share = float(betaincinv(others + 1, n - others, (1 + confidence) / 2))
        lower, upper = (1 - share) * usual.min() + share * low, (1 - share) * usual.max() + share * high
        if low == usual.min() == 0 < others:
            upper = min(upper, max(share * d.max(), logs[1][0]))
        return float(lower), float(upper)
    return float(max(min(one[0][0] for one in found), low)), float(min(max(one[1][0] for one in found), high))


def _of_sums(
    pairs: Pairs,
    terms: FloatArray,
    p_of: Callable[[FloatArray], FloatArray],
    p: FloatArray | None = None,
) -> TestResult:
    """A test whose p-value follows from the sum of the terms of a pair; ``p`` where that is known better."""
    same = ~pairs.differences.any(axis=1)

    def clean(found: FloatArray) -> FloatArray:
        return np.where(same, 1.0, found)

    def null(tables: int, seed: int) -> FloatArray:
        signs = np.random.default_rng(seed).choice([-1.0, 1.0], size=(tables, terms.shape[1]))
        return clean(p_of(signs @ terms.T))

    return TestResult(clean(p_of(terms.sum(axis=1)) if p is None else p), terms, null)


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
    n, squares = d.shape[1], (d**2).sum(axis=1)
    spread = np.where(pairs.constant, 0.0, d.std(axis=1, ddof=1))

    def p_of(sums: FloatArray) -> FloatArray:
        mean = sums / n
        error = np.sqrt(without_rounding(squares - n * mean**2, squares) / (n - 1) / n)
        return _student_p(mean, error, n - 1, options)

    return _of_sums(pairs, d, p_of, _student_p(d.mean(axis=1), spread / n**0.5, n - 1, options))


def _student_p(mean: FloatArray, error: FloatArray, df: int, options: PairedTestOptions) -> FloatArray:
    with np.errstate(divide="ignore", invalid="ignore"):
        p = _from_tail(lambda t: stdtr(df, -t), options)(mean / error)
    return np.where(error > 0, p, np.nan)


def _sign(pairs: Pairs, options: PairedTestOptions) -> TestResult:
    """The sign test, binomial; ties do not count."""
    from scipy.stats import binom  # loading it takes longer than most verdicts, which ask for no such test

    signs = np.sign(pairs.differences)
    count = np.abs(signs).sum(axis=1)

    def tail(sums: FloatArray) -> FloatArray:
        losses: FloatArray = binom.cdf(np.round((count - sums) / 2), count, 0.5)
        return losses

    return _of_sums(pairs, signs, _from_tail(tail, options))


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
        return _of_sums(pairs, terms, _by_flipping(terms, 0.0, every))
    exact = ~tied & (n <= _MOST_EXACT)
    below = np.cumsum(_subset_sums(n)) / 2.0**n if exact.any() else np.ones(1)

    def tail(sums: FloatArray) -> FloatArray:
        with np.errstate(divide="ignore", invalid="ignore"):
            p: FloatArray = ndtr(-sums / deviation)
        fewer = np.round((ranks.sum(axis=1) - sums) / 2).astype(np.int64)
        return np.where(exact, below[np.minimum(fewer, len(below) - 1)], p)

    return _of_sums(pairs, terms, _from_tail(tail, options))


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
    return _of_sums(pairs, pairs.differences, _by_flipping(pairs.differences, pairs.limit, options))


def _by_flipping(
    terms: FloatArray, limit: float, options: PairedTestOptions
) -> Callable[[FloatArray], FloatArray]:
    """The p-values of sums, from those of terms whose signs are flipped; means are tied up to the limit."""
    n = terms.shape[1]
    signs, every = flipped_signs(options.resamples, n, options.seed)
    more = 0 if every else 1  # the observed signs, where they are not among them
    slack = n * limit + ROUNDED * np.abs(terms).sum(axis=1)
    batch = max(1, BATCH // len(signs))

    def p_of(sums: FloatArray) -> FloatArray:
        result = np.empty(sums.shape)
        for start in range(0, len(terms), batch):
            by_chance = np.sort(signs @ terms[start : start + batch].T, axis=0)
            for pair, null in enumerate(by_chance.T, start):
                at = sums[..., pair]
                reached = more + len(null) - np.searchsorted(null, at - slack[pair])
                if not options.greater:
                    below = more + np.searchsorted(null, at + slack[pair], side="right")
                    reached = 2 * np.minimum(reached, below)
                result[..., pair] = reached / (len(null) + more)
        return np.minimum(result, 1.0)

    return p_of


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

    def p_of(differences: FloatArray) -> FloatArray:
        p = np.where(differences.any(axis=1), np.nan, 1.0)
        for rows, resampled in resampled_t(differences, pairs.limit, counts):
            some = differences[rows]
            t = some.mean(axis=1) / (some.std(axis=1, ddof=1) / d.shape[1] ** 0.5)
            p[rows] = (1 + (sided(resampled) >= almost(sided(t))).sum(axis=0)) / (1 + len(resampled))
        return p

    def null(tables: int, seed: int) -> FloatArray:
        signs = np.random.default_rng(seed).choice([-1.0, 1.0], size=(tables, d.shape[1]))
        return np.array([p_of(d * s) for s in signs]).reshape(tables, len(d))

    def interval(confidence: FloatArray) -> tuple[FloatArray, FloatArray]:
        mean, reach = d.mean(axis=1), np.full(len(d), np.nan)
        for rows, resampled in resampled_t(d, pairs.limit, counts):
            errors = critical(sided(resampled), 1 - confidence[rows])
            reach[rows] = errors * d[rows].std(axis=1, ddof=1) / d.shape[1] ** 0.5
        return mean - reach, np.where(np.isnan(reach), np.nan, np.inf) if options.greater else mean + reach

    return TestResult(p_of(d), d, null, interval)


def _unpaired_t(pairs: Pairs, options: PairedTestOptions) -> TestResult:
    """The t-test of two samples of one variance; Tukey's HSD of two runs is the same."""
    values, d = _campaign(pairs), pairs.differences
    a, b = (values[i] for i in np.triu_indices(len(values), 1))
    n, squares = d.shape[1], (a**2 + b**2).sum(axis=1)
    both = a.mean(axis=1) + b.mean(axis=1)

    def p_of(sums: FloatArray) -> FloatArray:
        mean = sums / n
        within = without_rounding(squares - n * (both**2 + mean**2) / 2, squares) / (2 * n - 2)
        return _student_p(mean, np.sqrt(2 * within / n), 2 * n - 2, options)

    return _of_sums(pairs, d, p_of)


def _hsd(pairs: Pairs, options: PairedTestOptions) -> TestResult:
    """Randomized Tukey HSD: how often the range of means, names permuted on each topic, is at least the difference."""
    values = _campaign(pairs)
    ranges = np.sort(np.ptp(permuted_means(values, options.resamples, options.seed), axis=1))

    def p_of(means: FloatArray) -> FloatArray:
        apart = _apart(means) - pairs.limit
        return (1 + len(ranges) - np.searchsorted(ranges, apart)) / (1 + len(ranges))

    return _of_means(pairs, p_of)


def _tukey(pairs: Pairs, options: PairedTestOptions) -> TestResult:
    """Tukey's HSD by the studentized range, where runs and topics add up: q = difference / √(residual / topics)."""
    from scipy.interpolate import CubicSpline
    from scipy.stats import studentized_range

    values = _campaign(pairs)
    runs, topics = values.shape
    df = (runs - 1) * (topics - 1)
    within = ((values - values.mean(axis=0)) ** 2).sum()

    def p_of(means: FloatArray) -> FloatArray:
        between = topics * ((means - means.mean(axis=-1, keepdims=True)) ** 2).sum(axis=-1, keepdims=True)
        error = np.sqrt(without_rounding(within - between, within) / df / topics)
        apart = _apart(means)
        with np.errstate(divide="ignore", invalid="ignore"):
            q = np.where(apart <= pairs.limit, 0.0, apart / error)
        if q.size <= _MOST_INTEGRATED:
            return np.where(np.isfinite(q), studentized_range.sf(np.minimum(q, 1e3), runs, df), 0.0)
        knots, tails = _studentized_range(runs, df)
        p: FloatArray = CubicSpline(knots, tails)(np.minimum(q, knots[-1]))
        return np.clip(p, 0.0, 1.0)

    return _of_means(pairs, p_of)


@lru_cache(maxsize=8)
def _studentized_range(runs: int, df: int) -> tuple[FloatArray, FloatArray]:
    """The upper tail of the studentized range at points from 0 to 12, a second's work."""
    from scipy.stats import studentized_range

    knots = np.linspace(0.0, 12.0, 97)
    tails: FloatArray = studentized_range.sf(knots, runs, df)
    return knots, tails


def _campaign(pairs: Pairs) -> FloatArray:
    """The values of all runs, from their mean on: what is added to all of them takes no digits away."""
    assert pairs.values is not None  # see check_test
    centred: FloatArray = pairs.values - pairs.values.mean()
    return centred


def _of_means(pairs: Pairs, p_of: Callable[[FloatArray], FloatArray]) -> TestResult:
    """A test whose p-values follow from the means of all runs, under any assignment of the values to them."""
    values = _campaign(pairs)

    def null(tables: int, seed: int) -> FloatArray:
        return p_of(permuted_means(values, tables, seed))

    return TestResult(p_of(values.mean(axis=1)), pairs.differences, null)


def _apart(means: FloatArray) -> FloatArray:
    """By how much the means of each two runs differ."""
    first, second = np.triu_indices(means.shape[-1], 1)
    result: FloatArray = np.abs(means[..., first] - means[..., second])
    return result


#: The tests by name.
TESTS: dict[str, PairedTest] = {
    "t": PairedTest(_t, by_spread=True, of_t=True),
    "wilcoxon": PairedTest(_wilcoxon),
    "sign": PairedTest(_sign),
    "randomization": PairedTest(_randomization),
    "bootstrap": PairedTest(_bootstrap, by_spread=True, of_t=True),
    "unpaired_t": PairedTest(_unpaired_t, needs="campaign", by_spread=True),
    "hsd": PairedTest(_hsd, needs="campaign", corrects=True),
    "tukey": PairedTest(_tukey, needs="campaign", corrects=True),
}


class SignTest(NamedTuple):
    """What :func:`sign_test` found; PyTerrier reads the second value."""

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
