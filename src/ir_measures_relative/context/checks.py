"""Checks before anything is computed: of runs, their ids and topics, and of what measures need.

A function ``check_…`` raises, and may warn; ``warn_about_…`` only warns.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import ir_measures
import numpy as np

from ..data.documents import NAME_NO_ASPECT
from ..data.rankings import Rankings
from ..messages import few, first_ids, warn
from .collection import Collection
from .duplicates import warn_about_duplicate
from .evaluated import Evaluated
from .measure_strings import is_relative, needs_subtopics
from .missing_topics import (
    find_similar_ids,
    warn_about_empty_runs,
    warn_about_missing_topics,
    warn_about_similar_ids,
)
from .odd_runs import warn_about_odd_runs, warn_about_strange_ids
from .priors import PriorPolicy, finder_for_new_runs

# ---- runs


def check_runs(
    collection: Collection,
    measures: Sequence[ir_measures.Measure] = (),
    new_runs: Mapping[str, Rankings] | None = None,
    *,
    missing_topics: bool = True,
) -> None:
    """Check the runs of a context, new runs, and the judgments that measures need.

    ``missing_topics=False`` skips the warning on topics that runs miss, such as after :func:`.check_topics`.
    """
    if not collection.documents.n_queries:
        raise ValueError("the qrels hold no judgment, so there is no query to score; give other qrels")
    runs = (*new_runs.values(), *collection.rankings) if new_runs else collection.rankings
    for run in runs:
        check_queries(collection, run)
    if missing_topics:
        warn_about_missing_topics(collection, {**(new_runs or {}), **collection.runs})
    _warn_if_nothing_is_relevant(collection, measures)
    warn_about_strange_ids(collection, runs)
    warn_about_odd_runs(collection, runs)
    check_measures(collection, measures)


def check_collection(
    collection: Collection, measures: Sequence[ir_measures.Measure], *, may_be_batch: bool
) -> None:
    """Check the runs of a context for an evaluator, whose judgments may be those of one batch of topics."""
    _warn_about_other_topics(collection, may_be_batch=may_be_batch)
    warn_about_similar_ids(collection, collection.rankings)
    check_measures(collection, measures)
    if not may_be_batch:
        _warn_if_nothing_is_relevant(collection, measures)
        warn_about_strange_ids(collection, collection.rankings)
        warn_about_odd_runs(collection, collection.rankings)


def check_queries(collection: Collection, run: Rankings, *, may_be_batch: bool = False) -> None:
    """Raise ValueError if a run with queries shares none with the judgments.

    If the run may be one of PyTerrier's batches, and the context has queries of both, warn instead.
    """
    docs = collection.documents
    if (docs.match_queries(run) >= 0).any() or not len(run) or not docs.n_queries:
        return
    message = (
        f"{run.name} has no query in common with the qrels: the run has {first_ids(run.query_ids)}, "
        f"the qrels have {first_ids(docs.query_ids)}"
    )
    in_context = {q for other in collection.rankings for q in other.query_ids} if may_be_batch else set()
    if in_context.intersection(run.query_ids) and in_context.intersection(docs.query_ids):
        warn(message + "; its rankings count as empty: check the ids of both", collection.context)
        return
    query_ids = set(run.query_ids.tolist())
    if nuggets := [q for q in docs.query_ids if q.rpartition("_")[0] in query_ids]:
        remedy = (
            f"{nuggets[0]!r} may be a nugget of a query: give judgments by query, the nugget in column two"
        )
    elif similar := find_similar_ids(docs.query_ids, run.query_ids, "the run has"):
        remedy = f"{similar}: write the ids alike"
    else:
        remedy = "is one of them numbered differently, or for other topics?"
    raise ValueError(f"{message}; {remedy}")


def _warn_about_other_topics(collection: Collection, *, may_be_batch: bool) -> None:
    """Warn of runs without a ranking, and of runs for other topics, unless the qrels may be a batch of PyTerrier's."""
    docs, runs = collection.documents, collection.rankings

    def find() -> tuple[list[Rankings], list[Rankings]]:
        unmatched = [run for run in runs if not (docs.match_queries(run) >= 0).any()]
        counts = Counter(q for run in (runs if unmatched else ()) for q in run.query_ids)
        unique = [run for run in unmatched if len(run) and all(counts[q] == 1 for q in run.query_ids)]
        return unmatched, unique

    unmatched, unique = collection.memoize("of other topics", find)
    warn_about_empty_runs(unmatched, collection.context)
    if unique and not may_be_batch:
        warn(
            f"{few(run.name for run in unique)} of the context {'has' if len(unique) == 1 else 'have'} no query in "
            f"common with the qrels: {unique[0].name} has {first_ids(unique[0].query_ids)}, the qrels have "
            f"{first_ids(docs.query_ids)}; check whether one of them is numbered differently",
            collection.context,
        )


# ---- groups of new runs


