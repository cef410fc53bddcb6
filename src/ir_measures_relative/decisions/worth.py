"""Decide on a candidate: keep the deployed runs, add it, or replace a run with it, at the same cost."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import ir_measures
import numpy as np
import pandas as pd

from ..context.checks import check_runs
from ..context.collection import Collection, judged_collection
from ..context.duplicates import rank_alike
from ..context.evaluated import Evaluated
from ..context.measure_strings import param_value
from ..context.missing_topics import check_topics
from ..context.run_context import RunContext
from ..data.arrays import IntArray
from ..data.rankings import known_depth
from ..further_measures.alpha_nrg import NewAspects
from ..io.qrels import Qrels
from ..io.runs import Run
from ..writing import escaped
from .answer import Decision
from .decide import Comparison, compare_options
from .options import (
    Combination,
    OptionLists,
    choose_deployed,
    find_candidate,
    interleaved,
    options_with_candidate,
    removals,
)
from .rule import AS_WELL, BETTER, RegretTest, Terms, compare_removals, number, read_terms
from .similarity import count_shared_documents
from .text import State, describe, describe_removals, join, name_option, nothing_gains

# Of more deployed runs, those are replaced and removed that overlap most with the candidate.
_MOST_REPLACED = 20
# How deep rankings are looked at where the measure has no cutoff.
_CUTOFF = 10


def worth(
    context: RunContext,
    qrels: Qrels | None,
    candidate: str | Run,
    deployed: str | Sequence[str] | None = None,
    by: ir_measures.Measure | str = "nDCG@10",
    margin: float | None = None,
    *,
    labels: str | None = None,
    llm_judgments: Qrels | None = None,
    combine: Combination | None = None,
    test: RegretTest | None = None,
    groups: Mapping[str, str] | None = None,
    missing: str | None = None,
) -> Decision:
    """Decide whether to keep the deployed runs, add the candidate, or replace a run with it, at the same cost.

    The options are *keep* (the deployed runs), *add* (these and the candidate, which comes last), *replace X* for
    each deployed run X (the others and the candidate), and beside several deployed runs *replace all* (the candidate).
    Of more than 20 deployed runs, X is one of the 20 that share most documents with the candidate. The verdict is that
    of :func:`decide`, which also has the other arguments, and the table.

    Args:
        context: the runs.
        qrels: the judgments.
        candidate: the name of a run of the context, or any other run: a dict, a DataFrame, the path of a file.
        deployed: names of the deployed runs, or globs; default: all other runs of the context.
        by: as for :func:`decide`, as are the arguments below.
        margin: the smallest difference that matters.
        labels: what unjudged documents are.
        llm_judgments: judgments by a language model.
        combine: how several runs become one list.
        test: how bounds are made.
        groups: from query id to a group of topics.
        missing: what to do with topics that a run has no ranking for.

    ``priors`` of the context are ignored. The relevance model learns from all of its runs, deployed or not.

    Returns:
        a :class:`Decision`. Beside several deployed runs, its ``as_well`` names those whose removal alone, without the
        candidate, loses at most ``margin`` against the choice (all at once). In its ``evidence``, ``"new"`` counts what
        the candidate retrieves that the deployed runs do not.

    Raises:
        ValueError: no deployed run, or the candidate among them; no judgments; what :func:`decide` raises.
    """
    terms = read_terms(context, by, margin, labels, combine, test, groups, llm_judgments)
    name, run, in_context = find_candidate(context, candidate)
    names = choose_deployed(context, deployed, name if in_context else None)
    if name in names:
        name = f"{name} (candidate)"
    collection = judged_collection(context, qrels)
    if not in_context:
        collection = replace(collection, runs={**collection.runs, name: run})
    check_runs(collection.select_runs([*names, name]), missing_topics=False)
    collection, note = check_topics(collection, [*names, name], missing)
    return decide_on_candidate(collection, names, name, terms, note)


def decide_on_candidate(
    collection: Collection, deployed: Sequence[str], candidate: str, terms: Terms, missing_topics: str = ""
) -> Decision:
    """Return the answer on a candidate, by the names of runs of the collection."""
    compared, removal_states, state = _compare_candidate(collection, deployed, candidate, terms)
    new = tabulate_new_documents(compared.scored.lists, deployed, candidate, terms.by)
    notes = [_describe_new_documents(new, deployed, candidate, terms.by)]
    if len(deployed) > 1 and (original := _find_copied_run(collection, deployed, candidate)) is not None:
        copied = _describe_copy(candidate, original)
        notes.insert(0, f"{copied}: added, it is a second vote for {escaped(original)}.")
    if removal_states and not state.is_settled:
        notes.insert(0, describe_removals(removal_states))
    as_well = tuple(x for x, removal in removal_states.items() if removal in (AS_WELL, BETTER))
    return compared.decision(
        *describe(state),
        as_well=as_well if removal_states else None,
        notes=notes,
        evidence={"new": new},
        settings={"candidate": candidate, "deployed": list(deployed)},
        missing_topics=escaped(missing_topics),
    )


def verdict_on_candidate(
    collection: Collection, deployed: Sequence[str], candidate: str, terms: Terms
) -> tuple[str, str]:
    """Return the headline and the reason of :func:`decide_on_candidate`, without its tables, which take as long."""
    *_, state = _compare_candidate(collection, deployed, candidate, terms)
    return describe(state)


def _compare_candidate(
    collection: Collection, deployed: Sequence[str], candidate: str, terms: Terms
) -> tuple[Comparison, dict[str, str], State]:
    """Return the options compared, how each removal of a deployed run compares with the choice, and their state."""
    replaced = _choose_runs_to_replace(collection, deployed, candidate, terms)
    options = options_with_candidate(deployed, candidate, replaced)
    compared = compare_options(collection, options, terms, removals(deployed, replaced), candidate)
    removal_states = _compare_removals(compared, replaced) if len(deployed) > 1 else {}
    original = _find_copied_run(collection, deployed, candidate) if len(deployed) == 1 else None
    state = compared.state(
        [name_option(option.name, deployed, candidate) for option in options],
        nothing_gains(deployed, candidate),
        removals=removal_states,
        copy="" if original is None else f"{_describe_copy(candidate, original)}.",
    )
    return compared, removal_states, state


def _describe_copy(candidate: str, original: str) -> str:
    return f"{escaped(candidate)} ranks every topic exactly as {escaped(original)} does"


def _find_copied_run(collection: Collection, deployed: Sequence[str], candidate: str) -> str | None:
    """Return the first deployed run that ranks every judged topic as the candidate does; None where none does."""

    def starts_alike(name: str, other: str) -> bool:
        return rank_alike(Evaluated.of(collection, name), other, partly=True)

    return next((x for x in deployed if starts_alike(candidate, x) and starts_alike(x, candidate)), None)


def _choose_runs_to_replace(
    collection: Collection, deployed: Sequence[str], candidate: str, terms: Terms
) -> list[str]:
    """Return the deployed runs that may be replaced, in their order: those that share most with the candidate."""
    if len(deployed) <= _MOST_REPLACED:
        return list(deployed)
    shared = count_shared_documents(collection, terms.by.params.get("cutoff"))[collection.index[candidate]]
    most_shared = sorted(deployed, key=lambda name: -shared[collection.index[name]])[:_MOST_REPLACED]
    return [name for name in deployed if name in most_shared]


def _compare_removals(compared: Comparison, names: Sequence[str]) -> dict[str, str]:
    """Return how the list without each of some deployed runs, and without the candidate, compares with the choice."""
    scored, choice, first = compared.scored, compared.choice, len(compared.scored.options)
    if compared.rulings.labels == "strict":
        removed = range(first, first + len(names))
        largest, smallest = scored.scores.extreme_differences([choice] * len(names), removed)
    else:
        largest = smallest = scored.values[choice] - scored.values[first:]
    loss, gain = (scored.terms.bound_differences(values) for values in (largest, -smallest))
    return dict(zip(names, compare_removals(loss, -gain, scored.terms.margin), strict=True))


# ---- what a candidate brings


def count_new_documents(
    lists: OptionLists, deployed: Sequence[str], candidate: str, k: int, rel: int
) -> IntArray:
    """Count the relevant documents in a candidate's top k that no deployed run has there, and those on the next page.

    With m new documents, the next page is the m documents that the deployed runs retrieve next below their top k, one
    of each run in turn; those in some deployed run's top k are skipped.

    Returns:
        the counts by topic, shape (2, topics).
    """
    collection, enough = lists.collection, k * (len(deployed) + 2)  # no document below is skipped or taken
    depth = known_depth([collection.runs[name] for name in (*deployed, candidate)], enough) or enough
    docs, rows_of_run = lists.rows_to(depth)
    *runs, new_run = (rows_of_run[collection.index[name]] for name in (*deployed, candidate))
    seen, new, next_page = np.zeros((3, len(docs)), dtype=bool)
    for topic in range(docs.n_queries):
        for run in runs:
            seen[run[topic][:k]] = True
        top = new_run[topic][:k]
        added = top[~seen[top]]
        new[added] = True
        below = (run[topic][k:depth] for run in runs)
        unseen = [rows[~seen[rows]].tolist() for rows in below]
        if depth < enough:
            for name, rows in zip(deployed, unseen, strict=True):
                short = collection.runs[name]
                if short.cut is not None and len(rows) < len(added) and not short.is_whole_to(enough):
                    raise short.cut.refuse(enough, f"what {short.name} has on its next page")
        next_page[list(itertools.islice(interleaved(unseen), len(added)))] = True
    rows = np.flatnonzero((new | next_page) & (docs.grade >= rel))
    rows = rows[collection.documents.find_rows(docs.query[rows], docs.ids.take(rows)) >= 0]  # the judged ones
    counts = [
        np.bincount(docs.query[rows[where[rows]]], minlength=docs.n_queries) for where in (new, next_page)
    ]
    return np.array(counts)


def tabulate_new_documents(
    lists: OptionLists, deployed: Sequence[str], candidate: str, by: ir_measures.Measure
) -> pd.DataFrame:
    """Return what a candidate retrieves that the deployed runs do not, per topic; the verdict does not depend on it.

    The rows: relevant documents that are new; those on the next page (:func:`count_new_documents`); and NewAspects@k
    where the judgments name aspects. The columns are ``what`` and ``mean``.
    """
    collection, k = lists.collection, param_value(by, "cutoff") or _CUTOFF
    rel = int(param_value(by, "rel", 1))
    means = count_new_documents(lists, deployed, candidate, k, rel).mean(axis=1).tolist()
    names = f"new relevant@{k}", f"next page@{k}"
    rows = [{"what": name, "mean": mean} for name, mean in zip(names, means, strict=True)]
    if collection.judgments.has_aspects:
        measure: Any = NewAspects @ k
        beside = Evaluated.of(collection, collection.runs[candidate], deployed)
        rows.append({"what": str(measure), "mean": float(measure.score(beside).mean())})
    return pd.DataFrame(rows)


def _describe_new_documents(
    table: pd.DataFrame, deployed: Sequence[str], candidate: str, by: ir_measures.Measure
) -> str:
    """Return the sentence on the documents of a candidate that the deployed runs do not retrieve."""
    new, page = map(number, table["mean"][:2])
    k = param_value(by, "cutoff") or _CUTOFF
    tops = f"the top {k} of {join(deployed)}" if len(deployed) == 1 else f"the top {k} of any deployed run"
    runs = join(deployed) if len(deployed) == 1 else "these runs"
    return (
        f"New documents: the top {k} of {escaped(candidate)} has {new} relevant ones per topic that are not in {tops}. "
        f"As many further documents of {runs} have {page}."
    )
