"""The terms of a decision, and its rule: from bounds of regret and gain to a verdict and a choice."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import ir_measures
import numpy as np

from ..arguments import check_choice, check_confidence, check_count, is_number
from ..bounding.intervals import TimeLimit
from ..context.measure_strings import value_range
from ..context.run_context import RunContext, check_is_context
from ..data.arrays import FloatArray
from ..data.rankings import Rankings
from ..io.qrels import Qrels
from ..stats.regret import OptionBounds, option_bounds, upper_bounds
from ..tolerances import ROUNDED
from .options import Combination, check_deciding_measure

#: The smallest difference that matters, of a measure from 0 to 1.
DEFAULT_MARGIN = 0.02
#: How unjudged documents may be treated.
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
        TimeLimit(self.time_limit)


@dataclass(frozen=True, eq=False)
class Terms:
    """The checked arguments of :func:`decide`, but for the options."""

    by: ir_measures.Measure
    margin: float
    labels: str | None
    combine: Combination
    reranker: Rankings | None
    test: RegretTest
    groups: Mapping[str, str] | None
    limit: TimeLimit
    llm_judgments: Qrels | None

    @property
    def difference_range(self) -> tuple[float, float]:
        """The lowest and the highest difference of two values."""
        low, high = value_range(self.by)
        return low - high, high - low

    @property
    def settings(self) -> dict[str, Any]:
        """The settings that an answer reports."""
        method = "rerank" if self.reranker is not None else self.combine.method
        shown = {"by": str(self.by), "method": method, "margin": float(self.margin)}
        return shown | {"confidence": self.test.confidence}

    def bound(self, values: FloatArray, strictly: bool = False) -> OptionBounds | None:
        """Return the bounds of options by their values, or ``strictly`` by their largest differences."""
        options: dict[str, Any] = {"confidence": self.test.confidence, "seed": self.test.seed}
        return option_bounds(values, self.difference_range, strictly=strictly, **options)

    def bound_differences(self, differences: FloatArray, confidence: float | None = None) -> FloatArray:
        """Return the upper bounds of the means of differences, which hold for all at once."""
        level = self.test.confidence if confidence is None else confidence
        return upper_bounds(differences, self.difference_range, confidence=level, seed=self.test.seed)


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
    """Check the arguments of a verb."""
    check_is_context(context)
    measure, combine, test = check_deciding_measure(by), combine or Combination(), test or RegretTest()
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
    reranker, limit = combine.read_reranker(context), TimeLimit(test.time_limit)
    return Terms(measure, margin, labels, combine, reranker, test, groups, limit, llm_judgments)


def check_amount(name: str, value: Any) -> None:
    """Raise ValueError unless a value is a finite number of at least 0, such as a margin."""
    if not is_number(value) or not 0 <= value < math.inf:
        raise ValueError(f"{name}={value!r} is not allowed; it must be a number from 0 up")


# ---- the rule

#: The verdict that names no option.
OPEN = -1

#: Verdicts of :func:`drop` on a run.
SAFE, NEEDED, UNDECIDED = "safe", "needed", "open"

#: How a list without a deployed run, and without the candidate, compares with the choice.
AS_WELL, BETTER, WORSE, NOT_SETTLED = "as well", "better", "worse", "not settled"


class Conclusion(NamedTuple):
    """The conclusion of the rule on some options, as indices; the first option is in use."""

    verdict: int  #: an option, or :data:`OPEN`
    choice: int  #: the verdict, or for an open one the option to choose now


def decide_by(bounds: OptionBounds | None, sizes: Sequence[int], margin: float) -> Conclusion:
    """Return the verdict and the choice by bounds of regret and gain.

    The verdict is the first option (to keep it) if its regret is at most ``margin``. Else it is, of the options whose
    regret is at most ``margin`` and whose gain is above 0, the one of the fewest runs, then of the least regret. Else
    it is open, and the choice is the option of the least regret; the first one if both are equal as printed.

    Args:
        bounds: of the options; None with too few topics, which leave it open.
        sizes: the number of runs of each option.
        margin: the smallest difference that matters.
    """
    if bounds is None:
        return Conclusion(OPEN, 0)
    regret, gain = bounds
    if regret[0] <= margin:
        return Conclusion(0, 0)
    fit = [i for i in range(1, len(sizes)) if regret[i] <= margin and gain[i] > 0]
    if fit:
        verdict = min(fit, key=lambda i: (sizes[i], regret[i]))
        return Conclusion(verdict, verdict)
    least = min(range(len(sizes)), key=lambda i: (regret[i], sizes[i]))
    return Conclusion(OPEN, 0 if number(regret[0]) == number(regret[least]) else least)


def nearest_verdict(upper: FloatArray, margin: float) -> tuple[int, list[int]]:
    """Return the option that is nearest to a verdict, and the rivals that keep it from one; all rivals if none does.

    Args:
        upper: the upper bound of each rival less each option, shape (rivals, options); the first option is in use.
        margin: the largest regret of a verdict.
    """
    short = upper - margin
    short[0, 1:] = upper[0, 1:]  # another option must gain
    np.fill_diagonal(short, -np.inf)
    option = int(short.max(axis=0).argmin())
    rivals = np.flatnonzero(short[:, option] > 0).tolist()
    return option, rivals or [i for i in range(len(upper)) if i != option]


def compare_removals(loss: FloatArray, lead: FloatArray, margin: float) -> list[str]:
    """Return how each removal of a deployed run compares with the choice.

    Args:
        loss: the upper bounds of the choice less each removal, all at once.
        lead: the lower bounds of the same.
        margin: the largest loss that does not matter.
    """
    return [
        BETTER if up < 0 else AS_WELL if up <= margin else WORSE if low > 0 else NOT_SETTLED
        for up, low in zip(loss.tolist(), lead.tolist(), strict=True)
    ]


def grade_runs(loss: FloatArray, lead: FloatArray, margin: float) -> list[str]:
    """Return the verdict on each deployed run by the bounds of keep less its removal, as above."""
    return [
        SAFE if up <= margin else NEEDED if low > margin else UNDECIDED
        for up, low in zip(loss.tolist(), lead.tolist(), strict=True)
    ]


# ---- numbers, as an answer prints them


def number_beside(value: float, margin: float) -> str:
    """Format a number with enough decimals to show on which side of a margin it lies."""
    decimals, text = 3, number(value)
    while (value > margin) != (float(text) > margin) and decimals < 17:
        text, decimals = f"{value:.{decimals}f}", decimals + 1
    return text


def number_below(value: float) -> str:
    """Format what something is at least: rounded down, and with one digit that is not 0."""
    return _format(_round(value, _decimals(value), math.floor), _decimals(value))


def number_above(value: float, margin: float | None = None) -> str:
    """Format what something is at most: rounded up; with a margin, as :func:`number_beside`."""
    decimals = _decimals(value)
    if margin is not None:
        nearest, upper = round(value, decimals), _round(value, decimals, math.ceil)
        while len({x > margin for x in (value, nearest, upper)}) > 1 and decimals < 17:
            decimals += 1
            nearest, upper = round(value, decimals), _round(value, decimals, math.ceil)
    return _format(_round(value, decimals, math.ceil), decimals)


def _decimals(value: float) -> int:
    """Return two, or as many as a number needs that rounds towards 0, but not to 0."""
    return 2 if not ROUNDED < abs(value) < 0.01 else math.ceil(-math.log10(abs(value)) - 1e-9)


def _round(value: float, decimals: int, to_whole: Callable[[float], int]) -> float:
    """Round to one side, where a number is not rounded already."""
    nearest = round(value, decimals)
    if not math.isfinite(value) or abs(value - nearest) <= ROUNDED:
        return nearest
    return round(to_whole(value * 10.0**decimals) / 10.0**decimals, decimals)


def _format(value: float, decimals: int) -> str:
    return f"{value:.{decimals}f}".replace("-", "−") if value else "0"


def number(value: float) -> str:
    """Format a number with two decimals, or with one digit that is not 0 if it is smaller; never as "-0"."""
    if abs(value) <= ROUNDED:
        return "0"
    decimals = 2 if abs(value) >= 0.005 else math.ceil(-math.log10(abs(value)))
    return f"{value:.{decimals}f}".replace("-", "−")
