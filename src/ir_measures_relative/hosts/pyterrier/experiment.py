"""``pt.relative.Experiment``: the table of ``pt.Experiment``, with relative measures.

It calls ``pt.Experiment`` twice. The first call runs and times the pipelines, whose results are collected and not
evaluated. They become a context, which scores them all at once. In the second call each system is a frame of one row,
and each measure has its values already: PyTerrier compares, corrects, rounds, shows and saves them.
"""

from __future__ import annotations

import inspect
import os
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal

import ir_measures
import numpy as np
import pandas as pd
import pyterrier as pt
from pyterrier import Experiment as PyTerrierExperiment  # pt.Experiment may be ours

from ...context.collection import judged_collection, new_collection
from ...context.evaluate import describe_dominant_topics
from ...context.measure_strings import as_list, is_relative
from ...context.missing_topics import find_similar_ids, warn_about_missing_topics
from ...context.priors import Policy
from ...context.run_context import RunContext, cite_tracks
from ...data.arrays import BoolArray
from ...data.documents import Judgments
from ...data.rankings import Rankings
from ...io.datasets import count_docs, fetch_qrels, is_dataset, load_dataset
from ...io.qrels import qrels_columns, read_qrels_file
from ...io.readers import check_topics_once, read_topics
from ...io.runs import read_run
from ...messages import few_quoted, warn
from ..compat import RETRIEVAL_OPTIONS, brief_garbage_collections
from .arguments import CONTEXT_ARGUMENTS, check_beside, check_topics_judged, parse_metrics, systems_by_name
from .runs import Results, SavedRuns, first_rows, run_and_time
from .tables import (
    answers_for,
    columns_by_measure,
    in_order,
    incomparable,
    remove_comparisons,
    rounded,
    score_systems,
    set_times,
)


