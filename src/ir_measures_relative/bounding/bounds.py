"""Bounds: the worst and the best value that each run could have if the unjudged documents were judged.

They derive from the form of a measure (:class:`.FormLabelings`); of other measures, UE has bounds of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import ir_measures
import numpy as np
import pandas as pd

from ..arguments import check_count
from ..context.checks import check_evaluated, check_runs
from ..context.collection import Collection, judged_collection
from ..context.evaluated import Evaluated
from ..context.measure_strings import is_relative, parse_measures
from ..context.priors import priors_chosen_by_means
from ..context.run_context import RunContext, check_is_context
from ..data.arrays import FloatArray, ObjectArray, object_array
from ..io.qrels import Qrels
from ..measures.bases.base import BASES
from ..messages import warn
from ..tolerances import LABELED_ALIKE
from .ap import PrecisionLabelings
from .forms import CascadeLabelings, LargestLabelings, SumLabelings, measure_rule
from .intervals import Interval, TimeLimit
from .labelings import Labelings, NotBoundedError
from .ue import above_chance_class


def bounds(
    context: RunContext,
    qrels: Qrels | None,
    measures: Sequence[ir_measures.Measure | str],
    perquery: bool = False,
    *,
    unretrieved_relevant: int | None = None,
    time_limit: float | None = None,
) -> pd.DataFrame:
    """Compute the worst-case and the best-case value of each run, over all judgments of its unjudged documents.

    A *labeling* gives a grade to each unjudged document in the top k of any run of the context; k is the measure's
    cutoff. The run, its priors and the ideal ranking share it. Without ``grades`` of the context, the grades are those
    of the qrels.

    Args:
        context: the runs.
        qrels: the judgments, as for :meth:`RunContext.evaluate`.
        measures: P, R, RBP, SDCG, nDCG, RR, Success, AP, ERR and StRecall of ir_measures, and most of this package.
        perquery: one row per query too.
        unretrieved_relevant: how many further documents per query, which no run retrieves, may be relevant. Default:
            0 with three runs or more, else the measure's cutoff, or 0 with a warning.
        time_limit: as for :func:`verdicts`.

    Returns:
        one row per run and measure (and query): ``name``, ``measure``, ``query_id``; ``worst`` and ``best``: no
        labeling moves the value outside, NaN where a measure has no strict bounds; ``value``: that of
        :meth:`RunContext.evaluate`, which may lie outside with ``judged_only``; ``exact``: whether labelings reach
        both ends.

    Raises:
        ValueError: no measure has strict bounds; what :meth:`RunContext.evaluate` raises.

    Example:
        >>> from ir_measures_relative import RunContext, bounds
        >>> context = RunContext({"old": {"q": {"A": 2, "X": 1}}, "new": {"q": {"B": 2, "A": 1}}})
        >>> bounds(context, {"q": {"A": 1}}, ["P@2"])
          name measure  worst  value  best  exact
        0  old     P@2    0.5    0.5   1.0   True
        1  new     P@2    0.5    0.5   1.0   True
    """
    limit = TimeLimit(time_limit)
    check_is_context(context)
    parsed, runs = prepare_runs(judged_collection(context, qrels), measures)
    index, tables = {"name": object_array(context.names)}, []
    every = [make_labelings(measure, runs, unretrieved_relevant) for measure in parsed]
    check_bounded(every)
    query_ids = runs[0].collection.documents.query_ids if perquery else None
    for done, (measure, labelings) in enumerate(zip(parsed, every, strict=True)):
        value = judged_values(runs, measure, labelings)
        interval = Interval.unknown(value.shape)
        if labelings.why_not_bounded is None:
            interval = labelings.bound_runs(limit.share(len(parsed) - done))
        lower, upper, exact = snap_to_value(interval, value, labelings)
        columns = {"worst": lower, "value": value, "best": upper, "exact": exact}
        tables.append(measure_table(index, measure, columns, query_ids))
    return pd.concat(tables, ignore_index=True)


def prepare_runs(
    collection: Collection, measures: Sequence[ir_measures.Measure | str], *, missing_topics: bool = True
) -> tuple[list[ir_measures.Measure], list[Evaluated]]:
    """Return the parsed measures and every run of a collection; raise the errors of :func:`bounds`.

    ``missing_topics`` is that of :func:`.check_runs`.
    """
    parsed = parse_measures(measures)
    if not collection.runs:
        raise ValueError("the context holds no run, so there is nothing to bound; give RunContext some runs")
    check_runs(collection, parsed, missing_topics=missing_topics)
    runs = Evaluated.each(collection)
    check_evaluated(runs, parsed)
    by_policy = any(getattr(m, "RELATIVE_TO", None) == "priors" and m.get("prior") is None for m in parsed)
    if by_policy and priors_chosen_by_means(collection.policy, collection) is not None:
        warn(
            "the judgments choose the priors of each run, and bounds take these to stay as they are now; set priors= "
            "to a dict from run to priors to fix them"
        )
    return parsed, runs


def measure_table(
    index: Mapping[str, ObjectArray],
    measure: ir_measures.Measure,
    columns: Mapping[str, Any],
    query_ids: ObjectArray | None,
) -> pd.DataFrame:
    """Return the rows of one measure: the texts of ``index``, and ``columns`` per query or, without ids, over all."""
    if query_ids is None:
        over: dict[str, Any] = {"f": np.mean, "i": np.sum, "b": np.all}
        columns = {name: over[values.dtype.kind](values, axis=1) for name, values in columns.items()}
    else:
        n = len(next(iter(index.values())))
        index = {name: np.repeat(values, len(query_ids)) for name, values in index.items()}
        index["query_id"] = np.tile(query_ids, n)
        columns = {name: values.reshape(-1) for name, values in columns.items()}
    text = {name: pd.Series(values, dtype=str) for name, values in index.items()}
    n = len(next(iter(text.values())))
    return pd.DataFrame({**text, "measure": pd.Series([str(measure)] * n, dtype=str), **columns})


def judged_values(
    runs: Sequence[Evaluated], measure: ir_measures.Measure, labelings: Labelings
) -> FloatArray:
    """Return the value of every run by the judgments as they are, shape (runs, queries)."""
    if is_relative(measure):
        return np.array([measure.score(run) for run in runs])
    provider: Any = ir_measures.providers.registry["pytrec_eval"]
    # ir_measures' other providers round, or are rarely installed.
    if not (provider.is_available() and provider.supports(measure)):
        values = labelings.judged_values()
        if values is not None:
            return values
    return np.array([run.absolute(measure) for run in runs])


def snap_to_value(interval: Interval, value: FloatArray, labelings: Labelings) -> Interval:
    """Return the interval, with ends replaced by the value where rounding makes the difference, or nothing is open."""
    closed = labelings.closed_queries
    lower, upper = (
        np.where(closed | (np.abs(end - value) <= LABELED_ALIKE), value, end)
        for end in (interval.lower, interval.upper)
    )
    return Interval(lower, upper, closed | interval.exact)


def check_bounded(every: Sequence[Labelings], remedy: str = "") -> None:
    """Raise NotBoundedError where no measure has strict bounds; warn of those that have none."""
    reasons = [None if labelings.bounded else labelings.why_not_bounded for labelings in every]
    if all(reasons):
        raise NotBoundedError(f"{reasons[0]}{remedy}")
    if any(reasons):
        warn(f"{'. '.join(filter(None, reasons))}. Worst and best values are left out")


def make_labelings(
    measure: ir_measures.Measure,
    runs: Sequence[Evaluated],
    unretrieved_relevant: int | None = None,
) -> Labelings:
    """Return the labelings of a measure on these runs; with strict bounds where it has some.

    Args:
        measure: any measure that looks at judgments.
        runs: the runs, each on the judgments as they are.
        unretrieved_relevant: as for :func:`bounds`.

    Raises:
        ValueError: a measure without judgments, or whose parameters do not go together here.
    """
    if unretrieved_relevant is not None:
        check_count("unretrieved_relevant", unretrieved_relevant, 0)
    if getattr(measure, "JUDGMENTS", "needed") == "ignored":
        raise ValueError(f"{measure} looks at no judgment, so that none can change it; leave it out")
    arguments = measure, runs, unretrieved_relevant
    if not (measure.has_form if is_relative(measure) else measure.NAME in BASES):
        above_chance = getattr(measure, "RELATIVE_TO", None) == "chance"
        return (above_chance_class(measure) if above_chance else Labelings)(*arguments)
    return _BY_COMBINATION[measure_rule(measure).combine](*arguments)


_BY_COMBINATION: dict[str, type[Labelings]] = {
    "sum": SumLabelings,
    "largest": LargestLabelings,
    "cascade": CascadeLabelings,
    "precisions": PrecisionLabelings,
}
