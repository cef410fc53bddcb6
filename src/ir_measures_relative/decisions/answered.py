"""Options with the intervals of their differences, and the verdict that follows."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from ..data.arrays import FloatArray
from .decision_rule import OPEN, UNSETTLED, Ends, Intervals, Rivals, possible, verdict_of


class Answered:
    """What every answer about options has."""

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
        return self.verdict_by(self.gain.overall(), self.between.overall(), self.gain.difference)

    @cached_property
    def as_judged(self) -> int:
        """The verdict by the judgments as they are."""
        return self.verdict_by(self.gain.as_judged(), self.between.as_judged(), self.gain.difference)

    def may_be_best(self, as_judged: bool = False) -> list[int]:
        """The options that the verdict does not rule out."""
        gain, between = (
            part.as_judged() if as_judged else part.overall() for part in (self.gain, self.between)
        )
        verdict = self.as_judged if as_judged else self.overall
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
