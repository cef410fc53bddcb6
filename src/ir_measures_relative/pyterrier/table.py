"""The tables that ``pt.Experiment`` makes: the measures in the order asked, the pipelines' times, columns of bounds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import ir_measures
import pandas as pd

from ..context import RunContext
from ..unjudged.bounds import bounds


def in_order(result: Any, asked: Sequence[str]) -> Any:
    """What ``pt.Experiment`` returned, with its measures in the order asked; all else is as PyTerrier has it.

    PyTerrier has the measures in the order in which ir_measures computes them, and that is not a particular one.

    Args:
        result: a table of means, plain or styled, or of queries; a dict of either; or a pair.
        asked: what the measures are called there.
    """
    if isinstance(result, tuple):
        both = [in_order(part, asked) for part in result]
        return type(result)(*both) if hasattr(result, "_fields") else tuple(both)
    if isinstance(result, dict):
        if any(isinstance(value, dict) for value in result.values()):
            return {key: in_order(value, asked) for key, value in result.items()}
        return {name: result[name] for name in sorted(result, key=_place_in(asked))}
    if not isinstance(result, pd.DataFrame):  # a styled table
        return in_order(result.data, asked).style.use(result.export())
    if list(result.columns) == ["name", "qid", "measure", "value"]:
        place = result["measure"].map(_place_in(asked))
        return result.assign(_place=place).sort_values(["name", "qid", "_place"]).drop(columns="_place")
    return result[_columns(list(result.columns), asked)]


def _columns(columns: list[str], asked: Sequence[str]) -> list[str]:
    """``name``, the measures, then what a baseline adds to each: ``NRG@10 +``, ``NRG@10 p-value`` and the like."""

    def owner(column: str) -> str:
        return max((m for m in asked if column.startswith(f"{m} ")), key=len, default="")

    first, *rest = columns
    place = _place_in(asked)
    measures = sorted((c for c in rest if c in asked), key=place)
    return [first, *measures, *sorted((c for c in rest if c not in asked), key=lambda c: place(owner(c)))]


def _place_in(asked: Sequence[str]) -> Any:
    place = {name: i for i, name in reversed(list(enumerate(asked)))}
    return lambda name: place.get(name, len(place))


def rounded(times: Mapping[str, float], digits: Any) -> dict[str, float]:
    """The times, rounded as the argument ``round`` of ``pt.Experiment`` says."""
    if isinstance(digits, dict):
        digits = digits.get("mrt")
    return {name: time if digits is None else round(time, digits) for name, time in times.items()}


def set_times(result: Any, times: Mapping[str, float]) -> None:
    """Puts the times of the pipelines where those of their replay are."""
    if isinstance(result, dict):
        for name, row in result.items():
            row["mrt"] = times[name]
    else:
        table = result if isinstance(result, pd.DataFrame) else result.data  # the data of a styled table
        table["mrt"] = table["name"].map(times)


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
