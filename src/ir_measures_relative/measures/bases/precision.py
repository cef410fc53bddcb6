"""P and R: how many relevant documents are in the top k."""

from __future__ import annotations

import numpy as np

from ...data.arrays import FloatArray, IntArray, ratio
from ..form import Ideal, Rule
from .base import Base, Chance, Get, add, relevant
from .browsing import TopK


def expected_count(relevant: IntArray, pool: IntArray, depth: IntArray) -> FloatArray:
    """E of the number of relevant documents in the top k, of m in a pool of n documents: ``min(k, n)·m/n``."""
    return ratio((depth * relevant).astype(np.float64), pool.astype(np.float64))


def count_deviation(relevant: IntArray, pool: IntArray, depth: IntArray) -> FloatArray:
    """Return the deviation of a hypergeometric number: ``√(d·(m/n)·(1 - m/n)·(n - d)/(n - 1))``, d = min(k, n)."""
    m, n, d = (x.astype(np.float64) for x in (relevant, pool, depth))
    return np.sqrt(ratio(ratio(d * m, n) * ratio((n - m) * (n - d), n), n - 1.0))


def _precision(get: Get) -> Rule:
    seen = TopK(get("cutoff"))
    return Rule(relevant(get), seen, over=seen.total)


P = add(
    Base(
        name="P",
        rule=_precision,
        parameters=("norm", "rel"),
        needs_cutoff=True,
        residual=True,
        chance=Chance(
            expected=lambda pool: expected_count(*pool.numbers) / pool.get("cutoff"),
            deviation=lambda pool: count_deviation(*pool.numbers) / pool.get("cutoff"),
        ),
    )
)

R = add(
    Base(
        name="R",
        rule=lambda get: Rule(relevant(get), TopK(get("cutoff")), over=Ideal(TopK())),
        parameters=("rel",),
        needs_cutoff=True,
        chance=Chance(
            expected=lambda pool: ratio(expected_count(*pool.numbers), pool.relevant.astype(np.float64)),
            deviation=lambda pool: ratio(count_deviation(*pool.numbers), pool.relevant.astype(np.float64)),
        ),
    )
)
