"""Expected reciprocal rank: each document stops some of the readers that got to it."""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np

from ..arrays import FloatArray, IntArray
from .exact import ErrExtreme, greatest_err_difference
from .labelings import OpenDocuments
from .model import TOLERANCE, Interval, Valued
from .tasks import interval_by_query


class _Task(NamedTuple):
    """One query, its open documents and those that may stop a reader, and pairs of runs."""

    position: IntArray  #: shape (runs, documents), 0 where not retrieved
    least: FloatArray  #: the range of the chance that a document stops a reader
    most: FloatArray
    a: IntArray
    b: IntArray
    time_limit: float | None


class Cascade(Valued):
    """ERR, ``Σ_i (1/i)·stop(d_i)·Π_{j<i} (1 - stop(d_j))``.

    A higher grade never lowers it, so one run is exact. In the difference of two runs a document that only one holds
    is best at one end; one that both hold too, since the difference is linear in its chance to stop a reader, but at
    which end takes MED's branch and bound to say.

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
        return interval_by_query(_apart, self._task, a, b, len(self.rows), self.jobs)

    def _task(self, q: int, a: IntArray, b: IntArray) -> _Task:
        """Pairs of runs on one query."""
        rows = self.rows[q]
        runs, at = np.unique(np.concatenate([a, b]), return_inverse=True)
        stop = self.stop[rows]
        most = np.where(self.open[rows], self.highest, stop)
        first, second = at.reshape(2, -1)
        return _Task(self.position[np.ix_(runs, rows)], stop, most, first, second, self.time_limit)

    def influence(self, a: int, b: int, reach: FloatArray) -> FloatArray:
        x, y = (
            np.divide(1.0, self.position[i], out=np.zeros(self.position.shape[1]), where=self.position[i] > 0)
            for i in (a, b)
        )
        result: FloatArray = np.where(self.open & (np.maximum(x, y) > TOLERANCE), np.abs(x - y) + x * y, 0.0)
        return result * self.highest


def _apart(task: _Task) -> FloatArray:
    """Lower, upper, and 1 where both are attained, of each pair; shape (3, pairs)."""
    found = np.empty((3, len(task.a)))
    for i, (a, b) in enumerate(zip(task.a, task.b, strict=True)):
        held = (task.position[a] > 0) | (task.position[b] > 0)
        x, y, least, most = task.position[a, held], task.position[b, held], task.least[held], task.most[held]
        up, down = (_greatest(x, y, least, most, task), _greatest(y, x, least, most, task))
        exact = all(end.upper - end.value <= TOLERANCE for end in (up, down))
        found[:, i] = -down.upper, up.upper, exact
    return found


def _greatest(
    winner: IntArray, loser: IntArray, least: FloatArray, most: FloatArray, task: _Task
) -> ErrExtreme:
    """The greatest difference; what only one of the two holds is decided."""
    least, most = np.where(loser > 0, least, most), np.where(winner > 0, most, least)
    if (least == most).all():
        value = float(expected_reciprocal_rank(winner, least) - expected_reciprocal_rank(loser, least))
        return ErrExtreme(value, value, least)
    return greatest_err_difference(
        winner, loser, least, most, time_limit=task.time_limit, tolerance=TOLERANCE
    )


def expected_reciprocal_rank(position: IntArray, stop: FloatArray) -> FloatArray:
    """ERR of documents at these positions, 0 where not retrieved; ``stop`` of shape (…, documents)."""
    held = np.flatnonzero(position > 0)
    order = held[np.argsort(position[held])]
    stops = stop[..., order]
    left = np.cumprod(1.0 - stops, axis=-1)
    reached = np.concatenate([np.ones((*stops.shape[:-1], 1)), left], axis=-1)[..., : len(order)]
    result: FloatArray = (reached * stops / position[order]).sum(axis=-1)
    return result
