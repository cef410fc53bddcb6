"""Audits, written plainly from their formulas: one document after the other, in exact fractions where it matters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple


class Doc(NamedTuple):
    """A document that may be asked for."""

    topic: int
    cell: int
    weight: Fraction
    chance: Fraction
    gain: Fraction


def predicted(docs: Sequence[Doc], sample: Sequence[int], d: int, power: int = 1) -> Fraction:
    """The mean gain (to a power) of the sampled documents of the same cell on other topics, each by 1/chance.

    Two pseudo-labels of the size of a mean label go with the mean of all cells, and that has two as well, 0 and 1.
    """
    size = 2 * Fraction(len(docs)) / sum(doc.chance for doc in docs)
    others = [docs[s] for s in sample if docs[s].topic != docs[d].topic]
    total = sum(1 / doc.chance for doc in others)
    of_all = (sum(doc.gain**power / doc.chance for doc in others) + size / 2) / (total + size)
    own = [doc for doc in others if doc.cell == docs[d].cell]
    above = sum(doc.gain**power / doc.chance for doc in own) + size * of_all
    return above / (sum(1 / doc.chance for doc in own) + size)


def estimated(docs: Sequence[Doc], sample: Sequence[int]) -> Fraction:
    """Σ w·ŷ + Σ_sample w·(y - ŷ)/π."""
    value = Fraction(0)
    for d, doc in enumerate(docs):
        value += doc.weight * predicted(docs, sample, d)
        if d in sample:
            value += doc.weight * (doc.gain - predicted(docs, sample, d)) / doc.chance
    return value


def variance(docs: Sequence[Doc], sample: Sequence[int]) -> float:
    """max[Σ_sample (1 - π)x², Σ w²(1/π - 1)·v], and (n + 1)/(n - 1) for the labels that are in the sample by chance."""
    measured = expected = 0.0
    for d, doc in enumerate(docs):
        mean, square = predicted(docs, sample, d), predicted(docs, sample, d, 2)
        spread = min(max(float(square - mean**2), 0.05 * 0.95), 0.25)
        expected += float(doc.weight**2 * (1 / doc.chance - 1)) * spread
        if d in sample:
            measured += float((1 - doc.chance) * (doc.weight * (doc.gain - mean) / doc.chance) ** 2)
    n = sum(docs[s].chance < 1 and docs[s].weight != 0 for s in sample)
    return max(measured, expected) * (n + 1) / max(n - 1, 1)


def precision_weights(
    a: Mapping[str, Sequence[str]], b: Mapping[str, Sequence[str]], k: int
) -> dict[tuple[str, str], Fraction]:
    """What the label of each document counts in the difference of two runs by P@k: rankings by topic, best first."""
    weights: dict[tuple[str, str], Fraction] = {}
    for sign, run in ((1, a), (-1, b)):
        for topic, docs in run.items():
            for doc in docs[:k]:
                key = topic, doc
                weights[key] = weights.get(key, Fraction(0)) + Fraction(sign, k * len({*a, *b}))
    return weights


def chances(score: Sequence[float], budget: int) -> list[float]:
    """min(1, c·score), with c found by halving."""
    low, high = 0.0, 1e12
    for _ in range(400):
        middle = (low + high) / 2
        low, high = (middle, high) if sum(min(1.0, middle * s) for s in score) < budget else (low, middle)
    return [min(1.0, high * s) for s in score]
