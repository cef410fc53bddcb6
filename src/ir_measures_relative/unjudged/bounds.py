"""What a score could still become, if the unjudged documents were judged."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import ir_measures
import numpy as np

from ..arrays import BoolArray, FloatArray, object_array
from ..comparison import Comparison, JudgedContext, check_is_context, judged_context
from ..extremes.labelings import warn_of_judged_priors
from ..extremes.model import Interval, Model, Valued
from ..io.qrels import Qrels
from ..jobs import Work
from ..measures.strings import is_relative, parse_measures
from ..options import LABELED_ALIKE as TOLERANCE
from ..scoring import check_campaign
from .bounded_measures import model_of

if TYPE_CHECKING:
    import pandas as pd

    from ..context import RunContext


def bounds(
    context: RunContext,
    qrels: Qrels | None,
    measures: Sequence[ir_measures.Measure | str],
    perquery: bool = False,
    *,
    elsewhere: int = 0,
    jobs: int = 1,
    residual: bool = False,
) -> pd.DataFrame:
    """The least and the greatest value of each run, over all labels that its open documents could have.

    The open documents of a query are the unjudged ones that any run of the context holds in its top k, k the
    measure's cutoff. A label is shared by all that looks at it: the run, its priors, the ideal ranking. Labels of
    binary measures are relevant or not; of graded ones, any grade from the lowest to the highest of the context's
    ``grades``, else of the qrels, with a warning where these hold few relevant documents. Topics are independent, so
    the extreme of a mean is the mean of the extremes.

    Args:
        context: the runs. Each is scored as the member that it is; add a newcomer to the context to bound it.
        qrels: the judgments, as for :meth:`RunContext.evaluate`.
        measures: P, RBP, SDCG, nDCG, RR, AP and ERR of ir_measures, and measures of this package, or their strings.
        perquery: one row a query as well.
        elsewhere: how many further documents a query, which no run holds in its top, may turn out relevant: they
            make ideal rankings better, and recall lower.
        jobs: as for :func:`verdicts`; of one run, AP_Rareness alone makes use of them.
        residual: RBP's: adds to its intervals what may follow the end of each ranking, ``p^min(length, k)``, as in
            ``MED(base='RBP')``. Left out otherwise, since RBP@k of ir_measures never counts what it does not see, so
            that no judgments carry it there. Other measures have no residual.

    Returns:
        a DataFrame with one row a run and measure: ``name``, ``measure``, ``lower``, ``value`` (what
        :meth:`RunContext.evaluate` gives), ``upper``, and ``exact``, whether labels attain both ends; with
        ``perquery`` also ``query_id``. No labels carry the value outside, also where not ``exact``. (The value
        itself may lie outside with ``judged_only``, which is the bias of leaving unjudged documents out, and with
        ``gains`` by which each judged document gains.)

    Raises:
        ValueError: a measure that cannot be bounded; ``residual`` without RBP; what :meth:`RunContext.evaluate` raises.

    Example:
        >>> from ir_measures_relative import RunContext, bounds
        >>> context = RunContext({"old": {"q": {"A": 2, "X": 1}}, "new": {"q": {"B": 2, "A": 1}}})
        >>> bounds(context, {"q": {"A": 1}}, ["P@2"])
          name measure  lower  value  upper  exact
        0  old     P@2    0.5    0.5    1.0   True
        1  new     P@2    0.5    0.5    1.0   True
    """
    import pandas as pd

    check_is_context(context)
    work = Work(jobs)
    parsed, judged = parse_measures(measures), judged_context(context, qrels)
    check_bounded(judged, parsed)
    check_residual(residual, parsed)
    names, query_ids = judged.names, judged.judgments.query_ids
    tables = []
    for measure in parsed:
        model = model_of(measure, judged, elsewhere, residual)
        value = values_of(judged, measure, model)
        interval = settled(model.one(work), value, model)
        columns: dict[str, Any] = {"lower": interval.lower, "value": value, "upper": interval.upper}
        if perquery:
            index: dict[str, Any] = {
                "name": np.repeat(object_array(names), len(query_ids)),
                "query_id": np.tile(query_ids, len(names)),
            }
            columns = {name: column.reshape(-1) for name, column in columns.items()}
            exact: BoolArray = interval.exact.reshape(-1)
        else:
            index = {"name": object_array(names)}
            columns = {name: column.mean(axis=1) for name, column in columns.items()}
            exact = np.asarray(interval.exact.all(axis=1))
        text = {name: pd.Series(column, dtype=str) for name, column in index.items()}
        text["measure"] = pd.Series([str(measure)] * len(exact), dtype=str)
        tables.append(pd.DataFrame({**text, **columns, "exact": exact}))
    return pd.concat(tables, ignore_index=True)


def check_bounded(judged: JudgedContext, measures: Sequence[ir_measures.Measure]) -> None:
    """Raises ValueError where there is nothing to bound; warns of priors that the judgments choose."""
    if not judged.names:
        raise ValueError("the context holds no run, so there is nothing to bound; give RunContext some runs")
    check_campaign(judged)
    if any(getattr(m, "RELATIVE_TO", None) == "priors" and m.get("prior") is None for m in measures):
        warn_of_judged_priors(judged)


def check_residual(residual: bool, measures: Sequence[ir_measures.Measure]) -> None:
    """Raises ValueError for a residual of measures that have none."""
    if not isinstance(residual, bool):
        raise ValueError(f"residual={residual!r} is not allowed; it must be True or False")
    if residual and not any(m.NAME == "RBP" for m in measures):
        raise ValueError("residual=True is about RBP, and none of the measures is RBP; leave it out")


def values_of(judged: JudgedContext, measure: ir_measures.Measure, model: Model) -> FloatArray:
    """The value of every run on the judgments as they are, shape (runs, queries)."""
    if not is_relative(measure):
        if isinstance(model, Valued) and not _computed_by_trec_eval(measure):
            return model.value()  # ir_measures' providers of these round, or are rarely installed
        return judged.absolute_of_runs(measure)
    runs = judged.context.runs
    return np.array([measure.score(Comparison(judged, runs[name], name)) for name in judged.names])


def _computed_by_trec_eval(measure: ir_measures.Measure) -> bool:
    provider: Any = ir_measures.providers.registry["pytrec_eval"]
    return bool(provider.is_available() and provider.supports(measure))


def settled(interval: Interval, value: FloatArray, model: Model) -> Interval:
    """The interval, whose ends are the value where only rounding keeps them from it, or nothing is open."""
    lower = np.where(np.abs(interval.lower - value) <= TOLERANCE, value, interval.lower)
    upper = np.where(np.abs(interval.upper - value) <= TOLERANCE, value, interval.upper)
    closed = model.closed()
    return Interval(
        np.where(closed, value, lower), np.where(closed, value, upper), np.where(closed, True, interval.exact)
    )
