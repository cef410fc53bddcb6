"""What is checked of runs and judgments before anything is computed: their documents, topics and ids.

Topics that runs have no ranking for: which they are, why, what a verb does about them, and what it says.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import ir_measures
import numpy as np

from ..arguments import check_choice
from ..data.arrays import IntArray, ObjectArray
from ..data.documents import Documents, Judgments
from ..data.rankings import Rankings
from ..messages import few, warn
from .measure_strings import is_relative
from .priors import Members
from .view import View, some

if TYPE_CHECKING:
    import pandas as pd

T = TypeVar("T", bound="pd.DataFrame")

# How many queries, and rows of each, are looked at before all are: one is mostly enough, and takes no time.
QUERIES_AHEAD, ROWS_AHEAD = 8, 200
#: What ``missing=`` takes: count missing topics as empty rankings, leave them out for all runs, or accept none.
MISSING = ("zero", "drop", "raise")
# Verbs that decide accept a run that misses at most one topic in so many.
_ONE_IN = 20
# How many runs, and topics of each, a message names.
_RUNS_NAMED, _TOPICS_NAMED = 3, 3
# What programs add to a whole number that they take for a fraction.
_FRACTION = re.compile(r"\.0+\Z")


# ---- documents


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


# ---- topics


def check_queries(view: View, rankings: Rankings, *, may_be_batch: bool = False) -> None:
    """Raises ValueError where a run that holds queries shares none with the judgments.

    Where the run may be one batch of PyTerrier's, this is a warning if the context knows both ids.
    """
    docs = view.documents
    if not len(rankings) or not docs.n_queries or (docs.queries_of(rankings) >= 0).any():
        return
    known = {q for run in view.members.runs.values() for q in run.query_ids} if may_be_batch else set()
    message = (
        f"{rankings.name} has no query in common with the qrels: the run has {some(rankings.query_ids)}, "
        f"the qrels have {some(docs.query_ids)}"
    )
    if known.intersection(rankings.query_ids) and known.intersection(docs.query_ids):
        warn(message + "; its rankings count as empty: check the ids of both", view.members)
    else:
        own = set(rankings.query_ids.tolist())
        by_nugget = [q for q in docs.query_ids if q.rpartition("_")[0] in own]
        alike = find_similar_ids(docs.query_ids, rankings.query_ids, "the run has")
        remedy = "is one of them numbered differently, or for other topics?"
        if alike:
            remedy = f"{alike}: write the ids alike"
        if by_nugget:
            remedy = f"{by_nugget[0]!r} may be a nugget of a query: give judgments by query, the nugget in column two"
        raise ValueError(f"{message}; {remedy}")


class MissingTopics(NamedTuple):
    """Judged topics that a run has no ranking for."""

    name: str  #: the run
    topics: IntArray  #: the missing topics, as indices of the judged ones
    expected: int  #: of how many judged topics: those that another run ranks, or all
    cause: str  #: why no run ranks them, by their ids or where the run ends; nothing where another run ranks them

    @property
    def is_tolerable(self) -> bool:
        """Whether a verb may decide: few are missing, or all runs miss them, so that no run is worse for it."""
        return bool(self.cause) or _ONE_IN * len(self.topics) <= self.expected


def find_missing_topics(judged: Documents, runs: Mapping[str, Rankings]) -> list[MissingTopics]:
    """Return for each run the judged topics that it misses and another run ranks; nothing for a run that misses none.

    A topic that a run is known to have been asked (:attr:`.Rankings.asked`) is answered, by an empty ranking. Topics
    that no run ranks are usual: judgments may be of more topics than anyone ran. They are missing where ids, or the end
    of a run, show that something went wrong.
    """
    ranked = np.zeros((len(runs), judged.n_queries), dtype=bool)
    for row, run in zip(ranked, runs.values(), strict=True):
        code = judged.queries_of(run)
        row[code[code >= 0]] = True
    answered = ranked
    if any(run.asked for run in runs.values()):
        answered = ranked.copy()
        for row, run in zip(answered, runs.values(), strict=True):
            row[[judged.query_code[q] for q in run.asked if q in judged.query_code]] = True
    is_judged = np.diff(judged.starts) > 0 if len(judged) else np.ones(judged.n_queries, dtype=bool)
    elsewhere = (ranked.sum(axis=0) > ranked) & is_judged
    missing = elsewhere & ~answered
    found = [
        MissingTopics(name, np.flatnonzero(missing[i]), int(np.count_nonzero(elsewhere[i])), "")
        for i, name in enumerate(runs)
        if missing[i].any()
    ]
    unranked = np.flatnonzero(is_judged & ~answered.any(axis=0))
    if len(unranked):
        ids, n = judged.query_ids[unranked], int(np.count_nonzero(is_judged))
        of_any = set().union(*(run.query_ids for run in runs.values())).difference(judged.query_code)
        similar = find_similar_ids(ids, of_any, "a run has")
        for name, run in runs.items():
            cause = _find_similar(judged, ids, run) if similar else ""
            cause = cause or _find_end(run, ids, [judged.query_ids], only_within=True)
            if cause:
                found.append(MissingTopics(name, unranked, n, cause))
    return found


def check_topics(
    view: View, names: Collection[str], missing: str | None, *, relative: bool = False
) -> tuple[View, str]:
    """Return the view to decide on, and what the answer must say of topics that are missing; often nothing.

    All runs of the view say which topics there are. Only those of ``names`` are compared, so only they are refused.
    The others do not change an absolute value. With ``relative`` measures they may: a prior without a ranking leaves
    all documents new. That is a warning, since the value is defined, and these runs win or lose nothing by it.

    Raises:
        ValueError: a run of ``names`` misses more than one topic in twenty, or any with ``missing="raise"``, and
            ``missing`` is neither ``"zero"`` nor ``"drop"``; no topic is left with ``"drop"``.
    """
    if missing is not None:
        check_choice("missing", missing, MISSING)
    every = find_missing_topics(view.judgments, view.runs)
    if relative and (others := [one for one in every if one.name not in names]):
        described = _describe(view, others, view.runs)
        warn(f"{described}; as priors or reference they have empty rankings there", view.members)
    compared = [one for one in every if one.name in names]
    if missing not in ("zero", "drop"):
        refused = [one for one in compared if missing == "raise" or not one.is_tolerable]
        if refused:
            raise ValueError(
                f"{_describe(view, refused, view.runs)}: correct the run, or set missing='zero' to count these topics "
                "as empty rankings, or missing='drop' to leave them out for all runs"
            )
    warn_of_empty_runs(view.runs.values(), view.members)
    if not compared:
        return view, ""
    described = _describe(view, compared, view.runs)
    if missing != "drop":
        return view, f"{described[0].upper()}{described[1:]}. A missing topic counts as an empty ranking."
    keep = np.ones(view.n_queries, dtype=bool)
    keep[np.concatenate([one.topics for one in compared])] = False
    codes = (view.judgments.queries_of(view.runs[name]) for name in names)
    if not any(keep[code[code >= 0]].any() for code in codes):
        raise ValueError(f"{described}: missing='drop' leaves no topic; correct the runs")
    n = int(np.count_nonzero(~keep))
    left_out = "This topic is" if n == 1 else f"These {n} topics are"
    return view.of_queries(keep), f"{described[0].upper()}{described[1:]}. {left_out} left out for all runs."


def tell_of_missing_topics(table: T, note: str, missing: str | None, context: Members) -> T:
    """Return a table whose ``attrs`` hold what :func:`check_topics` gave; warn of what nobody asked for."""
    if note:
        table.attrs["missing_topics"] = note
        if missing not in ("zero", "drop"):
            warn(note, context, "missing topics")
    return table


def warn_of_missing_topics(view: View, runs: Mapping[str, Rankings]) -> None:
    """Warn of runs without any ranking, and once of all others that miss topics.

    The hosts' evaluators do not call this: what they get may be one batch of topics.
    """
    warn_of_empty_runs(runs.values(), view.members)
    found = [one for one in find_missing_topics(view.judgments, runs) if len(runs[one.name])]
    if found:
        warn(
            f"{_describe(view, found, runs)}; a missing topic counts as an empty ranking: correct the run, or leave "
            "the topics out of the qrels",
            view.members,
            "missing topics",
        )


def warn_of_empty_runs(runs: Iterable[Rankings], context: Members) -> None:
    """Warn of runs without a row."""
    empty = [run.name for run in runs if not len(run)]
    if empty:
        holds, its = ("holds", "its") if len(empty) == 1 else ("hold", "their")
        warn(
            f"{few(empty, 3)} {holds} no ranking; all of {its} rankings count as empty: check how it was written",
            context,
        )


def warn_of_similar_ids(view: View, runs: Iterable[Rankings]) -> None:
    """Warn of a run whose topics and the judged ones agree in part, and of which others differ in form alone.

    This holds in a batch of topics too: an id that is in no other form among the judged ones is not missed.
    """
    judged = view.judgments
    for run in runs:
        code = judged.queries_of(run)
        matched = code >= 0
        n = int(np.count_nonzero(matched))
        if n == judged.n_queries or matched.all():
            continue
        if alike := _find_similar(judged, np.delete(judged.query_ids, code[matched]), run):
            said = (
                f"{run.name} ranks {n} of the {judged.n_queries} judged topics; {alike}: write the ids alike"
            )
            warn(said, view.members)


def _describe(view: View, found: Sequence[MissingTopics], runs: Mapping[str, Rankings]) -> str:
    """Which runs miss how many topics, the first of these, and why, as far as the runs tell."""
    judged = "judged topics" if len(view.judgments) else "topics"
    parts = []
    for name, topics, expected, cause in found[:_RUNS_NAMED]:
        ids, run = view.query_ids[topics], runs[name]
        of = f"{len(ids)} of the {expected} {judged}"
        if not cause:
            of += " that other runs rank"
            orders = [other.query_ids for other in runs.values() if other is not run]
            cause = _find_similar(view.judgments, ids, run) or _find_end(run, ids, [*orders, view.query_ids])
        listed = few(map(repr, ids), _TOPICS_NAMED) + (f"; {cause}" if cause else "")
        parts.append(f"run {name!r} has no ranking for {of} ({listed})")
    more = len(found) - _RUNS_NAMED
    return "; ".join(parts) + (f"; and {more} more runs miss topics" if more > 0 else "")


def _find_similar(judged: Documents, missing: ObjectArray, run: Rankings) -> str:
    return find_similar_ids(missing, run.query_ids[judged.queries_of(run) < 0], "the run has")


def find_similar_ids(missing: Iterable[str], unmatched: Iterable[str], source: str) -> str:
    """What to say where ids of the qrels that miss a partner, and ids without one in the qrels, differ in form alone.

    These are leading zeros, case, a final ``.0`` and blanks.
    """
    of_form = {_without_form(q): q for q in missing}
    pairs = [(q, of_form[form]) for q in unmatched if (form := _without_form(q)) in of_form]
    if not pairs:
        return ""
    own, other = pairs[0]
    differ = "differs" if len(pairs) == 1 else "differ"
    return (
        f"{len(pairs)} of these ids {differ} in leading zeros, case, '.0' or blanks alone: {source} {own!r}, the "
        f"qrels {other!r}"
    )


def _without_form(query_id: str) -> str:
    return _FRACTION.sub("", query_id.strip().casefold()).lstrip("0")


def _find_end(
    run: Rankings, missing: ObjectArray, orders: Sequence[ObjectArray], only_within: bool = False
) -> str:
    """Where a run ends too early: the missing topics come last in the order of another run, or of the qrels.

    Its last topic is cut where it has fewer rows than the others, which have equally many, or less than half as many;
    with ``only_within`` nothing else is told.
    """
    if not len(run):
        return ""
    last, sizes = run.query_ids[-1], np.diff(run.starts)
    others, row = sizes[:-1], ", in the middle of a row" if run.ends_within_row else ""
    usual = float(np.median(others)) if len(others) > 1 else 0.0  # one other topic tells nothing
    within = bool(row) or sizes[-1] < (usual if (others == usual).all() else usual / 2)
    if only_within and not within:
        return ""
    if not row and not any(_come_last(missing, run.query_ids, order) for order in orders):
        return ""
    if not within:
        return f"the file ends with topic {last!r}"
    rows = f"{sizes[-1]} row{'' if sizes[-1] == 1 else 's'}"
    instead = f", {rows} where its other topics have {usual:g}" if usual else ""
    return f"the file ends within topic {last!r}{row}{instead}"


def _come_last(missing: ObjectArray, own: ObjectArray, order: ObjectArray) -> bool:
    """Whether topics follow all those of a run in an order, which may lack some of both but the run's last one."""
    place = {q: i for i, q in enumerate(order)}
    later = [place[q] for q in missing if q in place]
    earlier = [place[q] for q in own if q in place]
    return own[-1] in place and bool(later) and max(earlier) < min(later)
