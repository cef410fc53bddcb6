"""Browsing models: how likely a user is to look at each position. Equal models are equal keys in a memo."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ...data.arrays import FloatArray, IntArray, PositionTable
from .gains import discount, reciprocal, total_discount


class BrowsingModel(ABC):
    """How likely a user is to look at each position of a ranking."""

    @abstractmethod
    def seen(self, position: IntArray) -> FloatArray:
        """Return the probability that a user looks at each position, from 1; 0 at position 0 (not retrieved)."""

    @property
    def total(self) -> float:
        """The sum of ``seen`` over all positions; infinite where it has none."""
        return math.inf

    def share(self, position: IntArray) -> FloatArray:
        """Return ``seen(position) / total``: the share of all attention that each position gets."""
        return self.seen(position) / self.total


@dataclass(frozen=True)
class LogDiscount(BrowsingModel):
    """``seen(i) = 1 / log2(i + 1)``, as in nDCG (Järvelin and Kekäläinen, 2002)."""

    k: int | None = None  #: the depth that ``total`` is computed to; None for no end

    def seen(self, position: IntArray) -> FloatArray:
        return discount(position)

    @property
    def total(self) -> float:
        return math.inf if self.k is None else total_discount(self.k)


@dataclass(frozen=True)
class Reciprocal(BrowsingModel):
    """``seen(i) = 1 / i``, as in reciprocal rank."""

    def seen(self, position: IntArray) -> FloatArray:
        return reciprocal(position)


@lru_cache(maxsize=64)
def powers(p: float) -> PositionTable:
    """p^(position - 1), and 0 at position 0."""
    return PositionTable(lambda position: np.power(p, position - 1.0))


@dataclass(frozen=True)
class Geometric(BrowsingModel):
    """``seen(i) = p^(i - 1)``: goes on to the next document with the chance p, as in RBP (Moffat and Zobel, 2008)."""

    p: float

    def seen(self, position: IntArray) -> FloatArray:
        return powers(self.p)(position)

    @property
    def total(self) -> float:
        return 1.0 / (1.0 - self.p)

    def share(self, position: IntArray) -> FloatArray:
        """``(1 - p)·p^(i - 1)``."""
        return (1.0 - self.p) * self.seen(position)


@dataclass(frozen=True)
class TopK(BrowsingModel):
    """``seen(i) = 1`` for each document in the top k, as in precision; positions are 0 below it."""

    k: int | None = None  #: how many positions there are; None for no end

    def seen(self, position: IntArray) -> FloatArray:
        return (position > 0).astype(np.float64)

    @property
    def total(self) -> float:
        return math.inf if self.k is None else float(self.k)


@dataclass(frozen=True)
class Unseen:
    """From positions in a prior to ``1 - seen(position)``: the chance that the prior left a document to find."""

    browsing: BrowsingModel

    def __call__(self, position: IntArray) -> FloatArray:
        return 1.0 - self.browsing.seen(position)
