"""Runs × measures → one array, and means: the one loop that scores, and what is checked before."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import ir_measures
import numpy as np
from ir_measures.measures.base import SumAgg

from ..data.arrays import FloatArray, IntArray, ObjectArray, object_array
from ..data.documents import Judgments
from ..data.rankings import Rankings
from ..messages import progress, warn
from ..tolerances import ROUNDED
from .checks import (
    QUERIES_AHEAD,
    check_queries,
    ranks_judged,
    warn_if_nothing_is_relevant,
    warn_of_missing_topics,
    warn_of_unjudged_runs,
)
from .measure_strings import is_relative, needs_subtopics, value_of
from .odd_runs import warn_of_odd_runs
from .priors import FixedPriors, matching
from .view import View, some

if TYPE_CHECKING:
    import pandas as pd  # which the command line does without


def check_runs(
    view: View,
    measures: Collection[ir_measures.Measure] = (),
    new_runs: Mapping[str, Rankings] | None = None,
    *,
    missing_topics: bool = True,
) -> None:
    """Raise ValueError where there is nothing to score, or a run shares no query; warn of odd runs and judgments.

    ``missing_topics=False`` says nothing of topics that runs miss: for what calls :func:`check_topics`, or where runs
    miss topics by design.
    """
    if not len(view.query_ids):
        raise ValueError("the qrels hold no judgment, so there is no query to score; give other qrels")
    by_name = {**(new_runs or {}), **view.runs}
    runs = list(by_name.values())
    for run in runs:
        check_queries(view, run)
    if missing_topics:
        warn_of_missing_topics(view, by_name)
    warn_if_nothing_is_relevant(view, measures)
    warn_if_strange(view, runs)
    warn_of_odd_runs(view, runs)


def warn_of_last_labels(view: View, measures: Sequence[ir_measures.Measure]) -> None:
    """Warns where measures that look at no aspects see one of several labels of a document."""
    if not view.judgments.has_aspects:
        return
    unlike = view.cached(("unlike labels",), view.judgments.unlike_labels)
    plain = [
        str(m)
        for m in measures
        if not (m.looks_at_aspects or m.JUDGMENTS == "ignored" if is_relative(m) else needs_subtopics(m))
    ]
    if plain and unlike is not None:
        query_id, doc_id = unlike
        warn(
            f"the qrels judge documents for several aspects, and {', '.join(plain)} look at no aspects: they see the "
            f"last label of {doc_id!r} of query {query_id!r}; give them qrels with one label a document",
            view.members,
        )


def warn_if_strange(view: View, runs: Collection[Rankings]) -> None:
    """Warn where next to no judged document is in any of these runs, or none in one of them."""
    found = _strange(view.judgments, list(runs))
    if found is None:
        warn_of_unjudged_runs(view, runs)
        return
    run, query_id = found
    docs = run.of_query(query_id).rows()[1].take(slice(0, 4)).strings()
    warn(
        f"under {_FEW:.0%} of the documents that are judged for the queries of the runs are in any run, at any "
        f"depth: for query {query_id!r} {run.name} has {some(docs)}, the qrels have "
        f"{some(view.judgments.of_query(query_id).doc_ids)}; check that both are of one version of the collection",
        view.members,
    )


# The share of the judged documents under which runs are strange, and the one from which a query leaves no doubt.
_FEW, _PLENTY = 0.01, 0.05

# How many judged documents, and how many retrieved ones, may have none in common by chance.
_LEAST = 20


def _strange(judgments: Judgments, runs: Sequence[Rankings]) -> tuple[Rankings, str] | None:
    """A run and a query to show, of runs that hold few of the documents judged for their queries; else None."""
    few = [(run, q) for run in runs[:1] for q in run.query_ids[:QUERIES_AHEAD] if q in judgments.query_code]
    held = np.zeros(len(judgments), dtype=bool)
    try:
        if any(ranks_judged(judgments, run, query_id, _PLENTY) for run, query_id in few):
            return None
        common = np.concatenate([judgments.queries_of(run) for run in runs]) if runs else np.empty(0)
        n_judged = int(np.isin(judgments.query, common).sum())
        if min(n_judged, sum(map(len, runs))) < _LEAST or not len(judgments.relevant):
            return None
        possible = min(n_judged, max(map(len, runs)))  # a short run holds few of many judged documents
        for run in runs:
            query, ids, _ = run.rows()
            row = judgments.rows_of(judgments.queries_of(run)[query], ids)
            held[row[row >= 0]] = True
            if np.count_nonzero(held) >= _FEW * possible:
                return None
    except ValueError:  # an id of another type, deeper than any measure looks
        return None
    return next((run, q) for run in runs for q in run.query_ids if q in judgments.query_code)


def copies_in(view: View, depth: int | None) -> dict[str, str]:
    """Of each run that ranks every judged topic as an earlier run of the context does, to this depth: that run."""
    at, relevant, found = view.at(depth), view.relevant, dict[str, str]()

    def find() -> dict[str, str]:
        # What the measures look at in any case tells nearly all runs apart.
        groups = dict[Hashable, list[str]]()
        for name, run in view.runs.items():
            groups.setdefault(at.positions_in(run, relevant).tobytes(), []).append(name)
        for names in groups.values():
            seen = dict[Hashable, str]()
            for name in names if len(names) > 1 else ():
                top = at.top(view.runs[name])
                first = seen.setdefault((top.docs.query.tobytes(), top.hashes.tobytes()), name)
                if first != name and len(top.position) and view.of(name).starts_as(first, depth):
                    found[name] = first
        return found

    return view.cached(("copies", depth), find)


def depth_of(measures: Iterable[ir_measures.Measure]) -> int | None:
    """The deepest cutoff of measures that are relative to priors: None if one has none, 0 if there are no such."""
    depths = [m.params.get("cutoff") for m in measures if is_relative(m) and m.RELATIVE_TO == "priors"]
    return None if None in depths else max(depths, default=0)


def warn_of_copies(views: Sequence[View], measures: Sequence[ir_measures.Measure]) -> None:
    """Warns of a run that ranks as one of its priors does, where that is fixed, or each is a prior of the other.

    Of runs in the order of time the later copy adds nothing, which is the answer.
    """
    relative = [m for m in measures if is_relative(m) and m.RELATIVE_TO == "priors"]
    depth = depth_of(measures)
    first = copies_in(views[0], depth) if views and depth != 0 else {}
    of_name = {view.name: view for view in views}

    def priors(view: View) -> set[str]:
        return {view.names[row] for m in relative for row in view.priors(m.get("prior")).tolist()}

    for name, view in of_name.items() if first else ():
        fixed = isinstance(view.members.policy, FixedPriors)
        root = first.get(str(name), str(name))
        alike = {root, *(n for n, of in first.items() if of == root)} - {name}
        for same in [n for n in view.names if n in alike and n in priors(view)]:
            if fixed or same not in of_name or name in priors(of_name[same]):
                where = "" if depth is None else f" in their first {depth}"
                warn(
                    f"{same!r} and {name!r} rank alike{where}, and {same!r} is a prior of {name!r}: leave one of them "
                    "out; there may be more such runs",
                    view.members,
                )
                return


def why_incomparable(
    view: View,
    measure: ir_measures.Measure,
    a: str,
    b: str,
    priors: dict[str, Collection[str]] | None = None,
) -> str | None:
    """Why the values of two runs of a context are different quantities; None if they are not.

    ``priors`` are those of each run, where they are not the policy's.
    """
    if not is_relative(measure):
        return None
    if measure.RELATIVE_TO == "priors":
        of_a, of_b = ({view.names[i] for i in priors_of(view, n, measure, priors)} for n in (a, b))
        if (b in of_a) != (a in of_b):
            counts, other = (a, b) if b in of_a else (b, a)
            return f"{other!r} is a prior of {counts!r}, and {counts!r} is not a prior of {other!r}"
        alone = sorted((of_a - {b}) ^ (of_b - {a}))
        if alone:
            return f"{some(alone)} {'is a prior' if len(alone) == 1 else 'are priors'} of one and not of the other"
    systems = value_of(measure, "systems")
    if systems not in (None, "groups"):
        counted = {a, b} & {*matching(systems, view.names, "systems")}
        if len(counted) == 1:
            return f"{counted.pop()!r} is one of systems={systems!r}, and the other run is not"
    if measure.RELATIVE_TO == "reference" and not measure.SIGNED:
        reference = view.with_run(view.runs[a]).reference_run(measure.get("ref"))
        for name in (a, b):
            if reference is view.runs[name]:
                return f"{name!r} is the reference, which is at no distance from itself"
    return None


def priors_of(view: View, name: str, measure: Any, priors: Mapping[str, Collection[str]] | None) -> IntArray:
    """The indices of the priors of a run: those of ``priors``, else those that the context's policy gives it."""
    return view.of(name, None if priors is None else priors[name]).priors(measure.get("prior"))


