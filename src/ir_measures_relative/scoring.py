"""Runs × measures → one array, and means: the one loop that scores."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import ir_measures
import numpy as np
from ir_measures.measures.base import SumAgg
from tqdm import tqdm

from .arrays import FloatArray, ObjectArray, object_array
from .comparison import Comparison, JudgedContext, check_queries
from .measures.strings import is_relative
from .messages import warn
from .priors import ContextData
from .rankings import Rankings

if TYPE_CHECKING:
    import pandas as pd  # which the command line does without

#: Computes absolute measures of a run, shape (measures, queries), as :meth:`JudgedContext.absolute` does.
Absolute: TypeAlias = Callable[[Sequence[ir_measures.Measure], Rankings], FloatArray]


class Scores(NamedTuple):
    """The value of every run, on every measure, for every query."""

    names: list[str]
    measures: list[ir_measures.Measure]
    query_ids: ObjectArray
    values: FloatArray  #: shape (runs, measures, queries); NaN where ir_measures gives none

    def means(self) -> FloatArray:
        """What each measure's own aggregator makes of the queries, shape (runs, measures)."""
        result = np.empty(self.values.shape[:2])
        for j, measure in enumerate(self.measures):
            for i, values in enumerate(self.values[:, j]):
                result[i, j] = aggregate(measure, values)
        return result

    def table(self) -> pd.DataFrame:
        """One row a run: ``name``, and the mean of each measure."""
        import pandas as pd

        means = self.means()
        columns: dict[str, Any] = {"name": pd.Series(self.names, dtype=str)}
        columns |= {str(m): means[:, j] for j, m in enumerate(self.measures)}
        return pd.DataFrame(columns)

    def long_table(self) -> pd.DataFrame:
        """One row a run, measure and query: ``name``, ``query_id``, ``measure``, ``value``."""
        import pandas as pd

        n_names, n_measures, n_queries = self.values.shape
        labels = object_array(map(str, self.measures))
        return pd.DataFrame(
            {
                "name": pd.Series(np.repeat(object_array(self.names), n_measures * n_queries), dtype=str),
                "query_id": pd.Series(np.tile(self.query_ids, n_names * n_measures), dtype=str),
                "measure": pd.Series(np.tile(np.repeat(labels, n_queries), n_names), dtype=str),
                "value": self.values.reshape(-1),
            }
        )


def aggregate(measure: ir_measures.Measure, values: FloatArray) -> float:
    """What the measure's own aggregator makes of the values of the queries; those that are NaN are not there."""
    aggregator = measure.aggregator()
    for value in values.tolist():
        if value == value:
            aggregator.add(value)
    result: float = aggregator.result()
    return result


def mean_of_topics(measure: ir_measures.Measure, values: FloatArray) -> float:
    """The mean of some values, of a measure that ir_measures sums as well."""
    return float(values.mean()) if is_summed(measure) else aggregate(measure, values)


def is_summed(measure: ir_measures.Measure) -> bool:
    """Whether ir_measures adds up the queries' values: NumRet and its like count."""
    return isinstance(measure.aggregator(), SumAgg)


def score_runs(
    judged: JudgedContext,
    names: Sequence[str],
    measures: Sequence[ir_measures.Measure],
    *,
    absolute: Absolute | None = None,
    priors: Mapping[str, Collection[str]] | None = None,
    part: bool = False,
) -> Scores:
    """Scores runs of a context, each as the member that it is.

    Args:
        judged: the context, on the judgments.
        names: which of its runs.
        measures: measures of this package and of ir_measures.
        absolute: what computes those of ir_measures; :meth:`JudgedContext.absolute` if not given.
        priors: the names of the priors of each run, instead of those that the context's policy gives it.
        part: these are some of the queries, which some runs may not hold; the whole was checked, or will be.

    Raises:
        ValueError: judgments of no query; a run that shares no query with them.
    """
    context, query_ids = judged.context, judged.judgments.query_ids
    host = [m for m in measures if not is_relative(m)]
    if not part:
        check_campaign(judged)
    values = np.empty((len(names), len(measures), len(query_ids)))
    # What a measure without a cutoff asks of the runs answers the others as well.
    deepest_first = sorted(range(len(measures)), key=lambda j: measures[j].params.get("cutoff") is not None)
    for i, name in enumerate(tqdm(names, desc="scoring runs", unit="run", disable=part or None, leave=False)):
        rankings = context.runs[name]
        comparison = Comparison(judged, rankings, name, None if priors is None else tuple(priors[name]))
        of_host = dict(zip(host, (absolute or judged.absolute)(host, rankings) if host else (), strict=True))
        for j in deepest_first:
            values[i, j] = measures[j].score(comparison) if is_relative(measures[j]) else of_host[measures[j]]
    return Scores(list(names), list(measures), query_ids, values)


def check_campaign(judged: JudgedContext) -> None:
    """Raises ValueError where there is nothing to score, or a run shares no query; warns of a run without rankings."""
    if not len(judged.judgments.query_ids):
        raise ValueError("the qrels hold no judgment, so there is no query to score; give other qrels")
    for run in judged.context.runs.values():
        check_queries(judged, run)
        warn_if_empty(run, judged.context)


def warn_if_empty(run: Rankings, context: ContextData) -> None:
    """Warns of a run without a row."""
    if not len(run):
        warn(f"{run.name} holds no ranking; all of its rankings count as empty", context)
