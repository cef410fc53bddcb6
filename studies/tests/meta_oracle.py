"""Plain computations of what ``studies.meta`` does on resampled contexts: a new context or new qrels for every sample."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.stats

import random_campaigns
from ir_measures_relative import RunContext


def tables(context: RunContext, labels: random_campaigns.Labels, measure: Any) -> dict[Any, list[float]]:
    """The values on every topic, of each run, or of each pair by a measure of pairs."""
    queries = list(labels)
    if getattr(measure, "SIGNED", False):
        found = {}
        for a, b in itertools.permutations(context.names, 2):
            table = context.evaluate(labels, [measure(ref=b)], perquery=True)
            values = table[table["name"] == a].set_index("query_id")["value"]
            found[a, b] = [values[q] for q in queries]
        return found
    table = context.evaluate(labels, [measure], perquery=True)
    return {
        name: [rows.set_index("query_id")["value"][q] for q in queries]
        for name, rows in table.groupby("name")
    }


def places(values: dict[Any, list[float]], names: Sequence[str]) -> list[float]:
    """What each run is ranked by; rounded, since rounding is no difference."""
    if isinstance(next(iter(values)), str):
        return [round(float(np.mean(values[name])), 10) for name in names]
    return [
        round(float(np.mean([np.mean(values[a, b]) for b in names if b != a])), 10) if len(names) > 1 else 0.0
        for a in names
    ]


def tau(x: Sequence[float], y: Sequence[float]) -> float:
    return float(scipy.stats.kendalltau(x, y).statistic)


def split_half(values: Any, halves: Any) -> float:
    """The mean of τ of the runs' means on two halves of the topics, each a list of places; rounding is no difference."""
    taus = [tau(*(np.round(values[:, half].mean(axis=1), 9) for half in both)) for both in halves]
    return float(np.nanmean(taus)) if not np.isnan(taus).all() else np.nan


def halves(samples: int, topics: int, seed: int, without: int | None = None) -> Any:
    """Ways to halve the topics at random, as lists; one may be left out of the drawn orders."""
    drawn = np.random.default_rng(seed).permuted(np.tile(np.arange(topics), (samples, 1)), axis=1)
    for place in drawn:
        order = [int(t) for t in np.argsort(place) if t != without]
        yield order[: len(order) // 2], order[len(order) // 2 : 2 * (len(order) // 2)]


def preferences(values: dict[Any, list[float]], names: Sequence[str]) -> dict[tuple[str, str], list[float]]:
    """By how much the first of each pair is better, a topic."""
    if isinstance(next(iter(values)), str):
        return {
            (a, b): [round(x - y, 10) for x, y in zip(values[a], values[b], strict=True)]
            for a, b in itertools.combinations(names, 2)
        }
    return {(a, b): [round(x, 10) for x in values[a, b]] for a, b in itertools.combinations(names, 2)}


def agreements(found: Any, true: Any) -> tuple[float, float, float]:
    """System agreement, ranking agreement, and ties, of preferences."""
    pairs, topics, tied = [], [], []
    for pair, expected in true.items():
        one, other = round(np.mean(found[pair]), 9), round(np.mean(expected), 9)
        if other:
            pairs.append(np.sign(one) == np.sign(other))
        topics += [np.sign(a) == np.sign(b) for a, b in zip(found[pair], expected, strict=True) if b]
        tied += [a == 0 for a in found[pair]]
    return tuple(float(np.mean(x)) if x else np.nan for x in (pairs, topics, tied))  # type: ignore[return-value]


def reciprocal_ranks(ranking: dict[str, float], relevant: list[str]) -> list[float]:
    """Of the relevant documents, best first; 0 of those that are not retrieved."""
    order = sorted(ranking, key=lambda d: (ranking[d], d), reverse=True)
    return sorted((1 / (order.index(d) + 1) if d in order else 0.0 for d in relevant), reverse=True)


def level_counts(
    runs: dict[str, random_campaigns.Run], labels: random_campaigns.Labels, rel: int, worst_first: bool
) -> tuple[Any, Any, Any]:
    """By level: comparisons, ties, and how many pairs separate there."""
    compared: dict[int, int] = {}
    tied: dict[int, int] = {}
    separated: dict[int, int] = {}

    def ranks(ranking: dict[str, float], relevant: list[str]) -> list[float]:
        found = reciprocal_ranks(ranking, relevant)
        return found[::-1] if worst_first else found

    for a, b in itertools.combinations(runs.values(), 2):
        for q, judged in labels.items():
            relevant = [d for d, label in judged.items() if label >= rel]
            x, y = (ranks(run.get(q, {}), relevant) for run in (a, b))
            for i in range(len(relevant)):
                compared[i + 1] = compared.get(i + 1, 0) + 1
                tied[i + 1] = tied.get(i + 1, 0) + (x[i] == y[i])
            first = next((i + 1 for i in range(len(relevant)) if x[i] != y[i]), None)
            if first:
                separated[first] = separated.get(first, 0) + 1
    return compared, tied, separated
