"""The rareness paper's experiments: against the package's measures, and by plain formulas."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy.stats import kendalltau
from studies import meta
from studies.reproduce.rareness_study import first_place, ranks
from studies.reproduce.resampling import error_over_runs, least_tau, over_topics, tau, two_way_hsd, verdict

from ir_measures_relative import P_Rareness, RunContext


@pytest.mark.parametrize(("seed", "alpha"), list(itertools.product(range(3), (0.0, 0.5, 1.0))))
def test_synthetic_runs_rank_as_runs_do(seed: int, alpha: float) -> None:
    """S_rare and S_common as two runs of a campaign, scored by P_Rareness@100."""
    held = np.random.default_rng(seed).random((4, 9)) < 0.5
    relevant = {f"d{i}": 1 for i in range(9)} | {f"new{i}": 1 for i in range(12)}
    real = {f"run{r}": {"q": {f"d{i}": 1.0 for i in np.flatnonzero(row)}} for r, row in enumerate(held)}
    common = np.argsort(-held.sum(axis=0), kind="stable")

    def rank(docs: list[str]) -> float:
        context = RunContext(real | {"new": {"q": dict.fromkeys(docs, 1.0)}})
        values = context.evaluate({"q": relevant}, [P_Rareness(alpha=alpha) @ 100]).iloc[:, 1].round(9)
        return float(values.rank(ascending=False).iloc[-1])

    rare, of_common = ranks(held, alpha, 12)
    wanted = [rank([f"new{i}" for i in range(n)]) for n in range(1, 13)]
    assert list(rare) == wanted and first_place(held, alpha) == wanted.index(1.0) + 1
    some = int((held.sum(axis=0) > 0).sum())
    assert list(of_common[:some]) == [rank([f"d{i}" for i in common[:n]]) for n in range(1, some + 1)]
    assert np.isnan(of_common[some:]).all()


@pytest.mark.parametrize("seed", range(2))
def test_two_way_hsd_is_metas(seed: int) -> None:
    values = np.random.default_rng(seed).normal(size=(4, 8)) + np.arange(4)[:, None] * 0.8
    rows = [(f"r{i}", j, "M", values[i, j]) for i, j in itertools.product(range(4), range(8))]
    table = pd.DataFrame(rows, columns=["name", "query_id", "measure", "value"])
    for level in (0.05, 0.01):
        wanted = meta.discriminative_power(table, "tukey", level=level, swaps=0)["significant"][0]
        assert two_way_hsd(values, level) == wanted


def test_errors_and_intervals() -> None:
    values = np.random.default_rng(0).normal(size=30)
    names = [str(i) for i in range(30)]
    error = error_over_runs(names, lambda chosen: np.array([values[[int(n) for n in chosen]].mean()]))
    assert error == pytest.approx(values.std(ddof=1) / np.sqrt(30))  # the jackknife of a mean
    low, high = over_topics(values[None], lambda means: means[0], resamples=4000)
    width = 2 * 1.96 * values.std() / np.sqrt(30)
    assert high - low == pytest.approx(width, rel=0.1) and low < values.mean() < high


def test_verdict() -> None:
    assert verdict(0.05, 0.02, [0.1]) == "yes"  # 2.5 standard errors
    assert verdict(0.01, 0.02, [0.02, 0.06]) == "open"  # 0.04 is within 0.039 of it
    assert verdict(0.01, 0.01, [0.02, 0.06]) == "no"


@pytest.mark.parametrize("seed", range(5))
def test_tau_is_scipys(seed: int) -> None:
    x, y = np.random.default_rng(seed).integers(0, 2 + 2 * seed, size=(2, 12))
    assert tau(x, y) == pytest.approx(kendalltau(x, y).statistic, nan_ok=True)
    assert np.isnan(tau(x, np.ones(12)))


def test_least_tau_is_that_of_all_permutations() -> None:
    for n in (3, 4, 5):
        taus = [kendalltau(range(n), order).statistic for order in itertools.permutations(range(n))]
        enough = [t for t in set(np.round(taus, 9)) if t > 0 and np.mean(np.abs(taus) >= t - 1e-6) <= 0.05]
        assert least_tau(n) == pytest.approx(min(enough, default=np.nan), nan_ok=True)
