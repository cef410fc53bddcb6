"""What a router would gain that picks the best run of a set for each topic, and how much of that is chance."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import ir_measures
import numpy as np
import pandas as pd
from tqdm import tqdm

from ..arrays import BoolArray, FloatArray, IntArray
from ..comparison import JudgedContext, check_is_context
from ..context import RunContext
from ..io.qrels import Qrels
from ..measures.fusion import union_of
from ..measures.strings import absolute_measure
from ..options import ROUNDED, check_count
from .fused_values import UNJUDGED, ValueOfLabels, cutoff_of, value_of_labels
from .fusing import judged_together

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

    The best of several runs is above each of them even where all are equally good, because each is lucky on other
    topics. So each topic's documents are divided at random into two halves, and every run is scored on both. A router
    that picks each topic's best run on one half, and is scored on the other, gains only what is not luck: nothing where
    the runs are equally good. ``chance`` is the share of the headroom that it does not gain. Half of the documents tell
    less than all of them, so where runs do differ from topic to topic, ``chance`` is rather too high.

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
        - ``chance``: the share of the headroom that is luck; about 1 where the runs are equally good on every topic, 0
          where the best run of each topic is always the same. NaN where there is no headroom.

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
        room = best - single if best - single > ROUNDED else 0.0
        row |= {"headroom": room, "chance": share_of_chance(halves[..., runs, :]) if room else np.nan}
        rows.append(row)
    return pd.DataFrame(rows)


def share_of_chance(halves: FloatArray) -> float:
    """Which share of the headroom of some runs is luck; NaN where there is no headroom.

    The luck of the two halves is independent. So the run that is best on one half is worth on the other what it is
    worth there on average, and above the best single run only as far as it is really better for the topic.

    Args:
        halves: shape (splits, 2, runs, topics).
    """
    room = kept = 0.0
    for seen, other in ((halves[:, 0], halves[:, 1]), (halves[:, 1], halves[:, 0])):
        single = np.take_along_axis(other.mean(axis=2), seen.mean(axis=2).argmax(axis=1)[:, None], axis=1)
        best = (seen == seen.max(axis=1, keepdims=True)).astype(np.float64)  # several where they tie
        picked = (other * best).sum(axis=1) / best.sum(axis=1)
        room += float((other.max(axis=1) - single).mean())
        kept += float((picked - single).mean())
    return 1.0 - kept / room if room > 0 else np.nan


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
