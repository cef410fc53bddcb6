"""The measures, written slowly and plainly from the papers' formulas. One query at a time, no arrays.

A ranking is a list of document ids, a run a dict {query: {doc: score}}, labels a dict {doc: relevance}.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np


def trec_order(scores: dict[str, float]) -> list[str]:
    """trec_eval's order: score descending as 32-bit floats, ties by document id descending (as UTF-8 bytes)."""
    with np.errstate(over="ignore"):
        return sorted(scores, key=lambda d: (np.float32(scores[d]), d.encode()), reverse=True)


def only_judged(ranking: Sequence[str], labels: dict[str, int]) -> list[str]:
    """What trec_eval -J leaves of a ranking."""
    return [d for d in ranking if labels.get(d, -1) >= 0]


def gain_oracle(label: int, dcg: str = "log2", gains: dict[int, int] | None = None) -> float:
    """The gain of a label."""
    if gains is not None:
        label = gains.get(label, label)
    if label <= 0:
        return 0.0
    return float(2**label - 1) if dcg == "exp-log2" else float(label)


# ---- NRG (Eqs. 1-4, App. B) ------------------------------------------------------------------------------


def nrg_seen(position: int, base: str, p: float) -> float:
    """seen(i), Eq. 1."""
    return {"nDCG": 1 / math.log2(position + 1), "P": 1.0, "RR": 1 / position, "RBP": p ** (position - 1)}[
        base
    ]


def nrg_residual(doc: str, gain: float, priors: list[list[str]], base: str, k: int | None, p: float) -> float:
    """G(d|R), Eq. 3."""
    for prior in priors:
        top = prior if k is None else prior[:k]
        if doc in top:
            gain *= 1 - nrg_seen(top.index(doc) + 1, base, p)
    return gain


def nrg_oracle(
    ranking: list[str],
    priors: list[list[str]],
    labels: dict[str, int],
    base: str = "nDCG",
    k: int | None = 10,
    p: float = 0.8,
    rel: int = 1,
    dcg: str = "log2",
    gains: dict[int, int] | None = None,
    norm: str | None = "residual",
) -> float:
    """NRG of one ranking, Eq. 4."""

    def residual(doc: str, priors: list[list[str]] = priors) -> float:
        label = labels.get(doc, 0)
        if base == "nDCG":
            gain = gain_oracle(label, dcg, gains) if doc in labels else 0.0
        else:
            gain = 1.0 if label >= rel else 0.0
        return nrg_residual(doc, gain, priors, base, k, p)

    top = ranking if k is None else ranking[:k]
    parts = [residual(d) * nrg_seen(i, base, p) for i, d in enumerate(top, start=1)]
    if base == "RR":
        return max(parts, default=0.0)
    if norm is None:
        return sum(parts)
    if base == "P":
        assert k is not None
        return sum(parts) / k
    if base == "RBP":
        return sum(parts) * (1 - p)
    ideal = sorted((residual(d, [] if norm == "ideal" else priors) for d in labels), reverse=True)
    ideal = ideal if k is None or norm == "whole" else ideal[:k]
    total = sum(g * nrg_seen(i, base, p) for i, g in enumerate(ideal, start=1))
    return sum(parts) / total if total > 0 else 0.0


def unique_rel_oracle(
    ranking: list[str], priors: list[list[str]], labels: dict[str, int], k: int, rel: int = 1
) -> int:
    """Relevant documents in the top k that no prior has in its top k."""
    return sum(labels.get(d, 0) >= rel and not any(d in prior[:k] for prior in priors) for d in ranking[:k])


# ---- rareness (Eqs. 1-4) ---------------------------------------------------------------------------------


def rareness_weight(doc: str, systems: list[list[str]], k: int | None, alpha: float, bounded: bool) -> float:
    """1 + alpha R(d), or the convex mixture of Eq. 4."""
    total = len(systems)
    holding = sum(doc in (s if k is None else s[:k]) for s in systems)
    if bounded:
        rare = 1 - (holding - 1) / (total - 1) if total > 1 else 0.0
        return (1 - alpha) + alpha * rare
    return 1 + alpha * (1 - holding / total)


