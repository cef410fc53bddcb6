"""Q-measure from its definition, and its largest difference by trying every labeling at once."""

from __future__ import annotations

import numpy as np


def q_differences(
    y: np.ndarray, z: np.ndarray, labelings: np.ndarray, cutoff: int, beta: float, norm: str, other: int = 0
) -> np.ndarray:
    """Q(Y) - Q(Z) for every row of 0/1 labels of the documents, position by position."""
    relevant = labelings.sum(axis=1) + other
    scores = []
    for positions in (y, z):
        score, count = np.zeros(len(labelings)), np.zeros(len(labelings))
        for r in range(1, cutoff + 1):
            for at in np.flatnonzero(positions == r):
                count += labelings[:, at]
                ratio = (count + beta * count) / (r + beta * np.minimum(r, relevant))
                score += labelings[:, at] * ratio
        scores.append(score)
    divisor = {"k": np.full(len(labelings), cutoff), "R": relevant, "min": np.minimum(relevant, cutoff)}[norm]
    return (scores[0] - scores[1]) / np.maximum(divisor, 1)


def all_labelings(label: np.ndarray) -> np.ndarray:
    """Every way to label the open documents, -1, one row each."""
    is_open = np.flatnonzero(label == -1)
    rows = np.tile(np.where(label == -1, 0, label).astype(np.int8), (2 ** len(is_open), 1))
    rows[:, is_open] = np.arange(2 ** len(is_open))[:, None] >> np.arange(len(is_open)) & 1
    return rows
