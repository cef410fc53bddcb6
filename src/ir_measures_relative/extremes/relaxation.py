"""Bounds on SP(winner) - SP(loser), for every number of relevant documents at once.

Let Y_i and Z_i be the numbers of relevant documents in the first i of the winner and of the loser, and
T(n) = n(n + 1)/2. A document pair counts in SP with 1/max of its positions, and 1/p is the sum of the weights
c_i = 1/i - 1/(i + 1), c_k = 1/k, over i ≥ p. So

    SP(winner) - SP(loser) = Σ_i c_i (T(Y_i) - T(Z_i)) = Σ_i c_i (δ_i Y_i - T(δ_i - 1)),    δ_i = Y_i - Z_i.

Whatever the numbers σ_i are, each term is at most

    σ_i δ_i + H_i(Y_i - σ_i),    H_i(u) = max of u δ - T(δ - 1) over the δ that can occur at i,

with equality where Z_i ≤ σ_i ≤ Z_i + 1. The sum of the first parts is linear in the labels, and that of the
second depends on how many documents are relevant by each depth of the winner. Dynamic programming along the
winner maximizes such a function exactly. It is a Lagrangian relaxation: δ_i, taken for free in H_i, is tied to
the labels by the price σ_i. That δ_i cannot leave a range matters where the rankings are much alike: for two
equal ones δ_i and H_i are 0.
"""

from __future__ import annotations

import copy

import numpy as np
import numpy.typing as npt

from .solution import FloatArray, IntArray

# So many numbers at a time are computed in advance: enough to make few calls of numpy, few enough for the cache.
BLOCK = 1 << 15


