"""MED for average precision and its relatives: A. Moffat, "Computing Maximized Effectiveness Distance for
Recall-Based Metrics", §3 and §5.

With y_d the position of document d in ranking Y, and 1/y_d = 0 where it is absent, the sum of precisions is::

    SP@k(Y) = Σ_{d relevant} |{e relevant: y_e ≤ y_d}| / y_d = Σ_{{d, e} relevant} 1/max(y_d, y_e),

the pairs {d, d} included. So SP(Y) - SP(Z) is a quadratic function of the 0/1 labels: documents that are
judged relevant fold into its linear part, and `quadratic.improve` searches for its maxima.
"""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from .quadratic import improve
from .solution import OPEN, TOLERANCE, FloatArray, IntArray, Solution, checked_rankings, deadline_after

Norm = Literal["k", "R", "min"]


def med_sum_precision(
    y: npt.ArrayLike,
    z: npt.ArrayLike,
    label: npt.ArrayLike,
    *,
    cutoff: int,
    norm: Norm,
    other_relevant: int = 0,
    time_limit: float | None = 10.0,
) -> Solution:
    """The largest ``|M(Y) - M(Z)|`` over all labelings of the open documents, M = SP@k / N.

    N is k for ``norm="k"`` (SSP, Eq. 10), the number of relevant documents R for "R" (AP, Eq. 8), min(k, R)
    for "min" (AP, Eq. 9); 0/0 is 0. Dinkelbach's method: with λ the best value so far, a labeling is better
    if and only if SP(Y) - SP(Z) - λN > 0 for it. Branch and bound either finds such a labeling, which gives
    the next λ, or proves that there is none.

    Args:
        y: shape (documents,), the position from 1 in ranking Y of every document of the two top-k lists, 0 if
            absent.
        z: the same for ranking Z.
        label: shape (documents,), -1 open, 0 not relevant, 1 relevant.
        cutoff: k; later positions count as absent.
        norm: what SP is divided by.
        other_relevant: number of relevant documents that are in neither list; they count in R.
        time_limit: seconds, None for no limit; looked at between the steps of the search.

    Returns:
        The solution, its value in [0, 1]. When time runs out, `lower` and `upper` enclose the maximum.

    Raises:
        ValueError: for input that is not as described.
    """
    deadline = deadline_after(time_limit)
    y, z, label = _checked(y, z, label, cutoff, norm, other_relevant)
    best, difference = _greedy(y, z, label, cutoff, norm, other_relevant)
    relevant = int((label == 1).sum()) + other_relevant
    upper = 0.0
    for winner, loser in ((y, z), (z, y)):
        constant, linear, pairs, free = _quadratic(winner, loser, label)
        for fixed, per_document in _normalizers(norm, cutoff, relevant):
            # In units of the smallest N that a difference can have, the excess over 0 bounds what λ can gain.
            unit = max(fixed, 1)
            while True:
                value = abs(difference)
                x, excess = improve(
                    (constant - value * fixed) / unit,
                    (linear - value * per_document) / unit,
                    pairs / unit,
                    deadline=deadline,
                )
                if x is None:
                    upper = max(upper, value + excess)
                    break
                best = _labeled(label, free[x == 1])
                difference = _difference(y, z, best, cutoff, norm, other_relevant)
    return Solution.of(difference, upper, best)


def greedy_sum_precision(
    y: npt.ArrayLike,
    z: npt.ArrayLike,
    label: npt.ArrayLike,
    *,
    cutoff: int,
    norm: Norm,
    other_relevant: int = 0,
) -> Solution:
    """A lower bound on `med_sum_precision`, by the paper's greedy heuristic (§5, Eq. 13).

    For either ranking as the winner: the open document that would add most to SP(winner) - SP(loser) becomes
    relevant, the weights of the others are computed anew, and so on while a document adds anything. The best
    difference M(winner) - M(loser) on the way counts. Ties go to the document that the winner ranks higher.

    Args, Raises: as in `med_sum_precision`.

    Returns:
        The solution, its value in [0, 1] and, as for every AP and SSP, `upper` = 1.
    """
    y, z, label = _checked(y, z, label, cutoff, norm, other_relevant)
    best, difference = _greedy(y, z, label, cutoff, norm, other_relevant)
    return Solution.of(difference, 1.0, best)


def _checked(
    y: npt.ArrayLike, z: npt.ArrayLike, label: npt.ArrayLike, cutoff: int, norm: str, other_relevant: int
) -> tuple[IntArray, IntArray, IntArray]:
    if norm not in get_args(Norm):
        raise ValueError(f"norm must be one of {', '.join(map(repr, get_args(Norm)))}, got {norm!r}")
    if other_relevant < 0:
        raise ValueError(f"other_relevant must not be negative, got {other_relevant}")
    return checked_rankings(y, z, label, top_label=1, cutoff=cutoff)


