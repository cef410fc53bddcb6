"""Rareness (Eqs. 1-4 of its paper)."""

from __future__ import annotations


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