def check_group(group: Any, policy: PriorPolicy, groups: Mapping[str, str], context: object) -> None:
    """Raise ValueError if this is no name of a group; warn of a new group whose name resembles a known one."""
    if not isinstance(group, str) or not group:
        raise ValueError(f"group={group!r} must be the name of a group, such as 'CMU'")
    if finder_for_new_runs(policy) is None:
        raise ValueError(
            f"group={group!r}: the priors of this context do not go by groups; set priors=BestOfOtherGroups()"
        )
    in_context = sorted(set(groups.values()))
    if group not in in_context:
        import difflib

        lower = {name.lower().strip(): name for name in in_context}
        for close in difflib.get_close_matches(group.lower().strip(), lower, n=1, cutoff=0.8):
            hint = f"no run of the context is of this group; if {lower[close]!r} is meant, say so"
            warn(f"group={group!r}: {hint}", context)


def resolve_group(
    collection: Collection, run: Rankings, given: str | None, measures: Iterable[ir_measures.Measure]
) -> str | None:
    """Return the group of a new run, as given or its own; None if there is none, or the priors use none."""
    policy, group = collection.policy, given
    by_group = finder_for_new_runs(policy) is not None
    counts_groups = any(m.params.get("systems") == "groups" for m in measures)
    if group is None and run.group == "" and (by_group or counts_groups):
        effect = "every run of the context is a prior" if by_group else "it is a system of its own"
        warn(
            f"the run's column 'group' does not hold one name in all rows, so {effect}; give it one string"
            + (", or say evaluating(group=…)" if by_group else ""),
            collection.context,
        )
    elif group is None and by_group:
        group = run.group
    if group is not None:
        check_group(group, policy, collection.groups, collection.context)
    return group


# ---- judgments that measures need

# Warn of pools with a smaller share of documents that are not relevant; in TREC's pools at least 7 % are not.
_FEW_NON_RELEVANT = 0.05


def check_measures(collection: Collection, measures: Sequence[ir_measures.Measure]) -> None:
    """Check that the judgments are what measures need; warn where values may mislead."""
    warn_about_last_labels(collection, measures)
    for measure in filter(is_relative, measures):
        if measure.looks_at_aspects and collection.judgments.labels is None:
            raise ValueError(f"{measure} needs the aspects of documents, and {NAME_NO_ASPECT}")
        if measure.highest_grade is not None:
            check_grades(measure, collection.documents, measure.highest_grade)
        if measure.COUNTS:
            _warn_about_counts(collection, measure)
        if measure.RELATIVE_TO == "chance" and measure.get("pool") == "judged":
            _warn_about_pools(collection, measure)


def _warn_if_nothing_is_relevant(collection: Collection, measures: Iterable[ir_measures.Measure]) -> None:
    """Warn where no document is judged relevant, and a measure needs one."""
    judgments = collection.judgments
    needing = (m for m in measures if not is_relative(m) or m.JUDGMENTS == "needed")
    if len(judgments) and not len(judgments.relevant) and any(needing):
        warn(
            "no documents are judged relevant, so measures are 0 or undefined for every run; check the grades of the "
            "qrels, of which all are 0 or below",
            collection.context,
        )


def check_grades(measure: object, docs: Any, highest: int) -> None:
    """Raise ValueError for a grade above the highest."""
    grade = int(docs.grade.max(initial=0))
    if grade > highest:
        query = docs.query_ids[docs.query[int(docs.grade.argmax())]]
        raise ValueError(
            f"{measure}: the qrels hold the grade {grade}, of query {query!r}; max_grade, {highest} here, must be "
            f"at least that: write max_grade={grade}"
        )


def warn_about_last_labels(collection: Collection, measures: Sequence[ir_measures.Measure]) -> None:
    """Warn if documents have several labels, and measures that ignore aspects see only the last."""
    judgments = collection.judgments
    if not judgments.has_aspects:
        return
    unlike = collection.memoize("unlike labels", lambda: judgments.unlike_labels() or ())
    plain = [
        str(m)
        for m in measures
        if not (m.looks_at_aspects or m.JUDGMENTS == "ignored" if is_relative(m) else needs_subtopics(m))
    ]
    if plain and unlike:
        query_id, doc_id = unlike
        warn(
            f"the qrels judge documents for several aspects, and {', '.join(plain)} look at no aspects: they see the "
            f"last label of {doc_id!r} of query {query_id!r}; give them qrels with one label a document",
            collection.context,
        )


def _warn_about_counts(collection: Collection, measure: Any) -> None:
    """Warn of a measure that counts each label from 1 on alike, without ``rel``."""
    if "rel" in measure.params or measure.get("gains") is not None:
        return
    judgments = collection.judgments
    grade = (judgments.aspects if measure.looks_at_aspects else judgments.relevant).grade
    highest = int(grade.max(initial=0))
    if highest > 1:
        share = np.count_nonzero(grade == 1) / np.count_nonzero(grade >= 1)
        warn(
            f"{measure!r} counts each label from rel=1 on alike, and the qrels hold labels up to {highest} "
            f"({share:.0%} of those from 1 on are 1): set rel= to the grade that is relevant",
            collection.context,
            f"counts, {type(measure).__name__}",
        )


