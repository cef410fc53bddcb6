"""What an audit tells: the estimates of differences with their intervals, and what a plan of a size would have told."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

import ir_measures
import numpy as np
import pandas as pd

from ..arguments import check_confidence, check_count
from ..bounding.bounds import model_of, values_of
from ..bounding.verdicts import rounded_to_zero, settled_of
from ..context.measure_strings import value_range
from ..context.run_context import RunContext
from ..context.view import View
from ..data.arrays import FloatArray, IntArray
from ..data.documents import Documents, Judgments
from ..io.qrels import Qrels, qrels_columns
from ..io.qrels import judge as judge_columns
from ..tolerances import LABELED_ALIKE
from .planning import (
    THESE_TOPICS,
    AuditTable,
    Design,
    Drawn,
    check_unchanged,
    depth_of,
    drawn,
    read_plan,
    target_of,
)
from .sampling import Sample, estimated_sums, reach, sums_by_query, within
from .targets import Audited, Between, Judge, Target, read_between, read_measures, rows_in

#: By what share of itself an ideal is taken to differ from topic to topic, before any topic is labelled in full;
IDEALS_APART = 1 / 3
#: and how many topics that counts as much as.
PSEUDO_TOPICS = 4

_LIKE_THESE = "Topics like these, with human judgments as the target"


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
    """What all human judgments on these topics would say of the differences of runs, from those that a plan asked for.

    Every document is predicted from the human judgments of its grade, on other topics, and the sample corrects that:
    ``θ = Σ w_d·ŷ_d + Σ_sample w_d·(y_d - ŷ_d) / π_d``. The interval is Student's, and ends where no judgments
    could carry the difference. A measure that is no sum of judgments is estimated as a sum near it, plus the mean of
    what is missing on the topics in full.

    Args:
        context, judge: those of the plan.
        plan: what :func:`plan` gave, or the path that it wrote to.
        labels: the human judgments, as qrels, of just the documents that the plan asks for.
        measures, between: as for :func:`plan`; the plan's own, or others that look at no other documents.
        confidence: of each interval; with ``simultaneous`` of all of them at once, by Bonferroni's rule.
        like_these: adds the variance of topics: the answer is then about topics like these, as in :func:`.compare`.

    Returns:
        one row per measure and comparison: ``name``, ``other`` (or the fixed priors), ``measure``; the ``difference``
        of the means with its interval ``ci_lower`` to ``ci_upper``; ``verdict``: ``above``, ``below``, ``open``
        or ``equal``; ``labels``: how many human judgments matter to this row; ``judge_alone``: what the LLM
        judgments say; ``human_only``: half the width of the interval without the judge.

    Raises:
        ValueError: a plan that was changed; missing judgments, or others than asked for; a measure that looks at
            documents that the plan left out; what :func:`plan` raises.
    """
    check_confidence(confidence)
    given = read_plan(plan)
    judge = cache(judge) if callable(judge) else judge  # asked once for a document
    design = given.design
    planned = Audited(context, judge, design.measures, design.between, design.depth)
    planned_targets = planned.targets(design.topics > 0, planned.grades())
    found = drawn(planned, planned_targets, design)
    check_unchanged(given, planned, found, design)
    human = _checked_labels(labels, planned, found)
    same = read_measures(measures) == planned.asked and read_between(context, between) == planned.versus
    audited = planned if same else Audited(context, judge, measures, between, planned.depth)
    if like_these and audited.n_queries < 2:
        raise ValueError("like_these=True needs two topics or more")
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
                f"{target.asked.name} looks at {unplanned} documents outside the plan; give between= as for the plan"
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
                    "verdict": pd.Series(settled_of(answer.lower, answer.upper), dtype=str).replace(
                        "undecided", "open"
                    ),
                    "labels": answer.labels,
                    "judge_alone": rounded_to_zero(_by_judge(audited, target)),
                    "human_only": (alone.upper - alone.lower) / 2,
                }
            )
        )
    table = AuditTable(pd.concat(tables, ignore_index=True))
    said = target_of(audited.depth, _LIKE_THESE if like_these else THESE_TOPICS)
    table.attrs.update(target=said, topics=audited.n_queries)
    return table


def _checked_labels(labels: Qrels, planned: Audited, found: Drawn) -> IntArray:
    """The human judgment of each document, 0 where none was asked for; ValueError where others came than asked for."""
    judged = judge_columns(qrels_columns(labels), once=True)
    planned.check_known(judged.grade, "assessors")
    row = rows_in(judged, planned.docs)
    missing, expected = np.flatnonzero(found.asked & (row < 0)), int(found.asked.sum())
    if len(missing):
        one, docs = int(missing[0]), planned.docs
        raise ValueError(
            f"{len(missing)} of the {expected} judgments that the plan asks for are missing, such as query "
            f"{docs.query_ids[docs.query[one]]!r}, document {docs.ids.string(one)!r}"
        )
    outside = len(judged) - expected
    if outside:
        raise ValueError(
            f"{outside} judgments are of documents that the plan does not ask for; leave them out"
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
    """The estimates of one measure; ``cell=None`` leaves the judge out, ``values`` are of the topics in full, where
    not linear.
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
    if target.linear:
        return target.differences(audited.docs.grade)
    known = audited.docs.select(audited.known & audited.in_full)
    means: FloatArray = differences_of(audited, target, known, known.grade).mean(axis=1)
    return means


