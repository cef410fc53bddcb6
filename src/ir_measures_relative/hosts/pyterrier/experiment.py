"""``pt.relative.Experiment``: pipelines in, the table of ``pt.Experiment`` out, relative measures included.

PyTerrier evaluates a system as soon as it has run, and a relative measure needs all of them. So there are two calls
of ``pt.Experiment``. In the first, PyTerrier runs and times the pipelines, by the plan and in the batches that were
asked for; their results are caught at the end of each, and nothing is evaluated. In the second,
inside a context of these results, the pipelines are replaced by ones that replay them. Where no measure is relative,
one call does it.

This module imports PyTerrier, and is itself imported when an experiment is made.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import ir_measures
import numpy as np
import pandas as pd
import pyterrier as pt

from ...context.checks import warn_if_strange
from ...context.evaluate import Scores, one_topic_counts
from ...context.lengths import Tokens
from ...context.measure_strings import is_relative, parse_measure
from ...context.priors import Policy, priors_chosen_by_means
from ...context.run_context import RunContext, ValuesOfRuns
from ...context.view import view_of
from ...data.arrays import object_array
from ...io.datasets import dataset_of, is_dataset, num_docs_of, qrels_of
from ...io.qrels import qrels_columns, read_qrels_file
from ...messages import kind_of, warn
from ..compat import RETRIEVAL_OPTIONS
from .runs import Replay, SavedRuns, run_and_time, with_progress
from .table import in_order, incomparable, of_topics, rounded, set_times, without_comparisons


def Experiment(
    systems: Any,
    topics: Any,
    qrels: Any,
    eval_metrics: Sequence[Any],
    names: Sequence[str] | None = None,
    *,
    priors: Policy = "others",
    reference: str | None = None,
    groups: Mapping[str, str] | None = None,
    num_docs: int | None = None,
    grades: tuple[int, int] | None = None,
    tokens: Tokens | None = None,
    **options: Any,
) -> Any:
    """``pt.Experiment`` with every system scored relative to the other ones.

    Runs every pipeline once, puts the results in a :class:`RunContext`, and returns what ``pt.Experiment`` returns
    inside it. All keyword arguments of ``pt.Experiment`` mean what they mean there:

    - ``mrt`` is PyTerrier's own measurement of the pipelines, by the ``plan`` and in the batches asked for; a
      DataFrame, or a run that is reused, took no time.
    - ``save_dir`` gets what ``pt.Experiment`` saves, once the whole experiment is done; existing files are looked at
      before anything runs. With ``save_mode="reuse"`` a pipeline whose run is there does not run. Frames saved by
      another ``save_format`` than TREC's have a column ``name``, the name of the system.
    - ``verbose="auto"`` shows a progress bar of the pipelines where there is a terminal or a notebook.

    To ask more about the same runs (bounds, other tests, a report), make the context yourself:
    ``context = RunContext.from_pipelines(systems, topics)``. ``context.evaluate(qrels, measures)`` has the table, and
    ``pt.relative.bounds(context, qrels, measures)`` and the other functions take it first.

    Args:
        systems: transformers or DataFrames of results, as a list, or as a dict by name.
        topics: as for ``pt.Experiment``.
        qrels: as for ``pt.Experiment``; the path of a file too, where an id such as NA or null is one; or a dataset of
            ir_datasets, ``pt.get_dataset("irds:…")`` or its id with ``irds:``, whose judgments they are.
        eval_metrics: measures of this package and any others, as objects or as strings: ``"NRG@10"``, a name that
            PyTerrier knows such as ``"map"``, or ``"mrt"``. Their columns come in this order.
        names: the names of the systems, each once; known to ``baseline``, ``priors``, ``reference``, ``groups``, and to
            ``prior=`` and ``ref=`` in a measure. The systems as strings if not given.
        priors: which systems are the priors of which, as for :class:`RunContext`.
        reference: the name of the system that MED, RBO, RBA and lexiprecision compare with; ``baseline`` if not given.
        groups: from system name to group name, for :class:`BestOfOtherGroups`.
        num_docs: the number of documents in the collection; that of the dataset if ``qrels`` is one, where it is known
            without fetching the documents.
        grades: the lowest and the highest relevance label; those of ``qrels`` if not given.
        tokens: how many tokens each document has, as for :class:`RunContext`.
        options: the other arguments of ``pt.Experiment``. ``baseline`` is the name of a system, or its place in the
            list. A comparison of two different quantities is NaN in its columns, as
            :func:`~ir_measures_relative.compare` explains, which has further tests and corrections.

    Returns:
        what ``pt.Experiment`` returns for these arguments, with the measures in the order asked.

    Raises:
        ValueError: names that are not unique, a string that is not a measure, and what ``RunContext`` and
            ``pt.Experiment`` object to.
        ImportError: PyTerrier is not installed.

    Example:
        >>> import pandas as pd
        >>> import pyterrier as pt
        >>> from ir_measures_relative import UniqueRel
        >>> topics = pd.DataFrame({"qid": ["1"], "query": ["tea"]})
        >>> qrels = pd.DataFrame({"qid": ["1", "1"], "docno": ["a", "b"], "label": [1, 1]})
        >>> def ranking(*docnos):
        ...     frame = pd.DataFrame({"qid": "1", "docno": docnos})
        ...     return frame.assign(score=-1.0 * frame.index, rank=frame.index)
        >>> systems = {"one": ranking("a", "c"), "two": ranking("a", "b")}
        >>> pt.relative.Experiment(systems, topics, qrels, [UniqueRel @ 2])
          name  UniqueRel@2
        0  one          0.0
        1  two          1.0
    """
    systems, names, options = _as_list(systems, names, options)
    baseline = options.get("baseline")
    if reference is None and baseline is not None:
        reference = names[baseline]
    metrics, asked = _parsed(eval_metrics)
    qrels, num_docs = _judgments(qrels, num_docs)
    relative = [m for m in metrics if is_relative(m)]
    context_options: dict[str, Any] = {"priors": priors, "reference": reference, "groups": groups}
    context_options |= {"num_docs": num_docs, "grades": grades, "tokens": tokens}
    _check(names, qrels, relative, options, context_options)
    saved = SavedRuns(names, options)
    systems = [saved.read(name, system) for name, system in zip(names, systems, strict=True)]
    options = with_progress(options)
    if not relative:
        # Nothing to be relative to: PyTerrier does it all, and what a result must hold is for its measures to say.
        with saved.staging(options, {}) as plain:
            result = pt.Experiment(systems, topics, qrels, metrics, names=names, **plain)
        return in_order(result, list(asked))

    runs, times = run_and_time(systems, topics, qrels, metrics, names, options)
    context = RunContext(
        {n: pt.model.coerce_dataframe_types(r.copy()) for n, r in runs.items()}, **context_options
    )
    view = view_of(context, qrels_columns(of_topics(qrels, topics, options)))
    warn_if_strange(view)
    replayed = [
        run if isinstance(system, pd.DataFrame) else Replay(run, repr(system))
        for system, run in zip(systems, runs.values(), strict=True)
    ]
    if "mrt" not in metrics:
        times = {}
    short_times = rounded(times, options.get("round"))
    # Where a policy goes by means, those over a batch are not the experiment's.
    in_batches = "batch_size" in options and getattr(context.policy, "needs_groups", False)
    chosen = priors_chosen_by_means(context.policy, view) if in_batches else None
    evaluated = (
        context if chosen is None else RunContext(context.runs, **context_options | {"priors": chosen})
    )
    values: ValuesOfRuns = {}
    second = {k: v for k, v in options.items() if k not in RETRIEVAL_OPTIONS}
    with saved.staging(second, short_times) as second, evaluated._replaying(values):
        result = pt.Experiment(
            replayed, topics, qrels, metrics, names=names, verbose=False, validate="ignore", **second
        )
    if not options.get("perquery"):
        _warn_of_one_topic(values)
        without_comparisons(result, incomparable(context, qrels, metrics, options), options)
        if times:
            set_times(result, times if isinstance(result, dict) else short_times)
    return in_order(result, list(asked))


def _judgments(qrels: Any, num_docs: int | None) -> tuple[Any, int | None]:
    """Qrels that are a file or a dataset as a frame, and the number of the dataset's documents if not given."""
    if is_dataset(qrels):
        dataset = dataset_of(qrels)
        columns = qrels_columns(qrels_of(dataset))
        num_docs = num_docs_of(dataset, fetch=False) if num_docs is None else num_docs
    elif isinstance(qrels, (str, os.PathLike)):
        columns = read_qrels_file(qrels).columns
    else:
        return qrels, num_docs
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
) -> None:
    """Raises ValueError for mistakes that would show in the second call only; fills in the grades if not given."""
    if options.get("perquery") and options.get("baseline") is not None:
        raise ValueError("baseline compares means, so it does not go with perquery; leave one of them out")
    if options.get("perquery") and isinstance(options.get("round"), dict):
        raise ValueError("round by measure goes with means only, not with perquery; give round as a number")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # said when they are used
        # The lowest and the highest label of all topics, which no batch of them knows.
        grade = view_of(RunContext({}), qrels).judgments.grade
        if context_options["grades"] is None and len(grade):
            context_options["grades"] = int(grade.min()), int(grade.max())
        # The context's arguments, on runs of one document.
        tiny = context_options | {"tokens": None if context_options["tokens"] is None else {"d": 1}}
        context = RunContext({name: {"q": {"d": 1.0}} for name in names}, **tiny)
        if relative:
            context.evaluate([ir_measures.Qrel("q", "d", 1, "an aspect")], relative)


