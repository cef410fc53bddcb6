"""Tests of all pairs of runs: those of the package, and three of all runs; and p-values where no two runs differ."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from scipy.interpolate import CubicSpline
from scipy.special import stdtr
from scipy.stats import rankdata, studentized_range

from ir_measures_relative.stats import PairedTestOptions, Pairs, paired_test

from .checks import check_choice
from .table import FloatArray, with_ties

#: The tests of :func:`~ir_measures_relative.compare`, which take the differences of pairs.
TESTS_OF_PAIRS = ("t", "wilcoxon", "sign", "randomization", "bootstrap")
#: A share of a sum, or of the largest of some values, that rounding alone may add to it or leave of it.
ROUNDED = 1e-12
# How many numbers are held at once.
_BATCH = 2**22
# How many p-values of the studentized range are integrated one by one: 15 ms each.
_MOST_INTEGRATED = 1000


class TestResult(NamedTuple):
    """The result of a test of some pairs."""

    p: FloatArray  #: of each pair; 1 of two that never differ, NaN where the test says nothing
    terms: FloatArray  #: pairs × topics: the test is for the run that their sum is for
    #: Return p in so many tables where runs do not differ, by a seed: tables × pairs.
    null: Callable[[int, int], FloatArray]


def check_test(test: str) -> None:
    """Raises ValueError for a test that there is not."""
    check_choice("test", test, (*TESTS_OF_PAIRS, *TESTS_OF_ALL_RUNS))


def run_test(
    pairs: Pairs, values: FloatArray | None, test: str, options: PairedTestOptions | None = None
) -> TestResult:
    """Test all pairs of runs; ``values``, runs × topics, are for the tests of all runs alone."""
    check_test(test)
    options = options or PairedTestOptions()
    if test in TESTS_OF_ALL_RUNS:
        assert values is not None
        return TESTS_OF_ALL_RUNS[test](pairs, values - values.mean(), options)

    def null(tables: int, seed: int) -> FloatArray:
        n_pairs, topics = pairs.differences.shape
        signs, batch = _drawn_signs(tables, topics, seed), max(1, _BATCH // pairs.differences.size)
        found = np.empty((tables, n_pairs))
        for start in range(0, tables, batch):
            swapped = (pairs.differences * signs[start : start + batch, None]).reshape(-1, topics)
            p = paired_test(Pairs(swapped, pairs.limit), test, options).p
            found[start : start + batch] = p.reshape(-1, n_pairs)
        return found

    return TestResult(paired_test(pairs, test, options).p, _terms(pairs, test), null)


def _drawn_signs(tables: int, topics: int, seed: int) -> FloatArray:
    """Return a sign for each topic of so many tables: -1 swaps the names of two runs."""
    return np.random.default_rng(seed).choice([-1.0, 1.0], size=(tables, topics))


def _terms(pairs: Pairs, test: str) -> FloatArray:
    """Return the terms of the test's statistic, which is their sum over topics."""
    d = pairs.differences
    if test == "sign":
        return np.sign(d)
    if test == "wilcoxon":
        sizes = np.array([with_ties(size, pairs.limit) for size in np.abs(d)])
        ranks = rankdata(np.where(d == 0, -1.0, sizes), axis=1) - (d == 0).sum(axis=1)[:, None]
        return np.sign(d) * ranks
    return d


def _unpaired_t(pairs: Pairs, values: FloatArray, options: PairedTestOptions) -> TestResult:
    """The t-test of two samples of one variance; Tukey's HSD of two runs is the same."""
    d = pairs.differences
    a, b = (values[i] for i in np.triu_indices(len(values), 1))
    n, squares = d.shape[1], (a**2 + b**2).sum(axis=1)
    both, same = a.mean(axis=1) + b.mean(axis=1), ~d.any(axis=1)

    def p_of(sums: FloatArray) -> FloatArray:
        mean = sums / n
        within = _without_rounding(squares - n * (both**2 + mean**2) / 2, squares) / (2 * n - 2)
        with np.errstate(divide="ignore", invalid="ignore"):
            error = np.sqrt(2 * within / n)
            p = np.minimum(1.0, 2 * stdtr(2 * n - 2, -np.abs(mean / error)))
        return np.where(same, 1.0, np.where(error > 0, p, np.nan))

    def null(tables: int, seed: int) -> FloatArray:
        return p_of(_drawn_signs(tables, n, seed) @ d.T)

    return TestResult(p_of(d.sum(axis=1)), d, null)


