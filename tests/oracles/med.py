"""MED by trying every labeling of the open documents, with the base measures as their definitions have them.

A *column* holds one value a labeling: all labelings at once, the positions of a ranking one after the other.
"""

import itertools
import math
from collections.abc import Sequence

import numpy as np

from oracles.gains import gain_oracle

Columns = dict[str, np.ndarray]


def columns_of_all_labelings(
    rankings: Sequence[list[str]],
    labels: dict[str, int],
    judged_gain: dict[str, float],
    choices: Sequence[float],
) -> Columns:
    """The gain of every document of the two tops, and of every judged one, under each labeling."""
    open_docs = sorted({d for r in rankings for d in r} - set(labels))
    combinations = np.array(list(itertools.product(choices, repeat=len(open_docs))), dtype=float)
    columns = {d: combinations[:, i] for i, d in enumerate(open_docs)}
    for d in labels:
        columns[d] = np.full(len(combinations), judged_gain[d])
    return columns


def base_scores(
    top: list[str],
    gain: Columns,
    base: str,
    k: int | None,
    *,
    p: float = 0.8,
    norm: str = "R",
    best_gain: float = 1.0,
) -> np.ndarray:
    """The base measure of one top k under each labeling."""
    n = len(next(iter(gain.values()))) if gain else 1
    score = np.zeros(n)
    if base in ("P", "RBP", "SDCG", "nDCG"):
        for i, d in enumerate(top, start=1):
            weight = {"P": 1.0, "RBP": (1 - p) * p ** (i - 1)}.get(base, 1 / math.log2(i + 1))
            score = score + weight * gain[d]
        if base == "P":
            return score / k
        if base == "SDCG":
            return score / (best_gain * sum(1 / math.log2(i + 1) for i in range(1, k + 1)))
        if base == "nDCG" and gain:
            ranked = -np.sort(-np.array(list(gain.values())), axis=0)[:k]
            ideal = sum(row / math.log2(i + 1) for i, row in enumerate(ranked, start=1))
            return np.divide(score, ideal, out=np.zeros(n), where=ideal > 0)
        return score
    if base == "RR":
        for i, d in reversed(list(enumerate(top, start=1))):
            score = np.where(gain[d] > 0, 1 / i, score)
        return score
    if base in ("SSP", "AP"):
        relevant = np.zeros(n)
        for i, d in enumerate(top, start=1):
            relevant = relevant + gain[d]
            score = score + gain[d] * relevant / i
        if base == "SSP":
            return score / k
        total = sum(gain.values(), np.zeros(n))
        total = np.minimum(total, k) if norm == "min" else total
        return np.divide(score, total, out=np.zeros(n), where=total > 0)
    if base == "mean_nDCG":
        assert k is not None
        return sum(base_scores(top[:i], gain, "nDCG", i) for i in range(1, k + 1)) / k
    assert base == "ERR"
    reached = np.ones(n)
    for i, d in enumerate(top, start=1):
        score = score + reached * gain[d] / i
        reached = reached * (1 - gain[d])
    return score


def med_difference_columns(
    run: list[str],
    reference: list[str],
    labels: dict[str, int],
    base: str,
    k: int | None,
    *,
    grades: Sequence[int] = (0, 1),
    rel: int | None = 1,
    dcg: str = "log2",
    gains: dict[int, int] | None = None,
    p: float = 0.8,
    norm: str = "R",
) -> np.ndarray:
    """M(run) - M(reference) under every labeling; an open document takes each of ``grades``."""

    def gain(label: int) -> float:
        if base == "ERR":
            return (2 ** max(label, 0) - 1) / 2 ** max(grades)
        return float(label >= rel) if rel is not None else gain_oracle(label, dcg, gains)

    tops = [run[:k], reference[:k]]
    choices = sorted({gain(g) for g in grades} if base == "ERR" or rel is None else {0.0, 1.0})
    columns = columns_of_all_labelings(tops, labels, {d: gain(g) for d, g in labels.items()}, choices)
    y, z = (base_scores(t, columns, base, k, p=p, norm=norm, best_gain=choices[-1]) for t in tops)
    return y - z


def med_oracle(*args: object, **options: object) -> float:
    """The largest |M(run) - M(reference)| over all labelings, with the parameters of the function above."""
    return float(np.abs(med_difference_columns(*args, **options)).max())


def rbp_oracle(
    run: list[str],
    reference: list[str],
    labels: dict[str, int],
    k: int | None,
    *,
    p: float = 0.8,
    residual: bool = True,
) -> float:
    """MED of RBP with what may follow a ranking: all of it relevant, and nothing that follows the other.

    What follows a ranking starts where it ends, or below the cutoff, and its weight is summed up here as far as
    floats can tell. Two rankings that are the same to their last documents go on alike.
    """

    def follows(top: list[str]) -> float:
        if not residual or run == reference:
            return 0.0
        return sum((1 - p) * p ** (i - 1) for i in range(len(top) + 1, len(top) + 1000))

    difference = med_difference_columns(run, reference, labels, "RBP", k, p=p)
    return float(max(0.0, difference.max() + follows(run[:k]), follows(reference[:k]) - difference.min()))
