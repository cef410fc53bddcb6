"""Bounds of NRG(base='nDCG') under one labeling: each relevant document moves the places of others in the ideal."""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np

from ..data.arrays import BoolArray, FloatArray, IntArray, ratio
from ..measures.bases.gains import discount
from ..tolerances import LABELED_ALIKE

# Gains in all labelings of one query, beyond which they are not tried.
_MOST_GAINS = 1_500_000
# Rounds of the search for placements of documents in the first of two ideals.
_PLACEMENTS = 3
# Labelings of a pair's own open documents that are tried.
_MOST_LABELINGS = 32
# Into how many parts the range of the first ideal is cut, and how many tangents each tries.
_PARTS, _TANGENTS = 3, 4
# Problems times gains times numbers of gains that are worked on at once.
_AT_ONCE = 3_000_000


def place(
    linear: FloatArray,
    residual: FloatArray,
    forced: BoolArray,
    slope: FloatArray,
    cutoff: int | None,
) -> BoolArray:
    """The relevant documents that maximize ``Σ linear(d) + slope·Σ_i residual(i-th)/log2(i + 1)``, i up to the cutoff.

    Arrays are (problems, documents), padded with 0, and ``residual`` descends in each row. The state of the dynamic
    program is how many documents are relevant so far: the place of the next one in the ideal.
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
    """The ideals of two runs, where the open documents, in neither run, have the same residual gains in both.

    ``β·I(second) - α·I(first)`` is greatest by a dynamic program over the open gains, (problems, documents, labels).
    Of several labels of a document it may take several: the result is then a bound. ``states`` counts the open gains
    told apart.
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
        """The bound ``ceiling``, (problems, states), lowered to ``constant + beta·I(second) - alpha·I(first)``, alpha
        > 0.

        Also the ideals where it is greatest, (2, problems), and whether labels attain these.
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
    """The greatest sum over ideal, by trying all labels of a run's open documents; NaN where they are too many."""
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


class ResidualSide(NamedTuple):
    """One of the two runs: what each document adds at its highest gain, and the ends of the value."""

    found: FloatArray  #: to the sum; shape (problems, documents)
    residual: FloatArray  #: to the ideal
    lower: FloatArray  #: the least value, one a problem
    upper: FloatArray  #: the greatest

    def at(self, rows: IntArray) -> ResidualSide:
        """That of some problems."""
        return ResidualSide(*(np.asarray(part)[rows] for part in self))

    def ideal_weights(self, chosen: BoolArray, cutoff: int | None) -> FloatArray:
        """What the place of each chosen document in the ideal counts."""
        order = np.argsort(-np.where(chosen, self.residual, -1.0), axis=1, kind="stable")
        result = np.empty(chosen.shape)
        np.put_along_axis(result, order, places(np.take_along_axis(chosen, order, axis=1), cutoff), axis=1)
        return result

    def value(self, chosen: BoolArray, cutoff: int | None) -> FloatArray:
        """N/I where the chosen documents have their highest gains, and the others none."""
        return ratio((self.found * chosen).sum(axis=1), ideal_of(self.residual * chosen, cutoff))


class ResidualPair(NamedTuple):
    """Two runs, with their documents in the order of the second's residual gains."""

    first: ResidualSide
    second: ResidualSide
    forced: BoolArray  #: which are judged to have their gain; shape (problems, documents)
    real: BoolArray  #: which are not padded
    cutoff: int | None

    def at(self, rows: IntArray) -> ResidualPair:
        """Those of some problems."""
        sides = self.first.at(rows), self.second.at(rows)
        return ResidualPair(*sides, self.forced[rows], self.real[rows], self.cutoff)

    def better_of(
        self, chosen: BoolArray, best: BoolArray, reached: FloatArray
    ) -> tuple[BoolArray, FloatArray]:
        """The better of two labelings, and its difference."""
        value = self.first.value(chosen, self.cutoff) - self.second.value(chosen, self.cutoff)
        better = value > reached
        return np.where(better[:, None], chosen, best), np.where(better, value, reached)


def relaxed_difference(pair: ResidualPair) -> tuple[FloatArray, FloatArray]:
    """A bound of the greatest difference of each problem, and the greatest that was found.

    N/I of the first is at most ``λ + (N - λ·I)/I'``, λ its greatest value, I' its greatest ideal; of the second, at
    least that with the least value. :func:`place` maximizes the sum over documents that this makes.
    """
    first, second, forced, real, cutoff = pair
    bound, best = first.upper - second.lower, forced
    reached: FloatArray = np.full(len(forced), -np.inf)
    for chosen in (real, forced, forced | (real & (first.found > second.found))):
        best, reached = pair.better_of(chosen, best, reached)
    x, y = first.upper, second.lower
    s, t = (ratio(np.ones(len(forced)), ideal_of(side.residual * real, cutoff)) for side in (first, second))
    linear = s[:, None] * first.found - t[:, None] * second.found
    weights = first.ideal_weights(best, cutoff)
    for step in range(1, _PLACEMENTS + 1):
        by_document = linear - (s * x)[:, None] * weights * first.residual
        chosen = place(by_document, second.residual, forced, t * y, cutoff) & real
        ideal = ideal_of(second.residual * chosen, cutoff)
        bound = np.minimum(bound, x - y + (by_document * chosen).sum(axis=1) + t * y * ideal)
        best, reached = pair.better_of(chosen, best, reached)
        weights = weights + (first.ideal_weights(chosen, cutoff) - weights) / (step + 1)
    return np.maximum(bound, reached), reached


