"""Find the deployed runs that can go: the loss without each of them, in lists of the same length."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import ir_measures
import numpy as np
import pandas as pd

from ..context.checks import check_runs
from ..context.collection import Collection, judged_collection
from ..context.missing_topics import check_topics
from ..context.run_context import RunContext
from ..data.arrays import FloatArray
from ..io.qrels import Qrels
from ..messages import escaped
from .answer import Decision
from .decide import choose_labels, score_options
from .evidence import describe_lists, tabulate_options, tabulate_topics
from .options import Combination, Option, deployed_runs, without
from .rule import NEEDED, SAFE, UNDECIDED, grade_runs
from .terms import RegretTest, Terms, read_terms
from .text import DropState, describe_drop


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
        deployed: names of the deployed runs, or globs; default: all runs of the context.
        margin: the largest loss that you accept, in the unit of ``by``. Default: 0.02, for a measure from 0 to 1.

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
    names = deployed_runs(context, deployed, None)
    if len(names) < 2:
        raise ValueError(f"drop needs two deployed runs or more, and {names} is one; pass more runs")
    whole = judged_collection(context, qrels)
    check_runs(whole.select_runs(names), missing_topics=False)
    whole, note = check_topics(whole, names, missing)
    return _answer(whole, names, terms, escaped(note))


class Losses(NamedTuple):
    """The largest and the smallest loss against all runs, with each option but the first."""

    upper: FloatArray
    lower: FloatArray

    @classmethod
    def bounded(cls, largest: FloatArray, smallest: FloatArray, terms: Terms) -> Losses:
        """Bound the means of losses by the largest and the smallest that each topic may have."""
        upper, lower = (terms.bound_differences(values) for values in (largest, -smallest))
        return cls(upper, 0.0 - lower)

    def grades(self, runs: int, margin: float) -> list[str]:
        """Return the verdict on each of the runs."""
        return grade_runs(self.upper[:runs], self.lower[:runs], margin)

    def best_alone(self, names: Sequence[str]) -> tuple[str, float] | None:
        """Return the run that gains most alone, and how much at least; None where none certainly gains."""
        gain = -self.upper[len(names) :]
        best = int(gain.argmax()) if len(gain) else 0
        return (names[best], float(gain[best])) if len(gain) and gain[best] > 0 else None


def _answer(collection: Collection, names: Sequence[str], terms: Terms, missing_topics: str) -> Decision:
    options = [Option("keep", tuple(names))]
    options += [Option(f"drop {name}", without(names, name)) for name in names]
    if len(names) > 2:
        options += [Option(f"only {name}", (name,)) for name in names]
    lists, scores = score_options(collection, options, terms)
    n, others = len(names), range(1, len(options))

    def bound_losses(values: FloatArray) -> Losses:
        loss = values[0] - values[1:]
        return Losses.bounded(loss, loss, terms)

    judged, strict, reach = bound_losses(scores.judged), None, np.empty((0, collection.documents.n_queries))
    if scores.why_not_bounded is None:
        largest, smallest = scores.most([0] * len(others), others)
        strict, reach = (
            Losses.bounded(largest, smallest, terms),
            np.maximum(np.abs(largest), np.abs(smallest)),
        )
    strict_grades = [UNDECIDED] * n if strict is None else strict.grades(n, terms.margin)
    labels, why_no_model = choose_labels(scores, terms.labels, overall(strict_grades) != UNDECIDED)
    values, losses = scores.judged, strict if labels == "strict" and strict is not None else judged
    if labels == "imputed":
        values = scores.imputed(terms.test.samples, terms.test.seed)
        losses = bound_losses(values)
    grades, as_judged = losses.grades(n, terms.margin), judged.grades(n, terms.margin)
    extremes = None
    if strict is not None and not scores.all_judged:
        alone = losses.best_alone(names) is None or strict.best_alone(names) is not None
        extremes = "same" if strict_grades == grades and alone else "open"
    headline, reason = describe_drop(
        DropState(
            dict(zip(names, grades, strict=True)),
            losses.best_alone(names),
            str(terms.by),
            terms.margin,
            terms.test.confidence,
            labels,
            labels == "judged" and not scores.all_judged,
            why_no_model,
            extremes,
        )
    )
    bounds = {"lower": np.append(0.0, 0.0 - losses.upper), "upper": np.append(0.0, 0.0 - losses.lower)}
    table = tabulate_options(options, scores, values, bounds).drop(columns="runs")
    strict_or_none = None if strict is None else strict_grades
    for column, of in (
        ("verdict", strict_or_none if why_no_model else grades),
        ("strict", strict_or_none),
        ("as_judged", as_judged),
    ):
        of_runs: list[str | None] = [*of] if of is not None else [None] * n
        table[column] = pd.Series(["", *of_runs, *[""] * (len(others) - n)], dtype=object)
    safe = [i for i, grade in enumerate(grades) if grade == SAFE]
    choice = 1 + min(safe, key=lambda i: losses.upper[i]) if safe else 0
    tables, sentences = describe_lists(collection, options, lists, scores, values, choice, terms)
    unsettled = [
        1 + i for i, grade in enumerate(strict_or_none or []) if grade == UNDECIDED and not scores.all_judged
    ]
    return Decision(
        {option.name: option.runs for option in options},
        None if why_no_model else overall(grades),
        options[choice].name,
        None if strict_or_none is None else overall(strict_or_none),
        overall(as_judged),
        None,
        labels,
        headline,
        reason,
        (*filter(None, [scores.about_judge]), *sentences),
        table,
        tabulate_topics(collection, options, values),
        scores.to_judge(0, unsettled, reach[[i - 1 for i in unsettled]], labels == "imputed"),
        tables,
        {"deployed": list(names), **terms.settings},
        missing_topics=missing_topics,
    )


def overall(grades: Sequence[str]) -> str:
    """Return the verdict on all runs: safe if some run is, else open if some run is, else needed."""
    return next(grade for grade in (SAFE, UNDECIDED, NEEDED) if grade in grades)
