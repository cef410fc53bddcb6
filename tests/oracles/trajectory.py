"""Searches of trajectories, plainly: dicts and sets, one search after the other."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

Lists = Sequence[Sequence[str] | None]  # of one trajectory; None before its first recorded search


def nrg_ideal(
    docs: Sequence[str], earlier: Sequence[Sequence[str]], grades: Mapping[str, int], k: int
) -> float:
    """NRG(norm='ideal')@k: Eqs. 1 to 3 with the ideal of the whole gains."""

    def left(doc: str) -> float:
        value = float(max(grades.get(doc, 0), 0))
        for ranking in earlier:
            if doc in ranking[:k]:
                value *= 1 - 1 / math.log2(ranking.index(doc) + 2)
        return value

    ideal = sorted((max(g, 0) for g in grades.values()), reverse=True)[:k]
    total = sum(g / math.log2(i + 2) for i, g in enumerate(ideal))
    return sum(left(d) / math.log2(i + 2) for i, d in enumerate(docs[:k])) / total if total else 0.0


def cells(lists: Lists, grades: Mapping[str, int], k: int) -> list[dict[str, Any]]:
    """Return the values of every search from the first recorded one on."""
    relevant = {d for d, g in grades.items() if g >= 1}
    earlier: list[Sequence[str]] = []
    rows = []
    for number, docs in enumerate(lists, start=1):
        if docs is None:
            continue
        before = {d for ranking in earlier for d in ranking[:k]}
        top = list(docs[:k])
        new = (set(top) & relevant) - before
        left = relevant - before
        rows.append(
            {
                "search": number,
                "shown": len(top),
                "new_relevant": len(new),
                "repeated": sum(d in before for d in top),
                "unjudged": sum(d not in grades for d in top),
                "nrg": nrg_ideal(docs, earlier, grades, k) if left else None,
                "nothing_new": bool(left) and not new,
                "nothing_left": not left,
                "found": len((before | set(top)) & relevant),
            }
        )
        earlier.append(docs)
    return rows
