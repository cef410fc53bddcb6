"""ERR (Chapelle et al., CIKM 2009): a user reads until a document satisfies.

``max_grade`` is 4 by default, as in gdeval.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ...data.arrays import FloatArray, IntArray, rank_within, row_sums, table
from ..form import Rule
from .base import Base, Chance, RandomRanking, add, longest
from .browsing import BrowsingModel, Reciprocal
from .gains import Satisfying, chance_to_satisfy, reciprocal

if TYPE_CHECKING:
    from ...data.documents import Documents


@dataclass(frozen=True)
class Reader(BrowsingModel):
    """A user who reads until a document satisfies: ``seen`` takes a row of documents' positions for each ranking."""

    docs: Documents  #: those that may gain; the others satisfy no user
    max_grade: int  #: of the grade g a document satisfies with the chance ``(2^g - 1) / 2^max_grade``

    def seen(self, position: IntArray) -> FloatArray:
        docs, gain = self.docs, chance_to_satisfy(self.docs.grade, self.max_grade)
        rows = [chance_to_reach(row, gain, docs.query, docs.n_queries) for row in position]
        return np.array(rows).reshape(position.shape)


def chance_to_reach(position: IntArray, theta: FloatArray, query: IntArray, n_queries: int) -> FloatArray:
    """``Π (1 - θ)`` over the documents above each one, 0 where not retrieved; ``theta`` has shape (…, documents)."""
    retrieved = np.flatnonzero(position)
    order = retrieved[np.lexsort((position[retrieved], query[retrieved]))]
    query = query[order]
    rank = rank_within(query)
    left = np.ones((*theta.shape[:-1], n_queries, int(rank.max(initial=0)) + 1))
    left[..., query, rank] = 1.0 - theta[..., order]
    result = np.zeros(theta.shape)
    result[..., order] = np.multiply.accumulate(left, axis=-1)[..., query, rank - 1]  # from left to right
    return result


def expected_err(pool: RandomRanking) -> FloatArray:
    """E[ERR@k], the gains being the chances that a document satisfies.

    ``Σ_{i≤min(k,n)} s_i/i`` with s_i the chance that the user leaves at i, satisfied, and g_i the chance to go on
    beyond i. They are those of a pool that grows by one document at a time: the new one, of chance θ, is at i, above
    i, or below i with the chances 1/n, (i - 1)/n and (n - i)/n. All terms are positive, so nothing cancels.
    """
    docs, n_queries, relevant = pool.perfect, pool.n_queries, pool.relevant
    order = np.lexsort((docs.gain, docs.query))  # whichever order the qrels have
    theta = table(docs.gain[order], docs.query[order], n_queries, 0.0)
    most_first = np.argsort(-relevant, kind="stable")
    at_once = max(_ELEMENTS // (longest(pool.depth) + 1), 1)
    result = np.zeros(n_queries)
    for start in range(0, n_queries, at_once):
        rows = most_first[start : start + at_once]
        result[rows] = _block_err(theta[rows], relevant[rows], pool.size[rows], pool.depth[rows])
    return result


# The size of the tables of a block of queries, which then stays in the processor's cache.
_ELEMENTS = 2**15


def _block_err(theta: FloatArray, relevant: IntArray, size: IntArray, depth: IntArray) -> FloatArray:
    """Return :func:`expected_err` of queries by falling number of relevant documents, from their θ."""
    i = np.arange(1, longest(depth) + 1)
    leave, go_on = np.zeros((len(size), len(i) + 1)), np.ones((len(size), len(i) + 1))
    for column in range(int(relevant.max(initial=0))):
        rows = slice(int(np.count_nonzero(relevant > column)))  # those with documents left
        n = (size - relevant)[rows, None] + (column + 1)
        at = np.minimum(i, n)  # no result depends on entries beyond the pool
        here, past = theta[rows, column, None], 1.0 - theta[rows, column, None]
        s, g, below = leave[rows], go_on[rows], (n - at) / n
        s[:, 1:] = here / n * g[:, :-1] + past * ((at - 1) / n) * s[:, :-1] + below * s[:, 1:]
        g[:, 1:] = below * g[:, 1:] + past * (at / n) * g[:, :-1]
    return row_sums(np.where(i <= depth[:, None], leave[:, 1:] * reciprocal(i), 0.0))


ERR = add(
    Base(
        name="ERR",
        rule=lambda get: Rule(Satisfying(get("max_grade", 4)), Reciprocal(), "cascade"),
        parameters=("max_grade",),
        residual=True,
        chance=Chance(expected=expected_err),
    )
)
