"""Branch and bound for sums of precisions: how far apart two runs can be by AP, SSP and Q.

Source: A. Moffat, "Computing Maximized Effectiveness Distance for Recall-Based Metrics", §3 and §5.
"""

from __future__ import annotations

import heapq
import itertools
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from ..data.arrays import FloatArray, IntArray
from ..tolerances import PROVED
from .ap_relaxation import Mixture, Quadratic, Relaxation, sum_of_precisions
from .model import Clock

Norm: TypeAlias = Literal["k", "R", "min"]

#: The label of an open document.
OPEN = -1

#: How many prices are tried on one number of relevant documents before the search branches.
ATTEMPTS = 12


class BranchAndBound(ABC):
    """A search over labelings, ``best`` so far: the part with the largest bound first; of two, the older."""

    difference: float  #: M(Y) - M(Z) of the best labeling

    def __init__(self, y: IntArray, z: IntArray, label: IntArray, tolerance: float) -> None:
        self._y, self._z, self._tolerance = y, z, tolerance
        self._nodes: list[tuple[float, int, Any]] = []
        self._age = itertools.count()
        self.best = labeled(label, [])

    @property
    def value(self) -> float:
        """The largest difference so far."""
        return self._size(self.difference)

    def _size(self, difference: float) -> float:
        """What is to be as large as can be."""
        return abs(difference)

    @property
    def upper(self) -> float:
        """No labeling exceeds this."""
        return max(self.value, -self._nodes[0][0] if self._nodes else self.value)

    def run(self, clock: Clock) -> None:
        """Search until the value is proved to be the largest, or the time is up."""
        while self.upper > self.value + self._tolerance and not clock.expired():
            bound, _, node = heapq.heappop(self._nodes)
            self._explore(node, -bound, clock)

    @abstractmethod
    def _explore(self, node: Any, bound: float, clock: Clock) -> None:
        """Bound the difference in a part of the search; branch where that does not prove enough."""

    @abstractmethod
    def _difference(self, labels: IntArray) -> float:
        """M(Y) - M(Z), from the definition."""

    def _leave(self, node: Any, bound: float) -> None:
        """Leave a part for later."""
        heapq.heappush(self._nodes, (-bound, next(self._age), node))

    def _consider(self, label: IntArray, relevant: npt.ArrayLike) -> None:
        """Keep this labeling if it is better."""
        labels = labeled(label, relevant)
        difference = self._difference(labels)
        if self._size(difference) > self.value + self._tolerance:
            self.best, self.difference = labels, difference


class Node(NamedTuple):
    """A part of the search: some open documents are labeled."""

    winner: IntArray
    loser: IntArray
    label: IntArray
    bounds: FloatArray  #: on SP(winner) - SP(loser), by the number of relevant documents in the two lists
    quadratic: Quadratic | None = None  #: if it is known already; it is too large to be kept for every node


