"""LexiRank: the place of a ranking in lexiprecision's order, as a number on an interval scale."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from ..data.arrays import FloatArray, IntArray
from ..measures import parameters
from ..measures.measure import RelativeMeasure, register

if TYPE_CHECKING:
    from ..context.view import View


@lru_cache(maxsize=2**16)
def sets_of_positions(places: int, least: int, most: int) -> int:
    """How many sets of positions there are, of ``least`` to ``most`` of the ``places``: ``Σ_j C(places, j)``."""
    of_size = math.comb(places, least)
    total = of_size
    for size in range(least + 1, min(most, places) + 1):
        of_size = of_size * (places - size + 1) // size
        total += of_size
    return total


def place_in_order(positions: Sequence[int], relevant: int, depth: int, below: int | None) -> tuple[int, int]:
    """How many sets of positions are worse than this one by lexiprecision, and how many others there are, exactly.

    The combinatorial number system: the worse sets share the first i - 1 positions, and have the i-th further down or
    not at all. Those are the sets of the places below ``positions[i - 1]``, for each i in turn.

    Args:
        positions: of the relevant documents that are seen, ascending, from 1 to ``depth``.
        relevant: how many relevant documents there are.
        depth: how many places are seen.
        below: how many places there are below; None for no end. Sets that leave more documents to them do not count.

    >>> place_in_order([1, 4], relevant=2, depth=4, below=0)  # of six sets {1, 2} and {1, 3} alone are better
    (3, 5)
    """

    def sets(places: int, left: int) -> int:
        return sets_of_positions(places, 0 if below is None else max(left - below, 0), left)

    worse = sum(sets(depth - position, relevant - i) for i, position in enumerate(positions))
    return worse, sets(depth, relevant) - 1


class _LexiRank(RelativeMeasure):
    """The share of all arrangements of relevant documents that a ranking beats by lexiprecision.

    Lexiprecision (:data:`sgnLP`) orders sets of positions by their first position, then by the second, and so on.
    ``LexiRank = (sets that are worse) / (sets - 1)`` for each query: 1 for the best, 0 for the worst; an interval scale
    that needs no reference. With m relevant documents, the sets of at most m of the k places count. With ``n``, all
    documents are ranked in n places, and the sets count that leave at most n - k documents below. Range [0, 1]; 0 if
    there is one set alone. Sets are counted in exact integers; rankings that differ only far down may have the same
    floating-point value.

    **Not for** means over queries of different m, whose steps differ in length; nor for few relevant documents and a
    deep cutoff, where nearly all values of a good run are close to 1.

    Source: Diaz, EVIA 2023, Figure 1 and §7; the definition is this package's.

    Example:
        >>> from ir_measures_relative import LexiRank
        >>> qrels = {"q": {"A": 1, "B": 1}}
        >>> run = {"q": {"A": 4.0, "X": 3.0, "Y": 2.0, "B": 1.0}}
        >>> (LexiRank(n=4) @ 4).calc_aggregate(qrels, run)  # 1 and 4: of the other five, 23, 24 and 34 are worse
        0.6
    """

    __name__ = "LexiRank"
    PAPERS = {"diaz2023lexiprecision": ""}
    RELATIVE_TO = "chance"
    PRETTY_NAME = "Rank in the Order of Lexicographic Precision"
    SHORT_DESC = "The share of all arrangements of relevant documents that a ranking beats by lexiprecision."
    FORMULA = (
        r"\mathrm{LexiRank}@k = \frac{|\{S : S \prec P\}|}{|\{S\}| - 1}, \qquad "
        r"S, P \subseteq \{1, \dots, k\},\ |S| \le m"
    )
    SEE_ALSO = ("sgnLP", "rrLP", "nDCG_UE")
    SUPPORTED_PARAMS = {
        "cutoff": parameters.count("ranking cutoff threshold", required=True),
        "n": parameters.count(
            "how many places a whole ranking has: the k that are seen and those below; no limit if not given"
        ),
        "rel": parameters.rel(),
        "judged_only": parameters.judged_only(),
    }

    @property
    def value_range(self) -> tuple[float, float]:
        return 0.0, 1.0

    def check_together(self) -> None:
        if self.get("n") is not None and self.get("n") < self.get("cutoff"):
            raise ValueError(
                f"{self!r}: n={self.get('n')} documents are ranked, and the cutoff is {self.get('cutoff')}; give a "
                "cutoff of at most n"
            )

    def score(self, view: View) -> FloatArray:
        """The share of the other arrangements that are worse, of each query; 0 without relevant documents."""
        docs = view.relevant
        keep = docs.grade >= self.get("rel")
        position = view.at(self.get("cutoff"), self.get("judged_only")).positions(docs)[keep]
        query = docs.query[keep]
        relevant = np.bincount(query, minlength=docs.n_queries)
        order = np.lexsort((position, query))
        of_queries = np.split(position[order], np.cumsum(relevant)[:-1])
        seen = [p[p > 0].tolist() for p in of_queries]
        if self.get("n") is not None:
            self._check_n(view, relevant - np.array([*map(len, seen)], dtype=np.int64))
        return np.array([self._value(*of_query) for of_query in zip(seen, relevant.tolist(), strict=True)])

    def _check_n(self, view: View, hidden: IntArray) -> None:
        """Raises ValueError where a ranking and the relevant documents that it hides are more than ``n`` documents."""
        (cutoff, n), docs = map(self.get, ("cutoff", "n")), view.documents
        if self.get("judged_only"):
            query = docs.query[view.at(cutoff, True).positions(docs) > 0]
        else:
            query = view.at(cutoff).top().docs.query
        held = np.bincount(query, minlength=docs.n_queries)
        for i in np.flatnonzero(held + hidden > n)[:1]:
            raise ValueError(
                f"{self!r}: query {docs.query_ids[i]!r} has {held[i]} documents in the top {cutoff} and {hidden[i]} "
                f"other relevant ones, which is more than n={n}; give a larger n, or none"
            )

    def _value(self, positions: list[int], relevant: int) -> float:
        depth, n = self.get("cutoff"), self.get("n")
        worse, others = place_in_order(positions, relevant, depth, None if n is None else n - depth)
        return worse / others if others else 0.0


LexiRank = register(_LexiRank())
