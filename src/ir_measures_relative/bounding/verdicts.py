"""Verdicts: the orders of two runs that unjudged documents cannot reverse, and the documents to judge next."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import ir_measures
import numpy as np
import pandas as pd

from ..arguments import check_count, check_names
from ..context.collection import judged_collection
from ..context.evaluated import Evaluated
from ..context.measure_strings import param_value
from ..context.missing_topics import check_topics, note_missing_topics
from ..context.run_context import RunContext, check_is_context
from ..data.arrays import FloatArray, IntArray, ObjectArray, object_array
from ..data.documents import Judgments
from ..io.qrels import Qrels
from ..messages import few_quoted, warn
from ..stats.paired_tests import tie_limit, with_ties
from ..tolerances import LABELED_ALIKE
from ..writing import check_writable, escaped, write_whole
from .bounds import check_bounded, judged_values, make_labelings, measure_table, prepare_runs, snap_to_value
from .imputation import (
    Imputation,
    check_relevance_model,
    probability_above,
    read_llm_judgments,
    sentence_about_judge,
)
from .intervals import Interval, TimeLimit
from .labelings import Labelings
from .relevance import FEWEST_RUNS


def verdicts(
    context: RunContext,
    qrels: Qrels | None,
    measures: Sequence[ir_measures.Measure | str],
    perquery: bool = False,
    *,
    unretrieved_relevant: int | None = None,
    relevance_model: str | None = None,
    llm_judgments: Qrels | None = None,
    samples: int = 1000,
    seed: int = 0,
    time_limit: float | None = None,
    missing: str | None = None,
) -> pd.DataFrame:
    """Find the orders of two runs that unjudged documents cannot reverse on these topics.

    It bounds the difference of two runs *under one labeling*, see :func:`bounds`. Documents that neither run
    retrieves change ideal rankings. So a verdict depends on the two runs *and* on the other runs of the context.

    Args:
        context: the runs. With a ``reference``, only its pairs are compared; it is then the ``other``.
        qrels: as for :func:`bounds`.
        measures: as for :func:`bounds`.
        perquery: as for :func:`bounds`.
        unretrieved_relevant: as for :func:`bounds`.
        relevance_model: adds ``probability``: how likely M(name) > M(other) is; a tie counts half. ``"pool"`` learns
            from judged documents with similar ranks (needs four runs).
        llm_judgments: judgments by a language model, an input of ``"pool"``, with which two runs may be enough. They
            are used only if they help on the documents that people judged too; a warning says if not.
        samples: number of labelings drawn for it.
        seed: the random seed.
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
    limit = TimeLimit(time_limit)
    check_is_context(context)
    collection = judged_collection(context, qrels)
    parsed, _ = prepare_runs(collection, measures, missing_topics=False)
    collection, note = check_topics(collection, context.names, missing)
    runs = Evaluated.each(collection)
    with_llm = llm_judgments is not None
    check_relevance_model(relevance_model, len(context.names), parsed, perquery, with_llm)
    llm = read_llm_judgments(llm_judgments, collection.documents)
    check_count("samples", samples, 1)
    check_count("seed", seed, 0)
    a, b = run_pairs(context)
    names = object_array(context.names)
    index, tables = {"name": names[a], "other": names[b]}, []
    query_ids = collection.documents.query_ids if perquery else None
    every = [make_labelings(measure, runs, unretrieved_relevant) for measure in parsed]
    if relevance_model is None:
        check_bounded(every, "; give relevance_model= for a probability")
    for done, (measure, labelings) in enumerate(zip(parsed, every, strict=True)):
        value, interval = differences(runs, measure, labelings, a, b, limit.share(len(parsed) - done))
        ends = {"worst": interval.lower, "value": value, "best": interval.upper}
        unjudged = unjudged_shares(runs, param_value(measure, "cutoff"))
        columns = {
            **ends,
            "exact": interval.exact,
            "n_deciding": count_deciding(labelings, a, b, interval),
            "unjudged": unjudged[a],
            "other_unjudged": unjudged[b],
        }
        table = measure_table(index, measure, columns, query_ids)
        for end in ends:
            table[end] = round_to_zero(table[end].to_numpy())
        if not labelings.bounded:
            table["n_deciding"] = pd.Series(pd.NA, index=table.index, dtype="Int64")
        settled = name_order(table["worst"].to_numpy(), table["best"].to_numpy())
        table.insert(table.columns.get_loc("n_deciding"), "settled", pd.Series(settled, dtype=str))
        if relevance_model is not None:
            drawn = _draw(labelings, llm, samples, seed)
            table["probability"] = np.select(
                [settled == word for word in ("above", "below", "equal")],
                [1.0, 0.0, 0.5],
                probability_above(drawn, a, b),
            )
        tables.append(table)
    return note_missing_topics(pd.concat(tables, ignore_index=True), note, missing, context)


