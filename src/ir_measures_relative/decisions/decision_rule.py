"""The rule by which options are compared: intervals, the one verdict that follows from them, and what it rules out."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ..data.arrays import FloatArray
from ..stats.families import simultaneous_intervals
from ..stats.paired_tests import PairedTestOptions
from ..tolerances import LABELED_ALIKE
from .options import Differences

#: The verdicts that name no option. ``UNSETTLED``: some option is better, and which one is not settled.
KEEP, OPEN, UNSETTLED = 0, -1, -2


class Intervals(NamedTuple):
    """The ends of differences: over topics, over judgments of the unjudged documents, and over both; one each a row."""

    difference: FloatArray
    ci_lower: FloatArray  #: over topics, by the judgments as they are
    ci_upper: FloatArray
    worst: FloatArray  #: the mean on these topics, under the judgments that are worst for the option
    best: FloatArray  #: under the best
    lower: FloatArray  #: over topics, and allowing for unjudged documents
    upper: FloatArray

    def ends(self, as_judged: bool = False) -> Ends:
        """The ends over topics and judgments, or over topics alone."""
        return Ends(self.ci_lower, self.ci_upper) if as_judged else Ends(self.lower, self.upper)


class Ends(NamedTuple):
    """The two ends of some intervals."""

    lower: FloatArray
    upper: FloatArray


def intervals(found: Differences, ends: tuple[float, float], options: PairedTestOptions) -> Intervals:
    """The intervals of differences between two ``ends``, which hold at once; NaN where a row has no such topic."""
    as_judged = simultaneous_intervals(found.judged, ends, options)
    under = []
    for values in (found.worst, found.best):
        same = bool((np.nan_to_num(np.abs(values - found.judged)) <= LABELED_ALIKE).all())
        under.append(as_judged if same else simultaneous_intervals(values, ends, options))
    judged, worst, best = (np.nanmean(values, axis=1) for values in found)
    lower, upper = np.minimum(under[0][0], as_judged[0]), np.maximum(under[1][1], as_judged[1])
    return Intervals(judged, as_judged[0], as_judged[1], worst, best, lower, upper)


class Rivals(NamedTuple):
    """Two options, of which the one that needs more must be above the other by more than the margin."""

    more: int  #: the option with more runs, from 1
    less: int  #: the option with fewer, or as many
    equal: bool = (
        False  #: whether both need the same: then neither may be above the other by more than the margin
    )


def verdict_of(gain: Ends, means: FloatArray, rivals: Sequence[Rivals], between: Ends, margin: float) -> int:
    """The one verdict, by the rule of :func:`decide`: an option from 1, or ``KEEP``, ``OPEN``, ``UNSETTLED``.

    Args:
        gain: of each option but the first, less the first; with their ``means``.
        between: of ``more`` less ``less`` of each pair of rivals.
    """
    if (gain.upper <= margin).all():
        return KEEP
    better = gain.lower > margin
    if not better.any():
        return OPEN
    settled = better.copy()
    for pair, lower, upper in zip(rivals, *between, strict=True):
        if pair.equal:
            settled[pair.more - 1] &= lower >= -margin
        else:
            settled[pair.more - 1] &= lower > margin
        settled[pair.less - 1] &= upper <= margin
    if not settled.any():
        return UNSETTLED
    return 1 + int(np.where(settled, means, -np.inf).argmax())


def possible(verdict: int, gain: Ends, rivals: Sequence[Rivals], between: Ends, margin: float) -> list[int]:
    """The options that are not ruled out, 0 for the first."""
    if verdict >= KEEP:
        return [verdict]
    may = list(gain.upper > margin)
    if verdict == OPEN:
        return [0, *(1 + i for i, one in enumerate(may) if one)]
    for pair, lower, upper in zip(rivals, *between, strict=True):
        if lower > margin:
            may[pair.less - 1] = False
        elif upper < -margin or (not pair.equal and upper <= margin and gain.lower[pair.less - 1] > margin):
            may[pair.more - 1] = False
    better = gain.lower > margin  # where three options rule each other out in a circle
    return [1 + i for i, one in enumerate(may if any(may) else better) if one]


class Decided:
    """Options with the intervals of their differences, and the verdict that follows."""

    names: list[str]  #: of the options, the first of which is in use
    rivals: Sequence[Rivals]  #: which of the others are compared with each other
    gain: Intervals  #: of each other option less the first
    between: Intervals  #: of the rivals
    topics: int  #: how many there are
    margin: float  #: the smallest difference that matters
    by: str  #: the measure
    confidence: float  #: of the intervals
    where: str  #: where every list ends, as a sentence starts

    def verdict_by(self, gain: Ends, between: Ends, means: FloatArray) -> int:
        """The verdict by some ends."""
        if self.topics < 2:
            return OPEN
        return verdict_of(gain, means, self.rivals, between, self.margin)

    @cached_property
    def overall(self) -> int:
        """The verdict, allowing for unjudged documents."""
        return self.verdict_by(self.gain.ends(), self.between.ends(), self.gain.difference)

    @cached_property
    def as_judged(self) -> int:
        """The verdict by the judgments as they are."""
        return self.verdict_by(self.gain.ends(True), self.between.ends(True), self.gain.difference)

    def may_be_best(self, as_judged: bool = False) -> list[int]:
        """The options that the verdict does not rule out."""
        verdict = self.as_judged if as_judged else self.overall
        gain, between = self.gain.ends(as_judged), self.between.ends(as_judged)
        return possible(verdict, gain, self.rivals, between, self.margin)

    def word(self, as_judged: bool = False) -> str:
        """The verdict."""
        verdict = self.as_judged if as_judged else self.overall
        if verdict == OPEN:
            return "open"
        return self.unsettled(as_judged) if verdict == UNSETTLED else self.names[verdict]

    def unsettled(self, as_judged: bool) -> str:
        """The verdict that some option is better, and which one is not settled."""
        return " or ".join(self.names[i] for i in self.may_be_best(as_judged))