def _warn_of_one_topic(values: ValuesOfRuns) -> None:
    """Warns where one topic supplies much of a mean; a topic that a system returned nothing for supplies none."""
    frames = [pd.DataFrame(of_runs).fillna(0.0) for of_runs in values.values()]
    if not frames:
        return
    scores = np.stack([frame.to_numpy().T for frame in frames], axis=1)
    names, queries = frames[0].columns.tolist(), object_array(frames[0].index)
    if message := one_topic_counts(Scores(names, list(values), queries, scores)):
        warn(message)


def _as_list(
    systems: Any, names: Sequence[str] | None, options: dict[str, Any]
) -> tuple[list[Any], list[str], dict[str, Any]]:
    """Systems and names as lists and the baseline as a number, checked as ``pt.Experiment`` does; unique names."""
    if isinstance(systems, dict):
        names, systems = list(systems.keys()), list(systems.values())
    elif not isinstance(systems, list):
        raise TypeError(f"systems is {kind_of(systems)}; give a list or dict of transformers or DataFrames")
    for i, system in enumerate(systems):
        if not isinstance(system, (pd.DataFrame, pt.Transformer)):
            raise TypeError(f"system {i} is {kind_of(system)}; give a transformer or a DataFrame of results")
    if names is None:
        names = [str(system) for system in systems]
    if len(names) != len(systems):
        raise ValueError(f"{len(names)} names for {len(systems)} systems; give names one of each")
    baseline = options.get("baseline")
    if isinstance(baseline, str):
        if baseline not in names:
            raise ValueError(f"baseline={baseline!r} is not a system; the systems are {list(names)}")
        options = options | {"baseline": list(names).index(baseline)}
    elif baseline is not None and baseline not in range(len(systems)):
        raise ValueError(
            f"baseline={baseline} is not a system; there are {len(systems)}, from 0 to {len(systems) - 1}"
        )
    twice = next((n for i, n in enumerate(names) if n in names[:i]), None)
    if twice is not None:
        raise ValueError(
            f"two systems are called {twice!r}; the priors are known by name, so give each its own with names="
        )
    return list(systems), list(names), options


