"""What a system that was not pooled would lose by the judgments; campaigns with fewer runs, or with fewer labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import ir_measures
import numpy as np
import pandas as pd
from tqdm import tqdm

from ..arguments import check_count
from ..context.checks import check_runs
from ..context.evaluate import Scores, score_runs
from ..context.measure_strings import parse_measures
from ..context.priors import Members
from ..context.run_context import RunContext
from ..context.view import View, check_is_context, view_of
from ..data.arrays import BoolArray, IntArray
from ..io.qrels import Qrels
from ..messages import few_quoted
from ..stats.pairs_and_ties import tie_limit, with_ties


def reusability(
    context: RunContext,
    qrels: Qrels | None,
    measures: Sequence[ir_measures.Measure | str],
    groups: Mapping[str, str] | None = None,
    *,
    pool_depth: int = 100,
) -> pd.DataFrame:
    """Leave-out-uniques: each run's score and place without the judgments that it alone contributed.

    A new system meets judgments that its own documents had no part in. What a pooled run loses, when the documents that
    only it (or its group) brought into the pool are taken out of the qrels, is what a new one like it would lose. This
    is a simulation: the qrels do not say to which depth the runs were pooled, so ``pool_depth`` does.

    Args:
        context: the runs.
        qrels: the judgments, as for :meth:`RunContext.evaluate`.
        measures: measures of this package and of ir_measures, or their strings.
        groups: from run name to group, whose runs are left out together; the context's, where it has any.
        pool_depth: how deep each run is taken to have been pooled.

    Returns:
        a DataFrame with one row a run and measure:

        - ``name``, ``measure``;
        - ``value``, ``place``: by all judgments; 1 is the best place, and tied values share the better one;
        - ``simulated``, ``simulated_place``: without the judgments that only the run, or its group, contributed;
        - ``lost``: how many judgments these are;
        - ``pool_depth``: as given.

    Raises:
        ValueError: groups that name what is not a run; what :meth:`RunContext.evaluate` raises.

    Example:
        >>> from ir_measures_relative import RunContext
        >>> from ir_measures_relative.meta import reusability
        >>> runs = {"a": {"q": {"A": 2, "B": 1}}, "b": {"q": {"B": 2, "X": 1}}}
        >>> table = reusability(RunContext(runs), {"q": {"A": 1, "B": 1, "X": 0}}, ["P@2"], pool_depth=2)
        >>> table[["name", "value", "simulated", "place", "simulated_place", "lost"]]
          name  value  simulated  place  simulated_place  lost
        0    a    1.0        0.5      1                1     1
        1    b    0.5        0.5      2                2     1
    """
    check_is_context(context)
    parsed, view = parse_measures(measures), view_of(context, qrels)
    check_runs(view)
    check_count("pool_depth", pool_depth, 1)
    names = context.names
    own = np.array(groups_of(context, groups), dtype=object)
    scores = score_runs(view, names, parsed)
    means, place = scores.means(), _places(scores)
    lost_by = contributions(view, own.tolist(), pool_depth)
    rows: list[dict[str, Any]] = []
    for group, lost in tqdm(lost_by.items(), desc="leaving out", unit="group", disable=None, leave=False):
        left, place_left = means, place
        if lost.any():
            without = view.with_judgments(~lost)
            check_runs(without)
            scores = score_runs(without, names, parsed)
            left, place_left = scores.means(), _places(scores)
        for i in np.flatnonzero(own == group).tolist():
            rows += [
                {
                    "name": names[i],
                    "measure": str(measure),
                    "value": means[i, j],
                    "simulated": left[i, j],
                    "place": place[i, j],
                    "simulated_place": place_left[i, j],
                    "lost": int(lost.sum()),
                    "pool_depth": pool_depth,
                }
                for j, measure in enumerate(parsed)
            ]
    rows.sort(key=lambda row: names.index(row["name"]))
    return pd.DataFrame(rows).astype({"name": str, "measure": str})


def _places(scores: Scores) -> IntArray:
    """The place of every run by the mean of each measure, shape (runs, measures); tied runs share the better one."""
    limits = [tie_limit(scores.values[:, j]) for j in range(len(scores.measures))]
    means = np.array(
        [with_ties(of_runs, limit) for of_runs, limit in zip(scores.means().T, limits, strict=True)]
    )
    above: IntArray = (means[:, None, :] > means[:, :, None]).sum(axis=2)
    return above.T + 1


def groups_of(context: Members, groups: Mapping[str, str] | None) -> list[str]:
    """The group of each run, the context's if none are given; a run without one is a group of its name.

    Raises:
        ValueError: not a dict; a run that the context does not hold.
    """
    names = context.names
    if groups is not None and not isinstance(groups, Mapping):
        raise ValueError(f"groups={groups!r} must be a dict from run name to group name")
    group_of = dict(context.groups if groups is None else groups)
    unknown = [name for name in group_of if name not in names]
    if unknown:
        raise ValueError(
            f"groups names {unknown}, which the context does not hold; its runs are {few_quoted(names)}"
        )
    taken = set(group_of.values())
    return [group_of.get(name, f"{name} alone" if name in taken else name) for name in names]


def contributions(view: View, own: Sequence[str], pool_depth: int) -> dict[str, BoolArray]:
    """For each group, which judgments are of documents that its runs alone hold in their first ``pool_depth``.

    Args:
        own: the group of each run.
    """
    groups = list(dict.fromkeys(own))
    held = {group: np.zeros(len(view.documents), dtype=bool) for group in groups}
    for group, run in zip(own, view.runs.values(), strict=True):
        held[group] |= view.documents.positions_in(run, pool_depth) > 0
    count = np.sum(list(held.values()), axis=0)
    return {group: held[group] & (count == 1) for group in groups}
