"""The cascade of expected reciprocal rank: a searcher reads on until a document satisfies.

Chapelle, Metzler, Zhang and Grinspan, "Expected Reciprocal Rank for Graded Relevance", CIKM 2009.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import FloatArray, IntArray, table
from ..judgments import Judgments
from .gains import chance_to_satisfy


def chance_to_reach(position: IntArray, theta: FloatArray, query: IntArray, n_queries: int) -> FloatArray:
    """``Π (1 - θ)`` over the documents above each one: the chance that no document above it satisfies.

    Args:
        position: of each document, 0 where not retrieved; those that are not here satisfy nobody.
        theta: the chance that it satisfies.
        query: its query, ascending, of ``n_queries``.

    Returns:
        in [0, 1], 0 where not retrieved.
    """
    found = np.flatnonzero(position)
    order = found[np.lexsort((position[found], query[found]))]
    left = table(1.0 - theta[order], query[order], n_queries, 1.0)
    above = np.multiply.accumulate(np.insert(left, 0, 1.0, axis=1), axis=1)  # from left to right
    start = np.searchsorted(query[order], query[order])
    result = np.zeros(len(position))
    result[order] = above[query[order], np.arange(len(order)) - start]
    return result


@dataclass(frozen=True)
class NotReached:
    """From positions in the priors, a row each, to the chance that a searcher left before each document."""

    docs: Judgments
    max_grade: int

    def __call__(self, position: IntArray) -> FloatArray:
        docs = self.docs
        theta = chance_to_satisfy(docs.grade, self.max_grade)
        reach = [chance_to_reach(row, theta, docs.query, docs.n_queries) for row in position]
        return 1.0 - np.array(reach).reshape(position.shape)
