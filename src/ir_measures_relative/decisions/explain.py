"""The documents behind a run's score, and the aspects (nuggets) that a run adds."""

from __future__ import annotations

from typing import Any

import ir_measures
import numpy as np
import pandas as pd

from ..context.checks import check_evaluated, check_runs, check_whole_to, resolve_group
from ..context.collection import judged_collection
from ..context.evaluated import Evaluated
from ..context.measure_strings import parse_measure
from ..context.run_context import RunContext, check_is_context
from ..data.arrays import object_array
from ..further_measures.alpha_nrg import NewAspects
from ..further_measures.rbo import rows_in_top
from ..io.qrels import Qrels
from ..io.runs import Run
from ..measures.measure import RelativeMeasure
from ..messages import few_quoted, first_ids


def explain(
    context: RunContext,
    run: str | Run,
    qrels: Qrels | None,
    measure: ir_measures.Measure | str = "NRG(norm='ideal')@10",
    query_id: str | None = None,
    group: str | None = None,
) -> pd.DataFrame:
    """List the documents behind a run's score: a row per document of its top k, in the order of its rankings.

    Args:
        context: the other runs.
        run: the name of a run of the context; or a new run, as anything that a context takes but a path.
        qrels: the judgments.
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
    parsed = check_relative(measure)
    name = run if isinstance(run, str) else None
    if name is not None and name not in context.runs:
        raise ValueError(
            f"explain({run!r}): the context holds no such run; its runs are {few_quoted(context.names)}"
        )
    if name is not None and group is not None:
        raise ValueError(f"group={group!r} goes with a new run; {run!r} is a run of the context")
    rankings = context.read_run(run) if name is None else context.runs[name]
    collection = judged_collection(context, qrels)
    if name is None:
        group = resolve_group(collection, rankings, group, [parsed])
    judged = collection.documents
    if query_id is not None and query_id not in judged.query_code:
        raise ValueError(
            f"query_id={query_id!r} is not in the qrels, which have {first_ids(judged.query_ids)}"
        )
    check_runs(collection, [parsed])
    evaluated = Evaluated.of(collection, rankings, group=group, name=name)
    check_evaluated([evaluated], [parsed])
    table = _tabulate_documents(evaluated, parsed)
    if query_id is not None:
        table = table[table["query_id"] == query_id].reset_index(drop=True)
    table.attrs |= {"measure": str(parsed), "run": name or rankings.tag or "the new run"}
    return table


def _tabulate_documents(run: Evaluated, measure: RelativeMeasure) -> pd.DataFrame:
    """Return the table of :func:`explain`; raise ValueError for a measure that is not a sum over documents."""
    contributions = measure.contributions(run)
    collection, look = run.collection, measure.look
    docs, names = collection.documents, collection.names
    if measure.RELATIVE_TO == "systems":
        seen_by = np.array([i for i in range(len(names)) if i != run.index], dtype=np.int64)
    else:
        seen_by = run.priors(measure.get("prior"))
    if look.judged_only:
        position = run.positions(docs, look)
        rows = np.flatnonzero(position > 0)
        rows = rows[np.lexsort((position[rows], docs.query[rows]))]
        query, ids, grade, judged = docs.query[rows], docs.ids.take(rows), docs.grade[rows], docs.judged[rows]
        position = position[rows]
        positions = list(collection.positions(docs, look, of=seen_by)[:, rows])
    else:
        listed, position, _, _ = run.top(look.depth)
        check_whole_to(map(collection.rankings.__getitem__, seen_by), look.depth, str(measure))
        query, ids, grade, judged = listed.query, listed.ids, listed.grade, listed.judged
        positions = [listed.positions_in(collection.rankings[i], look.depth) for i in seen_by]
    columns: dict[str, Any] = {
        "query_id": pd.Series(docs.query_ids[query], dtype=str),
        "doc_id": pd.Series(ids.strings(), dtype=str),
        "relevance": pd.Series(grade, dtype="Int64").where(judged),
        "position": position,
    }
    for i, in_prior in zip(seen_by, positions, strict=True):
        columns[f"position in {names[i]}"] = pd.Series(in_prior, dtype="Int64").where(in_prior > 0)
    # -1, the last row, stands for documents that contribute nothing.
    row = contributions.docs.find_rows(query, ids)
    columns["gain"] = np.append(contributions.gain, 0.0)[row]
    columns["contribution"] = np.append(contributions.contribution, 0.0)[row]
    for name, values in contributions.names.items():
        columns[name] = pd.Series(np.append(values, object_array([()]))[row], dtype=object)
    return pd.DataFrame(columns)


def check_relative(measure: ir_measures.Measure | str) -> RelativeMeasure:
    """Return the measure; raise ValueError for one that is not of this package."""
    parsed = parse_measure(measure)
    if not isinstance(parsed, RelativeMeasure):
        raise ValueError(f"{parsed!r} is not relative to other runs; give a measure such as NRG@10")
    return parsed


# ---- aspects


def new_aspects(
    context: RunContext, qrels: Qrels | None, measure: ir_measures.Measure | str = NewAspects @ 10
) -> pd.DataFrame:
    """Count the aspects that each run adds to those of its priors.

    Args:
        context: the runs.
        qrels: judgments that name aspects.
        measure: NewAspects.

    Returns:
        a DataFrame with a row per run, those that add most first: ``name``; the measure; ``shown``: the aspects per
        query that the run retrieves, new or not; ``new documents``: per query, those that no prior has in its top.

    Raises:
        ValueError: another measure, or qrels that name no aspect.
    """
    check_is_context(context)
    parsed = check_relative(measure)
    if not isinstance(parsed, type(NewAspects)):
        raise ValueError(f"measure={parsed!r} does not count aspects; give NewAspects@10")
    collection = judged_collection(context, qrels)
    check_runs(collection, [parsed])
    free = type(parsed)(**{name: value for name, value in parsed.params.items() if name != "prior"})
    rows = []
    for name in collection.names:
        run, depth = Evaluated.of(collection, name), parsed.look.depth
        is_new = np.ones(len(run.top(depth).position), dtype=bool)
        for i in run.priors(parsed.get("prior")):
            row = rows_in_top(run, collection.rankings[i], depth)
            is_new[row[row >= 0]] = False
        shown = free.score(Evaluated.of(collection, name, priors=())).mean()
        rows.append((name, parsed.score(run).mean(), shown, is_new.sum() / collection.documents.n_queries))
    table = pd.DataFrame(rows, columns=["name", str(parsed), "shown", "new documents"])
    return table.sort_values(str(parsed), ascending=False, kind="stable", ignore_index=True)