def Experiment(
    systems: Any,
    topics: Any,
    qrels: Any,
    eval_metrics: Sequence[Any],
    names: Sequence[str] | None = None,
    *,
    beside: RunContext | None = None,
    priors: Policy = "others",
    reference: str | None = None,
    groups: Mapping[str, str] | None = None,
    num_docs: int | None = None,
    grades: tuple[int, int] | None = None,
    drop_self: bool = False,
    perquery: bool | Literal["both"] = False,
    dataframe: bool = True,
    batch_size: int | None = None,
    filter_by_qrels: bool = False,
    filter_by_topics: bool = True,
    baseline: int | str | None = None,
    test: str | Callable[..., Any] = "t",
    correction: str | None = None,
    correction_alpha: float = 0.05,
    highlight: str | None = None,
    round: int | Mapping[str, int] | None = None,
    verbose: Literal["auto"] | bool = "auto",
    validate: Literal["warn", "error", "ignore"] = "warn",
    save_dir: str | None = None,
    save_mode: Literal["reuse", "overwrite", "error", "warn"] = "warn",
    save_format: Any = "trec",
    precompute_prefix: bool = False,
    plan: Literal["linear", "tree"] = "linear",
    **options: Any,
) -> Any:
    """Score every system relative to the others; the table and the options are those of ``pt.Experiment``.

    Every pipeline runs once. A DataFrame, or a run that is reused, has ``mrt`` 0. ``save_dir`` gets files once the
    whole experiment is done.

    Args:
        systems: transformers or DataFrames of results, as a list, or as a dict by name.
        topics: as for ``pt.Experiment``.
        qrels: as for ``pt.Experiment``; or a path; or a dataset of ir_datasets, or its id with ``irds:``.
        eval_metrics: measures, measure strings, ``"mrt"``, or trec_eval's names. Their columns come in this order.
        names: the names of the systems, each once; if not given, the systems as strings, or ``system 0`` and so on
            for frames and for pipelines that are the same as strings. Of a dict the keys are the names, and
            ``names`` does not count, as in ``pt.Experiment``.
        beside: a context, such as that of a track: each system is then scored relative to the runs of this context,
            which get no rows, and not to the other systems. ``qrels`` may be None, for its judgments. The arguments
            from ``priors`` to ``drop_self`` are then set in that context.
        priors: which systems are the priors of which, as for :class:`RunContext`.
        reference: the name of the system that MED, RBO and lexiprecision compare with; ``baseline`` if not given.
        groups: from system name to group name, for :class:`BestOfOtherGroups`.
        num_docs: the number of documents in the collection; that of the dataset if ``qrels`` is one, where known.
        grades: the lowest and the highest relevance label; those of ``qrels`` if not given.
        drop_self: remove the document whose id is the query's from all results, as for :class:`RunContext`. All
            measures are then without it; what ``save_dir`` gets is not.
        baseline: the name of a system, or its place in the list. What :func:`~ir_measures_relative.compare` would
            refuse to compare is NaN in the columns of the baseline.

    All other arguments are those of ``pt.Experiment``; ``options`` are those that a later version of it has.
    """
    arguments = locals()
    # The arguments of the host are passed on only if they are set: an older version may lack some.
    options |= {
        name: arguments[name] for name, default in _HOST_DEFAULTS.items() if arguments[name] is not default
    }
    if isinstance(eval_metrics, (str, ir_measures.Measure)) or not isinstance(eval_metrics, Iterable):
        raise ValueError(f"eval_metrics={eval_metrics!r} must be a list, such as {as_list(eval_metrics)!r}")
    if not all(isinstance(metric, (str, ir_measures.Measure)) for metric in eval_metrics):
        # This call raises PyTerrier's own error.
        return PyTerrierExperiment(systems, topics, qrels, eval_metrics, names, **options)
    systems, names, shown, options = systems_by_name(systems, names, options)
    settings = {name: arguments[name] for name in CONTEXT_ARGUMENTS}
    if beside is not None:
        check_beside(beside, names, arguments)
        settings = {name: getattr(beside, name) for name in CONTEXT_ARGUMENTS}
        qrels = fetch_qrels(beside.dataset) if qrels is None else qrels
    elif reference is None and options.get("baseline") is not None:
        settings["reference"] = names[options["baseline"]]
    metrics, columns = parse_metrics(eval_metrics)
    qrels, settings["num_docs"] = _read_qrels(qrels, settings["num_docs"])
    relative = [metric for metric in metrics if is_relative(metric)]
    judgments = _check(names if beside is None else beside.names, qrels, relative, options, settings)
    topics = read_topics(topics)
    by_topics = options.get("filter_by_topics", True) and isinstance(topics, pd.DataFrame)
    if by_topics:
        check_topics_judged(topics, qrels)
    if relative:
        check_topics_once(topics, systems)
    experiment = _Experiment(
        names=names,
        shown=shown,
        metrics=metrics,
        columns=columns,
        topics=topics,
        qrels=qrels,
        scored_qrels=qrels[qrels["qid"].isin(topics["qid"])] if by_topics else qrels,
        judgments=judgments,
        beside=beside,
        settings=settings,
        options=options,
    )
    result = in_order(experiment.run(systems), list(columns))
    tracks = [] if beside is None else cite_tracks(beside.runs.values(), count_others=True)
    if tracks and isinstance(result, pd.DataFrame):
        result.attrs["beside"] = tracks
    return result


# The keyword arguments of ``pt.Experiment``, and their defaults.
_HOST_DEFAULTS = {
    name: parameter.default
    for name, parameter in inspect.signature(Experiment).parameters.items()
    if parameter.kind is parameter.KEYWORD_ONLY and name not in (*CONTEXT_ARGUMENTS, "beside")
}


