"""Intervals of means."""

from __future__ import annotations

from typing import Any

import ir_measures
import numpy as np
import pandas as pd

from ..arrays import BoolArray, FloatArray
from ..options import ROUNDED, check_confidence

_QUERY_COLUMNS = "query_id", "qid"


def student_interval(
    values: FloatArray, confidence: float, greater: bool = False, constant: BoolArray | None = None
) -> tuple[FloatArray, FloatArray]:
    """Student's interval of the mean of the last axis; NaN where the values have no spread, or are fewer than two.

    Args:
        values: shape (…, topics).
        greater: leaves the upper end open.
        constant: where they have none; if not given, where rounding alone keeps them apart.
    """
    from scipy.special import stdtrit  # pictures are drawn without scipy

    n = values.shape[-1]
    if n < 2:
        nothing = np.full(values.shape[:-1], np.nan)
        return nothing, nothing.copy()
    if constant is None:
        constant = np.ptp(values, axis=-1) <= ROUNDED * np.abs(values).max(axis=-1)
    mean, error = values.mean(axis=-1), values.std(axis=-1, ddof=1) / n**0.5
    reach = stdtrit(n - 1, confidence if greater else (1 + confidence) / 2) * error
    reach = np.where(constant, np.nan, reach)
    return mean - reach, np.where(constant, np.nan, np.inf) if greater else mean + reach


def means_and_margins(
    table: pd.DataFrame, *measures: ir_measures.Measure | str, confidence: float = 0.95
) -> tuple[pd.DataFrame, dict[str, list[FloatArray]]]:
    """The means of a table of queries, and how far their intervals reach below and above them.

    Args:
        table: one row a run, query and measure, as ``RunContext.evaluate(…, perquery=True)`` returns.
        measures: which of its measures.

    Returns:
        ``name`` and the mean of each measure, one row a run; and for each measure the two margins of every run,
        NaN where there are fewer than two values.

    Raises:
        ValueError: a table of means, or without one of the measures; a confidence that is none.
    """
    check_confidence(confidence)
    key = next((k for k in _QUERY_COLUMNS if k in table.columns), None)
    if key is None or not {"name", "measure", "value"} <= set(table.columns):
        raise ValueError(
            "ci=True needs the values of every query: give the table of context.evaluate(qrels, measures, "
            "perquery=True), with the columns name, query_id, measure and value"
        )
    known = table["measure"].astype(str)
    lacking = [str(m) for m in measures if str(m) not in set(known)]
    if lacking:
        raise ValueError(
            f"the table has no values of {', '.join(lacking)}; its measures are {list(known.unique())}"
        )
    names = list(dict.fromkeys(table["name"]))
    means: dict[str, Any] = {"name": names}
    margins = {}
    for measure in map(str, measures):
        given = table[(known == measure) & table["value"].notna()].groupby("name")["value"]
        of_run = {n: v.to_numpy(dtype=np.float64) for n, v in given}
        values = [of_run.get(n, np.empty(0)) for n in names]
        mean = np.array([v.mean() if len(v) else np.nan for v in values])
        ends = np.array([_interval(v, confidence) for v in values]).reshape(-1, 2)
        means[measure], margins[measure] = mean, [mean - ends[:, 0], ends[:, 1] - mean]
    return pd.DataFrame(means), margins


def _interval(values: FloatArray, confidence: float) -> tuple[float, float]:
    """Student's interval; the mean itself where all values are the same."""
    low, high = map(float, student_interval(values, confidence))
    return (low, high) if low == low or len(values) < 2 else (float(values.mean()), float(values.mean()))
