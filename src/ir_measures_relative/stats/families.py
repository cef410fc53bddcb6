"""Families of comparisons: p-values and intervals that hold for all of them at once.

The interval of a row never contradicts its corrected p: it is made at the level at which the row was tested.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..arguments import check_choice
from ..data.arrays import BoolArray, FloatArray
from ..messages import needs_extra
from .intervals import (
    MOST_WITHOUT_SPREAD,
    critical_t,
    lowest_tied,
    mean_and_error,
    resampled_t,
    topic_counts,
)
from .paired_tests import TESTS, PairedTestOptions, Pairs, paired_test

#: The correction by one bootstrap of topics for all rows.
MAX_T = "max-t"
# The level at which the rows of a family are made comparable.
_ROW_LEVEL = 0.05
# statsmodels' names of the correction that is computed here.
_HOLM = ("holm", "h")


@dataclass(frozen=True, kw_only=True)
class Family:
    """Rows that are corrected together, of the whole ``"call"`` or of each ``"measure"``, and how; None: not at all."""

    correction: str | None = MAX_T
    extent: str = "call"

    def __post_init__(self) -> None:
        check_choice("family", self.extent, ("call", "measure"))
        if self.correction != MAX_T:
            check_correction(self.correction)

    def test(self, members: Sequence[tuple[Pairs, str]], options: PairedTestOptions) -> list[Corrected]:
        r"""Return the corrected tests of the pairs of each measure; all measures have the same topics.

        By max-t, \|t\| of each row is measured by what 5 % of its own resamples exceed (Beran 1988), and p is how
        often the largest of any row is at least that; intervals are wider by the factor that 1 - confidence of the
        resamples keep. Neither says more than the row's own test. Sparse rows are corrected by Bonferroni's method,
        tests that do not go by t by Holm's.
        """
        families = [members] if self.extent == "call" else [[member] for member in members]
        return [row for some in families if some for row in _test_family(some, self.correction, options)]


class Corrected(NamedTuple):
    """The result for each row of a measure: p, p corrected, and the ends of the interval that goes with it."""

    p: FloatArray
    p_corrected: FloatArray
    lower: FloatArray
    upper: FloatArray


def _test_family(
    members: Sequence[tuple[Pairs, str]], correction: str | None, options: PairedTestOptions
) -> list[Corrected]:
    splits = np.cumsum([len(pairs.differences) for pairs, _ in members])[:-1]

    def test_each_row(confidence: FloatArray) -> list[FloatArray]:
        parts = zip(members, np.split(confidence, splits), strict=True)
        results = [paired_test(pairs, test, options, levels) for (pairs, test), levels in parts]
        return [np.concatenate(part) for part in zip(*results, strict=True)]

    d = np.concatenate([pairs.differences for pairs, _ in members])
    if correction == MAX_T and not all(TESTS[test].by_t for _, test in members):
        correction = "holm"
    confidence, level = np.full(len(d), options.confidence), 1 - options.confidence
    p, lower, upper = test_each_row(confidence)
    p_corrected, number = p, int((~np.isnan(p) | ~np.isnan(lower)).sum())
    if correction == MAX_T and number > 1:
        mean, error, _ = mean_and_error(d)
        with np.errstate(divide="ignore", invalid="ignore"):
            t = np.abs(mean) / error
        limit = np.concatenate([np.full(len(pairs.differences), pairs.limit) for pairs, _ in members])
        bootstrapped, p_together, reach = _bootstrap_together(d, limit, t, options)
        p_corrected = np.minimum(1.0, np.where(bootstrapped, np.fmax(p, p_together), p * number))
        if not bootstrapped.all():
            _, lower, upper = test_each_row(np.where(bootstrapped, confidence, 1 - level / number))
        lower = np.where(bootstrapped, np.minimum(lower, mean - reach * error), lower)
        upper = np.where(bootstrapped, np.maximum(upper, mean + reach * error), upper)
    elif correction is not None and number > 1:
        p_corrected = correct_p_values(p, correction, level)
        share = np.where(p_corrected > 0, p / np.where(p_corrected > 0, p_corrected, 1.0), 1 / number)
        _, lower, upper = test_each_row(1 - level * np.where(np.isnan(share), 1.0, share))
    columns = [np.split(x, splits) for x in (p, p_corrected, lower, upper)]
    return [Corrected(*measure) for measure in zip(*columns, strict=True)]


def _bootstrap_together(
    values: FloatArray, limit: FloatArray, t: FloatArray, options: PairedTestOptions
) -> tuple[BoolArray, FloatArray, FloatArray]:
    """Resample the topics of all rows at once.

    A resample in which one row has no spread has an infinite largest t. So the allowed share of such resamples is
    divided among the rows.

    Returns:
        whether each row can be bootstrapped, its p, and how far its interval reaches in standard errors.
    """
    counts = topic_counts(options.resamples, values.shape[1], options.seed)
    bootstrapped, largest = np.zeros(len(values), dtype=bool), np.full(options.resamples, -np.inf)
    unit = np.full(len(values), np.nan)  # the critical value of each row on its own
    for rows, resampled in resampled_t(values, limit, counts, MOST_WITHOUT_SPREAD / len(values)):
        bootstrapped[rows] = True
        unit[rows] = critical = critical_t(np.abs(resampled), _ROW_LEVEL)
        largest = np.maximum(largest, (np.abs(resampled) / critical).max(axis=1, initial=-np.inf))
    if not bootstrapped.any():
        return bootstrapped, unit, unit
    ordered = np.sort(largest)
    with np.errstate(invalid="ignore"):
        reached = len(ordered) - np.searchsorted(ordered, lowest_tied(t / unit))
    p = np.where(bootstrapped & ~np.isnan(t), (1 + reached) / (1 + len(ordered)), np.nan)
    return bootstrapped, p, critical_t(ordered, 1 - options.confidence) * unit


def check_correction(correction: str | None) -> None:
    """Raise ValueError for a correction that statsmodels does not know; ImportError where it needs statsmodels."""
    if correction is None or correction in _HOLM:
        return
    try:
        from statsmodels.stats.multitest import multitest_alias
    except ImportError:
        raise needs_extra(f"correction={correction!r}", "compare", "give 'holm' or None") from None
    if correction not in multitest_alias or multitest_alias[correction] == "lfdr":
        raise ValueError(
            f"correction={correction!r} is not one that statsmodels' multipletests knows; give one such as 'holm', "
            "'bonferroni', 'fdr_bh', or None"
        )


def correct_p_values(p: FloatArray, correction: str | None, level: float = 0.05) -> FloatArray:
    """Correct p-values, shape (…, tests), for their number in each row; NaN do not count.

    Args:
        p: the p-values.
        correction: a method of statsmodels' ``multipletests``, such as ``"holm"`` or ``"fdr_bh"``; None corrects
            nothing.
        level: for the few corrections that depend on it.
    """
    check_correction(correction)
    if correction is None or not p.size:
        return p
    if correction in _HOLM:  # of all rows at once: statsmodels takes a minute for a thousand
        order = np.argsort(p, axis=-1)
        count = (~np.isnan(p)).sum(axis=-1, keepdims=True)
        factor = np.maximum(count - np.arange(p.shape[-1]), 1)
        stepped = np.maximum.accumulate(np.take_along_axis(p, order, axis=-1) * factor, axis=-1)
        result = np.empty_like(p)
        np.put_along_axis(result, order, np.minimum(stepped, 1.0), axis=-1)
        return result
    from statsmodels.stats.multitest import multipletests

    result = p.copy()
    for row in result.reshape(-1, p.shape[-1]):
        defined = np.flatnonzero(~np.isnan(row))
        if len(defined):
            row[defined] = multipletests(row[defined], alpha=level, method=correction)[1]
    return result
