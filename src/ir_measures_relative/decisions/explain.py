"""What a run adds, document by document; and in aspects (nuggets)."""

from __future__ import annotations

from typing import Any

import ir_measures
import numpy as np
import pandas as pd

from ..context.evaluate import check_runs
from ..context.measure_strings import parse_measure, value_of
from ..context.priors import group_of
from ..context.run_context import RunContext
from ..context.view import View, check_is_context, some, view_of
from ..data.arrays import BoolArray, IntArray, object_array
from ..further_measures.alpha_nrg import NewAspects, OfAspects
from ..io.qrels import Qrels
from ..io.runs import Run
from ..measures.measure import RelativeMeasure
from ..messages import few_quoted


def explain(
    context: RunContext,
    run: str | Run,
    qrels: Qrels | None,
    measure: ir_measures.Measure | str = "NRG(norm='ideal')@10",
    query_id: str | None = None,
    group: str | None = None,
) -> pd.DataFrame:
    """The documents behind a run's score: a row per document of its top k, in the order of its rankings.

    Args:
        run: the name of a run of the context; or a new run, as anything that a context takes but a path.
        measure: NRG, UniqueRel, alpha_NRG, NewAspects, P_Rareness or AP_Rareness.
        query_id: one query; default: all.
        group: the group of a new run, as for :meth:`RunContext.evaluating`.

    Returns:
        a DataFrame with the columns ``query_id``, ``doc_id``; ``relevance`` (NA if unjudged); ``position``, from 1;
        ``position in P`` for each prior P (NA outside its top k); ``gain``: the residual gain G(d|R) of NRG, or the
        weight of rareness; ``contribution``: those of a query sum to its score; and with aspects ``aspects`` and ``new
        aspects``: tuples of those that the document answers, and that no document above it and no prior does.

    Raises:
        ValueError: no such run or query, or a measure that is not a sum over documents.
    """
    check_is_context(context)
    parsed = relative_measure(measure)
    if isinstance(run, str):
        if run not in context.runs:
            raise ValueError(
                f"explain({run!r}): the context holds no such run; its runs are {few_quoted(context.names)}"
            )
        if group is not None:
            raise ValueError(f"group={group!r} goes with a new run; {run!r} is a run of the context")
        rankings, member = context.runs[run], run
    else:
        rankings, member = context.read_run(run), None
        group = group_of(rankings, context, group)
    view = view_of(context, qrels)
    if query_id is not None and query_id not in view.documents.query_code:
        raise ValueError(f"query_id={query_id!r} is not in the qrels, which have {some(view.query_ids)}")
    check_runs(view, [parsed])
    view = view.with_run(rankings, group=group, member=member)
    if query_id is not None:  # of all queries only the policy, which chooses the priors, may need to know
        if parsed.RELATIVE_TO == "priors":
            priors = [view.names[i] for i in view.priors(parsed.get("prior"))]
            view = view.with_run(rankings, priors, group, member)
        view = view.of_query(query_id)
    return _table_of_documents(view, parsed)


def _table_of_documents(view: View, measure: RelativeMeasure) -> pd.DataFrame:
    """Return the table of :func:`explain`; raise ValueError for a measure that is not a sum over documents."""
    contributions = measure.contributions(view)
    docs, top = view.documents, view.at(measure.depth, value_of(measure, "judged_only", False))
    if measure.RELATIVE_TO == "systems":
        seen_by = [i for i in range(len(view.names)) if i != view.member]
    else:
        seen_by = [int(i) for i in view.priors(measure.get("prior"))]
    if top.judged_only:
        place = top.positions(docs)
        found = np.flatnonzero(place > 0)
        rows = found[np.lexsort((place[found], docs.query[found]))]
        query, ids, grade = docs.query[rows], docs.ids.take(rows), docs.grade[rows]
        position, known = place[rows], np.ones(len(rows), dtype=bool)
        of_runs = top.positions_of_runs(docs)
        places = [of_runs[i][rows] for i in seen_by]
    else:
        listed, position, _, _ = top.top()
        query, ids, grade, known = listed.query, listed.ids, listed.grade, listed.judged
        places = [top.positions_in(view.members.rankings[i], listed) for i in seen_by]
    columns: dict[str, Any] = {
        "query_id": pd.Series(view.query_ids[query], dtype=str),
        "doc_id": pd.Series(ids.strings(), dtype=str),
        "relevance": _or_na(grade, known),
        "position": position,
    }
    for i, of_run in zip(seen_by, places, strict=True):
        columns[f"position in {view.names[i]}"] = _or_na(of_run, of_run > 0)
    # -1, the last row, stands for documents that contribute nothing.
    row = contributions.docs.rows_of(query, ids)
    columns["gain"] = np.append(contributions.gain, 0.0)[row]
    columns["contribution"] = np.append(contributions.contribution, 0.0)[row]
    for name, values in contributions.names.items():
        columns[name] = pd.Series(np.append(values, object_array([()]))[row], dtype=object)
    return pd.DataFrame(columns)


def _or_na(values: IntArray, known: BoolArray) -> Any:
    """The values where they are known, else NA."""
    column = pd.array(values, dtype="Int64")
    column[~known] = pd.NA
    return column


def relative_measure(measure: ir_measures.Measure | str) -> RelativeMeasure:
    """The measure; ValueError for one that is not of this package."""
    parsed = parse_measure(measure)
    if not isinstance(parsed, RelativeMeasure):
        raise ValueError(f"{parsed!r} is not relative to other runs; give a measure such as NRG@10")
    return parsed


# ---- aspects


def new_aspects(
    context: RunContext, qrels: Qrels | None, measure: ir_measures.Measure | str = NewAspects @ 10
) -> pd.DataFrame:
    """How many aspects each run adds to what its priors show.

    Args:
        context: the runs.
        qrels: judgments that name aspects.
        measure: NewAspects.

    Returns:
        a DataFrame with a row per run, those that add most first: ``name``; the measure; ``shown``: the aspects per
        query that the run shows, new or not; ``new documents``: per query, those that no prior has in its top.

    Raises:
        ValueError: another measure, or qrels that name no aspect.
    """
    check_is_context(context)
    parsed = relative_measure(measure)
    if not isinstance(parsed, type(NewAspects)):
        raise ValueError(f"measure={parsed!r} does not count aspects; give NewAspects@10")
    view = view_of(context, qrels)
    check_runs(view, [parsed])
    rows = [(name, *_means(view, parsed, name)) for name in view.names]
    table = pd.DataFrame(rows, columns=["name", str(parsed), "shown", "new documents"])
    return table.sort_values(str(parsed), ascending=False, kind="stable", ignore_index=True)


def _means(view: View, measure: OfAspects, name: str) -> tuple[float, float, float]:
    """Of one run, over the queries: new aspects, aspects, and new documents."""
    free = type(measure)(**{k: v for k, v in measure.params.items() if k != "prior"})
    evaluated, n = view.of(name), view.n_queries
    added, shown = float(measure.score(evaluated).mean()), float(free.score(view.of(name, priors=())).mean())
    read = evaluated.at(measure.depth)
    top = read.top()
    new = np.ones(len(top.position), dtype=bool)
    for i in read.priors(measure.get("prior")):
        row = read.rows_in_top(view.members.rankings[i])
        new[row[row >= 0]] = False
    return added, shown, int(new.sum()) / n
