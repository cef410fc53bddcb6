"""Intervals of several means that hold at once, for decisions: they have two ends, whatever the values are."""

from __future__ import annotations

import numpy as np

from ..arrays import FloatArray
from .bootstrap import FEWEST_DIFFERING
from .families import Family
from .paired_tests import PairedTestOptions, cautious_interval
from .pairs_and_ties import Pairs, topic_counts


def simultaneous_intervals(
    values: FloatArray, ends: tuple[float, float], options: PairedTestOptions
) -> tuple[FloatArray, FloatArray]:
    """The ends of the interval of the mean of each row, which all hold at once with the confidence asked for.

    A row that is 0 on every topic has the interval [0, 0], and no part in what follows. Of the others, each interval is
    the wider of the max-t interval of :class:`.Family` and of :func:`.cautious_interval`. Where fewer than five topics
    of a row differ from its most frequent value, the latter is made at Bonferroni's level.

    Args:
        values: shape (rows, topics); NaN where a row has no such topic.
        ends: the least and the greatest value that there can be.
        options: the confidence, the resamples and their seed.
    """
    pairs = Pairs.of_differences(values)
    lower, upper = np.zeros((2, len(values)))
    rows = np.flatnonzero((np.abs(np.nan_to_num(pairs.differences)) > 0).any(axis=1))
    if not len(rows):
        return lower, upper
    some = pairs.differences[rows]
    (together,) = Family().compared([(Pairs(some, pairs.limit), "t")], options)
    bonferroni = 1 - (1 - options.confidence) / len(rows)
    counts: dict[int, FloatArray] = {}
    for at, row in enumerate(rows.tolist()):
        known = some[at][~np.isnan(some[at])]
        n = len(known)
        if n not in counts:
            counts[n] = topic_counts(options.resamples, n, options.seed)
        _, count = np.unique(known, return_counts=True)
        few = n - int(count.max(initial=0)) < FEWEST_DIFFERING
        own = cautious_interval(known, ends, bonferroni if few else options.confidence, counts[n])
        lower[row] = max(np.fmin(own[0], together.lower[at]), ends[0])
        upper[row] = min(np.fmax(own[1], together.upper[at]), ends[1])
    return lower, upper
