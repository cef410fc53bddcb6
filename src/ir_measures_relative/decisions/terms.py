"""By what options are compared, and how: the arguments that verbs share, checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import ir_measures

from ..arguments import check_amount, check_choice, check_confidence, check_count
from ..context.measure_strings import value_range
from ..context.run_context import RunContext, check_is_context
from ..data.arrays import FloatArray
from ..data.rankings import Rankings
from ..io.qrels import Qrels
from ..stats.regret import OptionBounds, option_bounds, strict_option_bounds, upper_bounds
from ..work import Work
from .options import Combination, deciding_measure

#: The smallest difference that matters, of a measure from 0 to 1.
DEFAULT_MARGIN = 0.02
#: Which labels the unjudged documents get.
LABELS = ("imputed", "judged", "strict")


@dataclass(frozen=True, kw_only=True)
class RegretTest:
    """How bounds of regret and gain are made.

    Args:
        confidence: of each statement.
        samples: how often labels of unjudged documents are imputed.
        seed: of the random numbers.
        unretrieved_relevant: as for :func:`bounds`.
        time_limit: seconds for the strict bounds; unfinished ones are wider.
    """

    confidence: float = 0.95
    samples: int = 100
    seed: int = 0
    unretrieved_relevant: int | None = None
    time_limit: float | None = 10.0

    def __post_init__(self) -> None:
        check_confidence(self.confidence)
        check_count("samples", self.samples, 20)
        check_count("seed", self.seed, 0)
        if self.unretrieved_relevant is not None:
            check_count("unretrieved_relevant", self.unretrieved_relevant, 0)
        Work(time_limit=self.time_limit)


@dataclass(frozen=True, eq=False)
class Terms:
    """By what options are compared, and how: the checked arguments of :func:`decide`."""

    by: ir_measures.Measure
    margin: float
    labels: str | None
    combine: Combination
    reranker: Rankings | None
    test: RegretTest
    groups: Mapping[str, str] | None
    work: Work
    llm_judgments: Qrels | None

    @property
    def ends(self) -> tuple[float, float]:
        """The lowest and the highest difference of two values."""
        low, high = value_range(self.by)
        return low - high, high - low

    @property
    def settings(self) -> dict[str, Any]:
        """The settings that an answer states."""
        method = "rerank" if self.reranker is not None else self.combine.method
        shown = {"by": str(self.by), "method": method, "margin": float(self.margin)}
        return shown | {"confidence": self.test.confidence}

    def bound(self, values: FloatArray) -> OptionBounds | None:
        """Return the bounds of options by their values."""
        return option_bounds(values, self.ends, confidence=self.test.confidence, seed=self.test.seed)

    def bound_strictly(self, most: FloatArray) -> OptionBounds | None:
        """Return the bounds of options by their largest differences."""
        return strict_option_bounds(most, self.ends, confidence=self.test.confidence, seed=self.test.seed)

    def bound_differences(self, differences: FloatArray, confidence: float | None = None) -> FloatArray:
        """Return the upper bounds of the means of differences, which hold for all at once."""
        level = self.test.confidence if confidence is None else confidence
        return upper_bounds(differences, self.ends, confidence=level, seed=self.test.seed)


def read_terms(
    context: RunContext,
    by: ir_measures.Measure | str,
    margin: float | None = None,
    labels: str | None = None,
    combine: Combination | None = None,
    test: RegretTest | None = None,
    groups: Mapping[str, str] | None = None,
    llm_judgments: Qrels | None = None,
) -> Terms:
    """Return the arguments of a verb, checked."""
    check_is_context(context)
    measure, combine, test = deciding_measure(by), combine or Combination(), test or RegretTest()
    for name, value, kind in (("combine", combine, Combination), ("test", test, RegretTest)):
        if not isinstance(value, kind):
            raise ValueError(f"{name}={value!r} is not a {kind.__name__}; set one, or leave it out")
    low, high = value_range(measure)
    if margin is None and (low, high) != (0.0, 1.0):
        raise ValueError(
            f"{measure} does not lie between 0 and 1; set margin=, the smallest difference that matters"
        )
    margin = DEFAULT_MARGIN if margin is None else margin
    check_amount("margin", margin)
    if margin >= high - low:
        raise ValueError(f"margin={margin!r} is not allowed; {measure} lies between {low:g} and {high:g}")
    if labels is not None:
        check_choice("labels", labels, LABELS)
    if groups is not None and not isinstance(groups, Mapping):
        raise ValueError(f"groups={groups!r} must be a dict from query id to group")
    reranker, work = combine.read_reranker(context), Work(time_limit=test.time_limit)
    return Terms(measure, margin, labels, combine, reranker, test, groups, work, llm_judgments)