@dataclass(frozen=True)
class _Experiment:
    """The checked arguments of an experiment."""

    names: list[str]  # of the systems, each once
    shown: list[str]  # in the table
    metrics: list[Any]
    columns: dict[str, ir_measures.Measure | None]  # in their order; None for the mean response time
    topics: Any
    qrels: pd.DataFrame
    scored_qrels: pd.DataFrame  # of the topics
    judgments: Judgments  # of all qrels
    beside: RunContext | None
    settings: dict[str, Any]  # of the context
    options: dict[str, Any]  # of pt.Experiment

    def run(self, systems: Sequence[Any]) -> Any:
        """Run the systems, or read saved results, and evaluate them."""
        saved = SavedRuns(self.names, self.options)
        systems = [saved.read(name, system) for name, system in zip(self.names, systems, strict=True)]
        topic_ids = _topic_ids(self.topics, self.judgments)
        times: dict[str, float] = {}  # filled below, and read when the staging ends
        with saved.staging(times) as (for_runs, for_tables):
            if not self.settings["drop_self"] and not any(map(is_relative, self.metrics)):
                return self._run_by_host(systems, topic_ids, for_tables)
            results = run_and_time(
                systems, self.topics, self.qrels, self.metrics, self.names, self.options | for_runs
            )
            return self._evaluate(systems, results, topic_ids, times, for_tables)

    def _run_by_host(
        self, systems: Sequence[Any], topic_ids: frozenset[str], for_tables: dict[str, Any]
    ) -> Any:
        """Let PyTerrier do everything if no measure is relative, since its measures check results in their own way."""
        with suppress(ValueError):
            frames = {n: s for n, s in zip(self.names, systems, strict=True) if isinstance(s, pd.DataFrame)}
            runs = {name: _read(frame, name) for name, frame in frames.items()}
            self._warn_about_missing_topics(RunContext(runs), topic_ids, runs)
        options = self.options | for_tables
        return PyTerrierExperiment(
            systems, self.topics, self.qrels, self.metrics, names=self.shown, **options
        )

    def _evaluate(
        self,
        systems: Sequence[Any],
        results: Results,
        topic_ids: frozenset[str],
        times: dict[str, float],
        for_tables: dict[str, Any],
    ) -> Any:
        """Score the results; return the table of ``pt.Experiment``, and fill in its response times."""
        if self.settings["drop_self"]:
            results = results._replace(runs=list(map(_without_self, results.runs)))
        runs = {name: _read(frame, name) for name, frame in zip(self.names, results.runs, strict=True)}
        for name, system in zip(self.names, systems, strict=True):
            if not isinstance(
                system, pd.DataFrame
            ):  # no result of a pipeline is an answer; frames may be cut
                runs[name] = runs[name].with_attributes(asked=topic_ids)
        context = RunContext(runs if self.beside is None else self.beside.runs, **self.settings)
        self._warn_about_missing_topics(context, topic_ids, runs)
        if len(self.scored_qrels) == len(self.qrels):
            collection = new_collection(context, self.judgments)
        else:
            collection = judged_collection(context, self.scored_qrels)
        columns = columns_by_measure(self.columns)
        scores, orders = score_systems(collection, list(columns), runs, results, self.qrels)
        result = self._show(answers_for(scores, list(columns.values()), orders), for_tables)
        mean_times: dict[str, float] = {}
        if "mrt" in self.metrics:
            mean_times = dict(zip(self.names, results.times, strict=True))
            times |= rounded(mean_times, self.options.get("round"))
        if not self.options.get("perquery"):
            if message := describe_dominant_topics(scores):
                warn(message)
            relative = [metric for metric in self.metrics if is_relative(metric)]
            invalid = incomparable(collection, relative, self.options) if self.beside is None else set()
            remove_comparisons(result, invalid, self.options)
            if mean_times:
                shown_times = mean_times if isinstance(result, dict) else times
                set_times(result, self.shown, list(shown_times.values()))
        return result

    def _show(self, answers: Sequence[Any], for_tables: dict[str, Any]) -> Any:
        """Return the table that ``pt.Experiment`` makes of measures that have their values."""
        options = {k: v for k, v in self.options.items() if k not in RETRIEVAL_OPTIONS} | for_tables
        stubs = [
            pd.DataFrame({"qid": ["0"], "docno": ["0"], "score": [float(i)]}) for i in range(len(self.names))
        ]
        metrics = [*answers, *(["mrt"] if "mrt" in self.metrics else [])]
        options |= {"names": self.shown, "verbose": False, "validate": "ignore"}
        with brief_garbage_collections():
            return PyTerrierExperiment(stubs, self.topics, first_rows(self.qrels), metrics, **options)

    def _warn_about_missing_topics(
        self, context: RunContext, topic_ids: frozenset[str], runs: Mapping[str, Rankings]
    ) -> None:
        """Warn about runs that miss judged topics of the experiment; as in PyTerrier, others may be empty rankings."""
        is_wanted: BoolArray = np.array(
            [not topic_ids or query in topic_ids for query in self.judgments.query_ids], dtype=np.bool_
        )
        warn_about_missing_topics(new_collection(context, self.judgments.select_queries(is_wanted)), runs)


