"""MED for Q-measure, by branch and bound.

A. Moffat, "Computing Maximized Effectiveness Distance for Recall-Based Metrics", §5, leaves it open.

With C(i) the number of relevant documents in the first i, binary gains and the ideal cg*(i) = min(i, R)::

    Q@k = (1/N) Σ_{i ≤ k, relevant} (C(i) + β C(i)) / (i + β min(i, R)) = (1/N) Σ_{{d, e} relevant} w_R(max(y_d, y_e)),
    w_R(i) = (1 + β) / (i + β min(i, R)).

AP is the same with w(i) = 1/i, and so is Q for β = 0. For one number R, w_R is a falling sequence like any other, and
the bounds of `Relaxation` hold with it. So there is a search a number, all from the same best labeling on, and the
number with the largest bound goes first; most are never looked at.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..data.arrays import FloatArray, IntArray
from ..tolerances import PROVED
from .ap_relaxation import Mixture, Relaxation, sum_of_precisions
from .ap_search import (
    ATTEMPTS,
    BranchAndBound,
    Norm,
    Search,
    most_in_doubt,
    normalizers,
    open_documents,
)
from .model import Clock


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
    """From AP's greedy labeling on; a node is a part and the number of relevant documents in it."""

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