def simulate(
    context: RunContext,
    qrels: Qrels,
    judge: Judge,
    measures: Sequence[ir_measures.Measure | str],
    budgets: Sequence[int] | int,
    *,
    between: Between = None,
    topics: int = 0,
    depth: int | None = None,
    repeats: int = 100,
    confidence: float = 0.95,
    seed: int = 0,
) -> pd.DataFrame:
    """How often the intervals of an audit would hold, and how wide they would be, by the number of judgments.

    Each repeat draws a plan, takes the judgments that it asks for from ``qrels`` and compares the interval with what
    all of ``qrels`` say. The same is done without the judge.

    Args:
        context, judge, measures, between, topics, depth: as for :func:`.plan`.
        qrels: human judgments of the same topics; a document without one counts as not relevant.
        budgets: the numbers of judgments to try.
        repeats: how many plans are drawn for each, the first with ``seed``.
        confidence: of the intervals.

    Returns:
        one row per measure and budget: ``measure``, ``budget``; ``labels``: their mean number; ``coverage``: the
        share of intervals that hold the truth, ``worst``: of the worst comparison; ``half_width`` of the
        intervals, ``human_only`` without the judge, and their ``ratio``; ``decided``: the share of verdicts that
        are not open, ``wrong``: of these with the wrong sign; ``saved``: how many more judgments it takes without
        the judge, NaN beyond the budgets.

    Raises:
        ValueError: a judge that has other topics than ``qrels``; what :func:`.plan` raises.
    """
    check_count("repeats", repeats, 1)
    check_count("seed", seed, 0)
    check_confidence(confidence)
    budgets = [budgets] if isinstance(budgets, int) else list(budgets)
    if not budgets:
        raise ValueError("budgets is empty; give numbers of judgments")
    for budget in budgets:
        check_count("budgets", budget, 1)
    audited = Audited(context, judge, measures, between, depth_of(measures, topics, depth))
    human = judge_columns(qrels_columns(qrels))
    if set(human.query_ids) != set(audited.docs.query_ids):
        raise ValueError("the judge and the qrels have judgments of different topics; give both the same")
    audited.check_known(human.grade, "assessors")
    row = rows_in(human, audited.docs)
    grade = np.where(row >= 0, human.grade[row], 0)
    targets = audited.targets(topics > 0, audited.grades(human.grade))
    campaigns = audited, audited.without_judge()
    full = audited.in_full
    of_topics = [
        None if target.linear else differences_of(audited, target, audited.docs.select(full), grade[full])
        for target in targets
    ]
    truths = [
        target.differences(grade) if values is None else values.mean(axis=1)
        for target, values in zip(targets, of_topics, strict=True)
    ]
    rows: list[dict[str, Any]] = []
    for budget in sorted(budgets):
        of_budget: list[list[Any]] = [[] for _ in targets]
        for repeat in range(repeats):
            design = Design([], budget, None, topics, audited.depth, seed + repeat)
            for campaign in campaigns:
                found = drawn(campaign, targets, design)
                for target, value, answers in zip(targets, of_topics, of_budget, strict=True):
                    answers.append(
                        answer_of(campaign, target, found, grade, campaign.cell, confidence, value)
                    )
        for target, truth, answers in zip(targets, truths, of_budget, strict=True):
            rows.append(
                {"measure": target.asked.name, "budget": budget}
                | _summary(answers[::2], answers[1::2], truth)
            )
    table = AuditTable(rows)
    for _, of_measure in table.groupby("measure", sort=False):
        table.loc[of_measure.index, "saved"] = _saved(of_measure)
    table.attrs["target"] = target_of(audited.depth)
    return table


def _summary(with_judge: list[Any], without: list[Any], truth: FloatArray) -> dict[str, float]:
    lower, upper = (np.array([getattr(answer, end) for answer in with_judge]) for end in ("lower", "upper"))
    held = (lower <= truth + LABELED_ALIKE) & (truth - LABELED_ALIKE <= upper)
    above, below = lower > LABELED_ALIKE, upper < -LABELED_ALIKE
    decided = above | below
    wrong = (above & (truth < -LABELED_ALIKE)) | (below & (truth > LABELED_ALIKE))
    half = float((upper - lower).mean() / 2)
    plain = float(np.mean([answer.upper - answer.lower for answer in without]) / 2)
    return {
        "labels": float(np.mean([answer.labels for answer in with_judge])),
        "coverage": float(held.mean()),
        "worst": float(held.mean(axis=0).min()),
        "half_width": half,
        "human_only": plain,
        "ratio": half / plain if plain else np.nan,
        "decided": float(decided.mean()),
        "wrong": float(wrong.sum() / decided.sum()) if decided.any() else 0.0,
    }


def _saved(table: pd.DataFrame) -> FloatArray:
    """How many labels it takes without the judge for the same width, less those that it took."""
    labels, plain = table["labels"].to_numpy(), table["human_only"].to_numpy()
    wanted = table["half_width"].to_numpy()
    if len(table) < 2:
        return np.full(len(table), np.nan)
    needed = np.interp(wanted, plain[::-1], labels[::-1], left=np.nan)
    result: FloatArray = np.where(wanted > plain.max(), np.nan, needed - labels)
    return result
