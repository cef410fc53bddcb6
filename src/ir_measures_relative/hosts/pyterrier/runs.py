"""The runs of an experiment: each pipeline runs once, and its results are collected, and saved if asked for."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import ir_measures
import numpy as np
import pandas as pd
import pyterrier as pt
from pyterrier import Experiment as PyTerrierExperiment

from ...arguments import check_choice, check_run_names
from ...io.files import read_bytes
from ...io.trec_files import read_trec_runs
from ...messages import kind_of, warn
from ..compat import SUMMARIES, TABLE_OPTIONS, run_suffix
from ..provider import Answered


class Results(NamedTuple):
    """The results of the systems, in their order."""

    runs: list[pd.DataFrame]
    batches: list[list[set[str]]]  #: the judged queries of each batch of a system that was evaluated
    times: list[float]  #: the mean response times that PyTerrier measured


def run_and_time(
    systems: Sequence[Any],
    topics: Any,
    qrels: Any,
    metrics: Sequence[Any],
    names: Sequence[str],
    options: Mapping[str, Any],
) -> Results:
    """Let ``pt.Experiment`` run every pipeline once, evaluating nothing; frames alone need no such call.

    PyTerrier checks that the pipelines return the columns that ``metrics`` will need.
    """
    inputs = {"query_id", "doc_id", "score"}
    inputs.update(ir_measures.run_inputs([m for m in metrics if isinstance(m, ir_measures.Measure)]))
    in_tree = options.get("plan") == "tree"  # where a frame is a transformer
    is_frame = [isinstance(system, pd.DataFrame) and not in_tree for system in systems]
    needed = {pt.model.from_ir_measures(column) for column in inputs}
    has_nothing_to_run = all(is_frame) and not options.get("precompute_prefix")  # else PyTerrier warns
    if has_nothing_to_run and all(len(frame) and needed.issubset(frame.columns) for frame in systems):
        return Results(list(systems), [[] for _ in systems], [0.0] * len(systems))
    evaluated: list[_Collector] = []  # whose results are evaluated next

    def record_judged(qrels: pd.DataFrame, _: pd.DataFrame) -> list[ir_measures.Metric]:
        if evaluated:
            evaluated.pop().judged.append(set(qrels["query_id"]))
        return [ir_measures.Metric(qrels["query_id"].iloc[0], nothing, 0.0)] if len(qrels) else []

    nothing = Answered("nothing", record_judged, sorted(inputs))
    collectors = [_Collector(evaluated, whole=options.get("save_dir") is not None) for _ in systems]
    parts = list(zip(systems, collectors, is_frame, strict=True))
    averages = PyTerrierExperiment(
        [system.head(1) if whole else Extended(system, collector) for system, collector, whole in parts],
        topics,
        first_rows(qrels),
        [nothing, "mrt"],
        names=list(names),
        dataframe=False,
        **{name: value for name, value in options.items() if name not in TABLE_OPTIONS},
    )
    runs = [system if whole else collector.result() for system, collector, whole in parts]
    return Results(runs, [collector.judged for collector in collectors], [averages[n]["mrt"] for n in names])


def first_rows(frame: Any) -> Any:
    """Return the first row of every query of the qrels: a stub that PyTerrier evaluates quickly."""
    return frame.drop_duplicates("qid") if "qid" in getattr(frame, "columns", ()) else frame


class Extended(pt.Compose):  # type: ignore[misc]
    """A pipeline with a transformer appended; ``plan="tree"`` still sees the parts that it shares with others."""

    def __init__(self, system: Any, end: pt.Transformer, shown: str | None = None) -> None:
        transformer = pt.Transformer.from_df(system) if isinstance(system, pd.DataFrame) else system
        super().__init__(*pt.Compose(transformer, end))
        self._shown = repr(system) if shown is None else shown

    def __repr__(self) -> str:
        return self._shown

    __hash__ = pt.Compose.__hash__


class _Collector(pt.Transformer):  # type: ignore[misc]
    """The end of a pipeline: it collects the results, and passes on a stub, or all of them if they are to be saved."""

    def __init__(self, evaluated: list[_Collector], whole: bool) -> None:
        self._evaluated = evaluated
        self._whole = whole
        self._batches: list[pd.DataFrame] = []
        self.judged: list[set[str]] = []

    def __repr__(self) -> str:
        return "results"

    def transform(self, inp: pd.DataFrame) -> pd.DataFrame:
        self._batches.append(inp)
        self._evaluated.append(self)
        # PyTerrier raises the error for anything but a frame.
        stub = isinstance(inp, pd.DataFrame) and not self._whole
        return inp.head(1).copy() if stub else inp

    def transform_outputs(self, input_columns: list[str]) -> list[str]:
        return input_columns

    def result(self) -> pd.DataFrame:
        """Return all results."""
        return self._batches[0] if len(self._batches) == 1 else pd.concat(self._batches, ignore_index=True)


class SavedRuns:
    """The runs in ``save_dir``: those that are reused, and those that are written.

    PyTerrier writes into a staging folder inside it, so it cannot itself reuse a saved run, which would lose its name.
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
        check_choice("save_mode", mode, ("reuse", "overwrite", "warn", "error"))
        suffix = run_suffix(self._format)
        if suffix is None:
            allowed = "give 'trec', a module such as pickle, or (read, write)"
            raise ValueError(f"save_format={self._format!r} is not allowed; {allowed}")
        for name in names:
            if not pt.io.ok_filename(name):
                raise ValueError(f"the name {name!r} cannot be the name of a file, which save_dir needs")
            path = self._paths[name] = Path(self._folder) / f"{name}.{suffix}"
            if mode in ("warn", "error") and path.exists():
                message = (
                    f"'{path}' already exists; set save_mode='reuse' to use it, or 'overwrite' to replace it"
                )
                if mode == "error":
                    raise ValueError(message)
                warn(message)

    def read(self, name: str, system: Any) -> Any:
        """Return the saved results of a system if they are to be reused, else the system."""
        path = self._paths.get(name)
        if path is None or not self._reuse or not path.exists():
            return system
        if self._format == "trec":
            return _read_trec(str(path))
        with pt.io.autoopen(str(path), "rb") as file:
            return self._format[0](file) if isinstance(self._format, tuple) else self._format.load(file)

    @contextmanager
    def staging(self, times: Mapping[str, float]) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
        """Yield options with a ``save_dir`` for the runs, and for the tables; move the files into place at the end.

        The ``times`` at the end replace those that PyTerrier writes into the summary.
        """
        if self._folder is None:
            yield {}, {}
            return
        with tempfile.TemporaryDirectory(dir=self._folder, prefix=".experiment-") as staging:
            runs, tables = (Path(staging) / part for part in ("runs", "tables"))
            runs.mkdir()
            tables.mkdir()
            for summary in SUMMARIES:
                if os.path.exists(os.path.join(self._folder, summary)):  # PyTerrier keeps its other rows
                    shutil.copy(os.path.join(self._folder, summary), tables)
            yield {"save_dir": str(runs)}, {"save_dir": str(tables)}
            if times:
                file = tables / SUMMARIES[0]
                table = pd.read_csv(file, dtype=str, keep_default_na=False)  # so that nothing else changes
                mrt = table["name"].map({name: str(time) for name, time in times.items()})
                table.assign(mrt=mrt.fillna(table["mrt"])).to_csv(file, index=False)
            files = [*tables.iterdir(), *(file for file in runs.iterdir() if file.name not in SUMMARIES)]
            for file in files if self._format == "trec" else ():
                if file.name in {path.name for path in self._paths.values()}:
                    _check_readable(str(file), file.name)
            for file in files:
                os.replace(file, os.path.join(self._folder, file.name))


