"""The difference of two sums of precisions as a function of the labels, and bounds on it.

With y_d the position of document d in ranking Y, and 1/y_d = 0 where it is absent, the sum of precisions is::

    SP@k(Y) = Σ_{d relevant} |{e relevant: y_e ≤ y_d}| / y_d = Σ_{{d, e} relevant} 1/max(y_d, y_e),

the pairs {d, d} included. So SP(Y) - SP(Z) is a quadratic function of the 0/1 labels.
"""

from __future__ import annotations

import heapq
import itertools
from typing import NamedTuple

import numpy as np

from ..data.arrays import BoolArray, FloatArray, IntArray
from ..measures.bases.gains import reciprocal
from ..tolerances import LABELED_ALIKE, PROVED
from .intervals import Clock, End

# The number of values that are computed in advance: enough to make few calls of numpy, few enough for the cache.
BLOCK = 1 << 15

# The number of nodes that the search with weights visits, times the square of the number of open documents.
_WORK = 200_000


def precision_sum(position: IntArray, weight: FloatArray | None = None) -> float:
    """Return ``Σ_d (1/p_d)·Σ_e weight(e)`` over relevant d and e, e no deeper than d; the default weight is 1."""
    retrieved = np.flatnonzero(position > 0)
    order = retrieved[np.argsort(position[retrieved])]
    weights = np.arange(1, len(order) + 1) if weight is None else np.cumsum(weight[order])
    return float((weights / position[order]).sum())


class Quadratic(NamedTuple):
    """The function ``constant + linear·x + ½ xᵀ pairs x``, x the labels of the documents ``free``."""

    constant: float
    linear: FloatArray
    pairs: FloatArray  #: symmetric, 0 on the diagonal
    free: IntArray

    @classmethod
    def of(
        cls,
        x: IntArray,
        y: IntArray,
        is_relevant: BoolArray,
        free: IntArray,
        weight: FloatArray | None = None,
    ) -> Quadratic:
        """Return the difference of two sums of precisions, where documents ``free`` may be relevant as well."""
        relevant = np.flatnonzero(is_relevant)
        inverse = reciprocal(x), reciprocal(y)

        def add_pairs(partners: IntArray) -> FloatArray:
            """Return what each free document adds with each partner: the weight of the higher over the deeper rank."""
            parts = []
            for position, one_over in zip((x, y), inverse, strict=True):
                # 1/max(a, b) = min(1/a, 1/b), which is 0 as it should be if one of the two is absent.
                part = np.minimum.outer(one_over[free], one_over[partners])
                if weight is not None:
                    higher = position[free][:, None] <= position[partners]
                    part *= np.where(higher, weight[free][:, None], weight[partners])
                parts.append(part)
            return parts[0] - parts[1]

        won, lost = (precision_sum(p[relevant], None if weight is None else weight[relevant]) for p in (x, y))
        alone = inverse[0][free] - inverse[1][free]
        if weight is not None:
            alone = alone * weight[free]
        pairs = add_pairs(free)
        np.fill_diagonal(pairs, 0.0)
        return cls(won - lost, alone + add_pairs(relevant).sum(axis=1), pairs, free)

    def greedy(self, least: float = -np.inf) -> tuple[IntArray, FloatArray]:
        """Make documents relevant one by one, the one that adds most first; return them and the value after each."""
        gain, gains = self.linear.copy(), [self.constant]
        chosen: list[int] = []
        while len(chosen) < len(gain):
            document = int((gain >= gain.max() - PROVED).argmax())
            if gain[document] <= least:
                break
            chosen.append(document)
            gains.append(gain[document])
            gain += self.pairs[document]
            gain[document] = -np.inf
        return np.array(chosen, dtype=np.int64), np.cumsum(gains)

    def decided(self, least: float, most: float) -> tuple[BoolArray, BoolArray]:
        """Return whether documents are best not relevant, and best relevant, if one more costs from least to most."""
        linear = self.linear.copy()
        gains = np.maximum(self.pairs, 0).sum(axis=1)
        losses = self.pairs.sum(axis=1) - gains
        all_zeros, all_ones = np.zeros((2, len(linear)), dtype=bool)
        while True:
            undecided = ~(all_zeros | all_ones)
            zeros = undecided & (linear + gains <= least)
            ones = undecided & ~zeros & (linear + losses >= most)
            decided = zeros | ones
            if not decided.any():
                return all_zeros, all_ones
            all_zeros |= zeros
            all_ones |= ones
            pairs = self.pairs[:, decided]
            gain = np.maximum(pairs, 0).sum(axis=1)
            gains -= gain
            losses -= pairs.sum(axis=1) - gain
            linear += self.pairs[:, ones].sum(axis=1)

    def fix(self, zeros: BoolArray, ones: BoolArray) -> Quadratic:
        """Return the function of the other labels, with these fixed."""
        rest = ~(zeros | ones)
        added = self.linear[ones].sum() + self.pairs[np.ix_(ones, ones)].sum() / 2
        linear = self.linear[rest] + self.pairs[np.ix_(rest, ones)].sum(axis=1)
        pairs = self.pairs[np.ix_(rest, rest)]
        return Quadratic(self.constant + float(added), linear, pairs, self.free[rest])

    def by_count(self) -> FloatArray:
        """Return bounds on the function where 0, 1, … labels are 1; what two documents add is divided between them."""
        n = len(self.linear)
        partners = self.pairs.copy()
        np.fill_diagonal(partners, -np.inf)
        # With n documents in all, each has n - 1 partners.
        beside = np.cumsum(-np.sort(-partners, axis=1), axis=1)[:, : max(n - 1, 0)]
        shares = np.repeat(self.linear[:, None], n, axis=1)
        shares[:, 1:] += beside / 2
        most = np.cumsum(-np.sort(-shares, axis=0), axis=0)
        result = np.full(n + 1, self.constant)
        result[1:] += np.diagonal(most)
        return result


