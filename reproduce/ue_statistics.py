"""The statistics of the paper on UE-normalized measures, of values of runs × topics."""

from __future__ import annotations

import numpy as np

from ir_measures_relative.arrays import FloatArray
from ir_measures_relative.meta.pairs import SUM_TESTS
from ir_measures_relative.meta.table import Scores

LEVEL = 0.05


def p_values(values: FloatArray, test: str = "t", swaps: int = 0) -> tuple[FloatArray, float]:
    """The p-value of each pair of runs, and the share of p ≤ 0.05 where names are swapped on each topic."""
    first, second = np.triu_indices(len(values), 1)
    spread = float(np.ptp(values))
    differences = values[first] - values[second]
    differences = np.where(np.abs(differences) <= 1e-9 * spread, 0.0, differences)
    scores = Scores("", [], [], values, first, second, differences, spread)
    terms, p_of = SUM_TESTS[test](scores)
    rate = float("nan")
    if swaps:
        signs = np.random.default_rng(0).choice([-1.0, 1.0], size=(swaps, values.shape[1]))
        rate = float((p_of(signs @ terms.T) <= LEVEL).mean())
    return p_of(terms.sum(axis=1)), rate


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
