"""A rehearsal of an audit on a campaign that has both kinds of labels: does the interval hold, and how wide is it?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import ir_measures
import numpy as np
import pandas as pd

from ..arguments import check_confidence, check_count
from ..context.run_context import RunContext
from ..data.arrays import FloatArray, IntArray
from ..io.qrels import Qrels, qrels_columns
from ..io.qrels import judge as judge_columns
from ..tolerances import LABELED_ALIKE
from .estimating import answer_of, differences_of
from .planning import AuditTable, Design, depth_of, drawn, target_of
from .targets import Audited, Between, Judge, Target, rows_in


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
    """How often the intervals of an audit would hold, and how wide they would be, by the number of labels.

    Each repeat draws a plan with a seed of its own, takes the labels that it asks for from ``qrels`` and compares the
    interval with what all of ``qrels`` say. The same is done without the judge: with chances that go by the weights
    alone, and one prediction for all documents. That is the best use of so many labels without a judge.

    Args:
        context, judge, measures, between, topics, depth: as for :func:`.plan`.
        qrels: human labels of the same topics; a document without one counts as not relevant.
        budgets: the numbers of labels to try.
        repeats: how many plans are drawn for each.
        confidence: of the intervals.
        seed: of the first plan.

    Returns:
        a DataFrame with one row a measure and budget:

        - ``measure``, ``budget``; ``labels``: the mean number of labels;
        - ``coverage``: the share of intervals, of all comparisons and repeats, that hold the truth; ``worst``: that of
          the comparison with the smallest;
        - ``half_width``: of the intervals, as a mean; ``human_only``: without the judge; ``ratio``: of the two;
        - ``decided``: the share of the verdicts that are not open; ``wrong``: the share of these with the wrong sign;
        - ``saved``: how many more labels it takes without the judge for intervals as short, between the budgets that
          were tried; NaN beyond them.

    Raises:
        ValueError: a judge that has other topics than ``qrels``; what :func:`.plan` raises.
    """
    check_count("repeats", repeats, 1)
    check_count("seed", seed, 0)
    check_confidence(confidence)
    budgets = [budgets] if isinstance(budgets, int) else list(budgets)
    for budget in budgets:
        check_count("budgets", budget, 1)
    audited = Audited(context, judge, measures, between, depth_of(measures, topics, depth))
    human = judge_columns(qrels_columns(qrels))
    if set(human.query_ids) != set(audited.docs.query_ids):
        raise ValueError("the judge and the qrels have labels of different topics; give both the same")
    audited.check_known(human.grade, "people")
    row = rows_in(human, audited.docs)
    grade = np.where(row >= 0, human.grade[row], 0)
    targets = audited.targets(topics > 0, audited.grades(human.grade))
    campaigns = audited, audited.without_judge()
    of_topics = [_in_full(audited, target, grade) for target in targets]
    truths = [
        target.weight @ target.gain[grade - target.grades[0]] + target.offset.sum(axis=1)
        if values is None
        else values.mean(axis=1)
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


def _in_full(audited: Audited, target: Target, grade: IntArray) -> FloatArray | None:
    """The differences on every topic as they are where it is labelled in full; None for what is linear."""
    if target.linear:
        return None
    full = audited.in_full
    return differences_of(audited, target, audited.docs.select(full), grade[full])


def _summary(with_judge: list[Any], without: list[Any], truth: FloatArray) -> dict[str, float]:
    """What the repeats come to."""
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
