"""Scores that keep the order of a list, for runs whose order is what their ranking is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ..data.arrays import FloatArray, IntArray


def keeping_order(query: IntArray, rank: Any, scores: Sequence[Any] | None = None) -> FloatArray:
    """Scores by which every ranking has the order of the ranks, ties included.

    They are the given scores as 32-bit floats, each a step of a float below the one before where it is not less anyway.
    Where a score is missing, all are minus the position.

    Args:
        query: a number a row, the same for the rows of one query.
        rank: what orders the rows of a query, ascending; equal ranks keep the order of the rows.
    """
    order = np.lexsort((rank, query))
    query = query[order]
    first = np.flatnonzero(np.append(True, query[1:] != query[:-1])) if len(query) else np.zeros(0, int)
    block = np.repeat(np.arange(len(first)), np.diff(np.append(first, len(query))))
    within = np.arange(len(query)) - first[block]
    kept = -(within + 1.0)
    if scores is not None and all(map(_is_score, scores)):
        kept = _falling(np.array(scores, dtype=np.float64)[order].astype(np.float32), block, within)
    result = np.empty(len(query))
    result[order] = kept
    return result


def _is_score(score: Any) -> bool:
    return isinstance(score, (int, float)) and not isinstance(score, bool) and -1e38 < score < 1e38


def _falling(scores: Any, block: IntArray, within: IntArray) -> FloatArray:
    """32-bit floats, each below the one before in its block: as whole numbers in their order, the steps are 1."""
    bits = (scores + np.float32(0)).view(np.int32).astype(np.int64)  # -0 becomes 0
    step = np.where(bits >= 0, bits, -(bits & 0x7FFFFFFF)) + within
    wide = np.int64(1) << 34  # farther apart than any two floats
    step = np.minimum.accumulate(step - block * wide) + block * wide - within
    bits = np.where(step >= 0, step, -step | 0x80000000).astype(np.uint32)
    falling: FloatArray = bits.view(np.float32).astype(np.float64)
    return falling


def codes_of(ids: Iterable[Any]) -> IntArray:
    """A number for each id, the same for equal ones."""
    code: dict[Any, int] = {}
    return np.array([code.setdefault(q, len(code)) for q in ids], dtype=np.int64)
