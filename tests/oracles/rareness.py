"""Rareness (Eqs. 1-4 of its paper), and the bases, rarities and systems that the package adds."""

import math


def rareness_oracle(
    ranking: list[str],
    systems: list[list[list[str]]],
    labels: dict[str, int],
    k: int | None,
    *,
    base: str,
    alpha: float = 1.0,
    rarity: str = "linear",
    bounded: bool = False,
    rel: int = 1,
    p: float = 0.8,
    max_grade: int = 4,
) -> float:
    """Any base. ``systems`` holds the rankings of each system, one or, of a group, several; the evaluated one too."""
    top = ranking if k is None else ranking[:k]

    def weight(doc: str) -> float:
        total = len(systems)
        holding = sum(any(doc in (r if k is None else r[:k]) for r in system) for system in systems)
        if total == 1:
            rare = 0.0
        elif rarity == "log":
            rare = math.log(total / holding) / math.log(total)
        elif bounded:
            rare = 1 - (holding - 1) / (total - 1)
        else:
            rare = 1 - holding / total
        return (1 - alpha) + alpha * rare if bounded else 1 + alpha * rare

    def dcg(gains: list[float]) -> float:
        return sum(g / math.log2(i + 2) for i, g in enumerate(gains))

    binary = [weight(d) * (labels.get(d, 0) >= rel) for d in top]
    if base == "P":
        assert k is not None
        return sum(binary) / k
    if base == "AP":
        relevant = sum(label >= rel for label in labels.values())
        found = [i for i, d in enumerate(top) if labels.get(d, 0) >= rel]
        return sum(sum(binary[: i + 1]) / (i + 1) for i in found) / relevant if relevant else 0.0
    if base == "RBP":
        return (1 - p) * sum(w * p**i for i, w in enumerate(binary))
    if base == "nDCG":
        ideal = dcg([float(g) for g in sorted((max(g, 0) for g in labels.values()), reverse=True)[:k]])
        return dcg([weight(d) * max(labels.get(d, 0), 0) for d in top]) / ideal if ideal else 0.0
    total, reads = 0.0, 1.0
    for i, doc in enumerate(top, start=1):
        theta = (2 ** max(labels.get(doc, 0), 0) - 1) / 2**max_grade
        total += reads * theta * weight(doc) / i
        reads *= 1 - theta
    return total
