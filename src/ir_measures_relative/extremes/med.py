"""MED by a search for the labels: AP, SSP, Q and ERR."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..arrays import IntArray
from ..options import PROVED
from .cascade import expected_reciprocal_rank, greatest_err_difference
from .model import MED_SECONDS, Clock
from .precision_search import OPEN, BranchAndBound, Norm, Search
from .q_measure import BlendedSearch


@dataclass(frozen=True)
class Solution:
    """The largest difference found, a proven bound, and the labeling that attains it."""

    value: float  #: ``|M(Y) - M(Z)|`` under `labels`, evaluated from the definition of M
    upper: float  #: no labeling exceeds this; equal to `value` when `exact`
    exact: bool  #: whether `value` is within :data:`~ir_measures_relative.options.PROVED` of the maximum
    winner: int  #: +1 if `labels` makes M(Y) the larger, -1 if M(Z), 0 if `value` is 0
    labels: IntArray  #: shape (documents,); the input labels with every open one set to 0 or to the top label

    @classmethod
    def of(cls, difference: float, upper: float, labels: IntArray) -> Solution:
        """The solution for a signed `difference` M(Y) - M(Z), proved optimal if `upper` allows no more."""
        value = float(abs(difference))
        exact = bool(upper <= value + PROVED)
        winner = int(difference > 0) - int(difference < 0)
        # A score is in [0, 1], so no difference exceeds 1, whatever the bound of an interrupted search.
        return cls(value, value if exact else min(float(upper), 1.0), exact, winner, labels)


def med_sum_precision(
    y: npt.ArrayLike,
    z: npt.ArrayLike,
    label: npt.ArrayLike,
    *,
    cutoff: int,
    norm: Norm,
    beta: float | None = None,
    other_relevant: int = 0,
    clock: Clock | None = None,
) -> Solution:
    """The largest ``|M(Y) - M(Z)|`` over all labelings of the open documents, M = SP@k / N, or Q@k.

    N is k for ``norm="k"`` (SSP, Eq. 10), the number of relevant documents R for "R" (AP, Eq. 8), min(k, R)
    for "min" (AP, Eq. 9); 0/0 is 0.

    Args:
        y: shape (documents,), the position from 1 in ranking Y of every document of the two top-k lists, 0 if
            absent.
        z: the same for ranking Z.
        label: shape (documents,), -1 open, 0 not relevant, 1 relevant.
        cutoff: k; later positions count as absent.
        norm: what SP is divided by.
        beta: for Q, how much the gains count, from 0 (AP) up.
        other_relevant: number of relevant documents that are in neither list; they count in R.
        clock: when to stop; 10 seconds of CPU time from now if not given. Looked at between the steps of the search.

    Returns:
        The solution, its value in [0, 1]. When time runs out, `value` and `upper` enclose the maximum.
    """
    search: BranchAndBound
    if beta is None:
        search = Search(*_cut(y, z, label, cutoff), cutoff, norm, other_relevant)
    else:
        search = BlendedSearch(*_cut(y, z, label, cutoff), cutoff, norm, float(beta), other_relevant)
    search.run(clock or Clock(MED_SECONDS))
    return Solution.of(search.difference, search.upper, search.best)


def med_err(
    y: npt.ArrayLike,
    z: npt.ArrayLike,
    grade: npt.ArrayLike,
    *,
    cutoff: int,
    max_grade: int,
    clock: Clock | None = None,
) -> Solution:
    """The largest ``|ERR@k(Y) - ERR@k(Z)|`` over all gradings of the open documents.

    A document of grade g stops the user with probability (2^g - 1)/2^max_grade. By branch and bound.

    Args:
        grade: shape (documents,), -1 open, else 0 to `max_grade`.
        max_grade: the top grade, at least 1.

    The other arguments, and what is returned (a value in [0, 1)): as for `med_sum_precision`.

    Raises:
        ValueError: a top grade that is too large.
    """
    if not 1 <= max_grade <= 1000:  # 2^max_grade must be a float
        raise ValueError(f"max_grade must be from 1 to 1000, got {max_grade}")
    y, z, grade = _cut(y, z, grade, cutoff)
    # How likely the user goes on at each document, with the top grade where it is open, and with grade 0: 1 - (2^g -
    # 1)/2^max_grade, written so that it is never rounded to 0.
    low, high = (
        (2.0**max_grade - 2.0 ** np.where(grade == OPEN, label, grade) + 1) / 2.0**max_grade
        for label in (max_grade, 0)
    )
    clock = clock or Clock(MED_SECONDS)
    value, upper, go_on = greatest_err_difference([(y, z), (z, y)], low, high, clock, abs)
    difference = float(expected_reciprocal_rank(y, go_on) - expected_reciprocal_rank(z, go_on))
    labels = np.where(grade == OPEN, np.where(go_on < high, max_grade, 0), grade)
    return Solution.of(difference, max(upper, value), labels)


def _cut(
    y: npt.ArrayLike, z: npt.ArrayLike, labels: npt.ArrayLike, cutoff: int
) -> tuple[IntArray, IntArray, IntArray]:
    """The three as arrays, with 0 for positions beyond the cutoff."""
    y, z, labels = (np.asarray(values, dtype=np.int64) for values in (y, z, labels))
    return np.where(y <= cutoff, y, 0), np.where(z <= cutoff, z, 0), labels
