"""Branch and bound for sums of precisions: the largest difference of two runs by AP and SSP.

Source: A. Moffat, "Computing Maximized Effectiveness Distance for Recall-Based Metrics", §3 and §5.
"""

from __future__ import annotations

import heapq
import itertools
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from ..data.arrays import FloatArray, IntArray
from ..tolerances import PROVED
from .ap_relaxation import Mixture, Quadratic, Relaxation, precision_sum
from .intervals import Clock

Norm: TypeAlias = Literal["k", "R", "min"]

#: The label of an open document.
OPEN = -1

#: The number of prices that are tried for one number of relevant documents before the search branches.
ATTEMPTS = 12


class Node(NamedTuple):
    """A part of the search, in which some open documents are labeled."""

    winner: IntArray
    loser: IntArray
    label: IntArray
    bounds: FloatArray  #: on SP(winner) - SP(loser), by the number of relevant documents in the two lists
    #: Only of the first nodes, as it is too large to be stored with every node.
    quadratic: Quadratic | None = None


class Search:
    """A search over labelings, from the greedy one on; arguments as for :func:`.med_sum_precision`.

    The part with the largest bound is explored first; of two, the older. With ``outside``, it maximizes M(Y) - M(Z)
    for "R", and that number of documents in neither ranking may be relevant.
    """

    def __init__(
        self,
        y: IntArray,
        z: IntArray,
        label: IntArray,
        cutoff: int,
        norm: Norm,
        other_relevant: int,
        outside: int | None = None,
        tolerance: float = PROVED,
    ) -> None:
        self._y, self._z, self._cutoff, self._tolerance = y, z, cutoff, tolerance
        self._nodes: list[tuple[float, int, Node]] = []
        self._age = itertools.count()
        self.best = labeled(label, [])
        relevant = np.arange(other_relevant, other_relevant + len(label) + 1)
        # N is 1 where R is 0, since SP is 0 too, and 0/0 counts as 0.
        highest = cutoff if norm == "min" else None
        self._normalizer = np.full_like(relevant, cutoff) if norm == "k" else relevant.clip(1, highest)
        # Whether one more relevant document adds 1 to N, or nothing.
        grows = (norm == "R") | ((norm == "min") & (relevant < cutoff))
        self._growth = np.ones(len(relevant), dtype=np.int64) * grows
        self._signed = outside is not None
        # N where the difference is below 0: it is then best if everything outside is relevant.
        self._normalizer_below = self._normalizer + (outside or 0)
        self.difference = self._difference(self.best)
        for winner, loser in [(y, z)] if self._signed else [(y, z), (z, y)]:
            quadratic = Quadratic.of(winner, loser, label == 1, self._free(winner, label))
            self._greedy(label, quadratic)
            # No score, and so no difference, exceeds 1.
            self._push(Node(winner, loser, label, self._normalizer.astype(np.float64), quadratic))

    @property
    def value(self) -> float:
        """The largest difference so far."""
        return self._size(self.difference)

    @property
    def upper(self) -> float:
        """A bound that no labeling exceeds."""
        return max(self.value, -self._nodes[0][0] if self._nodes else self.value)

    def run(self, clock: Clock) -> None:
        """Search until the value is proved to be the largest, or the time is over."""
        while self.upper > self.value + self._tolerance and not clock.expired():
            bound, _, node = heapq.heappop(self._nodes)
            self._explore(node, -bound, clock)

    def _size(self, difference: float) -> float:
        """Return the quantity to maximize."""
        return difference if self._signed else abs(difference)

    def _divided(self, sums: FloatArray, counts: slice = slice(None)) -> FloatArray:
        """Return the largest differences for these SP(winner) - SP(loser), by the number of relevant documents."""
        normalizer, below = self._normalizer[counts], self._normalizer_below[counts]
        return sums / (np.where(sums < 0, below, normalizer) if self._signed else normalizer)

    def _needed(self, counts: slice) -> FloatArray:
        """Return what SP(winner) - SP(loser) must exceed to improve the value, by the number of relevant documents."""
        least = self.value + self._tolerance
        normalizer = self._normalizer if least >= 0 else self._normalizer_below
        return np.multiply(least, normalizer[counts], dtype=np.float64)

    def _free(self, winner: IntArray, label: IntArray) -> IntArray:
        """Return the open documents that may be relevant in the best labeling, the winner's first, in its order."""
        free = np.flatnonzero((label == OPEN) & ((winner > 0) | (self.value < 0)))
        return free[np.lexsort((winner[free], winner[free] == 0))]

    def _push(self, node: Node) -> None:
        """Store a node for later."""
        bound = float(self._divided(node.bounds).max())
        heapq.heappush(self._nodes, (-bound, next(self._age), node))

    def _consider(self, label: IntArray, relevant: npt.ArrayLike) -> None:
        """Keep this labeling if it is better."""
        labels = labeled(label, relevant)
        difference = self._difference(labels)
        if self._size(difference) > self.value + self._tolerance:
            self.best, self.difference = labels, difference

    def _greedy(self, label: IntArray, quadratic: Quadratic) -> None:
        """Keep the best labeling on the way of the greedy heuristic (Eq. 13), if it is better."""
        # Below 0, a document that costs less than the mean is a gain.
        chosen, sums = quadratic.greedy(min(self.value, 0.0) + PROVED)
        if len(chosen):
            first = int((label == 1).sum()) + 1
            values = self._divided(sums[1:], slice(first, first + len(chosen)))
            if values.max() > self.value:
                self.best = labeled(label, quadratic.free[chosen[: int(values.argmax()) + 1]])
                self.difference = self._difference(self.best)

    def _explore(self, node: Node, bound: float, clock: Clock) -> None:
        """Bound the difference for every number of relevant documents; branch where no prices prove enough."""
        winner, loser = node.winner, node.loser
        label = self._decided(node, bound)
        free = self._free(winner, label)
        if not len(free):
            return self._consider(label, [])
        relaxation = Relaxation(winner, loser, label, free, self._cutoff)
        n_relevant = int((label == 1).sum())
        reachable = slice(n_relevant, n_relevant + len(free) + 1)
        all_bounds = np.full(len(node.bounds), -np.inf)
        all_bounds[reachable] = node.bounds[reachable]
        bounds = all_bounds[reachable]  # a view
        table: FloatArray = np.empty((0, 0))
        while (unproved := bounds > self._needed(reachable)).any():
            # Take the first run of unproved counts. Prices that suit one count are good for those from about a third
            # of it to three times as many, so it is best to aim beyond the first.
            least = int(unproved.argmax())
            most = least + int((~unproved[least:]).argmax() or len(unproved) - least) - 1
            aim = min(max(2 * least, 1), most)
            # The last prices, although for fewer documents, indicate which may be among that many.
            share = relaxation.labels(table, aim) if aim < len(table) else np.zeros(len(free))
            mixture = Mixture(relaxation, share)
            for attempt in range(ATTEMPTS):
                if clock.expired():
                    return self._push(Node(winner, loser, label, all_bounds))
                relaxed, table = relaxation.bounds(mixture.price, most)
                np.minimum(bounds[: most + 1], relaxed, out=bounds[: most + 1])
                share = relaxation.labels(table, aim)
                self._consider(label, free[share > 0])
                if bounds[aim] <= self._needed(reachable)[aim]:
                    break
                if attempt:
                    mixture.add(share)
                else:  # it began with a guess
                    mixture = Mixture(relaxation, share)
            else:
                # The free document whose share is closest to ½, with more weight for the winner's high ranks.
                place = np.where(winner > 0, winner, np.maximum(loser, 1))[free]
                doubt = int(((mixture.share * (1 - mixture.share) + 1e-9) / np.sqrt(place)).argmax())
                for relevant in (0, 1):
                    labels = label.copy()
                    labels[free[doubt]] = relevant
                    self._push(Node(winner, loser, labels, all_bounds))
                return None
        return None

    def _decided(self, node: Node, bound: float) -> IntArray:
        """Return the labels, with those set that every labeling of the node above the value has, by bounds of λ."""
        quadratic = node.quadratic
        if quadratic is None:
            free = self._free(node.winner, node.label)
            quadratic = Quadratic.of(node.winner, node.loser, node.label == 1, free)
        n_relevant = int((node.label == 1).sum())
        growth = self._growth[n_relevant : n_relevant + len(quadratic.free)]
        least, most = self.value * growth.min(initial=1), bound * growth.max(initial=0)
        zeros, ones = quadratic.decided(float(least), float(most))
        label = node.label.copy()
        label[quadratic.free[zeros]], label[quadratic.free[ones]] = 0, 1
        return label

    def _difference(self, labels: IntArray) -> float:
        """Return M(Y) - M(Z), from the definition."""
        relevant = labels == 1
        difference = precision_sum(self._y[relevant]) - precision_sum(self._z[relevant])
        normalizer = self._normalizer_below if difference < 0 and self._signed else self._normalizer
        return float(difference / normalizer[np.count_nonzero(relevant)])


def labeled(label: IntArray, relevant: npt.ArrayLike) -> IntArray:
    """Return the labels with the documents `relevant` set to 1 and all other open ones to 0."""
    labels = np.where(label == OPEN, 0, label)
    labels[np.asarray(relevant, dtype=np.int64)] = 1
    return labels
