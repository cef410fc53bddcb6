"""Score runs by measures: the one loop that scores, its array of values, and their means."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import ir_measures
import numpy as np

from ..data.arrays import FloatArray, ObjectArray, object_array, ratio
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
        """Return the mean of each run and measure, by the measure's own aggregator; shape (runs, measures)."""
        rows = [[aggregate(m, v) for m, v in zip(self.measures, run, strict=True)] for run in self.values]
        return np.array(rows, dtype=np.float64).reshape(self.values.shape[:2])

    def table(self) -> pd.DataFrame:
        """Return a table with a row per run: ``name``, and the mean of each measure."""
        import pandas as pd

        means = self.means()
        columns: dict[str, Any] = {"name": pd.Series(self.names, dtype=str)}
        columns |= {str(m): means[:, j] for j, m in enumerate(self.measures)}
        return pd.DataFrame(columns)

    def long_table(self) -> pd.DataFrame:
        """Return a table with a row per run, measure and query: ``name``, ``query_id``, ``measure``, ``value``."""
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
    """Return the aggregate of the queries' values, by the measure's own aggregator (mostly the mean), ignoring NaN."""
    aggregator = measure.aggregator()
    for value in values[~np.isnan(values)].tolist():
        aggregator.add(value)
    return aggregator.result()


# A topic dominates a mean if it supplies more than this share, where there are enough topics,
_LARGE_SHARE, _FEWEST_TOPICS = 0.25, 10
# and where the mean is at least this part of the highest: of a run that adds two documents in all, one topic has half.
_SMALLEST_MEAN = 0.25


def dominant_topics(scores: Scores, measure: int) -> list[tuple[float, str] | None]:
    """Return the topic that supplies more than a quarter of each run's mean, with its share; None where none does.

    It is None for absolute measures, measures with a value below 0, and runs that add next to nothing.
    """
    values = scores.values[:, measure]
    has_shares = values.min(initial=0) >= -ROUNDED * values.max(initial=0)  # not where a value is NaN
    if not (is_relative(scores.measures[measure]) and values.shape[1] >= _FEWEST_TOPICS and has_shares):
        return [None] * len(values)
    means, positive = values.mean(axis=1), np.maximum(values, 0)
    counts = means >= _SMALLEST_MEAN * means.max()
    shares = ratio(positive, positive.sum(axis=1, keepdims=True)) * counts[:, None]
    return [
        (float(row[topic]), str(scores.query_ids[topic])) if row[topic] > _LARGE_SHARE else None
        for row, topic in zip(shares, shares.argmax(axis=1), strict=True)
    ]


def describe_dominant_topics(scores: Scores) -> str | None:
    """Return a message if one topic supplies more than a quarter of the mean of a relative measure, else None."""
    messages, affected = [], []
    for j, measure in enumerate(scores.measures):
        topics = dominant_topics(scores, j)
        dominant = [
            (*topic, name) for name, topic in zip(scores.names, topics, strict=True) if topic is not None
        ]
        if dominant:
            share, topic, name = max(dominant, key=lambda entry: entry[0])
            mean = f"the mean {measure} of {name!r} over {len(scores.query_ids)} topics"
            messages.append((share, f"{100 * share:.0f} % of {mean} comes from topic {topic!r} alone"))
            affected.append(f"{len(dominant)} of {len(topics)} runs by {measure}")
    if not affected:
        return None
    return (
        f"{max(messages)[1]}; one topic supplies more than a quarter of the mean of {', '.join(affected)}; "
        "look at the values by topic"
    )


def score_runs(
    collection: Collection,
    names: Sequence[str],
    measures: Sequence[ir_measures.Measure],
    *,
    absolute: Absolute | None = None,
    new_runs: Mapping[str, Rankings] | None = None,
    part: bool = False,
    missing_topics: bool = True,
) -> Scores:
    """Score runs of a context and new runs; each new run is scored against the context, not against other new runs.

    With ``part``, the collection has only some of the queries, which some runs may not rank: then the caller checks the
    whole, and only the queries of new runs are checked here. ``missing_topics`` is as for :func:`check_runs`.
    """
    query_ids, new_runs = collection.documents.query_ids, new_runs or {}
    runs = [Evaluated.of(collection, new_runs.get(name, name)) for name in names]
    if part:
        for new_run in new_runs.values():
            check_queries(collection, new_run)
    else:
        check_runs(collection, measures, new_runs, missing_topics=missing_topics)
        check_evaluated(runs, measures)
        warn_about_duplicates([run for run in runs if run.index is not None], measures)
    values = np.empty((len(runs), len(measures), len(query_ids)))
    columns = [j for j, measure in enumerate(measures) if not is_relative(measure)]
    host_measures = [measures[j] for j in columns]
    for i, run in enumerate(runs if part else progress(runs, "scoring runs", "run")):
        if host_measures:
            values[i, columns] = (absolute or collection.compute_absolute)(host_measures, run.run)
    # The deepest measure comes first: the positions that it computes serve the others too. The outer loop is over
    # measures, since the memo may soon evict what one measure needs of all runs.
    for j in sorted(range(len(measures)), key=lambda j: -(param_value(measures[j], "cutoff") or math.inf)):
        for i, run in enumerate(runs if is_relative(measures[j]) else ()):
            values[i, j] = measures[j].score(run)
    return Scores(list(names), list(measures), query_ids, values)