def branched_difference(
    pair: ResidualPair, shares: FloatArray, bound: FloatArray, reached: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """The bound and the greatest difference found, better than the given where few documents of the runs are open.

    Each labeling of these is tried; others only move the ideals I. N/I of the first is convex in I, so at most the
    line through the ends of a range; -N/I of the second at most any tangent. :class:`TwoIdeals` maximizes such a
    bound.
    """
    bound, reached = bound.copy(), reached.copy()
    first, second, forced, real, cutoff = pair
    alike = np.abs(first.residual - second.residual) <= LABELED_ALIKE
    own = ~forced & real & ((first.found > 0) | (second.found > 0) | ~alike)
    counts = own.sum(axis=1)
    gains = forced.shape[1] * (len(shares) - 1)
    size = max(1, _AT_ONCE // max(gains * (gains if cutoff is None else min(gains, cutoff + 1)), 1))
    for n in np.unique(counts).tolist():
        if len(shares) ** n > _MOST_LABELINGS:
            continue
        labels = np.array(list(itertools.product(shares, repeat=n))).reshape(len(shares) ** n, n)
        rows = np.flatnonzero((counts == n) & (bound - reached > LABELED_ALIKE))
        for some in (rows[i : i + size] for i in range(0, len(rows), size)):
            best = np.full(len(some), -np.inf)
            for label in labels:
                value, attained = _labeled(pair.at(some), own[some], label, shares, reached[some])
                best = np.maximum(best, value)
                reached[some] = np.maximum(reached[some], attained)
            bound[some] = np.minimum(bound[some], np.maximum(best, reached[some]))
    return bound, reached


def _labeled(
    pair: ResidualPair, own: BoolArray, label: FloatArray, shares: FloatArray, reached: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """A bound of the difference where the runs' own open documents have these labels, and the greatest found."""
    first, second, forced, _, cutoff = pair
    share = np.where(forced, 1.0, 0.0)
    share[own] = np.tile(label, len(own))
    n_first, n_second = ((side.found * share).sum(axis=1) for side in (first, second))
    known = [side.residual * share for side in (first, second)]
    outside = np.where(forced | own, 0.0, first.residual)
    least, most = (
        np.array([ideal_of(np.where(known[i] > 0, known[i], of_outside), cutoff) for i in range(2)])
        for of_outside in (0.0, outside)
    )
    bound = ratio(n_first, least[0]) - ratio(n_second, most[1])
    none, all_of_them = (ratio(n_first, ideal[0]) - ratio(n_second, ideal[1]) for ideal in (least, most))
    attained = np.maximum(none, all_of_them)
    # Where an ideal may be 0, so is the sum, and one of these two is the greatest.
    rows = np.flatnonzero((bound > np.maximum(reached, attained) + LABELED_ALIKE) & (least > 0).all(axis=0))
    if not len(rows):
        return bound, attained
    ideals = TwoIdeals((known[0][rows], known[1][rows]), outside[rows, :, None] * shares[1:], cutoff)
    n_first, n_second, least, most = n_first[rows], n_second[rows], least[:, rows], most[:, rows]
    cuts = least[0] * (most[0] / least[0]) ** (np.arange(_PARTS + 1)[:, None] / _PARTS)
    found, seen = np.full(len(rows), -np.inf), np.maximum(attained, reached)[rows]
    for low, high in itertools.pairwise(cuts):
        here = np.repeat((n_first / low - n_second / most[1])[:, None], ideals.states, axis=1)
        at = (least[1] + most[1]) / 2
        for _ in range(_TANGENTS):
            left = np.flatnonzero(here.max(axis=1) > np.maximum(seen, found) + LABELED_ALIKE)
            n, m, from_low, to_high, v = (x[left] for x in (n_first, n_second, low, high, at))
            slope, tangent = n / (from_low * to_high), m / v**2
            constant = slope * (from_low + to_high) - 2 * m / v
            here[left], (one, two), possible = ideals.lowered(here[left], left, constant, slope, tangent)
            seen[left] = np.where(possible, np.maximum(seen[left], n / one - m / two), seen[left])
            at[left] = two
        found = np.maximum(found, here.max(axis=1))
    bound[rows], attained[rows] = np.minimum(bound[rows], found), np.maximum(attained[rows], seen)
    return bound, attained
