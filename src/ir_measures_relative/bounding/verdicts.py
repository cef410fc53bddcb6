"""Which comparisons of runs no further judgment can overturn."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import ir_measures
import numpy as np
import pandas as pd

from ..arguments import check_count, is_number
from ..context.collection import judged_collection
from ..context.evaluated import Evaluated
from ..context.measure_strings import param_value
from ..context.missing_topics import check_topics, tell_of_missing_topics
from ..context.run_context import RunContext, check_is_context
from ..data.arrays import FloatArray, IntArray, ObjectArray, object_array
from ..data.documents import Judgments
from ..io.qrels import Qrels
from ..messages import few_quoted, warn
from ..tolerances import LABELED_ALIKE
from ..work import Work
from .bounds import campaign_of, check_bounded, labelings_of, snapped, table_of, values_of
from .imputation import Imputation, read_llm_judgments, sentence_about_judge
from .intervals import Interval, share
from .labelings import Labelings
from .probabilities import (
    RelevanceModel,
    chances_of,
    check_relevance_model,
    default_log_odds_sd,
    probabilities,
    sampled_values,
)
from .relevance import FEWEST_RUNS


def verdicts(
    context: RunContext,
    qrels: Qrels | None,
    measures: Sequence[ir_measures.Measure | str],
    perquery: bool = False,
    *,
    unretrieved_relevant: int | None = None,
    relevance_model: RelevanceModel | None = None,
    llm_judgments: Qrels | None = None,
    samples: int = 1000,
    seed: int = 0,
    log_odds_sd: float | None = None,
    jobs: int = 1,
    time_limit: float | None = None,
    missing: str | None = None,
) -> pd.DataFrame:
    """Which orders of two runs unjudged documents cannot reverse on these topics.

    It bounds the difference of two runs *under one labeling*, see :func:`bounds`. Documents that neither run
    retrieves change ideal rankings. So a verdict depends on the two runs *and* on the other runs of the context.

    Args:
        context: the runs. With a ``reference``, only its pairs are compared; it is then the ``other``.
        qrels, measures, perquery, unretrieved_relevant: as for :func:`bounds`.
        relevance_model: adds ``probability``: how likely M(name) > M(other) is; a tie counts half. ``"pool"`` learns
            from judged documents with similar ranks (needs four runs). Or a function from query id and document id to
            the probability that the document is relevant.
        llm_judgments: judgments by a language model, an input of ``"pool"``, with which two runs may be enough. They
            are used only if they help on the documents that people judged too; a warning says if not.
        samples, seed: number of labelings drawn for it, and the random seed.
        log_odds_sd: the common error of the probabilities of all documents of one run, in log-odds. Default: of
            ``"pool"`` 0.6, with fewer than six runs 0.85, with LLM judgments 0.5; of a function 0.8 and 1.2.
        jobs: number of processes for AP, AP_Rareness and ERR. The rows are the same.
        time_limit: seconds for the whole call; None for no limit. Unfinished intervals are wider, and not ``exact``.
            For AP, AP_Rareness and ERR, the search for each end on a query also stops after one second of CPU time.
        missing: what to do with topics that a run has no ranking for and another run has. ``"zero"`` counts them as
            empty rankings, ``"drop"`` leaves them out for all runs, ``"raise"`` is an error. Default: as ``"zero"`` if
            every run misses at most one topic in twenty, else an error.

    Returns:
        one row per pair and measure (and query), in the order of the context:

        - ``name``, ``other``, ``measure``; with ``perquery`` also ``query_id``;
        - ``worst``, ``value``, ``best``: of M(name) - M(other); ``exact``: whether some labelings reach both ends;
        - ``settled``: ``above`` or ``below`` if no labeling reverses this order, ``equal`` if none makes a
          difference, else ``undecided``. For other topics see :func:`compare`;
        - ``n_deciding``: the number of unjudged documents that can change this difference; of a measure without
          strict bounds it is NA, ``worst`` and ``best`` are NaN, and ``settled`` is ``undecided``;
        - ``unjudged``, ``other_unjudged``: the unjudged share of each run's top k, a mean over queries;
        - ``probability``: with ``relevance_model``. For UniqueRel, ``"pool"`` is up to 0.1 too high below 0.99.

    Raises:
        ValueError: a context of one run; ``relevance_model='pool'`` of fewer than four; a run that misses too many
            topics; what :func:`bounds` raises.

    Example:
        >>> from ir_measures_relative import RunContext, verdicts
        >>> runs = {"a": {"q": {"A": 2, "B": 1}}, "b": {"q": {"X": 2, "Y": 1}}}
        >>> verdicts(RunContext(runs), {"q": {"A": 1, "B": 1, "X": 0}}, ["P@2"]).loc[:, "name":"n_deciding"]
          name other measure  worst  value  best  exact settled  n_deciding
        0    a     b     P@2    0.5    1.0   1.0   True   above           1
    """
    work = Work(jobs, time_limit)
    check_is_context(context)
    collection = judged_collection(context, qrels)
    parsed, _ = campaign_of(collection, measures, missing_topics=False)
    collection, note = check_topics(collection, context.names, missing)
    runs = Evaluated.each(collection)
    with_llm = llm_judgments is not None
    check_relevance_model(relevance_model, len(context.names), parsed, perquery, with_llm)
    llm = read_llm_judgments(llm_judgments, collection.documents)
    check_count("samples", samples, 1)
    check_count("seed", seed, 0)
    if log_odds_sd is not None and (not is_number(log_odds_sd) or not 0 <= log_odds_sd < 100):
        raise ValueError(
            f"log_odds_sd={log_odds_sd!r} is not allowed; it must be a number of at least 0, such as 0.8"
        )
    a, b = pairs_of(context)
    names = object_array(context.names)
    index, tables = {"name": names[a], "other": names[b]}, []
    query_ids = runs[0].collection.documents.query_ids
    every = [labelings_of(measure, runs, unretrieved_relevant) for measure in parsed]
    if relevance_model is None:
        check_bounded(every, "; give relevance_model= for a probability")
    for done, (measure, labelings) in enumerate(zip(parsed, every, strict=True)):
        value, interval = differences(runs, measure, labelings, a, b, share(work, len(parsed) - done))
        ends = {"worst": interval.lower, "value": value, "best": interval.upper}
        share_of_run = unjudged_shares(runs, param_value(measure, "cutoff"))
        unjudged = {"unjudged": share_of_run[a], "other_unjudged": share_of_run[b]}
        columns = {
            **ends,
            "exact": interval.exact,
            "n_deciding": movable(labelings, a, b, interval),
            **unjudged,
        }
        table = table_of(index, measure, columns, query_ids if perquery else None)
        for end in ends:
            table[end] = rounded_to_zero(table[end].to_numpy())
        if not labelings.bounded:
            table["n_deciding"] = pd.Series(pd.NA, index=table.index, dtype="Int64")
        settled = settled_of(table["worst"].to_numpy(), table["best"].to_numpy())
        table.insert(table.columns.get_loc("n_deciding"), "settled", pd.Series(settled, dtype=str))
        if relevance_model is not None:
            chance = probabilities(_drawn(labelings, relevance_model, llm, samples, seed, log_odds_sd), a, b)
            table["probability"] = np.select(
                [settled == word for word in ("above", "below", "equal")], [1.0, 0.0, 0.5], chance
            )
        tables.append(table)
    return tell_of_missing_topics(pd.concat(tables, ignore_index=True), note, missing, context)


def _drawn(
    labelings: Labelings,
    relevance_model: RelevanceModel,
    llm: Judgments | None,
    samples: int,
    seed: int,
    sd: float | None,
) -> Iterator[FloatArray]:
    """Return the values of the runs under drawn labelings, in batches (runs, labelings, topics)."""
    if not isinstance(relevance_model, str):
        if sd is None:
            sd = default_log_odds_sd(len(labelings.runs))
        return sampled_values(labelings, chances_of(labelings, relevance_model), samples, seed, sd)
    imputation = Imputation(labelings.runs, labelings.cutoff, llm)
    about_judge = sentence_about_judge(imputation)
    if not imputation.model.exists:
        raise ValueError(
            f"{about_judge} Without them relevance_model='pool' needs at least {FEWEST_RUNS} runs to learn from, and "
            f"there are {len(labelings.runs)}: add runs of the collection"
        )
    if about_judge is not None and not imputation.model.uses_judge:
        warn(about_judge, labelings.runs[0].collection.context)
    return imputation.draw(labelings, samples, seed, sd)


def pairs_of(context: RunContext) -> tuple[IntArray, IntArray]:
    """Each pair of runs once, as indices; with a reference, those with it, the reference second."""
    names = context.names
    if len(names) < 2:
        raise ValueError(
            f"a verdict is about two runs, and the context holds {few_quoted(names)}; add the runs to compare"
        )
    if context.reference is not None:
        second = names.index(context.reference)
        pairs = [(i, second) for i in range(len(names)) if i != second]
    else:
        pairs = list(itertools.combinations(range(len(names)), 2))
    a, b = np.array(pairs, dtype=np.int64).T
    return a, b


def differences(
    runs: Sequence[Evaluated],
    measure: ir_measures.Measure,
    labelings: Labelings,
    a: IntArray,
    b: IntArray,
    work: Work,
) -> tuple[FloatArray, Interval]:
    """The difference of each pair of runs as judged, and its interval; shape (pairs, queries)."""
    values = values_of(runs, measure, labelings)
    value = rounded_to_zero(values[a] - values[b])
    interval = Interval.unknown(value.shape)
    if labelings.why_not_bounded is None:
        interval = labelings.difference(a, b, work)
    lower, upper, exact = snapped(interval, value, labelings)
    return value, Interval(rounded_to_zero(lower), rounded_to_zero(upper), exact)


def rounded_to_zero(values: FloatArray) -> FloatArray:
    """The values, and 0 where only rounding keeps them from it."""
    return np.where(np.abs(values) <= LABELED_ALIKE, 0.0, values)


def movable(labelings: Labelings, a: IntArray, b: IntArray, interval: Interval) -> IntArray:
    """How many unjudged documents can move the difference of each pair, shape (pairs, queries)."""
    docs, n = labelings.docs, labelings.docs.n_queries
    result = np.zeros((len(a), n), dtype=np.int64)
    if labelings.why_not_bounded is not None:
        return result
    rows = np.flatnonzero(docs.exists & labelings.open)
    reach = np.maximum(np.abs(interval.lower), np.abs(interval.upper))
    for i, (x, y) in enumerate(zip(a, b, strict=True)):
        moves = rows[labelings.influence(int(x), int(y), reach[i])[rows] > LABELED_ALIKE]
        result[i] = np.bincount(docs.query[moves], minlength=n)
    return result


def unjudged_shares(runs: Sequence[Evaluated], cutoff: int | None) -> FloatArray:
    """The share of each run's top that nobody judged, shape (runs, queries); 0 of an empty ranking."""
    n = runs[0].collection.documents.n_queries
    shares = np.zeros((len(runs), n))
    for share_of_run, run in zip(shares, runs, strict=True):
        docs = run.top(cutoff).docs
        unjudged = np.bincount(docs.query[~docs.judged], minlength=n)
        share_of_run[:] = unjudged / np.maximum(np.bincount(docs.query, minlength=n), 1)
    return shares


def settled_of(worst: FloatArray, best: FloatArray) -> ObjectArray:
    """The words of the column ``settled``; what rounding could have made is undecided."""
    words = np.full(len(worst), "undecided", dtype=object)
    words[worst > LABELED_ALIKE] = "above"
    words[best < -LABELED_ALIKE] = "below"
    words[(worst == 0) & (best == 0)] = "equal"
    return words
