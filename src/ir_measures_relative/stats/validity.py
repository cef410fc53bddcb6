"""Whether two runs can be compared on a relative measure: whether the two numbers are of one kind."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

import ir_measures

from ..comparison import Comparison, JudgedContext, some
from ..measures.strings import is_relative

if TYPE_CHECKING:
    from ..measures.declaration import RelativeMeasure


def why_not_comparable(
    judged: JudgedContext,
    measure: ir_measures.Measure,
    a: str,
    b: str,
    priors: dict[str, Collection[str]] | None = None,
) -> str | None:
    """Why the values of two runs of a context are different quantities; None if they are not.

    Two values relative to priors compare where both runs stand against the same runs but for each other:
    ``priors(a) - {b} = priors(b) - {a}``, and each counts the other as a prior or neither does. Distances to a
    reference compare where neither run is the reference.

    Args:
        priors: of each run, instead of those that the context's policy gives it.
    """
    if not is_relative(measure):
        return None
    if measure.RELATIVE_TO == "priors":
        of_a, of_b = (_priors(judged, measure, name, priors) for name in (a, b))
        if (b in of_a) != (a in of_b):
            counts, other = (a, b) if b in of_a else (b, a)
            return f"{other!r} is a prior of {counts!r}, and {counts!r} is not a prior of {other!r}"
        alone = sorted((of_a - {b}) ^ (of_b - {a}))
        if alone:
            return f"{some(alone)} {'is a prior' if len(alone) == 1 else 'are priors'} of one and not of the other"
    if measure.RELATIVE_TO == "reference" and not measure.SIGNED:
        reference = Comparison(judged, judged.context.runs[a], None).reference(measure.get("ref"))
        for name in (a, b):
            if reference is judged.context.runs[name]:
                return f"{name!r} is the reference, which is at no distance from itself"
    return None


def _priors(
    judged: JudgedContext,
    measure: RelativeMeasure,
    name: str,
    priors: dict[str, Collection[str]] | None,
) -> set[str]:
    chosen = None if priors is None else tuple(priors[name])
    comparison = Comparison(judged, judged.context.runs[name], name, chosen)
    return {judged.names[i] for i in comparison.priors(measure.get("prior"))}
