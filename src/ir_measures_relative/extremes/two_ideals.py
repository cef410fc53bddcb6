"""The ideals of two runs, where the open documents have the same residual gains in both.

Such documents are those that neither run holds. How many of them have a gain before another one, in the order of all
gains, says at which place of each ideal it stands, and by how much it pushes down what is behind; so ``β·I(second) -
α·I(first)`` is greatest by a dynamic program over the open gains, with that number as its state. Of graded labels a
document brings each gain that it may have, and no more than one of them should be taken: where several are, the result
is a bound.
"""

from __future__ import annotations

import numpy as np

from ..arrays import BoolArray, FloatArray, IntArray
from ..measures.gains import discount


class TwoIdeals:
    """Problems, each with the gains that are known of the first and of the second, and of its open documents.

    Args:
        known: the residual gains of the first and of the second, two of shape (problems, documents); 0 where none.
        open_gains: of the open documents at each label that has a gain, shape (problems, documents, labels).
        cutoff: the depth of the ideals.

    Attributes:
        states: how many open gains may be told apart by their number, none and all beyond the cutoff included.
    """

    def __init__(
        self, known: tuple[FloatArray, FloatArray], open_gains: FloatArray, cutoff: int | None
    ) -> None:
        problems, n, labels = open_gains.shape
        flat = open_gains.reshape(problems, n * labels)
        order = np.argsort(-flat, axis=1, kind="stable")[:, : int((flat > 0).sum(axis=1).max(initial=0))]
        gain: FloatArray = np.take_along_axis(flat, order, axis=1)
        self._document = (order // labels).T
        self.states = 1 + (gain.shape[1] if cutoff is None else min(gain.shape[1], cutoff + 1))
        first, second = (self._added(part, gain, cutoff) for part in known)
        (self._first, self._first_known), (self._second, self._second_known) = first, second
        self._first[(gain <= 0).T] = np.inf  # which are none

    def _added(
        self, known: FloatArray, gain: FloatArray, cutoff: int | None
    ) -> tuple[FloatArray, FloatArray]:
        """What each gain adds to the ideal as the s-th, shape (gains, problems, s); the known part of it after s."""
        k = known.shape[1] if cutoff is None else min(cutoff, known.shape[1])
        known = -np.sort(-known, axis=1)[:, :k]
        seen = discount.up_to(k + self.states + 1)
        if cutoff is not None:
            seen = np.where(np.arange(len(seen)) <= cutoff, seen, 0.0)
        state = np.arange(self.states)
        # Σ known gains times the discounts of their places, from the i-th on, where s open ones stand before them.
        terms = known[:, :, None] * seen[1 + np.arange(k)[:, None] + state]
        rest = np.zeros((len(known), k + 1, self.states))
        rest[:, :k] = np.cumsum(terms[:, ::-1], axis=1)[:, ::-1]
        before: IntArray = (known[:, None, :] >= gain[:, :, None]).sum(axis=2)
        behind = np.take_along_axis(rest, before[:, :, None], axis=1)
        added = gain[:, :, None] * seen[before[:, :, None] + state]
        added[..., 1:] += behind[..., 1:] - behind[..., :-1]
        return np.ascontiguousarray(added[..., 1:].transpose(1, 0, 2)), rest[:, 0, :1]

    def lowered(
        self, ceiling: FloatArray, rows: IntArray, constant: FloatArray, alpha: FloatArray, beta: FloatArray
    ) -> tuple[FloatArray, FloatArray, BoolArray]:
        """A bound by how many open gains there are, lowered to ``constant + β·I(second) - α·I(first)``.

        Args:
            ceiling: what the bound was, shape (problems, :attr:`states`).
            rows: which problems they are.
            constant: one for each.
            alpha: above 0.
            beta: at least 0.

        Returns:
            the bound; the ideals of the gains that are greatest where it is, shape (2, problems); and whether labels
            attain these.
        """
        first, second = self._first[:, rows], self._second[:, rows]
        steps = len(first)
        score = np.full((len(rows), self.states), -np.inf)
        score[:, 0] = 0.0
        takes = np.empty((steps, len(rows), self.states - 1), dtype=bool)
        for step in range(steps):
            taken = beta[:, None] * second[step]
            taken -= alpha[:, None] * first[step]
            taken += score[:, :-1]
            np.greater(taken, score[:, 1:], out=takes[step])
            np.maximum(taken, score[:, 1:], out=score[:, 1:])
        ideals = np.array([self._first_known[rows, 0], self._second_known[rows, 0]])
        ceiling = np.minimum(ceiling, score + (constant + beta * ideals[1] - alpha * ideals[0])[:, None])
        state, every = ceiling.argmax(axis=1), np.arange(len(rows))
        possible = np.ones(len(rows), dtype=bool)
        held = np.zeros((len(rows), int(self._document.max(initial=-1)) + 1), dtype=bool)
        for step in reversed(range(steps)):
            some = every[state > 0]
            some = some[takes[step][some, state[some] - 1]]
            ideals[:, some] += first[step][some, state[some] - 1], second[step][some, state[some] - 1]
            document = self._document[step][rows[some]]
            possible[some[held[some, document]]] = False
            held[some, document] = True
            state[some] -= 1
        return ceiling, ideals, possible
