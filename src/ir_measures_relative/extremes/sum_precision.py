"""MED for average precision and its relatives: A. Moffat, "Computing Maximized Effectiveness Distance for
Recall-Based Metrics", §3 and §5.

With y_d the position of document d in ranking Y, and 1/y_d = 0 where it is absent, the sum of precisions is::

    SP@k(Y) = Σ_{d relevant} |{e relevant: y_e ≤ y_d}| / y_d = Σ_{{d, e} relevant} 1/max(y_d, y_e),

the pairs {d, d} included. So SP(Y) - SP(Z) is a quadratic function of the 0/1 labels. `Search` maximizes its ratio
to the normalizer, with the bounds of `relaxation`.
"""

from __future__ import annotations

from typing import NamedTuple, get_args

import numpy.typing as npt

from .search import Norm, Search
from .solution import Clock, IntArray, Solution, checked_rankings


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
    for "min" (AP, Eq. 9); 0/0 is 0. From the greedy labeling on, branch and bound improves the value and proves
    that no number of relevant documents allows a larger one.

    Args:
        y: shape (documents,), the position from 1 in ranking Y of every document of the two top-k lists, 0 if
            absent.
        z: the same for ranking Z.
        label: shape (documents,), -1 open, 0 not relevant, 1 relevant.
        cutoff: k; later positions count as absent.
        norm: what SP is divided by.
        other_relevant: number of relevant documents that are in neither list; they count in R.
        time_limit: seconds of CPU time, None for no limit; looked at between the steps of the search.

    Returns:
        The solution, its value in [0, 1]. When time runs out, `lower` and `upper` enclose the maximum.

    Raises:
        ValueError: for input that is not as described.
    """
    clock = Clock(time_limit)
    search = Search(*checked(y, z, label, cutoff, norm, other_relevant), cutoff, norm, other_relevant)
    search.run(clock)
    return Solution.of(search.difference, search.upper, search.best)


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
    search = Search(*checked(y, z, label, cutoff, norm, other_relevant), cutoff, norm, other_relevant)
    return Solution.of(search.difference, 1.0, search.best)


def checked(
    y: npt.ArrayLike, z: npt.ArrayLike, label: npt.ArrayLike, cutoff: int, norm: str, other_relevant: int
) -> tuple[IntArray, IntArray, IntArray]:
    """The three arrays, with positions beyond the cutoff turned into 0; what is not as described is named."""
    if norm not in get_args(Norm):
        raise ValueError(f"norm must be one of {', '.join(map(repr, get_args(Norm)))}, got {norm!r}")
    if other_relevant < 0:
        raise ValueError(f"other_relevant must not be negative, got {other_relevant}")
    return checked_rankings(y, z, label, top_label=1, cutoff=cutoff)


class Extreme(NamedTuple):
    """The largest difference in one direction.

    Attributes:
        value: the largest that was found.
        upper: no labeling exceeds it; equal to `value`, but for the tolerance, where the search came to its end.
        labels: of all documents, attaining `value`.
        outside: how many of the documents outside are relevant with them.
    """

    value: float
    upper: float
    labels: IntArray
    outside: int


def greatest_difference(
    winner: IntArray,
    loser: IntArray,
    label: IntArray,
    *,
    cutoff: int,
    other_relevant: int = 0,
    outside: int = 0,
    time_limit: float | None = 10.0,
    tolerance: float,
) -> Extreme:
    """The largest AP(winner) - AP(loser) over all labelings, which is below 0 where the loser wins whatever they are.

    Args:
        winner: shape (documents,), the position from 1 of every document of the two rankings, 0 if absent.
        loser: the same for the other ranking.
        label: shape (documents,), -1 open, 0 not relevant, 1 relevant.
        cutoff: no position is beyond it.
        other_relevant: number of relevant documents that are in neither ranking; they count in R.
        outside: number of open documents that are in neither; any of them may be relevant.
        time_limit: seconds of CPU time, None for no limit.
        tolerance: how much better a labeling may be that is missed.

    Returns:
        the largest difference, in [-1, 1].
    """
    search = Search(winner, loser, label, cutoff, "R", other_relevant, outside, tolerance)
    search.run(Clock(time_limit))
    value = search.difference
    return Extreme(value, min(search.upper, 1.0), search.best, outside if value < 0 else 0)
