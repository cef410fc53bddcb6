"""``pt.relative.Experiment``: pipelines in, the table of ``pt.Experiment`` out, relative measures included.

PyTerrier evaluates a system as soon as it has run, and a relative measure needs all of them. So there are two calls
of ``pt.Experiment``. In the first, PyTerrier runs and times the pipelines, by the plan and in the batches that were
asked for; their results are caught at the end of each, and PyTerrier itself evaluates next to nothing. In the second,
inside a context of these results, the pipelines are replaced by ones that replay them.

This module imports PyTerrier, and is itself imported when an experiment is.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import ir_measures
import pandas as pd
import pyterrier as pt

from ..context import RunContext
from ..measures.declaration import RelativeMeasure
from ..priors import Policy
from .saved_runs import SavedRuns

# What the first call of pt.Experiment does not get: it makes no table and saves nothing.
_SECOND_CALL_ONLY = ("perquery", "dataframe", "highlight", "save_dir", "save_mode", "save_format")


# What the second call does not get: it has no pipelines to share a prefix, and they were validated in the first.
_FIRST_CALL_ONLY = ("precompute_prefix", "validate", "verbose")


def experiment(
    systems: Any,
    topics: Any,
    qrels: Any,
    eval_metrics: Sequence[Any],
    names: Sequence[str] | None,
    *,
    priors: Policy,
    reference: str | None,
    groups: Mapping[str, str] | None,
    num_docs: int | None,
    grades: tuple[int, int] | None,
    options: dict[str, Any],
) -> Any:
    """What ``pt.relative.Experiment`` does; ``options`` are the other keyword arguments of ``pt.Experiment``."""
    systems, names, options = _as_list(systems, names, options)
    baseline = options.get("baseline")
    if reference is None and baseline is not None:
        reference = names[baseline]
    context_options: dict[str, Any] = {
        "priors": priors,
        "reference": reference,
        "groups": groups,
        "num_docs": num_docs,
    }
    _check_measures(eval_metrics, names, context_options)
    _check_perquery(options)
    saved = SavedRuns(names, options)
    systems = [saved.read(name, system) for name, system in zip(names, systems, strict=True)]

    if isinstance(qrels, str) and os.path.isfile(qrels):
        qrels = pt.io.read_qrels(qrels)
    runs, times = _run(systems, topics, qrels, names, options)
    if grades is None:
        grades = _grades_of(qrels)
    context = RunContext(
        {n: pt.model.coerce_dataframe_types(r.copy()) for n, r in runs.items()},
        grades=grades,
        **context_options,
    )
    replayed = [
        run if isinstance(system, pd.DataFrame) else _Replay(run, repr(system))
        for system, run in zip(systems, runs.values(), strict=True)
    ]
    options = {k: v for k, v in options.items() if k not in _FIRST_CALL_ONLY}
    if "mrt" not in eval_metrics:
        times = {}
    rounded = _rounded(times, options.get("round"))
    with saved.staging(options, rounded) as options, context:
        result = pt.Experiment(
            replayed, topics, qrels, eval_metrics, names=names, verbose=False, validate="ignore", **options
        )
    if times and not options.get("perquery"):
        _set_times(result, times if isinstance(result, dict) else rounded)
    return result


def _as_list(
    systems: Any, names: Sequence[str] | None, options: dict[str, Any]
) -> tuple[list[Any], list[str], dict[str, Any]]:
    """Systems and names as lists and the baseline as a number, checked as ``pt.Experiment`` does; unique names."""
    baseline = options.get("baseline")
    if isinstance(systems, dict):
        names, systems = list(systems.keys()), list(systems.values())
        if isinstance(baseline, str):
            if baseline not in names:
                raise ValueError(f"Unknown baseline '{baseline}'. Valid options are: {', '.join(names)}")
            options = options | {"baseline": names.index(baseline)}
    elif not isinstance(systems, list):
        raise TypeError(
            f"systems is a {type(systems).__name__}; give a list or dict of transformers or DataFrames"
        )
    elif isinstance(baseline, str):
        raise TypeError(f"baseline={baseline!r} is a name; it must be a number where systems is a list")
    for i, system in enumerate(systems):
        if not isinstance(system, (pd.DataFrame, pt.Transformer)):
            raise TypeError(
                f"system {i} is a {type(system).__name__}; give a transformer or a DataFrame of results"
            )
    if names is None:
        names = [str(system) for system in systems]
    baseline = options.get("baseline")
    if baseline is not None and not 0 <= baseline < len(systems):
        raise ValueError(
            f"baseline={baseline} is no system; there are {len(systems)}, from 0 to {len(systems) - 1}"
        )
    if len(names) != len(systems):
        raise ValueError(f"{len(names)} names for {len(systems)} systems; give names one of each")
    twice = next((n for i, n in enumerate(names) if n in names[:i]), None)
    if twice is not None:
        raise ValueError(
            f"two systems are called {twice!r}; the priors are known by name, so give each its own with names="
        )
    return list(systems), list(names), options


def _check_measures(measures: Sequence[Any], names: Sequence[str], context_options: dict[str, Any]) -> None:
    """Tries the measures and the context's arguments on runs of one document: mistakes show before anything runs."""
    for measure in measures:
        if isinstance(measure, str) and measure != "mrt":
            ir_measures.parse_trec_measure(measure)  # as PyTerrier does
    relative = [m for m in measures if isinstance(m, RelativeMeasure)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tiny = RunContext({name: {"q": {"d": 1.0}} for name in names}, **context_options)
        if relative:
            tiny.evaluate({"q": {"d": 1}}, relative)


def _grades_of(qrels: Any) -> tuple[int, int] | None:
    """The lowest and the highest label of all topics, which no batch of them knows."""
    label = qrels["label"] if "label" in getattr(qrels, "columns", ()) else ()
    return (int(label.min()), int(label.max())) if len(label) else None


def _check_perquery(options: Mapping[str, Any]) -> None:
    """Two conditions that PyTerrier would find violated only in the second call."""
    if options.get("perquery"):
        if options.get("baseline") is not None:
            raise ValueError(
                "baseline compares means, so it does not go with perquery; leave one of them out"
            )
        if isinstance(options.get("round"), dict):
            raise ValueError(
                "round by measure goes with means only, not with perquery; give round as a number"
            )


def _run(
    systems: list[Any], topics: Any, qrels: Any, names: list[str], options: dict[str, Any]
) -> tuple[dict[str, pd.DataFrame], dict[str, float]]:
    """Runs the pipelines once.

    Returns:
        the results by name, with a column ``name``, and the mean response times as PyTerrier measures them.
    """
    first = {k: v for k, v in options.items() if k not in _SECOND_CALL_ONLY}
    if first.get("verbose", "auto") == "auto" and first.get("plan", "linear") == "linear":
        first["verbose"] = sys.stderr.isatty() or pt.tqdm.__module__ == "tqdm.notebook"
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
            _first_rows(qrels),
            [ir_measures.P @ 1, "mrt"],
            names=names,
            dataframe=False,
            **first,
        )
    runs = {
        name: (system if isinstance(system, pd.DataFrame) else catch.result()).assign(name=name)
        for name, system, catch in zip(names, systems, catches, strict=True)
    }
    return runs, {name: averages[name]["mrt"] for name in names}


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


class _Replay(pt.Transformer):  # type: ignore[misc]
    """Gives the results that a pipeline gave before, for the queries asked."""

    def __init__(self, results: pd.DataFrame, shown: str) -> None:
        self._results = results
        self._shown = shown

    def __repr__(self) -> str:
        return self._shown

    def transform(self, inp: pd.DataFrame) -> pd.DataFrame:
        wanted = self._results["qid"].isin(inp["qid"])
        return self._results.copy() if wanted.all() else self._results[wanted].reset_index(drop=True)


def _rounded(times: Mapping[str, float], digits: Any) -> dict[str, float]:
    if isinstance(digits, dict):
        digits = digits.get("mrt")
    return {name: time if digits is None else round(time, digits) for name, time in times.items()}


def _set_times(result: Any, times: Mapping[str, float]) -> None:
    """Puts the times of the pipelines where those of their replay are."""
    if isinstance(result, dict):
        for name, row in result.items():
            row["mrt"] = times[name]
    else:
        table = result if isinstance(result, pd.DataFrame) else result.data  # the data of a styled table
        table["mrt"] = table["name"].map(times)
