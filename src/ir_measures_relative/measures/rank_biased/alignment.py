"""Rank-biased alignment: how near the places of the documents are that two rankings share."""

from __future__ import annotations

import numpy as np

from ...arrays import FloatArray, IntArray, sum_by_query
from ..gains import persistence
from .pairs import Pair, Side


def rank_biased_alignment(pair: Pair, p: float, kind: str) -> FloatArray:
    """RBA of each query.

    Args:
        pair: the rankings, with their ties if tied documents are to share what their positions weigh.
        p: how likely a searcher is to go one position deeper.
        kind: 'min' or 'max'.
    """
    run, reference = (_weight(side.first, side.last, p) for side in (pair.run, pair.reference))
    in_both = run[pair.in_run], reference[pair.in_reference]
    if kind == "min":
        return _sum_of_shared(np.sqrt(in_both[0] * in_both[1]), pair)
    # The weights of either ranking sum to 1, so that Σ √(v·w) = 1 - ½·Σ (√v - √w)²; a ranking and itself come to 1.
    apart = _sum_of_shared((np.sqrt(in_both[0]) - np.sqrt(in_both[1])) ** 2, pair)
    missing_in_reference = _apart(pair.run, run, pair.in_run, pair.reference.length, p)
    missing_in_run = _apart(pair.reference, reference, pair.in_reference, pair.run.length, p)
    return (1.0 - 0.5 * (apart + (missing_in_reference + missing_in_run))).clip(0.0, 1.0)


def _sum_of_shared(values: FloatArray, pair: Pair) -> FloatArray:
    """The sum over the documents that both hold; the smallest first, since the pair has them in the run's order."""
    order = np.lexsort((values, pair.query))
    return sum_by_query(values[order], pair.query[order], pair.n_queries)


def _weight(first: IntArray, last: IntArray, p: float) -> FloatArray:
    """(1 - p)·p^(i - 1) at the position i: the mean over a group of tied documents."""
    chance = persistence(p)
    if (first == last).all():
        return (1.0 - p) * chance(first)
    size = last - first + 1
    return np.where(size == 1, (1.0 - p) * chance(first), (chance(first) - chance(last + 1)) / size)


def _apart(side: Side, weight: FloatArray, shared: IntArray, length: IntArray, p: float) -> FloatArray:
    """Σ (√v - √w)² over the documents that the other ranking lacks, where they follow it in their order, ties as here.

    Args:
        side: the ranking that holds them.
        weight: of each of its rows.
        shared: its rows that the other ranking holds too.
        length: of the other ranking of each query.
    """
    lacking = np.ones(len(side.query), dtype=bool)
    lacking[shared] = False
    rows = np.flatnonzero(lacking)
    query = side.query[rows]
    before = np.concatenate([[0], np.cumsum(lacking)])  # documents lacking, in the rows before each
    start = np.searchsorted(side.query, query)
    first = before[start + side.first[rows] - 1] - before[start] + 1
    last = before[start + side.last[rows]] - before[start]
    follows = _weight(length[query] + first, length[query] + last, p)
    return sum_by_query((np.sqrt(weight[rows]) - np.sqrt(follows)) ** 2, query, len(length))
