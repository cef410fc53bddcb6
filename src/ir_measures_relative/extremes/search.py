"""Branch and bound for the difference of two sums of precisions, over the number of relevant documents.

`Search` looks for the largest difference, whichever ranking wins, or for that of the one less the other alone, which
may be below 0. Where it is, each document more that is relevant brings it closer to 0. So documents may have to be
relevant that help the loser alone, or neither.
"""

from __future__ import annotations

import heapq
import itertools
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from .quadratic import Quadratic, sum_precision
from .relaxation import Mixture, Relaxation
from .solution import OPEN, TOLERANCE, Clock, FloatArray, IntArray

Norm: TypeAlias = Literal["k", "R", "min"]

ATTEMPTS = 12
"""So many prices are tried on one number of relevant documents before the search branches."""


class Node(NamedTuple):
    """A part of the search: some open documents are labeled. The largest bound comes first, then the oldest."""

    priority: tuple[float, int]
    winner: IntArray
    loser: IntArray
    label: IntArray
    bounds: FloatArray  #: on SP(winner) - SP(loser), by the number of relevant documents in the two lists
    quadratic: Quadratic | None = None  #: if it is known already; it is too large to be kept for every node


class Search:
    """Branch and bound from the greedy labeling on.

    Args:
        y, z, label: positions in the rankings, and labels; positions beyond the cutoff are 0.
        cutoff: k.
        norm: "k", "R" or "min", what SP is divided by.
        other_relevant: how many relevant documents are in neither ranking.
        outside: None for the largest |M(Y) - M(Z)|. Else for the largest M(Y) - M(Z) alone, and only for "R": how many
            further documents, in neither ranking, may be relevant.
        tolerance: how much better a labeling may be that is missed.

    Attributes:
        best: the best labeling so far.
        difference: its M(Y) - M(Z).
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
        tolerance: float = TOLERANCE,
    ) -> None:
        self._y, self._z, self._cutoff, self._tolerance = y, z, cutoff, tolerance
        relevant = np.arange(other_relevant, other_relevant + len(label) + 1)
        self._normalizer = normalizers(norm, relevant, cutoff)
        # Whether one more relevant document adds 1 to N, or nothing.
        self._growth = {
            "k": np.zeros(len(relevant), dtype=np.int64),
            "R": np.ones(len(relevant), dtype=np.int64),
            "min": (relevant < cutoff).astype(np.int64),
        }[norm]
        self._signed = outside is not None
        # N where the difference is below 0: everything outside is then best relevant.
        self._normalizer_below = self._normalizer + (outside or 0)
        self._nodes: list[Node] = []
        self._age = itertools.count()
        self.best = labeled(label, [])
        self.difference = self._difference(self.best)
        for winner, loser in [(y, z)] if self._signed else [(y, z), (z, y)]:
            quadratic = Quadratic.of(winner, loser, label, self._free(winner, label))
            self._greedy(label, quadratic)
            # No score, and so no difference, exceeds 1.
            self._push(winner, loser, label, self._normalizer.astype(np.float64), quadratic)

    @property
    def value(self) -> float:
        """The largest difference so far."""
        return self.difference if self._signed else abs(self.difference)

    @property
    def upper(self) -> float:
        """No labeling exceeds this."""
        return max(self.value, -self._nodes[0].priority[0] if self._nodes else self.value)

    def run(self, clock: Clock) -> None:
        """Search until the value is proved to be the largest, or the time is up."""
        while self.upper > self.value + self._tolerance and not clock.expired():
            self._explore(heapq.heappop(self._nodes), clock)

    def _divided(self, sums: FloatArray, counts: slice = slice(None)) -> FloatArray:
        """The largest differences for these SP(winner) - SP(loser), by the number of relevant documents."""
        normalizer, below = self._normalizer[counts], self._normalizer_below[counts]
        result: FloatArray = sums / (np.where(sums < 0, below, normalizer) if self._signed else normalizer)
        return result

    def _needed(self, counts: slice) -> FloatArray:
        """What SP(winner) - SP(loser) must exceed to be worth a look, by the number of relevant documents."""
        worth = self.value + self._tolerance
        normalizer = self._normalizer if worth >= 0 else self._normalizer_below
        needed: FloatArray = np.multiply(worth, normalizer[counts], dtype=np.float64)
        return needed

    def _free(self, winner: IntArray, label: IntArray) -> IntArray:
        """The open documents that the best labeling may make relevant, those of the winner first, in its order."""
        free = open_documents(winner, label)
        if self.value >= 0:
            return free
        return np.append(free, np.flatnonzero((label == OPEN) & (winner == 0)))

    def _push(
        self,
        winner: IntArray,
        loser: IntArray,
        label: IntArray,
        bounds: FloatArray,
        quadratic: Quadratic | None = None,
    ) -> None:
        """Leave a node for later."""
        priority = -float(self._divided(bounds).max()), next(self._age)
        heapq.heappush(self._nodes, Node(priority, winner, loser, label, bounds, quadratic))

    def _greedy(self, label: IntArray, quadratic: Quadratic) -> None:
        """Keep the best labeling that the greedy heuristic passes."""
        gain = quadratic.linear.copy()
        # Below 0 what costs less than the mean is a gain.
        stop = min(self.value, 0.0) + TOLERANCE
        chosen: list[int] = []
        gains = [quadratic.constant]
        while len(chosen) < len(gain):
            # The weight of Eq. 13 in the winner less that in the loser, given what is relevant by now.
            # Rounding must neither make a gain of nothing nor decide between equal ones.
            document = int((gain >= gain.max() - TOLERANCE).argmax())
            if gain[document] <= stop:
                break
            chosen.append(document)
            gains.append(gain[document])
            gain += quadratic.pairs[document]
            gain[document] = -np.inf
        if chosen:
            first = int((label == 1).sum()) + 1
            values = self._divided(np.cumsum(gains)[1:], slice(first, first + len(chosen)))
            if values.max() > self.value:
                self.best = labeled(label, quadratic.free[chosen[: int(values.argmax()) + 1]])
                self.difference = self._difference(self.best)

    def _explore(self, node: Node, clock: Clock) -> None:
        """Bound the difference for every number of relevant documents; branch where no prices prove enough."""
        winner, loser = node.winner, node.loser
        label = self._decided(node)
        free = self._free(winner, label)
        if not len(free):
            return self._consider(label, [])
        relaxation = Relaxation(winner, loser, label, free, self._cutoff)
        known = int((label == 1).sum())
        reachable = slice(known, known + len(free) + 1)
        all_bounds = np.full(len(node.bounds), -np.inf)
        all_bounds[reachable] = node.bounds[reachable]
        bounds = all_bounds[reachable]  # a view
        table: FloatArray = np.empty((0, 0))
        while (unproved := bounds > self._needed(reachable)).any():
            # The first run of unproved counts. Prices that suit one count are good for those from about a third of
            # it to three times as many, so it is best to aim beyond the first.
            least = int(unproved.argmax())
            most = least + int((~unproved[least:]).argmax() or len(unproved) - least) - 1
            aim = min(max(2 * least, 1), most)
            # The last prices, though they were found for fewer documents, tell which so many may be.
            share = relaxation.labels(table, aim) if aim < len(table) else np.zeros(len(free))
            mixture = Mixture(relaxation, share)
            for attempt in range(ATTEMPTS):
                if clock.expired():
                    return self._push(winner, loser, label, all_bounds)
                found, table = relaxation.bounds(mixture.price, most)
                np.minimum(bounds[: most + 1], found, out=bounds[: most + 1])
                share = relaxation.labels(table, aim)
                self._consider(label, free[share > 0])
                if bounds[aim] <= self._needed(reachable)[aim]:
                    break
                if attempt:
                    mixture.add(share)
                else:  # it began with a guess
                    mixture = Mixture(relaxation, share)
            else:
                # The document most in doubt; of two, the one that the winner ranks higher counts more.
                place = np.where(winner > 0, winner, np.maximum(loser, 1))[free]
                doubt = (mixture.share * (1 - mixture.share) + 1e-9) / np.sqrt(place)
                for relevant in (0, 1):
                    labels = label.copy()
                    labels[free[doubt.argmax()]] = relevant
                    self._push(winner, loser, labels, all_bounds)
                return None
        return None

    def _decided(self, node: Node) -> IntArray:
        """The labels with those set that the best labeling of the node, if it is above the value, may have.

        That has SP(winner) - SP(loser) - λN = 0, λ its ratio, and no other more; so a document that does not lower
        the sum may be relevant, and one that does not raise it need not be. One more relevant document costs λ
        where it increases N. λ is above the value and within the bound of the node. (Where it may be below 0, one more
        relevant document always increases N.)
        """
        quadratic = node.quadratic
        if quadratic is None:
            free = self._free(node.winner, node.label)
            quadratic = Quadratic.of(node.winner, node.loser, node.label, free)
        known = int((node.label == 1).sum())
        growth = self._growth[known : known + len(quadratic.free)]
        least, most = self.value * growth.min(initial=1), -node.priority[0] * growth.max(initial=0)
        return quadratic.decided(node.label, float(least), float(most))

    def _consider(self, label: IntArray, relevant: npt.ArrayLike) -> None:
        """Keep this labeling if it is better."""
        labels = labeled(label, relevant)
        difference = self._difference(labels)
        if (difference if self._signed else abs(difference)) > self.value + self._tolerance:
            self.best, self.difference = labels, difference

    def _difference(self, labels: IntArray) -> float:
        """M(Y) - M(Z), from the definition."""
        relevant = labels == 1
        difference = sum_precision(self._y[relevant]) - sum_precision(self._z[relevant])
        normalizer = self._normalizer_below if difference < 0 and self._signed else self._normalizer
        return float(difference / normalizer[np.count_nonzero(relevant)])


def normalizers(norm: Norm, relevant: IntArray, cutoff: int) -> IntArray:
    """N for these numbers R of relevant documents. Where R is 0 so is SP, and 0/1 is the 0 that 0/0 stands for."""
    choices: dict[str, IntArray] = {
        "k": np.full(len(relevant), cutoff),
        "R": np.maximum(relevant, 1),
        "min": relevant.clip(1, cutoff),
    }
    return choices[norm]


def open_documents(winner: IntArray, label: IntArray) -> IntArray:
    """The open documents that the winner holds, in its order."""
    free = np.flatnonzero((label == OPEN) & (winner > 0))
    in_order: IntArray = free[winner[free].argsort()]
    return in_order


def labeled(label: IntArray, relevant: npt.ArrayLike) -> IntArray:
    """The labels with the documents `relevant` set to 1 and all other open ones to 0."""
    labels = np.where(label == OPEN, 0, label)
    labels[np.asarray(relevant, dtype=np.int64)] = 1
    return labels
