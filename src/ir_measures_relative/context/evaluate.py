"""Runs × measures → one array, and means: the one loop that scores."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import ir_measures
import numpy as np
from ir_measures.measures.base import SumAgg

from ..data.arrays import FloatArray, ObjectArray, object_array
from ..data.rankings import Rankings
from ..messages import progress
from ..tolerances import ROUNDED
from .checks import check_evaluated, check_queries, check_runs
from .collection import Collection
from .duplicates import warn_about_duplicates
from .evaluated import Evaluated
from .measure_strings import is_relative, param_value

if TYPE_CHECKING:
    import pandas as pd  # which the command line does without


#: Computes absolute measures of a run, shape (measures, queries), as :meth:`Collection.compute_absolute` does.
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


def is_summed(measure: ir_measures.Measure) -> bool:
    """Whether ir_measures adds up the queries' values: NumRet and its like count."""
    return isinstance(measure.aggregator(), SumAgg)


def topic_shares(values: FloatArray) -> FloatArray:
    """The share of each run's mean that comes from each topic, runs × topics; no shares, NaN, where none add up."""
    if np.isnan(values).any() or values.min(initial=0) < -ROUNDED * values.max(initial=0):
        return np.full(values.shape, np.nan)
    positive = np.maximum(values, 0)
    total = positive.sum(axis=1, keepdims=True)
    shares: FloatArray = np.divide(positive, total, out=np.full(values.shape, np.nan), where=total > 0)
    return shares


#: A topic that supplies more than this share of a mean is told of, where there are enough topics,
LARGE_SHARE, FEWEST_TOPICS = 0.25, 10
#: and where the mean is at least this part of the highest: of a run that adds two documents in all, one topic has half.
_SMALLEST_MEAN = 0.25


def dominant_topics(scores: Scores, measure: int) -> list[tuple[float, str] | None]:
    """The topic that supplies more than a quarter of each run's mean, with its share; None where none does.

    None of absolute measures, of measures with a value below 0, and of runs that hardly add anything, too.
    """
    runs, _, topics = scores.values.shape
    if not is_relative(scores.measures[measure]) or topics < FEWEST_TOPICS:
        return [None] * runs
    values = scores.values[:, measure]
    means = values.mean(axis=1)
    counts = means >= _SMALLEST_MEAN * means.max()
    shares = np.nan_to_num(topic_shares(values)) * counts[:, None]
    return [
        (float(of_run[topic]), str(scores.query_ids[topic])) if of_run[topic] > LARGE_SHARE else None
        for of_run, topic in zip(shares, shares.argmax(axis=1), strict=True)
    ]


def one_topic_counts(scores: Scores) -> str | None:
    """What to say where one topic supplies more than a quarter of the mean of a relative measure; else None."""
    found: list[tuple[float, str, str]] = []
    for j, measure in enumerate(scores.measures):
        of_runs = dominant_topics(scores, j)
        many = [(one, name) for one, name in zip(of_runs, scores.names, strict=True) if one is not None]
        if many:
            (share, topic), name = max(many, key=lambda one: one[0][0])
            where = f"the mean {measure} of {name!r} over {len(scores.query_ids)} topics"
            worst = f"{100 * share:.0f} % of {where} comes from topic {topic!r} alone"
            found.append((share, worst, f"{len(many)} of {len(of_runs)} runs by {measure}"))
    if not found:
        return None
    return (
        f"{max(found)[1]}; one topic supplies more than a quarter of the mean of {', '.join(f[2] for f in found)}; "
        "look at the values by topic"
    )


def score_runs(
    collection: Collection,
    names: Sequence[str],
    measures: Sequence[ir_measures.Measure],
    *,
    absolute: Absolute | None = None,
    priors: Mapping[str, Iterable[str]] | None = None,
    new_runs: Mapping[str, Rankings] | None = None,
    part: bool = False,
    missing_topics: bool = True,
) -> Scores:
    """Scores runs of a context, each as the member that it is, and new runs, each alone beside it.

    ``part``: these are some of the queries, which some runs may not hold; the whole was checked, or will be.
    ``missing_topics`` is that of :func:`check_runs`.
    """
    query_ids, new_runs = collection.documents.query_ids, new_runs or {}
    runs = [
        Evaluated.of(collection, new_runs[n])
        if n in new_runs
        else Evaluated.of(collection, n, None if priors is None else priors[n])
        for n in names
    ]
    if part:
        for run in new_runs.values():
            check_queries(collection, run)
    else:
        check_runs(collection, measures, new_runs, missing_topics=missing_topics)
        check_evaluated(runs, measures)
        warn_about_duplicates([one for one in runs if one.index is not None], measures)
    values = np.empty((len(runs), len(measures), len(query_ids)))
    of_host = [j for j, measure in enumerate(measures) if not is_relative(measure)]
    host = [measures[j] for j in of_host]
    for i, one in enumerate(runs if part else progress(runs, "scoring runs", "run")):
        if host:
            values[i, of_host] = (absolute or collection.compute_absolute)(host, one.run)
    # What a deep measure asks of the runs answers the others as well; and one measure after the other, since what it
    # asks of all runs is kept for a while, and not for ever.
    for j in sorted(range(len(measures)), key=lambda j: -(param_value(measures[j], "cutoff") or math.inf)):
        for i, one in enumerate(runs if is_relative(measures[j]) else ()):
            values[i, j] = measures[j].score(one)
    return Scores(list(names), list(measures), query_ids, values)
