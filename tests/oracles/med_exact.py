"""Slow and plain: MED by trying every labeling, with the metrics as their definitions have them."""

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import product

import numpy as np

OPEN = -1


def all_labelings(label: np.ndarray) -> np.ndarray:
    """Every way to label the open documents, -1, one row each."""
    is_open = np.flatnonzero(label == -1)
    rows = np.tile(np.where(label == -1, 0, label).astype(np.int8), (2 ** len(is_open), 1))
    rows[:, is_open] = np.arange(2 ** len(is_open))[:, None] >> np.arange(len(is_open)) & 1
    return rows


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


def labelings(labels: Sequence[int], choices: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """All ways to put one of `choices` in the place of every open label."""
    yield from product(*(choices if label == OPEN else [label] for label in labels))


# The same for all labelings at once, a row each: what the definitions above say one by one, in a hundredth of the time.


def sum_precisions(positions: np.ndarray, labelings: np.ndarray) -> tuple[np.ndarray, int]:
    """SP under each labeling as whole numbers, and what they are to be divided by."""
    ranked = [at for at in np.argsort(positions).tolist() if positions[at] > 0]
    divisor = math.lcm(1, *(int(positions[at]) for at in ranked))
    assert divisor * len(ranked) ** 2 < 2**62
    score = found = np.zeros(len(labelings), dtype=np.int64)
    for at in ranked:
        relevant = labelings[:, at] == 1
        found = found + relevant
        score = score + np.where(relevant, found * (divisor // int(positions[at])), 0)
    return score, divisor


def sum_precision_differences(
    y: np.ndarray, z: np.ndarray, labelings: np.ndarray
) -> dict[int, list[Fraction]]:
    """The least and the largest SP(Y) - SP(Z), for each number of relevant documents that a labeling has."""
    (won, of_won), (lost, of_lost) = (sum_precisions(positions, labelings) for positions in (y, z))
    divisor = math.lcm(of_won, of_lost)
    difference = won * (divisor // of_won) - lost * (divisor // of_lost)
    relevant = (labelings == 1).sum(axis=1)
    return {
        int(n): [Fraction(int(end(difference[relevant == n])), divisor) for end in (np.min, np.max)]
        for n in np.unique(relevant)
    }


def largest_sum_precision_difference(
    y: np.ndarray, z: np.ndarray, label: np.ndarray, cutoff: int, norm: str, other_relevant: int
) -> Fraction:
    """The largest |M(Y) - M(Z)| over all labelings."""
    cut_y, cut_z = (np.where(positions <= cutoff, positions, 0) for positions in (y, z))
    largest = Fraction(0)
    for n, ends in sum_precision_differences(cut_y, cut_z, all_labelings(label)).items():
        relevant = n + other_relevant
        normalizer = {"k": cutoff, "R": relevant, "min": min(cutoff, relevant)}[norm]
        if normalizer:
            largest = max(largest, *(abs(end) / normalizer for end in ends))
    return largest


def errs(positions: np.ndarray, stops: np.ndarray) -> np.ndarray:
    """ERR for every row of the documents' chances to stop; a document at position 0 is not ranked."""
    score, reached = np.zeros(len(stops)), np.ones(len(stops))
    for at in np.argsort(positions, kind="stable").tolist():
        if positions[at] > 0:
            score += reached * stops[:, at] / positions[at]
            reached *= 1 - stops[:, at]
    return score
