"""LexiRank: all sets of positions written out and sorted."""

from __future__ import annotations

import itertools


def order_of_sets(relevant: int, depth: int) -> list[tuple[int, ...]]:
    """All sets of positions that rankings may have, from the worst to the best by lexiprecision."""

    def reciprocal_ranks(positions: tuple[int, ...]) -> list[float]:
        return [1 / p for p in positions] + [0.0] * (relevant - len(positions))

    sizes = range(min(relevant, depth) + 1)
    every = [s for size in sizes for s in itertools.combinations(range(1, depth + 1), size)]
    return sorted(every, key=reciprocal_ranks)
