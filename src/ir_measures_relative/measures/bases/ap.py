"""AP. For UE it is the sum of precisions."""

from __future__ import annotations

import numpy as np

from ...data.arrays import FloatArray, IntArray, ratio
from ..form import Ideal, Rule
from .base import Base, Chance, add, longest, partial_sums, relevant
from .browsing import Reciprocal, TopK


def expected_precision_sum(relevant: IntArray, pool: IntArray, depth: IntArray, exact: bool) -> FloatArray:
    """E[SP@k] of a random ranking of the pool.

    Exactly, with p = N_p/n, ``Σ_{i≤min(k,n)} (1/i)(p + (i - 1)·p·(N_p - 1)/(n - 1))``. The paper takes a document's
    relevance for independent of those above it (§6.4.1): ``min(k, n)·p²``.
    """
    p = ratio(relevant.astype(np.float64), pool.astype(np.float64))
    if not exact:
        return depth * p**2
    # Σ 1/i; so Σ (i - 1)/i is depth - it.
    harmonic = partial_sums(1.0 / np.arange(1, longest(depth) + 1))[depth]
    given_relevant = ratio((relevant - 1).astype(np.float64), (pool - 1).astype(np.float64))
    return p * (harmonic + given_relevant * (depth - harmonic))


AP = add(
    Base(
        name="AP",
        rule=lambda get: Rule(relevant(get), Reciprocal(), "precisions", Ideal(TopK())),
        parameters=("rel", "expected"),
        chance=Chance(
            expected=lambda pool: expected_precision_sum(*pool.numbers, pool.get("expected") == "exact"),
            over=1.0,
        ),
    )
)