def _draw(labelings: Labelings, llm: Judgments | None, samples: int, seed: int) -> Iterator[FloatArray]:
    """Return the values of the runs under drawn labelings, in batches (runs, labelings, topics)."""
    imputation = Imputation(labelings.runs, labelings.cutoff, llm)
    about_judge = sentence_about_judge(imputation)
    if not imputation.exists:
        raise ValueError(
            f"{about_judge} Without them relevance_model='pool' needs at least {FEWEST_RUNS} runs to learn from, and "
            f"there are {len(labelings.runs)}: add runs of the collection"
        )
    if about_judge and (not imputation.model.uses_judge or imputation.about_scale or imputation.covers_few):
        warn(about_judge, labelings.runs[0].collection.context)
    return imputation.draw(labelings, samples, seed)


def run_pairs(context: RunContext) -> tuple[IntArray, IntArray]:
    """Return each pair of runs once, as indices; with a reference, the pairs with it, the reference second."""
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
    limit: TimeLimit,
) -> tuple[FloatArray, Interval]:
    """Return the difference of each pair of runs as judged, and its interval; shape (pairs, queries)."""
    values = judged_values(runs, measure, labelings)
    value = round_to_zero(values[a] - values[b])
    interval = Interval.unknown(value.shape)
    if labelings.why_not_bounded is None:
        interval = labelings.bound_differences(a, b, limit)
    lower, upper, exact = snap_to_value(interval, value, labelings)
    return value, Interval(round_to_zero(lower), round_to_zero(upper), exact)


def round_to_zero(values: FloatArray) -> FloatArray:
    """Return the values, with 0 for those that differ from 0 only by rounding."""
    return np.where(np.abs(values) <= LABELED_ALIKE, 0.0, values)


def count_deciding(labelings: Labelings, a: IntArray, b: IntArray, interval: Interval) -> IntArray:
    """Count the unjudged documents that can change the difference of each pair, shape (pairs, queries)."""
    docs, n = labelings.docs, labelings.docs.n_queries
    result = np.zeros((len(a), n), dtype=np.int64)
    if labelings.why_not_bounded is not None:
        return result
    rows = np.flatnonzero(docs.exists & labelings.open)
    query, reach = docs.query[rows], np.maximum(np.abs(interval.lower), np.abs(interval.upper))
    for i, (x, y) in enumerate(zip(a.tolist(), b.tolist(), strict=True)):
        moves = labelings.influence(x, y, reach[i])[rows] > LABELED_ALIKE
        result[i] = np.bincount(query[moves], minlength=n)
    return result


def unjudged_shares(runs: Sequence[Evaluated], cutoff: int | None) -> FloatArray:
    """Return the unjudged share of each run's top, shape (runs, queries); 0 of an empty ranking."""
    n = runs[0].collection.documents.n_queries
    shares = np.zeros((len(runs), n))
    for row, run in zip(shares, runs, strict=True):
        docs = run.top(cutoff).docs
        unjudged = np.bincount(docs.query[~docs.judged], minlength=n)
        row[:] = unjudged / np.maximum(np.bincount(docs.query, minlength=n), 1)
    return shares


def name_order(worst: FloatArray, best: FloatArray) -> ObjectArray:
    """Return the words of the column ``settled``; a sign that may be due to rounding is undecided."""
    words = np.full(len(worst), "undecided", dtype=object)
    words[worst > LABELED_ALIKE] = "above"
    words[best < -LABELED_ALIKE] = "below"
    words[(worst == 0) & (best == 0)] = "equal"
    return words


