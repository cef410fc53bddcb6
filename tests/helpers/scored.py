"""Scoring helpers for the tests: everything through ir_measures, as a user would."""

import contextlib
import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import ir_measures
import pytest
from hypothesis import assume

from ir_measures_relative import RunContext
from ir_measures_relative.context.priors import BestOfOtherGroups
from oracles.rankings import only_judged, trec_order


def per_query(measure: Any, qrels: Any, run: Any, context: RunContext | None = None) -> dict[str, float]:
    """{query: value} of one measure, inside the context."""
    measure = ir_measures.parse_measure(measure)
    return per_query_of_each([measure], qrels, run, context)[measure]


def per_query_of_each(
    measures: Sequence[Any], qrels: Any, run: Any, context: RunContext | None = None
) -> dict[Any, dict[str, float]]:
    """{measure: {query: value}} of several in one call, inside the context."""
    with warnings.catch_warnings(action="ignore", category=UserWarning), context or contextlib.nullcontext():
        metrics = list(ir_measures.iter_calc(measures, qrels, run))
    found: dict[Any, dict[str, float]] = {measure: {} for measure in measures}
    for metric in metrics:
        assert metric.query_id not in found[metric.measure]
        found[metric.measure][metric.query_id] = metric.value
    return found


def ranking(run: dict[str, dict[str, float]], query: str) -> list[str]:
    """The ranking of a query in trec_eval's order; empty where the run lacks it."""
    return trec_order(run.get(query, {}))


def in_order(docs: Iterable[str]) -> dict[str, float]:
    """Documents from the top down as {document: score}."""
    return {doc: -float(i) for i, doc in enumerate(docs)}


def assume_common(run: dict[str, dict[str, float]], qrels: dict[str, dict[str, int]]) -> None:
    """Leaves out the random cases that are an error: rows, and none of them for a judged query."""
    rows = {q for q, docs in run.items() if docs}
    assume(not rows or rows & set(qrels))


#: Who the priors of a run are, for :func:`agree_with_oracle`. Every run is a group of its own there.
POLICIES = ["others", "earlier", "first", "best"]


def agree_with_oracle(
    context: dict[str, dict[str, dict[str, float]]],
    labels: dict[str, dict[str, int]],
    measure: Any,
    policy: str,
    oracle: Callable[[list[str], list[list[str]], dict[str, int]], float],
    tolerance: float,
) -> list[float]:
    """Compares the values of every run of a context with the oracle's, query by query.

    Args:
        policy: one of ``POLICIES``; "first" makes the first run the only prior.
        oracle: the value, from a ranking, those of its priors, and the labels of the query.

    Returns:
        the values.
    """
    for run in context.values():
        assume_common(run, labels)
    names = list(context)
    priors: Any = {"first": names[:1], "best": BestOfOtherGroups(by="P@3")}.get(policy, policy)
    with warnings.catch_warnings(action="ignore", category=UserWarning):
        members = RunContext(context, priors=priors, groups={n: n for n in names})
        rows = members.evaluate(labels, [measure], perquery=True)
    assert len(rows) == len(context) * len(labels)

    def read(name: str, query: str) -> list[str]:
        docs = ranking(context[name], query)
        return only_judged(docs, labels[query]) if measure.params.get("judged_only") else docs

    for row in rows.itertuples():
        chosen = {"earlier": names[: names.index(row.name)], "first": names[:1]}.get(policy, names)
        others = [read(n, row.query_id) for n in chosen if n != row.name]
        expected = oracle(read(row.name, row.query_id), others, labels[row.query_id])
        assert row.value == pytest.approx(expected, abs=tolerance), (row, expected)
    return rows["value"].tolist()
