"""Sums of precisions of one run, for each number of relevant documents."""

from __future__ import annotations

import numpy as np

from ..arrays import BoolArray, FloatArray, IntArray

# So many open documents of a query may be tried in order with weights that differ.
_MOST_WEIGHED = 300


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
    if n > _MOST_WEIGHED:
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
