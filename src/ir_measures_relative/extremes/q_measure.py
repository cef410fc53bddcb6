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

import numpy as np
import numpy.typing as npt

from ..arrays import FloatArray, IntArray
from ..options import PROVED
from .model import MED_SECONDS, Clock
from .precision_search import (
    ATTEMPTS,
    BranchAndBound,
    Norm,
    Search,
    Solution,
    checked,
    most_in_doubt,
    normalizers,
    open_documents,
)
from .precision_sums import Mixture, Relaxation, sum_of_precisions


def med_blended(
    y: npt.ArrayLike,
    z: npt.ArrayLike,
    label: npt.ArrayLike,
    *,
    cutoff: int,
    norm: Norm,
    beta: float,
    other_relevant: int = 0,
    clock: Clock | None = None,
) -> Solution:
    """The largest ``|Q@k(Y) - Q@k(Z)|`` over all labelings of the open documents.

    Args:
        beta: how much the gains count, from 0 (AP) up.

    The other arguments, what is returned and what is raised: as for `med_sum_precision`. Open documents are those of
    the two lists: what neither holds is relevant only if it is judged so.
    """
    clock = clock or Clock(MED_SECONDS)
    if not 0 <= beta < np.inf:
        raise ValueError(f"beta must be a number from 0 up, got {beta}")
    arrays = checked(y, z, label, cutoff, norm, other_relevant)
    search = BlendedSearch(*arrays, cutoff, norm, float(beta), other_relevant)
    search.run(clock)
    return Solution.of(search.difference, search.upper, search.best)


class Part:
    """The labelings that agree on some labels, for one ranking as the winner; arguments as for `Relaxation`.

    ``share`` is how often each free document was relevant when last averaged: where the next search for prices begins.
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
            every = Part(winner, loser, label, np.append(free, lost), cutoff)
            own = Part(winner, loser, label, free, cutoff)
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