class Relaxation:
    """Bounds on SP(winner) - SP(loser) for every number of relevant documents, where some labels are open.

    Let Y_i and Z_i be the numbers of relevant documents in the first i of the winner and of the loser, T(n) = n(n +
    1)/2, and c_i = 1/i - 1/(i + 1), c_k = 1/k. Since 1/p is the sum of c_i over i ≥ p,

        SP(winner) - SP(loser) = Σ_i c_i (T(Y_i) - T(Z_i)) = Σ_i c_i (δ_i Y_i - T(δ_i - 1)),    δ_i = Y_i - Z_i.

    For any prices σ_i, each term is at most

        σ_i δ_i + H_i(Y_i - σ_i),    H_i(u) = max of u δ - T(δ - 1) over the δ that can occur at i,

    with equality where Z_i ≤ σ_i ≤ Z_i + 1. The first part is linear in the labels; the second depends on how many
    documents are relevant by each depth of the winner. A dynamic program along the winner maximizes that exactly: a
    Lagrangian relaxation, where σ_i ties δ_i to the labels. ``free`` are open documents, those of the winner first,
    in its order; other open documents count as not relevant.
    """

    def __init__(
        self, winner: IntArray, loser: IntArray, label: IntArray, free: IntArray, cutoff: int
    ) -> None:
        self._depth = cutoff
        self._won, self._lost = (np.where(p[free] > 0, p[free], cutoff + 1) for p in (winner, loser))
        i = np.arange(1, cutoff + 1)
        self._weight = 1 / i - np.where(i < cutoff, 1 / (i + 1), 0)
        # Y_i and Z_i if no free document is relevant, and the range of δ_i.
        self._judged_won, self._judged_lost = (self._by_depth(p[label == 1]) for p in (winner, loser))
        lead = self._judged_won - self._judged_lost
        first = self._won < self._lost
        self._least = lead - self._by_depth(self._lost[~first]) + self._by_depth(self._won[~first])
        self._most = lead + self._by_depth(self._won[first]) - self._by_depth(self._lost[first])

    def _by_depth(self, positions: IntArray, share: FloatArray | None = None) -> FloatArray:
        """Count these positions (or sum a share of each) at depth i or above, for i from 1."""
        count = np.bincount(positions, weights=share, minlength=self._depth + 2)
        return count[1 : self._depth + 1].cumsum().astype(np.float64)

    def won(self, share: FloatArray) -> FloatArray:
        """Return Y_i, if this share of every free document is relevant."""
        return self._judged_won + self._by_depth(self._won, share)

    def lost(self, share: FloatArray) -> FloatArray:
        """Return Z_i, if this share of every free document is relevant."""
        return self._judged_lost + self._by_depth(self._lost, share)

    def sum(self, by_depth: FloatArray) -> float:
        """Return the sum of values by depth, weighted by c_i."""
        return float(self._weight @ by_depth)

    def bounds(self, price: FloatArray, most: int) -> tuple[FloatArray, FloatArray]:
        """Bound the difference if 0, 1, …, ``most`` free documents are relevant; and return a table for `labels`."""
        weighted = self._weight * price
        after = np.zeros(self._depth + 2)  # Σ_{i ≥ p} c_i σ_i
        after[1:-1] = weighted[::-1].cumsum()[::-1]
        linear = after[self._won] - after[self._lost]
        gap = self._judged_won - price
        delta = np.clip(np.ceil(gap), self._least, self._most)
        judged = self.sum(delta * gap - triangle(delta - 1) + price * (self._judged_won - self._judged_lost))

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
                below = np.pad(below, ((0, 0), (0, 1)))  # documents that the winner lacks add nothing to it
            gain = below[:, self._won[start - 1 :] - 1 - top] + linear[start - 1 :]
            for i, row in zip(n.tolist(), gain, strict=True):
                np.maximum.accumulate(table[i - 1, i - 1 : size] + row[i - start :], out=table[i, i:])
        return table[:, size] + judged, table

    def labels(self, table: FloatArray, count: int) -> FloatArray:
        """Return the labels of the free documents that attain the bound for `count` relevant ones."""
        result = np.zeros(len(self._won))
        end = len(self._won)
        for n in range(count, 0, -1):
            row = table[n, n : end + 1]
            end = n - 1 + int(row.searchsorted(row[-1]))  # where the maximum so far was reached first
            result[end] = 1.0
        return result