def p_rareness_oracle(
    ranking: list[str],
    systems: list[list[str]],
    labels: dict[str, int],
    k: int,
    alpha: float = 1.0,
    rel: int = 1,
    bounded: bool = False,
) -> float:
    """Eq. 1. ``systems`` holds all rankings, the evaluated one among them."""
    return (
        sum(rareness_weight(d, systems, k, alpha, bounded) for d in ranking[:k] if labels.get(d, 0) >= rel)
        / k
    )


def ap_rareness_oracle(
    ranking: list[str],
    systems: list[list[str]],
    labels: dict[str, int],
    k: int | None,
    alpha: float = 1.0,
    rel: int = 1,
    bounded: bool = False,
) -> float:
    """Eq. 3."""
    relevant = sum(label >= rel for label in labels.values())
    if not relevant:
        return 0.0
    total = so_far = 0.0
    for i, doc in enumerate(ranking if k is None else ranking[:k], start=1):
        if labels.get(doc, 0) >= rel:
            so_far += rareness_weight(doc, systems, k, alpha, bounded)
            total += so_far / i
    return total / relevant


# ---- UE normalization (Eqs. 1-9) -------------------------------------------------------------------------


def ue_dcg(gains: Sequence[float], k: int | None) -> float:
    """DCG@k of the gains in ranking order."""
    return sum(g / math.log2(i + 1) for i, g in enumerate(gains if k is None else gains[:k], start=1))


def ue_sp(relevant: Sequence[bool], k: int | None) -> float:
    """SP@k, Eq. 4, of the relevance in ranking order."""
    top = list(relevant if k is None else relevant[:k])
    return sum(sum(top[:i]) / i for i in range(1, len(top) + 1) if top[i - 1])


def ue_expected_dcg(pool: Sequence[float], k: int | None) -> float:
    """E[DCG@k], Eq. 7, of a random ranking of a pool with these gains."""
    depth = len(pool) if k is None else min(k, len(pool))
    return sum(pool) / len(pool) * sum(1 / math.log2(i + 1) for i in range(1, depth + 1)) if pool else 0.0


def ue_expected_sp(n_relevant: int, n: int, k: int | None, exact: bool) -> float:
    """E[SP@k] of a random ranking of n documents, exactly, or as published (Eq. 9 and above it)."""
    if not n:
        return 0.0
    depth, p = n if k is None else min(k, n), n_relevant / n
    if not exact:
        return depth * p**2
    total = 0.0
    for i in range(1, depth + 1):
        pair = (
            p * (n_relevant - 1) / (n - 1) if i > 1 else 0.0
        )  # both i and one given document above it relevant
        total += (p + (i - 1) * pair) / i
    return total


def ue_value(actual: float, upper: float, expected: float, version: int) -> float:
    """Eq. 5 or 6; 0/0 is 0."""

    def divide(a: float, b: float) -> float:
        return a / b if b else 0.0

    if version == 1:
        return divide(actual, upper) * divide(actual, actual + expected)
    if math.isclose(upper, expected, rel_tol=1e-12) and math.isclose(actual, upper, rel_tol=1e-12):
        return 0.0
    return divide(actual - expected, upper - expected if actual >= expected else expected)


def ue_oracle(
    ranking: list[str],
    labels: dict[str, int],
    k: int | None = 10,
    *,
    base: str = "nDCG",
    version: int = 2,
    dcg: str = "exp-log2",
    gains: dict[int, int] | None = None,
    rel: int = 1,
    exact: bool = False,
    num_docs: int | None = None,
    judged_only: bool = False,
) -> float:
    """nDCG_UE or AP_UE of one ranking; ``num_docs`` makes the pool the collection."""
    if judged_only:
        ranking = only_judged(ranking, labels)
        labels = {d: label for d, label in labels.items() if label >= 0}
    unjudged = (num_docs - len(labels)) if num_docs is not None else 0
    if base == "nDCG":
        gain = {d: gain_oracle(label, dcg, gains) for d, label in labels.items()}
        pool = sorted(gain.values(), reverse=True) + [0.0] * unjudged
        actual = ue_dcg([gain.get(d, 0.0) for d in ranking], k)
        return ue_value(actual, ue_dcg(pool, k), ue_expected_dcg(pool, k), version)
    n_relevant = sum(label >= rel for label in labels.values())
    actual = ue_sp([labels.get(d, 0) >= rel for d in ranking], k)
    expected = ue_expected_sp(n_relevant, len(labels) + unjudged, k, exact)
    return ue_value(actual, ue_sp([True] * n_relevant, k), expected, version)


