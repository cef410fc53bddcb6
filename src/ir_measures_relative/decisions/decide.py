"""Which of several set-ups is best at the same cost?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import ir_measures

from ..context.checks import check_topics
from ..context.evaluate import check_runs
from ..context.run_context import RunContext
from ..context.view import View, check_is_context, view_of
from ..io.qrels import Qrels
from ..io.runs import Run
from ..messages import few_quoted, kind_of
from ..stats.paired_tests import PairedTestOptions
from ..work import Work
from . import decision_text, evidence
from .compared import Compared
from .decision import Decision
from .decision_rule import Rivals
from .options import Option, Settings, combination_of, deciding_measure

#: What an option may be: a run, or several runs.
OptionLike: TypeAlias = "str | Sequence[str]"


def decide(
    context: RunContext,
    qrels: Qrels | None,
    options: Mapping[str, OptionLike],
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
    """Which of several set-ups is best at the same cost? One verdict, its reason, and the evidence.

    Each option becomes one list, which ends at the cutoff of ``by``, or else at ``depth``. I(o) is the interval of
    option o minus the first, for all options at once: the widest under the worst, the present and the best judgments of
    the unjudged documents. The verdict is the first of these that is true:

    - the first option, which is in use: no upper end is above ``margin``;
    - ``"open"``: no lower end is above ``margin``;
    - another option: its lower end is above ``margin``; it is above each option with fewer runs by more than ``margin``
      (lower end), and each with as many or more is above it by at most ``margin`` (upper end). Of several, the one with
      the highest mean;
    - several, joined by " or ": those that are not ruled out.

    Args:
        options: from name to a run or several runs; the first is in use.
        by: an absolute measure for which higher is better.
        method: "rrf", "isr", "combsum", "combmnz" as in :func:`fuse` with ``k`` and ``depth``, or "interleave": one
            document of each run in turn, skipping those already taken. A single run is its own list.
        margin: the smallest difference that matters, in the unit of ``by``.
        rerank: a run with a reranker's scores, or its name: they order the first ``pool`` interleaved documents; all
            pools shrink to the smallest on a topic.
        groups: from query id to a group of topics.
        unretrieved_relevant: as for :func:`bounds`.
        n: the number of documents to list for judging.
        time_limit: seconds for the bounds; unfinished bounds are wider.
        missing: what to do with topics that a run has no ranking for and another run has. ``"zero"`` counts them as
            empty rankings, ``"drop"`` leaves them out for all runs, ``"raise"`` is an error. Default: as ``"zero"`` if
            every run misses at most one topic in twenty, else an error.

    Returns:
        a :class:`Decision`. Its table has a row per option: ``option``, ``runs``, ``mean``; ``difference`` from the
        first; ``ci_lower``, ``ci_upper`` over topics, by the judgments as they are; ``worst``, ``best`` on these topics
        over all judgments; ``lower``, ``upper`` over both; ``settled``: ``above``, ``below`` or ``equal`` if no
        judgments can change that, else ``undecided``; ``won``, ``lost``: topics above and below the first; and
        ``unjudged``: the mean unjudged share of its list.

    Raises:
        ValueError: fewer than two options, an unknown run, a relative measure, a document of a pool without a score, a
            run that misses too many topics.
    """
    check_is_context(context)
    work, measure = Work(time_limit=time_limit), deciding_measure(by)
    test = PairedTestOptions(confidence=confidence, resamples=resamples, seed=seed)
    how = combination_of(context, measure, method, k=k, depth=depth, rerank=rerank, pool=pool)
    settings = Settings(
        measure, how, test, unretrieved_relevant, margin=margin, groups=groups, n=n, work=work
    )
    whole = view_of(context, qrels)
    check_runs(whole, missing_topics=False)
    chosen = _options_of(options, whole)
    needed = list(dict.fromkeys(run for option in chosen for run in option.runs))
    whole, note = check_topics(whole, needed, missing)
    rivals = _all_rivals([len(option.runs) for option in chosen[1:]])
    compared = Compared(whole.of_runs(needed), chosen, rivals, settings, whole)
    return compared.decision(decision_text.of_options, evidence.tables_of(compared), note)


def _all_rivals(sizes: Sequence[int]) -> list[Rivals]:
    pairs = [(i, j) for j in range(len(sizes)) for i in range(len(sizes)) if i != j]
    larger = [Rivals(1 + i, 1 + j) for i, j in pairs if sizes[i] > sizes[j]]
    return larger + [Rivals(1 + i, 1 + j, True) for i, j in pairs if i < j and sizes[i] == sizes[j]]


# ---- the options


def _options_of(options: Any, whole: View) -> list[Option]:
    if not isinstance(options, Mapping) or len(options) < 2:
        raise ValueError("options= must hold at least two options by name, the one in use first")
    found = []
    for name, given in options.items():
        if not isinstance(name, str) or not name or name == "open" or " or " in name:
            raise ValueError(f"options: {name!r} cannot be the name of an option; use other text")
        if not isinstance(given, Iterable) or isinstance(given, Mapping):
            raise ValueError(
                f"options[{name!r}] is {kind_of(given)}; give the name of a run, or a list of names"
            )
        runs = (given,) if isinstance(given, str) else tuple(given)
        unknown = [run for run in runs if not isinstance(run, str) or run not in whole.members.index]
        if unknown:
            known = few_quoted(whole.names)
            raise ValueError(f"options[{name!r}] names {unknown[0]!r}; the context's runs are {known}")
        if len(set(runs)) < max(len(runs), 1):
            raise ValueError(f"options[{name!r}]={given!r} must hold one run or more, each once")
        found.append(Option(name, runs))
    return found