#: Computes absolute measures of a run, shape (measures, queries), as :meth:`View.absolute` does.
Absolute: TypeAlias = Callable[[Sequence[ir_measures.Measure], Rankings], FloatArray]


class Scores(NamedTuple):
    """The value of every run, on every measure, for every query."""

    names: list[str]
    measures: list[ir_measures.Measure]
    query_ids: ObjectArray
    values: FloatArray  #: shape (runs, measures, queries); NaN where ir_measures gives none

    def means(self) -> FloatArray:
        """What each measure's own aggregator makes of the queries, shape (runs, measures)."""
        result = np.empty(self.values.shape[:2])
        for j, measure in enumerate(self.measures):
            for i, values in enumerate(self.values[:, j]):
                result[i, j] = aggregate(measure, values)
        return result

    def table(self) -> pd.DataFrame:
        """One row a run: ``name``, and the mean of each measure."""
        import pandas as pd

        means = self.means()
        columns: dict[str, Any] = {"name": pd.Series(self.names, dtype=str)}
        columns |= {str(m): means[:, j] for j, m in enumerate(self.measures)}
        return pd.DataFrame(columns)

    def long_table(self) -> pd.DataFrame:
        """One row a run, measure and query: ``name``, ``query_id``, ``measure``, ``value``."""
        import pandas as pd

        n_names, n_measures, n_queries = self.values.shape
        labels = object_array(map(str, self.measures))
        return pd.DataFrame(
            {
                "name": pd.Series(np.repeat(object_array(self.names), n_measures * n_queries), dtype=str),
                "query_id": pd.Series(np.tile(self.query_ids, n_names * n_measures), dtype=str),
                "measure": pd.Series(np.tile(np.repeat(labels, n_queries), n_names), dtype=str),
                "value": self.values.reshape(-1),
            }
        )


