"""Which documents to make relevant where an ideal ranking counts them by their place in it: dynamic programs.

In the order of their gains, how many documents are relevant before another one says at which place of the ideal it
stands, and by how much it pushes down what is behind. So that number is the state of the programs.
"""

from __future__ import annotations

import itertools

import numpy as np

from ..arrays import BoolArray, FloatArray, IntArray, ratio
from ..measures.gains import discount

# Gains in all labelings of one query, beyond which they are not tried.
_MOST_GAINS = 1_500_000


def place(
    linear: FloatArray,
    residual: FloatArray,
    forced: BoolArray,
    slope: FloatArray,
    cutoff: int | None,
) -> BoolArray:
    """The relevant documents that maximize ``Σ linear(d) + slope·Σ_i residual(i-th)/log2(i + 1)``, i up to the cutoff.

    The i-th is the relevant document with the i-th largest residual gain.

    Args:
        linear: what each document adds by being relevant, shape (problems, documents); 0 where padded.
        residual: its residual gain, descending in each row; 0 where padded.
        forced: whether it is judged relevant.
        slope: of either sign, one a problem.

    Returns:
        whether each document is relevant, shape (problems, documents).
    """
    problems, n = linear.shape
    k = n if cutoff is None else min(cutoff, n)
    # Behind the k-th judged relevant document the ideal is complete, and each document is for itself.
    before = np.cumsum(forced, axis=1) - forced < k
    matters = (before & ((residual > 0) | forced)).any(axis=0)
    steps = int(np.flatnonzero(matters).max(initial=-1)) + 1
    chosen = forced | (linear > 0)
    if not steps or not k:
        return chosen
    weights = slope[:, None] * discount.up_to(k)[1:]
    score = np.full((problems, k + 1), -np.inf)
    score[:, 0] = 0.0
    taken = np.full((problems, k + 1), -np.inf)
    takes = np.empty((steps, problems, k + 1), dtype=bool)
    stays = np.empty((steps, problems), dtype=bool)  # whether the last state is reached from itself
    for d in range(steps):
        worth = linear[:, d, None]
        np.add(score[:, :-1], weights * residual[:, d, None] + worth, out=taken[:, 1:])
        again = score[:, k] + worth[:, 0]
        stays[d] = again > taken[:, k]
        np.maximum(taken[:, k], again, out=taken[:, k])
        skipped = np.where(forced[:, d, None], -np.inf, score)
        np.greater(taken, skipped, out=takes[d])
        np.maximum(taken, skipped, out=score)
    state, rows = score.argmax(axis=1), np.arange(problems)
    for d in reversed(range(steps)):
        takes_it = takes[d][rows, state]
        chosen[:, d] = takes_it
        state = state - (takes_it & ~((state == k) & stays[d]))
    return chosen


def ideal_of(gains: FloatArray, cutoff: int | None) -> FloatArray:
    """The DCG@cutoff of each row's gains, highest first."""
    k = gains.shape[1] if cutoff is None else min(cutoff, gains.shape[1])
    result: FloatArray = -np.sort(-gains, axis=1)[:, :k] @ discount.up_to(k)[1:]
    return result


def places(chosen: BoolArray, cutoff: int | None) -> FloatArray:
    """What the place of each chosen document in the ideal counts, 0 for the others; documents as in :func:`place`."""
    rank: IntArray = np.cumsum(chosen, axis=1)
    counts = chosen if cutoff is None else chosen & (rank <= cutoff)
    return discount(np.where(counts, rank, 0))


class TwoIdeals:
    """The ideals of two runs, where the open documents have the same residual gains in both.

    Such documents are those that neither run holds. ``β·I(second) - α·I(first)`` is greatest by a dynamic program over
    the open gains. Of graded labels a document brings each gain that it may have, and no more than one of them should
    be taken: where several are, the result is a bound.

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


def greatest_of_all(
    found: FloatArray, residual: FloatArray, forced: BoolArray, shares: FloatArray, cutoff: int | None
) -> FloatArray:
    """The greatest sum over ideal, by trying all labels of the documents that a run holds; NaN where they are too many.

    A relevant document that the run does not hold can only raise the ideal, so that few are left: no more than the
    cutoff.

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
