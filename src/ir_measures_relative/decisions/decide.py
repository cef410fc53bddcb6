"""Which of several set-ups is best at the same cost?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import ir_measures

from ..context.evaluate import check_runs
from ..context.run_context import RunContext
from ..context.tops import Tokens
from ..context.view import View, view_of
from ..io.qrels import Qrels
from ..io.runs import Run
from ..messages import few_quoted, kind_of
from . import decision_text, evidence
from .compared import Compared
from .decision import Decision
from .decision_rule import Rivals
from .options import Option, settings_of

#: What an option may be: a run, several runs, or from query id to the run that a router picks.
OptionLike: TypeAlias = "str | Sequence[str] | Mapping[str, str]"


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
    tokens: Tokens | None = None,
    budget: int | None = None,
    groups: Mapping[str, str] | None = None,
    confidence: float = 0.95,
    unretrieved_relevant: int | None = None,
    n: int = 20,
    resamples: int = 9999,
    seed: int = 0,
    time_limit: float | None = 10.0,
) -> Decision:
    """Which of several set-ups is best at the same cost? One verdict, its reason, and the evidence.

    Each option becomes one list, and ``by`` scores these lists. All lists have the same length: the cutoff of ``by``,
    or else ``depth``. A warning names runs that are shorter. I(o) is the interval of option o minus the first option.
    It holds for all options at once, and is the widest of the intervals under the worst, the present and the best
    judgments of the unjudged documents. Judgments between these may exceed it slightly. The verdict is the first of
    these that is true:

    - the name of the first option, which is in use: no upper end is above ``margin``;
    - ``"open"``: no lower end is above ``margin``;
    - the name of another option. Its lower end is above ``margin``. It is above each option with fewer runs by more
      than ``margin`` (lower end). Each option with as many or more runs is above it by at most ``margin`` (upper end).
      If several options qualify, it is the one with the highest mean;
    - several names, joined by " or ": the options that are not ruled out.

    With one topic the verdict is open. With fewer than five topics, each interval is the whole range. A difference that
    is 0 on every topic has the interval [0, 0].

    Args:
        context: the runs.
        qrels: the judgments, as for :meth:`RunContext.evaluate`.
        options: from name to the runs of an option; the first is in use. An option can be a router: a dict from query
            id to the name of a run.
        by: an absolute measure for which higher is better.
        method: how the runs of an option become one list: "rrf", "isr", "combsum", "combmnz" as in FusionGain, or
            "interleave": one document of each run in turn, in the order of the option. Each run gives its next document
            that the list does not have yet; a run that has ended is skipped.
        margin: the smallest difference that matters, in the unit of ``by``.
        k, depth: of the methods, as for FusionGain. A single run is its own list.
        rerank: a run with the scores of a reranker, or its name in the context. The runs of an option are interleaved;
            the first ``pool`` documents, ordered by these scores, are its list. If some option has fewer on a topic,
            all pools shrink to the smallest there.
        pool: the number of documents to rerank.
        tokens, budget: the lengths of documents (default: the context's), and the number of tokens that a list may
            have. A list ends before the first document that does not fit.
        groups: from query id to a group of topics.
        confidence: of the intervals.
        unretrieved_relevant: as for :func:`bounds`.
        n: the number of documents to list for judging.
        resamples, seed: of the bootstrap.
        time_limit: seconds for the bounds; unfinished bounds are wider.

    Returns:
        a :class:`Decision`. Its table has one row per option, and the columns

        - ``option``, ``runs``, ``mean``;
        - ``difference``: from the first option, with ``ci_lower``, ``ci_upper``: its interval over topics, by the
          judgments as they are. It is the widest of Student's and the bootstrap's, so it may be wider than that of
          :func:`compare`, and needs more topics;
        - ``worst``, ``best``: the difference on these topics under the worst and the best judgments of the unjudged
          documents; ``lower``, ``upper``: the interval allowing for both;
        - ``settled``: ``above``, ``below`` or ``equal`` if no judgments of the unjudged documents can change that on
          these topics, else ``undecided``;
        - ``won``, ``lost``: on how many topics the option is above and below the first;
        - ``unjudged``: the unjudged share of its list, a mean over topics.

        The unjudged documents are those of all runs of the context (as for :func:`verdicts`), those of the options'
        lists, and those of ``unretrieved_relevant``.

    Raises:
        ValueError: a run that is not in the context, fewer than two options, a measure that is relative to other runs,
            a document of a pool without a score (how many, and which), a router without a run for a judged topic.

    Example:
        >>> from ir_measures_relative import RunContext
        >>> from ir_measures_relative.decisions.decide import decide
        >>> qrels = {f"q{i}": {"A": 1, "B": 1, "X": 0, "Y": 0} for i in range(12)}
        >>> old, new = ({q: {d: -i for i, d in enumerate(docs)} for q in qrels} for docs in ("XYAB", "ABXY"))
        >>> context = RunContext({"old": old, "new": new}, grades=(0, 1))
        >>> decision = decide(context, qrels, {"keep": ["old"], "both": ["old", "new"], "new": ["new"]}, by="nDCG@2")
        >>> decision.verdict
        'new'
    """
    how = method, margin, k, depth, rerank, pool, tokens, budget
    certain = groups, confidence, unretrieved_relevant, n, resamples, seed, time_limit
    settings = settings_of(context, by, *how, *certain)
    whole = view_of(context, qrels)
    check_runs(whole)
    chosen = _options_of(options, whole)
    needed = dict.fromkeys(run for option in chosen for run in option.runs)
    rivals = [
        Rivals(1 + more, 1 + less, equal)
        for more, less, equal in _all_rivals([len(option.runs) for option in chosen[1:]])
    ]
    compared = Compared(whole.of_runs(list(needed)), chosen, rivals, settings, whole)
    return compared.decision(decision_text.of_options, evidence.tables_of(compared))


def _all_rivals(sizes: Sequence[int]) -> list[tuple[int, int, bool]]:
    pairs = [(i, j) for j in range(len(sizes)) for i in range(len(sizes)) if i != j]
    larger = [(i, j, False) for i, j in pairs if sizes[i] > sizes[j]]
    return larger + [(i, j, True) for i, j in pairs if i < j and sizes[i] == sizes[j]]


# ---- the options


def _options_of(options: Any, whole: View) -> list[Option]:
    if not isinstance(options, Mapping) or len(options) < 2:
        raise ValueError("options= must hold at least two options by name, the one in use first")
    found = []
    for name, given in options.items():
        if not isinstance(name, str) or not name or name == "open" or " or " in name:
            raise ValueError(f"options: {name!r} cannot be the name of an option; use other text")
        if isinstance(given, Mapping):
            found.append(_rule(name, given, whole))
            continue
        if not isinstance(given, Iterable):
            raise ValueError(
                f"options[{name!r}]={given!r} must be a run, runs, or a dict from query id to run"
            )
        runs = (given,) if isinstance(given, str) else tuple(given)
        _check_known(name, runs, whole)
        if not runs or len(set(runs)) < len(runs):
            raise ValueError(f"options[{name!r}]={given!r} must hold one run or more, each once")
        found.append(Option(name, runs))
    return found


def _rule(name: str, given: Mapping[str, str], whole: View) -> Option:
    lacking = [q for q in whole.query_ids if q not in given]
    if lacking:
        raise ValueError(
            f"options[{name!r}] names no run for {len(lacking)} judged queries, such as {few_quoted(lacking[:3])}"
        )
    picked = [given[q] for q in whole.query_ids]
    _check_known(name, picked, whole)
    return Option(name, tuple(dict.fromkeys(picked)), given)


def _check_known(name: str, runs: Sequence[Any], whole: View) -> None:
    odd = next((run for run in runs if not isinstance(run, str)), None)
    if odd is not None:
        raise ValueError(f"options[{name!r}] names {odd!r}, which is {kind_of(odd)}; give the names of runs")
    unknown = list(dict.fromkeys(run for run in runs if run not in whole.members.index))
    if unknown:
        raise ValueError(
            f"options[{name!r}] names {few_quoted(unknown)}; the context's runs are {few_quoted(whole.names)}"
        )
