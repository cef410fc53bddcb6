"""How sure a statistic of a campaign is: intervals over topics, errors over runs, and what could have been seen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

import numpy as np
import pandas as pd

from .finding import Holds

#: Two-sided at 0.05, and found four times in five: 1.96 + 0.84 standard errors.
_SEEN = 2.8
_INTERVAL = 1.96


def over_topics(
    values: np.ndarray, statistic: Callable[[np.ndarray], float], resamples: int = 1000, seed: int = 0
) -> tuple[float, float]:
    """The 95 % interval of a statistic of means over topics, by resampling topics.

    Args:
        values: of any shape, topics on the last axis.
        statistic: of the means, the last axis gone; NaN where there is none, which does not count.
    """
    topics = values.shape[-1]
    counts = np.random.default_rng(seed).multinomial(topics, np.full(topics, 1 / topics), size=resamples)
    means = np.moveaxis(values @ counts.T / topics, -1, 0)
    found = np.array([statistic(m) for m in means])
    if np.isnan(found).all():
        return float("nan"), float("nan")
    low, high = np.nanpercentile(found, [2.5, 97.5])
    return float(low), float(high)


def error_over_runs(names: Sequence[str], statistic: Callable[[list[str]], np.ndarray]) -> np.ndarray:
    """The standard error of statistics of a set of runs, as though the runs were drawn: jackknife, one left out.

    Right for means over pairs of runs too, where a bootstrap would pair a run with itself.
    """
    from tqdm import tqdm

    left = tqdm(range(len(names)), desc="leaving runs out", unit="run", disable=None, leave=False)
    found = np.array([statistic([n for j, n in enumerate(names) if j != i]) for i in left], dtype=float)
    n = len(names)
    return np.asarray(np.sqrt((n - 1) / n * ((found - found.mean(axis=0)) ** 2).sum(axis=0)))


def seen(error: float) -> float:
    """The least effect that a test at 0.05 finds four times in five, where this is its standard error."""
    return _SEEN * float(error)


def verdict(gain: float, error: float, told: Sequence[float]) -> Holds:
    """Whether a gain is there; "no" where that of the paper, on the mean, is outside the 95 % interval, else open."""
    if gain > _INTERVAL * error:
        return "yes"
    return "no" if np.mean(told) > gain + _INTERVAL * error else "open"


def least_tau(n: int, level: float = 0.05) -> float:
    """The least τ of n runs without ties whose exact two-sided p is at most the level; NaN where none is."""
    # How many of the orders of n runs have each number of pairs the wrong way round: run by run.
    share = np.ones(1)
    for i in range(2, n + 1):
        share = np.convolve(share, np.full(i, 1 / i))
    enough = np.flatnonzero(2 * np.cumsum(share) <= level * (1 + 1e-9))
    return float(1 - 4 * enough[-1] / (n * (n - 1))) if len(enough) else float("nan")


def from_chance(n: int) -> str:
    """From which τ on n runs agree more than by chance, in words."""
    least = least_tau(n)
    return (
        f"of {n} runs, "
        + ("no τ" if np.isnan(least) else f"a τ from {least:.2f} on")
        + " is more than chance"
    )


def tau(x: np.ndarray | pd.Series, y: np.ndarray | pd.Series) -> float:
    """Kendall's τ_b of two values of the same runs; NaN where either ties all. (scipy's takes ten times as long.)"""
    one, two = (np.round(np.asarray(v, dtype=float), 12) for v in (x, y))
    signs = np.sign(one[:, None] - one), np.sign(two[:, None] - two)
    of_one, of_two = (np.abs(s).sum() for s in signs)
    return (
        float((signs[0] * signs[1]).sum() / np.sqrt(of_one * of_two)) if of_one and of_two else float("nan")
    )


@cache
def _least_range(level: float, runs: int, df: int) -> float:
    from scipy.stats import studentized_range

    return float(studentized_range.ppf(1 - level, runs, df))


def two_way_hsd(values: np.ndarray, level: float = 0.05) -> int:
    """How many pairs of runs Tukey's HSD tells apart, where runs and topics add up; `studies.meta`'s ``test="tukey"``.

    One quantile of the studentized range does for all pairs, where a p-value each takes 15 ms.

    Args:
        values: runs × topics.
    """
    runs, topics = values.shape
    means = values.mean(axis=1)
    rest = values - means[:, None] - values.mean(axis=0) + values.mean()
    df = (runs - 1) * (topics - 1)
    least = _least_range(level, runs, df) * np.sqrt((rest**2).sum() / df / topics)
    return int((np.abs(means[:, None] - means)[np.triu_indices(runs, 1)] >= least).sum())
