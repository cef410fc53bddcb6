"""Decide on a candidate: keep the deployed runs, add it, or replace a run with it, at the same cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import ir_measures
import numpy as np

from ..context.checks import check_runs
from ..context.collection import Collection, judged_collection
from ..context.missing_topics import check_topics
from ..context.run_context import RunContext
from ..io.qrels import Qrels
from ..io.runs import Run
from ..messages import escaped
from .answer import Decision
from .decide import Comparison, compare_options
from .evidence import describe_copy, describe_new_documents, new_documents
from .options import (
    Combination,
    Option,
    deployed_runs,
    find_candidate,
    find_copy,
    options_with_candidate,
    without,
)
from .rule import AS_WELL, BETTER, compare_removals
from .similarity import count_shared_documents
from .terms import RegretTest, Terms, read_terms
from .text import describe, name_option, nothing_gains, removal_sentence

# Of more deployed runs, those are replaced and removed that overlap most with the candidate.
_MOST_REPLACED = 20


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
        candidate: the name of a run of the context, or any other run: a dict, a DataFrame, the path of a file.
        deployed: names of the deployed runs, or globs; default: all other runs of the context.

    ``priors`` of the context are ignored. The relevance model learns from all of its runs, deployed or not.

    Returns:
        a :class:`Decision`. Beside several deployed runs, its ``as_well`` names those whose removal alone, without the
        candidate, loses at most ``margin`` against the choice (all at once). In its ``evidence``, ``"new"`` counts what
        the candidate retrieves that the deployed runs do not.

    Raises:
        ValueError: no deployed run, or the candidate among them; no judgments; what :func:`decide` raises.
    """
    terms = read_terms(context, by, margin, labels, combine, test, groups, llm_judgments)
    name, run, member = find_candidate(context, candidate)
    names = deployed_runs(context, deployed, member)
    if name in names:
        name = f"{name} (candidate)"
    whole = judged_collection(context, qrels)
    whole = whole if member == name else whole.with_runs({name: run})
    check_runs(whole.select_runs([*names, name]), missing_topics=False)
    whole, note = check_topics(whole, [*names, name], missing)
    return decide_on_candidate(whole, names, name, terms, note)


def decide_on_candidate(
    collection: Collection, deployed: Sequence[str], candidate: str, terms: Terms, missing_topics: str = ""
) -> Decision:
    """Return the answer on a candidate, by the names of runs of the collection."""
    replaced = _runs_to_replace(collection, deployed, candidate, terms)
    options = options_with_candidate(deployed, candidate, replaced)
    removals = (
        [Option(f"remove {name}", without(deployed, name)) for name in replaced] if len(deployed) > 1 else []
    )
    compared = compare_options(collection, options, terms, removals, candidate)
    states = _compare_removals(compared, replaced) if removals else None
    same = find_copy(collection, deployed, candidate)
    words = [name_option(option.name, deployed, candidate) for option in options]
    copied = describe_copy(candidate, same, len(deployed)) if same is not None else ""
    state = compared.state(
        words,
        nothing_gains(deployed, candidate),
        removals=states,
        copy=copied if len(deployed) == 1 else "",
    )
    headline, reason = describe(state)
    table = new_documents(compared.lists, deployed, candidate, terms.by)
    notes = [describe_new_documents(table, deployed, candidate, terms.by)]
    if copied and len(deployed) > 1:
        notes.insert(0, copied)
    if states and not state.short:
        notes.insert(0, removal_sentence(states))
    as_well = None if states is None else tuple(x for x, of in states.items() if of in (AS_WELL, BETTER))
    settings = {"candidate": candidate, "deployed": list(deployed)}
    return compared.decision(
        headline,
        reason,
        as_well=as_well,
        notes=notes,
        evidence={"new": table},
        settings=settings,
        missing_topics=escaped(missing_topics),
    )


def _runs_to_replace(
    collection: Collection, deployed: Sequence[str], candidate: str, terms: Terms
) -> list[str]:
    """Return the deployed runs that may be replaced, in their order: those that share most with the candidate."""
    if len(deployed) <= _MOST_REPLACED:
        return list(deployed)
    shared = count_shared_documents(collection, terms.by.params.get("cutoff"))[collection.index[candidate]]
    of_deployed = -np.array([shared[collection.index[name]] for name in deployed])
    most_shared = np.sort(np.argsort(of_deployed, kind="stable")[:_MOST_REPLACED])
    return [deployed[i] for i in most_shared.tolist()]


def _compare_removals(compared: Comparison, names: Sequence[str]) -> dict[str, str]:
    """Return how the list without each of some deployed runs, and without the candidate, compares with the choice."""
    terms, choice, first = compared.terms, compared.ruling.outcome.choice, len(compared.options)
    if compared.labels == "strict":
        largest, smallest = compared.scores.most([choice] * len(names), range(first, first + len(names)))
    else:
        largest = smallest = compared.values[choice] - compared.values[first:]
    loss, gain_of_removal = (terms.bound_differences(values) for values in (largest, -smallest))
    return dict(zip(names, compare_removals(loss, -gain_of_removal, terms.margin), strict=True))