def _hsd(pairs: Pairs, values: FloatArray, options: PairedTestOptions) -> TestResult:
    """Randomized Tukey HSD: how often the range of means, names permuted on each topic, is at least the difference."""
    ranges = np.sort(np.ptp(_permuted_means(values, options.resamples, options.seed), axis=1))

    def p_of(means: FloatArray) -> FloatArray:
        reached = len(ranges) - np.searchsorted(ranges, _apart(means) - pairs.limit)
        return (1 + reached) / (1 + len(ranges))

    return _of_means(pairs, values, p_of)


def _tukey(pairs: Pairs, values: FloatArray, options: PairedTestOptions) -> TestResult:
    """Tukey's HSD by the studentized range, where runs and topics add up: q = difference / √(residual / topics)."""
    runs, topics = values.shape
    df = (runs - 1) * (topics - 1)
    within = ((values - values.mean(axis=0)) ** 2).sum()

    def p_of(means: FloatArray) -> FloatArray:
        between = topics * ((means - means.mean(axis=-1, keepdims=True)) ** 2).sum(axis=-1, keepdims=True)
        error = np.sqrt(_without_rounding(within - between, within) / df / topics)
        apart = _apart(means)
        with np.errstate(divide="ignore", invalid="ignore"):
            q = np.where(apart <= pairs.limit, 0.0, apart / error)
        if q.size <= _MOST_INTEGRATED:
            return np.where(np.isfinite(q), studentized_range.sf(np.minimum(q, 1e3), runs, df), 0.0)
        knots, tails = _studentized_range(runs, df)
        return np.clip(CubicSpline(knots, tails)(np.minimum(q, knots[-1])), 0.0, 1.0)

    return _of_means(pairs, values, p_of)


@lru_cache(maxsize=8)
def _studentized_range(runs: int, df: int) -> tuple[FloatArray, FloatArray]:
    """Return the upper tail of the studentized range at points from 0 to 12, a second's work."""
    knots = np.linspace(0.0, 12.0, 97)
    return knots, studentized_range.sf(knots, runs, df)


def _of_means(pairs: Pairs, values: FloatArray, p_of: Callable[[FloatArray], FloatArray]) -> TestResult:
    """A test whose p-values follow from the means of all runs, under any assignment of the values to them."""

    def null(tables: int, seed: int) -> FloatArray:
        return p_of(_permuted_means(values, tables, seed))

    return TestResult(p_of(values.mean(axis=1)), pairs.differences, null)


def _permuted_means(values: FloatArray, permutations: int, seed: int) -> FloatArray:
    """Return the means of the runs where their names are permuted on each topic: permutations × runs."""
    runs, topics = values.shape
    rng = np.random.default_rng(seed)
    by_topic = np.ascontiguousarray(values.T).ravel()
    result = np.empty((permutations, runs))
    batch = max(1, _BATCH // (runs * topics))
    offset = np.arange(topics)[:, None] * runs
    for start in range(0, permutations, batch):
        stop = min(start + batch, permutations)
        order = np.tile(np.arange(runs, dtype=np.int32), (stop - start, topics, 1))
        rng.permuted(order, axis=2, out=order)
        result[start:stop] = by_topic[order + offset].mean(axis=1)
    return result


def _apart(means: FloatArray) -> FloatArray:
    """Return by how much the means of each two runs differ."""
    first, second = np.triu_indices(means.shape[-1], 1)
    return np.abs(means[..., first] - means[..., second])


def _without_rounding(rest: FloatArray, of: FloatArray | np.float64) -> FloatArray:
    """Return the rest of a sum of squares; 0 where that is rounding."""
    return np.where(rest <= ROUNDED * of, 0.0, rest)


#: The tests that need the values of all runs.
TESTS_OF_ALL_RUNS: dict[str, Callable[[Pairs, FloatArray, PairedTestOptions], TestResult]] = {
    "unpaired_t": _unpaired_t,
    "hsd": _hsd,
    "tukey": _tukey,
}
