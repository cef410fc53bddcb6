"""RR and Success, which depend on the first relevant document."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ...data.arrays import FloatArray, IntArray, row_sums
from ..form import Rule
from .base import Base, Chance, RandomRanking, add, longest, once_each, relevant
from .browsing import Reciprocal, TopK
from .gains import reciprocal


class First(NamedTuple):
    """The probabilities of each position of the first relevant document in a random ranking."""

    chance: FloatArray  #: of position i = 1, 2, …; shape (queries, longest depth), 0 beyond the depth
    none: FloatArray  #: of none down to the depth


def first_relevant(relevant: IntArray, pool: IntArray, depth: IntArray) -> First:
    """Return the probabilities in pools of n documents, m of them relevant, for the depth k.

    They are ``C(n - i, m - 1)/C(n, m)`` and ``C(n - m, min(k, n))/C(n, min(k, n))``, as running products.
    """
    i = np.arange(1, longest(depth) + 1)
    left = np.maximum(pool[:, None] - i + 1, 1)  # documents that may be at i
    non_relevant = np.maximum(pool[:, None] - relevant[:, None] - i + 1, 0)
    none = np.ones((len(pool), len(i) + 1))
    np.multiply.accumulate(non_relevant / left, axis=1, out=none[:, 1:])
    chance = np.where(i <= depth[:, None], none[:, :-1] * (relevant[:, None] / left), 0.0)
    return First(chance, none[np.arange(len(pool)), depth])


def from_first_relevant(function: Callable[[First], FloatArray], pool: RandomRanking) -> FloatArray:
    """Return the values of a function of :class:`First` for the pool, one per query."""
    return once_each(lambda *numbers: function(first_relevant(*numbers)), *pool.numbers)


def expected_rr(first: First) -> FloatArray:
    """Return the expectation ``E[RR@k] = Σ_{i≤min(k,n)} C(n - i, m - 1)/(i·C(n, m))``."""
    return row_sums(first.chance * reciprocal(np.arange(1, first.chance.shape[1] + 1)))


def rr_deviation(first: First) -> FloatArray:
    """Return the standard deviation of RR@k."""
    mean, rr = expected_rr(first), reciprocal(np.arange(1, first.chance.shape[1] + 1))
    squares = row_sums(first.chance * (rr - mean[:, None]) ** 2) + first.none * mean**2
    return np.sqrt(squares)


RR = add(
    Base(
        name="RR",
        rule=lambda get: Rule(relevant(get), Reciprocal(), "largest"),
        parameters=("rel",),
        residual=True,
        chance=Chance(
            expected=lambda pool: from_first_relevant(expected_rr, pool),
            deviation=lambda pool: from_first_relevant(rr_deviation, pool),
        ),
    )
)

Success = add(
    Base(
        name="Success",
        rule=lambda get: Rule(relevant(get), TopK(get("cutoff")), "largest"),
        parameters=("rel",),
        needs_cutoff=True,
        chance=Chance(
            expected=lambda pool: np.minimum(
                from_first_relevant(lambda first: row_sums(first.chance), pool), 1.0
            ),
            # However small the chance is that the top k holds no relevant document.
            room=lambda pool: np.where(
                pool.relevant > 0, from_first_relevant(lambda first: first.none, pool), 0.0
            ),
        ),
    )
)
