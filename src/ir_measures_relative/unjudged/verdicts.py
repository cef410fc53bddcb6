"""Which comparisons of runs no further judgment can overturn."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import ir_measures
import numpy as np

from ..arrays import BoolArray, FloatArray, IntArray, ObjectArray, object_array
from ..comparison import JudgedContext, check_is_context, judged_context
from ..extremes.model import Interval, Model, share
from ..io.qrels import Qrels
from ..jobs import Work
from ..measures.strings import parse_measures
from ..options import LABELED_ALIKE as TOLERANCE
from ..options import check_count
from .bounded_measures import model_of
from .bounds import check_bounded, check_residual, settled, values_of
from .odds import Odds, chances_of, check_odds, probabilities, settled_probabilities

if TYPE_CHECKING:
    import pandas as pd

    from ..context import RunContext


def verdicts(
    context: RunContext,
    qrels: Qrels | None,
    measures: Sequence[ir_measures.Measure | str],
    perquery: bool = False,
    *,
    elsewhere: int = 0,
    residual: bool = False,
    odds: Odds | None = None,
    samples: int = 1000,
    seed: int = 0,
    spread: float = 0.8,
    jobs: int = 1,
    time_limit: float | None = None,
) -> pd.DataFrame:
    """Which of two runs is better whatever the labels of the open documents are, and which comparisons they decide.

    The bounds of the difference of two runs *under one labeling*: a document that both hold helps both. See
    :func:`bounds` for what a labeling is.

    Args:
        context: the runs; with a ``reference``, only the pairs with it, which is then the ``other``.
        qrels: the judgments, as for :meth:`RunContext.evaluate`.
        measures: as for :func:`bounds`.
        perquery: one row a query instead.
        elsewhere: as for :func:`bounds`.
        residual: as for :func:`bounds`; odds stay those of the labels alone.
        odds: adds ``probability``, the chance that M(name) > M(other), ties counting half: with ``"pool"`` from how
            often the judged documents that stand in the rankings as an open one does are relevant; or a function
            from query id and document id to the chance that the document is relevant (a classifier, an LLM judge).
            On a graded measure a relevant document has one of the grades of the relevant judged ones, as often as they
            do.
        samples: how many labelings are drawn for it.
        seed: of the draw.
        spread: how far the chances of all documents of one run may be off together, as a standard deviation of their
            log-odds. At 0 the documents are independent, and the odds too sure of themselves: the documents of a good
            run are relevant more often than their places say.
        jobs: how many processes compute the extremes of AP, AP_Rareness and ERR, query by query. The rows are the same.
        time_limit: seconds that the whole call may take; None for no limit. With AP and ERR the search for each end of
            a difference on a query never takes more than one second of CPU time. Where the time is not enough the
            interval is wider, and not ``exact``.

    Returns:
        a DataFrame with one row a pair and measure, each pair once in the order of the context: ``name``, ``other``,
        ``measure``, ``lower``, ``value`` and ``upper`` of M(name) - M(other), ``exact``, ``verdict`` and ``open``, how
        many unjudged documents can move the difference; with ``perquery`` also ``query_id``. The verdict is
        ``better`` or ``worse``, which are proofs; ``equal`` where no labels tell the two apart; else ``open``.

    Raises:
        ValueError: a context of one run; odds of a measure whose gains reward labels below 1; what :func:`bounds`
            raises.
        ImportError: with ``jobs``, joblib is missing.

    Example:
        >>> from ir_measures_relative import RunContext, verdicts
        >>> runs = {"a": {"q": {"A": 2, "B": 1}}, "b": {"q": {"X": 2, "Y": 1}}, "c": {"q": {"Y": 2, "X": 1}}}
        >>> verdicts(RunContext(runs), {"q": {"A": 1, "B": 1, "X": 0}}, ["P@2"])
          name other measure  lower  value  upper  exact verdict  open
        0    a     b     P@2    0.5    1.0    1.0   True  better     1
        1    a     c     P@2    0.5    1.0    1.0   True  better     1
        2    b     c     P@2    0.0    0.0    0.0   True   equal     0
    """
    import pandas as pd

    check_is_context(context)
    work = Work(jobs, time_limit)
    parsed, judged = parse_measures(measures), judged_context(context, qrels)
    check_bounded(judged, parsed)
    check_residual(residual, parsed)
    if odds is not None:
        check_odds(parsed, perquery)
    check_count("samples", samples, 1)
    check_count("seed", seed, 0)
    if isinstance(spread, bool) or not (isinstance(spread, (int, float)) and 0 <= spread < 100):
        raise ValueError(f"spread={spread!r} is not allowed; it must be a number of at least 0, such as 0.8")
    a, b = pairs_of(context)
    names, query_ids = object_array(judged.names), judged.judgments.query_ids
    tables = []
    for done, measure in enumerate(parsed):
        model = model_of(measure, judged, elsewhere, residual)
        value, interval = differences(judged, measure, model, a, b, share(work, len(parsed) - done))
        counts = movable(model, a, b, interval)
        if perquery:
            n = len(query_ids)
            index: dict[str, Any] = {
                "name": np.repeat(names[a], n),
                "other": np.repeat(names[b], n),
                "query_id": np.tile(query_ids, len(a)),
            }
            ends: list[FloatArray] = [x.reshape(-1) for x in (interval.lower, value, interval.upper)]
            counts = counts.reshape(-1)
            exact: BoolArray = interval.exact.reshape(-1)
        else:
            index = {"name": names[a], "other": names[b]}
            ends = [without_rounding(x.mean(axis=1)) for x in (interval.lower, value, interval.upper)]
            exact, counts = np.asarray(interval.exact.all(axis=1)), counts.sum(axis=1)
        lower, value, upper = ends
        text = {name: pd.Series(column, dtype=str) for name, column in index.items()}
        text["measure"] = pd.Series([str(measure)] * len(exact), dtype=str)
        columns: dict[str, Any] = {"lower": lower, "value": value, "upper": upper, "exact": exact}
        columns["verdict"] = pd.Series(verdict_of(lower, upper), dtype=str)
        columns["open"] = counts
        if odds is not None:
            chance = probabilities(model, a, b, chances_of(model, odds), samples, seed, spread)
            columns["probability"] = settled_probabilities(chance, verdict_of(lower, upper))
        tables.append(pd.DataFrame({**text, **columns}))
    return pd.concat(tables, ignore_index=True)


def pairs_of(context: RunContext) -> tuple[IntArray, IntArray]:
    """Each pair of runs once, as indices; with a reference, those with it, the reference second.

    Raises:
        ValueError: a context of one run.
    """
    names = context.names
    if len(names) < 2:
        raise ValueError(
            f"a verdict is about two runs, and the context holds {names}; add the runs to compare"
        )
    if context.reference is not None:
        second = names.index(context.reference)
        pairs = [(i, second) for i in range(len(names)) if i != second]
    else:
        pairs = list(itertools.combinations(range(len(names)), 2))
    a, b = np.array(pairs, dtype=np.int64).T
    return a, b


def differences(
    judged: JudgedContext, measure: ir_measures.Measure, model: Model, a: IntArray, b: IntArray, work: Work
) -> tuple[FloatArray, Interval]:
    """The difference of each pair of runs as judged, and its interval; shape (pairs, queries)."""
    values = values_of(judged, measure, model)
    value = values[a] - values[b]
    value = without_rounding(value)
    lower, upper, exact = settled(model.difference(a, b, work), value, model)
    return value, Interval(without_rounding(lower), without_rounding(upper), exact)


def without_rounding(values: FloatArray) -> FloatArray:
    """The values, and 0 where only rounding keeps them from it."""
    return np.where(np.abs(values) <= TOLERANCE, 0.0, values)


def movable(model: Model, a: IntArray, b: IntArray, interval: Interval) -> IntArray:
    """How many unjudged documents can move the difference of each pair, shape (pairs, queries)."""
    docs, n = model.open_docs.docs, model.open_docs.n_queries
    result = np.empty((len(a), n), dtype=np.int64)
    listed = np.flatnonzero(model.open_docs.listed & model.open)
    reach = np.maximum(np.abs(interval.lower), np.abs(interval.upper))
    for i, (x, y) in enumerate(zip(a, b, strict=True)):
        moves = listed[model.influence(int(x), int(y), reach[i])[listed] > TOLERANCE]
        result[i] = np.bincount(docs.query[moves], minlength=n)
    return result


def verdict_of(lower: FloatArray, upper: FloatArray) -> ObjectArray:
    """The words; what rounding could have made is open."""
    words = np.full(len(lower), "open", dtype=object)
    words[lower > TOLERANCE] = "better"
    words[upper < -TOLERANCE] = "worse"
    words[(lower == 0) & (upper == 0)] = "equal"
    return words