def _warn_about_pools(collection: Collection, measure: Any) -> None:
    """Warn of pools in which nearly all documents are relevant, so that a random ranking is as good as any."""
    docs, rel = collection.documents, max(int(measure.get("rel", 1)), 1)

    def find() -> tuple[int, float]:
        relevant = np.bincount(docs.query, weights=docs.grade >= rel, minlength=docs.n_queries)
        size = np.bincount(docs.query, minlength=docs.n_queries)
        few = (relevant > 0) & (size - relevant < _FEW_NON_RELEVANT * size)
        return int(few.sum()), float(1 - relevant[few].sum() / max(int(size[few].sum()), 1))

    count, share = collection.memoize(("pools", rel), find)
    if count:
        warn(
            f"UE is relative to a random ranking of the documents that are judged, and on {count} of "
            f"{docs.n_queries} topics nearly all of these are relevant ({share:.1%} are not): a random ranking is "
            "then nearly perfect; give pool='corpus' and the collection's size (num_docs=, or --num_docs)",
            collection.context,
            "UE, pools",
        )


# ---- runs that measures need

# The share of judged documents that a run must rank, and on how many topics it is estimated: whole rankings take time.
_HALF, _TOPICS_SAMPLED = 0.5, 10


def check_evaluated(runs: Sequence[Evaluated], measures: Sequence[ir_measures.Measure]) -> None:
    """Warn of runs whose values may mislead; each kind of warning once."""
    checks: list[Callable[[Sequence[Evaluated]], None]] = []
    for measure in measures:
        relative_to, params = getattr(measure, "RELATIVE_TO", None), measure.params
        if relative_to == "priors" and "prior" not in params:
            checks.append(_warn_about_no_priors)
        elif relative_to == "chance" and measure.get("pool") == "judged":
            checks.append(_warn_about_few_ranked)
    for check in dict.fromkeys(checks):
        check(runs)


def check_host_run(run: Evaluated, measures: Sequence[ir_measures.Measure], *, may_be_batch: bool) -> None:
    """Check a run that a host evaluates, which may be one batch of PyTerrier's."""
    collection = run.collection
    # The measure needs these positions anyway.
    if not run.positions(collection.documents.may_gain, measures[0].look).any():
        if not may_be_batch:
            warn_about_empty_runs([run.run], collection.context)
            warn_about_strange_ids(collection, [run.run], together=not collection.runs)
        check_queries(collection, run.run, may_be_batch=True)
    if not collection.documents.query_code.keys() >= set(run.run.query_ids.tolist()):
        warn_about_similar_ids(collection, [run.run])
    warn_about_duplicate(run, measures)
    check_evaluated([run], measures)
    if run.index is None:
        warn_about_odd_runs(collection, [run.run])


def _warn_about_no_priors(runs: Sequence[Evaluated]) -> None:
    """Warn of a context that holds only the evaluated run."""
    for run in runs:
        if run.collection.names == [run.name] and run.given_priors is None:
            only = f"the context holds no run but {run.name!r}, so it has no prior"
            warn(f"{only}; add the runs to compare with to the RunContext", run.collection.context)


def _warn_about_few_ranked(runs: Sequence[Evaluated]) -> None:
    """Warn of a run that ranks less than half of the judged documents of its topics."""
    for run in runs:
        if not run.run.is_whole_to(None):
            continue
        share = run.memo.get(("share ranked", run.run, run.collection.judgments), partial(_share_ranked, run))
        if 0 < share < _HALF:
            warn(
                f"the run ranks {share:.0%} of the judged documents, and UE is relative to random rankings of all of "
                "them; for a first-stage run, give pool='run', or pool='corpus' with num_docs=",
                run.collection.context,
                "UE, few ranked",
            )
            return


def _share_ranked(run: Evaluated) -> float:
    """Return the share of the judged documents that a run ranks, estimated from a few of its topics."""
    judgments = run.collection.judgments
    judged = np.unique(judgments.match_queries(run.run))
    judged = judged[judged >= 0]
    topics = judged[:: len(judged) // _TOPICS_SAMPLED + 1]
    keep = np.isin(np.arange(judgments.n_queries), topics)
    docs = run.collection.memoize(("topics", topics.tobytes()), partial(judgments.select_queries, keep))
    is_ranked = np.zeros(len(docs), dtype=bool)
    for query_id in docs.query_ids:
        top = run.run.select_query(query_id).by_score()
        row = docs.find_rows(np.full(len(top.query), docs.query_code[query_id]), top.ids, top.hashes)
        is_ranked[row[row >= 0]] = True
    return float(is_ranked.sum() / max(len(is_ranked), 1))


def check_whole_to(
    runs: Iterable[Rankings], depth: int | None, subject: str = "this", times: int = 1
) -> None:
    """Raise the error of :meth:`Cut.refuse` for the first run that is not complete to a depth."""
    for run in runs:
        if run.cut is not None and not run.is_whole_to(depth):
            raise run.cut.refuse(depth, subject, times)
