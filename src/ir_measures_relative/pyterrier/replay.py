"""Pipelines that run once: what each gives is caught at its end, and replayed to who asks later."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import ir_measures
import pandas as pd
import pyterrier as pt

#: The columns that the measures of ir_measures need, and those of this package.
_USUAL = frozenset(("query_id", "doc_id", "score"))


def with_progress(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options of ``pt.Experiment``, where ``verbose="auto"`` shows progress if there is someone to see it."""
    if options.get("verbose", "auto") != "auto" or options.get("plan", "linear") != "linear":
        return dict(options)
    return dict(options) | {"verbose": sys.stderr.isatty() or pt.tqdm.__module__ == "tqdm.notebook"}


def run_and_time(
    systems: Sequence[Any],
    topics: Any,
    qrels: Any,
    metrics: Sequence[Any],
    names: Sequence[str],
    options: Mapping[str, Any],
) -> tuple[dict[str, pd.DataFrame], dict[str, float]]:
    """Lets ``pt.Experiment`` run every pipeline once, evaluating next to nothing.

    Args:
        metrics: what will be evaluated, whose columns PyTerrier looks for in what the pipelines say of themselves.

    Returns:
        the results by name, with a column ``name``, and the mean response times as PyTerrier measures them.
    """
    catches = [_Catch() for _ in systems]
    caught = [
        _first_rows(system) if isinstance(system, pd.DataFrame) else system >> catch
        for system, catch in zip(systems, catches, strict=True)
    ]
    with warnings.catch_warnings():
        # Which topics have judgments is said in the second call.
        warnings.filterwarnings("ignore", message=r".*topic\(s\) not found in qrels")
        averages = pt.Experiment(
            caught,
            topics,
            _first_rows(qrels).assign(label=0),
            [ir_measures.P @ 1, *_asking_for_columns(metrics), "mrt"],
            names=list(names),
            dataframe=False,
            **options,
        )
    runs = {
        name: (system if isinstance(system, pd.DataFrame) else catch.result()).assign(name=name)
        for name, system, catch in zip(names, systems, catches, strict=True)
    }
    return runs, {name: averages[name]["mrt"] for name in names}


def _asking_for_columns(metrics: Sequence[Any]) -> list[ir_measures.Measure]:
    """A measure without values that needs those columns of a run which only some of the metrics need, if there are."""
    measures = [m for m in metrics if isinstance(m, ir_measures.Measure)]
    needed = sorted(set(ir_measures.run_inputs(measures)) - _USUAL)
    return [ir_measures.define(lambda qrels, run: (), "columns", run_inputs=needed)] if needed else []


def _first_rows(frame: Any) -> Any:
    """The first row of every query, of results or qrels: a stub that costs PyTerrier no time to evaluate."""
    return frame.drop_duplicates("qid") if "qid" in getattr(frame, "columns", ()) else frame


class _Catch(pt.Transformer):  # type: ignore[misc]
    """The end of a pipeline: keeps what comes, and hands on a stub of it."""

    def __init__(self) -> None:
        self._batches: list[pd.DataFrame] = []

    def __repr__(self) -> str:
        return "results"

    def transform(self, inp: pd.DataFrame) -> pd.DataFrame:
        self._batches.append(inp)
        return _first_rows(inp)

    def transform_outputs(self, input_columns: list[str]) -> list[str]:
        return input_columns

    def result(self) -> pd.DataFrame:
        """All that came."""
        return self._batches[0] if len(self._batches) == 1 else pd.concat(self._batches, ignore_index=True)


class Replay(pt.Transformer):  # type: ignore[misc]
    """Gives the results that a pipeline gave before, for the queries asked."""

    def __init__(self, results: pd.DataFrame, shown: str) -> None:
        self._results = results
        self._shown = shown

    def __repr__(self) -> str:
        return self._shown

    def transform(self, inp: pd.DataFrame) -> pd.DataFrame:
        wanted = self._results["qid"].isin(inp["qid"])
        return self._results.copy() if wanted.all() else self._results[wanted].reset_index(drop=True)
