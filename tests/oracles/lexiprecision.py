"""Lexiprecision (Eqs. 2-3 of its paper), lexirecall, recall-paired preference."""

import math

from oracles.rankings import only_judged


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
