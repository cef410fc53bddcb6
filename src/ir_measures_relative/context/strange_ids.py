"""Runs that rank hardly a judged document: the ids may be of another version of the collection."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial

import numpy as np

from ..data.documents import Judgments
from ..data.rankings import Rankings
from ..messages import few, some, warn
from .collection import Collection

# The share of the judged documents under which runs are strange, and the one from which a query leaves no doubt.
_FEW, _PLENTY = 0.01, 0.05
# How many judged documents, and how many retrieved ones, may have none in common by chance.
_LEAST = 20
# How many queries, and rows of each, are looked at before all are: one is mostly enough, and takes no time.
_QUERIES_AHEAD, _ROWS_AHEAD = 8, 200


def warn_of_strange_ids(collection: Collection, runs: Sequence[Rankings], *, together: bool = True) -> None:
    """Warn where next to no judged document is in any of these runs ``together``, or none in one of them."""
    judgments = collection.judgments
    find = partial(_find_strange_ids, judgments, runs, together)
    strange, unjudged = collection.kept("strange", find) if runs is collection.rankings else find()
    if not unjudged:
        return
    run, query_id = unjudged[0]
    docs = run.of_query(query_id).rows()[1].take(slice(0, 4)).strings()
    shown = (
        f"for query {query_id!r} {run.name} has {some(docs)}, the qrels have "
        f"{some(judgments.of_query(query_id).doc_ids)}; check that both are of one version of"
    )
    if strange:
        few_judged = (
            f"under {_FEW:.0%} of the documents that are judged for the queries of the runs are in any run"
        )
        warn(f"{few_judged}, at any depth: {shown} the collection", collection.context)
        return
    names, rank = few((run.name for run, _ in unjudged), 3), "ranks" if len(unjudged) == 1 else "rank"
    warn(f"{names} {rank} no judged document: {shown} one collection", collection.context)


def _find_strange_ids(
    judgments: Judgments, runs: Sequence[Rankings], together: bool
) -> tuple[bool, list[tuple[Rankings, str]]]:
    """Return whether runs together rank few judged documents, and a run and a query to show; or those without any."""
    strange = _strange(judgments, runs) if together else None
    return (True, [strange]) if strange is not None else (False, _unjudged(judgments, runs))


def _unjudged(judgments: Judgments, runs: Iterable[Rankings]) -> list[tuple[Rankings, str]]:
    """The runs that share topics with the judgments, and no document, so that they score 0; and one of the topics."""
    found = []
    judged = set(judgments.query_ids[np.bincount(judgments.query, minlength=judgments.n_queries) > 0])
    for run in runs:
        topics = [query_id for query_id in run.query_ids if query_id in judged]
        if topics and not _ranks_judged_document(judgments, run, topics):
            found.append((run, topics[0]))
    return found


def _ranks_judged_document(judgments: Judgments, run: Rankings, topics: Sequence[str]) -> bool:
    """Return whether a run ranks a judged document of one of these topics, the judged ones that it has."""
    try:
        if any(_ranks_judged(judgments, run, query_id) for query_id in topics[:_QUERIES_AHEAD]):
            return True
        query, ids, _ = run.rows()
        return bool((judgments.rows_of(judgments.queries_of(run)[query], ids) >= 0).any())
    except ValueError:  # an id of another type, deeper than any measure looks
        return True


def _ranks_judged(judgments: Judgments, run: Rankings, query_id: str, share: float = 0.0) -> bool:
    """Return whether the first documents of a ranking hold more than a share of the judged ones of its query."""
    judged = judgments.of_query(query_id).ids.strings().tolist()
    docs = run.of_query(query_id).rows()[1].take(slice(0, _ROWS_AHEAD)).strings()
    return len(set(judged).intersection(docs)) > share * len(judged)


def _strange(judgments: Judgments, runs: Sequence[Rankings]) -> tuple[Rankings, str] | None:
    """A run and a query to show, of runs that hold few of the documents judged for their queries; else None."""
    few = [(run, q) for run in runs[:1] for q in run.query_ids[:_QUERIES_AHEAD] if q in judgments.query_code]
    held = np.zeros(len(judgments), dtype=bool)
    try:
        if any(_ranks_judged(judgments, run, query_id, _PLENTY) for run, query_id in few):
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
