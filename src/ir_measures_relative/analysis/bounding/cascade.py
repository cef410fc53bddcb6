"""Expected reciprocal rank: each document stops some of the readers that got to it."""

from __future__ import annotations

import itertools

import numpy as np

from ...arrays import FloatArray, IntArray
from ..labelings import OpenDocuments
from .model import TOLERANCE, Interval, Model

# So many documents that both runs hold are tried in all combinations.
_MOST_TRIED = 10


class Cascade(Model):
    """ERR, ``Σ_i (1/i)·stop(d_i)·Π_{j<i} (1 - stop(d_j))``.

    A higher grade never lowers it, so one run is exact. In the difference of two runs a document that only one holds
    is best at one end; one that both hold too, since the difference is linear in its chance to stop a reader, but at
    which end it takes a trial to say.

    Args:
        position: of every document in every run, shape (runs, documents).
        stop: the chance that each judged document stops a reader.
        highest: the greatest such chance.
    """

    def __init__(
        self, open_docs: OpenDocuments, position: IntArray, stop: FloatArray, highest: float
    ) -> None:
        super().__init__(open_docs)
        self.position, self.highest = position, highest
        self.stop = np.where(self.open, 0.0, stop)
        docs = open_docs.docs
        rows = np.flatnonzero(self.open | (self.stop > 0))
        ends = np.searchsorted(docs.query[rows], np.arange(docs.n_queries + 1)).tolist()
        self.rows = [rows[i:j] for i, j in itertools.pairwise(ends)]

    @property
    def known_gain(self) -> FloatArray:
        return self.stop

    def sampled(self, gains: FloatArray) -> FloatArray:
        stop = np.tile(self.stop, (len(gains), 1))
        stop[:, self.open] = gains
        found = [
            [expected_reciprocal_rank(row[rows], stop[:, rows]) for rows in self.rows]
            for row in self.position
        ]
        return np.array(found).reshape(len(self.position), len(self.rows), len(gains)).transpose(0, 2, 1)

    def _values(self, stop: FloatArray) -> FloatArray:
        found = [
            [float(expected_reciprocal_rank(row[rows], stop[rows])) for rows in self.rows]
            for row in self.position
        ]
        return np.array(found).reshape(len(self.position), len(self.rows))

    def value(self) -> FloatArray:
        return self._values(self.stop)

    def one(self) -> Interval:
        lower, upper = self.value(), self._values(np.where(self.open, self.highest, self.stop))
        return Interval(lower, upper, np.ones(lower.shape, dtype=bool))

    def difference(self, a: IntArray, b: IntArray) -> Interval:
        lower, upper = np.empty((2, len(a), len(self.rows)))
        exact = np.ones(lower.shape, dtype=bool)
        for i, (x, y) in enumerate(zip(a, b, strict=True)):
            for q in range(len(self.rows)):
                upper[i, q], above = self._above(int(x), int(y), q)
                down, below = self._above(int(y), int(x), q)
                lower[i, q] = -down
                exact[i, q] = above and below
        return Interval(lower, upper, exact)

    def _above(self, winner: int, loser: int, q: int) -> tuple[float, bool]:
        """A bound of the greatest difference, and whether it is attained."""
        rows = self.rows[q]
        x, y, free = self.position[winner, rows], self.position[loser, rows], self.open[rows]
        won = np.where(free & (x > 0) & (y == 0), self.highest, self.stop[rows])
        shared = np.flatnonzero(free & (x > 0) & (y > 0))
        highest_first = shared[np.argsort(np.minimum(x[shared], y[shared]))]
        tried, rest = highest_first[:_MOST_TRIED], highest_first[_MOST_TRIED:]
        stops = np.tile(won, (2 ** len(tried), 1))
        stops[:, tried] = self.highest * np.array(list(itertools.product((0, 1), repeat=len(tried))))
        lost = stops.copy()
        stops[:, rest] = self.highest
        lost[:, rest] = 0.0
        best = float((expected_reciprocal_rank(x, stops) - expected_reciprocal_rank(y, lost)).max())
        return best, not len(rest)

    def influence(self, a: int, b: int, reach: FloatArray) -> FloatArray:
        x, y = (
            np.divide(1.0, self.position[i], out=np.zeros(self.position.shape[1]), where=self.position[i] > 0)
            for i in (a, b)
        )
        result: FloatArray = np.where(self.open & (np.maximum(x, y) > TOLERANCE), np.abs(x - y) + x * y, 0.0)
        return result * self.highest


def expected_reciprocal_rank(position: IntArray, stop: FloatArray) -> FloatArray:
    """ERR of documents at these positions, 0 where not retrieved; ``stop`` of shape (…, documents)."""
    held = np.flatnonzero(position > 0)
    order = held[np.argsort(position[held])]
    stops = stop[..., order]
    left = np.cumprod(1.0 - stops, axis=-1)
    reached = np.concatenate([np.ones((*stops.shape[:-1], 1)), left], axis=-1)[..., : len(order)]
    result: FloatArray = (reached * stops / position[order]).sum(axis=-1)
    return result
