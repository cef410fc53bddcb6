"""The scores of an experiment, and the table of ``pt.Experiment``: its order, its comparisons, its times."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import ir_measures
import numpy as np
import pandas as pd
import pyterrier as pt

from ...context.absolute import provider_name
from ...context.collection import Collection
from ...context.duplicates import warn_about_duplicate, why_incomparable
from ...context.evaluate import Scores, score_runs
from ...context.evaluated import Evaluated
from ...context.measure_strings import is_relative
from ...data.arrays import FloatArray, IntArray
from ...data.rankings import Rankings
from ...messages import warn
from ..compat import COMPARISON_COLUMNS, highlight_only
from ..provider import Answered
from .runs import Results


def score_systems(
    collection: Collection,
    measures: Sequence[ir_measures.Measure],
    systems: Mapping[str, Rankings],
    results: Results,
    qrels: pd.DataFrame,
) -> tuple[Scores, list[IntArray]]:
    """Return the values of every system, and its queries in the order in which ``pt.Experiment`` would add them up.

    Systems that are no runs of the collection are scored as new runs. ir_measures scores the frames where the context
    cannot, such as those with a duplicate document.
    """
    providers = {m: provider_name(ir_measures.DefaultPipeline, m) for m in measures if not is_relative(m)}
    frames = dict(zip(systems.values(), results.runs, strict=True))
    new_runs = {name: run for name, run in systems.items() if name not in collection.runs}
    query_code = collection.documents.query_code

    def score_absolute(measures: Sequence[ir_measures.Measure], run: Rankings) -> FloatArray:
        by_host = [m for m in measures if providers[m] == "runtime"]
        by_context = [m for m in measures if m not in by_host]
        values = np.full((len(measures), collection.documents.n_queries), np.nan)
        row = {measure: i for i, measure in enumerate(measures)}
        try:
            if by_context:
                rows = [row[m] for m in by_context]
                values[rows] = collection.compute_absolute(by_context, run, as_given=True)
        except ValueError:
            by_host = list(measures)
        if by_host:
            frame = pt.model.coerce_dataframe_types(frames[run].copy())
            for metric in ir_measures.iter_calc(by_host, *map(pt.model.to_ir_measures, (qrels, frame))):
                if metric.query_id in query_code:
                    values[row[metric.measure], query_code[metric.query_id]] = metric.value
        return values

    for run in new_runs.values():
        warn_about_duplicate(Evaluated.of(collection, run), [m for m in measures if is_relative(m)])
    options: dict[str, Any] = {"absolute": score_absolute, "new_runs": new_runs, "missing_topics": False}
    scores = score_runs(collection, list(systems), measures, **options)
    orders = [
        _order_queries(collection, run, judged, set(providers.values()))
        for run, judged in zip(systems.values(), results.batches, strict=True)
    ]
    return scores, orders


def _order_queries(
    collection: Collection, run: Rankings, judged: Sequence[set[str]], providers: set[str | None]
) -> IntArray:
    """Return the order in which ir_measures has the queries of a run, on which the last bit of a mean depends.

    Batch by batch, first the queries of the run, then the missing ones, sorted; if all measures are relative, as in
    the qrels.
    """
    code = collection.documents.query_code
    order: dict[str, None] = {}
    for batch in [*judged, set(code)]:
        missing = [q for q in code if q in batch and q not in order]
        answered = [q for q in run.query_ids if q in batch and q in code and q not in order]
        if providers:
            answered = sorted(answered) if "runtime" in providers else answered
            missing = [*answered, *sorted(set(missing).difference(answered))]
        order |= dict.fromkeys(missing)
    return np.array([code[q] for q in order], dtype=np.int64)


def answers_for(scores: Scores, columns: Sequence[str], orders: Sequence[IntArray]) -> list[Answered]:
    """Return a measure for each column that has its values already, for runs whose score is the system's number."""

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
    """Return the measures and systems whose comparison with the baseline is not valid, with one warning."""
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


def remove_comparisons(result: Any, invalid: set[tuple[str, int]], options: Mapping[str, Any]) -> None:
    """Set invalid comparisons in a table of means to NaN, and correct the others for their number."""
    for measure in {measure for measure, _ in invalid}:
        table = _data(result)
        wins, losses, p, reject, corrected = (f"{measure} {column}" for column in COMPARISON_COLUMNS)
        table.loc[[i for name, i in invalid if name == measure], [wins, losses, p]] = np.nan
        if corrected in table:
            table[reject], table[corrected] = False, np.nan
            valid = table[p].notna()
            if valid.any():
                from statsmodels.stats.multitest import multipletests  # as pt.Experiment does

                level = options.get("correction_alpha", 0.05)
                tests = multipletests(table.loc[valid, p], alpha=level, method=options["correction"])
                table.loc[valid, reject], table.loc[valid, corrected] = tests[:2]
    if invalid and not isinstance(result, pd.DataFrame):
        highlight_only(result, set(result.data.columns[result.data.notna().any()]))


def _data(result: Any) -> pd.DataFrame:
    return result if isinstance(result, pd.DataFrame) else result.data


def in_order(result: Any, measures: Sequence[str]) -> Any:
    """Return a result of ``pt.Experiment`` with its measures in this order; all else is as PyTerrier has it."""
    place = {name: i for i, name in reversed(list(enumerate(measures)))}

    def by_place(name: str) -> int:
        return place.get(name, len(place))

    def base(column: str) -> str:  # NRG@10 for NRG@10 p-value
        return max((m for m in measures if column.startswith(f"{m} ")), key=len, default="")

    if isinstance(result, tuple):
        both = [in_order(part, measures) for part in result]
        return type(result)(*both) if hasattr(result, "_fields") else tuple(both)
    if isinstance(result, dict):
        if any(isinstance(value, dict) for value in result.values()):
            return {key: in_order(value, measures) for key, value in result.items()}
        return {name: result[name] for name in sorted(result, key=by_place)}
    if not isinstance(result, pd.DataFrame):  # a styled table
        return in_order(result.data, measures).style.use(result.export())
    if list(result.columns) == ["name", "qid", "measure", "value"]:
        places = result["measure"].map(by_place)
        return result.assign(_place=places).sort_values(["name", "qid", "_place"]).drop(columns="_place")
    first, *rest = result.columns
    means = sorted((column for column in rest if column in place), key=by_place)
    comparisons = sorted((column for column in rest if column not in place), key=lambda c: by_place(base(c)))
    return result[[first, *means, *comparisons]]


def set_times(result: Any, names: Sequence[str], times: Sequence[float]) -> None:
    """Replace the times of the stubs by those of the pipelines, in the order of the systems."""
    if isinstance(result, dict):
        for name, time in zip(names, times, strict=True):
            result[name]["mrt"] = time
    else:
        _data(result)["mrt"] = times


def rounded(times: Mapping[str, float], digits: Any) -> dict[str, float]:
    """Round the times by the option ``round=`` of ``pt.Experiment``."""
    digits = digits.get("mrt") if isinstance(digits, dict) else digits
    return {name: time if digits is None else round(time, digits) for name, time in times.items()}


def columns_by_measure(measures: Mapping[str, ir_measures.Measure | None]) -> dict[ir_measures.Measure, str]:
    """Return the column of each measure in ``pt.Experiment``: its trec_eval name, if only that was passed."""
    columns: dict[ir_measures.Measure, str] = {}
    for column, measure in measures.items():
        if measure is not None and columns.get(measure, str(measure)) == str(measure):
            columns[measure] = column
    return columns