def _read_trec(path: str) -> pd.DataFrame:
    """Read a run file as PyTerrier's columns; pandas would read some ids as missing values, and round scores."""
    [run] = read_trec_runs(read_bytes(path, path), path)  # it may be empty, like a pipeline's results
    query, docs, _ = run.rows()
    columns = {"qid": run.query_ids[query], "docno": docs.strings(), "score": run.given_scores}
    return pd.DataFrame(columns | {"rank": np.arange(len(run)) - run.starts[query]})


def _check_readable(path: str, file: str) -> None:
    """Raise ValueError for a run with ids that a TREC file cannot hold."""
    data = read_bytes(path, file)
    try:
        if b'"' in data:  # PyTerrier doubles it, and writes it around an id with a blank
            raise ValueError
        read_trec_runs(data, file)
    except ValueError:
        raise ValueError(
            f"save_dir: the run of {file} has ids that a TREC file cannot hold; set save_format=pickle"
        ) from None


def named(systems: Mapping[str, Any]) -> list[pt.Transformer]:
    """Name the results of pipelines, for plain ``pt.Experiment`` inside a context.

    A run of a context must not be its own prior, and the context recognizes it by its name. Stages behind a named
    (``>>``) keep the name; to name the longer pipeline, pass it to this function as well.

    Args:
        systems: from name to transformer, or to a DataFrame of results.

    Example:
        >>> import pandas as pd
        >>> import pyterrier as pt
        >>> results = pd.DataFrame({"qid": ["1"], "docno": ["a"], "score": [1.0]})
        >>> bm25, = pt.relative.named({"BM25": results})
        >>> bm25
        BM25
        >>> bm25(pd.DataFrame({"qid": ["1"], "query": ["tea"]}))
          qid docno  score  name
        0   1     a    1.0  BM25
    """
    if not isinstance(systems, Mapping):
        raise TypeError(f"systems is {kind_of(systems)}; give a dict from name to transformer or DataFrame")
    check_run_names(systems)
    for name, system in systems.items():
        if not isinstance(system, (pd.DataFrame, pt.Transformer)):
            raise TypeError(f"the system {name!r} is {kind_of(system)}; give a transformer or a DataFrame")
    return [
        Extended(
            _FixedResults(system, name) if isinstance(system, pd.DataFrame) else system, _Name(name), name
        )
        for name, system in systems.items()
    ]


class _Name(pt.Transformer):  # type: ignore[misc]
    """A transformer that sets the column ``name``."""

    schematic = {"label": "name"}  #: its label in PyTerrier's drawing of a pipeline

    def __init__(self, name: str) -> None:
        self._name = name

    def __repr__(self) -> str:
        return f"name({self._name!r})"

    def transform(self, inp: pd.DataFrame) -> pd.DataFrame:
        return inp.assign(name=self._name)

    def transform_outputs(self, input_columns: list[str]) -> list[str]:
        return list(dict.fromkeys([*input_columns, "name"]))


class _FixedResults(pt.Transformer):  # type: ignore[misc]
    """A transformer that returns the rows of a frame for the queries, in the order of the frame."""

    def __init__(self, results: pd.DataFrame, shown: str) -> None:
        self._results = results
        self._shown = shown

    def __repr__(self) -> str:
        return self._shown

    def transform(self, inp: pd.DataFrame) -> pd.DataFrame:
        return self._results[self._results["qid"].isin(inp["qid"])].reset_index(drop=True)