class Mixture:
    """An average of labelings that converges to the maximum of the relaxation (Frank and Wolfe).

    While no δ_i is at the end of its range, the least bound is the maximum, over averages of labelings, of the concave
    Σ_i c_i (mean of T(Y_i) - T(mean of Z_i)), and σ_i = mean of Z_i + ½ is its slope.
    """

    def __init__(self, relaxation: Relaxation, labels: FloatArray) -> None:
        self._relaxation = relaxation
        self._gain = relaxation.sum(triangle(relaxation.won(labels)))
        self._lost = relaxation.lost(labels)
        self.share = labels

    @property
    def price(self) -> FloatArray:
        """The prices σ_i that suit the average."""
        return self._lost + 0.5

    def add(self, labels: FloatArray) -> None:
        """Move towards a labeling, as far as the function grows."""
        change = self._relaxation.lost(labels) - self._lost
        gain = self._relaxation.sum(triangle(self._relaxation.won(labels))) - self._gain
        slope = gain - self._relaxation.sum(change * self.price)
        curvature = self._relaxation.sum(change * change)
        step = min(max(slope / curvature, 0.0), 1.0) if curvature > 0 else 1.0
        self.share = self.share + step * (labels - self.share)
        self._lost = self._lost + step * change
        self._gain += step * gain


def triangle(n: FloatArray) -> FloatArray:
    """Return T(n), the number of pairs among n documents, each with itself included."""
    return n * (n + 1) / 2


def greatest_over_relevant(quadratic: Quadratic, relevant: int, outside: int, clock: Clock) -> End:
    """Maximize the function divided by R: its relevant documents, ``relevant`` others, and up to ``outside`` more."""

    def divide(sums: FloatArray, n_relevant: int) -> FloatArray:
        counts = np.maximum(n_relevant + np.arange(len(sums)), 1)
        # Further relevant documents bring a value closer to 0.
        return sums / np.where(sums < 0, counts + outside, counts)

    reached = float(divide(quadratic.greedy()[1], relevant).max())
    bound = float(divide(quadratic.by_count(), relevant).max())
    age = itertools.count()
    nodes = [(-bound, next(age), quadratic, relevant)]
    for _ in range(_WORK // max(len(quadratic.linear), 1) ** 2):
        if not nodes or -nodes[0][0] <= reached + LABELED_ALIKE or clock.expired():
            break
        priority, _, function, n_relevant = heapq.heappop(nodes)
        zeros, ones = function.decided(reached, -priority)
        if (zeros | ones).any():
            children = [(zeros, ones)]
        else:  # branch on the document that matters most to the others
            none = np.zeros(len(zeros), dtype=bool)
            branch = none.copy()
            branch[np.abs(function.pairs).sum(axis=1).argmax()] = True
            children = [(branch, none), (none, branch)]
        for zeros, ones in children:
            part, size = function.fix(zeros, ones), n_relevant + int(ones.sum())
            reached = max(reached, float(divide(part.greedy()[1], size).max()))
            bound = min(-priority, float(divide(part.by_count(), size).max()))
            if bound > reached + LABELED_ALIKE:
                heapq.heappush(nodes, (-bound, next(age), part, size))
    return End(max(reached, -nodes[0][0] if nodes else reached), reached)
