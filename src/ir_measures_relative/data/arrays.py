"""Types of arrays, and sums, maxima and ranks of the rows of each query (``query`` is ascending).

A query's value must not depend in its last bit on the other queries, since PyTerrier scores in batches. So use
:func:`sum_by_query` or :func:`row_sums`, whose order of addition is that of the rows, and :class:`PositionTable`.
"""

from __future__ import annotations

import ctypes
import itertools
import math
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

IntArray: TypeAlias = "NDArray[np.int64]"
FloatArray: TypeAlias = "NDArray[np.float64]"
BoolArray: TypeAlias = "NDArray[np.bool_]"
ObjectArray: TypeAlias = "NDArray[np.object_]"


def object_array(values: Iterable[Any]) -> ObjectArray:
    """Return the values as a one-dimensional array of Python objects."""
    return np.fromiter(values, dtype=object, count=len(values) if isinstance(values, list) else -1)


def block_starts(column: ObjectArray) -> IntArray:
    """Return the row at which each block of equal values starts."""
    if not len(column):
        return np.empty(0, dtype=np.int64)
    # A column often repeats one object: equal addresses need no comparison.
    address = addresses(column)
    rows = 1 + np.flatnonzero(address[1:] != address[:-1])
    if 2 * len(rows) > len(column):  # which then does not help
        rows = np.arange(1, len(column))
        after, before = column[1:], column[:-1]
    else:
        after, before = column[rows], column[rows - 1]
    try:
        changes = np.asarray(after != before, dtype=bool)
    except TypeError:  # pandas' NA is neither equal nor unequal to anything
        changes = np.array([(a == b) is not True for a, b in zip(after, before, strict=True)], dtype=bool)
    return np.append(np.int64(0), rows[changes])


def order_by_score(group: IntArray, score: NDArray[np.float32]) -> IntArray:
    """Return the stable order by ``group``, then by falling, finite ``score``: one key sorts faster than two."""
    bits = (np.float32(0) - score).view(np.int32)  # 0 of -0.0 too
    falling = np.where(bits < 0, ~(bits & 0x7FFFFFFF), bits)  # negative floats have rising magnitudes
    return np.argsort((group << 32) + falling, kind="stable")


def addresses(column: ObjectArray) -> IntArray:
    """Return the address of each row's object: rows with the same address hold the same object."""
    column = np.ascontiguousarray(column)  # of pointers to objects
    pointers = (ctypes.c_ssize_t * len(column)).from_address(column.ctypes.data)
    return np.ctypeslib.as_array(pointers).copy()  # which live no longer than the column


def rank_within(group: IntArray) -> IntArray:
    """Return the number 1, 2, 3 … of each row within its block of equal values; ``group`` is sorted."""
    starts = np.flatnonzero(np.diff(group, prepend=group[:1] - 1))
    counts = np.diff(np.append(starts, len(group)))
    return np.arange(1, len(group) + 1) - np.repeat(starts, counts)


def query_slices(query: IntArray, n_queries: int) -> list[slice]:
    """Return the rows of each query."""
    ends = np.searchsorted(query, np.arange(n_queries + 1)).tolist()
    return [slice(start, end) for start, end in itertools.pairwise(ends)]


def sum_by_query(values: FloatArray, query: IntArray, n_queries: int) -> FloatArray:
    """Return the sum of the values of each query, shape (…, queries), of values of shape (…, rows); 0 without rows."""
    if values.ndim == 1:
        return np.bincount(query, weights=values, minlength=n_queries).astype(np.float64, copy=False)
    many = math.prod(values.shape[:-1])
    cell = (np.arange(many)[:, None] * n_queries + query).reshape(-1)
    sums = np.bincount(cell, weights=values.reshape(-1), minlength=many * n_queries)
    return sums.astype(np.float64, copy=False).reshape(*values.shape[:-1], n_queries)


def max_by_query(values: FloatArray, query: IntArray, n_queries: int) -> FloatArray:
    """Return the largest value of each query, shape (…, queries), of values of shape (…, rows); 0 without rows."""
    result = np.zeros((*values.shape[:-1], n_queries))
    at: Any = (..., query)
    np.maximum.at(result, at, values)
    return result


def table(values: FloatArray, query: IntArray, n_queries: int, fill: float) -> FloatArray:
    """Return the values of each query in a row of their own, padded with ``fill``; shape (…, queries, longest)."""
    counts = np.bincount(query, minlength=n_queries)
    column = np.arange(len(query)) - np.repeat(np.cumsum(counts) - counts, counts)
    result = np.full((*values.shape[:-1], n_queries, int(counts.max(initial=0))), fill)
    result[..., query, column] = values
    return result


def row_sums(values: FloatArray) -> FloatArray:
    """Return the sums along the last axis, added from left to right; 0 where that axis is empty."""
    if not values.shape[-1]:
        return np.zeros(values.shape[:-1])
    return np.add.accumulate(values, axis=-1)[..., -1]


def ratio(numerator: FloatArray, denominator: FloatArray) -> FloatArray:
    """``numerator / denominator``, and 0 where the denominator is 0."""
    result = np.zeros(np.broadcast(numerator, denominator).shape)
    np.divide(numerator, denominator, out=result, where=denominator != 0)
    return result


class PositionTable:
    """A function of positions, 0 at position 0, which stands for not retrieved.

    numpy rounds logarithms and powers differently in arrays of different lengths; here blocks have one length.
    """

    _BLOCK = 1024

    def __init__(self, function: Callable[[FloatArray], FloatArray]) -> None:
        self._function = function
        self._values: FloatArray = np.zeros(1)

    def up_to(self, deepest: int) -> FloatArray:
        """Return the values at the positions 0, 1, …, ``deepest``."""
        values: FloatArray = self._values
        if deepest >= len(values):
            start = np.arange(len(values), deepest + 1, self._BLOCK)
            blocks = [self._function(np.arange(a, a + self._BLOCK, dtype=np.float64)) for a in start]
            self._values = values = np.concatenate([values, *blocks])
        return values[: deepest + 1]

    def __call__(self, position: IntArray) -> FloatArray:
        """Return the value at each position; any shape."""
        deepest = int(position.max(initial=0))
        values = self._values if deepest < len(self._values) else self.up_to(deepest)
        return values[position]
