"""The greatest value of NRG(base='nDCG') with graded labels, by trying all labels of the documents that a run holds.

A relevant document that the run does not hold can only raise the ideal, so that few are left: no more than the cutoff.
"""

from __future__ import annotations

import itertools

import numpy as np

from ..arrays import BoolArray, FloatArray, ratio
from ..measures.gains import discount

# Gains in all labelings of one query, beyond which they are not tried.
_MOST_GAINS = 1_500_000


def greatest_of_all(
    found: FloatArray, residual: FloatArray, forced: BoolArray, shares: FloatArray, cutoff: int | None
) -> FloatArray:
    """The greatest sum over ideal of each problem; NaN where there are too many labelings.

    Args:
        found: what each document adds to the sum at its highest gain, shape (problems, documents).
        residual: its residual gain then; 0 where padded.
        forced: whether it is judged to have it.
        shares: the gains that a label can give, as parts of the highest.
    """
    free = (found > 0) & ~forced
    counts, width = free.sum(axis=1), found.shape[1]
    result = np.full(len(found), np.nan)
    k = width if cutoff is None else min(cutoff, width)
    judged = -np.sort(-np.where(forced, residual, 0.0), axis=1)[:, :k]
    known = (found * forced).sum(axis=1)
    for n in np.unique(counts).tolist():
        depth = min(k, k + n)
        if len(shares) ** n * (k + n) > _MOST_GAINS:
            continue
        labels = np.array(list(itertools.product(shares, repeat=n))).reshape(len(shares) ** n, n)
        seen = discount.up_to(depth)[1:]
        at_once = max(1, _MOST_GAINS // (len(labels) * (k + n)))
        for rows in np.array_split(alike := np.flatnonzero(counts == n), -(-len(alike) // at_once)):
            at = np.nonzero(free[rows])
            adds, gains = (part[rows][at].reshape(len(rows), 1, n) for part in (found, residual))
            total = known[rows, None] + (labels * adds).sum(axis=2)
            old = np.broadcast_to(judged[rows, None], (len(rows), len(labels), k))
            every = -np.sort(-np.concatenate([old, labels * gains], axis=2), axis=2)[..., :depth]
            result[rows] = ratio(total, (every * seen).sum(axis=2)).max(axis=1)
    return result
