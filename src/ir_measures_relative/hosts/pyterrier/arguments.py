"""Reading and checking the arguments of ``pt.relative.Experiment``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import ir_measures
import pandas as pd
import pyterrier as pt

from ...context.measure_strings import parse_measure, trec_measures
from ...context.run_context import check_is_context
from ...messages import counted, first_ids, kind_of

#: The parameters of the context of an experiment.
CONTEXT_ARGUMENTS = ("priors", "reference", "groups", "num_docs", "grades", "drop_self")


def check_beside(beside: Any, names: Sequence[str], arguments: Mapping[str, Any]) -> None:
    """Raise TypeError unless ``beside`` is a context; ValueError for options that it sets, or a name that it uses."""
    check_is_context(beside)
    defaults = {"priors": "others", "drop_self": False}
    if passed := [name for name in CONTEXT_ARGUMENTS if arguments[name] != defaults.get(name)]:
        raise ValueError(f"{passed[0]}= does not go with beside=; set it in that context, or leave it out")
    if twice := [name for name in names if name in beside.runs]:
        raise ValueError(
            f"a system and a run of beside= are both called {twice[0]!r}; give the system another name"
        )


def systems_by_name(
    systems: Any, names: Sequence[str] | None, options: dict[str, Any]
) -> tuple[list[Any], list[str], list[str], dict[str, Any]]:
    """Return the systems, their unique names, their names in the table, and the options with a numeric baseline."""
    if isinstance(systems, dict):
        names, systems = list(systems.keys()), list(systems.values())
    elif not isinstance(systems, list):
        raise TypeError(f"systems is {kind_of(systems)}; give a list or dict of transformers or DataFrames")
    if not systems:
        raise ValueError("systems is empty; give one or more")
    for i, system in enumerate(systems):
        if not isinstance(system, (pd.DataFrame, pt.Transformer)):
            raise TypeError(f"system {i} is {kind_of(system)}; give a transformer or a DataFrame of results")
    shown = [str(system) for system in systems] if names is None else list(names)
    if names is None:
        unnamed = [isinstance(s, pd.DataFrame) or shown.count(str(s)) > 1 for s in systems]
        names = [f"system {i}" if unnamed[i] else name for i, name in enumerate(shown)]
    names = [str(name) for name in names]  # of any type to PyTerrier
    if len(names) != len(systems):
        raise ValueError(
            f"{counted(len(names), 'name')} for {counted(len(systems), 'system')}; give names one of each"
        )
    baseline = options.get("baseline")
    if isinstance(baseline, str):
        if baseline not in names:
            raise ValueError(f"baseline={baseline!r} is not a system; the systems are {list(names)}")
        options = options | {"baseline": list(names).index(baseline)}
    elif baseline is not None and baseline not in range(len(systems)):
        raise ValueError(f"baseline={baseline} is not a system; give 0 to {len(systems) - 1}")
    twice = next((n for i, n in enumerate(names) if n in names[:i]), None)
    if twice is not None:
        raise ValueError(f"two systems are called {twice!r}; give each its own name with names=")
    return list(systems), list(names), shown, options


def parse_metrics(eval_metrics: Any) -> tuple[list[Any], dict[str, ir_measures.Measure | None]]:
    """Return the metrics for ``pt.Experiment``, and the measure of each of their columns, in their order."""
    metrics: list[Any] = []
    columns: dict[str, ir_measures.Measure | None] = {}
    for metric in eval_metrics:
        measures = trec_measures(metric) if isinstance(metric, str) else []
        for measure in measures:
            parse_measure(measure)  # for its checks
        if not measures and metric != "mrt":
            metric = parse_measure(metric)
            measures = [metric]
        metrics.append(metric)
        columns |= {str(m) if len(measures) > 1 else str(metric): m for m in measures or [None]}
    if not any(columns.values()):
        raise ValueError("eval_metrics names no measure; give one, such as NRG@10")
    return metrics, columns


def check_topics_judged(topics: pd.DataFrame, qrels: pd.DataFrame) -> None:
    """Raise ValueError where the qrels judge none of the topics, with the ids and the types of both."""
    topic_ids, judged = topics["qid"].unique().tolist(), qrels["qid"].unique().tolist()
    if not topic_ids or not judged or set(topic_ids) & set(judged):
        return
    types = [type(ids[0]).__name__ for ids in (topic_ids, judged)]
    remedy = "is one of them numbered differently? filter_by_topics=False scores all topics of the qrels"
    if types[0] != types[1]:
        remedy = "give strings in both, such as topics.assign(qid=topics['qid'].astype(str))"
    raise ValueError(
        f"the topics and the qrels have no topic in common: the topics have {first_ids(topic_ids)} (type "
        f"{types[0]}), the qrels have {first_ids(judged)} (type {types[1]}); {remedy}"
    )
