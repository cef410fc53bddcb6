"""What a router would gain that picks the best run of a set for each topic, and how much of that is chance."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..arrays import BoolArray, FloatArray, IntArray
from ..comparison import JudgedContext, check_is_context
from ..io.qrels import Qrels
from ..measures.absolute_base import absolute_measure
from ..measures.fusion import union_of
from ..options import check_count
from .fused_values import UNJUDGED, ValueOfLabels, cutoff_of, value_of_labels
from .fusing import judged_together

if TYPE_CHECKING:
    import ir_measures
    import pandas as pd

    from ..context import RunContext

# How many times its cutoff a measure needs of a ranking of which random halves are taken: fewer than half of so many
# documents are hardly ever less than the cutoff.
_TIMES_DEEPER = 4
_LEAST_DEPTH = 40


def headroom(
    context: RunContext,
    qrels: Qrels | None,
    sets: Sequence[Sequence[str]] | Sequence[str] | None = None,
    measure: ir_measures.Measure | str = "nDCG@10",
    *,
    splits: int = 20,
    seed: int = 0,
) -> pd.DataFrame:
    """What a perfect router would gain, which picks the best run of a set for each topic; and how much is chance.

    The best of several runs is above each of them even where all are equally good, because the luck of each differs
    from topic to topic. How much luck there is, each topic's documents say: they are divided at random into two halves,
    and every run is scored on both. On what a run is good at, the halves agree; half the difference of the two is luck
    alone, and as large as the luck in their mean. So the headroom of these half differences is the one that as many
    equal runs would have, and its share of the headroom of the means is ``chance``.

    Args:
        context: the runs.
        qrels: the judgments, as for :meth:`RunContext.evaluate`.
        sets: the names of the runs of a set, or several such lists; all runs if not given.
        measure: nDCG, P, R, RR, AP or Success, which follow from labels alone.
        splits: how often the documents are divided.
        seed: of the divisions.

    Returns:
        a DataFrame with one row a set, with the columns

        - ``names``: its runs;
        - ``single``: the mean value of the best of them;
        - ``best_of_each``: the mean over topics of the best value that one of them has;
        - ``headroom``: the difference of these two;
        - ``chance``: the share of the headroom that as many equal runs would have, about; 1 or more is all of it.
          0 where there is no headroom.

    Raises:
        ValueError: a name that the context does not hold, fewer than two runs in a set, a measure that does not follow
            from labels.

    Example:
        >>> from ir_measures_relative import RunContext, headroom
        >>> first, second = {"A": 4, "B": 3, "X": 2, "Y": 1}, {"X": 4, "Y": 3, "A": 2, "B": 1}
        >>> runs = {"odd": {"1": first, "2": second}, "even": {"1": second, "2": first}}
        >>> qrels = {"1": {"A": 1, "B": 1}, "2": {"A": 1, "B": 1}}
        >>> headroom(RunContext(runs), qrels, measure="P@2")[["single", "best_of_each", "headroom"]]
           single  best_of_each  headroom
        0     0.5           1.0       0.5
    """
    import pandas as pd

    check_is_context(context)
    base = absolute_measure(measure)
    of_labels = value_of_labels(base)
    if of_labels is None:
        raise ValueError(
            f"measure={base}: the share of chance needs a measure that follows from labels alone: nDCG, P, R, RR, AP "
            "or Success"
        )
    check_count("splits", splits, 1)
    check_count("seed", seed, 0)
    chosen = _checked_sets(sets, context.names)
    judged = judged_together(context, qrels)
    values = judged.absolute_of_runs(base)
    halves = values_on_halves(judged, of_labels, cutoff_of(base), splits, seed)
    rows = []
    for names in chosen:
        runs = [judged.index[name] for name in names]
        single, best = float(values[runs].mean(axis=1).max()), float(values[runs].max(axis=0).mean())
        row: dict[str, Any] = {"names": tuple(names), "single": single, "best_of_each": best}
        row |= {"headroom": best - single, "chance": share_of_chance(halves[..., runs, :])}
        rows.append(row)
    return pd.DataFrame(rows)


def share_of_chance(halves: FloatArray) -> float:
    """Which share of the headroom of some runs as many equal ones would have; 0 where there is no headroom.

    With values ``V1`` and ``V2`` of a run on the halves of a topic's documents, ``(V1 + V2)/2`` is what the run is
    worth there, and luck; ``(V1 - V2)/2`` is luck alone, of the same variance, where the halves are independent. What
    the two halves differ by for all runs alike goes away with the value of the best single run.

    Args:
        halves: shape (splits, 2, runs, topics).
    """
    mean, luck = (halves[:, 0] + halves[:, 1]) / 2, (halves[:, 0] - halves[:, 1]) / 2
    whole = float(_room(mean).mean())
    chance = float((_room(luck) + _room(-luck)).mean() / 2)
    return chance / whole if whole > 0 else 0.0


def _room(values: FloatArray) -> FloatArray:
    """By how much the best of each topic is above the best on average, shape (splits,)."""
    room: FloatArray = values.max(axis=-2).mean(axis=-1) - values.mean(axis=-1).max(axis=-1)
    return room


class _TopicRankings(NamedTuple):
    """The documents of one topic, judged or in a ranking."""

    document: IntArray  #: at each place of each ranking, shape (runs, places); -1 behind the end
    label: IntArray  #: of each document
    is_judged: BoolArray


def values_on_halves(
    judged: JudgedContext, of_labels: ValueOfLabels, cutoff: int | None, splits: int, seed: int
) -> FloatArray:
    """The values of the runs on random halves of each topic's documents, shape (splits, 2, runs, topics).

    A ranking is what is left of it in the half, and so are the judgments.
    """
    from tqdm import tqdm

    depth = max(_LEAST_DEPTH, _TIMES_DEEPER * cutoff) if cutoff is not None else 2**31 - 1
    topics = _by_topic(judged, depth)
    rng = np.random.default_rng(seed)
    result = np.empty((splits, 2, len(judged.names), len(topics)))
    for t, topic in enumerate(tqdm(topics, desc="halving topics", unit="topic", disable=None, leave=False)):
        for i in range(splits):
            second = rng.integers(2, size=len(topic.label)).astype(bool)
            for j, half in enumerate((~second, second)):
                labels = _labels_in_half(topic, half, cutoff)
                result[i, j, :, t] = of_labels(labels, topic.label[half & topic.is_judged])
    return result


def _labels_in_half(topic: _TopicRankings, half: BoolArray, cutoff: int | None) -> IntArray:
    """The labels of the rankings without the documents outside the half, shape (runs, at most cutoff)."""
    kept = (topic.document >= 0) & np.append(half, False)[topic.document]
    place = np.cumsum(kept, axis=1) - 1
    width = max(1, kept.sum(axis=1).max(initial=0) if cutoff is None else cutoff)
    labels = np.full((len(kept), width), UNJUDGED)
    run, at = np.nonzero(kept & (place < width))
    labels[run, place[run, at]] = topic.label[topic.document[run, at]]
    return labels


def _by_topic(judged: JudgedContext, depth: int) -> list[_TopicRankings]:
    judgments, union = judged.judgments, union_of(judged, depth)
    docs = union.docs
    known = judgments.rows_of(docs.query, docs.ids)
    unretrieved = np.ones(len(judgments), dtype=bool)
    unretrieved[known[known >= 0]] = False
    topics = []
    for t in range(judgments.n_queries):
        first, end = int(docs.starts[t]), int(docs.starts[t + 1])
        rankings = []
        for row, top in union.holdings:
            a, b = np.searchsorted(top.docs.query, [t, t + 1])
            rankings.append(row[a:b] - first)
        document = np.full((len(rankings), max(map(len, rankings), default=0)), -1)
        for i, ranking in enumerate(rankings):
            document[i, : len(ranking)] = ranking
        own = slice(int(judgments.starts[t]), int(judgments.starts[t + 1]))
        others = judgments.grade[own][unretrieved[own]]
        label = np.concatenate([docs.grade[first:end], others])
        is_judged = np.concatenate([known[first:end] >= 0, np.ones(len(others), dtype=bool)])
        topics.append(_TopicRankings(document, label, is_judged))
    return topics


def _checked_sets(sets: Any, names: Sequence[str]) -> list[list[str]]:
    if sets is None:
        sets = [names]
    if isinstance(sets, str) or not isinstance(sets, Sequence) or not len(sets):
        raise ValueError(f"sets={sets!r} must be a list of names, or a list of such lists")
    chosen = [list(sets)] if isinstance(sets[0], str) else [list(one) for one in sets]
    for one in chosen:
        unknown = [name for name in one if name not in names]
        if unknown:
            raise ValueError(
                f"sets names {unknown}, which the context does not hold; its runs are {list(names)}"
            )
        if len(set(one)) < 2:
            raise ValueError(f"the set {one} needs at least two different runs, for there to be a choice")
    return chosen
