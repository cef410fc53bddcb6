"""The order of the documents to judge: which verdict is nearest, what its judgments are worth, what a model learns from."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from ir_measures import nDCG
from scipy import stats

from helpers.judged_pools import collection
from ir_measures_relative import RunContext, worth
from ir_measures_relative.bounding.bounds import make_labelings
from ir_measures_relative.bounding.imputation import Imputation
from ir_measures_relative.context.collection import judged_collection
from ir_measures_relative.context.evaluated import Evaluated
from ir_measures_relative.decisions import RegretTest
from ir_measures_relative.decisions.rule import nearest_verdict
from ir_measures_relative.stats.regret import upper_ends

BY: Any = {"by": "nDCG@5", "test": RegretTest(samples=40)}
Qrels = dict[str, dict[str, int]]


@pytest.mark.parametrize("labelings", [1, 12])
def test_upper_ends_are_those_of_each_two_options(labelings: int) -> None:
    values = np.random.default_rng(3).normal(size=(3, labelings, 20))
    ends = upper_ends(values if labelings > 1 else values[:, 0], 0.9)
    for i in range(3):
        for j in range(3):
            difference = values[i] - values[j]
            variance = difference.mean(axis=0).var(ddof=1) / 20
            degrees = 19
            if labelings > 1:
                variance += (1 + 1 / labelings) * difference.mean(axis=1).var(ddof=1)
                degrees = labelings - 1
            expected = difference.mean() + stats.t.ppf(0.9, degrees) * np.sqrt(variance)
            assert ends[i, j] == pytest.approx(expected, abs=1e-12)
    if labelings == 1:
        assert upper_ends(values - values[:, 0], 0.9, strictly=True) == pytest.approx(ends, abs=1e-12)


@pytest.mark.parametrize(
    ("n_runs", "candidate", "deployed", "labels"),
    [(3, "r1", ["r0"], "judged"), (6, "r2", ["r0", "r1"], "imputed")],
)
def test_the_nearest_verdict_is_by_the_given_confidence(
    n_runs: int, candidate: str, deployed: list[str], labels: str
) -> None:
    context, qrels, _ = collection(n_runs)
    few = {query: qrels[query] for query in list(qrels)[:10]}
    tests = (RegretTest(samples=40, confidence=confidence) for confidence in (0.95, 0.6))
    high, low = (worth(context, few, candidate, deployed, by="nDCG@5", test=test) for test in tests)
    assert (high.choice, high.labels) == (low.choice, low.labels) == ("add", labels)
    assert not high.judge.equals(low.judge)


def test_the_nearest_verdict_is_the_one_that_lacks_least() -> None:
    random, margin = np.random.default_rng(5), 0.02
    for _ in range(200):
        n = int(random.integers(2, 5))
        upper = random.normal(0, 0.05, size=(n, n))
        lacking = {}
        for option in range(n):
            rivals = [i for i in range(n) if i != option]
            allowed = {i: 0.0 if i == 0 else margin for i in rivals}
            if option == 0:
                allowed = dict.fromkeys(rivals, margin)
            lacking[option] = {i: upper[i, option] - allowed[i] for i in rivals}
        nearest = min(lacking, key=lambda option: max(lacking[option].values()))
        rivals = [i for i, much in lacking[nearest].items() if much > 0]
        assert nearest_verdict(upper, margin) == (nearest, rivals or list(lacking[nearest]))


def half_judged(qrels: Qrels) -> Qrels:
    return {q: {d: g for i, (d, g) in enumerate(docs.items()) if i % 2} for q, docs in qrels.items()}


def test_gains_grow_with_the_shift_as_their_expectation_does() -> None:
    """Against the expectations of gains under a shift, summed over the grades one by one."""
    context, qrels, _ = collection(6, seed=2)
    runs = Evaluated.each(judged_collection(context, half_judged(qrels)))
    labelings = make_labelings(nDCG @ 5, runs, None)
    imputation = Imputation(labelings.runs, labelings.cutoff)
    levels, rows = imputation.model.levels, np.flatnonzero(labelings.open)
    docs = labelings.docs.select(labelings.open)
    logits = imputation.model.logits(imputation._pool(docs), None)
    gain = labelings.gain(levels).tolist()

    def expect(logit: list[float], values: list[float]) -> float:
        total, reached = 0.0, 1.0
        for i, value in enumerate(values):
            climbs = 1 / (1 + np.exp(-logit[i])) if i < len(logit) else 0.0
            total += value * reached * (1 - climbs)
            reached *= climbs
        return total

    slope, probability = imputation.gain_slope(labelings), imputation.probability_of_gain(labelings)
    assert len(levels) > 2 and len(rows) > 50 and not slope[~labelings.open].any()
    for row, logit in zip(rows.tolist(), logits.T.tolist(), strict=True):
        above, below = (expect([x + shift for x in logit], gain) for shift in (1e-5, -1e-5))
        assert slope[row] == pytest.approx((above - below) / 2e-5, abs=1e-8)
        assert probability[row] == pytest.approx(expect(logit, [float(g > 0) for g in gain]), abs=1e-12)


def test_without_a_model_those_come_first_from_which_it_is_learned() -> None:
    """All judged documents are relevant on most topics: judging in this order brings a model sooner than backwards."""
    context, qrels, _ = collection(6, seed=2)
    judged = half_judged(qrels)
    for query in list(judged)[:-2]:
        relevant = {d: g for d, g in judged[query].items() if g}
        judged[query] = relevant | dict(sorted(judged[query].items() - relevant.items())[:1])
    counts = []
    for step in (1, -1):
        known, n = {q: dict(docs) for q, docs in judged.items()}, 0
        while (answer := worth(context, known, "r5", ["r1"], **BY)).verdict is None:
            assert len(answer.judge)
            for query, doc in answer.judge.to_numpy()[::step][:10]:
                known[query][doc] = qrels[query].get(doc, 0)
                n += 1
        counts.append(n)
    assert 0 < counts[0] < counts[1]


def test_a_track_that_is_too_shallow_for_a_model_lists_documents(tmp_path: Any) -> None:
    context, qrels, _ = collection(6, seed=2)
    relevant = {q: {d: g for d, g in docs.items() if g} for q, docs in half_judged(qrels).items()}
    context.save_track(tmp_path / "shallow.track", relevant, depth=10)
    track = RunContext.from_track(tmp_path / "shallow.track")
    answer = worth(track, relevant, "r5", ["r1"], **BY)
    assert answer.verdict is None and len(answer.judge)
