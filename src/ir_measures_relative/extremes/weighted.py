"""The difference of two weighted sums of precisions over R: a small branch and bound."""

from __future__ import annotations

import heapq
import itertools
from typing import NamedTuple

import numpy as np

from ..arrays import BoolArray, FloatArray, IntArray
from .model import TOLERANCE

# The search looks at so many nodes, over the square of the number of open documents.
_WORK = 200_000


class End(NamedTuple):
    """A bound of the greatest difference, and the greatest that labels are known to attain."""

    bound: float
    reached: float


class Quadratic(NamedTuple):
    """``constant + linear·label + ½·labelᵀ pairs label``."""

    constant: float
    linear: FloatArray
    pairs: FloatArray

    @classmethod
    def of(cls, x: IntArray, y: IntArray, weight: FloatArray, is_open: BoolArray) -> Quadratic:
        """The difference of two sums of precisions, as a function of the labels of the open documents.

        Args:
            x: the positions of open, and of relevant, documents in the one run, 0 where not retrieved.
            y: in the other.
        """
        total = np.zeros((len(x), len(x)))
        for position, sign in ((x, 1.0), (y, -1.0)):
            inverse = np.divide(1.0, position, out=np.zeros(len(position)), where=position > 0)
            # Two documents add the weight of the higher over the position of the deeper.
            upper = np.where(position[:, None] <= position, weight[:, None], weight)
            total += sign * upper * np.minimum(inverse[:, None], inverse)
        free, known = np.flatnonzero(is_open), np.flatnonzero(~is_open)
        own = np.diagonal(total)
        constant = float(total[np.ix_(known, known)].sum() + own[known].sum()) / 2
        linear = own[free] + total[np.ix_(free, known)].sum(axis=1)
        pairs = total[np.ix_(free, free)].copy()
        np.fill_diagonal(pairs, 0.0)
        return cls(constant, linear, pairs)

    def by_count(self) -> FloatArray:
        """No less than the function where 0, 1, … labels are 1: each of two documents has half of what they add."""
        n = len(self.linear)
        others = self.pairs.copy()
        np.fill_diagonal(others, -np.inf)
        # With so many documents in all, each has that many less one others beside it.
        beside = np.cumsum(-np.sort(-others, axis=1), axis=1)[:, : max(n - 1, 0)]
        shares = np.repeat(self.linear[:, None], n, axis=1)
        shares[:, 1:] += beside / 2
        most = np.cumsum(-np.sort(-shares, axis=0), axis=0)
        result = np.full(n + 1, self.constant)
        result[1:] += np.diagonal(most)
        return result

    def greedy(self) -> FloatArray:
        """The function where none, one, … are 1, each time the one that adds most."""
        gain, sums = self.linear.copy(), [self.constant]
        for _ in range(len(gain)):
            d = int(gain.argmax())
            sums.append(sums[-1] + float(gain[d]))
            gain += self.pairs[d]
            gain[d] = -np.inf
        return np.array(sums)

    def decided(self, least: float, most: float) -> tuple[BoolArray, BoolArray]:
        """Which labels may as well be 0, and which 1, whatever the others are, if a 1 costs from least to most."""
        gains = np.maximum(self.pairs, 0.0).sum(axis=1)
        zeros = self.linear + gains <= least
        # Those of the zeros take nothing away.
        losses = np.minimum(self.pairs[:, ~zeros], 0.0).sum(axis=1)
        return zeros, ~zeros & (self.linear + losses >= most)

    def where(self, zeros: BoolArray, ones: BoolArray) -> Quadratic:
        """The function of the other labels."""
        rest = ~(zeros | ones)
        added = self.linear[ones].sum() + self.pairs[np.ix_(ones, ones)].sum() / 2
        linear = self.linear[rest] + self.pairs[np.ix_(rest, ones)].sum(axis=1)
        return Quadratic(self.constant + float(added), linear, self.pairs[np.ix_(rest, rest)])


def greatest_over_relevant(quadratic: Quadratic, relevant: int, outside: int) -> End:
    """The greatest value of a quadratic function over R, the number of relevant documents.

    Args:
        relevant: how many are relevant beside those that the function is about.
        outside: how many more may be.
    """

    def divided(sums: FloatArray, known: int) -> FloatArray:
        counts = np.maximum(known + np.arange(len(sums)), 1)
        # More relevant documents elsewhere bring a value closer to 0.
        result: FloatArray = sums / np.where(sums < 0, counts + outside, counts)
        return result

    reached = float(divided(quadratic.greedy(), relevant).max())
    bound = float(divided(quadratic.by_count(), relevant).max())
    age = itertools.count()
    nodes = [(-bound, next(age), quadratic, relevant)]
    for _ in range(_WORK // max(len(quadratic.linear), 1) ** 2):
        if not nodes or -nodes[0][0] <= reached + TOLERANCE:
            break
        priority, _, function, known = heapq.heappop(nodes)
        zeros, ones = function.decided(reached, -priority)
        if (zeros | ones).any():
            children = [(zeros, ones)]
        else:  # the document that matters most to the others, either way
            nothing = np.zeros(len(zeros), dtype=bool)
            one = nothing.copy()
            one[np.abs(function.pairs).sum(axis=1).argmax()] = True
            children = [(one, nothing), (nothing, one)]
        for zeros, ones in children:
            part, size = function.where(zeros, ones), known + int(ones.sum())
            reached = max(reached, float(divided(part.greedy(), size).max()))
            bound = min(-priority, float(divided(part.by_count(), size).max()))
            if bound > reached + TOLERANCE:
                heapq.heappush(nodes, (-bound, next(age), part, size))
    return End(max(reached, -nodes[0][0] if nodes else reached), reached)
