"""MED of two rankings, query by query, with the labeling that attains it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from ir_measures_relative import MED, RunContext
from ir_measures_relative.bounding.med_pairs import RunPair
from ir_measures_relative.context.checks import check_queries
from ir_measures_relative.context.collection import judged_collection, new_collection
from ir_measures_relative.context.evaluated import Evaluated
from ir_measures_relative.data.arrays import object_array, query_slices
from ir_measures_relative.data.documents import Judgments
from ir_measures_relative.io.qrels import Qrels
from ir_measures_relative.io.runs import Run, read_run
from ir_measures_relative.measures.med import SEARCHES


def med(
    run: Run,
    reference: Run,
    qrels: Qrels | None = None,
    base: str = "nDCG",
    cutoff: int | None = 10,
    **params: Any,
) -> pd.DataFrame:
    """One row a query: value, lower, upper, exact, the winner, and the relevant open documents of the labeling.

    Args:
        qrels: None leaves every document open, and scores the queries of both runs.
        params: the other parameters of MED.
    """
    measure = MED(base=base, **params) if cutoff is None else MED(base=base, cutoff=cutoff, **params)
    measure.validate_params()
    rankings, context = read_run(run), RunContext({"reference": reference})
    against = context.runs["reference"]
    if qrels is None:
        query_ids = object_array(dict.fromkeys([*rankings.query_ids, *against.query_ids]))
        collection = new_collection(context, Judgments.empty(query_ids))
    else:
        collection = judged_collection(context, qrels)
        check_queries(collection, rankings)
        check_queries(collection, against)
    evaluated = Evaluated.of(collection, rankings)
    task, solutions = RunPair(evaluated, measure), SEARCHES[base](evaluated, measure)
    pool, labelings = task.pool, []
    labels = np.where(pool.open, task.open_gains[1][solutions.level], 0)
    for rows in query_slices(pool.query, pool.n_queries):
        chosen = rows.start + np.flatnonzero(labels[rows])
        labelings.append(dict(zip(pool.ids.take(chosen).strings(), labels[chosen].tolist(), strict=True)))
    return pd.DataFrame(
        {
            "query_id": collection.documents.query_ids,
            "value": solutions.value,
            "lower": solutions.value,
            "upper": solutions.upper,
            "exact": solutions.exact,
            "winner": np.array(["", "run", "reference"], dtype=object)[solutions.winner],
            "labeling": labelings,
        }
    )
