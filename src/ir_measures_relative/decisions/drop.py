"""Find the deployed runs that can go: the loss without each of them, in lists of the same length."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import ir_measures
import numpy as np
import pandas as pd

from ..context.checks import check_runs
from ..context.collection import judged_collection
from ..context.missing_topics import check_topics
from ..context.run_context import RunContext
from ..data.arrays import FloatArray
from ..io.qrels import Qrels
from ..writing import escaped
from .answer import Decision
from .decide import Rulings, rule_by_labels, score_options
from .options import Combination, Option, choose_deployed, without
from .rule import NEEDED, SAFE, UNDECIDED, RegretTest, Terms, grade_runs, read_terms
from .text import describe_drop


def drop(
    context: RunContext,
    qrels: Qrels | None,
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
    """Find the deployed runs that can go, by the loss without each of them in lists of the same length.

    The options are *keep* (the deployed runs), *drop X* for each (the others), and with three runs or more also *only
    X*. The arguments are those of :func:`decide`. A run is ``"safe"`` to drop if its loss is at most ``margin``,
    ``"needed"`` if it is above ``margin``, and else ``"open"``; each of these holds for all options at once. Dropping
    two runs is another question: drop one, and ask again.

    Args:
        context: the runs.
        qrels: the judgments.
        deployed: names of the deployed runs, or globs; default: all runs of the context.
        by: as for :func:`decide`, as are the arguments below.
        margin: the largest loss that you accept, in the unit of ``by``. Default: 0.02, for a measure from 0 to 1.
        labels: what unjudged documents are.
        llm_judgments: judgments by a language model.
        combine: how several runs become one list.
        test: how bounds are made.
        groups: from query id to a group of topics.
        missing: what to do with topics that a run has no ranking for.

    Returns:
        a :class:`Decision`. ``verdict`` is ``"safe"`` if some run is safe to drop, else ``"open"`` if some run is open,
        else ``"needed"``. ``choice`` is to drop the safe run that loses least, else to keep all. The table has a row
        per option: ``option``, ``mean``; ``difference`` from *keep*, with its ``lower`` and ``upper`` end, each with
        the confidence; ``judged``, ``won``, ``lost``, ``unjudged`` as for :func:`decide`; and ``verdict``, ``strict``
        and ``as_judged`` of the run.

    Raises:
        ValueError: one deployed run; what :func:`decide` raises.
    """
    terms = read_terms(context, by, margin, labels, combine, test, groups, llm_judgments)
    names = choose_deployed(context, deployed, None)
    if len(names) < 2:
        raise ValueError(f"drop needs two deployed runs or more, and {names} is one; pass more runs")
    collection = judged_collection(context, qrels)
    check_runs(collection.select_runs(names), missing_topics=False)
    collection, note = check_topics(collection, names, missing)
    options = [Option("keep", tuple(names))]
    options += [Option(f"drop {name}", without(names, name)) for name in names]
    if len(names) > 2:
        options += [Option(f"only {name}", (name,)) for name in names]
    scored = score_options(collection, options, terms)
    strict, extremes = None, np.empty((2, 0, collection.documents.n_queries))
    if scored.scores.why_not_bounded is None:
        removed = range(1, len(options))
        extremes = scored.scores.extreme_differences([0] * len(removed), removed)
        strict = _bound_losses(extremes[0], extremes[1], names, terms)

    def rule(values: FloatArray) -> _Losses:
        return _bound_losses(values[0] - values[1:], values[0] - values[1:], names, terms)

    rulings = rule_by_labels(scored, rule, strict, strict is not None and strict.verdict != UNDECIDED)
    return _answer(rulings, extremes, escaped(note))


class _Losses(NamedTuple):
    """The bounds of the loss of each option but the first against all runs, and the verdicts."""

    upper: FloatArray
    lower: FloatArray
    grades: dict[str, str]  #: from each run to its verdict
    #: The run that gains most alone, and how much at least; None where none does.
    alone: tuple[str, float] | None

    @property
    def verdict(self) -> str:
        """The verdict on all runs: safe if some run is, else open if some run is, else needed."""
        return next(grade for grade in (SAFE, UNDECIDED, NEEDED) if grade in self.grades.values())


def _bound_losses(largest: FloatArray, smallest: FloatArray, names: Sequence[str], terms: Terms) -> _Losses:
    """Bound the means of losses by the largest and the smallest on each topic."""
    upper, lower = (terms.bound_differences(values) for values in (largest, -smallest))
    lower, n, alone = 0.0 - lower, len(names), None
    if len(gains := -upper[n:]) and gains.max() > 0:
        alone = names[int(gains.argmax())], float(gains.max())
    grades = grade_runs(upper[:n], lower[:n], terms.margin)
    return _Losses(upper, lower, dict(zip(names, grades, strict=True)), alone)


def _answer(rulings: Rulings[_Losses], extremes: FloatArray, missing_topics: str) -> Decision:
    scored, losses, strict = rulings.scored, rulings.ruling, rulings.strict
    scores, options, names = scored.scores, scored.options, list(losses.grades)
    key = None
    if strict is not None and not scores.all_judged:
        same = strict.grades == losses.grades and (losses.alone is None or strict.alone is not None)
        key = "same" if same else "open in part"
    strict_grades = losses.grades if strict is None else strict.grades
    open_strictly = [
        run for run in names if strict_grades[run] == UNDECIDED and losses.grades[run] != UNDECIDED
    ]
    headline, reason = describe_drop(rulings.basis, losses.grades, losses.alone, key, open_strictly)
    bounds = {"lower": np.append(0.0, 0.0 - losses.upper), "upper": np.append(0.0, 0.0 - losses.lower)}
    table = scored.tabulate(bounds).drop(columns="runs")
    verdicts = {"verdict": strict if rulings.why_no_model else losses, "strict": strict}
    for column, ruling in (verdicts | {"as_judged": rulings.as_judged}).items():
        grades = [None] * len(names) if ruling is None else list(ruling.grades.values())
        table[column] = pd.Series(["", *grades, *[""] * (len(options) - 1 - len(names))], dtype=object)
    safe = [i for i, grade in enumerate(losses.grades.values()) if grade == SAFE]
    choice = 1 + min(safe, key=lambda i: losses.upper[i]) if safe else 0
    tables, sentences = scored.describe(choice)
    undecided: list[int] = []
    if strict is not None and not scores.all_judged:
        undecided = [i for i, grade in enumerate(strict.grades.values()) if grade == UNDECIDED]
    reach, no_model = np.abs(extremes).max(axis=0)[undecided], bool(rulings.why_no_model)
    return Decision(
        options={option.name: option.runs for option in options},
        verdict=None if rulings.why_no_model else losses.verdict,
        choice=options[choice].name,
        strict=None if strict is None else strict.verdict,
        as_judged=rulings.as_judged.verdict,
        as_well=None,
        labels=rulings.labels,
        headline=headline,
        reason=reason,
        notes=(*filter(None, [scores.about_judge]), *sentences),
        table=table,
        topics=scored.tabulate_topics(),
        judge=scores.to_judge(0, [1 + i for i in undecided], reach, None if no_model else rulings.labels),
        evidence=tables,
        settings={"deployed": names, **scored.terms.settings},
        missing_topics=missing_topics,
    )
