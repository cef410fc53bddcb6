"""MED for average precision and its relatives: A. Moffat, "Computing Maximized Effectiveness Distance for
Recall-Based Metrics", §3 and §5.

With y_d the position of document d in ranking Y, and 1/y_d = 0 where it is absent, the sum of precisions is::

    SP@k(Y) = Σ_{d relevant} |{e relevant: y_e ≤ y_d}| / y_d = Σ_{{d, e} relevant} 1/max(y_d, y_e),

the pairs {d, d} included. So SP(Y) - SP(Z) is a quadratic function of the 0/1 labels. `Search` maximizes its ratio
to the normalizer, with the bounds of `relaxation`.
"""

from __future__ import annotations

import heapq
import itertools
from typing import Literal, NamedTuple, get_args

import numpy as np
import numpy.typing as npt

from .relaxation import Mixture, Relaxation
from .solution import OPEN, TOLERANCE, Clock, FloatArray, IntArray, Solution, checked_rankings

Norm = Literal["k", "R", "min"]

ATTEMPTS = 12
"""So many prices are tried on one number of relevant documents before the search branches."""


def med_sum_precision(
    y: npt.ArrayLike,
    z: npt.ArrayLike,
    label: npt.ArrayLike,
    *,
    cutoff: int,
    norm: Norm,
    other_relevant: int = 0,
    time_limit: float | None = 10.0,
) -> Solution:
    """The largest ``|M(Y) - M(Z)|`` over all labelings of the open documents, M = SP@k / N.

    N is k for ``norm="k"`` (SSP, Eq. 10), the number of relevant documents R for "R" (AP, Eq. 8), min(k, R)
    for "min" (AP, Eq. 9); 0/0 is 0. From the greedy labeling on, branch and bound improves the value and proves
    that no number of relevant documents allows a larger one.

    Args:
        y: shape (documents,), the position from 1 in ranking Y of every document of the two top-k lists, 0 if
            absent.
        z: the same for ranking Z.
        label: shape (documents,), -1 open, 0 not relevant, 1 relevant.
        cutoff: k; later positions count as absent.
        norm: what SP is divided by.
        other_relevant: number of relevant documents that are in neither list; they count in R.
        time_limit: seconds of CPU time, None for no limit; looked at between the steps of the search.

    Returns:
        The solution, its value in [0, 1]. When time runs out, `lower` and `upper` enclose the maximum.

    Raises:
        ValueError: for input that is not as described.
    """
    clock = Clock(time_limit)
    return Search(*_checked(y, z, label, cutoff, norm, other_relevant), cutoff, norm, other_relevant).run(
        clock
    )


def greedy_sum_precision(
    y: npt.ArrayLike,
    z: npt.ArrayLike,
    label: npt.ArrayLike,
    *,
    cutoff: int,
    norm: Norm,
    other_relevant: int = 0,
) -> Solution:
    """A lower bound on `med_sum_precision`, by the paper's greedy heuristic (§5, Eq. 13).

    For either ranking as the winner: the open document that would add most to SP(winner) - SP(loser) becomes
    relevant, the weights of the others are computed anew, and so on while a document adds anything. The best
    difference M(winner) - M(loser) on the way counts. Ties go to the document that the winner ranks higher.

    Args, Raises: as in `med_sum_precision`.

    Returns:
        The solution, its value in [0, 1] and, as for every AP and SSP, `upper` = 1.
    """
    search = Search(*_checked(y, z, label, cutoff, norm, other_relevant), cutoff, norm, other_relevant)
    return Solution.of(search.difference, 1.0, search.best)


def _checked(
    y: npt.ArrayLike, z: npt.ArrayLike, label: npt.ArrayLike, cutoff: int, norm: str, other_relevant: int
) -> tuple[IntArray, IntArray, IntArray]:
    if norm not in get_args(Norm):
        raise ValueError(f"norm must be one of {', '.join(map(repr, get_args(Norm)))}, got {norm!r}")
    if other_relevant < 0:
        raise ValueError(f"other_relevant must not be negative, got {other_relevant}")
    return checked_rankings(y, z, label, top_label=1, cutoff=cutoff)


