"""What a run adds, document by document."""

from __future__ import annotations

from typing import Any, NamedTuple

import ir_measures
import numpy as np
import pandas as pd

from ..arrays import BoolArray, FloatArray, IntArray, ObjectArray, object_array
from ..comparison import Comparison, check_is_context, judged_context, some
from ..context import RunContext
from ..ids import Ids
from ..io.qrels import Qrels
from ..io.runs import Run, read_run
from ..judgments import Judgments
from ..measures.declaration import Change, Contributions, RelativeMeasure
from ..measures.parameters import value_of
from ..measures.strings import parse_measure
from ..messages import few_quoted
from ..priors import group_of
from ..scoring import check_campaign


def explain(
    context: RunContext,
    run: str | Run,
    qrels: Qrels | None,
    measure: ir_measures.Measure | str = "NRG@10",
    query_id: str | None = None,
    group: str | None = None,
) -> pd.DataFrame:
    """The documents behind a run's score.

    Args:
        context: the runs that it is relative to.
        run: the name of a member; or a newcomer, as anything that a context takes but a path.
        qrels: the judgments, as for :meth:`RunContext.evaluate`.
        measure: NRG, UniqueRel, alpha_NRG, NewAspects, P_Rareness or AP_Rareness; or FusionGain, of which the
            documents are those of the fused ranking, and those that the run drove out of it, with ``position before``.
        query_id: one query; all if not given.
        group: the group of a newcomer, as for :meth:`RunContext.evaluating`; else that of its column.

    Returns:
        a DataFrame with one row a document of the run's top k, in the order of its rankings, and the columns

        - ``query_id``, ``doc_id``
        - ``relevance``: NA where the document is not judged
        - ``position``: in the run, from 1
        - ``position in P`` for each prior P: NA outside its top k
        - ``gain``: the residual gain G(d|R) of NRG, or the weight of rareness
        - ``contribution``: to the score; the contributions of a query sum to its score
        - ``aspects``, ``new aspects``, by alpha_NRG and NewAspects: the names of those that the document answers, as a
          tuple; and of those that neither the documents above it nor any prior's top k show

    Raises:
        ValueError: no such member or query, or a measure that is not a sum over documents.

    Example:
        >>> from ir_measures_relative import RunContext, explain
        >>> context = RunContext({"old": {"q": {"A": 2, "X": 1}}, "new": {"q": {"B": 2, "A": 1}}})
        >>> explain(context, "new", {"q": {"A": 1, "B": 1}}, "UniqueRel@2")
          query_id doc_id  relevance  position  position in old  gain  contribution
        0        q      B          1         1             <NA>   1.0           1.0
        1        q      A          1         2                1   0.0           0.0
    """
    check_is_context(context)
    parsed = relative_measure(measure)
    if isinstance(run, str):
        if run not in context.runs:
            raise ValueError(
                f"explain({run!r}): the context holds no such run; its runs are {few_quoted(context.names)}"
            )
        rankings, member = context.runs[run], run
        if group is not None:
            raise ValueError(
                f"group={group!r} goes with a newcomer; {run!r} is a run of the context, whose groups count"
            )
    else:
        rankings, member = read_run(run), None
        group = group_of(rankings, context, group)
    judged = judged_context(context, qrels)
    judgments = judged.judgments
    if query_id is not None and query_id not in judgments.query_code:
        raise ValueError(f"query_id={query_id!r} is not in the qrels, which have {some(judgments.query_ids)}")
    check_campaign(judged)
    comparison = Comparison(judged, rankings, member, group=group)
    if query_id is not None:  # of all queries only the policy, which chooses the priors, may need to know
        comparison = _of_query(comparison, parsed, query_id)
        judged, judgments = comparison.judged, comparison.judgments
    change = parsed.change(comparison)
    if change is not None:
        return _table_of_change(comparison, parsed, change)
    found = explained(comparison, parsed)
    columns: dict[str, Any] = {
        "query_id": pd.Series(judgments.query_ids[found.query], dtype=str),
        "doc_id": pd.Series(found.ids.strings(), dtype=str),
        "relevance": _or_na(found.grade, found.judged),
        "position": found.position,
    }
    for i, places in zip(found.seen_by, found.places, strict=True):
        columns[f"position in {judged.names[i]}"] = _or_na(places, places > 0)
    columns["gain"] = found.gain
    columns["contribution"] = found.contribution
    columns |= {name: pd.Series(values, dtype=object) for name, values in found.names.items()}
    return pd.DataFrame(columns)


class Explained(NamedTuple):
    """The documents at the top of a run, in the order of its rankings, and what each contributes to a measure."""

    query: IntArray  #: places among the judged queries
    ids: Ids
    position: IntArray
    judged: BoolArray
    grade: IntArray  #: of those that are judged
    seen_by: list[int]  #: the runs that the measure compares with
    places: list[IntArray]  #: for each of these the positions there; 0 outside its top k
    gain: FloatArray
    contribution: FloatArray
    names: dict[str, ObjectArray]  #: what else the measure says of each, such as its aspects