def aggregate(measure: ir_measures.Measure, values: FloatArray) -> float:
    """What the measure's own aggregator makes of the values of the queries; those that are NaN are not there."""
    aggregator = measure.aggregator()
    for value in values.tolist():
        if value == value:
            aggregator.add(value)
    result: float = aggregator.result()
    return result


def is_summed(measure: ir_measures.Measure) -> bool:
    """Whether ir_measures adds up the queries' values: NumRet and its like count."""
    return isinstance(measure.aggregator(), SumAgg)


def shares_of_topics(values: FloatArray) -> FloatArray:
    """The share of each run's mean that comes from each topic, runs × topics; no shares, NaN, where none add up."""
    if np.isnan(values).any() or values.min(initial=0) < -ROUNDED * values.max(initial=0):
        return np.full(values.shape, np.nan)
    positive = np.maximum(values, 0)
    total = positive.sum(axis=1, keepdims=True)
    shares: FloatArray = np.divide(positive, total, out=np.full(values.shape, np.nan), where=total > 0)
    return shares


#: A topic that supplies more than this share of a mean is told of, where there are enough topics,
LARGE_SHARE, FEWEST_TOPICS = 0.25, 10
#: and where the mean is at least this part of the highest: of a run that adds two documents in all, one topic has half.
_SMALLEST_MEAN = 0.25


