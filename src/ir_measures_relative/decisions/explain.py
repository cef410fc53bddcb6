"""What a run adds, document by document; and in aspects (nuggets)."""

from __future__ import annotations

from typing import Any

import ir_measures
import numpy as np
import pandas as pd

from ..context.checks import check_evaluated, check_runs, resolve_group
from ..context.collection import Collection, judged_collection
from ..context.evaluated import Evaluated
from ..context.measure_strings import parse_measure
from ..context.run_context import RunContext, check_is_context
from ..data.arrays import BoolArray, IntArray, object_array
from ..data.cut_rankings import check_whole_to
from ..further_measures.alpha_nrg import NewAspects, OfAspects
from ..further_measures.rbo import rows_in_top
from ..io.qrels import Qrels
from ..io.runs import Run
from ..measures.measure import RelativeMeasure
from ..messages import few_quoted, some


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
        measure: NRG, UniqueRel, alpha_NRG, NewAspects, P_Rareness, AP_Rareness, or one of your own with a form.
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
    collection = judged_collection(context, qrels)
    if member is None:
        group = resolve_group(collection, rankings, group)
    judged = collection.documents
    if query_id is not None and query_id not in judged.query_code:
        raise ValueError(f"query_id={query_id!r} is not in the qrels, which have {some(judged.query_ids)}")
    check_runs(collection, [parsed])
    evaluated = Evaluated.of(collection, rankings, group=group, name=member)
    check_evaluated([evaluated], [parsed])
    if query_id is not None:  # of all queries only the policy, which chooses the priors, may need to know
        priors = None
        if parsed.RELATIVE_TO == "priors":
            priors = [collection.names[i] for i in evaluated.priors(parsed.get("prior"))]
        one = collection.select_query(query_id)
        of_query = rankings.select_query(query_id) if member is None else one.runs[member]
        evaluated = Evaluated.of(one, of_query, priors, group=group, name=member)
    table = _table_of_documents(evaluated, parsed)
    table.attrs |= {"measure": str(parsed), "run": member or rankings.tag or "the new run"}
    return table


def _table_of_documents(run: Evaluated, measure: RelativeMeasure) -> pd.DataFrame:
    """Return the table of :func:`explain`; raise ValueError for a measure that is not a sum over documents."""
    contributions = measure.contributions(run)
    collection, look = run.collection, measure.look
    docs, names = collection.documents, collection.names
    if measure.RELATIVE_TO == "systems":
        seen_by = np.array([i for i in range(len(names)) if i != run.index], dtype=np.int64)
    else:
        seen_by = run.priors(measure.get("prior"))
    if look.judged_only:
        place = run.positions(docs, look)
        found = np.flatnonzero(place > 0)
        rows = found[np.lexsort((place[found], docs.query[found]))]
        query, ids, grade = docs.query[rows], docs.ids.take(rows), docs.grade[rows]
        position, known = place[rows], np.ones(len(rows), dtype=bool)
        places = list(collection.positions(docs, look, of=seen_by)[:, rows])
    else:
        listed, position, _, _ = run.top(look.depth)
        query, ids, grade, known = listed.query, listed.ids, listed.grade, listed.judged
        check_whole_to(map(collection.rankings.__getitem__, seen_by), look.depth)
        places = [listed.positions_in(collection.rankings[i], look.depth) for i in seen_by]
    columns: dict[str, Any] = {
        "query_id": pd.Series(docs.query_ids[query], dtype=str),
        "doc_id": pd.Series(ids.strings(), dtype=str),
        "relevance": _or_na(grade, known),
        "position": position,
    }
    for i, of_run in zip(seen_by, places, strict=True):
        columns[f"position in {names[i]}"] = _or_na(of_run, of_run > 0)
    # -1, the last row, stands for documents that contribute nothing.
    row = contributions.docs.find_rows(query, ids)
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
    collection = judged_collection(context, qrels)
    check_runs(collection, [parsed])
    rows = [(name, *_means(collection, parsed, name)) for name in collection.names]
    table = pd.DataFrame(rows, columns=["name", str(parsed), "shown", "new documents"])
    return table.sort_values(str(parsed), ascending=False, kind="stable", ignore_index=True)


def _means(collection: Collection, measure: OfAspects, name: str) -> tuple[float, float, float]:
    """Of one run, over the queries: new aspects, aspects, and new documents."""
    free = type(measure)(**{k: v for k, v in measure.params.items() if k != "prior"})
    run, on_its_own = Evaluated.of(collection, name), Evaluated.of(collection, name, priors=())
    added, shown = float(measure.score(run).mean()), float(free.score(on_its_own).mean())
    new = np.ones(len(run.top(measure.look.depth).position), dtype=bool)
    for i in run.priors(measure.get("prior")):
        row = rows_in_top(run, collection.rankings[i], measure.look.depth)
        new[row[row >= 0]] = False
    return added, shown, int(new.sum()) / collection.documents.n_queries
