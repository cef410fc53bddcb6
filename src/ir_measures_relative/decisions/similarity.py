"""Every two runs of a context, by the measures that compare two rankings."""

from __future__ import annotations

import itertools
import os
from collections import Counter
from collections.abc import Sequence

import ir_measures
import numpy as np
import pandas as pd

from ..bounding.bounds import table_of
from ..context.checks import check_runs
from ..context.collection import Collection, judged_collection, new_collection
from ..context.evaluated import Evaluated
from ..context.measure_strings import parse_measure, parse_measures, registered
from ..context.run_context import RunContext, check_is_context
from ..data.arrays import FloatArray, object_array
from ..data.documents import Judgments
from ..io.qrels import Qrels
from ..measures.measure import RelativeMeasure
from ..messages import some
from ..work import Work, map_tasks

# How many portions of the pairs each process gets: enough that none waits long for the last.
_PORTIONS = 4


def similarity(
    context: RunContext,
    qrels: Qrels | None = None,
    measures: Sequence[ir_measures.Measure | str] = ("MED@10",),
    perquery: bool = False,
    jobs: int = 1,
) -> pd.DataFrame:
    """Distances between every two runs, each pair once, in the context's order.

    Args:
        qrels: default: those of the context's dataset, or no judgments; RBO and MED then compare all queries.
        measures: measures with a reference run, without ``ref=``: MED, RBO, rrLP, sgnLP, sgnLR, RPP.
        perquery: one row per query too.
        jobs: number of processes; -1 for one per core.

    Returns:
        a DataFrame with the columns ``name``, ``other``, ``measure``; ``value``, of ``name`` with ``other`` as its
        reference; with ``perquery``, ``query_id``; else ``distance``: the mean over queries of the absolute value, or
        for RBO, which is 1 for equal rankings, of 1 minus the value. Do not cluster runs by
        ``MED(base='mean_nDCG')``: one distance may exceed the sum of two others.

    Raises:
        ValueError: a measure without a reference run, or with one; one that needs judgments, without any; a context
            without two runs.
        ImportError: ``jobs`` are more than one, and joblib is missing.
    """
    check_is_context(context)
    work = Work(jobs)
    parsed = [with_reference(measure) for measure in parse_measures(measures)]
    view = judged_or_not(context, qrels, parsed)
    names = object_array(view.names)
    if len(names) < 2:
        raise ValueError("similarity() compares the runs of a context two by two; give it two runs or more")
    check_runs(view, parsed)
    pairs = list(itertools.combinations(range(len(names)), 2))
    first, second = np.array(pairs).T
    index, tables = {"name": names[first], "other": names[second]}, []
    for measure in parsed:
        values = score_pairs(view, measure, pairs, work)
        columns = {"value": values} | ({} if perquery else {"distance": distances(measure, values)})
        tables.append(table_of(index, measure, columns, view.documents.query_ids if perquery else None))
    return pd.concat(tables, ignore_index=True)


def with_reference(measure: ir_measures.Measure | str) -> RelativeMeasure:
    """The measure; ValueError for one that does not compare a run with a reference, or that names the reference."""
    parsed = parse_measure(measure)
    if not isinstance(parsed, RelativeMeasure) or parsed.RELATIVE_TO != "reference":
        known = sorted(name for name, m in registered().items() if m.RELATIVE_TO == "reference")
        raise ValueError(f"{parsed} does not compare two runs; use one of {', '.join(known)}")
    if parsed.get("ref") is not None:
        raise ValueError(f"{parsed} compares with {parsed.get('ref')!r} alone; leave ref= out")
    return parsed


def judged_or_not(
    context: RunContext, qrels: Qrels | None, measures: Sequence[RelativeMeasure]
) -> Collection:
    """The context on the judgments; where there are none, on all queries of its runs."""
    if qrels is not None or context.dataset is not None:
        return judged_collection(context, qrels)
    for measure in measures:
        if measure.JUDGMENTS == "needed":
            raise ValueError(f"{measure} needs judgments; give qrels, or use RBO or MED")
    query_ids = object_array(dict.fromkeys(q for run in context.runs.values() for q in run.query_ids))
    if not len(query_ids):
        raise ValueError("the runs hold no ranking, so there is nothing to compare")
    held = Counter(q for run in context.runs.values() for q in set(run.query_ids))
    if len(context.runs) > 1 and max(held.values()) == 1:
        one, two = list(context.runs)[:2]
        raise ValueError(
            f"no query is in two of the runs, so there is nothing to compare: {one!r} has "
            f"{some(context.runs[one].query_ids)}, {two!r} has {some(context.runs[two].query_ids)}; number them alike"
        )
    return new_collection(context, Judgments.empty(query_ids))


