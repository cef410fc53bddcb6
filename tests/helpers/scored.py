"""Scoring helpers for the tests: everything through ir_measures, as a user would."""

from __future__ import annotations

import warnings
from typing import Any

import ir_measures
from hypothesis import assume

from ir_measures_relative import RunContext
from oracles.rankings import trec_order


def per_query(measure: Any, qrels: Any, run: Any, context: RunContext | None = None) -> dict[str, float]:
    """{query: value} of one measure, inside the context."""
    measure = ir_measures.parse_measure(measure)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        if context is None:
            metrics = list(ir_measures.iter_calc([measure], qrels, run))
        else:
            with context:
                metrics = list(ir_measures.iter_calc([measure], qrels, run))
    assert len({m.query_id for m in metrics}) == len(metrics)
    return {m.query_id: m.value for m in metrics}


def ranking(run: dict[str, dict[str, float]], query: str) -> list[str]:
    """The ranking of a query in trec_eval's order; empty where the run lacks it."""
    return trec_order(run.get(query, {}))


def assume_common(run: dict[str, dict[str, float]], qrels: dict[str, dict[str, int]]) -> None:
    """Leaves out the random cases that are an error: rows, and none of them for a judged query."""
    rows = {q for q, docs in run.items() if docs}
    assume(not rows or rows & set(qrels))