def explained(comparison: Comparison, measure: RelativeMeasure) -> Explained:
    """:func:`explain`, as arrays; ValueError for a measure that is not a sum over documents."""
    contributions = measure.contributions(comparison)
    cutoff, judged_only = measure.depth, value_of(measure, "judged_only", False)
    judged, judgments = comparison.judged, comparison.judgments
    if measure.RELATIVE_TO == "systems":
        seen_by = [i for i, name in enumerate(judged.names) if name != comparison.member]
    else:
        seen_by = [int(i) for i in comparison.priors(measure.get("prior"))]
    if judged_only:
        place = comparison.positions(judgments, cutoff, judged_only)
        found = np.flatnonzero(place > 0)
        rows = found[np.lexsort((place[found], judgments.query[found]))]
        query, ids, grade = judgments.query[rows], judgments.ids.take(rows), judgments.grade[rows]
        position, known = place[rows], np.ones(len(rows), dtype=bool)
        of_runs = judged.positions_of_runs(judgments, cutoff, judged_only)
        places = [of_runs[i][rows] for i in seen_by]
    else:
        listed, position, known, _, _ = judged.top(comparison.rankings, cutoff)
        query, ids, grade = listed.query, listed.ids, listed.grade
        others = [judged.context.runs[judged.names[i]] for i in seen_by]
        places = [judged.positions_in(run, listed, cutoff, False) for run in others]
    gain, contribution = _of_documents(contributions, query, ids)
    row = contributions.docs.rows_of(query, ids)
    names = {
        column: np.append(of_one, object_array([()]))[row] for column, of_one in contributions.names.items()
    }
    return Explained(query, ids, position, known, grade, seen_by, places, gain, contribution, names)


def _table_of_change(comparison: Comparison, measure: RelativeMeasure, change: Change) -> pd.DataFrame:
    """The documents at the top of two rankings: those of the second in its order, then those that went out."""
    judged = comparison.judged
    after, before = (judged.top(ranking, change.cutoff) for ranking in (change.after, change.before))
    gone = before.docs.positions_in(change.after, change.cutoff) == 0
    out = before.docs.select(gone)
    query = np.append(after.docs.query, out.query)
    order = np.argsort(query, kind="stable")
    query, grade = query[order], np.append(after.docs.grade, out.grade)[order]
    known = np.append(after.judged, before.judged[gone])[order]
    ids = after.docs.ids.followed_by(out.ids).take(order)
    listed = Judgments(judged.judgments.query_ids, query, ids, grade)
    columns: dict[str, Any] = {
        "query_id": pd.Series(listed.query_ids[query], dtype=str),
        "doc_id": pd.Series(listed.doc_ids, dtype=str),
        "relevance": _or_na(grade, known),
    }
    priors = [judged.names[i] for i in comparison.priors(measure.get("prior"))]
    runs = {comparison.member or "the run": comparison.rankings}
    runs |= {name: comparison.context.runs[name] for name in priors}
    rankings = {"position": (change.after, change.cutoff), "position before": (change.before, change.cutoff)}
    rankings |= {f"position in {name}": (run, None) for name, run in runs.items()}
    for column, (ranking, cutoff) in rankings.items():
        position = listed.positions_in(ranking, cutoff)
        columns[column] = _or_na(position, position > 0)
    columns["gain"], columns["contribution"] = _of_documents(change.contributions, query, ids)
    return pd.DataFrame(columns)


def _of_documents(contributions: Contributions, query: IntArray, ids: Ids) -> list[FloatArray]:
    """The gain and the contribution of each of some documents; 0 for those that have none."""
    docs, gain, contribution, _ = contributions
    row = docs.rows_of(query, ids)
    return [np.where(row >= 0, np.append(value, 0.0)[row], 0.0) for value in (gain, contribution)]


def _of_query(comparison: Comparison, measure: RelativeMeasure, query_id: str) -> Comparison:
    """The same run beside the same priors, for one query alone."""
    judged, member = comparison.judged, comparison.member
    priors = None
    if measure.RELATIVE_TO == "priors":
        priors = [judged.names[i] for i in comparison.priors(measure.get("prior"))]
    of_query = judged.of_query(query_id)
    rankings = comparison.rankings.of_query(query_id) if member is None else of_query.context.runs[member]
    return Comparison(of_query, rankings, member, priors)


def _or_na(values: IntArray, known: BoolArray) -> Any:
    """The values where they are known, else NA."""
    column = pd.array(values, dtype="Int64")
    column[~known] = pd.NA
    return column


def relative_measure(measure: ir_measures.Measure | str) -> RelativeMeasure:
    """The measure; ValueError for one that is not of this package."""
    parsed = parse_measure(measure)
    if not isinstance(parsed, RelativeMeasure):
        raise ValueError(
            f"{parsed!r} is not relative to other runs; give a measure of this package, such as NRG@10"
        )
    return parsed
