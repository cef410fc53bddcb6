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

    Lexiprecision (:data:`sgnLP`) orders rankings by the position of their first relevant document, then by that of the
    second, and so on. The order is total on sets of positions. ``LexiRank = (sets that are worse) / (sets - 1)``, for
    each query: 1 for the best set, 0 for the worst, and one step of the order is as long as any other. So it is an
    interval scale for this order in the sense of Ferrante, Ferro and Fuhr, and it needs no reference. Range [0, 1].

    **Which arrangements count.** One looks at k places, and the query has m relevant documents. The sets of at most m
    of the k places count, each once, ``Σ_{j≤min(k,m)} C(k, j)`` in all: a ranking may hide any number of relevant
    documents below the cutoff, or not retrieve them, and how it does so makes no difference. With ``n``, all documents
    are ranked in n places, and the sets count that leave at most n - k documents to hide. With ``n`` = k these are the
    ``C(n, m)`` arrangements of the paper's Figure 1. If there is one set only, as without a relevant document, the
    value is 0. There are no bounds over unjudged documents.

    **Rankings that end early.** With ``n``, a ranking of fewer than k documents may leave out more relevant ones than
    any set that counts. It beats the sets that lexiprecision puts below it, as any ranking does. An empty ranking beats
    none, and has 0. If the documents of the ranking and the other relevant ones are more than n, ``n`` is too small.
    This is an error that names the query, as also where n is below m.

    **When values are equal.** The sets are counted in exact integers, and divided into a double. Two doubles are equal
    if the sets are the same, and also if they are nearer than a double can say, about 1 in 10^16 of all sets. With 20
    relevant documents and k = 100 there are 7·10^20 sets. So rankings that differ only far down may share a value;
    :data:`sgnLP` still tells them apart. Where the exact places are compared, the order is sgnLP's. But with ``n``, a
    ranking that ends early may have the place of a set that counts.

    When not to use it: to compare or average queries of different m as though their steps were equal. A step is
    ``1/(sets - 1)`` of a query, so the scale is another for each m, and a mean over queries is no interval scale. Most
    arrangements are bad: with m relevant documents in n places, all rankings with one at the top are above 1 - m/n.
    With few relevant documents nearly all values of a good run are then close to 1; use a small cutoff.

    Source: Diaz, "Best-Case Retrieval Evaluation: Improving the Sensitivity of Reciprocal Rank with Lexicographic
    Precision", 2023, Figure 1. Its §7 suggests that there is an interval measure of this order; the definition is this
    package's. Ferrante, Ferro and Fuhr, "Towards Meaningful Statements in IR Evaluation: Mapping Evaluation Measures to
    Interval Scales", IEEE Access 2021, say what such a scale is.

    Example:
        >>> from ir_measures_relative import LexiRank
        >>> qrels = {"q": {"A": 1, "B": 1}}
        >>> run = {"q": {"A": 4.0, "X": 3.0, "Y": 2.0, "B": 1.0}}
        >>> (LexiRank(n=4) @ 4).calc_aggregate(qrels, run)  # 1 and 4: of the other five, 23, 24 and 34 are worse
        0.6
        >>> (LexiRank @ 4).calc_aggregate(qrels, run)  # and 1, 2, 3, 4 alone and nothing are worse, too: 8 of 10
        0.8
    """

    __name__ = "LexiRank"
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
