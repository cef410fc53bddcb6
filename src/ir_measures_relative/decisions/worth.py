"""Is a candidate worth it? Keep what is deployed, add the candidate, or replace a run with it, at the same cost."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import ir_measures

from ..context.checks import check_topics
from ..context.evaluate import check_runs
from ..context.priors import fitting
from ..context.run_context import RunContext
from ..context.view import check_is_context, view_of
from ..data.rankings import Rankings
from ..io.qrels import Qrels
from ..io.runs import Run, name_runs
from ..messages import few_quoted
from ..stats.paired_tests import PairedTestOptions
from ..work import Work
from . import decision_text, evidence
from .compared import CandidateCompared
from .decision import Decision
from .options import Settings, combination_of, deciding_measure

# What a candidate without a name is called.
_UNNAMED = "candidate"


def worth(
    context: RunContext,
    qrels: Qrels | None,
    candidate: str | Run,
    deployed: str | Sequence[str] | None = None,
    by: ir_measures.Measure | str = "nDCG@10",
    method: str = "rrf",
    margin: float = 0.0,
    *,
    k: int = 60,
    depth: int = 1000,
    rerank: Run | str | None = None,
    pool: int = 100,
    groups: Mapping[str, str] | None = None,
    confidence: float = 0.95,
    unretrieved_relevant: int | None = None,
    n: int = 20,
    resamples: int = 9999,
    seed: int = 0,
    time_limit: float | None = 10.0,
    missing: str | None = None,
) -> Decision:
    """Keep the deployed runs, add the candidate, or replace a run with it: which is best at the same cost?

    The options are *keep* (the deployed runs), *add* (these and the candidate, which comes last), and *replace X* for
    each deployed run X (the others and the candidate). With I(o) as for :func:`decide`, the verdict is the first of
    these that is true:

    - ``"keep"``: no upper end is above ``margin``; so for a candidate with the same rankings as a deployed run;
    - ``"open"``: no lower end is above ``margin``;
    - ``"add"``: the lower ends of I(add), and of *add* minus each *replace*, are above ``margin``;
    - ``"replace X"``: the lower end of I(replace X) is above ``margin``, and the upper end of *add* minus *replace X*
      is not. Of several, the one with the highest mean;
    - ``"add or replace"``: the candidate helps; whether to add it or to replace a run with it is open.

    Args:
        candidate: the name of a run of the context, or any other run: a dict, a DataFrame, the path of a file.
        deployed: names of the deployed runs, or globs; default: all other runs of the context.

    The other arguments, and the table, are those of :func:`decide`. ``priors`` of the context are ignored.

    Returns:
        a :class:`Decision`. In its ``evidence``, ``"why"`` counts what the candidate retrieves that the deployed runs
        do not; ``"instead"`` (of several deployed runs) is the gain with no run, or a second copy, in its place.

    Raises:
        ValueError: no deployed run, or the candidate among them; no judgments; what :func:`decide` raises.
    """
    check_is_context(context)
    work, measure = Work(time_limit=time_limit), deciding_measure(by)
    test = PairedTestOptions(confidence=confidence, resamples=resamples, seed=seed)
    how = combination_of(context, measure, method, k=k, depth=depth, rerank=rerank, pool=pool)
    settings = Settings(
        measure, how, test, unretrieved_relevant, margin=margin, groups=groups, n=n, work=work
    )
    name, run, member = candidate_of(context, candidate)
    names = deployed_runs(context, deployed, member)
    if name in names:
        name = f"{name} (candidate)"
    whole = view_of(context, qrels)
    whole = whole if member == name else whole.with_runs({name: run})
    check_runs(whole.of_runs([*names, name]), missing_topics=False)
    whole, note = check_topics(whole, [*names, name], missing)
    view = whole.of_runs([*names, name])
    compared = CandidateCompared(view, names, name, settings, whole)
    tables = {"why": evidence.of_candidate(compared)}
    if len(names) > 1 and compared.copy_of is None:
        tables["instead"] = evidence.instead_of_candidate(compared)
    return compared.decision(decision_text.of_worth, tables | evidence.tables_of(compared), note)


def candidate_of(context: RunContext, candidate: str | Run) -> tuple[str, Rankings, str | None]:
    """The candidate's name and rankings, and its name in the context, if it has one."""
    text = candidate if isinstance(candidate, str) else None
    same = next((n for n, run in context.runs.items() if run is candidate or n == text), None)
    if same is not None:
        return same, context.runs[same], same
    if text is not None and not Path(text).exists():
        raise ValueError(
            f"candidate={text!r} is neither a run of the context nor a file; its runs are {few_quoted(context.names)}"
        )
    run = context.read_run(candidate, "the candidate")
    name = run.tag or _UNNAMED
    if isinstance(candidate, (str, os.PathLike)):
        name = name_runs([Path(candidate)], [run])[0]
    return name, run, None


def deployed_runs(context: RunContext, deployed: object, candidate: str | None) -> list[str]:
    """The runs that names or globs stand for, in their order, but for the candidate; all others if not given."""
    names = context.names
    if deployed is None:
        found = names
    elif not isinstance(deployed, Iterable):
        raise ValueError(f"deployed={deployed!r} must be a name or glob of deployed runs, or a list of these")
    else:
        asked = [deployed] if isinstance(deployed, str) else list(map(str, deployed))
        if candidate in asked:
            raise ValueError(f"the candidate {candidate!r} is deployed already; leave it out of deployed=")
        lacking = [pattern for pattern in asked if not fitting(pattern, names)]
        if lacking:
            raise ValueError(
                f"deployed= names {few_quoted(lacking)}; the context's runs are {few_quoted(names)}"
            )
        found = [name for pattern in asked for name in fitting(pattern, names)]
    chosen = [name for name in dict.fromkeys(found) if name != candidate]
    if not chosen:
        raise ValueError("there is no deployed run; add some to the RunContext, and name them in deployed=")
    return chosen
