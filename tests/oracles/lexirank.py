"""LexiRank: all sets of positions written out and sorted."""

from __future__ import annotations

import itertools


def reciprocal_ranks(positions: tuple[int, ...], relevant: int) -> list[float]:
    """RR_1 to RR_m, 0 for those that are not seen."""
    return [1 / p for p in sorted(positions)] + [0.0] * (relevant - len(positions))


def order_of_sets(relevant: int, depth: int, n: int | None) -> list[tuple[int, ...]]:
    """All sets of positions that rankings may have, from the worst to the best by lexiprecision."""
    least = 0 if n is None else max(0, relevant - (n - depth))
    sizes = range(least, min(relevant, depth) + 1)
    every = [s for size in sizes for s in itertools.combinations(range(1, depth + 1), size)]
    return sorted(every, key=lambda s: reciprocal_ranks(s, relevant))
