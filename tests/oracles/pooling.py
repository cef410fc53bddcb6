"""Dynamic pooling: the next document by each method, from the rankings and the labels written out anew each time."""

from __future__ import annotations

import math


def next_document(
    rankings: list[list[str]], labels: dict[str, bool | None], method: str
) -> tuple[str, int] | None:
    """The document and the run that it is the head of. ``labels`` holds None for one whose label is to come."""
    best: tuple[float, str, int] | None = None
    for i, ranking in enumerate(rankings):
        head = next((d for d in ranking if d not in labels), None)
        if head is None:
            continue
        above = [labels[d] for d in ranking[: ranking.index(head)]]
        found, others = above.count(True), above.count(False)
        mean = (1 + found) / (2 + found + others)
        worth = 1 / math.log2(ranking.index(head) + 2)
        for j, other in enumerate(rankings):
            if j != i and head in other:
                worth *= 1 - 1 / math.log2(other.index(head) + 2)
        value = {
            "depth": -ranking.index(head),
            "move-to-front": -others + found / 1000,
            "bandit": mean,
            "unique": mean * worth,
        }[method]
        if best is None or value > best[0] + 1e-12:
            best = value, head, i
    return best and best[1:]
