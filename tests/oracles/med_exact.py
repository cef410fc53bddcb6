"""Slow and plain: MED by trying every labeling, with the metrics as their definitions have them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import product

OPEN = -1


def sum_precision(positions: Sequence[int], labels: Sequence[int]) -> Fraction:
    """SP: the sum, over the relevant documents of a ranking, of the precision at their positions."""
    relevant = [p for p, label in zip(positions, labels, strict=True) if p > 0 and label == 1]
    return sum((Fraction(sum(q <= p for q in relevant), p) for p in relevant), Fraction(0))


def sum_precision_difference(
    y: Sequence[int], z: Sequence[int], labels: Sequence[int], cutoff: int, norm: str, other_relevant: int
) -> Fraction:
    """M(Y) - M(Z) as an exact fraction."""
    cut_y, cut_z = ([p if p <= cutoff else 0 for p in positions] for positions in (y, z))
    relevant = sum(label == 1 for label in labels) + other_relevant
    normalizer = {"k": cutoff, "R": relevant, "min": min(cutoff, relevant)}[norm]
    if normalizer == 0:
        return Fraction(0)
    return (sum_precision(cut_y, labels) - sum_precision(cut_z, labels)) / normalizer


def err(positions: Sequence[int], grades: Sequence[int], cutoff: int, max_grade: int) -> float:
    """ERR@cutoff as gdeval computes it."""
    grade_at = {p: g for p, g in zip(positions, grades, strict=True) if 0 < p <= cutoff}
    score, reached = 0.0, 1.0
    for position in sorted(grade_at):
        stop = (2 ** grade_at[position] - 1) / 2**max_grade
        score += reached * stop / position
        reached *= 1 - stop
    return score


def err_difference(
    y: Sequence[int], z: Sequence[int], grades: Sequence[int], cutoff: int, max_grade: int
) -> float:
    return err(y, grades, cutoff, max_grade) - err(z, grades, cutoff, max_grade)


def labelings(labels: Sequence[int], choices: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """All ways to put one of `choices` in the place of every open label."""
    yield from product(*(choices if label == OPEN else [label] for label in labels))


def brute_force(
    labels: Sequence[int], choices: Sequence[int], difference: Callable[[tuple[int, ...]], Fraction | float]
) -> Fraction | float:
    """The largest absolute difference over all labelings."""
    return max(abs(difference(complete)) for complete in labelings(labels, choices))