class Search(BranchAndBound):
    """From the greedy labeling on, over the number of relevant documents; arguments as for :func:`.med_sum_precision`.

    With ``outside`` it maximizes M(Y) - M(Z) for "R": that number of documents in neither ranking may be relevant.
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
        super().__init__(y, z, label, tolerance)
        self._cutoff = cutoff
        relevant = np.arange(other_relevant, other_relevant + len(label) + 1)
        self._normalizer = normalizers(norm, relevant, cutoff)
        # Whether one more relevant document adds 1 to N, or nothing.
        grows = (norm == "R") | ((norm == "min") & (relevant < cutoff))
        self._growth = np.ones(len(relevant), dtype=np.int64) * grows
        self._signed = outside is not None
        # N where the difference is below 0: everything outside is then best relevant.
        self._normalizer_below = self._normalizer + (outside or 0)
        self.difference = self._difference(self.best)
        for winner, loser in [(y, z)] if self._signed else [(y, z), (z, y)]:
            quadratic = Quadratic.of(winner, loser, label == 1, self._free(winner, label))
            self._greedy(label, quadratic)
            # No score, and so no difference, exceeds 1.
            self._push(Node(winner, loser, label, self._normalizer.astype(np.float64), quadratic))

    def _size(self, difference: float) -> float:
        return difference if self._signed else abs(difference)

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
        own, lost = open_documents(winner, label)
        return own if self.value >= 0 else np.append(own, lost)

    def _push(self, node: Node) -> None:
        """Leave a node for later."""
        self._leave(node, float(self._divided(node.bounds).max()))

    def _greedy(self, label: IntArray, quadratic: Quadratic) -> None:
        """Keep the best labeling that the greedy heuristic (Eq. 13) passes."""
        # Below 0 what costs less than the mean is a gain.
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
            # The last prices, though they were found for fewer documents, tell which may be among that many.
            share = relaxation.labels(table, aim) if aim < len(table) else np.zeros(len(free))
            mixture = Mixture(relaxation, share)
            for attempt in range(ATTEMPTS):
                if clock.expired():
                    return self._push(Node(winner, loser, label, all_bounds))
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
                doubt = most_in_doubt(winner, loser, free, mixture.share)
                for relevant in (0, 1):
                    labels = label.copy()
                    labels[free[doubt]] = relevant
                    self._push(Node(winner, loser, labels, all_bounds))
                return None
        return None

    def _decided(self, node: Node, bound: float) -> IntArray:
        """The labels, with those set that any labeling of the node above the value has, by its bounds of λ."""
        quadratic = node.quadratic
        if quadratic is None:
            free = self._free(node.winner, node.label)
            quadratic = Quadratic.of(node.winner, node.loser, node.label == 1, free)
        known = int((node.label == 1).sum())
        growth = self._growth[known : known + len(quadratic.free)]
        least, most = self.value * growth.min(initial=1), bound * growth.max(initial=0)
        zeros, ones = quadratic.decided(float(least), float(most))
        label = node.label.copy()
        label[quadratic.free[zeros]], label[quadratic.free[ones]] = 0, 1
        return label

    def _difference(self, labels: IntArray) -> float:
        relevant = labels == 1
        difference = sum_of_precisions(self._y[relevant]) - sum_of_precisions(self._z[relevant])
        normalizer = self._normalizer_below if difference < 0 and self._signed else self._normalizer
        return float(difference / normalizer[np.count_nonzero(relevant)])


def normalizers(norm: Norm, relevant: IntArray, cutoff: int) -> IntArray:
    """N for these numbers R of relevant documents. Where R is 0 so is SP, and 0/1 is the 0 that 0/0 stands for."""
    if norm == "k":
        return np.full(len(relevant), cutoff)
    return relevant.clip(1, cutoff if norm == "min" else None)


def open_documents(winner: IntArray, label: IntArray) -> tuple[IntArray, IntArray]:
    """The open documents that the winner holds, in its order, and those that it does not."""
    own = np.flatnonzero((label == OPEN) & (winner > 0))
    in_order: IntArray = own[winner[own].argsort()]
    return in_order, np.flatnonzero((label == OPEN) & (winner == 0))


def labeled(label: IntArray, relevant: npt.ArrayLike) -> IntArray:
    """The labels with the documents `relevant` set to 1 and all other open ones to 0."""
    labels = np.where(label == OPEN, 0, label)
    labels[np.asarray(relevant, dtype=np.int64)] = 1
    return labels


def most_in_doubt(winner: IntArray, loser: IntArray, free: IntArray, share: FloatArray) -> int:
    """Which of the free documents is most in doubt; of two, the one that the winner ranks higher counts more."""
    place = np.where(winner > 0, winner, np.maximum(loser, 1))[free]
    return int(((share * (1 - share) + 1e-9) / np.sqrt(place)).argmax())


@dataclass
class Part:
    """The labelings that agree on some labels, for one ranking as the winner; arguments as for `Relaxation`."""

    winner: IntArray
    loser: IntArray
    label: IntArray
    free: IntArray
    cutoff: int
    share: FloatArray  #: how often each free document was relevant when last averaged: where a search for prices begins

    def __post_init__(self) -> None:
        self.known = int((self.label == 1).sum())
        self.relaxation = Relaxation(self.winner, self.loser, self.label, self.free, self.cutoff)


class BlendedSearch(BranchAndBound):
    """Q-measure: from AP's greedy labeling on; a node is a part and the number of relevant documents in it.

    With C(i) the number of relevant documents in the first i, binary gains and the ideal cg*(i) = min(i, R)::

        Q@k = (1/N) Σ_{i ≤ k, relevant} (1 + β) C(i) / (i + β cg*(i)) = (1/N) Σ_{{d, e} relevant} w_R(max(y_d, y_e)),
        w_R(i) = (1 + β) / (i + β min(i, R)).

    AP has w(i) = 1/i. For one R, w_R falls as well, so that the bounds of :class:`Relaxation` hold with it.
    """

    def __init__(
        self,
        y: IntArray,
        z: IntArray,
        label: IntArray,
        cutoff: int,
        norm: Norm,
        beta: float,
        other_relevant: int,
    ) -> None:
        super().__init__(y, z, label, PROVED)
        self._cutoff = cutoff
        # By the number of relevant documents in the two lists: N, and w_R.
        relevant = np.arange(other_relevant, other_relevant + len(label) + 1)
        self._normalizer = normalizers(norm, relevant, cutoff)
        i = np.arange(1, cutoff + 1)
        self._worth = (1 + beta) / (i + beta * np.minimum(i, np.maximum(relevant, 1)[:, None]))
        self.best = Search(y, z, label, cutoff, norm, other_relevant).best
        self.difference = self._difference(self.best)
        for winner, loser in ((y, z), (z, y)):
            # From R = k on w_R is 1/i, so that what the loser alone holds is better not relevant. Below, it may lower
            # the worth of the depths at which the loser is ahead.
            free, lost = open_documents(winner, label)
            every, own = (
                Part(winner, loser, label, docs, cutoff, np.zeros(len(docs)))
                for docs in (np.append(free, lost), free)
            )
            for count in range(len(every.free) + 1):
                part = every if relevant[every.known + count] <= cutoff else own
                if count <= len(part.free):
                    found = part.relaxation.weighing(self._worth[part.known + count]).ceiling(count)
                    self._push(part, count, found)

    def _push(self, part: Part, count: int, bound: float) -> None:
        """Leave a node for later: `count` of the part's free documents are relevant."""
        bound = bound / float(self._normalizer[part.known + count])
        if bound > self.value + self._tolerance:
            self._leave((part, count), min(bound, 1.0))

    def _explore(self, node: tuple[Part, int], bound: float, clock: Clock) -> None:
        """Bound the difference; branch where no prices prove enough."""
        part, count = node
        if count in (0, len(part.free)):
            return self._consider(part.label, part.free[:count])
        relevant = part.known + count
        relaxation = part.relaxation.weighing(self._worth[relevant])
        bound *= float(self._normalizer[relevant])
        mixture = Mixture(relaxation, part.share)
        for attempt in range(ATTEMPTS):
            if clock.expired():
                return self._push(part, count, bound)
            found, table = relaxation.bounds(mixture.price, count)
            bound = min(bound, float(found[count]))
            labels = relaxation.labels(table, count)
            self._consider(part.label, part.free[labels > 0])
            if bound <= (self.value + self._tolerance) * self._normalizer[relevant]:
                part.share = mixture.share
                return None
            if attempt:
                mixture.add(labels)
            else:  # it began with a guess
                mixture = Mixture(relaxation, labels)
        part.share = mixture.share
        doubt = most_in_doubt(part.winner, part.loser, part.free, mixture.share)
        rest, share = np.delete(part.free, doubt), np.delete(mixture.share, doubt)
        for one in (0, 1):
            label = part.label.copy()
            label[part.free[doubt]] = one
            self._push(Part(part.winner, part.loser, label, rest, self._cutoff, share), count - one, bound)
        return None

    def _difference(self, labels: IntArray) -> float:
        relevant = labels == 1
        count = np.count_nonzero(relevant)
        won, lost = (sum_of_precisions(p[relevant], worth=self._worth[count]) for p in (self._y, self._z))
        return (won - lost) / float(self._normalizer[count])
