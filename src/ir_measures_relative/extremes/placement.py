"""Which documents to make relevant where the ideal ranking counts them by their place in it."""

from __future__ import annotations

import numpy as np

from ..arrays import BoolArray, FloatArray, IntArray
from ..measures.gains import discount


def place(
    linear: FloatArray,
    residual: FloatArray,
    forced: BoolArray,
    slope: FloatArray,
    cutoff: int | None,
) -> BoolArray:
    """The relevant documents that maximize ``Σ linear(d) + slope·Σ_i residual(i-th)/log2(i + 1)``, i up to the cutoff.

    The i-th is the relevant document with the i-th largest residual gain. In the order of these gains, how many are
    relevant so far says at which place of the ideal the next one stands: a dynamic program over the documents, with
    that number as its state.

    Args:
        linear: what each document adds by being relevant, shape (problems, documents); 0 where padded.
        residual: its residual gain, descending in each row; 0 where padded.
        forced: whether it is judged relevant.
        slope: of either sign, one a problem.

    Returns:
        whether each document is relevant, shape (problems, documents).
    """
    problems, n = linear.shape
    k = n if cutoff is None else min(cutoff, n)
    # Behind the k-th judged relevant document the ideal is complete, and each document is for itself.
    before = np.cumsum(forced, axis=1) - forced < k
    matters = (before & ((residual > 0) | forced)).any(axis=0)
    steps = int(np.flatnonzero(matters).max(initial=-1)) + 1
    chosen = forced | (linear > 0)
    if not steps or not k:
        return chosen
    weights = slope[:, None] * discount.up_to(k)[1:]
    score = np.full((problems, k + 1), -np.inf)
    score[:, 0] = 0.0
    taken = np.full((problems, k + 1), -np.inf)
    takes = np.empty((steps, problems, k + 1), dtype=bool)
    stays = np.empty((steps, problems), dtype=bool)  # whether the last state is reached from itself
    for d in range(steps):
        worth = linear[:, d, None]
        np.add(score[:, :-1], weights * residual[:, d, None] + worth, out=taken[:, 1:])
        again = score[:, k] + worth[:, 0]
        stays[d] = again > taken[:, k]
        np.maximum(taken[:, k], again, out=taken[:, k])
        skipped = np.where(forced[:, d, None], -np.inf, score)
        np.greater(taken, skipped, out=takes[d])
        np.maximum(taken, skipped, out=score)
    state, rows = score.argmax(axis=1), np.arange(problems)
    for d in reversed(range(steps)):
        takes_it = takes[d][rows, state]
        chosen[:, d] = takes_it
        state = state - (takes_it & ~((state == k) & stays[d]))
    return chosen


def ideal_of(gains: FloatArray, cutoff: int | None) -> FloatArray:
    """The DCG@cutoff of each row's gains, highest first."""
    k = gains.shape[1] if cutoff is None else min(cutoff, gains.shape[1])
    result: FloatArray = -np.sort(-gains, axis=1)[:, :k] @ discount.up_to(k)[1:]
    return result


def places(chosen: BoolArray, cutoff: int | None) -> FloatArray:
    """What the place of each chosen document in the ideal counts, 0 for the others; documents as in :func:`place`."""
    rank: IntArray = np.cumsum(chosen, axis=1)
    counts = chosen if cutoff is None else chosen & (rank <= cutoff)
    return discount(np.where(counts, rank, 0))
