"""The columns of ``pt.relative.Experiment(…, bounds=True)``: what unjudged documents could make of each value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import ir_measures
import pandas as pd

from ..context import RunContext
from ..unjudged.bounds import bounds


def check_plain(options: Mapping[str, Any]) -> None:
    """Raises ValueError for options with which there is no plain table of means to add columns to."""
    clash = [name for name in ("perquery", "highlight") if options.get(name)]
    clash += ["dataframe=False"] if not options.get("dataframe", True) else []
    if clash:
        raise ValueError(
            f"bounds=True adds columns to the table of means, and does not go with {clash[0]}; leave one of them out, "
            "or call pt.relative.bounds"
        )


def with_bounds(
    table: pd.DataFrame,
    context: RunContext,
    qrels: pd.DataFrame,
    topics: Any,
    measures: Mapping[str, ir_measures.Measure],
    options: Mapping[str, Any],
) -> pd.DataFrame:
    """The table with ``M lower`` and ``M upper`` behind each measure M.

    Args:
        measures: from the name of a column to its measure.
        options: those of ``pt.Experiment``.
    """
    found = bounds(context, of_topics(qrels, topics, options), list(measures.values()))
    digits = options.get("round")
    result = table.copy()
    for column, measure in measures.items():
        of_measure = found[found["measure"] == str(measure)].set_index("name")
        at = list(result.columns).index(column)
        for place, end in enumerate(("lower", "upper"), at + 1):
            values = result["name"].map(of_measure[end])
            places = digits.get(column) if isinstance(digits, dict) else digits
            result.insert(place, f"{column} {end}", values if places is None else values.round(places))
    return result


def of_topics(qrels: pd.DataFrame, topics: Any, options: Mapping[str, Any]) -> pd.DataFrame:
    """The judgments that ``pt.Experiment`` scores on: those of the topics, unless its options say otherwise."""
    if options.get("filter_by_topics", True) and isinstance(topics, pd.DataFrame):
        return qrels[qrels["qid"].isin(topics["qid"])]
    return qrels


def named(metrics: Sequence[Any], columns: Sequence[str]) -> dict[str, ir_measures.Measure]:
    """The measures of columns that are one; ``mrt`` and the like are left out."""
    result: dict[str, ir_measures.Measure] = {}
    for metric in metrics:
        if isinstance(metric, ir_measures.Measure):
            result[str(metric)] = metric
        elif metric != "mrt":
            several = ir_measures.parse_trec_measure(metric)
            result |= {(str(m) if len(several) > 1 else metric): m for m in several}
    return {column: result[column] for column in columns if column in result}
