"""The rule of decisions: from bounds of regret and gain to a verdict, and to what to choose where there is none."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from ..data.arrays import FloatArray
from ..stats.regret import OptionBounds
from ..tolerances import ROUNDED

#: The verdict that names no option.
OPEN = -1

#: Verdicts of :func:`drop` on a run.
SAFE, NEEDED, UNDECIDED = "safe", "needed", "open"

#: How a list without a deployed run, and without the candidate, compares with the choice.
AS_WELL, BETTER, WORSE, NOT_SETTLED = "as well", "better", "worse", "not settled"


class Conclusion(NamedTuple):
    """The conclusion of the rule on some options, the first of which is in use: their indices."""

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


def compare_removals(loss: FloatArray, lead: FloatArray, margin: float) -> list[str]:
    """Return for each removal of a deployed run how it compares with the choice.

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
    """Return for each deployed run whether it is safe to drop, needed, or open; the arguments as above, of keep."""
    return [
        SAFE if up <= margin else NEEDED if low > margin else UNDECIDED
        for up, low in zip(loss.tolist(), lead.tolist(), strict=True)
    ]


def number_beside(value: float, margin: float) -> str:
    """Return a number with as many decimals as show on which side of a margin it is."""
    decimals, text = 3, number(value)
    while (value > margin) != (float(text) > margin) and decimals < 17:
        text, decimals = f"{value:.{decimals}f}", decimals + 1
    return text


def number(value: float) -> str:
    """Return a number with two decimals, or with one digit that is not 0 where it is smaller; and never "-0"."""
    if abs(value) <= ROUNDED:
        return "0"
    decimals = 2 if abs(value) >= 0.005 else math.ceil(-math.log10(abs(value)))
    return f"{value:.{decimals}f}".replace("-", "−")