def judge_next(
    context: RunContext,
    qrels: Qrels | None,
    measure: ir_measures.Measure | str,
    n: int,
    between: tuple[str, str] | None = None,
    *,
    unretrieved_relevant: int | None = None,
    time_limit: float | None = None,
) -> pd.DataFrame:
    """List the unjudged documents whose judgments would settle the most undecided orders.

    For every undecided pair, a document counts by how far its label can move the difference of the two runs, relative
    to the distance of the nearer end of the interval from 0. Judge the documents, add the labels to the qrels, repeat.

    Args:
        context: the runs; with a ``reference``, only the pairs with it.
        qrels: as for :func:`verdicts`.
        measure: one measure, as for :func:`verdicts`.
        n: how many documents; fewer are listed where no more take part in an undecided pair.
        between: two runs, if only their order counts.
        unretrieved_relevant: as for :func:`verdicts`.
        time_limit: as for :func:`verdicts`.

    Returns:
        one row per document, in the order in which to judge: ``query_id``, ``doc_id``, the ``weight`` by which they
        are ordered, and ``pairs``, the number of undecided pairs in which the document takes part.

    Raises:
        ValueError: what :func:`verdicts` raises.
    """
    limit = TimeLimit(time_limit)
    check_is_context(context)
    (parsed,), runs = prepare_runs(judged_collection(context, qrels), [measure])
    check_count("n", n, 1)
    a, b = run_pairs(context) if between is None else _named_pair(context, between)
    labelings = make_labelings(parsed, runs, unretrieved_relevant)
    check_bounded([labelings])
    _, interval = differences(runs, parsed, labelings, a, b, limit)
    lower, upper = interval.lower.mean(axis=1), interval.upper.mean(axis=1)
    docs, rows = labelings.docs, np.flatnonzero(labelings.open & labelings.docs.exists)
    weight, pairs = np.zeros(len(rows)), np.zeros(len(rows), dtype=np.int64)
    reach = np.maximum(np.abs(interval.lower), np.abs(interval.upper))
    for i in np.flatnonzero(name_order(lower, upper) == "undecided").tolist():
        moved = labelings.influence(int(a[i]), int(b[i]), reach[i])[rows]
        missing = max(min(-lower[i], upper[i]), (upper[i] - lower[i]) / 10)
        weight += moved / docs.n_queries / missing
        pairs += moved > LABELED_ALIKE
    some = pairs > 0
    rows, weight, pairs = rows[some], weight[some], pairs[some]
    query_ids, doc_ids = docs.query_ids[docs.query[rows]], docs.ids.take(rows).strings()
    by_id = (np.unique(ids, return_inverse=True)[1] for ids in (doc_ids, query_ids))
    order = np.lexsort((*by_id, -with_ties(weight, tie_limit(weight))))[:n]
    ids = {"query_id": query_ids[order], "doc_id": doc_ids[order]}
    documents = pd.DataFrame({name: pd.Series(column, dtype=str) for name, column in ids.items()})
    documents["weight"], documents["pairs"] = weight[order], pairs[order]
    return documents


def write_pool(documents: pd.DataFrame, path: str | os.PathLike[str]) -> None:
    """Write the documents to judge as a pool file; raise ValueError for an id with blanks."""
    text = "".join(line + "\n" for line in pool_lines(documents))
    write_whole(path, lambda beside: Path(beside).write_text(text, encoding="utf-8"))


def check_pool(path: str | os.PathLike[str]) -> None:
    """Raise ValueError where a pool file would overwrite labels, OSError where it cannot be written."""
    check_writable(path)
    if os.path.exists(path):
        lines = Path(path).read_bytes().splitlines()
        number = next((i for i, line in enumerate(lines, start=1) if len(line.split()) not in (0, 2)), None)
        if number is not None:
            raise ValueError(
                f"{path}, line {number}: it holds more than 'query_id doc_id', such as labels, which a new pool would "
                "overwrite; give another path, or remove the file"
            )


def pool_lines(documents: pd.DataFrame) -> list[str]:
    """Return the documents to judge as the lines of a pool file; raise ValueError for an id with blanks."""
    lines = []
    for query, doc in zip(documents["query_id"], documents["doc_id"], strict=True):
        line = f"{query} {doc}"
        if line.split() != [query, doc] or escaped(line) != line:
            raise ValueError(
                f"document {doc!r} of query {query!r}: a pool file has ids without blanks and control characters, a "
                "query and a document a line; take the table that judge_next gives instead, or other ids"
            )
        lines.append(line)
    return lines


def _named_pair(context: RunContext, between: object) -> tuple[IntArray, IntArray]:
    """Return the pair as indices; raise ValueError if it is not the names of two runs of the context."""
    names = context.names
    if not isinstance(between, (tuple, list)) or len(between) != 2 or between[0] == between[1]:
        raise ValueError(f"between={between!r} must be the names of two runs, such as ('BM25', 'ANCE')")
    check_names("between", between, names)
    a, b = (np.array([names.index(name)], dtype=np.int64) for name in between)
    return a, b
