"""The difference of two sums of precisions as a quadratic function of the labels."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .solution import FloatArray, IntArray


class Quadratic(NamedTuple):
    """SP(winner) - SP(loser) as constant + linear·x + ½ xᵀ pairs x, x the labels of the documents `free`.

    An open document that only the loser holds has no positive coefficient, so that it need not be among them where
    the difference is not below 0.
    """

    constant: float
    linear: FloatArray
    pairs: FloatArray  #: symmetric, 0 on the diagonal
    free: IntArray

    @classmethod
    def of(cls, winner: IntArray, loser: IntArray, label: IntArray, free: IntArray) -> Quadratic:
        """The function for rankings of which some documents are labeled."""
        won, lost = (np.divide(1.0, p, out=np.zeros(len(p)), where=p > 0) for p in (winner, loser))
        judged = np.flatnonzero(label == 1)
        # 1/max(a, b) = min(1/a, 1/b), which is 0 as it should be if one of the two is absent.
        constant = sum_precision(winner[judged]) - sum_precision(loser[judged])
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


def sum_precision(positions: IntArray) -> float:
    """SP of a ranking with its relevant documents at these positions, 0 for the absent ones."""
    retrieved = np.sort(positions[positions > 0])
    return float((np.arange(1, len(retrieved) + 1) / retrieved).sum())
