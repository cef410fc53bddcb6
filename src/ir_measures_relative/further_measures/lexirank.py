"""LexiRank: the place of a ranking in lexiprecision's order, as a number on an interval scale."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from ..data.arrays import FloatArray
from ..measures import parameters
from ..measures.measure import RelativeMeasure, register

if TYPE_CHECKING:
    from ..context.view import View


@lru_cache(maxsize=2**16)
def sets_of_positions(places: int, most: int) -> int:
    """How many sets of at most ``most`` of the ``places`` there are: ``Σ_j C(places, j)``."""
    total = of_size = 1
    for size in range(1, min(most, places) + 1):
        of_size = of_size * (places - size + 1) // size
        total += of_size
    return total


def place_in_order(positions: Sequence[int], relevant: int, depth: int) -> tuple[int, int]:
    """How many sets of positions are worse than this one by lexiprecision, and how many others there are, exactly.

    The worse sets share the first i - 1 positions, and have the i-th further down or not at all.

    >>> place_in_order([1, 4], relevant=2, depth=4)  # of eleven sets {1, 2} and {1, 3} alone are better
    (8, 10)
    """
    worse = sum(sets_of_positions(depth - position, relevant - i) for i, position in enumerate(positions))
    return worse, sets_of_positions(depth, relevant) - 1


class _LexiRank(RelativeMeasure):
    """The share of all arrangements of relevant documents that a ranking beats by lexiprecision.

    Lexiprecision (:data:`sgnLP`) orders sets of positions by their first position, then by the second, and so on.
    ``LexiRank = (sets that are worse) / (sets - 1)`` for each query, over the sets of at most m of the k places, m the
    number of relevant documents: an interval scale that needs no reference. Range [0, 1]; 0 without relevant documents.
    **Not for** means over queries of different m, whose steps differ in length; nor for few relevant documents and a
    deep cutoff, where nearly all values of a good run are close to 1.

    Source: Diaz, EVIA 2023, Figure 1 and §7; the definition is this package's.

    Example:
        >>> from ir_measures_relative import LexiRank
        >>> qrels = {"q": {"A": 1, "B": 1}}
        >>> run = {"q": {"A": 4.0, "X": 3.0, "Y": 2.0, "B": 1.0}}
        >>> (LexiRank @ 4).calc_aggregate(qrels, run)  # 1 and 4: of the ten others, 12 and 13 alone are better
        0.8
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
        "rel": parameters.rel(),
        "judged_only": parameters.judged_only(),
    }

    @property
    def value_range(self) -> tuple[float, float]:
        return 0.0, 1.0

    def score(self, view: View) -> FloatArray:
        """The share of the other arrangements that are worse, of each query."""
        docs, cutoff = view.relevant, self.get("cutoff")
        keep = docs.grade >= self.get("rel")
        position, query = view.at(cutoff, self.get("judged_only")).positions(docs)[keep], docs.query[keep]
        relevant = np.bincount(query, minlength=docs.n_queries)
        order = np.lexsort((position, query))
        of_queries = np.split(position[order], np.cumsum(relevant)[:-1])
        places = [
            place_in_order(of_query[of_query > 0].tolist(), m, cutoff)
            for of_query, m in zip(of_queries, relevant.tolist(), strict=True)
        ]
        return np.array([worse / others if others else 0.0 for worse, others in places])


LexiRank = register(_LexiRank())
