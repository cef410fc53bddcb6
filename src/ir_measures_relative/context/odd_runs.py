"""Runs that retrieve the query itself, whose scores do not order their documents, or with ids of another collection."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np

from ..data.arrays import IntArray
from ..data.documents import Documents, Judgments
from ..data.ids import Ids
from ..data.rankings import TIES_DEPTH, Rankings, has_many_ties, tie_key, ties_in_top
from ..messages import few, first_ids, warn

if TYPE_CHECKING:
    from .collection import Collection

T = TypeVar("T")

# Warn of a run that has the query itself at rank 1 to 3, on a fifth of its topics, and on three or more: where ids are
# the same by chance, as of topics 1 to 93 and documents 1 to 11429, this is rare.
_SELF_RANKS, _SELF_SHARE, _SELF_TOPICS = (1, 2, 3), 0.2, 3
# More than which share of adjacent documents must tie: in 32 bits alone, or in 64 as well where ranks order them.
# Counts and rounded scores tie on up to nine in ten, and these ties are the run's own.
_TIED_IN_32_BITS, _TIED_IN_64_BITS = 0.5, 0.95
_DOCS_SHOWN = 3  # by a message on ties


def warn_about_odd_runs(collection: Collection, runs: Sequence[Rankings]) -> None:
    """Warn once of runs that retrieve the query itself, and once of runs that ids order instead of scores."""
    _warn_about_self_retrieval(collection, runs)
    _warn_about_ties(collection, runs)


def find_self_retrieval(judged: Documents, run: Rankings) -> IntArray:
    """Return the topics (as indices of the run's) that rank a document with their own id high; none if they are few.

    A topic is left out if that document is judged relevant, since it is then an answer.
    """
    if len(run.query_ids) < _SELF_TOPICS:
        return np.empty(0, dtype=np.int64)
    code = judged.match_queries(run)
    topic_ids = Ids.of(run.query_ids)
    retrieves_self = np.zeros(len(code), dtype=bool)
    rows = run.starts[:-1, None] + np.arange(len(_SELF_RANKS))
    topics, ranks = np.nonzero(rows < run.starts[1:, None])
    is_self = run.ids_at(rows[topics, ranks]).equal(np.arange(len(topics)), topic_ids, topics)
    retrieves_self[topics[is_self]] = True
    topics = np.flatnonzero(retrieves_self & (code >= 0))
    enough = max(_SELF_TOPICS, _SELF_SHARE * np.count_nonzero(code >= 0))
    if len(topics) >= enough:
        row = judged.find_rows(code[topics], topic_ids.take(topics))
        topics = topics[~np.isin(row, np.flatnonzero(judged.grade > 0))]
    return topics if len(topics) >= enough else topics[:0]


def _warn_about_self_retrieval(collection: Collection, runs: Sequence[Rankings]) -> None:
    judged, odd = collection.judgments, []
    for run in runs:
        find = partial(find_self_retrieval, judged, run)
        if len(topics := _find_once(collection, run, ("self-retrieval", run, judged), find)):
            odd.append((run, topics))
    if odd:
        run, topics = odd[0]
        also = f" (also {few(other.name for other, _ in odd[1:])})" if odd[1:] else ""
        n_topics = int(np.count_nonzero(judged.match_queries(run) >= 0))
        warn(
            f"{run.name}{also} retrieves the query itself in its top {len(_SELF_RANKS)} on {len(topics)} of {n_topics} "
            f"topics, such as {run.query_ids[topics[0]]!r}, where it is not judged relevant; set drop_self=True to "
            "remove it, as BEIR does",
            collection.context,
            "the query itself",
        )


class Ties(NamedTuple):
    """The effect of ties on the first documents of a run."""

    share: float  #: of adjacent documents of the first ten that tie
    in_32_bits: bool  #: whether most of these have different scores, which 32-bit floats make equal
    query_id: str  #: a topic whose order the ties change
    by_id: list[str]  #: its first documents as trec_eval orders them, from where the orders differ
    by_run: list[str]  #: by the ranks of the run, or by its scores in 64 bits where it has none


def find_ties(run: Rankings) -> Ties | None:
    """Return the ties that make ids, and not the run, order its first documents; None where they do not matter.

    They matter where 32-bit floats make most of adjacent scores equal, or where nearly all scores are, and the ranks of
    the run, or else its scores in 64 bits, have another order. Otherwise ties are the run's own, or of duplicates, some
    of which differ by rounding.
    """
    if not has_many_ties(run):
        return None
    rows, tied = ties_in_top(run)
    rounded = tied & (run.unrounded_scores(rows) != run.unrounded_scores(rows - 1))
    in_32_bits = bool(rounded.mean() > _TIED_IN_32_BITS)
    if not in_32_bits and (run.ranks is None or tied.mean() <= _TIED_IN_64_BITS):
        return None
    decided_by_id = rows[tied if run.ranks is not None else rounded]
    topics = np.unique(np.searchsorted(run.starts, decided_by_id, side="right") - 1)
    for query_id in run.query_ids[topics]:
        by_id, by_run = _first_in_both_orders(run.select_query(query_id))
        differing = [i for i, (a, b) in enumerate(zip(by_id, by_run, strict=True)) if a != b]
        if differing:
            shown = slice(differing[0], differing[0] + _DOCS_SHOWN)
            return Ties(float(tied.mean()), in_32_bits, query_id, by_id[shown], by_run[shown])
    return None


def _first_in_both_orders(ranking: Rankings) -> tuple[list[str], list[str]]:
    """Return the first documents of one query in trec_eval's order, and by the ranks, else the scores in 64 bits."""
    _, ids, scores = ranking.rows()
    end = int(np.count_nonzero(scores >= scores[min(TIES_DEPTH, len(scores)) - 1]))
    key, docs = tie_key(ranking, np.arange(end)).tolist(), ids.take(slice(0, end)).strings().tolist()
    order = sorted(range(end), key=lambda i: docs[i].encode(), reverse=True)  # trec_eval's order of ties
    order.sort(key=key.__getitem__)
    return ranking.top(TIES_DEPTH).doc_ids.tolist(), [docs[i] for i in order[:TIES_DEPTH]]


def _warn_about_ties(collection: Collection, runs: Sequence[Rankings]) -> None:
    odd = []
    for run in runs:
        if (ties := _find_once(collection, run, ("ties", run), partial(find_ties, run))) is not None:
            odd.append((run, ties))
    if odd:
        run, ties = odd[0]
        also = (
            f" (also {few(f'{other.name} ({its.share:.0%})' for other, its in odd[1:])})" if odd[1:] else ""
        )
        tie = "tie as 32-bit floats, which trec_eval compares" if ties.in_32_bits else "have equal scores"
        order = "its scores in 64 bits give" if run.ranks is None else "its ranks give"
        warn(
            f"{run.name}{also}: {ties.share:.0%} of adjacent documents in the top 10 {tie}, so their ids decide: query "
            f"{ties.query_id!r} is read as {ties.by_id}, and {order} {ties.by_run}; write scores as -rank",
            collection.context,
            "ties",
        )


def _find_once(collection: Collection, run: Rankings, key: Hashable, find: Callable[[], T]) -> T:
    """Return ``find()``, computed once for each run of the context."""
    if run not in collection.rankings:
        return find()
    return collection.memo.get(key, lambda: (find(),))[0]


# ---- ids of another version of the collection

# The share of the judged documents under which runs are strange, and the one from which a query leaves no doubt.
_FEW, _PLENTY = 0.01, 0.05
# How many judged documents, and how many retrieved ones, may have none in common by chance.
_LEAST = 20
# How many queries, and rows of each, are looked at before all are: one is mostly enough, and takes no time.
_QUERIES_AHEAD, _ROWS_AHEAD = 8, 200


def warn_about_strange_ids(
    collection: Collection, runs: Sequence[Rankings], *, together: bool = True
) -> None:
    """Warn where next to no judged document is in any of these runs ``together``, or none in one of them."""
    judgments = collection.judgments

    def find() -> tuple[bool, list[tuple[Rankings, str]]]:
        return _find_strange_runs(judgments, runs, together)

    all_strange, examples = collection.memoize("strange", find) if runs is collection.rankings else find()
    if not examples:
        return
    run, query_id = examples[0]
    docs = run.select_query(query_id).ids_at(slice(0, 4)).strings()
    shown = (
        f"for query {query_id!r} {run.name} has {first_ids(docs)}, the qrels have "
        f"{first_ids(judgments.doc_ids_of(query_id))}; check that both are of one version of"
    )
    if all_strange:
        few_judged = (
            f"under {_FEW:.0%} of the documents that are judged for the queries of the runs are in any run"
        )
        warn(f"{few_judged}, at any depth: {shown} the collection", collection.context)
        return
    names, rank = few((run.name for run, _ in examples), 3), "ranks" if len(examples) == 1 else "rank"
    warn(f"{names} {rank} no judged document: {shown} one collection", collection.context)


def _find_strange_runs(
    judgments: Judgments, runs: Sequence[Rankings], together: bool
) -> tuple[bool, list[tuple[Rankings, str]]]:
    """Return whether next to no judged document is in any run, and the strange runs, each with a topic to show."""
    judged = set(judgments.query_ids[np.diff(judgments.starts) > 0])
    topics = [(run, [query_id for query_id in run.query_ids if query_id in judged]) for run in runs]
    topics = [(run, query_ids) for run, query_ids in topics if query_ids]
    if topics and together and _rank_hardly_any(judgments, runs, topics):
        return True, [(topics[0][0], topics[0][1][0])]
    return False, [
        (run, query_ids[0])
        for run, query_ids in topics
        if not _ranks_judged_document(judgments, run, query_ids)
    ]


def _rank_hardly_any(
    judgments: Judgments, runs: Sequence[Rankings], topics: Sequence[tuple[Rankings, Sequence[str]]]
) -> bool:
    """Return whether runs, given with their judged ``topics``, rank next to no judged document together."""
    try:
        if _ranks_share_ahead(judgments, *topics[0], _PLENTY):
            return False
        common = np.concatenate(list(map(judgments.match_queries, runs)))
        n_judged = int(np.isin(judgments.query, common).sum())
        if min(n_judged, sum(map(len, runs))) < _LEAST or not len(judgments.relevant):
            return False
        ranked = np.unique(np.concatenate([_judged_rows(judgments, run) for run, _ in topics]))
    except ValueError:  # an id of another type, deeper than any measure looks
        return False
    # A short run holds few of many judged documents.
    return len(ranked) < _FEW * min(n_judged, max(map(len, runs)))


def _ranks_judged_document(judgments: Judgments, run: Rankings, query_ids: Sequence[str]) -> bool:
    """Return whether a run ranks a judged document of these topics; True where its ids cannot be read."""
    try:
        return _ranks_share_ahead(judgments, run, query_ids, 0.0) or bool(len(_judged_rows(judgments, run)))
    except ValueError:  # an id of another type, deeper than any measure looks
        return True


def _ranks_share_ahead(judgments: Judgments, run: Rankings, query_ids: Sequence[str], share: float) -> bool:
    """Return whether the first rows of one of the first rankings hold more than this share of its judged documents."""
    for query_id in query_ids[:_QUERIES_AHEAD]:
        judged = judgments.doc_ids_of(query_id).tolist()
        docs = run.select_query(query_id).ids_at(slice(0, _ROWS_AHEAD)).strings()
        if len(set(judged).intersection(docs)) > share * len(judged):
            return True
    return False


def _judged_rows(judgments: Judgments, run: Rankings) -> IntArray:
    """Return the rows of the judgments that a run ranks."""
    query, ids, _ = run.rows()
    row = judgments.find_rows(judgments.match_queries(run)[query], ids)
    return row[row >= 0]
