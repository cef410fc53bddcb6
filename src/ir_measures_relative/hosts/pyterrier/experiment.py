"""``pt.relative.Experiment``: pipelines in, the table of ``pt.Experiment`` out, relative measures included.

There are two calls of ``pt.Experiment``. In the first, PyTerrier runs and times the pipelines; results are caught,
and nothing is evaluated. They become a context, which scores them all at once. In the second, each system is a frame of
one row, and each measure has its values already: PyTerrier compares, corrects, rounds, shows and saves.
"""

from __future__ import annotations

import inspect
import os
import warnings
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Literal

import ir_measures
import numpy as np
import pandas as pd
import pyterrier as pt
from pyterrier import Experiment as OfPyTerrier  # pt.Experiment may be ours, if a user has put it there

from ...context.absolute import provider_name
from ...context.collection import Collection, judged_collection, new_collection
from ...context.duplicates import warn_about_duplicate
from ...context.evaluate import Scores, describe_dominant_topics, score_runs
from ...context.evaluated import Evaluated
from ...context.measure_strings import as_list, is_relative
from ...context.missing_topics import find_similar_ids, warn_about_missing_topics
from ...context.priors import Policy
from ...context.run_context import RunContext
from ...data.arrays import BoolArray, FloatArray, IntArray
from ...data.cut_rankings import cite_tracks
from ...data.documents import Judgments
from ...data.rankings import Rankings
from ...io.datasets import count_docs, fetch_qrels, is_dataset, load_dataset
from ...io.qrels import qrels_columns, read_qrels_file
from ...io.readers import check_topics_once, read_topics
from ...io.runs import read_run
from ...messages import few_quoted, warn
from ..compat import RETRIEVAL_OPTIONS, collections_of_garbage_spared
from .arguments import OF_CONTEXT, check_beside, check_topics_judged, parse_metrics, systems_by_name
from .runs import Caught, SavedRuns, first_rows, run_and_time, with_progress
from .tables import (
    answers_for,
    columns_by_measure,
    in_order,
    incomparable,
    order_queries,
    rounded,
    set_times,
    without_comparisons,
)