class Quadratic(NamedTuple):
    """SP(winner) - SP(loser) as constant + linear·x + ½ xᵀ pairs x, x the labels of the documents `free`.

    Those are the open documents of the winner, in its order. An open document that only the loser holds has no
    positive coefficient, so leaving it not relevant loses nothing.
    """

    constant: float
    linear: FloatArray
    pairs: FloatArray  #: symmetric, 0 on the diagonal
    free: IntArray

    @classmethod
    def of(cls, winner: IntArray, loser: IntArray, label: IntArray) -> Quadratic:
        """The function for rankings of which some documents are labeled."""
        won, lost = (np.divide(1.0, p, out=np.zeros(len(p)), where=p > 0) for p in (winner, loser))
        free = open_documents(winner, label)
        judged = np.flatnonzero(label == 1)
        # 1/max(a, b) = min(1/a, 1/b), which is 0 as it should be if one of the two is absent.
        constant = _sum_precision(winner[judged]) - _sum_precision(loser[judged])
        with_judged = np.minimum.outer(won[free], won[judged]) - np.minimum.outer(lost[free], lost[judged])
        linear = won[free] - lost[free] + with_judged.sum(axis=1)
        pairs = np.minimum.outer(won[free], won[free]) - np.minimum.outer(lost[free], lost[free])
        np.fill_diagonal(pairs, 0.0)
        return cls(constant, linear, pairs, free)

    def decided(self, label: IntArray, least: float, most: float) -> IntArray:
        """The labels with those of documents set that are better relevant, or not, whatever the others are.

        Args:
            least, most: what one more relevant document costs, at least and at most.
        """
        label, linear = label.copy(), self.linear.copy()
        gains = np.maximum(self.pairs, 0).sum(axis=1)
        losses = self.pairs.sum(axis=1) - gains
        undecided = np.ones(len(self.free), dtype=bool)
        while True:
            zeros = undecided & (linear + gains <= least)
            ones = undecided & ~zeros & (linear + losses >= most)
            done = zeros | ones
            if not done.any():
                return label
            label[self.free[zeros]], label[self.free[ones]] = 0, 1
            undecided &= ~done
            pairs = self.pairs[:, done]
            gain = np.maximum(pairs, 0).sum(axis=1)
            gains -= gain
            losses -= pairs.sum(axis=1) - gain
            linear += self.pairs[:, ones].sum(axis=1)


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

    Attributes:
        best: the best labeling so far.
        difference: its M(Y) - M(Z).
    """

    def __init__(
        self, y: IntArray, z: IntArray, label: IntArray, cutoff: int, norm: Norm, other_relevant: int
    ) -> None:
        self._y, self._z, self._cutoff = y, z, cutoff
        relevant = np.arange(other_relevant, other_relevant + len(label) + 1)
        # N by the number of relevant documents in the two lists. Where R is 0 so is SP, and 0/1 is the 0 that 0/0
        # stands for.
        self._normalizer = {
            "k": np.full(len(relevant), cutoff),
            "R": np.maximum(relevant, 1),
            "min": relevant.clip(1, cutoff),
        }[norm]
        # Whether one more relevant document adds 1 to N, or nothing.
        self._growth = {
            "k": np.zeros(len(relevant), dtype=np.int64),
            "R": np.ones(len(relevant), dtype=np.int64),
            "min": (relevant < cutoff).astype(np.int64),
        }[norm]
        self._nodes: list[Node] = []
        self._age = itertools.count()
        self.best = _labeled(label, [])
        self.difference = self._difference(self.best)
        for winner, loser in ((y, z), (z, y)):
            quadratic = Quadratic.of(winner, loser, label)
            self._greedy(label, quadratic)
            # No score, and so no difference, exceeds 1.
            self._push(winner, loser, label, self._normalizer.astype(np.float64), quadratic)

    @property
    def value(self) -> float:
        """The largest difference so far."""
        return abs(self.difference)

    @property
    def upper(self) -> float:
        """No labeling exceeds this."""
        return max(self.value, -self._nodes[0].priority[0] if self._nodes else 0.0)

    def run(self, clock: Clock) -> Solution:
        """Search until the value is proved to be the largest, or the time is up."""
        while self.upper > self.value + TOLERANCE and not clock.expired():
            self._explore(heapq.heappop(self._nodes), clock)
        return Solution.of(self.difference, self.upper, self.best)

    def _push(
        self,
        winner: IntArray,
        loser: IntArray,
        label: IntArray,
        bounds: FloatArray,
        quadratic: Quadratic | None = None,
    ) -> None:
        """Leave a node for later."""
        priority = -float((bounds / self._normalizer).max()), next(self._age)
        heapq.heappush(self._nodes, Node(priority, winner, loser, label, bounds, quadratic))

    def _greedy(self, label: IntArray, quadratic: Quadratic) -> None:
        """Keep the best labeling that the greedy heuristic passes."""
        gain = quadratic.linear.copy()
        chosen: list[int] = []
        gains = [quadratic.constant]
        while len(chosen) < len(gain):
            # The weight of Eq. 13 in the winner less that in the loser, given what is relevant by now.
            # Rounding must neither make a gain of nothing nor decide between equal ones.
            document = int((gain >= gain.max() - TOLERANCE).argmax())
            if gain[document] <= TOLERANCE:
                break
            chosen.append(document)
            gains.append(gain[document])
            gain += quadratic.pairs[document]
            gain[document] = -np.inf
        if chosen:
            first = int((label == 1).sum()) + 1
            values = np.cumsum(gains)[1:] / self._normalizer[first : first + len(chosen)]
            if values.max() > self.value:
                self.best = _labeled(label, quadratic.free[chosen[: int(values.argmax()) + 1]])
                self.difference = self._difference(self.best)

    def _explore(self, node: Node, clock: Clock) -> None:
        """Bound the difference for every number of relevant documents; branch where no prices prove enough."""
        winner, loser = node.winner, node.loser
        label = self._decided(node)
        free = open_documents(winner, label)
        if not len(free):
            return self._consider(label, [])
        relaxation = Relaxation(winner, loser, label, free, self._cutoff)
        known = int((label == 1).sum())
        reachable = slice(known, known + len(free) + 1)
        normalizer = self._normalizer[reachable]
        all_bounds = np.full(len(node.bounds), -np.inf)
        all_bounds[reachable] = node.bounds[reachable]
        bounds = all_bounds[reachable]  # a view
        table = np.empty((0, 0))
        while (unproved := bounds > (self.value + TOLERANCE) * normalizer).any():
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
                if bounds[aim] <= (self.value + TOLERANCE) * normalizer[aim]:
                    break
                if attempt:
                    mixture.add(share)
                else:  # it began with a guess
                    mixture = Mixture(relaxation, share)
            else:
                # The document most in doubt; of two, the one that the winner ranks higher counts more.
                doubt = (mixture.share * (1 - mixture.share) + 1e-9) / np.sqrt(winner[free])
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
        where it increases N. λ is above the value and within the bound of the node.
        """
        quadratic = node.quadratic or Quadratic.of(node.winner, node.loser, node.label)
        known = int((node.label == 1).sum())
        growth = self._growth[known : known + len(quadratic.free)]
        least, most = self.value * growth.min(initial=1), -node.priority[0] * growth.max(initial=0)
        return quadratic.decided(node.label, float(least), float(most))

    def _consider(self, label: IntArray, relevant: npt.ArrayLike) -> None:
        """Keep this labeling if it is better."""
        labels = _labeled(label, relevant)
        difference = self._difference(labels)
        if abs(difference) > self.value + TOLERANCE:
            self.best, self.difference = labels, difference

    def _difference(self, labels: IntArray) -> float:
        """M(Y) - M(Z), from the definition."""
        relevant = labels == 1
        normalizer = self._normalizer[np.count_nonzero(relevant)]
        return float((_sum_precision(self._y[relevant]) - _sum_precision(self._z[relevant])) / normalizer)


def open_documents(winner: IntArray, label: IntArray) -> IntArray:
    """The open documents that the winner holds, in its order."""
    free = np.flatnonzero((label == OPEN) & (winner > 0))
    return free[winner[free].argsort()]


def _labeled(label: IntArray, relevant: npt.ArrayLike) -> IntArray:
    """The labels with the documents `relevant` set to 1 and all other open ones to 0."""
    labels = np.where(label == OPEN, 0, label)
    labels[np.asarray(relevant, dtype=np.int64)] = 1
    return labels


def _sum_precision(positions: IntArray) -> float:
    """SP of a ranking with its relevant documents at these positions, 0 for the absent ones."""
    retrieved = np.sort(positions[positions > 0])
    return float((np.arange(1, len(retrieved) + 1) / retrieved).sum())
