"""Tests of all pairs of runs at once.

Swapping the names of two runs on a topic turns the sign of their difference there. The statistics of the t-tests, of
Wilcoxon's and of the sign test are sums over topics whose terms turn with it, and all else about them stays: so a
thousand swaps of all pairs are one product of matrices.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

from ..arrays import FloatArray
from .table import ROUNDING, Scores

#: What each topic adds to the statistic of each pair, and the p-values of sums of that.
SumTest: TypeAlias = "tuple[FloatArray, Callable[[FloatArray], FloatArray]]"

_MOST_EXACT = 50
_MOST_WITHOUT_SPREAD = 0.01
_BATCH = 2**22
#: How many p-values of the studentized range are integrated one by one: 15 ms each.
_MOST_BY_SCIPY = 1000


def t_test(scores: Scores) -> SumTest:
    """The paired t-test; p is 1 of two that never differ, and NaN of a difference that is constant."""
    d = scores.differences
    n, squares = d.shape[1], (d**2).sum(axis=1)

    def p_of(sums: FloatArray) -> FloatArray:
        mean = sums / n
        return _t_p(
            mean, np.sqrt(_cleared(squares - n * mean**2, squares) / (n - 1) / n), n - 1, ~d.any(axis=1)
        )

    return d, p_of


def unpaired_t_test(scores: Scores) -> SumTest:
    """The t-test of two samples of one variance; Tukey's HSD of two runs is the same."""
    values = scores.runs() - scores.runs().mean()
    a, b, d = values[scores.first], values[scores.second], scores.differences
    n, squares = d.shape[1], (a**2 + b**2).sum(axis=1)
    both = a.mean(axis=1) + b.mean(axis=1)

    def p_of(sums: FloatArray) -> FloatArray:
        mean = sums / n
        within = _cleared(squares - n * (both**2 + mean**2) / 2, squares) / (2 * n - 2)
        return _t_p(mean, np.sqrt(2 * within / n), 2 * n - 2, ~d.any(axis=1))

    return d, p_of


def _cleared(rest: FloatArray, of: FloatArray | np.float64) -> FloatArray:
    """What is left of a sum of squares; 0 where that is rounding."""
    return np.where(rest <= 1e-12 * of, 0.0, rest)


def _t_p(mean: FloatArray, error: FloatArray, df: int, same: Any) -> FloatArray:
    from scipy.special import stdtr

    with np.errstate(divide="ignore", invalid="ignore"):
        p: FloatArray = 2 * stdtr(df, -np.abs(mean / error))
    return np.where(same, 1.0, np.where(error > 0, p, np.nan))


def sign_test(scores: Scores) -> SumTest:
    """The sign test, binomial; ties do not count."""
    from scipy.special import bdtr

    signs = np.sign(scores.differences)
    count = np.abs(signs).sum(axis=1)

    def p_of(sums: FloatArray) -> FloatArray:
        fewer = np.round((count - np.abs(sums)) / 2)
        p: FloatArray = np.minimum(1.0, 2 * bdtr(fewer, count.astype(np.int64), 0.5))
        return p

    return signs, p_of


def wilcoxon_test(scores: Scores) -> SumTest:
    """Wilcoxon's signed ranks: exact for up to 50 topics without ties, else normal, without topics that tie."""
    from scipy.special import ndtr
    from scipy.stats import rankdata

    d = scores.differences
    size = np.round(np.abs(d) / (scores.spread or 1.0), 9)
    size[d == 0] = -1.0
    zeros = (d == 0).sum(axis=1)
    ranks = np.where(d == 0, 0.0, rankdata(size, axis=1) - zeros[:, None])
    count = d.shape[1] - zeros
    ordered = np.sort(size, axis=1)
    tied = (zeros > 0) | (np.diff(ordered, axis=1) == 0).any(axis=1)
    deviation = np.sqrt((ranks**2).sum(axis=1))
    exact = ~tied & (count <= _MOST_EXACT)
    below = np.cumsum(_subset_sums(d.shape[1])) / 2.0 ** d.shape[1] if exact.any() else None

    def p_of(sums: FloatArray) -> FloatArray:
        with np.errstate(divide="ignore", invalid="ignore"):
            p: FloatArray = 2 * ndtr(-np.abs(sums) / deviation)
        p = np.where(count == 0, 1.0, p)
        if below is not None:
            fewer = np.round((ranks.sum(axis=1) - np.abs(sums)) / 2).astype(np.int64)
            found = np.minimum(1.0, 2 * below[np.minimum(fewer, len(below) - 1)])
            p = np.where(exact, found, p)
        return p

    return np.sign(d) * ranks, p_of


def _subset_sums(n: int) -> FloatArray:
    """How many sets of the numbers from 1 to n have each sum."""
    counts: FloatArray = np.ones(1)
    for i in range(1, n + 1):
        longer = np.zeros(len(counts) + i)
        longer[: len(counts)] += counts
        longer[i:] += counts
        counts = longer
    return counts


SUM_TESTS: dict[str, Callable[[Scores], SumTest]] = {
    "t": t_test,
    "unpaired_t": unpaired_t_test,
    "wilcoxon": wilcoxon_test,
    "sign": sign_test,
}