def score_systems(
    collection: Collection,
    measures: Sequence[ir_measures.Measure],
    systems: Mapping[str, Rankings],
    caught: Caught,
    qrels: pd.DataFrame,
) -> tuple[Scores, list[IntArray]]:
    """The values of every system; and of each its queries, in the order in which ``pt.Experiment`` would add them up.

    Systems that are no runs of the collection are scored as new runs.

    What the context cannot compute, such as with a document twice, ir_measures computes from the frames.
    """
    own = {m: provider_name(ir_measures.DefaultPipeline, m) for m in measures if not is_relative(m)}
    frames = dict(zip(systems.values(), caught.runs, strict=True))
    new_runs = {name: run for name, run in systems.items() if name not in collection.runs}

    def absolute(measures: Sequence[ir_measures.Measure], run: Rankings) -> FloatArray:
        by_host = [m for m in measures if own[m] == "runtime"]
        here = [m for m in measures if m not in by_host]
        values = np.full((len(measures), collection.documents.n_queries), np.nan)
        row = {measure: i for i, measure in enumerate(measures)}
        try:
            if here:
                values[[row[m] for m in here]] = collection.compute_absolute(here, run, as_given=True)
        except ValueError:
            by_host = list(measures)
        if by_host:
            given = map(pt.model.to_ir_measures, (qrels, pt.model.coerce_dataframe_types(frames[run].copy())))
            for metric in ir_measures.iter_calc(by_host, *given):
                if metric.query_id in collection.documents.query_code:
                    values[row[metric.measure], collection.documents.query_code[metric.query_id]] = (
                        metric.value
                    )
        return values

    for run in new_runs.values():
        warn_about_duplicate(Evaluated.of(collection, run), [m for m in measures if is_relative(m)])
    how: dict[str, Any] = {"absolute": absolute, "new_runs": new_runs, "missing_topics": False}
    scores = score_runs(collection, list(systems), measures, **how)
    orders = [
        order_queries(collection, run, judged, set(own.values()))
        for run, judged in zip(systems.values(), caught.batches, strict=True)
    ]
    return scores, orders


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
    """``pt.Experiment``, with its table and all its options, where every system is scored relative to the others.

    Runs every pipeline once. A DataFrame, or a run that is reused, has ``mrt`` 0. ``save_dir`` gets files once the
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
            which get no rows, and not to the other systems. ``qrels`` may be None, for its judgments. What a context
            says, from ``priors`` to ``drop_self``, is set there.
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
    # Those of the host are passed on where they are set: an older version may lack some.
    options |= {name: arguments[name] for name, default in _OF_HOST.items() if arguments[name] is not default}
    if isinstance(eval_metrics, (str, ir_measures.Measure)) or not isinstance(eval_metrics, Iterable):
        raise ValueError(f"eval_metrics={eval_metrics!r} must be a list, such as {as_list(eval_metrics)!r}")
    if not all(isinstance(metric, (str, ir_measures.Measure)) for metric in eval_metrics):
        return OfPyTerrier(systems, topics, qrels, eval_metrics, names, **options)  # and its error
    systems, names, shown, options = systems_by_name(systems, names, options)
    if beside is not None:
        check_beside(beside, names, arguments)
        priors, reference, groups, num_docs, grades, drop_self = (getattr(beside, n) for n in OF_CONTEXT)
        qrels = fetch_qrels(beside.dataset) if qrels is None else qrels
    elif reference is None and options.get("baseline") is not None:
        reference = names[options["baseline"]]
    metrics, asked = parse_metrics(eval_metrics)
    qrels, num_docs = _judgments(qrels, num_docs)
    relative = [m for m in metrics if is_relative(m)]
    context_options: dict[str, Any] = {"priors": priors, "reference": reference, "groups": groups}
    context_options |= {"num_docs": num_docs, "grades": grades, "drop_self": drop_self}
    others = names if beside is None else beside.names
    judgments = _check(others, qrels, relative, options, context_options)
    topics = read_topics(topics)
    by_topics = options.get("filter_by_topics", True) and isinstance(topics, pd.DataFrame)
    if by_topics:
        check_topics_judged(topics, qrels)
    if relative:
        check_topics_once(topics, systems)
    saved = SavedRuns(names, options)
    systems = [saved.read(name, system) for name, system in zip(names, systems, strict=True)]
    options = with_progress(options)
    topic_ids = _topic_ids(topics, judgments)
    shown_times: dict[str, float] = {}  # filled below, and read when the staging ends
    with saved.staging(shown_times) as (for_runs, for_tables):
        if not relative and not drop_self:
            # Nothing to be relative to: PyTerrier does it all, and what a result must hold is for its measures to say.
            given = {n: s for n, s in zip(names, systems, strict=True) if isinstance(s, pd.DataFrame)}
            with suppress(ValueError):
                runs = {name: _read(frame, name) for name, frame in given.items()}
                _warn_of_missing_topics(RunContext(runs), judgments, topic_ids, runs)
            result = OfPyTerrier(systems, topics, qrels, metrics, names=shown, **options | for_tables)
            return in_order(result, list(asked))
        caught = run_and_time(systems, topics, qrels, metrics, names, options | for_runs)
        if drop_self:
            caught = caught._replace(runs=list(map(_without_self, caught.runs)))
        runs = {name: _read(frame, name) for name, frame in zip(names, caught.runs, strict=True)}
        # What a pipeline was asked and returned nothing for is an answer; results that are given may be cut.
        ran = {
            name: runs[name].with_attributes(asked=topic_ids)
            for name, system in zip(names, systems, strict=True)
            if not isinstance(system, pd.DataFrame)
        }
        runs |= ran
        context = RunContext(runs if beside is None else beside.runs, **context_options)
        _warn_of_missing_topics(context, judgments, topic_ids, runs)
        asked_for = qrels[qrels["qid"].isin(topics["qid"])] if by_topics else qrels
        if len(asked_for) == len(qrels):
            collection = new_collection(context, judgments)
        else:
            collection = judged_collection(context, asked_for)
        columns = columns_by_measure(asked)
        scores, orders = score_systems(collection, list(columns), runs, caught, qrels)
        answers = answers_for(scores, list(columns.values()), orders)
        second = {k: v for k, v in options.items() if k not in RETRIEVAL_OPTIONS} | for_tables
        with collections_of_garbage_spared():
            result = OfPyTerrier(
                [
                    pd.DataFrame({"qid": ["0"], "docno": ["0"], "score": [float(i)]})
                    for i in range(len(names))
                ],
                topics,
                first_rows(qrels),
                [*answers, *(["mrt"] if "mrt" in metrics else [])],
                names=shown,
                verbose=False,
                validate="ignore",
                **second,
            )
        if "mrt" in metrics:
            times = dict(zip(names, caught.times, strict=True))
            shown_times |= rounded(times, options.get("round"))
        if not options.get("perquery"):
            if message := describe_dominant_topics(scores):
                warn(message)
            differing = incomparable(collection, relative, options) if beside is None else set()
            without_comparisons(result, differing, options)
            if shown_times:
                set_times(result, shown, list((times if isinstance(result, dict) else shown_times).values()))
    result = in_order(result, list(asked))
    if beside is not None and isinstance(result, pd.DataFrame):
        result.attrs |= (
            {"beside": tracks} if (tracks := cite_tracks(beside.runs.values(), count_others=True)) else {}
        )
    return result


def _without_self(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the results without the documents that are the query itself."""
    if not {"qid", "docno"}.issubset(frame.columns):  # no result at all
        return frame
    return frame[frame["qid"].astype(str) != frame["docno"].astype(str)]


