"""trec_eval's order of a ranking, and what is left of it where only judged documents count."""

from collections.abc import Sequence

import numpy as np


def trec_order(scores: dict[str, float]) -> list[str]:
    """trec_eval's order: score descending as 32-bit floats, ties by document id descending (as UTF-8 bytes)."""
    with np.errstate(over="ignore"):
        return sorted(scores, key=lambda d: (np.float32(scores[d]), d.encode()), reverse=True)


def only_judged(ranking: Sequence[str], labels: dict[str, int]) -> list[str]:
    """What trec_eval -J leaves of a ranking."""
    return [d for d in ranking if labels.get(d, -1) >= 0]
