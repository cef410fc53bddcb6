"""Judged topics that a run has no ranking for: find and explain them, count them as empty, drop or reject them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..arguments import check_choice
from ..data.arrays import IntArray, ObjectArray
from ..data.documents import Documents
from ..data.rankings import Rankings
from ..messages import few, warn
from .collection import Collection

if TYPE_CHECKING:
    import pandas as pd

#: What ``missing=`` takes: count missing topics as empty rankings, leave them out for all runs, or accept none.
MISSING = ("zero", "drop", "raise")
# Verbs that decide accept a run that misses at most one topic in so many.
_ONE_IN = 20
# How many runs, and topics of each, a message names.
_RUNS_NAMED, _TOPICS_NAMED = 3, 3
# After how many topics of one length a shorter last one is strange: of 150 runs in TREC's archive, none has one.
_MANY_TOPICS = 10
# What programs add to a whole number that they take for a fraction.
_FRACTION = re.compile(r"\.0+\Z")


class MissingTopics(NamedTuple):
    """Judged topics that a run has no ranking for."""

    name: str  #: the run
    topics: IntArray  #: the missing topics, as indices of the judged ones
    expected: int  #: how many judged topics it should rank: those that another run ranks, or all
    cause: str  #: the likely cause where no run ranks them; '' if another run does

    @property
    def is_tolerable(self) -> bool:
        """Whether a verb may decide: few topics are missing, or all runs miss them, which favours none."""
        return bool(self.cause) or _ONE_IN * len(self.topics) <= self.expected


def find_missing_topics(judged: Documents, runs: Mapping[str, Rankings]) -> list[MissingTopics]:
    """Return the runs that miss judged topics which another run ranks.

    A topic that a run was asked (:attr:`.Rankings.asked`) is not missing: its ranking is empty. Topics that no run
    ranks are usual, since judgments may cover more topics than anyone ran. They are missing only where ids, or the end
    of a run, show a mistake.
    """
    ranked, answered = np.zeros((2, len(runs), judged.n_queries), dtype=bool)
    for i, run in enumerate(runs.values()):
        code = judged.match_queries(run)
        ranked[i, code[code >= 0]] = True
        answered[i, [judged.query_code[q] for q in run.asked if q in judged.query_code]] = True
    answered |= ranked
    is_judged = np.diff(judged.starts) > 0 if len(judged) else np.ones(judged.n_queries, dtype=bool)
    elsewhere = (ranked.sum(axis=0) > ranked) & is_judged
    missing = elsewhere & ~answered
    entries = [
        MissingTopics(name, np.flatnonzero(missing[i]), int(np.count_nonzero(elsewhere[i])), "")
        for i, name in enumerate(runs)
        if missing[i].any()
    ]
    unranked = np.flatnonzero(is_judged & ~answered.any(axis=0))
    if len(unranked):
        ids, n = judged.query_ids[unranked], int(np.count_nonzero(is_judged))
        unmatched = set().union(*(run.query_ids for run in runs.values())).difference(judged.query_code)
        similar = find_similar_ids(ids, unmatched, "a run has")
        for name, run in runs.items():
            cause = _describe_similar_ids(judged, ids, run) if similar else ""
            cause = cause or _describe_early_end(run, ids, [judged.query_ids], only_within=True)
            if cause:
                entries.append(MissingTopics(name, unranked, n, cause))
    return entries


def check_topics(
    collection: Collection, names: Sequence[str], missing: str | None, *, relative: bool = False
) -> tuple[Collection, str]:
    """Return the collection to decide on, and a note on missing topics for the answer; '' if none is missing.

    All runs determine which topics are expected, but only runs in ``names`` are compared and may be rejected. With
    ``relative`` measures, the others draw a warning, since a prior without a ranking leaves all documents new.

    Raises:
        ValueError: a run of ``names`` misses more than one topic in twenty, or any with ``missing="raise"``, and
            ``missing`` is neither ``"zero"`` nor ``"drop"``; no topic is left with ``"drop"``.
    """
    if missing is not None:
        check_choice("missing", missing, MISSING)
    entries = find_missing_topics(collection.judgments, collection.runs)
    if relative and (not_compared := [entry for entry in entries if entry.name not in names]):
        described = _describe(collection, not_compared, collection.runs)
        warn(f"{described}; as priors or reference they have empty rankings there", collection.context)
    compared = [entry for entry in entries if entry.name in names]
    if missing not in ("zero", "drop"):
        rejected = [entry for entry in compared if missing == "raise" or not entry.is_tolerable]
        if rejected:
            raise ValueError(
                f"{_describe(collection, rejected, collection.runs)}: correct the run, or set missing='zero' to count "
                "these topics as empty rankings, or missing='drop' to leave them out for all runs"
            )
    warn_about_empty_runs(collection.runs.values(), collection.context)
    _warn_about_early_ends(collection.runs, entries, collection.context)
    if not compared:
        return collection, ""
    described = _describe(collection, compared, collection.runs)
    note = f"{described[0].upper()}{described[1:]}."
    if missing != "drop":
        return collection, f"{note} A missing topic counts as an empty ranking."
    keep = np.ones(collection.documents.n_queries, dtype=bool)
    keep[np.concatenate([entry.topics for entry in compared])] = False
    codes = (collection.judgments.match_queries(collection.runs[name]) for name in names)
    if not any(keep[code[code >= 0]].any() for code in codes):
        raise ValueError(f"{described}: missing='drop' leaves no topic; correct the runs")
    n = int(np.count_nonzero(~keep))
    left_out = "This topic is" if n == 1 else f"These {n} topics are"
    return collection.select_queries(keep), f"{note} {left_out} left out for all runs."


def note_missing_topics(table: pd.DataFrame, note: str, missing: str | None, context: object) -> pd.DataFrame:
    """Return the table with the note of :func:`check_topics` in its ``attrs``; warn, unless ``missing`` was set."""
    if note:
        table.attrs["missing_topics"] = note
        if missing not in ("zero", "drop"):
            warn(note, context, "missing topics")
    return table


def warn_about_missing_topics(collection: Collection, runs: Mapping[str, Rankings]) -> None:
    """Warn of runs without any ranking, and once of all that miss topics; not for a batch of topics."""
    warn_about_empty_runs(runs.values(), collection.context)
    entries = [e for e in find_missing_topics(collection.judgments, runs) if len(runs[e.name])]
    _warn_about_early_ends(runs, entries, collection.context)
    if entries:
        warn(
            f"{_describe(collection, entries, runs)}; a missing topic counts as an empty ranking: correct the run, or "
            "leave the topics out of the qrels",
            collection.context,
            "missing topics",
        )


def warn_about_empty_runs(runs: Iterable[Rankings], context: object) -> None:
    """Warn of runs without a row."""
    empty = [run.name for run in runs if not len(run)]
    if empty:
        holds, its = ("holds", "its") if len(empty) == 1 else ("hold", "their")
        warn(
            f"{few(empty, 3)} {holds} no ranking; all of {its} rankings count as empty: check how it was written",
            context,
        )


def _warn_about_early_ends(
    runs: Mapping[str, Rankings], entries: Iterable[MissingTopics], context: object
) -> None:
    """Warn of files that end within their last topic, of runs without missing topics, which would tell it."""
    told = {entry.name for entry in entries}
    for name, run in runs.items():
        if run.tag is None or name in told or not len(run):  # no file of TREC
            continue
        sizes = run.lengths
        is_short = len(sizes) > _MANY_TOPICS and sizes[-1] < sizes[0] and bool((sizes[:-1] == sizes[0]).all())
        if is_short or run.ends_within_row:
            end = _describe_end_within_topic(run)
            warn(f"{run.name}: {end}; if rows are missing, write or copy it again", context)


def warn_about_similar_ids(collection: Collection, runs: Iterable[Rankings]) -> None:
    """Warn of a run some of whose topics are judged, while others differ from judged ones in form alone."""
    judged = collection.judgments
    for run in runs:
        code = judged.match_queries(run)
        matched = code >= 0
        n = int(np.count_nonzero(matched))
        if n == judged.n_queries or matched.all():
            continue
        if similar := _describe_similar_ids(judged, np.delete(judged.query_ids, code[matched]), run):
            ranks = f"{run.name} ranks {n} of the {judged.n_queries} judged topics"
            warn(f"{ranks}; {similar}: write the ids alike", collection.context)


def _describe(collection: Collection, entries: Sequence[MissingTopics], runs: Mapping[str, Rankings]) -> str:
    """Return the part of a message that names the runs, their missing topics, and the likely cause."""
    judgments, query_ids = collection.judgments, collection.documents.query_ids
    judged = "judged topics" if len(judgments) else "topics"
    parts = []
    for name, topics, expected, cause in entries[:_RUNS_NAMED]:
        ids, run = query_ids[topics], runs[name]
        share = f"{len(ids)} of the {expected} {judged}"
        if not cause:
            share += " that other runs rank"
            orders = [other.query_ids for other in runs.values() if other is not run]
            cause = _describe_similar_ids(judgments, ids, run)
            cause = cause or _describe_early_end(run, ids, [*orders, query_ids])
        listed = few(map(repr, ids), _TOPICS_NAMED) + (f"; {cause}" if cause else "")
        parts.append(f"run {name!r} has no ranking for {share} ({listed})")
    more = len(entries) - _RUNS_NAMED
    return "; ".join(parts) + (f"; and {more} more" if more > 0 else "")


def _describe_similar_ids(judged: Documents, missing: ObjectArray, run: Rankings) -> str:
    return find_similar_ids(missing, run.query_ids[judged.match_queries(run) < 0], "the run has")


def find_similar_ids(missing: Iterable[str], unmatched: Iterable[str], source: str) -> str:
    """Return a message on unmatched ids that differ from ids of the qrels in form alone; '' for none.

    Form is leading zeros, case, a final ``.0`` and blanks.
    """
    by_form = {_without_form(q): q for q in missing}
    pairs = [(q, by_form[form]) for q in unmatched if (form := _without_form(q)) in by_form]
    if not pairs:
        return ""
    in_run, in_qrels = pairs[0]
    differ = "differs" if len(pairs) == 1 else "differ"
    return (
        f"{len(pairs)} of these ids {differ} in leading zeros, case, '.0' or blanks alone: {source} {in_run!r}, the "
        f"qrels {in_qrels!r}"
    )


def _without_form(query_id: str) -> str:
    return _FRACTION.sub("", query_id.strip().casefold()).lstrip("0")


def _describe_early_end(
    run: Rankings, missing: ObjectArray, orders: Sequence[ObjectArray], only_within: bool = False
) -> str:
    """Return where a run ends too early: the missing topics come last in the order of another run, or of the qrels.

    With ``only_within``, no end but one within a topic is described.
    """
    if not len(run):
        return ""
    within = _describe_end_within_topic(run)
    if only_within and not within:
        return ""
    if not run.ends_within_row and not any(_come_last(missing, run.query_ids, order) for order in orders):
        return ""
    return within or f"the file ends with topic {run.query_ids[-1]!r}"


def _describe_end_within_topic(run: Rankings) -> str:
    """Return how a run ends within its last topic; '' if it does not.

    The last topic counts as cut if it has fewer rows than the others, which all have the same number, or less than half
    of the usual number.
    """
    last, sizes = run.query_ids[-1], run.lengths
    earlier, row = sizes[:-1], ", in the middle of a row" if run.ends_within_row else ""
    # The length of a single earlier topic says nothing about the usual length.
    usual = float(np.median(earlier)) if len(earlier) > 1 else 0.0
    if not row and sizes[-1] >= (usual if (earlier == usual).all() else usual / 2):
        return ""
    rows = f"{sizes[-1]} row{'' if sizes[-1] == 1 else 's'}"
    instead = f", {rows} where its other topics have {usual:g}" if usual > sizes[-1] else ""
    return f"the file ends within topic {last!r}{row}{instead}"


def _come_last(missing: ObjectArray, ranked: ObjectArray, order: ObjectArray) -> bool:
    """Return whether the missing topics follow all ranked ones in an order that has the last ranked one."""
    place = {q: i for i, q in enumerate(order)}
    later = [place[q] for q in missing if q in place]
    earlier = [place[q] for q in ranked if q in place]
    return ranked[-1] in place and bool(later) and max(earlier) < min(later)