def _without_self(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the results without the documents that are the query itself."""
    if not {"qid", "docno"}.issubset(frame.columns):  # no result at all
        return frame
    return frame[frame["qid"].astype(str) != frame["docno"].astype(str)]


def _read(frame: pd.DataFrame, name: str) -> Rankings:
    """Return the run in a frame, with PyTerrier's types; the frame does not change."""
    needed = [c for c in ("qid", "query_id", "docno", "doc_id", "score") if c in frame.columns]
    typed = pt.model.coerce_dataframe_types(frame[needed].copy(deep=False))
    if "rank" in frame.columns:
        typed = typed.assign(rank=frame["rank"])
    return read_run(typed, f"run {name!r}", copy=False)


def _topic_ids(topics: Any, judgments: Judgments) -> frozenset[str]:
    """Return the ids of the topics; warn about topics without judgments whose id is judged in another form."""
    if not isinstance(topics, pd.DataFrame) or "qid" not in topics:
        return frozenset()
    ids = frozenset(q for q in topics["qid"] if isinstance(q, str))
    missing = [q for q in judgments.query_ids if q not in ids]
    similar = find_similar_ids(missing, sorted(ids.difference(judgments.query_ids)), "the topics have")
    if similar:
        n = len(ids.intersection(judgments.query_ids))
        warn(f"{n} of the {len(ids)} topics are judged; {similar}: write the ids alike")
    return ids


def _read_qrels(qrels: Any, num_docs: int | None) -> tuple[Any, int | None]:
    """Return qrels in any form as a frame of PyTerrier, and the number of documents; by default of the dataset."""
    if is_dataset(qrels):
        dataset = load_dataset(qrels)
        columns = qrels_columns(fetch_qrels(dataset))
        num_docs = count_docs(dataset, fetch=False) if num_docs is None else num_docs
    elif isinstance(qrels, (str, os.PathLike)):
        columns = read_qrels_file(qrels)
    elif qrels is None or "qid" in getattr(qrels, "columns", ()):
        return qrels, num_docs
    else:
        columns = qrels_columns(qrels)
    if unjudged := columns.unjudged_queries:
        warn(
            f"the qrels name {few_quoted(unjudged)} without a judgment: PyTerrier's qrels cannot, so they are left out"
        )
    query_ids, docs = columns.ids()
    frame = pd.DataFrame({"qid": query_ids, "docno": docs, "label": columns.relevance})
    if columns.aspects is not None:
        frame["iteration"] = columns.aspect_texts()
    return frame, num_docs


def _check(
    names: Sequence[str],
    qrels: Any,
    relative: Sequence[Any],
    options: Mapping[str, Any],
    settings: dict[str, Any],
) -> Judgments:
    """Return all judgments; raise ValueError for a wrong argument, before a pipeline runs.

    Fills in the ``grades`` of the context, if they are not given, from all topics.
    """
    if options.get("perquery") and options.get("baseline") is not None:
        raise ValueError("baseline compares means, so it does not go with perquery; leave one of them out")
    if options.get("perquery") and isinstance(options.get("round"), dict):
        raise ValueError("round by measure goes with means only, not with perquery; give round as a number")
    judgments = judged_collection(RunContext({}), qrels).judgments
    if settings["grades"] is None and len(judgments):
        settings["grades"] = int(judgments.grade.min()), int(judgments.grade.max())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the real runs will warn
        # Runs of one document are enough to check the arguments of the context.
        context = RunContext({name: {"q": {"d": 1.0}} for name in names}, **settings)
        if relative:
            context.evaluate([ir_measures.Qrel("q", "d", 1, "an aspect")], relative)
    return judgments
