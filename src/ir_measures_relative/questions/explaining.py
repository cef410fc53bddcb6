"""What a run adds, document by document."""

from __future__ import annotations

from typing import Any, NamedTuple

import ir_measures
import numpy as np
import pandas as pd

from ..arrays import BoolArray, FloatArray, IntArray
from ..comparison import Comparison, check_is_context, judged_context, some
from ..context import RunContext
from ..ids import Ids
from ..io.qrels import Qrels
from ..io.runs import Run, read_run
from ..judgments import Judgments
from ..measures.declaration import Change, RelativeMeasure
from ..measures.strings import parse_measure
from ..priors import group_of
from ..rankings import Rankings
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
        measure: NRG, UniqueRel, P_Rareness or AP_Rareness.
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
            raise ValueError(f"explain({run!r}): the context holds no such run; its runs are {context.names}")
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


def explained(comparison: Comparison, measure: RelativeMeasure) -> Explained:
    """:func:`explain`, as arrays.

    Raises:
        ValueError: a measure that is not a sum over documents.
    """
    docs, gain, contribution = measure.contributions(comparison)
    cutoff, judged_only = measure.get("cutoff"), measure.get("judged_only")
    judged, judgments = comparison.judged, comparison.judgments
    query, ids, position = _listed(comparison, cutoff, judged_only)
    row, judged_row = docs.rows_of(query, ids), judgments.rows_of(query, ids)
    seen_by = _seen_by(comparison, measure)
    if judged_only:  # all of them are judged
        of_runs = judged.positions_of_runs(judgments, cutoff, judged_only)
        places = [of_runs[i][judged_row] for i in seen_by]
    else:
        runs = [judged.context.runs[judged.names[i]] for i in seen_by]
        places = [_positions(judgments, run, query, ids, cutoff) for run in runs]
    return Explained(
        query,
        ids,
        position,
        judged_row >= 0,
        judgments.grade[judged_row],
        seen_by,
        places,
        np.where(row >= 0, gain[row] if len(gain) else 0.0, 0.0),
        np.where(row >= 0, contribution[row] if len(gain) else 0.0, 0.0),
    )


def _table_of_change(comparison: Comparison, measure: RelativeMeasure, change: Change) -> pd.DataFrame:
    """The documents at the top of two rankings: those of the second in its order, then those that went out."""
    judgments, (docs, gain, contribution) = comparison.judgments, change.contributions
    after, before = (_top(judgments, ranking, change.cutoff) for ranking in (change.after, change.before))
    gone = _positions(judgments, change.after, *before[:2], change.cutoff) == 0
    query = np.concatenate([after[0], before[0][gone]])
    ids = after[1].followed_by(before[1].take(gone))
    order = np.argsort(query, kind="stable")
    query, ids = query[order], ids.take(order)
    row, judged_row = docs.rows_of(query, ids), judgments.rows_of(query, ids)
    columns: dict[str, Any] = {
        "query_id": pd.Series(judgments.query_ids[query], dtype=str),
        "doc_id": pd.Series(ids.strings(), dtype=str),
        "relevance": _or_na(judgments.grade[judged_row], judged_row >= 0),
    }
    rankings = {"position": change.after, "position before": change.before}
    of_runs = {f"position in {comparison.member or 'the run'}": comparison.rankings}
    for i in _seen_by(comparison, measure):
        name = comparison.judged.names[i]
        of_runs[f"position in {name}"] = comparison.context.runs[name]
    for column, ranking in (rankings | of_runs).items():
        places = _positions(judgments, ranking, query, ids, change.cutoff if column in rankings else None)
        columns[column] = _or_na(places, places > 0)
    columns["gain"] = np.where(row >= 0, gain[row] if len(gain) else 0.0, 0.0)
    columns["contribution"] = np.where(row >= 0, contribution[row] if len(gain) else 0.0, 0.0)
    return pd.DataFrame(columns)


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


def _listed(comparison: Comparison, cutoff: int | None, judged_only: bool) -> tuple[IntArray, Ids, IntArray]:
    """The top documents of the evaluated run, in its order: the query and the id of each, and its position."""
    judgments = comparison.judgments
    if judged_only:
        place = comparison.positions(judgments, cutoff, judged_only)
        found = np.flatnonzero(place > 0)
        order = found[np.lexsort((place[found], judgments.query[found]))]
        return judgments.query[order], judgments.ids.take(order), place[order]
    return _top(judgments, comparison.rankings, cutoff)


def _top(judgments: Judgments, rankings: Rankings, cutoff: int | None) -> tuple[IntArray, Ids, IntArray]:
    """The top documents of some rankings, in their order: the judged query and the id of each, and its position."""
    top = rankings.top(cutoff)
    index = judgments.queries_of(rankings)[top.query]
    rows = np.flatnonzero(index >= 0)
    rows = rows[np.argsort(index[rows], kind="stable")]
    return index[rows], top.ids.take(rows), top.position[rows]


def _positions(
    judgments: Judgments, rankings: Rankings, query: IntArray, ids: Ids, cutoff: int | None
) -> IntArray:
    """Where a run ranks some documents, judged or not."""
    order = np.argsort(query, kind="stable")
    listed = Judgments(
        judgments.query_ids, query[order], ids.take(order), np.zeros(len(query), dtype=np.int64)
    )
    positions = np.empty(len(query), dtype=np.int64)
    positions[order] = listed.positions_in(rankings, cutoff)
    return positions


def _seen_by(comparison: Comparison, measure: RelativeMeasure) -> list[int]:
    """The runs that the measure compares with: its priors, or all other systems."""
    if measure.RELATIVE_TO == "systems":
        return [i for i, name in enumerate(comparison.judged.names) if name != comparison.member]
    return [int(i) for i in comparison.priors(measure.get("prior"))]


def relative_measure(measure: ir_measures.Measure | str) -> RelativeMeasure:
    """The measure, which must be one of this package's.

    Raises:
        ValueError: it is not; or what :func:`parse_measure` objects to.
    """
    parsed = parse_measure(measure)
    if not isinstance(parsed, RelativeMeasure):
        raise ValueError(
            f"{parsed!r} is not relative to other runs; give a measure of this package, such as NRG@10"
        )
    return parsed
