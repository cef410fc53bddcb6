"""What all human labels would say, from the labels of a plan; and a rehearsal of that where all are known."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import ir_measures
import numpy as np
import pandas as pd

from ..arguments import check_confidence
from ..bounding.bounds import model_of, values_of
from ..bounding.verdicts import settled_of
from ..context.measure_strings import value_range
from ..context.run_context import RunContext
from ..context.view import View
from ..data.arrays import FloatArray, IntArray, ObjectArray
from ..data.documents import Documents, Judgments
from ..io.qrels import Qrels, qrels_columns
from ..io.qrels import judge as judge_columns
from .planning import (
    THESE_TOPICS,
    AuditTable,
    Design,
    Drawn,
    check_unchanged,
    drawn,
    read_plan,
    seed_of,
    target_of,
)
from .sampling import Sample, estimated_sums, reach, sums_by_query, within
from .targets import Audited, Between, Judge, Target, read_between, read_measures, rows_in

#: By what share of itself an ideal is taken to differ from topic to topic, before any topic is labelled in full;
IDEALS_APART = 1 / 3
#: and how many topics that counts as much as.
PSEUDO_TOPICS = 4

_LIKE_THESE = "Topics like these, with human labels as truth"


class Answer(NamedTuple):
    """What is said of one measure, an array a column, with an entry a comparison."""

    difference: FloatArray
    lower: FloatArray
    upper: FloatArray
    labels: IntArray


def estimate(
    context: RunContext,
    plan: pd.DataFrame | str | os.PathLike[str],
    labels: Qrels,
    judge: Judge,
    measures: Sequence[ir_measures.Measure | str],
    between: Between = None,
    confidence: float = 0.95,
    simultaneous: bool = False,
    *,
    like_these: bool = False,
) -> pd.DataFrame:
    """What all human labels on these topics would say of the differences of runs, from those that a plan asked for.

    The judge's labels make the interval shorter where they are good, and never wrong where they are bad: every
    document is predicted from the human labels of its grade, on other topics, and the sample says how far that is off::

        θ = Σ w_d·ŷ_d + Σ_sample w_d·(y_d - ŷ_d) / π_d

    The variance is the larger of that of the sampled errors and that which the predictions give; the interval is
    Student's, and ends where no labels could carry the difference. A measure that is no sum of labels is estimated as
    a sum that is near it, plus the mean of what is missing on the topics that are labelled in full. Its ideal rankings
    are then of the documents in the top ``depth`` of the runs: what no run retrieves cannot be sampled.

    Args:
        context, judge: those of the plan.
        plan: what :func:`plan` gave, or the path that it wrote to.
        labels: the human labels, as qrels, of just the documents that the plan asks for.
        measures, between: as for :func:`plan`; the plan's own, or others that look at no other documents.
        confidence: of each interval; with ``simultaneous`` of all of them at once, by Bonferroni's rule.
        like_these: adds the variance of topics: the answer is then about topics like these, as in :func:`.compare`.

    Returns:
        a DataFrame with one row a measure and comparison:

        - ``name``, ``other``, ``measure``; ``other`` has the fixed priors where there are some;
        - ``difference``: of the means over topics, with its interval ``ci_lower`` to ``ci_upper``. Where all labels
          that matter are given it is exact;
        - ``verdict``: ``above`` or ``below`` where the interval does not hold 0, else ``open``; ``equal`` where
          no label can tell the two apart;
        - ``labels``: how many of the human labels matter to this row;
        - ``judge_alone``: what the model's labels say, where a document without one is not relevant;
        - ``human_only``: half the width of the interval that these labels would give without the judge.

    Raises:
        ValueError: a plan that was changed, or that is none; labels that are missing or that nobody asked for, with
            their number; a measure that looks at documents that the plan left out; what :func:`plan` raises.

    Example:
        >>> from ir_measures_relative import RunContext, audit
        >>> context = RunContext({"a": {"q": {"A": 2, "B": 1}}, "b": {"q": {"B": 2, "X": 1}}})
        >>> judge = {"q": {"A": 1, "B": 1, "X": 1}}
        >>> plan = audit.plan(context, judge, ["P@2"], budget=2)
        >>> found = audit.estimate(context, plan, {"q": {"A": 1, "X": 0}}, judge, ["P@2"])
        >>> found[["name", "other", "difference", "ci_lower", "ci_upper", "verdict", "judge_alone"]]
        These topics, with human labels as truth
          name other  difference  ci_lower  ci_upper verdict  judge_alone
        0    a     b         0.5       0.5       0.5   above          0.0
    """
    check_confidence(confidence)
    given = read_plan(plan)
    judge = cache(judge) if callable(judge) else judge  # asked once for a document
    design = given.design
    if design is None:
        budget = round(sum(chance for chance, _ in given.rows.values()))
        names = [asked.name for asked in read_measures(measures)]
        design = Design(names, budget, between, seed=seed_of(given))
    planned = design.audited(context, judge)
    planned_targets = planned.targets(design.topics > 0, planned.grades())
    found = drawn(planned, planned_targets, design)
    check_unchanged(given, planned, found, design)
    human = _checked_labels(labels, planned, found)
    same = read_measures(measures) == planned.asked and read_between(context, between) == planned.versus
    audited = planned if same else Audited(context, judge, measures, between, planned.depth)
    if like_these and audited.n_queries < 2:
        raise ValueError(
            "like_these=True needs two topics or more: one says nothing of how far topics differ"
        )
    row = rows_in(planned.docs, audited.docs)
    grade, grades, inside = human[row], audited.grades(human), row >= 0
    chance = np.where(inside, found.chance[row], 0.0)
    found = Drawn(chance, inside & found.asked[row], found.topics, inside & found.full[row])
    targets = planned_targets
    if not same or grades != planned.grades():
        targets = audited.targets(design.topics > 0, grades)
    level = 1.0 - (1.0 - confidence) / (len(targets) * len(audited.versus) if simultaneous else 1)
    tables = []
    for target in targets:
        unplanned = int(((target.weight != 0).any(axis=0) & (found.chance == 0)).sum())
        if unplanned:
            raise ValueError(
                f"{target.asked.name} looks at {unplanned} documents that the plan could not ask for; give "
                "between= as for the plan, or make a plan for these measures and comparisons"
            )
        values = None
        if not target.linear:
            values = differences_of(audited, target, audited.docs.select(found.full), grade[found.full])
        answer, alone = (
            answer_of(audited, target, found, grade, cell, level, values, like_these)
            for cell in (audited.cell, None)
        )
        tables.append(
            pd.DataFrame(
                {
                    "name": pd.Series([v.name for v in audited.versus], dtype=str),
                    "other": pd.Series([v.other for v in audited.versus], dtype=str),
                    "measure": target.asked.name,
                    "difference": answer.difference,
                    "ci_lower": answer.lower,
                    "ci_upper": answer.upper,
                    "verdict": pd.Series(_verdicts(answer.lower, answer.upper), dtype=str),
                    "labels": answer.labels,
                    "judge_alone": _by_judge(audited, target),
                    "human_only": (alone.upper - alone.lower) / 2,
                }
            )
        )
    table = AuditTable(pd.concat(tables, ignore_index=True))
    said = target_of(audited.depth, _LIKE_THESE if like_these else THESE_TOPICS)
    table.attrs.update(target=said, topics=audited.n_queries)
    return table


def _verdicts(lower: FloatArray, upper: FloatArray) -> ObjectArray:
    """The words of the column ``verdict``."""
    words = settled_of(lower, upper)
    words[words == "undecided"] = "open"
    return words


def _checked_labels(labels: Qrels, planned: Audited, found: Drawn) -> IntArray:
    """The human label of each document, 0 where none was asked for; ValueError where others came than asked for."""
    judged = judge_columns(qrels_columns(labels), once=True)
    planned.check_known(judged.grade, "people")
    row = rows_in(judged, planned.docs)
    missing, expected = int((found.asked & (row < 0)).sum()), int(found.asked.sum())
    if missing:
        raise ValueError(
            f"{missing} of the {expected} labels that the plan asks for are missing; label all of them: what people "
            "skip is not like the rest, so nothing holds without it"
        )
    outside = len(judged) - expected
    if outside:
        raise ValueError(
            f"{outside} labels are of documents that the plan does not ask for; leave them out: only what was drawn by "
            "chance speaks for the others"
        )
    grade: IntArray = np.where(row >= 0, judged.grade[row], 0) if len(judged) else np.zeros_like(row)
    return grade


def answer_of(
    audited: Audited,
    target: Target,
    found: Drawn,
    grade: IntArray,
    cell: IntArray | None,
    confidence: float,
    values: FloatArray | None = None,
    like_these: bool = False,
) -> Answer:
    """The estimates and intervals of one measure.

    Args:
        grade: the human label of each document, 0 where there is none.
        cell: of each document; None leaves the judge without a say.
        values: of a measure that is not linear, the differences on the topics that are labelled in full.
    """
    # Predictions rest on all that was drawn, whichever comparisons are asked for; what ideals need is not like it.
    matters = (target.weight != 0).any(axis=0) | ((found.chance > 0) & ~found.full)
    docs, n = audited.docs, audited.n_queries
    weight, asked = target.weight[:, matters], found.asked[matters]
    gain = np.where(asked, target.gain[grade[matters] - target.grades[0]], 0.0)
    sample = Sample(docs.query[matters], n, found.chance[matters], asked)
    cells = np.zeros(len(gain), dtype=np.int64) if cell is None else cell[matters]
    sums = estimated_sums(weight, gain, sample, cells)
    by_query, variance = sums.by_query + target.offset, sums.variance
    free = (sums.free - 1).astype(np.float64)
    value, labels = by_query.sum(axis=1), (weight != 0) @ asked.astype(np.int64)
    if like_these:
        of_topics = n * by_query.var(axis=1, ddof=1)
        free = np.where(of_topics >= variance, n - 1.0, free)
        variance = np.maximum(of_topics, variance)
    parts: list[tuple[FloatArray, FloatArray]] = [(variance, free)]
    if values is None:
        known, open_weight = weight @ gain + target.offset.sum(axis=1), weight[:, ~asked]
        least = known + np.minimum(open_weight, 0.0).sum(axis=1)
        most = known + np.maximum(open_weight, 0.0).sum(axis=1)
    else:
        n_drawn = len(found.topics)
        near = sums_by_query(weight * gain, sample.query, n) + target.offset
        near, rest = near[:, found.topics] * n, values[:, found.topics] - near[:, found.topics] * n
        # Runs that differ on few topics may agree on all that were drawn; their ideals would still differ elsewhere.
        df, own = n_drawn - 1.0 + PSEUDO_TOPICS, rest.var(axis=1, ddof=1) / n_drawn
        apart = IDEALS_APART**2 * n * sums.square / n_drawn
        spread = ((n_drawn - 1) * own + PSEUDO_TOPICS * apart) / df
        if like_these:
            both = (near - near.mean(axis=1, keepdims=True)) * rest
            spread = np.maximum(spread, own) + np.maximum(2 * both.sum(axis=1) / (n_drawn - 1) / n, 0.0)
            df = n_drawn - 1.0
        else:
            spread = spread * (1.0 - n_drawn / n)
        value, labels = value + rest.mean(axis=1), labels + (found.full & ~matters).sum()
        parts.append((spread, np.full(len(value), df)))
        low, high = value_range(target.asked.measure)
        alone = np.array([versus.priors is not None for versus in audited.versus])
        least, most = np.where(alone, low, low - high), np.where(alone, high, high - low)
    if like_these:
        least, most = np.full(len(value), -np.inf), np.full(len(value), np.inf)
    lower, upper = within(value, reach(parts, confidence), least, most)
    return Answer(np.clip(value, lower, upper), lower, upper, labels)


def differences_of(audited: Audited, target: Target, docs: Documents, grade: IntArray) -> FloatArray:
    """The differences on every topic where these are all judged documents, shape (comparisons, queries)."""
    labelled, of_priors = Judgments(docs.query_ids, docs.query, docs.ids, grade), {}
    for priors in {versus.priors for versus in audited.versus}:
        views = View.on(audited.with_priors(priors, target.grades), labelled).of_each()
        model = model_of(target.asked.measure, views, closed=True)
        value = model.value()
        of_priors[priors] = values_of(views, target.asked.measure, model) if value is None else value
    index = {name: i for i, name in enumerate(audited.context.names)}
    rows = [
        of_priors[v.priors][index[v.name]] - (of_priors[None][index[v.other]] if v.priors is None else 0.0)
        for v in audited.versus
    ]
    result: FloatArray = np.array(rows).reshape(len(rows), audited.n_queries)
    return result


def _by_judge(audited: Audited, target: Target) -> FloatArray:
    """What the judge's labels say, one a comparison."""
    docs = audited.docs
    if not target.linear:
        known = docs.select(audited.known & audited.in_full)
        means: FloatArray = differences_of(audited, target, known, known.grade).mean(axis=1)
        return means
    gain = target.gain[docs.grade - target.grades[0]]
    result: FloatArray = target.weight @ gain + target.offset.sum(axis=1)
    return result
