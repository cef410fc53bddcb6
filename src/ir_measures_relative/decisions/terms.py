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


@dataclass(frozen=True, eq=False)
class Terms:
    """By what options are compared, and how: the checked arguments of :func:`decide`."""

    by: ir_measures.Measure
    margin: float
    labels: str | None
    combine: Combination
    reranker: Rankings | None
    groups: Mapping[str, str] | None
    confidence: float
    samples: int
    seed: int
    unretrieved_relevant: int | None
    work: Work
    llm_judgments: Qrels | None = None

    @property
    def ends(self) -> tuple[float, float]:
        """Between which a difference lies."""
        low, high = value_range(self.by)
        return low - high, high - low

    @property
    def settings(self) -> dict[str, Any]:
        """What an answer says of them."""
        method = "rerank" if self.reranker is not None else self.combine.method
        shown = {"by": str(self.by), "method": method, "margin": float(self.margin)}
        return shown | {"confidence": self.confidence}

    def bound(self, values: FloatArray) -> OptionBounds | None:
        """Return the bounds of options by their values."""
        return option_bounds(values, self.ends, confidence=self.confidence, seed=self.seed)

    def bound_differences(self, differences: FloatArray, confidence: float | None = None) -> FloatArray:
        """Return the upper bounds of the means of differences, which hold for all at once."""
        level = self.confidence if confidence is None else confidence
        return upper_bounds(differences, self.ends, confidence=level, seed=self.seed)

    def bound_strictly(self, most: FloatArray) -> OptionBounds | None:
        """Return the bounds of options by their largest differences."""
        return strict_option_bounds(most, self.ends, confidence=self.confidence, seed=self.seed)


def read_terms(
    context: RunContext,
    by: ir_measures.Measure | str,
    margin: float | None = None,
    labels: str | None = None,
    combine: Combination | None = None,
    groups: Mapping[str, str] | None = None,
    confidence: float = 0.95,
    samples: int = 100,
    seed: int = 0,
    unretrieved_relevant: int | None = None,
    time_limit: float | None = 10.0,
    llm_judgments: Qrels | None = None,
) -> Terms:
    """Return the arguments of a verb, checked."""
    check_is_context(context)
    work, measure, combine = Work(time_limit=time_limit), deciding_measure(by), combine or Combination()
    if not isinstance(combine, Combination):
        raise ValueError(
            f"combine={combine!r} is not a Combination; set one such as Combination('interleave')"
        )
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
    check_confidence(confidence)
    check_count("samples", samples, 20)
    check_count("seed", seed, 0)
    if unretrieved_relevant is not None:
        check_count("unretrieved_relevant", unretrieved_relevant, 0)
    reranker = combine.read_reranker(context)
    return Terms(
        measure,
        margin,
        labels,
        combine,
        reranker,
        groups,
        confidence,
        samples,
        seed,
        unretrieved_relevant,
        work,
        llm_judgments,
    )
