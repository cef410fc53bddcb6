"""Sums, maxima and sorted tables over the rows of each query. ``query`` is sorted ascending throughout.

A query's value must not depend, not even in its last bit, on which other queries it is computed with: PyTerrier
scores in batches, and a campaign may be split over machines. So sums go through :func:`sum_by_query`, which adds
row by row, or :func:`row_sums`, and not ``sum(axis=1)``, whose order of addition follows the width of the table.
"""

from __future__ import annotations

import numpy as np

from ..judgments import FloatArray, rank_within
from ..rankings import IntArray


def sum_by_query(values: FloatArray, query: IntArray, n_queries: int) -> FloatArray:
    """The sum of the values of each query; 0 for a query without rows."""
    return np.bincount(query, weights=values, minlength=n_queries).astype(np.float64, copy=False)


def max_by_query(values: FloatArray, query: IntArray, n_queries: int) -> FloatArray:
    """The largest value of each query; 0 for a query without rows."""
    result = np.zeros(n_queries)
    np.maximum.at(result, query, values)
    return result


def table(values: FloatArray, query: IntArray, n_queries: int, fill: float) -> FloatArray:
    """The values of each query in a row of their own, padded with ``fill``; shape (queries, longest)."""
    column = rank_within(query) - 1
    result = np.full((n_queries, int(column.max(initial=-1)) + 1), fill)
    result[query, column] = values
    return result


def row_sums(values: FloatArray) -> FloatArray:
    """The sums along the last axis, added from left to right; 0 where that axis is empty."""
    if not values.shape[-1]:
        return np.zeros(values.shape[:-1])
    result: FloatArray = np.add.accumulate(values, axis=-1)[..., -1]
    return result


def ratio(numerator: FloatArray, denominator: FloatArray) -> FloatArray:
    """``numerator / denominator``, and 0 where the denominator is 0."""
    result = np.zeros(np.broadcast(numerator, denominator).shape)
    np.divide(numerator, denominator, out=result, where=denominator != 0)
    return result


def discount(position: IntArray) -> FloatArray:
    """1 / log2(position + 1), and 0 at position 0, which stands for not retrieved."""
    result = np.zeros(position.shape)
    np.divide(1.0, np.log2(position + 1.0), out=result, where=position > 0)
    return result


def ideal_dcg(gain: FloatArray, query: IntArray, n_queries: int, cutoff: int | None) -> FloatArray:
    """The DCG@cutoff of each query's rows ranked by gain, highest first."""
    order = np.lexsort((-gain, query))
    rank = rank_within(query[order])
    if cutoff is not None:
        rank = np.where(rank <= cutoff, rank, 0)
    return sum_by_query(gain[order] * discount(rank), query[order], n_queries)


def gain_of(grade: IntArray, dcg: str, gains: dict[int, int] | None) -> FloatArray:
    """The gain of each label: mapped by ``gains``, then as is ('log2') or 2^label - 1 ('exp-log2'); never below 0."""
    label = grade.astype(np.float64)
    for old, new in (gains or {}).items():
        label[grade == old] = new
    label = np.maximum(label, 0.0)
    if dcg != "exp-log2":
        return label
    if label.max(initial=0.0) > 1000:
        raise ValueError(
            f"the label {int(label.max())} is too large for dcg='exp-log2', whose gain is 2^label - 1; map the "
            "labels with gains=, or use dcg='log2'"
        )
    return np.exp2(label) - 1.0
