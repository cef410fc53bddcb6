"""The values of an experiment, computed at once from a context, and handed to ``pt.Experiment`` system by system."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import ir_measures
import numpy as np
import pandas as pd
import pyterrier as pt

from ...context.absolute import provider_name
from ...context.evaluate import Scores, score_runs
from ...context.measure_strings import is_relative
from ...context.view import View
from ...data.arrays import FloatArray, IntArray
from ...data.rankings import Rankings
from ..provider import Answered
from .runs import Caught


def score_systems(
    view: View, measures: Sequence[ir_measures.Measure], caught: Caught, qrels: pd.DataFrame
) -> tuple[Scores, list[IntArray]]:
    """The values of every system; and of each its queries, in the order in which ``pt.Experiment`` would add them up.

    What the context cannot compute of a run, such as a measure that looks at further columns, or with a document twice,
    is computed by ir_measures from the frames.
    """
    own = {m: provider_name(ir_measures.DefaultPipeline, m) for m in measures if not is_relative(m)}
    frames = dict(zip(view.members.rankings, caught.runs, strict=True))

    def absolute(measures: Sequence[ir_measures.Measure], run: Rankings) -> FloatArray:
        by_host = [m for m in measures if own[m] == "runtime"]
        here = [m for m in measures if m not in by_host]
        values = np.full((len(measures), view.n_queries), np.nan)
        row = {measure: i for i, measure in enumerate(measures)}
        try:
            if here:
                values[[row[m] for m in here]] = view.absolute(here, run, as_given=True)
        except ValueError:
            by_host = list(measures)
        if by_host:
            given = map(pt.model.to_ir_measures, (qrels, pt.model.coerce_dataframe_types(frames[run].copy())))
            for metric in ir_measures.iter_calc(by_host, *given):
                if metric.query_id in view.documents.query_code:
                    values[row[metric.measure], view.documents.query_code[metric.query_id]] = metric.value
        return values

    scores = score_runs(view, view.names, measures, absolute=absolute)
    orders = [
        _order(view, run, judged, set(own.values()))
        for run, judged in zip(view.members.rankings, caught.batches, strict=True)
    ]
    return scores, orders


def _order(view: View, run: Rankings, judged: Sequence[set[str]], providers: set[str | None]) -> IntArray:
    """The order in which ir_measures has the queries of a run, batch by batch: means depend on it in their last bit.

    It has first what the run holds, as it comes, then what it lacks, sorted; where all is relative, as in the qrels.
    """
    code = view.documents.query_code
    order: dict[str, None] = {}
    for batch in [*judged, set(code)]:
        left = [q for q in code if q in batch and q not in order]
        met = [q for q in run.query_ids if q in batch and q in code and q not in order]
        if providers:
            met = sorted(met) if "runtime" in providers else met
            left = [*met, *sorted(set(left).difference(met))]
        order |= dict.fromkeys(left)
    return np.array([code[q] for q in order], dtype=np.int64)


def answers_for(scores: Scores, columns: Sequence[str], orders: Sequence[IntArray]) -> list[Answered]:
    """For each measure one of the same name that has its values already, of the systems that :func:`stub` makes."""

    def answer(_: pd.DataFrame, run: pd.DataFrame) -> Iterator[ir_measures.Metric]:
        system = int(run["score"].iloc[0])
        rows = scores.values[system][:, orders[system]].T.tolist()
        for query_id, row in zip(scores.query_ids[orders[system]], rows, strict=True):
            for measure, value in zip(measures, row, strict=True):
                yield ir_measures.Metric(query_id, measure, value)

    measures = [Answered(name, answer) for name in columns]
    return measures


def stub(system: int) -> pd.DataFrame:
    """A frame of one row that stands for the results of a system."""
    return pd.DataFrame({"qid": ["0"], "docno": ["0"], "score": [float(system)]})
