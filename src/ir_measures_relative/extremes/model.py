"""What the kinds of measures have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np

from ..arrays import BoolArray, FloatArray, IntArray
from .labelings import OpenDocuments

#: Values closer than this are taken for equal: far above what rounding does, far below what a label does.
TOLERANCE = 1e-11


class Interval(NamedTuple):
    """The least and the greatest value of each query, any shape (…, queries)."""

    lower: FloatArray
    upper: FloatArray
    exact: BoolArray  #: whether labelings attain both ends

    def of(self, runs: IntArray) -> Interval:
        """The intervals of some runs."""
        return Interval(self.lower[runs], self.upper[runs], self.exact[runs])

    def minus(self, other: Interval) -> Interval:
        """What the difference of two values cannot leave, whatever they have to do with each other."""
        lower, upper = self.lower - other.upper, self.upper - other.lower
        return Interval(lower, upper, upper - lower <= TOLERANCE)

    def within(self, other: Interval) -> Interval:
        """What two intervals have in common, where both hold."""
        return Interval(
            np.maximum(self.lower, other.lower),
            np.minimum(self.upper, other.upper),
            self.exact | other.exact,
        )


class Model(ABC):
    """A measure on the labelings of a campaign.

    Args:
        open_docs: the documents.

    Attributes:
        jobs: in how many processes a model that has much to compute may do so.
        time_limit: how many seconds of CPU time a search for one extreme, of one query, may take.
    """

    jobs: int = 1
    time_limit: float | None = 1.0

    def __init__(self, open_docs: OpenDocuments) -> None:
        self.open_docs = open_docs

    @property
    def open(self) -> BoolArray:
        return self.open_docs.open

    def closed(self) -> BoolArray:
        """In which queries the judgments leave nothing open."""
        counts = np.bincount(self.open_docs.docs.query[self.open], minlength=self.open_docs.n_queries)
        result: BoolArray = counts == 0
        return result

    @property
    @abstractmethod
    def known_gain(self) -> FloatArray:
        """The gain of every judged document, 0 for an open one."""

    @abstractmethod
    def sampled(self, gains: FloatArray) -> FloatArray:
        """The values of some labelings, shape (runs, labelings, queries).

        Args:
            gains: of the open documents, in their order; shape (labelings, open documents).
        """

    @abstractmethod
    def one(self) -> Interval:
        """Of every run, shape (runs, queries)."""

    @abstractmethod
    def difference(self, a: IntArray, b: IntArray) -> Interval:
        """Of run a[i] less run b[i], shape (pairs, queries)."""

    @abstractmethod
    def influence(self, a: int, b: int, reach: FloatArray) -> FloatArray:
        """About how far a label of each document of ``open_docs.docs`` can move the difference of two runs.

        Args:
            reach: the largest size that the difference can have in each query.

        Returns:
            one value a document: 0 where it is judged, or can move nothing.
        """


class Valued(Model):
    """A model that knows the value itself: of measures for which trec_eval does not."""

    @abstractmethod
    def value(self) -> FloatArray:
        """The value of every run where no open document has a gain, shape (runs, queries)."""
