"""The runs of an experiment: a pipeline runs once, what it gives is caught and replayed, and saved where asked for."""

from __future__ import annotations

import os
import shutil
import tempfile
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import ir_measures
import numpy as np
import pandas as pd
import pyterrier as pt

from ...io.files import read_bytes
from ...io.runs import read_run, read_trec_run
from ...messages import warn
from ..compat import SUMMARIES, TABLE_OPTIONS, UNJUDGED_TOPICS, has_progress_bar, suffix_of_saved


def with_progress(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options of ``pt.Experiment``, where ``verbose="auto"`` shows progress if there is someone to see it."""
    if options.get("verbose", "auto") != "auto" or options.get("plan", "linear") != "linear":
        return dict(options)
    return dict(options) | {"verbose": has_progress_bar(pt)}


def run_and_time(
    systems: Sequence[Any],
    topics: Any,
    qrels: Any,
    metrics: Sequence[Any],
    names: Sequence[str],
    options: Mapping[str, Any],
) -> tuple[dict[str, pd.DataFrame], dict[str, float]]:
    """Lets ``pt.Experiment`` run every pipeline once, evaluating nothing.

    PyTerrier looks for the columns of ``metrics``, which will be evaluated, in what the pipelines say of themselves.
    The results are by name, with a column ``name``; the times are the mean response times as PyTerrier measures them.
    """
    columns = {"query_id", "doc_id", "score"}
    columns.update(ir_measures.run_inputs([m for m in metrics if isinstance(m, ir_measures.Measure)]))
    nothing = ir_measures.define(lambda qrels, run: (), "nothing", run_inputs=sorted(columns))
    catches = [_Catch() for _ in systems]
    caught = [
        _first_rows(system) if isinstance(system, pd.DataFrame) else system >> catch
        for system, catch in zip(systems, catches, strict=True)
    ]
    with warnings.catch_warnings():
        # Which topics have judgments is said in the second call.
        warnings.filterwarnings("ignore", message=UNJUDGED_TOPICS)
        averages = pt.Experiment(
            caught,
            topics,
            _first_rows(qrels),
            [nothing, "mrt"],
            names=list(names),
            dataframe=False,
            **{name: value for name, value in options.items() if name not in TABLE_OPTIONS},
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


class SavedRuns:
    """``save_dir``: which runs are there already, and where the new ones go.

    PyTerrier writes into a folder of its own inside ``save_dir``, from where the files are moved when all is done: it
    must not read again what is reused, for a run that it reads has lost its name.
    """

    def __init__(self, names: Sequence[str], options: Mapping[str, Any]) -> None:
        self._folder: str | None = options.get("save_dir")
        self._format: Any = options.get("save_format", "trec")
        self._reuse = options.get("save_mode") == "reuse"
        self._paths: dict[str, Path] = {}
        if self._folder is None:
            return
        mode = options.get("save_mode", "warn")
        if options.get("plan", "linear") == "tree":
            raise ValueError("save_dir is not yet supported for tree execution plan")
        if not os.path.isdir(self._folder):
            raise ValueError(f"save_dir {self._folder} is not there or not a folder; make it first")
        if mode not in ("reuse", "overwrite", "warn", "error"):
            raise ValueError(f"save_mode={mode!r} is not allowed; it must be reuse, overwrite, warn or error")
        suffix = suffix_of_saved(self._format)
        if suffix is None:
            raise ValueError(
                f"save_format={self._format!r} is not allowed; it must be 'trec', a module with load and dump such as "
                "pickle, or a pair (read, write) of functions"
            )
        for name in names:
            if not pt.io.ok_filename(name):
                raise ValueError(
                    f"the name {name!r} holds characters that a file name cannot; save_dir needs others"
                )
            path = self._paths[name] = Path(self._folder) / f"{name}.{suffix}"
            if mode in ("warn", "error") and path.exists():
                message = (
                    f"save_dir is set, but the file '{path}' already exists; set save_mode='reuse' to use "
                    "it in place of the pipeline, or save_mode='overwrite' to replace it"
                )
                if mode == "error":
                    raise ValueError(message)
                warn(message)

    def read(self, name: str, system: Any) -> Any:
        """The saved results of a system where they are to be reused, else the system."""
        path = self._paths.get(name)
        if path is None or not self._reuse or not path.exists():
            return system
        if self._format == "trec":
            return _read_trec(str(path))
        with pt.io.autoopen(str(path), "rb") as file:
            return self._format[0](file) if isinstance(self._format, tuple) else self._format.load(file)

    @contextmanager
    def staging(self, options: dict[str, Any], times: Mapping[str, float]) -> Iterator[dict[str, Any]]:
        """The options, with a ``save_dir`` whose files are moved to where they belong when the block ends.

        The ``times`` go into the summary in place of those that PyTerrier writes.
        """
        if self._folder is None:
            yield options
            return
        with tempfile.TemporaryDirectory(dir=self._folder, prefix=".experiment-") as staging:
            for summary in SUMMARIES:
                if os.path.exists(os.path.join(self._folder, summary)):  # PyTerrier keeps its other rows
                    shutil.copy(os.path.join(self._folder, summary), staging)
            yield options | {"save_dir": staging}
            if times:
                summary = os.path.join(staging, SUMMARIES[0])
                # All else in it stays as it is.
                table = pd.read_csv(summary, dtype=str, keep_default_na=False)
                own = table["name"].map({name: str(time) for name, time in times.items()})
                table.assign(mrt=own.fillna(table["mrt"])).to_csv(summary, index=False)
            files = os.listdir(staging)
            if self._format == "trec":
                for file in {path.name for path in self._paths.values()}.intersection(files):
                    _check_readable(os.path.join(staging, file), file)
            for file in files:
                os.replace(os.path.join(staging, file), os.path.join(self._folder, file))


def _read_trec(path: str) -> pd.DataFrame:
    """A run file, in PyTerrier's columns; pandas would take some ids for missing values, and round scores."""
    run = read_run(path, path)
    query, docs, _ = run.rows()
    columns = {"qid": run.query_ids[query], "docno": docs.strings(), "score": run.given_scores}
    return pd.DataFrame(columns | {"rank": np.arange(len(run)) - run.starts[query]})


def _check_readable(path: str, file: str) -> None:
    """Raises ValueError where PyTerrier wrote a run whose ids no TREC file can hold."""
    data = read_bytes(path, file)
    try:
        if b'"' in data:  # which PyTerrier writes twice, and around an id with a blank
            raise ValueError
        read_trec_run(data, file, file)
    except ValueError:
        raise ValueError(
            f"save_dir: the run of {file} has ids with blanks or quotation marks, or none, which a TREC file cannot "
            "hold; nothing is saved: give other ids, or save_format=pickle"
        ) from None
