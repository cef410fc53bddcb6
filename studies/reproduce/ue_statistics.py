"""The statistics of the paper on UE-normalized measures, of values of runs × topics."""

from __future__ import annotations

import numpy as np

from ir_measures_relative.data.arrays import FloatArray

from ..meta.table import all_pairs
from ..meta.testing import run_test

LEVEL = 0.05


def p_values(values: FloatArray, test: str = "t", swaps: int = 0) -> tuple[FloatArray, float]:
    """The p-value of each pair of runs, and the share of p ≤ 0.05 where names are swapped on each topic."""
    found = run_test(all_pairs(values), values, test)
    rate = float((found.null(swaps, 0) <= LEVEL).mean()) if swaps else float("nan")
    return found.p, rate


def tau(one: FloatArray, other: FloatArray) -> float:
    """Kendall's τ_b of the orders of the runs by their means."""
    from scipy.stats import kendalltau

    means = [np.round(v.mean(axis=1), 12) for v in (one, other)]
    return float(kendalltau(*means).statistic)


def pad(means: FloatArray) -> float:
    """The percentage absolute difference of all pairs of means, on the mean (Eq. 8)."""
    first, second = np.triu_indices(len(means), 1)
    larger = np.maximum(means[first], means[second])
    some = larger != 0
    if not some.any():
        return float("nan")
    return float((100 * np.abs(means[first] - means[second])[some] / larger[some]).mean())


def swapped(one: FloatArray, other: FloatArray) -> float:
    """The share of pairs of runs that two sets of topics, or of documents, order the other way round."""
    first, second = np.triu_indices(len(one), 1)
    a, b = (np.round(v[first] - v[second], 12) for v in (one, other))
    return float((a * b < 0).mean())
