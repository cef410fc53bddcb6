"""Sums of precisions: of one run for each number of relevant documents, and their difference for two."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...arrays import BoolArray, FloatArray, IntArray

# So many open documents of a query may be tried in order with weights that differ; so many taken in pairs.
MOST_WEIGHED, MOST_PAIRED = 300, 600


class Quadratic(NamedTuple):
    """``constant + linear·label + ½·labelᵀ pairs label``."""

    constant: float
    linear: FloatArray
    pairs: FloatArray

    def negated(self) -> Quadratic:
        return Quadratic(-self.constant, -self.linear, -self.pairs)


def sum_of_precisions(position: IntArray, weight: FloatArray) -> float:
    """``Σ (1/p_d)·Σ weight(e)`` of relevant documents at these positions, 0 where not retrieved."""
    held = np.flatnonzero(position > 0)
    order = held[np.argsort(position[held])]
    return float((np.cumsum(weight[order]) / position[order]).sum())


def sums_by_count(
    position: IntArray, weight: FloatArray, is_open: BoolArray, even: bool
) -> tuple[FloatArray, FloatArray]:
    """No more, and no less, than the sum of precisions where 0, 1, … of the open documents are relevant.

    Args:
        position: of the documents that the run holds and that are open, or judged relevant.
        even: whether all weights are 1; the sums are then attained.
    """
    order = np.argsort(position)
    position, weight, is_open = position[order], weight[order], is_open[order]
    inverse = 1.0 / position
    known = ~is_open
    n = int(is_open.sum())
    if even:
        before = np.cumsum(known)[is_open]
        after = (inverse * known).sum() - np.cumsum(inverse * known)[is_open]
        at = inverse[is_open]
        start = sum_of_precisions(position[known], weight[known])
        first = (before + np.arange(1, n + 1)) * at + after  # those above it are relevant as well
        deeper = at.sum() - np.cumsum(at)
        last = ((before + 1) * at + after + deeper)[::-1]  # those below it are
        return start + np.append(0.0, np.cumsum(last)), start + np.append(0.0, np.cumsum(first))
    if n > MOST_WEIGHED:
        least, most = sums_by_count(position, np.ones(len(position)), is_open, True)
        return least * weight.min(), most * weight.max()
    least, most = np.empty((2, n + 1))
    places = np.flatnonzero(is_open)
    ascending = np.sort(weight[is_open])
    for count in range(n + 1):
        for result, where, which in (
            (least, places[n - count :], ascending[:count]),
            (most, places[:count], ascending[n - count :]),
        ):
            relevant = known.copy()
            relevant[where] = True
            weights = np.sort(np.concatenate([weight[known], which]))
            if result is most:
                weights = weights[::-1]
            result[count] = (np.cumsum(weights) * inverse[relevant]).sum()
    return least, most


def difference_of_sums(x: IntArray, y: IntArray, weight: FloatArray, is_open: BoolArray) -> Quadratic:
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
    return Quadratic(constant, linear, pairs)


def greatest_by_halves(quadratic: Quadratic, relevant: int, outside: int) -> tuple[float, float]:
    """A bound of the greatest value over R, and the greatest that was found."""
    constant, linear, pairs = quadratic
    n = len(linear)
    shared = np.cumsum(-np.sort(-np.maximum(pairs, 0.0), axis=1), axis=1)
    with_others = np.zeros((n, n + 1))
    with_others[:, 2:] = shared[:, : max(n - 1, 0)]
    worth = -np.sort(-(linear[:, None] + with_others / 2), axis=0)
    most = np.zeros(n + 1)
    for count in range(1, n + 1):
        most[count] = worth[:count, count].sum()
    sums = constant + most
    counts = relevant + np.arange(n + 1)
    # More relevant documents elsewhere bring a value closer to 0.
    divisors = np.where(sums >= 0, counts, counts + outside)
    bound = float((sums / np.maximum(divisors, 1)).max())
    labels = np.zeros(n)
    gain = linear.copy()
    total, reached, size = constant, -np.inf, relevant
    # Greedily more, from none; every step on the way is a labeling.
    for _ in range(n + 1):
        divisor = size if total >= 0 else size + outside
        reached = max(reached, total / max(divisor, 1))
        if not (labels == 0).any():
            break
        d = int(np.where(labels == 0, gain, -np.inf).argmax())
        total += float(gain[d])
        gain += pairs[d]
        labels[d] = 1.0
        size += 1
    return bound, reached
