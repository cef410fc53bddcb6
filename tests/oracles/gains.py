"""What a document is worth by its label alone, and what gains are worth in a ranking."""

import math
from collections.abc import Sequence


def gain_oracle(label: int, dcg: str = "log2", gains: dict[int, int] | None = None) -> float:
    """The gain of a label."""
    if gains is not None:
        label = gains.get(label, label)
    if label <= 0:
        return 0.0
    return float(2**label - 1) if dcg == "exp-log2" else float(label)


def theta(doc: str, labels: dict[str, int], max_grade: int) -> float:
    """The chance that a document satisfies."""
    return float((2 ** max(labels.get(doc, 0), 0) - 1) / 2**max_grade)


def dcg(gains: Sequence[float], k: int | None) -> float:
    """DCG@k of the gains in ranking order."""
    return sum(g / math.log2(i + 1) for i, g in enumerate(gains if k is None else gains[:k], start=1))
