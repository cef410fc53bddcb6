"""MED for Q-measure, which A. Moffat, "Computing Maximized Effectiveness Distance for Recall-Based Metrics", §5, leaves
open.

With C(i) the number of relevant documents in the first i, binary gains and the ideal cg*(i) = min(i, R)::

    Q@k = (1/N) Σ_{i ≤ k, relevant} (C(i) + β C(i)) / (i + β min(i, R)) = (1/N) Σ_{{d, e} relevant} w_R(max(y_d, y_e)),
    w_R(i) = (1 + β) / (i + β min(i, R)).

AP is the same with w(i) = 1/i, and so is Q for β = 0. For one number R, w_R is a falling sequence like any other, and
the bounds of `relaxation` hold with it. So there is a search a number, all from the same best labeling on, and the
number with the largest bound goes first; most are never looked at.
"""

from __future__ import annotations

import heapq
import itertools

import numpy as np
import numpy.typing as npt

from .relaxation import Mixture, Relaxation
from .search import ATTEMPTS, Norm, Search, labeled, normalizers, open_documents
from .solution import OPEN, TOLERANCE, Clock, FloatArray, IntArray, Solution
from .sum_precision import checked


def med_blended(
    y: npt.ArrayLike,
    z: npt.ArrayLike,
    label: npt.ArrayLike,
    *,
    cutoff: int,
    norm: Norm,
    beta: float,
    other_relevant: int = 0,
    time_limit: float | None = 10.0,
) -> Solution:
    """The largest ``|Q@k(Y) - Q@k(Z)|`` over all labelings of the open documents.

    Args:
        beta: how much the gains count, from 0 (AP) up.

    The other arguments, what is returned and what is raised: as for `med_sum_precision`. Open documents are those of
    the two lists: what neither holds is relevant only if it is judged so.
    """
    clock = Clock(time_limit)
    if not 0 <= beta < np.inf:
        raise ValueError(f"beta must be a number from 0 up, got {beta}")
    search = Blended(
        *checked(y, z, label, cutoff, norm, other_relevant), cutoff, norm, float(beta), other_relevant
    )
    search.run(clock)
    return Solution.of(search.difference, search.upper, search.best)


class Part:
    """The labelings that agree on some labels, for one ranking as the winner.

    Attributes:
        label: what they agree on, the others open.
        free: those that may be relevant, in the order that `Relaxation` wants.
        relaxation: the bounds on them.
        share: how often each free document was relevant when last averaged: where the next search for prices begins.
    """

    def __init__(
        self,
        winner: IntArray,
        loser: IntArray,
        label: IntArray,
        free: IntArray,
        cutoff: int,
        share: FloatArray | None = None,
    ) -> None:
        self.winner, self.loser, self.label, self.free = winner, loser, label, free
        self.known = int((label == 1).sum())
        self.relaxation = Relaxation(winner, loser, label, free, cutoff)
        self.share = np.zeros(len(free)) if share is None else share


class Blended:
    """Branch and bound from AP's greedy labeling on; a node is a part and the number of relevant documents in it.

    Args:
        y, z, label, cutoff, norm, other_relevant: as for `Search`.
        beta: β.

    Attributes:
        best: the best labeling so far.
        difference: its Q(Y) - Q(Z).
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
        self._y, self._z, self._cutoff = y, z, cutoff
        # By the number of relevant documents in the two lists: N, and w_R.
        relevant = np.arange(other_relevant, other_relevant + len(label) + 1)
        self._normalizer = normalizers(norm, relevant, cutoff)
        i = np.arange(1, cutoff + 1)
        self._worth = (1 + beta) / (i + beta * np.minimum(i, np.maximum(relevant, 1)[:, None]))
        self._nodes: list[tuple[float, int, int, Part]] = []
        self._age = itertools.count()
        self.best = Search(y, z, label, cutoff, norm, other_relevant).best
        self.difference = self._difference(self.best)
        for winner, loser in ((y, z), (z, y)):
            free = open_documents(winner, label)
            # From R = k on w_R is 1/i, so that what the loser alone holds is better not relevant. Below, it may lower
            # the worth of the depths at which the loser is ahead.
            lost = np.flatnonzero((label == OPEN) & (winner == 0))
            every = Part(winner, loser, label, np.append(free, lost), cutoff)
            own = Part(winner, loser, label, free, cutoff)
            for count in range(len(every.free) + 1):
                part = every if relevant[every.known + count] <= cutoff else own
                if count <= len(part.free):
                    found = part.relaxation.weighing(self._worth[part.known + count]).ceiling(count)
                    self._push(part, count, found)

    @property
    def upper(self) -> float:
        """No labeling exceeds this."""
        value = abs(self.difference)
        return max(value, -self._nodes[0][0] if self._nodes else value)

    def run(self, clock: Clock) -> None:
        """Search until the value is proved to be the largest, or the time is up."""
        while self._nodes and self.upper > abs(self.difference) + TOLERANCE and not clock.expired():
            bound, _, count, part = heapq.heappop(self._nodes)
            self._explore(part, count, -bound, clock)

    def _push(self, part: Part, count: int, bound: float) -> None:
        """Leave a node for later: `count` of the part's free documents are relevant."""
        bound = bound / float(self._normalizer[part.known + count])
        if bound > abs(self.difference) + TOLERANCE:
            heapq.heappush(self._nodes, (-min(bound, 1.0), next(self._age), count, part))

    def _explore(self, part: Part, count: int, bound: float, clock: Clock) -> None:
        """Bound the difference; branch where no prices prove enough."""
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
            if bound <= (abs(self.difference) + TOLERANCE) * self._normalizer[relevant]:
                part.share = mixture.share
                return None
            if attempt:
                mixture.add(labels)
            else:  # it began with a guess
                mixture = Mixture(relaxation, labels)
        part.share = mixture.share
        # The document most in doubt; of two, the one that the winner ranks higher counts more.
        place = np.where(part.winner > 0, part.winner, np.maximum(part.loser, 1))[part.free]
        doubt = ((mixture.share * (1 - mixture.share) + 1e-9) / np.sqrt(place)).argmax()
        rest, share = np.delete(part.free, doubt), np.delete(mixture.share, doubt)
        for one in (0, 1):
            label = part.label.copy()
            label[part.free[doubt]] = one
            self._push(Part(part.winner, part.loser, label, rest, self._cutoff, share), count - one, bound)
        return None

    def _consider(self, label: IntArray, relevant: IntArray) -> None:
        """Keep this labeling if it is better."""
        labels = labeled(label, relevant)
        difference = self._difference(labels)
        if abs(difference) > abs(self.difference) + TOLERANCE:
            self.best, self.difference = labels, difference

    def _difference(self, labels: IntArray) -> float:
        """Q(Y) - Q(Z), from the definition."""
        relevant = labels == 1
        count = np.count_nonzero(relevant)
        worth = self._worth[count]
        total = 0.0
        for sign, positions in ((1, self._y), (-1, self._z)):
            found = np.sort(positions[relevant & (positions > 0)])
            total += sign * float((np.arange(1, len(found) + 1) * worth[found - 1]).sum())
        return total / float(self._normalizer[count])
