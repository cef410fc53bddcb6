"""Whether two runs of a context compare on a measure: only values relative to the same runs are one quantity."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import ir_measures

from ..context.measure_strings import is_relative, value_of
from ..context.priors import matching
from ..context.view import View, some
from ..data.arrays import IntArray


def why_incomparable(
    view: View,
    measure: ir_measures.Measure,
    a: str,
    b: str,
    priors: dict[str, Collection[str]] | None = None,
) -> str | None:
    """Why the values of two runs of a context are different quantities; None if they are not.

    Two values relative to priors compare where both runs stand against the same runs but for each other:
    ``priors(a) - {b} = priors(b) - {a}``, and each counts the other as a prior or neither does. Distances to a
    reference compare where neither run is the reference. Where ``systems=`` says whose rankings count, they compare
    where both runs are among these, or neither is.

    Args:
        priors: of each run, instead of those that the context's policy gives it.
    """
    if not is_relative(measure):
        return None

    if measure.RELATIVE_TO == "priors":
        of_a, of_b = ({view.names[i] for i in priors_of(view, n, measure, priors)} for n in (a, b))
        if (b in of_a) != (a in of_b):
            counts, other = (a, b) if b in of_a else (b, a)
            return f"{other!r} is a prior of {counts!r}, and {counts!r} is not a prior of {other!r}"
        alone = sorted((of_a - {b}) ^ (of_b - {a}))
        if alone:
            return f"{some(alone)} {'is a prior' if len(alone) == 1 else 'are priors'} of one and not of the other"
    systems = value_of(measure, "systems")
    if systems not in (None, "groups"):
        counted = {a, b} & {*matching(systems, view.names, "systems")}
        if len(counted) == 1:
            return f"{counted.pop()!r} is one of systems={systems!r}, and the other run is not"
    if measure.RELATIVE_TO == "reference" and not measure.SIGNED:
        reference = view.with_run(view.runs[a]).reference_run(measure.get("ref"))
        for name in (a, b):
            if reference is view.runs[name]:
                return f"{name!r} is the reference, which is at no distance from itself"
    return None


def priors_of(view: View, name: str, measure: Any, priors: Mapping[str, Collection[str]] | None) -> IntArray:
    """The indices of the priors of a run: those of ``priors``, else those that the context's policy gives it."""
    return view.of(name, None if priors is None else priors[name]).priors(measure.get("prior"))