# ---- lexiprecision, lexirecall, recall-paired preference --------------------------------------------------


def recall_positions(
    ranking: list[str], labels: dict[str, int], k: int | None = None, rel: int = 1, judged_only: bool = False
) -> list[float]:
    """p_1 ≤ … ≤ p_m, infinite where not retrieved."""
    if judged_only:
        ranking = only_judged(ranking, labels)
    top = ranking if k is None else ranking[:k]
    found = [i for i, d in enumerate(top, start=1) if labels.get(d, 0) >= rel]
    missing = sum(label >= rel for label in labels.values()) - len(found)
    return [float(i) for i in found] + [math.inf] * missing


def rrlp_oracle(mine: list[float], theirs: list[float]) -> float:
    """Eq. 2."""
    for p, q in zip(mine, theirs, strict=True):
        if p != q:
            return 1 / p - 1 / q
    return 0.0


def sgnlr_oracle(mine: list[float], theirs: list[float]) -> int:
    """More relevant documents retrieved wins; else the worst retrieved, then the second worst, …"""
    retrieved = [p for p in mine if p < math.inf]
    of_theirs = [q for q in theirs if q < math.inf]
    if len(retrieved) != len(of_theirs):
        return 1 if len(retrieved) > len(of_theirs) else -1
    for p, q in zip(reversed(retrieved), reversed(of_theirs), strict=True):
        if p != q:
            return 1 if p < q else -1
    return 0


def rpp_oracle(mine: list[float], theirs: list[float], weight: str = "uniform") -> float:
    """The weighted mean over recall levels of sign(q_i - p_i)."""
    levels = range(1, len(mine) + 1)
    weights = [{"uniform": 1.0, "inverse": 1 / i, "dcg": 1 / math.log2(i + 1)}[weight] for i in levels]
    signs = [(q > p) - (q < p) for p, q in zip(mine, theirs, strict=True)]
    return sum(w * s for w, s in zip(weights, signs, strict=True)) / sum(weights) if weights else 0.0


# ---- Shapley values ----------------------------------------------------------------------------------------


def set_value_oracle(
    systems: Sequence[list[str]],
    labels: dict[str, int],
    base: str = "P",
    k: int | None = 10,
    p: float = 0.8,
    rel: int = 1,
    dcg: str = "log2",
    gains: dict[int, int] | None = None,
    norm: bool = True,
) -> float:
    """v(S): what a searcher gains who reads the rankings of all these systems."""

    def gain(doc: str) -> float:
        if base == "nDCG":
            return gain_oracle(labels[doc], dcg, gains)
        return 1.0 if labels[doc] >= rel else 0.0

    found = sum(gain(d) - nrg_residual(d, gain(d), list(systems), base, k, p) for d in labels)
    if not norm:
        return found
    if base == "P":
        assert k is not None
        return found / k
    if base == "RBP":
        return found * (1 - p)
    ideal = sorted(map(gain, labels), reverse=True)
    total = sum(g * nrg_seen(i, base, p) for i, g in enumerate(ideal if k is None else ideal[:k], start=1))
    return found / total if total > 0 else 0.0


def shapley_oracle(i: int, systems: list[list[str]], labels: dict[str, int], **options: Any) -> float:
    """The Shapley value of system i, over all subsets of the others."""
    others = [s for j, s in enumerate(systems) if j != i]
    total = 0.0
    for size in range(len(others) + 1):
        weight = 1 / (math.comb(len(others), size) * len(systems))
        for subset in itertools.combinations(others, size):
            with_it = set_value_oracle([*subset, systems[i]], labels, **options)
            total += weight * (with_it - set_value_oracle(subset, labels, **options))
    return total
