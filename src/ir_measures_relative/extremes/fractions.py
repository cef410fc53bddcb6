"""The greatest ratio of two sums over labels, where the second depends only on how many documents have each label."""

from __future__ import annotations

import numpy as np

from ..arrays import BoolArray, FloatArray, IntArray, ratio

# More than Dinkelbach's iteration ever takes, which is quadratic; a dozen is usual.
_MOST_STEPS = 200
# What is left of a denominator of 0 by rounding.
_NOTHING = 1e-12


def greatest_ratio(numerator: FloatArray, denominator: FloatArray, sizes: IntArray) -> FloatArray:
    """The greatest ``Σ_l numerator[l, n_l] / Σ_l denominator[l, n_l]`` over ``n_1 ≥ n_2 ≥ … ≥ 0``; 0/0 is 0.

    n_l is how many open documents are given at least level l. Dinkelbach's iteration: with λ the ratio reached so far,
    a better one exists if and only if the greatest ``Σ_l numerator[l, n_l] - λ·denominator[l, n_l]`` is above 0, and
    that is a dynamic program over the levels, which asks nothing of the shape of either function. λ may be negative:
    then it is the size of the denominator that helps.

    Args:
        numerator: shape (problems, levels, 1 + documents).
        denominator: the same; sums of at least 0, and a sum of 0 only where the numerator's is 0.
        sizes: the number of open documents of each problem; entries beyond are not looked at.
    """
    problems, _, width = numerator.shape
    beyond = np.arange(width) > sizes[:, None]
    rows = np.arange(problems)
    all_of_them = denominator[rows, :, sizes].sum(axis=1)
    none_of_them = denominator[:, :, 0].sum(axis=1)
    best = ratio(numerator[rows, :, sizes].sum(axis=1), all_of_them)
    active = np.flatnonzero(all_of_them > 0)
    _climb(numerator, denominator, beyond, best, active)
    # A labeling without a gain to find has the value 0 by definition.
    result: FloatArray = np.where(none_of_them > 0, best, np.maximum(best, 0.0))
    return result


def greatest_positive_ratio(numerator: FloatArray, denominator: FloatArray, sizes: IntArray) -> FloatArray:
    """:func:`greatest_ratio` where that is above 0, else 0; where the numerator is, the denominator must be too."""
    problems, _, width = numerator.shape
    best = np.zeros(problems)
    _climb(numerator, denominator, np.arange(width) > sizes[:, None], best, np.arange(problems))
    return best


def _climb(
    numerator: FloatArray, denominator: FloatArray, beyond: BoolArray, best: FloatArray, active: IntArray
) -> None:
    """Raises ``best`` to the greatest ratios."""
    levels = numerator.shape[1]
    for _ in range(_MOST_STEPS):
        if not len(active):
            break
        score = numerator[active] - best[active, None, None] * denominator[active]
        score[np.broadcast_to(beyond[active, None, :], score.shape)] = -np.inf
        chosen = _nested_choice(score)
        picked = np.arange(len(active))[:, None], np.arange(levels), chosen
        above, below = numerator[active][picked].sum(axis=1), denominator[active][picked].sum(axis=1)
        reached = ratio(above, np.where(below > _NOTHING, below, 0.0))
        better = reached > best[active]
        best[active[better]] = reached[better]
        active = active[better]


def _nested_choice(score: FloatArray) -> IntArray:
    """The ``n_1 ≥ n_2 ≥ …`` that maximize ``Σ_l score[l, n_l]``, shape (problems, levels)."""
    problems, levels, width = score.shape
    places = np.arange(width)
    tail: FloatArray = np.zeros((problems, width))
    at = np.empty((levels, problems, width), dtype=np.int64)
    for level in reversed(range(levels)):
        total = score[:, level] + tail
        tail = np.maximum.accumulate(total, axis=1)
        # Where the running maximum was last raised is where it is attained.
        raised: BoolArray = np.ones_like(total, dtype=bool)
        raised[:, 1:] = total[:, 1:] > tail[:, :-1]
        at[level] = np.maximum.accumulate(np.where(raised, places, 0), axis=1)
    chosen = np.empty((problems, levels), dtype=np.int64)
    limit = np.full(problems, width - 1)
    for level in range(levels):
        limit = at[level][np.arange(problems), limit]
        chosen[:, level] = limit
    return chosen
