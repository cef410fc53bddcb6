"""UE normalization (Eqs. 1-9 of its paper) for nDCG and AP, by the formulas for what is expected by chance."""

import math
from collections.abc import Sequence

from oracles.gains import gain_oracle
from oracles.rankings import only_judged


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