# The parameters of ``pt.Experiment`` that are given by name, and their defaults.
_OF_HOST = {
    name: parameter.default
    for name, parameter in inspect.signature(Experiment).parameters.items()
    if parameter.kind is parameter.KEYWORD_ONLY and name not in (*OF_CONTEXT, "beside")
}


def _read(frame: pd.DataFrame, name: str) -> Rankings:
    """What a run consists of, with the types that PyTerrier gives it; the frame itself stays as it is."""
    needed = [c for c in ("qid", "query_id", "docno", "doc_id", "score") if c in frame.columns]
    typed = pt.model.coerce_dataframe_types(frame[needed].copy(deep=False))
    if "rank" in frame.columns:
        typed = typed.assign(rank=frame["rank"])
    return read_run(typed, f"run {name!r}", copy=False)


def _topic_ids(topics: Any, judgments: Judgments) -> frozenset[str]:
    """Return the ids of the topics; warn of those without judgments that judged topics have in another form."""
    if not isinstance(topics, pd.DataFrame) or "qid" not in topics:
        return frozenset()
    asked = frozenset(q for q in topics["qid"] if isinstance(q, str))
    unasked = [q for q in judgments.query_ids if q not in asked]
    alike = find_similar_ids(unasked, sorted(asked.difference(judgments.query_ids)), "the topics have")
    if alike:
        n = len(asked.intersection(judgments.query_ids))
        warn(f"{n} of the {len(asked)} topics are judged; {alike}: write the ids alike")
    return asked


def _warn_of_missing_topics(
    context: RunContext, judgments: Judgments, topic_ids: Container[str], runs: Mapping[str, Rankings]
) -> None:
    """Warn of runs that miss judged topics that were asked; others may count as empty rankings, as in PyTerrier."""
    asked: BoolArray = np.array(
        [not topic_ids or q in topic_ids for q in judgments.query_ids], dtype=np.bool_
    )
    warn_about_missing_topics(new_collection(context, judgments.select_queries(asked)), runs)


def _judgments(qrels: Any, num_docs: int | None) -> tuple[Any, int | None]:
    """Qrels in any form as a frame of PyTerrier's, and the number of a dataset's documents if not given."""
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
    context_options: dict[str, Any],
) -> Judgments:
    """The judgments of all topics; ValueError for a wrong argument, before a pipeline runs.

    Sets the ``grades`` in ``context_options`` to those of all topics, if they are not given.
    """
    if options.get("perquery") and options.get("baseline") is not None:
        raise ValueError("baseline compares means, so it does not go with perquery; leave one of them out")
    if options.get("perquery") and isinstance(options.get("round"), dict):
        raise ValueError("round by measure goes with means only, not with perquery; give round as a number")
    judgments = judged_collection(RunContext({}), qrels).judgments
    if context_options["grades"] is None and len(judgments):
        context_options["grades"] = int(judgments.grade.min()), int(judgments.grade.max())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # said when they are used
        # The context's arguments, on runs of one document.
        context = RunContext({name: {"q": {"d": 1.0}} for name in names}, **context_options)
        if relative:
            context.evaluate([ir_measures.Qrel("q", "d", 1, "an aspect")], relative)
    return judgments
