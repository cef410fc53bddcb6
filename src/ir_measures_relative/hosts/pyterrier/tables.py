"""The table of ``pt.Experiment``: measures that have their values already, its order, its comparisons, its times."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import ir_measures
import numpy as np
import pandas as pd

from ...context.collection import Collection
from ...context.duplicates import why_incomparable
from ...context.evaluate import Scores
from ...data.arrays import IntArray
from ...data.rankings import Rankings
from ...messages import warn
from ..compat import COMPARISON_COLUMNS, highlight_only
from ..provider import Answered


def answers_for(scores: Scores, columns: Sequence[str], orders: Sequence[IntArray]) -> list[Answered]:
    """For each measure one of the same name that has its values already, of runs whose score is the system."""

    def answer(_: pd.DataFrame, run: pd.DataFrame) -> Iterator[ir_measures.Metric]:
        system = int(run["score"].iloc[0])
        rows = scores.values[system][:, orders[system]].T.tolist()
        for query_id, row in zip(scores.query_ids[orders[system]], rows, strict=True):
            for measure, value in zip(measures, row, strict=True):
                yield ir_measures.Metric(query_id, measure, value)

    measures = [Answered(name, answer) for name in columns]
    return measures


def incomparable(
    collection: Collection, relative: Sequence[Any], options: Mapping[str, Any]
) -> set[tuple[str, int]]:
    """The measures and systems whose comparison with the baseline is not valid; and one warning that says why."""
    baseline = options.get("baseline")
    if baseline is None or not options.get("dataframe", True):
        return set()
    against = collection.names[baseline]
    reasons: dict[tuple[Any, int], str] = {}
    for measure in relative:
        for i, name in enumerate(collection.names):
            reason = why_incomparable(collection, measure, name, against) if name != against else None
            if reason is not None:
                reasons[measure, i] = reason
    if reasons:
        (first, i), reason = next(iter(reasons.items()))
        more = f" (and {len(reasons) - 1} more such)" if len(reasons) > 1 else ""
        remedy = "give a third system as the reference"
        if first.RELATIVE_TO == "priors":
            remedy = "set priors='others', or use pt.relative.compare(RunContext({…}), qrels, measures, priors=[…])"
        warn(
            f"the values of {collection.names[i]!r} and the baseline {against!r} on {first} are different quantities, "
            f"since {reason}: the p-value and the wins and losses are NaN{more}; {remedy}"
        )
    return {(str(measure), i) for measure, i in reasons}


def without_comparisons(result: Any, invalid: set[tuple[str, int]], options: Mapping[str, Any]) -> None:
    """Makes comparisons that are not valid NaN in a table of means, and corrects the others for their number."""
    for measure in {measure for measure, _ in invalid}:
        table = _data(result)
        wins, losses, p, reject, corrected = (f"{measure} {column}" for column in COMPARISON_COLUMNS)
        table.loc[[i for of, i in invalid if of == measure], [wins, losses, p]] = np.nan
        if corrected in table:
            table[reject], table[corrected] = False, np.nan
            valid = table[p].notna()
            if valid.any():
                from statsmodels.stats.multitest import multipletests  # as pt.Experiment does

                level = options.get("correction_alpha", 0.05)
                found = multipletests(table.loc[valid, p], alpha=level, method=options["correction"])
                table.loc[valid, reject], table.loc[valid, corrected] = found[:2]
    if invalid and not isinstance(result, pd.DataFrame):
        numbers = result.data.columns[result.data.notna().any()]
        highlight_only(result, set(numbers))


def _data(result: Any) -> pd.DataFrame:
    return result if isinstance(result, pd.DataFrame) else result.data


def in_order(result: Any, asked: Sequence[str]) -> Any:
    """What ``pt.Experiment`` returned, with its measures in the order asked; all else is as PyTerrier has it."""
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
    return result[_columns_in_order(list(result.columns), asked)]


def _columns_in_order(columns: list[str], asked: Sequence[str]) -> list[str]:
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


def set_times(result: Any, names: Sequence[str], times: Sequence[float]) -> None:
    """Puts the times of the pipelines where those of their stubs are, in the order of the systems."""
    if isinstance(result, dict):
        for name, time in zip(names, times, strict=True):
            result[name]["mrt"] = time
    else:
        _data(result)["mrt"] = times


def rounded(times: Mapping[str, float], digits: Any) -> dict[str, float]:
    """The times with as many digits as ``round=`` of ``pt.Experiment`` says."""
    digits = digits.get("mrt") if isinstance(digits, dict) else digits
    return {name: time if digits is None else round(time, digits) for name, time in times.items()}


def columns_by_measure(asked: Mapping[str, ir_measures.Measure | None]) -> dict[ir_measures.Measure, str]:
    """What ``pt.Experiment`` calls each measure: by its name in trec_eval, where it was asked for by one."""
    columns: dict[ir_measures.Measure, str] = {}
    for column, measure in asked.items():
        if measure is not None and columns.get(measure, str(measure)) == str(measure):
            columns[measure] = column
    return columns


def order_queries(
    collection: Collection, run: Rankings, judged: Sequence[set[str]], providers: set[str | None]
) -> IntArray:
    """The order in which ir_measures has the queries of a run, batch by batch: means depend on it in their last bit.

    First what the run holds, then what it lacks, sorted; where all is relative, as in the qrels.
    """
    code = collection.documents.query_code
    order: dict[str, None] = {}
    for batch in [*judged, set(code)]:
        left = [q for q in code if q in batch and q not in order]
        met = [q for q in run.query_ids if q in batch and q in code and q not in order]
        if providers:
            met = sorted(met) if "runtime" in providers else met
            left = [*met, *sorted(set(left).difference(met))]
        order |= dict.fromkeys(left)
    return np.array([code[q] for q in order], dtype=np.int64)
