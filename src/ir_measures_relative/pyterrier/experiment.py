"""``pt.relative.Experiment``: pipelines in, the table of ``pt.Experiment`` out, relative measures included.

PyTerrier evaluates a system as soon as it has run, and a relative measure needs all of them. So there are two calls
of ``pt.Experiment``. In the first, PyTerrier runs and times the pipelines, by the plan and in the batches that were
asked for; their results are caught at the end of each, and PyTerrier itself evaluates next to nothing. In the second,
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

from ..arrays import object_array
from ..context import RunContext, ValuesOfRuns
from ..io.datasets import dataset_of, is_dataset, num_docs_of, qrels_of
from ..io.formats import located
from ..io.qrels import qrels_columns, read_qrels_file
from ..io.tokens import Tokens
from ..measures.strings import is_relative, parse_measure
from ..messages import kind_of, warn
from ..priors import Policy, priors_chosen_by_means
from ..reporting import check_target, write
from ..scoring import Scores, one_topic_counts, warn_if_strange
from ..view import view_of
from .runs import Replay, SavedRuns, run_and_time, with_progress
from .table import (
    BaselineTest,
    check_plain,
    in_order,
    not_comparable,
    of_topics,
    rounded,
    set_times,
    with_bounds,
)

# What the first call of pt.Experiment does not get: it makes no table and saves nothing.
_SECOND_CALL_ONLY = ("perquery", "dataframe", "highlight", "save_dir", "save_mode", "save_format")
# What the second call does not get: it has no pipelines to share a prefix, and they were validated in the first.
_FIRST_CALL_ONLY = ("precompute_prefix", "validate", "verbose")


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
    bounds: bool = False,
    family: str = "call",
    report: str | os.PathLike[str] | None = None,
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
        bounds: adds the columns ``M lower`` and ``M upper`` behind each measure M: between which values unjudged
            documents could bring it, as :func:`~ir_measures_relative.bounds` has them. For a table of means.
        family: which p-values ``correction`` counts together: all of the table, or with ``"measure"`` those of each
            measure, as ``pt.Experiment`` does.
        report: writes the experiment as one HTML file to this path, as :func:`~ir_measures_relative.report` does, with
            the queries of ``topics``, and the texts of documents where results have a column ``text``.
        options: the other arguments of ``pt.Experiment``. ``baseline`` is the name of a system, or its place in the
            list. ``test`` is a function, or the name of one of
            :func:`~ir_measures_relative.compare`'s, and if not given each measure's own, as there; ``correction`` may
            be ``"max-t"``. Without ``correction=`` each p stands on its own, as in ``pt.Experiment``, unlike
            ``compare``.

    Returns:
        what ``pt.Experiment`` returns for these arguments, with the measures in the order asked.

    Raises:
        ValueError: names that are not unique, a string that is not a measure, and what ``RunContext`` and
            ``pt.Experiment`` object to.
        ImportError: PyTerrier is not installed, or with ``report`` what the report needs.
        OSError: the report cannot be written; looked at before anything runs.

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
    dataset = dataset_of(qrels) if is_dataset(qrels) else None
    if dataset is not None and num_docs is None:
        num_docs = num_docs_of(dataset, fetch=False)
    if dataset is not None or (isinstance(qrels, (str, os.PathLike)) and os.path.isfile(located(qrels)[0])):
        columns = read_qrels_file(qrels).columns if dataset is None else qrels_columns(qrels_of(dataset))
        query_ids, docs = columns.ids()
        qrels = pd.DataFrame({"qid": query_ids, "docno": docs, "label": columns.relevance})
        if columns.aspects is not None:
            qrels["iteration"] = columns.aspect_texts()
    relative = [m for m in metrics if is_relative(m)]
    context_options: dict[str, Any] = {"priors": priors, "reference": reference, "groups": groups}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # said when they are used
        # The lowest and the highest label of all topics, which no batch of them knows.
        grade = view_of(RunContext({}), qrels).judgments.grade
        if grades is None and len(grade):
            grades = int(grade.min()), int(grade.max())
        context_options |= {"num_docs": num_docs, "grades": grades}
        # On runs of one document, mistakes in the arguments show before anything runs.
        tiny_tokens = None if tokens is None else {"d": 1}
        tiny = RunContext({name: {"q": {"d": 1.0}} for name in names}, tokens=tiny_tokens, **context_options)
        if relative:
            tiny.evaluate([ir_measures.Qrel("q", "d", 1, "an aspect")], relative)
    # Two conditions that PyTerrier would find violated only in the second call.
    if options.get("perquery") and options.get("baseline") is not None:
        raise ValueError("baseline compares means, so it does not go with perquery; leave one of them out")
    if options.get("perquery") and isinstance(options.get("round"), dict):
        raise ValueError("round by measure goes with means only, not with perquery; give round as a number")
    if bounds:
        check_plain(options)
    if report is not None:
        check_target(report)
    tests = BaselineTest(options, metrics, family)
    options = tests.options
    saved = SavedRuns(names, options)
    systems = [saved.read(name, system) for name, system in zip(names, systems, strict=True)]
    options = with_progress(options)
    if not (bounds or report is not None or relative):
        # Nothing to be relative to: PyTerrier does it all, and what a result must hold is for its measures to say.
        with saved.staging(options, {}) as plain:
            result = pt.Experiment(systems, topics, qrels, metrics, names=names, **plain)
        return in_order(tests.fill_in(result), list(asked))

    first = {k: v for k, v in options.items() if k not in _SECOND_CALL_ONLY}
    runs, times = run_and_time(systems, topics, qrels, metrics, names, first)
    context_options |= {"tokens": tokens}
    context = RunContext(
        {n: pt.model.coerce_dataframe_types(r.copy()) for n, r in runs.items()}, **context_options
    )
    scored_on = of_topics(qrels, topics, options)
    view = view_of(context, qrels_columns(scored_on))
    warn_if_strange(view)
    replayed = [
        run if isinstance(system, pd.DataFrame) else Replay(run, repr(system))
        for system, run in zip(systems, runs.values(), strict=True)
    ]
    second = {k: v for k, v in options.items() if k not in _FIRST_CALL_ONLY}
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
    with saved.staging(second, short_times) as second, evaluated._replaying(values):
        result = pt.Experiment(
            replayed, topics, qrels, metrics, names=names, verbose=False, validate="ignore", **second
        )
    if not options.get("perquery"):
        _warn_of_one_topic(values)
    result = tests.fill_in(result, not_comparable(context, qrels, metrics, options))
    if times and not options.get("perquery"):
        set_times(result, times if isinstance(result, dict) else short_times)
    result = in_order(result, list(asked))
    named = {column: measure for column, measure in asked.items() if measure is not None}
    if bounds:
        result = with_bounds(result, context, qrels, topics, named, options)
    if report is not None:
        texts: dict[str, str] = {}
        for run in runs.values():
            if "text" in run.columns:
                texts |= dict(zip(run["docno"].astype(str), run["text"], strict=True))
        has_text = isinstance(topics, pd.DataFrame) and "query" in topics.columns
        queries = dict(zip(topics["qid"].astype(str), topics["query"], strict=True)) if has_text else None
        about = qrels_columns(scored_on)
        write(context, about, list(named.values()), report, texts=texts or None, queries=queries)
    return result


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
