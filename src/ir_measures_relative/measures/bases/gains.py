"""What a position and a grade count for: discounts and gains."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from ...data.arrays import FloatArray, IntArray, PositionTable

#: 1 / log2(position + 1), and 0 at position 0 (not retrieved).
#:
#: :meta hide-value:
discount = PositionTable(lambda position: 1.0 / np.log2(position + 1.0))

#: 1 / position, and 0 at position 0.
#:
#: :meta hide-value:
reciprocal = PositionTable(lambda position: 1.0 / position)

_TERMS = 2**20  # that are added one by one


def total_discount(k: int) -> float:
    """``Σ_{i≤k} 1 / log2(i + 1)``: beyond 2^20 terms by the formula of Euler and Maclaurin, without an array of k."""
    m = min(k, _TERMS)
    total = float(discount(np.arange(1, m + 1)).sum())
    if k == m:
        return total
    # With x = e^t - 1, the integral of 1 / log2(x + 1) is that of ln(2)·e^t / t.
    ends = np.log([m + 1.0, k + 1.0])
    node, weight = np.polynomial.legendre.leggauss(64)
    t = ends.mean() + np.ptp(ends) / 2 * node
    integral = np.ptp(ends) / 2 * (weight * np.exp(t) / t).sum()
    slope = -1 / (ends**2 * np.exp(ends))
    return float(total + np.log(2) * (integral + np.ptp(1 / ends) / -2 + np.diff(slope)[0] / 12))


def compute_gains(grade: IntArray, dcg: str, gains: dict[int, int] | None) -> FloatArray:
    """Return the gain of each grade: mapped by ``gains``, then as is ('log2') or 2^grade - 1 ('exp-log2')."""
    mapped = grade.astype(np.float64)
    for old, new in (gains or {}).items():
        mapped[grade == old] = new
    mapped = np.maximum(mapped, 0.0)
    if dcg != "exp-log2":
        return mapped
    if mapped.max(initial=0.0) > 1000:
        raise ValueError(
            f"the label {int(mapped.max())}, {'of gains=' if gains else 'in the qrels'}, is too large for "
            "dcg='exp-log2'; map the labels to smaller ones with gains=, or use dcg='log2'"
        )
    return np.ldexp(1.0, mapped.astype(np.int64)) - 1.0


def chance_to_satisfy(grade: IntArray, max_grade: int) -> FloatArray:
    """Return the probability θ that each document satisfies: ``(2^grade - 1) / 2^max_grade``; 0 for a grade below 1."""
    return np.ldexp(np.ldexp(1.0, np.maximum(grade, 0)) - 1.0, -max_grade)


class Gain(Protocol):
    """From grades, of any shape, to gains of at least 0. Equal gains are equal keys in a memo."""

    def __call__(self, grade: IntArray) -> FloatArray:
        """Return the gain of each grade."""

    @property
    def pays_below_1(self) -> bool:
        """Whether a grade below 1 may gain."""


@dataclass(frozen=True)
class Relevant:
    """1 from the grade ``rel`` on, else 0."""

    rel: int = 1

    def __call__(self, grade: IntArray) -> FloatArray:
        return (grade >= self.rel).astype(np.float64)

    @property
    def pays_below_1(self) -> bool:
        return self.rel < 1


@dataclass(frozen=True)
class Graded:
    """The grade or 2^grade - 1, after ``gains`` has mapped it; see :func:`compute_gains`."""

    dcg: str = "log2"
    gains: tuple[tuple[int, int], ...] = ()

    @classmethod
    def by(cls, dcg: str, gains: Mapping[int, int] | None) -> Graded:
        """Return the gain of measures with the parameters ``dcg`` and ``gains``."""
        return cls(dcg, tuple(sorted((gains or {}).items())))

    def __call__(self, grade: IntArray) -> FloatArray:
        return compute_gains(grade, self.dcg, dict(self.gains))

    @cached_property
    def pays_below_1(self) -> bool:
        return any(grade <= 0 for grade, _ in self.gains)


@dataclass(frozen=True)
class Satisfying:
    """The chance that a document satisfies; see :func:`chance_to_satisfy`."""

    max_grade: int = 4
    pays_below_1 = False

    def __call__(self, grade: IntArray) -> FloatArray:
        return chance_to_satisfy(grade, self.max_grade)