def distances(measure: RelativeMeasure, values: FloatArray) -> FloatArray:
    """How far apart two runs are, by the values of a measure: 0 where they are alike."""
    return 1.0 - values if measure.SIMILARITY else np.abs(values)


def squares(
    view: Collection, measure: RelativeMeasure, signed: bool = False, jobs: int = 1
) -> tuple[FloatArray, FloatArray]:
    """The mean distance, and where ``signed`` the mean, of the measure for every two runs: shape (runs, runs)."""
    work = Work(jobs)
    check_runs(view, [measure])
    n = len(view.names)
    pairs = list(itertools.permutations(range(n), 2) if signed else itertools.combinations(range(n), 2))
    values = score_pairs(view, measure, pairs, work)
    places = tuple(np.array(pairs, dtype=np.int64).reshape(-1, 2).T)
    distance, mean = np.zeros((2, n, n))
    distance[places], mean[places] = distances(measure, values).mean(axis=1), values.mean(axis=1)
    return np.maximum(distance, distance.T), mean


def clustered(distance: FloatArray) -> list[int]:
    """The order of the leaves of a hierarchical clustering: average linkage, neighbours as alike as can be."""
    if len(distance) < 3:
        return list(range(len(distance)))
    from scipy.cluster.hierarchy import leaves_list, linkage
    from scipy.spatial.distance import squareform

    condensed = squareform(distance, checks=False)
    return [int(i) for i in leaves_list(linkage(condensed, method="average", optimal_ordering=True))]


def inner_range(values: FloatArray, signed: bool = False) -> tuple[float, float, str]:
    """The range within Tukey's outer fences, for a scale of colours; and whether values lie below it or above it.

    Where ``signed``, the range is the same on both sides of 0.
    """
    if signed:
        values = np.abs(values)
    if not len(values) or not values.max():
        return -1.0 if signed else 0.0, 1.0, "neither"
    first, third = np.quantile(values, [0.25, 0.75])
    reach = 3 * (third - first)
    near = values[(values >= first - reach) & (values <= third + reach)]
    low, high = float(near.min()), float(near.max())
    if signed:
        high = high or float(values.max())
        return -high, high, "both" if high < values.max() else "neither"
    if low == high:
        low, high = 0.0, float(values.max())
    beyond = ("neither", "max", "min", "both")[2 * bool(low > values.min()) + bool(high < values.max())]
    return low, high, beyond


def score_pairs(
    view: Collection, measure: RelativeMeasure, pairs: Sequence[tuple[int, int]], work: Work
) -> FloatArray:
    """The values of some pairs (run, reference), places among the context's runs: shape (pairs, queries)."""
    n, jobs = len(pairs), work.jobs
    processes = jobs if jobs > 0 else os.cpu_count() or 1
    size = max(1, -(-n // (_PORTIONS * processes)))
    of_one_run = [list(some) for _, some in itertools.groupby(pairs, lambda pair: pair[0])]
    split = of_one_run if jobs == 1 else [pairs[i : i + size] for i in range(0, n, size)]
    tasks = [(view, measure, some) for some in split]
    found = map_tasks(_score_portion, tasks, jobs, total=len(tasks), desc="comparing runs", unit="portion")
    return np.concatenate([np.empty((0, view.documents.n_queries)), *found])


def _score_portion(
    portion: tuple[Collection, RelativeMeasure, Sequence[tuple[int, int]]],
) -> FloatArray:
    view, measure, pairs = portion
    values = []
    for run, of_run in itertools.groupby(pairs, lambda pair: pair[0]):
        evaluated = Evaluated.of(view, view.names[run])
        values += [measure(ref=view.names[reference]).score(evaluated) for _, reference in of_run]
    return np.array(values).reshape(len(pairs), -1)
