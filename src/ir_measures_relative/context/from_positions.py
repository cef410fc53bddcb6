"""Absolute measures from the positions of relevant documents: the values of trec_eval, to the last bit.

trec_eval adds one term after the other, from the first position on, and divides last; so does :func:`sum_by_query`.
Its logarithms are C's, and so are those of :mod:`math`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import ir_measures
import numpy as np

from ..data.arrays import FloatArray, IntArray, PositionTable, max_by_query, rank_within, ratio, sum_by_query
from ..data.documents import Documents
from ..data.judgments import Judgments
from ..data.rankings import Rankings
from .measure_strings import value_of

#: The measures of ir_measures, by name, that ask of a ranking where its relevant documents are, and nothing else.
RELEVANT_ONLY = frozenset({"nDCG", "P", "R", "RR", "AP", "Success", "Rprec"})


def is_from_positions(measure: ir_measures.Measure, provider: str | None, as_given: bool) -> bool:
    """Whether :func:`values_from_positions` has the values that this provider would compute.

    The one of MS MARCO, of RR to a cutoff, has another order of equal scores, which counts where they are ``as_given``.
    """
    same = provider == "pytrec_eval" or (provider == "msmarco" and not as_given)
    return same and measure.NAME in RELEVANT_ONLY


def values_from_positions(
    measures: Sequence[ir_measures.Measure],
    rankings: Rankings,
    judgments: Judgments,
    positions: Callable[[int | None], IntArray],
) -> list[FloatArray]:
    """One value a query, of each measure.

    Args:
        positions: from a depth to where the run ranks each relevant document, 0 where it does not so far down.

    Raises:
        ValueError: a document that stands twice in a ranking.
    """
    plain = [m for m in measures if not value_of(m, "gains") and not value_of(m, "judged_only")]
    cutoffs = [value_of(m, "cutoff") for m in plain]
    position = positions(None if None in cutoffs else max(cutoffs)) if plain else None
    return [
        _otherwise(m, rankings, judgments)
        if position is None or m not in plain
        else _value(m, judgments.relevant, position)
        for m in measures
    ]


def _otherwise(measure: ir_measures.Measure, rankings: Rankings, judgments: Judgments) -> FloatArray:
    """The values with other gains for the labels, or in the rankings of judged documents alone."""
    grade, gains = judgments.grade, value_of(measure, "gains")
    if gains:
        grade = np.array([gains.get(label, label) for label in grade.tolist()], dtype=np.int64)
    docs = judgments.graded(grade)
    found = docs.positions_among_judged if value_of(measure, "judged_only") else docs.positions_in
    return _value(measure, docs, found(rankings, value_of(measure, "cutoff")))


def _value(measure: ir_measures.Measure, docs: Documents, position: IntArray) -> FloatArray:
    """``docs`` are all that are relevant, and maybe others; ``position`` is from 1, 0 for documents not retrieved."""
    cutoff, n = value_of(measure, "cutoff"), docs.n_queries
    relevant = docs.grade >= value_of(measure, "rel", 1)
    total = np.bincount(docs.query[relevant], minlength=n).astype(np.float64)
    deepest = total[docs.query] if measure.NAME == "Rprec" else math.inf if cutoff is None else cutoff
    rows = np.flatnonzero(relevant & (position > 0) & (position <= deepest))
    rows = rows[np.lexsort((position[rows], docs.query[rows]))]
    query, place = docs.query[rows], position[rows]
    if measure.NAME in ("RR", "Success"):
        first = max_by_query(1.0 / place, query, n)
        return first if measure.NAME == "RR" else (first > 0).astype(np.float64)
    if measure.NAME in ("P", "R", "Rprec"):
        found = np.bincount(query, minlength=n).astype(np.float64)
        return found / cutoff if measure.NAME == "P" else ratio(found, total)
    if measure.NAME == "AP":
        return ratio(sum_by_query(rank_within(query) / place, query, n), total)
    best = np.flatnonzero(relevant)
    best = best[np.lexsort((-docs.grade[best], docs.query[best]))]
    ideal = rank_within(docs.query[best])
    best, ideal = best[ideal <= deepest], ideal[ideal <= deepest]
    return ratio(
        sum_by_query(docs.grade[rows] / _discount(place), query, n),
        sum_by_query(docs.grade[best] / _discount(ideal), docs.query[best], n),
    )


# numpy's own logarithm differs from C's in its last bit.
_discount = PositionTable(lambda places: np.array([math.log2(place + 1) for place in places.tolist()]))
