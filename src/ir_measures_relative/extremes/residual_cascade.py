"""NRG with base ERR: a cascade through the run, of what the cascades through its priors have not shown."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from ..arrays import FloatArray, IntArray, sum_by_query
from ..measures.browsing import chance_to_reach
from ..measures.gains import reciprocal
from .labelings import OpenDocuments
from .model import Interval, Model


class ResidualCascade(Model):
    """``Σ_i (1/i)·θ'(d_i)·Π_{l<i} (1 - θ'(d_l))`` with ``θ'(d) = θ(d)·Π_j (1 - Π_{e above d in j} (1 - θ(e)))``.

    A higher grade never lowers it: it raises the θ of its document, and turns searchers away from those below it in
    the priors, so it lowers no θ'; and the value never falls in a θ', since to be satisfied at i is worth 1/i, and to
    read on no more than 1/(i + 1). So one run is exact, with no open document relevant and with all at the highest
    grade. Of two runs the difference is bounded by their intervals, whatever these have to do with each other: a
    label may help both, and θ' is no linear function of a label, so that not even the ends of its range need do.

    Args:
        position: of every document in every run, shape (runs, documents).
        priors: of every run, as rows of ``position``.
        theta: the chance that each judged document satisfies.
        highest: the greatest such chance.
    """

    def __init__(
        self,
        open_docs: OpenDocuments,
        position: IntArray,
        priors: Sequence[IntArray],
        theta: FloatArray,
        highest: float,
    ) -> None:
        super().__init__(open_docs)
        self.priors, self.highest = priors, highest
        self.theta = np.where(self.open, 0.0, theta)
        self.rows = np.flatnonzero(self.open | (self.theta > 0))
        self.position = position[:, self.rows]

    @property
    def known_gain(self) -> FloatArray:
        return self.theta

    def _values(self, theta: FloatArray) -> FloatArray:
        """The value of every run, shape (runs, queries), where the documents satisfy with these chances."""
        n, theta, query = self.open_docs.n_queries, theta[self.rows], self.open_docs.docs.query[self.rows]
        not_seen = [1.0 - chance_to_reach(row, theta, query, n) for row in self.position]
        result = np.empty((len(self.position), n))
        for i, priors in enumerate(self.priors):
            left = theta.copy()
            for j in priors.tolist():
                left *= not_seen[j]
            position = self.position[i]
            result[i] = sum_by_query(
                left * reciprocal(position) * chance_to_reach(position, left, query, n), query, n
            )
        return result

    def sampled(self, gains: FloatArray) -> FloatArray:
        result = np.empty((len(self.position), len(gains), self.open_docs.n_queries))
        theta = self.theta.copy()
        for i, labeling in enumerate(gains):
            theta[self.open] = labeling
            result[:, i] = self._values(theta)
        return result

    @cached_property
    def _one(self) -> Interval:
        lower, upper = self._values(self.theta), self._values(np.where(self.open, self.highest, self.theta))
        return Interval(lower, upper, np.ones(lower.shape, dtype=bool))

    def one(self) -> Interval:
        return self._one

    def difference(self, a: IntArray, b: IntArray) -> Interval:
        return self._one.of(a).minus(self._one.of(b))

    def influence(self, a: int, b: int, reach: FloatArray) -> FloatArray:
        own, other = reciprocal(self.position[a]), reciprocal(self.position[b])
        shown = np.union1d(self.priors[a], self.priors[b])
        above = reciprocal(self.position[shown]).max(axis=0, initial=0.0)  # of what is below it in a prior
        query = self.open_docs.docs.query[self.rows]
        result = np.zeros(len(self.theta))
        result[self.rows] = np.abs(own - other) + own * other + above * reach[query]
        moved: FloatArray = np.where(self.open, result * self.highest, 0.0)
        return moved
