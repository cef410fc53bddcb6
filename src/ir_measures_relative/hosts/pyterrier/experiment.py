"""``pt.relative.Experiment``: pipelines in, the table of ``pt.Experiment`` out, relative measures included.

PyTerrier evaluates a system as soon as it has run, and a relative measure needs all of them; and turning runs into
dicts takes it most of its time. So there are two calls of ``pt.Experiment``. In the first, PyTerrier runs and times the
pipelines, by the plan and in the batches that were asked for; their results are caught, and nothing is evaluated. They
become a context, which scores them all at once. In the second call each system is a frame of one row, and each measure
one that has its values already: PyTerrier compares, corrects, rounds, shows and saves. Where no measure is relative,
one call does it.

This module imports PyTerrier, and is itself imported when an experiment is made.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import ir_measures
import pandas as pd
import pyterrier as pt
from pyterrier import Experiment as OfPyTerrier  # pt.Experiment may be ours, if a user has put it there

from ...context.evaluate import one_topic_counts
from ...context.lengths import Tokens
from ...context.measure_strings import is_relative, parse_measure
from ...context.priors import Policy
from ...context.run_context import RunContext
from ...context.view import View, view_of
from ...data.judgments import Judgments
from ...data.rankings import Rankings
from ...io.datasets import dataset_of, is_dataset, num_docs_of, qrels_of
from ...io.qrels import qrels_columns, read_qrels_file
from ...io.runs import read_run
from ...messages import kind_of, warn
from ..compat import RETRIEVAL_OPTIONS, collections_of_garbage_spared
from .answers import answers_for, score_systems, stub
from .runs import SavedRuns, first_rows, run_and_time, with_progress
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
      before anything runs. With ``save_mode="reuse"`` a pipeline whose run is there does not run.
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
            ``prior=`` and ``ref=`` in a measure. The systems as strings if not given; frames, and pipelines that are
            the same as strings, are then known as ``system 0`` and so on, by their places.
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
    one_alone = isinstance(eval_metrics, (str, ir_measures.Measure))
    if not one_alone and not all(isinstance(m, (str, ir_measures.Measure)) for m in eval_metrics):
        return OfPyTerrier(systems, topics, qrels, eval_metrics, names, **options)  # and its error
    systems, names, shown, options = _as_list(systems, names, options)
    baseline = options.get("baseline")
    if reference is None and baseline is not None:
        reference = names[baseline]
    metrics, asked = _parsed(eval_metrics)
    qrels, num_docs = _judgments(qrels, num_docs)
    relative = [m for m in metrics if is_relative(m)]
    context_options: dict[str, Any] = {"priors": priors, "reference": reference, "groups": groups}
    context_options |= {"num_docs": num_docs, "grades": grades, "tokens": tokens}
    judgments = _check(names, qrels, relative, options, context_options)
    saved = SavedRuns(names, options)
    systems = [saved.read(name, system) for name, system in zip(names, systems, strict=True)]
    options = with_progress(options)
    short_times: dict[str, float] = {}
    with saved.staging(short_times) as (for_runs, for_tables):
        if not relative:
            # Nothing to be relative to: PyTerrier does it all, and what a result must hold is for its measures to say.
            result = OfPyTerrier(systems, topics, qrels, metrics, names=shown, **options | for_tables)
            return in_order(result, list(asked))
        if isinstance(topics, str) and os.path.isfile(topics):
            topics = pt.io.read_topics(topics)
        caught = run_and_time(systems, topics, qrels, metrics, names, options | for_runs)
        runs = {name: _read(frame, name) for name, frame in zip(names, caught.runs, strict=True)}
        context = RunContext(runs, **context_options)
        some = of_topics(qrels, topics, options)
        view = View.on(context, judgments) if len(some) == len(qrels) else view_of(context, some)
        columns = _columns(asked)
        scores, of_systems = score_systems(view, list(columns), caught, qrels)
        answers = answers_for(scores, list(columns.values()), of_systems)
        second = {k: v for k, v in options.items() if k not in RETRIEVAL_OPTIONS} | for_tables
        with collections_of_garbage_spared():
            result = OfPyTerrier(
                [stub(i) for i in range(len(names))],
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
            short_times |= rounded(times, options.get("round"))
        if not options.get("perquery"):
            if message := one_topic_counts(scores):
                warn(message)
            without_comparisons(result, incomparable(view, relative, options), options)
            if short_times:
                set_times(result, shown, list((times if isinstance(result, dict) else short_times).values()))
    return in_order(result, list(asked))


def _read(frame: pd.DataFrame, name: str) -> Rankings:
    """What a run consists of, with the types that PyTerrier gives it; the frame itself stays as it is."""
    needed = [c for c in ("qid", "query_id", "docno", "doc_id", "score") if c in frame.columns]
    typed = pt.model.coerce_dataframe_types(frame[needed].copy(deep=False))
    return read_run(typed, f"run {name!r}", kept=False)


def _columns(asked: Mapping[str, ir_measures.Measure | None]) -> dict[ir_measures.Measure, str]:
    """What ``pt.Experiment`` calls each measure: by its name in trec_eval, where it was asked for by one."""
    columns: dict[ir_measures.Measure, str] = {}
    for column, measure in asked.items():
        if measure is not None and columns.get(measure, str(measure)) == str(measure):
            columns[measure] = column
    return columns


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
) -> Judgments:
    """The judgments; fills in the grades if not given, and raises ValueError for mistakes that would show late."""
    if options.get("perquery") and options.get("baseline") is not None:
        raise ValueError("baseline compares means, so it does not go with perquery; leave one of them out")
    if options.get("perquery") and isinstance(options.get("round"), dict):
        raise ValueError("round by measure goes with means only, not with perquery; give round as a number")
    # The lowest and the highest label of all topics, which those that are filtered may not have.
    judgments = view_of(RunContext({}), qrels).judgments
    if context_options["grades"] is None and len(judgments):
        context_options["grades"] = int(judgments.grade.min()), int(judgments.grade.max())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # said when they are used
        # The context's arguments, on runs of one document.
        tiny = context_options | {"tokens": None if context_options["tokens"] is None else {"d": 1}}
        context = RunContext({name: {"q": {"d": 1.0}} for name in names}, **tiny)
        if relative:
            context.evaluate([ir_measures.Qrel("q", "d", 1, "an aspect")], relative)
    return judgments


def _as_list(
    systems: Any, names: Sequence[str] | None, options: dict[str, Any]
) -> tuple[list[Any], list[str], list[str], dict[str, Any]]:
    """Systems, unique and shown names as lists, the baseline as a number, checked as ``pt.Experiment`` does."""
    if isinstance(systems, dict):
        names, systems = list(systems.keys()), list(systems.values())
    elif not isinstance(systems, list):
        raise TypeError(f"systems is {kind_of(systems)}; give a list or dict of transformers or DataFrames")
    for i, system in enumerate(systems):
        if not isinstance(system, (pd.DataFrame, pt.Transformer)):
            raise TypeError(f"system {i} is {kind_of(system)}; give a transformer or a DataFrame of results")
    shown = [str(system) for system in systems] if names is None else list(names)
    if names is None:
        alike = {name for name in shown if shown.count(name) > 1}
        by_number = [
            isinstance(s, pd.DataFrame) or name in alike for s, name in zip(systems, shown, strict=True)
        ]
        names = [f"system {i}" if by_number[i] else name for i, name in enumerate(shown)]
    names = [str(name) for name in names]  # of any type to PyTerrier
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
    return list(systems), list(names), shown, options


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