def _parsed(eval_metrics: Any) -> tuple[list[Any], dict[str, ir_measures.Measure | None]]:
    """The metrics as ``pt.Experiment`` takes them, and the measure of each of their columns there, in the same order.

    A string is what PyTerrier takes it for, a trec_eval name or ``"mrt"``, and else a measure string of ir_measures.
    """
    if isinstance(eval_metrics, (str, ir_measures.Measure)):
        raise ValueError(
            f"eval_metrics={eval_metrics!r} must be a list of measures, such as [{eval_metrics!r}]"
        )
    metrics: list[Any] = []
    columns: dict[str, ir_measures.Measure | None] = {}
    for metric in eval_metrics:
        measures = _trec_measures(metric)
        for measure in measures:
            parse_measure(measure)  # for its checks
        if not measures and metric != "mrt":
            metric = parse_measure(metric)
            measures = [metric]
        metrics.append(metric)
        columns |= {str(m) if len(measures) > 1 else str(metric): m for m in measures or [None]}
    if not any(columns.values()):
        raise ValueError("eval_metrics names no measure; give one, such as NRG@10")
    return metrics, columns


def _trec_measures(name: Any) -> list[ir_measures.Measure]:
    """The measures that a name of trec_eval's stands for; none for what is not one."""
    try:
        return list(ir_measures.parse_trec_measure(name)) if isinstance(name, str) else []
    except ValueError:
        return []
