"""Intervals of several means that hold at once, for decisions: they have two ends, whatever the values are."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..data.arrays import FloatArray
from .bootstrap import FEWEST_DIFFERING
from .families import Family
from .paired_tests import PairedTestOptions, cautious_interval
from .pairs_and_ties import Pairs, topic_counts

#: A row in which fewer topics differ from 0 has resamples with a t so large that it would widen the intervals of all.
_SPARSE = 2 * FEWEST_DIFFERING


def simultaneous_intervals(
    values: FloatArray, ends: tuple[float, float], options: PairedTestOptions
) -> tuple[FloatArray, FloatArray]:
    """The ends of the interval of the mean of each row, which all hold at once with the confidence asked for.

    A row that is 0 on every topic has the interval [0, 0], and no part in what follows. Each of the R others may miss
    its mean with a probability of (1 - confidence) / R: a sparse one, in which fewer than ten topics differ from 0, has
    the interval of :func:`.cautious_interval` for that; the rest share theirs by max-t, and each has the wider of the
    interval of :class:`.Family` and of :func:`.cautious_interval`.

    Args:
        values: shape (rows, topics); NaN where a row has no such topic.
        ends: the least and the greatest value that there can be.
        options: the confidence, the resamples and their seed.
    """
    pairs = Pairs.of_differences(values)
    lower, upper = np.zeros((2, len(values)))
    differing = (np.abs(np.nan_to_num(pairs.differences)) > 0).sum(axis=1)
    rows = np.flatnonzero(differing)
    if not len(rows):
        return lower, upper
    level = (1 - options.confidence) / len(rows)
    dense = np.flatnonzero(differing >= _SPARSE)
    shared = replace(options, confidence=1 - level * len(dense)) if len(dense) else options
    together = np.full((2, len(values)), np.nan)
    if len(dense):
        (found,) = Family().compared([(Pairs(pairs.differences[dense], pairs.limit), "t")], shared)
        together[:, dense] = found.lower, found.upper
    counts: dict[int, FloatArray] = {}
    for row in rows.tolist():
        known = pairs.differences[row][~np.isnan(pairs.differences[row])]
        n = len(known)
        if n not in counts:
            counts[n] = topic_counts(options.resamples, n, options.seed)
        confidence = shared.confidence if differing[row] >= _SPARSE else 1 - level
        own = cautious_interval(known, ends, confidence, counts[n])
        lower[row] = max(np.fmin(own[0], together[0, row]), ends[0])
        upper[row] = min(np.fmax(own[1], together[1, row]), ends[1])
    return lower, upper
