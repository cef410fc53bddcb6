"""The other side of the ratios: what else computes a measure of runs in pandas frames."""

from __future__ import annotations

from collections.abc import Sequence

import ir_measures
import numpy as np
import pandas as pd
import pytrec_eval

from benchmarks.data import Frames
from benchmarks.timing import Side


def by_ir_measures(frames: Frames, qrels: pd.DataFrame, measures: Sequence[ir_measures.Measure]) -> Side:
    """ir_measures on the frames, with one evaluator, which is there beforehand."""
    evaluator = ir_measures.evaluator(measures, qrels)

    def side() -> None:
        for frame in frames.values():
            evaluator.calc_aggregate(frame)

    return side


def by_pytrec_eval(frames: Frames, qrels: pd.DataFrame, measures: set[str]) -> Side:
    """The best use of pytrec_eval that we could write: frames into dicts by zip, a query at a time, and one evaluator.

    The evaluator is there beforehand. What pandas needs to hand out its columns counts, as it does for us.
    """
    judged: dict[str, dict[str, int]] = {}
    for query, doc, label in qrels[["query_id", "doc_id", "relevance"]].itertuples(index=False):
        judged.setdefault(query, {})[doc] = int(label)
    evaluator = pytrec_eval.RelevanceEvaluator(judged, measures)

    def side() -> None:
        for frame in frames.values():
            evaluator.evaluate(as_dict(frame))

    return side


def as_dict(frame: pd.DataFrame) -> dict[str, dict[str, float]]:
    """A run as pytrec_eval takes it; the rows of a query stand together. Each way is the fastest for its columns."""
    queries = frame["query_id"]
    if queries.dtype == object:
        values = queries.to_numpy()
        changes = values[1:] != values[:-1]
    else:
        codes, _ = pd.factorize(queries)
        changes = codes[1:] != codes[:-1]
    starts = np.concatenate([[0], np.flatnonzero(changes) + 1])
    heads = queries.iloc[starts].tolist()
    docs, scores = frame["doc_id"].tolist(), frame["score"].tolist()
    ends = [*starts[1:].tolist(), len(docs)]
    return {
        query: dict(zip(docs[a:b], scores[a:b], strict=True))
        for query, a, b in zip(heads, starts.tolist(), ends, strict=True)
    }
