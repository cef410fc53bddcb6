"""What is checked before runs are scored: queries in common, empty runs, ids of another collection.

And before they are compared: only values relative to the same runs are one quantity.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import ir_measures
import numpy as np

from ..data.arrays import IntArray
from ..data.documents import Judgments
from ..data.rankings import Rankings
from ..messages import warn
from .measure_strings import is_relative, needs_subtopics, value_of
from .priors import Members, matching
from .view import View, check_queries, some


def check_runs(view: View) -> None:
    """Raises ValueError where there is nothing to score, or a run shares no query; warns of runs without rankings.

    It also warns of runs that hold next to no judged document.
    """
    if not len(view.query_ids):
        raise ValueError("the qrels hold no judgment, so there is no query to score; give other qrels")
    for run in view.runs.values():
        check_queries(view, run)
        warn_if_empty(run, view.members)
    warn_if_strange(view)
    _warn_of_own_means(view)


def _warn_of_own_means(view: View) -> None:
    """Says once of runs that lack queries that the means of the tools that wrote them leave out."""
    n = len(view.query_ids)
    lacking = {
        run.name: (n - int((view.documents.queries_of(run) >= 0).sum()), run.skips)
        for run in view.runs.values()
        if run.skips
    }
    few = [(name, count, skips) for name, (count, skips) in lacking.items() if count]
    if few:
        name, count, skips = few[0]
        others = f", and {len(few) - 1} other run(s) lack some" if few[1:] else ""
        warn(
            f"{name} has no ranking for {count} of {n} judged queries{others}: they count as empty rankings here, and "
            f"{skips} own mean leaves them out: it is over {n - count} queries, and may be higher",
            view.members,
            "own means",
        )


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
            f"the qrels judge documents for several aspects, and {', '.join(plain)} look at no aspects: of a document "
            f"whose labels differ, such as {doc_id!r} of query {query_id!r}, they see the last label, as in "
            "ir_measures; give them qrels with one label a document",
            view.members,
        )


def warn_if_strange(view: View, newcomer: Rankings | None = None) -> None:
    """Warns where next to no judged document is in any run: the ids may be of another collection.

    Args:
        newcomer: the evaluated run, where the context holds none.
    """
    if newcomer is None:
        runs = list(view.runs.values())
        found = view.cached(("strange",), lambda: _strange(view.judgments, runs))
    else:
        found = _strange(view.judgments, [newcomer])
    if found is not None:
        run, query_id = found
        docs = run.of_query(query_id).rows()[1].take(slice(0, 4)).strings()
        warn(
            f"under {_FEW:.0%} of the documents that are judged for the queries of the runs are in any run, at any "
            f"depth: for query {query_id!r} {run.name} has {some(docs)}, the qrels have "
            f"{some(view.judgments.of_query(query_id).doc_ids)}; are these ids of two versions of the collection? "
            "Documents without a judgment count as not relevant",
            view.members,
        )


# The share of the judged documents under which runs are strange, and the one from which a query leaves no doubt.
_FEW, _PLENTY = 0.01, 0.05

# How many judged documents, and how many retrieved ones, may have none in common by chance.
_LEAST = 20

# How many queries, and rows of each, are looked at before all are: one is mostly enough, and takes no time.
_QUERIES_AHEAD, _ROWS_AHEAD = 8, 200


def _strange(judgments: Judgments, runs: Sequence[Rankings]) -> tuple[Rankings, str] | None:
    """A run and a query to show, of runs that hold few of the documents judged for their queries; else None."""
    few = [(run, q) for run in runs[:1] for q in run.query_ids[:_QUERIES_AHEAD] if q in judgments.query_code]
    held = np.zeros(len(judgments), dtype=bool)
    try:
        for run, query_id in few:
            known = judgments.of_query(query_id).ids.strings().tolist()
            docs = run.of_query(query_id).rows()[1].take(slice(0, _ROWS_AHEAD)).strings()
            if len(set(known).intersection(docs)) > _PLENTY * len(known):
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


def warn_if_empty(run: Rankings, context: Members) -> None:
    """Warns of a run without a row."""
    if not len(run):
        warn(f"{run.name} holds no ranking; all of its rankings count as empty", context)


def why_incomparable(
    view: View,
    measure: ir_measures.Measure,
    a: str,
    b: str,
    priors: dict[str, Collection[str]] | None = None,
) -> str | None:
    """Why the values of two runs of a context are different quantities; None if they are not.

    Two values relative to priors compare where both runs stand against the same runs but for each other:
    ``priors(a) - {b} = priors(b) - {a}``, and each counts the other as a prior or neither does. Distances to a
    reference compare where neither run is the reference. Where ``systems=`` says whose rankings count, they compare
    where both runs are among these, or neither is.

    Args:
        priors: of each run, instead of those that the context's policy gives it.
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
