"""What is checked of runs and judgments before anything is computed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import ir_measures
import numpy as np

from ..data.documents import Judgments
from ..data.rankings import Rankings
from ..messages import few, warn
from .measure_strings import is_relative
from .view import View, some

# How many queries, and rows of each, are looked at before all are: one is mostly enough, and takes no time.
QUERIES_AHEAD, ROWS_AHEAD = 8, 200


def warn_of_unjudged_runs(view: View, runs: Iterable[Rankings]) -> None:
    """Warn of runs that share topics with the judgments, and no document: they score 0."""
    judgments, unjudged = view.judgments, list[tuple[Rankings, str]]()
    judged = set(judgments.query_ids[np.bincount(judgments.query, minlength=len(judgments.query_ids)) > 0])
    for run in runs:
        topics = [query_id for query_id in run.query_ids if query_id in judged]
        if topics and not _ranks_judged_document(judgments, run, topics):
            unjudged.append((run, topics[0]))
    if not unjudged:
        return
    run, query_id = unjudged[0]
    docs = run.of_query(query_id).rows()[1].take(slice(0, 4)).strings()
    names, rank = few((run.name for run, _ in unjudged), 3), "ranks" if len(unjudged) == 1 else "rank"
    warn(
        f"{names} {rank} no judged document: for query {query_id!r} {run.name} has {some(docs)}, the qrels have "
        f"{some(judgments.of_query(query_id).doc_ids)}; check that both are of one version of one collection",
        view.members,
    )


def _ranks_judged_document(judgments: Judgments, run: Rankings, topics: Sequence[str]) -> bool:
    """Return whether a run ranks a judged document of one of these topics, the judged ones that it has."""
    try:
        if any(ranks_judged(judgments, run, query_id) for query_id in topics[:QUERIES_AHEAD]):
            return True
        query, ids, _ = run.rows()
        return bool((judgments.rows_of(judgments.queries_of(run)[query], ids) >= 0).any())
    except ValueError:  # an id of another type, deeper than any measure looks
        return True


def ranks_judged(judgments: Judgments, run: Rankings, query_id: str, share: float = 0.0) -> bool:
    """Return whether the first documents of a ranking hold more than a share of the judged ones of its query."""
    judged = judgments.of_query(query_id).ids.strings().tolist()
    docs = run.of_query(query_id).rows()[1].take(slice(0, ROWS_AHEAD)).strings()
    return len(set(judged).intersection(docs)) > share * len(judged)


def warn_if_nothing_is_relevant(view: View, measures: Iterable[ir_measures.Measure]) -> None:
    """Warn of judgments of which none is of a relevant document, where measures need one."""
    needing = (measure for measure in measures if not is_relative(measure) or measure.JUDGMENTS == "needed")
    if any(needing) and len(view.judgments) and not len(view.judgments.relevant):
        warn(
            "no documents are judged relevant, so measures are 0 or undefined for every run; check the grades of the "
            "qrels, of which all are 0 or below",
            view.members,
        )
