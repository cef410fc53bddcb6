"""Scoring helpers for the tests: everything through ir_measures, as a user would."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Sequence
from typing import Any

import ir_measures
from hypothesis import assume

from ir_measures_relative import RunContext
from oracles.rankings import trec_order


def per_query(measure: Any, qrels: Any, run: Any, context: RunContext | None = None) -> dict[str, float]:
    """{query: value} of one measure, inside the context."""
    measure = ir_measures.parse_measure(measure)
    return per_query_of_each([measure], qrels, run, context)[measure]


def per_query_of_each(
    measures: Sequence[Any], qrels: Any, run: Any, context: RunContext | None = None
) -> dict[Any, dict[str, float]]:
    """{measure: {query: value}} of several in one call, inside the context."""
    with warnings.catch_warnings(), context or contextlib.nullcontext():
        warnings.simplefilter("ignore", UserWarning)
        metrics = list(ir_measures.iter_calc(measures, qrels, run))
    found: dict[Any, dict[str, float]] = {measure: {} for measure in measures}
    for metric in metrics:
        assert metric.query_id not in found[metric.measure]
        found[metric.measure][metric.query_id] = metric.value
    return found


def ranking(run: dict[str, dict[str, float]], query: str) -> list[str]:
    """The ranking of a query in trec_eval's order; empty where the run lacks it."""
    return trec_order(run.get(query, {}))


def assume_common(run: dict[str, dict[str, float]], qrels: dict[str, dict[str, int]]) -> None:
    """Leaves out the random cases that are an error: rows, and none of them for a judged query."""
    rows = {q for q, docs in run.items() if docs}
    assume(not rows or rows & set(qrels))