def _normalizers(norm: Norm, cutoff: int, relevant: int) -> list[tuple[int, int]]:
    """N as pairs (a, b): N = a + b·(number of open documents labeled relevant).

    A non-negative difference over min(k, R) is the larger of those over k and over R, and the maximum is
    never negative, since one of the two rankings wins. So for "min" both are searched.
    """
    return {"k": [(cutoff, 0)], "R": [(relevant, 1)], "min": [(cutoff, 0), (relevant, 1)]}[norm]


def _quadratic(
    winner: IntArray, loser: IntArray, label: IntArray
) -> tuple[float, FloatArray, FloatArray, IntArray]:
    """SP(winner) - SP(loser) as constant + linear·x + ½ xᵀ pairs x, x the labels of the documents `free`.

    Those are the open documents of the winner, in its order. An open document that only the loser holds has
    no positive coefficient, so leaving it not relevant loses nothing.
    """
    won, lost = (np.divide(1.0, p, out=np.zeros(len(p)), where=p > 0) for p in (winner, loser))
    free = np.flatnonzero((label == OPEN) & (winner > 0))
    free = free[winner[free].argsort()]
    judged = np.flatnonzero(label == 1)
    # 1/max(a, b) = min(1/a, 1/b), which is 0 as it should be if one of the two is absent.
    constant = _sum_precision(winner[judged]) - _sum_precision(loser[judged])
    with_judged = np.minimum.outer(won[free], won[judged]) - np.minimum.outer(lost[free], lost[judged])
    linear = won[free] - lost[free] + with_judged.sum(axis=1)
    pairs = np.minimum.outer(won[free], won[free]) - np.minimum.outer(lost[free], lost[free])
    np.fill_diagonal(pairs, 0.0)
    return constant, linear, pairs, free


def _greedy(
    y: IntArray, z: IntArray, label: IntArray, cutoff: int, norm: Norm, other_relevant: int
) -> tuple[IntArray, float]:
    """The best labeling that the greedy heuristic passes, and its M(Y) - M(Z)."""
    best = _labeled(label, np.empty(0, dtype=np.int64))
    difference = _difference(y, z, best, cutoff, norm, other_relevant)
    relevant = int((label == 1).sum()) + other_relevant
    for winner, loser in ((y, z), (z, y)):
        numerator, gain, pairs, free = _quadratic(winner, loser, label)
        chosen: list[int] = []
        values: list[float] = []
        while len(chosen) < len(free):
            # The weight of Eq. 13 in the winner less that in the loser, given what is relevant by now.
            # Rounding must neither make a gain of nothing nor decide between equal ones.
            document = int((gain >= gain.max() - TOLERANCE).argmax())
            if gain[document] <= TOLERANCE:
                break
            numerator += gain[document]
            gain += pairs[document]
            gain[document] = -np.inf
            chosen.append(document)
            values.append(numerator / _normalizer(norm, cutoff, relevant + len(chosen)))
        if values and max(values) > abs(difference):
            best = _labeled(label, free[chosen[: int(np.argmax(values)) + 1]])
            difference = _difference(y, z, best, cutoff, norm, other_relevant)
    return best, difference


def _labeled(label: IntArray, relevant: IntArray) -> IntArray:
    """The labels with the documents `relevant` set to 1 and all other open ones to 0."""
    labels = np.where(label == OPEN, 0, label)
    labels[relevant] = 1
    return labels


def _difference(
    y: IntArray, z: IntArray, labels: IntArray, cutoff: int, norm: Norm, other_relevant: int
) -> float:
    """M(Y) - M(Z), from the definition."""
    relevant = labels == 1
    normalizer = _normalizer(norm, cutoff, int(relevant.sum()) + other_relevant)
    return (_sum_precision(y[relevant]) - _sum_precision(z[relevant])) / normalizer


def _normalizer(norm: Norm, cutoff: int, relevant: int) -> int:
    # Where R is 0 so is SP, and 0/1 is the 0 that 0/0 stands for.
    return {"k": cutoff, "R": max(relevant, 1), "min": max(min(cutoff, relevant), 1)}[norm]


def _sum_precision(positions: IntArray) -> float:
    """SP of a ranking with its relevant documents at these positions, 0 for the absent ones."""
    retrieved = np.sort(positions[positions > 0])
    return float((np.arange(1, len(retrieved) + 1) / retrieved).sum())