def topic_counts(resamples: int, topics: int, seed: int) -> FloatArray:
    """How often each of some resamples, with replacement, holds each topic."""
    draws = np.random.default_rng(seed).integers(topics, size=(resamples, topics))
    flat = (draws + topics * np.arange(resamples)[:, None]).ravel()
    return np.bincount(flat, minlength=resamples * topics).reshape(resamples, topics).astype(np.float64)


def bootstrap_p(differences: FloatArray, counts: FloatArray) -> FloatArray:
    """The achieved significance level of t under resamples of topics, of differences shifted to a mean of 0.

    (1 + how many resampled \\|t\\| are at least the observed) / (1 + resamples). NaN where more than one resample in a
    hundred has no spread.
    """
    n, mean = differences.shape[1], differences.mean(axis=1)
    z = differences - mean[:, None]
    mean = np.where(np.abs(mean) <= ROUNDING * np.abs(differences).max(axis=1), 0.0, mean)
    squares = (z**2).sum(axis=1)
    constant = squares <= 1e-12 * (differences**2).sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.abs(mean) / np.sqrt(squares / (n - 1) / n)
        means = counts @ z.T / n
        second = counts @ (z**2).T
        rest = _cleared(second - n * means**2, second)
        resampled = np.abs(means) / np.sqrt(rest / (n - 1) / n)
        reached = ((resampled >= t * (1 - ROUNDING)) | (t == 0)).sum(axis=0)
    p = (1 + reached) / (1 + len(counts))
    bare = (rest == 0).mean(axis=0) > _MOST_WITHOUT_SPREAD
    p = np.where(constant | bare, np.nan, p)
    return np.where(~differences.any(axis=1), 1.0, p)


def permuted_means(values: Sequence[FloatArray], permutations: int, seed: int) -> list[FloatArray]:
    """The means of the runs where their names are permuted on each topic, all measures in the same ways."""
    runs, topics = values[0].shape
    rng = np.random.default_rng(seed)
    result: list[FloatArray] = [np.empty((permutations, runs)) for _ in values]
    batch = max(1, _BATCH // (runs * topics))
    offset = np.arange(topics)[:, None] * runs
    for start in range(0, permutations, batch):
        stop = min(start + batch, permutations)
        order = np.tile(np.arange(runs), (stop - start, topics, 1))
        rng.permuted(order, axis=2, out=order)
        order += offset
        for of_measure, found in zip(values, result, strict=True):
            by_topic = np.ascontiguousarray(of_measure.T).ravel()
            found[start:stop] = by_topic[order].mean(axis=1)
    return result


def hsd_p(means: FloatArray, ranges: FloatArray, scores: Scores) -> FloatArray:
    """Randomized Tukey HSD: how often the range of all runs' means is at least the difference of the pair.

    (1 + how often) / (1 + permutations).

    Args:
        means: of the runs, on the last axis.
        ranges: from the worst to the best run, under each permutation; ascending.
    """
    difference = np.abs(means[..., scores.first] - means[..., scores.second]) - ROUNDING * scores.spread
    return (1 + len(ranges) - np.searchsorted(ranges, difference)) / (1 + len(ranges))


def tukey_p(means: FloatArray, scores: Scores) -> FloatArray:
    """Tukey's HSD by the studentized range, where runs and topics add up: q = difference / √(residual / topics).

    Args:
        means: of the runs, of any assignment of the values of each topic to them, on the last axis.
    """
    from scipy.interpolate import CubicSpline
    from scipy.stats import studentized_range

    values = scores.runs()
    runs, topics = values.shape
    df = (runs - 1) * (topics - 1)
    within = ((values - values.mean(axis=0)) ** 2).sum()
    between = topics * ((means - means.mean(axis=-1, keepdims=True)) ** 2).sum(axis=-1, keepdims=True)
    error = np.sqrt(_cleared(within - between, within) / df / topics)
    difference = np.abs(means[..., scores.first] - means[..., scores.second])
    same = difference <= ROUNDING * scores.spread
    with np.errstate(divide="ignore", invalid="ignore"):
        q = np.where(same, 0.0, difference / error)
    if q.size <= _MOST_BY_SCIPY:
        return np.where(np.isfinite(q), studentized_range.sf(np.minimum(q, 1e3), runs, df), 0.0)
    knots = np.linspace(0.0, 12.0, 97)
    p: FloatArray = CubicSpline(knots, studentized_range.sf(knots, runs, df))(np.minimum(q, knots[-1]))
    return np.clip(p, 0.0, 1.0)


def holm(p: FloatArray) -> FloatArray:
    """Holm's correction of each row of p-values; statsmodels', one row at a time, takes a minute for a thousand."""
    order = np.argsort(p, axis=-1)
    count = (~np.isnan(p)).sum(axis=-1, keepdims=True)
    factor = np.maximum(count - np.arange(p.shape[-1]), 1)
    stepped = np.maximum.accumulate(np.take_along_axis(p, order, axis=-1) * factor, axis=-1)
    result = np.empty_like(p)
    np.put_along_axis(result, order, np.minimum(stepped, 1.0), axis=-1)
    return result
