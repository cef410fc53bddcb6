"""Similarity of runs: by measures that compare two rankings, and by the documents that both retrieve."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import ir_measures
import numpy as np
import pandas as pd
from tqdm import tqdm

from ..bounding.bounds import measure_table
from ..context.checks import check_runs
from ..context.collection import Collection, judged_collection, new_collection
from ..context.evaluate import aggregate
from ..context.evaluated import Evaluated
from ..context.measure_strings import parse_measure, parse_measures, registered
from ..context.run_context import RunContext, check_is_context
from ..data.arrays import FloatArray, IntArray, object_array
from ..data.documents import Judgments
from ..data.ids import pair_keys
from ..io.qrels import Qrels
from ..measures.measure import RelativeMeasure
from ..messages import first_ids


def similarity(
    context: RunContext,
    qrels: Qrels | None = None,
    measures: Sequence[ir_measures.Measure | str] = ("MED@10",),
    perquery: bool = False,
) -> pd.DataFrame:
    """Return the distance of every two runs, each pair once, in the context's order.

    Args:
        context: the runs.
        qrels: default: those of the context's dataset, or no judgments; RBO and MED then compare all queries.
        measures: measures with a reference run, without ``ref=``: MED, RBO, rrLP, sgnLP, sgnLR, RPP.
        perquery: one row per query too.

    Returns:
        a DataFrame with the columns ``name``, ``other``, ``measure``; ``value``, of ``name`` with ``other`` as its
        reference; with ``perquery``, ``query_id``; else ``distance``: the mean over queries of the absolute value, or
        for RBO, which is 1 for equal rankings, of 1 minus the value. Do not cluster runs by
        ``MED(base='mean_nDCG')``: one distance may exceed the sum of two others.

    Raises:
        ValueError: a measure without a reference run, or with one; one that needs judgments, without any; a context
            without two runs.
    """
    check_is_context(context)
    parsed = [check_reference_measure(measure) for measure in parse_measures(measures)]
    view = collect_judged_or_not(context, qrels, parsed)
    names = object_array(view.names)
    if len(names) < 2:
        raise ValueError("similarity() compares the runs of a context two by two; give it two runs or more")
    check_runs(view, parsed)
    pairs = list(itertools.combinations(range(len(names)), 2))
    first, second = np.array(pairs).T
    index, tables = {"name": names[first], "other": names[second]}, []
    for measure in parsed:
        values = score_pairs(view, measure, pairs)
        columns = {"value": values} | ({} if perquery else {"distance": measure_distances(measure, values)})
        tables.append(measure_table(index, measure, columns, view.documents.query_ids if perquery else None))
    return pd.concat(tables, ignore_index=True)


def check_reference_measure(measure: ir_measures.Measure | str) -> RelativeMeasure:
    """Return the measure; raise ValueError for one without a reference run, or with a fixed one."""
    parsed = parse_measure(measure)
    if not isinstance(parsed, RelativeMeasure) or parsed.RELATIVE_TO != "reference":
        usable = sorted(name for name, m in registered().items() if m.RELATIVE_TO == "reference")
        raise ValueError(f"{parsed} does not compare two runs; use one of {', '.join(usable)}")
    if parsed.get("ref") is not None:
        raise ValueError(f"{parsed} compares with {parsed.get('ref')!r} alone; leave ref= out")
    return parsed


def collect_judged_or_not(
    context: RunContext, qrels: Qrels | None, measures: Sequence[RelativeMeasure]
) -> Collection:
    """Return the runs with their judgments; without any, on all queries of the runs."""
    if qrels is not None or context.dataset is not None:
        return judged_collection(context, qrels)
    for measure in measures:
        if measure.JUDGMENTS == "needed":
            raise ValueError(f"{measure} needs judgments; give qrels, or use RBO or MED")
    n_runs = Counter(q for run in context.runs.values() for q in dict.fromkeys(run.query_ids))
    if not n_runs:
        raise ValueError("the runs hold no ranking, so there is nothing to compare")
    if len(context.runs) > 1 and max(n_runs.values()) == 1:
        first, second = list(context.runs)[:2]
        raise ValueError(
            f"no query is in two of the runs, so there is nothing to compare: {first!r} has "
            f"{first_ids(context.runs[first].query_ids)}, {second!r} has {first_ids(context.runs[second].query_ids)}; "
            "number them alike"
        )
    return new_collection(context, Judgments.empty(object_array(n_runs)))


def measure_distances(measure: RelativeMeasure, values: FloatArray) -> FloatArray:
    """Return the distances by the values of a measure: 0 for two equal rankings."""
    return 1.0 - values if measure.SIMILARITY else np.abs(values)


def tabulate_distances(
    view: Collection, measure: RelativeMeasure, signed: bool = False
) -> tuple[FloatArray, FloatArray]:
    """Return the mean distance of every two runs, and the mean of the measure if ``signed``; shape (runs, runs)."""
    check_runs(view, [measure])
    n = len(view.names)
    pairs = list(itertools.permutations(range(n), 2) if signed else itertools.combinations(range(n), 2))
    values = score_pairs(view, measure, pairs)
    cells = tuple(np.array(pairs, dtype=np.int64).reshape(-1, 2).T)
    distance, mean = np.zeros((2, n, n))
    distance[cells], mean[cells] = measure_distances(measure, values).mean(axis=1), values.mean(axis=1)
    return np.maximum(distance, distance.T), mean


def score_pairs(view: Collection, measure: RelativeMeasure, pairs: Sequence[tuple[int, int]]) -> FloatArray:
    """Return the values of pairs (run, reference) of indices, sorted by run, shape (pairs, queries)."""
    groups = [list(group) for _, group in itertools.groupby(pairs, lambda pair: pair[0])]
    values: list[FloatArray] = []
    for group in tqdm(groups, desc="comparing runs", unit="run", disable=None, leave=False):
        run = Evaluated.of(view, view.names[group[0][0]])
        values += [measure(ref=view.names[reference]).score(run) for _, reference in group]
    return np.array(values).reshape(-1, view.documents.n_queries)


# ---- documents that two runs share


def count_shared_documents(view: Collection, cutoff: int | None) -> IntArray:
    """Count the documents of the judged topics that each two runs both have in their tops, shape (runs, runs)."""

    def compute() -> IntArray:
        from scipy.sparse import csr_array  # pictures are drawn without scipy

        tops = view.tops(cutoff)
        keys = [pair_keys(top.docs.query, top.hashes) for top in tops]
        different, document = np.unique(np.concatenate(keys), return_inverse=True)
        starts = np.cumsum([0, *map(len, keys)])
        shape = len(keys), max(len(different), 1)
        retrieves = csr_array((np.ones(len(document), dtype=np.int64), document, starts), shape=shape)
        return (retrieves @ retrieves.T).toarray()

    return view.memoize(("shared", cutoff), compute)


def score_nearest_copies(
    view: Collection, names: Sequence[str], measure: Any, priors: Mapping[str, Iterable[str]] | None = None
) -> list[tuple[str, float] | None]:
    """Return for each run its nearest prior, and the mean that a copy of this prior would score in the run's place.

    The measure is relative to priors. The nearest prior retrieves most of the documents in the run's top k, over all
    judged topics; of equals it is the first. None stands for a run without priors.
    """
    free = type(measure)(**{key: value for key, value in measure.params.items() if key != "prior"})
    shared = count_shared_documents(view, measure.params.get("cutoff"))
    copies: list[tuple[str, float] | None] = []
    for name in names:
        run = Evaluated.of(view, name, None if priors is None else priors[name])
        rivals = run.priors(measure.get("prior"))
        if not len(rivals):
            copies.append(None)
            continue
        nearest = view.names[rivals[shared[view.index[name], rivals].argmax()]]
        # A new run with the run's priors, and so with the one that it copies.
        values = free.score(Evaluated.of(view, view.runs[nearest], [view.names[i] for i in rivals]))
        copies.append((nearest, aggregate(measure, values)))
    return copies


# ---- drawing distances


def order_by_clustering(distance: FloatArray) -> list[int]:
    """Return the order of the leaves of a hierarchical clustering: average linkage, most similar neighbours."""
    if len(distance) < 3:
        return list(range(len(distance)))
    from scipy.cluster.hierarchy import leaves_list, linkage
    from scipy.spatial.distance import squareform

    condensed = squareform(distance, checks=False)
    return [int(i) for i in leaves_list(linkage(condensed, method="average", optimal_ordering=True))]


def inner_range(values: FloatArray, signed: bool = False) -> tuple[float, float, str]:
    """Return the range within Tukey's outer fences, for a colour scale; and whether values lie below or above it.

    Where ``signed``, the range is symmetric about 0.
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