class Relaxation:
    """The bounds for one labeling, of which the open documents of the winner are still to be labeled.

    Args:
        winner, loser: the positions of all documents, 0 for the absent ones.
        label: their labels. Open documents that are not among the free ones count as not relevant.
        free: open documents, those of the winner first, in its order; then any that only the loser holds.
        cutoff: k.
    """

    def __init__(
        self, winner: IntArray, loser: IntArray, label: IntArray, free: IntArray, cutoff: int
    ) -> None:
        self._depth = cutoff
        self._won, self._lost = (np.where(p[free] > 0, p[free], cutoff + 1) for p in (winner, loser))
        i = np.arange(1, cutoff + 1)
        self._weight = 1 / i - np.where(i < cutoff, 1 / (i + 1), 0)
        # Y_i and Z_i if no free document is relevant, and the range of δ_i.
        self._known_won, self._known_lost = (
            self._by_depth(winner[label == 1]),
            self._by_depth(loser[label == 1]),
        )
        lead = self._known_won - self._known_lost
        first = self._won < self._lost
        self._least = lead - self._by_depth(self._lost[~first]) + self._by_depth(self._won[~first])
        self._most = lead + self._by_depth(self._won[first]) - self._by_depth(self._lost[first])

    def weighing(self, worth: FloatArray) -> Relaxation:
        """The same for another measure, in which a pair counts with `worth` at the larger of its positions, not 1/max.

        Args:
            worth: shape (k,), from position 1 on, nowhere increasing.
        """
        result = copy.copy(self)
        result._weight = worth - np.append(worth[1:], 0.0)
        return result

    def _by_depth(self, positions: IntArray, share: FloatArray | None = None) -> FloatArray:
        """How many of these positions (or what share of them) are at depth i or above, for i from 1."""
        count = np.bincount(positions, weights=share, minlength=self._depth + 2)
        return count[1 : self._depth + 1].cumsum().astype(np.float64)

    def won(self, share: FloatArray) -> FloatArray:
        """Y_i, if this share of every free document is relevant."""
        return self._known_won + self._by_depth(self._won, share)

    def lost(self, share: FloatArray) -> FloatArray:
        """Z_i, if this share of every free document is relevant."""
        return self._known_lost + self._by_depth(self._lost, share)

    def ceiling(self, count: int) -> float:
        """What the difference cannot exceed if `count` of the free documents are relevant: the most at each depth."""
        won = np.minimum(self._known_won + count, self.won(np.ones(len(self._won))))
        # Where the winner must be behind, T(Y_i) - T(Z_i) is largest while both are small.
        won = np.where(self._most < 0, np.minimum(won, self._known_lost + self._most), won)
        lost = np.maximum(won - self._most, self._known_lost)
        return self.sum(triangle(won) - triangle(lost))

    def sum(self, by_depth: FloatArray) -> float:
        """Σ_i c_i times the given."""
        return float(self._weight @ by_depth)

    def bounds(self, price: FloatArray, most: int) -> tuple[FloatArray, FloatArray]:
        """What SP(winner) - SP(loser) cannot exceed if 0, 1, ..., `most` of the free documents are relevant.

        Args:
            price: σ_i, of any size.

        Returns:
            The bounds, and the table that `labels` reads: entry (n, t) is the most that n relevant documents
            among the first t free ones add. Where t < n it means nothing.
        """
        weighted = self._weight * price
        after = np.zeros(self._depth + 2)  # Σ_{i ≥ p} c_i σ_i
        after[1:-1] = weighted[::-1].cumsum()[::-1]
        linear = after[self._won] - after[self._lost]
        gap = self._known_won - price
        delta = np.clip(np.ceil(gap), self._least, self._most)
        known = self.sum(delta * gap - triangle(delta - 1) + price * (self._known_won - self._known_lost))

        size = len(self._won)
        table = np.empty((most + 1, size + 1))
        table[0] = 0.0
        block = max(1, BLOCK // self._depth)
        for start in range(1, most + 1, block):
            # One more relevant document at position p, the n-th free one, takes Y_i from J_i + n - 1 to J_i + n
            # at all i ≥ p. H_i(u) - H_i(u - 1) is u, as far as δ_i can go.
            n = np.arange(start, min(start + block, most + 1))
            top = self._won[start - 1] - 1
            step = np.clip(gap[top:] + n[:, None], self._least[top:], self._most[top:])
            step *= self._weight[top:]
            below = step[:, ::-1].cumsum(axis=1)[:, ::-1]
            if self._won[-1] > self._depth:
                below = np.pad(below, ((0, 0), (0, 1)))  # what the winner does not hold adds nothing to it
            gain = below[:, self._won[start - 1 :] - 1 - top] + linear[start - 1 :]
            for i, row in zip(n.tolist(), gain, strict=True):
                np.maximum.accumulate(table[i - 1, i - 1 : size] + row[i - start :], out=table[i, i:])
        return table[:, size] + known, table

    def labels(self, table: FloatArray, count: int) -> FloatArray:
        """The labels of the free documents that attain the bound for `count` relevant ones."""
        result = np.zeros(len(self._won))
        end = len(self._won)
        for n in range(count, 0, -1):
            row = table[n, n : end + 1]
            end = n - 1 + int(row.searchsorted(row[-1]))  # where the maximum so far was reached first
            result[end] = 1.0
        return result


class Mixture:
    """An average of labelings that tends to the maximum of the relaxation: the method of Frank and Wolfe.

    While no δ_i is at the end of its range, the least bound is the largest value, over all averages of labelings,
    of the concave function Σ_i c_i (mean of T(Y_i) - T(mean of Z_i)), and σ_i = mean of Z_i + ½ is its slope.

    Attributes:
        share: how often each free document is relevant.
    """

    def __init__(self, relaxation: Relaxation, labels: FloatArray) -> None:
        self._relaxation = relaxation
        self._gain = relaxation.sum(triangle(relaxation.won(labels)))
        self._lost = relaxation.lost(labels)
        self.share = labels

    @property
    def price(self) -> FloatArray:
        """The σ_i that suit the average."""
        return self._lost + 0.5

    def add(self, labels: FloatArray) -> None:
        """Move towards this labeling, as far as the function grows."""
        change = self._relaxation.lost(labels) - self._lost
        gain = self._relaxation.sum(triangle(self._relaxation.won(labels))) - self._gain
        slope = gain - self._relaxation.sum(change * self.price)
        curvature = self._relaxation.sum(change * change)
        step = min(max(slope / curvature, 0.0), 1.0) if curvature > 0 else 1.0
        self.share = self.share + step * (labels - self.share)
        self._lost = self._lost + step * change
        self._gain += step * gain


def triangle(n: npt.NDArray[np.float64]) -> FloatArray:
    """T(n), the number of pairs among n documents, each with itself included."""
    result: FloatArray = n * (n + 1) / 2
    return result
