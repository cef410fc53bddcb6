"""NRG(base='INST') and NRG(base='BPM'): users are followed one document at a time, down to position 1000."""

from __future__ import annotations

#: As deep as cwl_eval reads.
DEEPEST = 1000


def gain_of_label(label: int, min_rel: int, max_rel: int) -> float:
    """Between 0 and 1, as ir_measures scales labels for cwl_eval."""
    return (min(max(label, min_rel), max_rel) - min_rel) / (max_rel - min_rel)


def reading(gains: list[float], base: str, goal: float, k: int | None) -> list[float]:
    """How likely a user is to read each position, from the gains at the first ones; the others gain nothing."""
    chance, chances, found = 1.0, [], 0.0
    for i in range(1, (DEEPEST if base == "INST" else min(k or 0, DEEPEST)) + 1):
        chances.append(chance)
        found += gains[i - 1] if i <= len(gains) else 0.0
        if base == "INST":
            left = goal - found
            chance *= ((i + goal + left - 1) / (i + goal + left)) ** 2
        elif found >= goal:
            break
    return chances


def rate_of_gain(gains: list[float], base: str, goal: float, k: int | None) -> float:
    """The expected gain of a document that is read: INST and BPM, as C/W/L defines them."""
    chances = reading(gains, base, goal, k)
    return sum(c * g for c, g in zip(chances, gains, strict=False)) / sum(chances)


def nrg_goal_oracle(
    ranking: list[str],
    priors: list[list[str]],
    labels: dict[str, int],
    base: str,
    k: int | None,
    goal: float = 1.0,
    min_rel: int = 0,
    max_rel: int = 1,
) -> float:
    """NRG of one ranking: each prior is read by what it shows, and the ranking by what is left of it."""

    def gain(doc: str) -> float:
        return gain_of_label(labels.get(doc, 0), min_rel, max_rel)

    def left(doc: str) -> float:
        value = gain(doc)
        for prior in priors:
            top = prior if k is None else prior[:k]
            read = reading([gain(d) for d in top], base, goal, k)
            if doc in top and top.index(doc) < len(read):
                value *= 1 - read[top.index(doc)]
        return value

    return rate_of_gain([left(doc) for doc in (ranking if k is None else ranking[:k])], base, goal, k)
