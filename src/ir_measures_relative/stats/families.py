"""Families of comparisons: p-values and intervals that hold for all of them at once.

The interval of a row never contradicts its corrected p: it is made at the level at which the row was tested.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeAlias, TypeVar

import numpy as np

from ..arguments import check_choice
from ..data.arrays import BoolArray, FloatArray
from ..messages import needs_extra
from .intervals import FEWEST_DIFFERING, MOST_WITHOUT_SPREAD, almost, critical, mean_and_error, resampled_t
from .paired_tests import TESTS, PairedTestOptions, cautious_interval, paired_test
from .pairs_and_ties import Pairs, topic_counts

#: The correction by one bootstrap of topics for all rows.
MAX_T = "max-t"
#: The level at which rows of a family are made comparable.
_OWN = 0.05
#: What statsmodels calls the correction that is computed here.
_HOLM = ("holm", "h")

_Member = TypeVar("_Member")
_Found = TypeVar("_Found")


@dataclass(frozen=True, kw_only=True)
class Family:
    """Which rows are corrected together, and how.

    Args:
        correction: ``"max-t"``, ``"holm"``, another that statsmodels' ``multipletests`` knows, or None.
        extent: ``"call"``: all rows, of all measures; or ``"measure"``: those of each measure.

    Raises:
        ValueError: a value that is not allowed.
        ImportError: a correction that needs statsmodels, which is not installed.
    """

    correction: str | None = MAX_T
    extent: str = "call"

    def __post_init__(self) -> None:
        check_choice("family", self.extent, ("call", "measure"))
        if self.correction != MAX_T:
            check_correction(self.correction)

    def compared(self, members: Sequence[tuple[Pairs, str]], options: PairedTestOptions) -> list[Corrected]:
        """What the test of each measure says of its pairs, corrected; all measures have the same topics.

        By max-t, \\|t\\| of each row is measured by what 5 % of its own resamples exceed (Beran 1988; else one row with
        a heavy tail sets the scale of all). p is how often the largest of any row is at least the row's own, over
        resamples of topics that all rows share, with differences shifted to a mean of 0. The intervals are the rows'
        own, all made wider by the factor that the largest exceeds in 1 - confidence of the resamples. Neither says more
        than the row's own test does. A row that the bootstrap says nothing of (fewer than five topics differ) is
        corrected by Bonferroni's method; and by Holm's are tests that do not go by t: Wilcoxon's, sign, randomization.
        """
        return self._by_extent(members, lambda some: _compared(some, self.correction, options))

    def _by_extent(
        self, members: Sequence[_Member], of_family: Callable[[Sequence[_Member]], list[_Found]]
    ) -> list[_Found]:
        if self.extent == "call":
            return of_family(members) if members else []
        return [one for member in members for one in of_family([member])]


class Corrected(NamedTuple):
    """What is said of each row of a measure: p, p corrected, and the ends of the interval that goes with it."""

    p: FloatArray
    p_corrected: FloatArray
    lower: FloatArray
    upper: FloatArray


#: What the bootstrap of a family says of its rows: which it can tell of, their p, and how far intervals reach, in
#: standard errors.
_Together: TypeAlias = tuple[BoolArray, FloatArray, FloatArray]


def _compared(
    members: Sequence[tuple[Pairs, str]], correction: str | None, options: PairedTestOptions
) -> list[Corrected]:
    splits = np.cumsum([len(pairs.differences) for pairs, _ in members])[:-1]

    def alone(confidence: FloatArray) -> list[FloatArray]:
        parts = zip(members, np.split(confidence, splits), strict=True)
        found = [paired_test(pairs, test, options, one) for (pairs, test), one in parts]
        return [np.concatenate(part) for part in zip(*found, strict=True)]

    d = np.concatenate([pairs.differences for pairs, _ in members])
    mean, error, _ = mean_and_error(d)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.abs(mean) / error
    if correction == MAX_T and not all(TESTS[test].of_t for _, test in members):
        correction = "holm"
    limit = np.concatenate([np.full(len(pairs.differences), pairs.limit) for pairs, _ in members])
    p, p_corrected, lower, upper = _corrected(
        alone,
        lambda: _together(d, limit, t, options),
        lambda reach: (mean - reach * error, mean + reach * error),
        correction,
        len(d),
        options,
    )
    columns = [np.split(x, splits) for x in (p, p_corrected, lower, upper)]
    return [Corrected(*one) for one in zip(*columns, strict=True)]


def _together(
    values: FloatArray,
    limit: FloatArray,
    t: FloatArray,
    options: PairedTestOptions,
) -> _Together:
    """One bootstrap of topics for all rows: the largest t of a resample is compared with the t of each row.

    A resample in which some row has no spread has an infinite t, for all rows: so each may have but its part of those.
    """
    counts = topic_counts(options.resamples, values.shape[1], options.seed)
    there, largest = np.zeros(len(values), dtype=bool), np.full(options.resamples, -np.inf)
    own = np.full(len(values), np.nan)
    most = MOST_WITHOUT_SPREAD / len(values)
    for rows, resampled in resampled_t(values, limit, counts, most):
        there[rows] = True
        own[rows] = alone = critical(np.abs(resampled), _OWN)
        largest = np.maximum(largest, (np.abs(resampled) / alone).max(axis=1, initial=-np.inf))
    if not there.any():
        return there, own, own
    ordered = np.sort(largest)
    with np.errstate(invalid="ignore"):
        reached = len(ordered) - np.searchsorted(ordered, almost(t / own))
    p = np.where(there & ~np.isnan(t), (1 + reached) / (1 + len(ordered)), np.nan)
    return there, p, critical(ordered, 1 - options.confidence) * own


def _corrected(
    alone: Callable[[FloatArray], list[FloatArray]],
    together: Callable[[], _Together],
    reaching: Callable[[FloatArray], tuple[FloatArray, FloatArray]],
    correction: str | None,
    rows: int,
    options: PairedTestOptions,
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """p, p corrected and the ends of the intervals, from what is said of each row alone, and of all together."""
    confidence, level = np.full(rows, options.confidence), 1 - options.confidence
    p, lower, upper = alone(confidence)
    number = int((~np.isnan(p) | ~np.isnan(lower)).sum())
    if correction is None or number < 2:
        return p, p, lower, upper
    if correction != MAX_T:
        p_corrected = corrected(p, correction, level)
        share = np.where(p_corrected > 0, p / np.where(p_corrected > 0, p_corrected, 1.0), 1 / number)
        _, lower, upper = alone(1 - level * np.where(np.isnan(share), 1.0, share))
        return p, p_corrected, lower, upper
    told, p_together, reach = together()
    p_corrected = np.minimum(1.0, np.where(told, np.fmax(p, p_together), p * number))
    if not told.all():
        _, lower, upper = alone(np.where(told, confidence, 1 - level / number))
    least, most = reaching(reach)
    lower = np.where(told, np.minimum(lower, least), lower)
    return p, p_corrected, lower, np.where(told, np.maximum(upper, most), upper)


# --- p-values of a family of tests, corrected for how many these are


def check_correction(correction: str | None) -> None:
    """Raises ValueError for a correction that statsmodels does not know; ImportError where it needs statsmodels."""
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


def corrected(p: FloatArray, correction: str | None, level: float = 0.05) -> FloatArray:
    """The p-values, shape (…, tests), corrected for the number in each row; NaN stay, and do not count.

    Args:
        correction: ``"holm"``, or another that statsmodels' ``multipletests`` knows; None for none.
        level: of the tests; only two-stage corrections, such as ``"fdr_tsbh"``, go by it.
    """
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
        known = np.flatnonzero(~np.isnan(row))
        if len(known):
            row[known] = multipletests(row[known], alpha=level, method=correction)[1]
    return result


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
