"""MED for average precision and its relatives: A. Moffat, "Computing Maximized Effectiveness Distance for
Recall-Based Metrics", §3 and §5.

With y_d the position of document d in ranking Y, and 1/y_d = 0 where it is absent, the sum of precisions is::

    SP@k(Y) = Σ_{d relevant} |{e relevant: y_e ≤ y_d}| / y_d = Σ_{{d, e} relevant} 1/max(y_d, y_e),

the pairs {d, d} included. So SP(Y) - SP(Z) is a quadratic function of the 0/1 labels: documents that are
judged relevant fold into its linear part, and `quadratic.improve` searches for its maxima.
"""

from __future__ import annotations

import heapq
import itertools
import time
from typing import Literal, NamedTuple, get_args

import numpy as np
import numpy.typing as npt

from .relaxation import Mixture, Relaxation
from .solution import OPEN, TOLERANCE, FloatArray, IntArray, Solution, checked_rankings, deadline_after

Norm = Literal["k", "R", "min"]

ATTEMPTS = 30
"""So many prices are tried for one number of relevant documents, before the search branches."""


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
    for "min" (AP, Eq. 9); 0/0 is 0. Dinkelbach's method: with λ the best value so far, a labeling is better
    if and only if SP(Y) - SP(Z) - λN > 0 for it. Branch and bound either finds such a labeling, which gives
    the next λ, or proves that there is none.

    Args:
        y: shape (documents,), the position from 1 in ranking Y of every document of the two top-k lists, 0 if
            absent.
        z: the same for ranking Z.
        label: shape (documents,), -1 open, 0 not relevant, 1 relevant.
        cutoff: k; later positions count as absent.
        norm: what SP is divided by.
        other_relevant: number of relevant documents that are in neither list; they count in R.
        time_limit: seconds, None for no limit; looked at between the steps of the search.

    Returns:
        The solution, its value in [0, 1]. When time runs out, `lower` and `upper` enclose the maximum.

    Raises:
        ValueError: for input that is not as described.
    """
    deadline = deadline_after(time_limit)
    y, z, label = _checked(y, z, label, cutoff, norm, other_relevant)
    return _Search(y, z, label, cutoff, norm, other_relevant).run(deadline)


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
    y, z, label = _checked(y, z, label, cutoff, norm, other_relevant)
    best, difference = _greedy(y, z, label, cutoff, norm, other_relevant)
    return Solution.of(difference, 1.0, best)


class _Node(NamedTuple):
    """A part of the search: some open documents are labeled. Nodes are ordered by their bound, then by age."""

    priority: tuple[float, int]
    winner: IntArray
    loser: IntArray
    label: IntArray
    bounds: FloatArray  #: on SP(winner) - SP(loser), by the number of relevant documents in the two lists


class _Search:
    """Branch and bound, the node with the largest bound first."""

    def __init__(
        self, y: IntArray, z: IntArray, label: IntArray, cutoff: int, norm: Norm, other_relevant: int
    ) -> None:
        self.problem = y, z, label
        self.norm: Norm = norm
        self.cutoff = cutoff
        self.other_relevant = other_relevant
        counts = range(other_relevant, other_relevant + len(label) + 1)
        self.normalizer = np.array([_normalizer(norm, cutoff, r) for r in counts], dtype=np.float64)
        self.best, self.difference = _greedy(y, z, label, cutoff, norm, other_relevant)
        self.nodes: list[_Node] = []
        self.age = itertools.count()

    @property
    def value(self) -> float:
        """The largest difference so far."""
        return abs(self.difference)

    @property
    def upper(self) -> float:
        """No labeling exceeds this."""
        return max(self.value, -self.nodes[0].priority[0] if self.nodes else 0.0)

    def run(self, deadline: float) -> Solution:
        """Search until the value is proved to be the largest, or the time is up."""
        y, z, label = self.problem
        for winner, loser in ((y, z), (z, y)):
            self.push(winner, loser, label, self.normalizer)  # a score is at most 1, so is a difference
        while self.upper > self.value + TOLERANCE and time.thread_time() < deadline:
            self.explore(heapq.heappop(self.nodes), deadline)
        return Solution.of(self.difference, self.upper, self.best)

    def push(self, winner: IntArray, loser: IntArray, label: IntArray, bounds: FloatArray) -> None:
        """Leave a node for later."""
        priority = -float((bounds / self.normalizer).max()), next(self.age)
        heapq.heappush(self.nodes, _Node(priority, winner, loser, label, bounds))

    def explore(self, node: _Node, deadline: float) -> None:
        """Bound the numbers of relevant documents that can be better than the best; branch where that fails."""
        winner, loser = node.winner, node.loser
        label = self.decided(winner, loser, node.label)
        relaxation = Relaxation(winner, loser, label, self.cutoff)
        counts = relaxation.relevant + np.arange(len(relaxation.free) + 1)
        bounds = np.full(len(node.bounds), -np.inf)
        bounds[counts] = node.bounds[counts]
        table = np.empty((0, 0))
        while (unproved := bounds[counts] > (self.value + TOLERANCE) * self.normalizer[counts]).any():
            # The first run of counts without a proof. Prices that suit one count prove those from about a third
            # of it to three times as many, so it is best to aim beyond the first.
            least = int(unproved.argmax())
            proved = np.flatnonzero(~unproved[least:])
            most = least + int(proved[0]) - 1 if len(proved) else len(relaxation.free)
            aim = min(max(2 * least, 1), most)
            # The last prices, though they were chosen for fewer documents, tell which so many may be.
            labels = relaxation.labels(table, aim) if aim < len(table) else np.zeros(len(relaxation.free))
            price = relaxation.lost(labels) + 0.5
            mixture = None
            for _ in range(ATTEMPTS):
                if time.thread_time() >= deadline:
                    return self.push(winner, loser, label, bounds)
                found, table = relaxation.bounds(price, most)
                some = counts[: most + 1]
                bounds[some] = np.minimum(bounds[some], found)
                labels = relaxation.labels(table, aim)
                self.consider(label, relaxation.free[labels > 0])
                if bounds[counts[aim]] <= (self.value + TOLERANCE) * self.normalizer[counts[aim]]:
                    break
                if mixture is None:
                    mixture = Mixture(relaxation, labels)
                else:
                    mixture.add(labels)
                price = mixture.price
            else:
                assert mixture is not None
                return self.branch(node, label, relaxation, mixture.share, bounds)

    def decided(self, winner: IntArray, loser: IntArray, label: IntArray) -> IntArray:
        """The labels with those of documents set that are better relevant, or not, whatever the others are.

        Better means SP(winner) - SP(loser) - λN, which is positive for a labeling with a ratio above λ alone. One
        more relevant document adds its linear part, its pairs with others that are relevant, and -λ or nothing.
        """
        _, linear, pairs, free = _quadratic(winner, loser, label)
        relevant = int((label == 1).sum()) + self.other_relevant
        grows = np.array([{"k": False, "R": True, "min": n < self.cutoff}[self.norm] for n in (relevant, relevant + len(free) - 1)])
        dearest, cheapest = self.value * grows
        gains = np.maximum(pairs, 0).sum(axis=1)
        losses = pairs.sum(axis=1) - gains
        label, undecided = label.copy(), np.ones(len(free), dtype=bool)
        while True:
            zeros = undecided & (linear + gains <= cheapest)
            ones = undecided & ~zeros & (linear + losses >= dearest)
            done = zeros | ones
            if not done.any():
                return label
            label[free[zeros]], label[free[ones]] = 0, 1
            undecided &= ~done
            linear += pairs[:, ones].sum(axis=1)
            gain = np.maximum(pairs[:, done], 0).sum(axis=1)
            gains -= gain
            losses -= pairs[:, done].sum(axis=1) - gain

    def consider(self, label: IntArray, relevant: IntArray) -> None:
        """Keep this labeling if it is the best so far."""
        y, z, _ = self.problem
        labels = _labeled(label, relevant)
        difference = _difference(y, z, labels, self.cutoff, self.norm, self.other_relevant)
        if abs(difference) > self.value + TOLERANCE:
            self.best, self.difference = labels, difference

    def branch(
        self, node: _Node, label: IntArray, relaxation: Relaxation, share: FloatArray, bounds: FloatArray
    ) -> None:
        """Label the document that is most in doubt; of two, that which the winner ranks higher counts more."""
        doubt = (share * (1 - share) + 1e-9) / np.sqrt(node.winner[relaxation.free])
        document = relaxation.free[doubt.argmax()]
        for relevant in (0, 1):
            labels = label.copy()
            labels[document] = relevant
            self.push(node.winner, node.loser, labels, bounds)


def _checked(
    y: npt.ArrayLike, z: npt.ArrayLike, label: npt.ArrayLike, cutoff: int, norm: str, other_relevant: int
) -> tuple[IntArray, IntArray, IntArray]:
    if norm not in get_args(Norm):
        raise ValueError(f"norm must be one of {', '.join(map(repr, get_args(Norm)))}, got {norm!r}")
    if other_relevant < 0:
        raise ValueError(f"other_relevant must not be negative, got {other_relevant}")
    return checked_rankings(y, z, label, top_label=1, cutoff=cutoff)


def _quadratic(
    winner: IntArray, loser: IntArray, label: IntArray
) -> tuple[float, FloatArray, FloatArray, IntArray]:
    """SP(winner) - SP(loser) as constant + linear·x + ½ xᵀ pairs x, x the labels of the documents `free`.

    Those are the open documents of the winner, in its order. An open document that only the loser holds has
    no positive coefficient, so leaving it not relevant loses nothing.
    """
    won, lost = (np.divide(1.0, p, out=np.zeros(len(p)), where=p > 0) for p in (winner, loser))
    free = np.flatnonzero((label == OPEN) & (winner > 0))
    free = free[winner[free].argsort()]
    judged = np.flatnonzero(label == 1)
    # 1/max(a, b) = min(1/a, 1/b), which is 0 as it should be if one of the two is absent.
    constant = _sum_precision(winner[judged]) - _sum_precision(loser[judged])
    with_judged = np.minimum.outer(won[free], won[judged]) - np.minimum.outer(lost[free], lost[judged])
    linear = won[free] - lost[free] + with_judged.sum(axis=1)
    pairs = np.minimum.outer(won[free], won[free]) - np.minimum.outer(lost[free], lost[free])
    np.fill_diagonal(pairs, 0.0)
    return constant, linear, pairs, free


def _greedy(
    y: IntArray, z: IntArray, label: IntArray, cutoff: int, norm: Norm, other_relevant: int
) -> tuple[IntArray, float]:
    """The best labeling that the greedy heuristic passes, and its M(Y) - M(Z)."""
    best = _labeled(label, np.empty(0, dtype=np.int64))
    difference = _difference(y, z, best, cutoff, norm, other_relevant)
    relevant = int((label == 1).sum()) + other_relevant
    for winner, loser in ((y, z), (z, y)):
        numerator, gain, pairs, free = _quadratic(winner, loser, label)
        chosen: list[int] = []
        values: list[float] = []
        while len(chosen) < len(free):
            # The weight of Eq. 13 in the winner less that in the loser, given what is relevant by now.
            # Rounding must neither make a gain of nothing nor decide between equal ones.
            document = int((gain >= gain.max() - TOLERANCE).argmax())
            if gain[document] <= TOLERANCE:
                break
            numerator += gain[document]
            gain += pairs[document]
            gain[document] = -np.inf
            chosen.append(document)
            values.append(numerator / _normalizer(norm, cutoff, relevant + len(chosen)))
        if values and max(values) > abs(difference):
            best = _labeled(label, free[chosen[: int(np.argmax(values)) + 1]])
            difference = _difference(y, z, best, cutoff, norm, other_relevant)
    return best, difference


def _labeled(label: IntArray, relevant: IntArray) -> IntArray:
    """The labels with the documents `relevant` set to 1 and all other open ones to 0."""
    labels = np.where(label == OPEN, 0, label)
    labels[relevant] = 1
    return labels


def _difference(
    y: IntArray, z: IntArray, labels: IntArray, cutoff: int, norm: Norm, other_relevant: int
) -> float:
    """M(Y) - M(Z), from the definition."""
    relevant = labels == 1
    normalizer = _normalizer(norm, cutoff, int(relevant.sum()) + other_relevant)
    return (_sum_precision(y[relevant]) - _sum_precision(z[relevant])) / normalizer


def _normalizer(norm: Norm, cutoff: int, relevant: int) -> int:
    # Where R is 0 so is SP, and 0/1 is the 0 that 0/0 stands for.
    return {"k": cutoff, "R": max(relevant, 1), "min": max(min(cutoff, relevant), 1)}[norm]


def _sum_precision(positions: IntArray) -> float:
    """SP of a ranking with its relevant documents at these positions, 0 for the absent ones."""
    retrieved = np.sort(positions[positions > 0])
    return float((np.arange(1, len(retrieved) + 1) / retrieved).sum())
