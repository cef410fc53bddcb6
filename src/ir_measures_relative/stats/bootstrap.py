"""The studentized bootstrap of topics: t over resamples, and which t a share of them exceeds."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..data.arrays import FloatArray, IntArray
from ..tolerances import ROUNDED, TIED
from .pairs_and_ties import BATCH

#: The bootstrap says nothing where fewer topics differ, or more than this share of the resamples has no spread: its t
#: is infinite where a resample holds none of them.
FEWEST_DIFFERING, MOST_WITHOUT_SPREAD = 5, 0.01
# So many resamples are summed at a time.
_PART = 960
#: Stands for an infinite t, and can be compared and sorted.
_INFINITE = 1e100


def resampled_t(
    values: FloatArray,
    limit: FloatArray | float,
    counts: FloatArray,
    without_spread: float = MOST_WITHOUT_SPREAD,
) -> Iterator[tuple[IntArray, FloatArray]]:
    """Rows that the bootstrap says something of, and t of their resamples, resamples × rows.

    t is (mean of the resample - mean) / its standard error; of resamples that are all the same it is 0 or infinite. It
    says nothing of rows in which fewer than five topics differ from 0, or too many resamples have no spread.

    Args:
        values: rows × topics; NaN where a topic is not known.
        limit: up to which the values of a row are all the same; one, or one a row.
        counts: how often each resample holds each topic, the same for all rows: resamples × topics.
        without_spread: which share of the resamples may have none.
    """
    known = ~np.isnan(values)
    filled, number = np.where(known, values, 0.0), known.sum(axis=1)
    spread = np.max(values, axis=1, where=known, initial=-np.inf)
    spread = spread - np.min(values, axis=1, where=known, initial=np.inf)
    enough = np.flatnonzero(((filled != 0).sum(axis=1) >= FEWEST_DIFFERING) & (spread > limit))
    batch = max(1, BATCH // len(counts))
    for start in range(0, len(enough), batch):
        rows = enough[start : start + batch]
        mean = filled[rows].sum(axis=1) / number[rows]
        z = np.where(known[rows], filled[rows] - mean[:, None], 0.0)
        n = number[rows] if known[rows].all() else counts @ known[rows].T
        with np.errstate(divide="ignore", invalid="ignore"):
            means, second = _summed(counts, z) / n, _summed(counts, z**2)
            rest = without_rounding(second - n * means**2, second)
            t = means / np.sqrt(rest / (n - 1) / n)
        t = np.nan_to_num(t, nan=0.0, posinf=_INFINITE, neginf=-_INFINITE)
        certain = (rest == 0).mean(axis=0) <= without_spread
        yield rows[certain], t[:, certain]


def _summed(counts: FloatArray, values: FloatArray) -> FloatArray:
    """``counts @ values.T``; of one row in parts so small that BLAS does not wait for another thread."""
    if len(values) > 1:
        return counts @ values.T
    parts = [counts[at : at + _PART] @ values.T for at in range(0, len(counts), _PART)]
    return np.concatenate(parts)


def almost(t: FloatArray) -> FloatArray:
    """From where on the t of a resample is at least t: equal but for rounding is equal."""
    return t - TIED * np.maximum(np.abs(t), 1.0)


def critical(resampled: FloatArray, level: FloatArray | float) -> FloatArray:
    """The t above which (1 + how many resamples are at least t) / (1 + resamples) is below a level.

    It is infinite where there are too few resamples for that.

    Args:
        resampled: along the first axis; the result has the shape of the others.
        level: one, or one for each of these.
    """
    n = len(resampled)
    # The level of a confidence such as 1 - 0.95 is a bit above 0.05.
    beyond = np.ceil(np.round((n + 1) * np.asarray(level), 6)).astype(np.int64) - 1
    at = np.broadcast_to(n - np.maximum(beyond, 1), resampled.shape[1:])
    ordered = np.partition(resampled, np.unique(at), axis=0)
    t = np.take_along_axis(ordered, at[None], axis=0)[0]
    return np.where((beyond < 1) | (t >= _INFINITE / 2), np.inf, t + TIED * np.maximum(np.abs(t), 1.0))


def without_rounding(rest: FloatArray, of: FloatArray | np.float64) -> FloatArray:
    """What is left of a sum of squares; 0 where that is rounding."""
    return np.where(rest <= ROUNDED * of, 0.0, rest)