def one_topic_of_runs(scores: Scores, measure: int) -> list[tuple[float, str] | None]:
    """The topic that supplies more than a quarter of each run's mean, with its share; None where none does.

    None of absolute measures, of measures with a value below 0, and of runs that hardly add anything, too.
    """
    runs, _, topics = scores.values.shape
    if not is_relative(scores.measures[measure]) or topics < FEWEST_TOPICS:
        return [None] * runs
    values = scores.values[:, measure]
    means = values.mean(axis=1)
    counts = means >= _SMALLEST_MEAN * means.max()
    shares = np.nan_to_num(shares_of_topics(values)) * counts[:, None]
    return [
        (float(of_run[topic]), str(scores.query_ids[topic])) if of_run[topic] > LARGE_SHARE else None
        for of_run, topic in zip(shares, shares.argmax(axis=1), strict=True)
    ]


def one_topic_counts(scores: Scores) -> str | None:
    """What to say where one topic supplies more than a quarter of the mean of a relative measure; else None."""
    found: list[tuple[float, str, str]] = []
    for j, measure in enumerate(scores.measures):
        of_runs = one_topic_of_runs(scores, j)
        many = [(one, name) for one, name in zip(of_runs, scores.names, strict=True) if one is not None]
        if many:
            (share, topic), name = max(many, key=lambda one: one[0][0])
            where = f"the mean {measure} of {name!r} over {len(scores.query_ids)} topics"
            worst = f"{100 * share:.0f} % of {where} comes from topic {topic!r} alone"
            found.append((share, worst, f"{len(many)} of {len(of_runs)} runs by {measure}"))
    if not found:
        return None
    return (
        f"{max(found)[1]}; one topic supplies more than a quarter of the mean of {', '.join(f[2] for f in found)}; "
        "look at the values by topic"
    )


def score_runs(
    view: View,
    names: Sequence[str],
    measures: Sequence[ir_measures.Measure],
    *,
    absolute: Absolute | None = None,
    priors: Mapping[str, Collection[str]] | None = None,
    new_runs: Mapping[str, Rankings] | None = None,
    part: bool = False,
    missing_topics: bool = True,
) -> Scores:
    """Scores runs of a context, each as the member that it is, and new runs, each alone beside it.

    ``part``: these are some of the queries, which some runs may not hold; the whole was checked, or will be.
    ``missing_topics`` is that of :func:`check_runs`.
    """
    query_ids = view.query_ids
    of_host = [j for j, measure in enumerate(measures) if not is_relative(measure)]
    host = [measures[j] for j in of_host]
    new_runs = new_runs or {}
    if part:
        for run in new_runs.values():
            check_queries(view, run)
    else:
        check_runs(view, measures, new_runs, missing_topics=missing_topics)
        warn_of_last_labels(view, measures)
    values = np.empty((len(names), len(measures), len(query_ids)))
    # What a measure without a cutoff asks of the runs answers the others as well.
    deepest_first = sorted(range(len(measures)), key=lambda j: value_of(measures[j], "cutoff") is not None)
    # A measure on one run after the other, since what it asks of all runs is kept for a while, and not for ever.
    views = [
        view.with_run(new_runs[n]) if n in new_runs else view.of(n, None if priors is None else priors[n])
        for n in names
    ]
    if not part:
        warn_of_copies([one for one in views if one.member is not None], measures)
    for i, one in enumerate(views if part else progress(views, "scoring runs", "run")):
        if host:
            values[i, of_host] = (absolute or view.absolute)(host, one.evaluated)
    for j in deepest_first:
        for i, one in enumerate(views if is_relative(measures[j]) else ()):
            values[i, j] = measures[j].score(one)
    return Scores(list(names), list(measures), query_ids, values)
