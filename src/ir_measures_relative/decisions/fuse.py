"""Choose runs to fuse, and estimate the gain on held-out topics."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any, NamedTuple, TypeAlias

import ir_measures
import numpy as np
import pandas as pd
from scipy.special import stdtrit

from ..arguments import check_choice, check_confidence, check_count
from ..context.checks import check_runs, check_whole_to
from ..context.collection import Collection, judged_collection
from ..context.evaluated import Evaluated
from ..context.measure_strings import absolute_measure
from ..context.missing_topics import check_topics, note_missing_topics
from ..context.run_context import RunContext, check_is_context
from ..data.arrays import BoolArray, FloatArray, IntArray
from ..io.qrels import Qrels
from ..measures.nrg import NRG
from ..messages import counted
from ..stats.intervals import shuffled_topics
from .fusion import METHODS, FusedValues, Fusion, RunSet
from .options import DEFAULT_DEPTH, Combination

#: The strategy that the command line and the report conclude from, whichever turns out best.
FIXED_BEFOREHAND = "greedy"
#: How many sets of runs are tried at most, unless the caller says otherwise.
MOST_SETS = 100_000
# The most choices with one topic less, which limits the repetitions that the jackknife uses.
_MOST_DELETIONS = 5_000
_MEANS_AT_ONCE = 1 << 23

#: From sets of runs to the value of each on every topic, shape (sets, topics).
ValuesOfSets: TypeAlias = Callable[[Sequence[RunSet]], FloatArray]


def fuse(
    context: RunContext,
    qrels: Qrels | None,
    n: int | Sequence[int],
    measure: ir_measures.Measure | str = "nDCG@10",
    *,
    method: str = "rrf",
    k: int = 60,
    depth: int | None = None,
    strategies: Sequence[str] = ("single", "top", "greedy", "exact", "all"),
    folds: int = 2,
    repeats: int = 20,
    seed: int = 0,
    confidence: float = 0.95,
    max_sets: int = MOST_SETS,
    missing: str | None = None,
) -> pd.DataFrame:
    """Choose runs to fuse, and estimate the gain of the fusion on held-out topics.

    Each strategy chooses runs on a part of the topics, and is scored on the others, again and again:

    - ``"single"``: the best run, unchanged; ``"top"``: the n best runs; ``"all"``: all runs;
    - ``"greedy"``: from the best run on, the run that makes the fusion best, until there are n;
    - ``"exact"``: the best of all sets of n;
    - ``"complementary"``: the choice of :func:`select_complementary` by NRG@10.

    Source: Fox and Shaw, TREC-2, 1993 (combsum, combmnz); Cormack, Clarke and Büttcher, SIGIR 2009 (rrf); Mourão,
    Martins and Magalhães, Computerized Medical Imaging and Graphics 39, 2015 (isr).

    Args:
        context: the runs.
        qrels: the judgments.
        n: the number of runs to fuse, or several.
        measure: an absolute measure.
        method: a document's score is the sum of 1/(k + i) over its ranks i (``"rrf"``); of 1/i², times the number of
            runs that have it (``"isr"``); of its scores, each scaled to [0, 1] (``"combsum"``); or of these, times that
            number (``"combmnz"``).
        k: of ``"rrf"``.
        depth: how many documents of each run are fused; default: 1,000, or as many as the track of a run has.
        strategies: of those above.
        folds: the parts of the topics; the choice is made on all but one.
        repeats: the number of random splits.
        seed: of the splits.
        confidence: of the intervals.
        max_sets: the largest number of sets that ``"exact"`` may try.
        missing: topics that a run has no ranking for, as for :func:`decide`.

    Returns:
        a DataFrame with one row per strategy (and n): ``strategy``, ``n``; ``names``: the runs chosen on all topics;
        ``depth``, where a track sets it; ``in_sample``: their value on the topics that chose them; ``held_out``: the
        mean value on held-out topics; ``difference`` from ``"single"``, with ``ci_lower`` and ``ci_upper`` for new
        topics, the wider of Nadeau and Bengio's and the jackknife's interval (in simulations, 95 % cover 97 to 100 %);
        ``chosen``: from run to the share of splits in which it was chosen.

    Raises:
        ValueError: more runs than there are, one topic, a relative measure, more sets than ``max_sets``.
    """
    check_is_context(context)
    base = absolute_measure(measure)
    check_confidence(confidence)
    view = judged_collection(context, qrels)
    check_runs(view, [base], missing_topics=False)
    view, note = check_topics(view, context.names, missing)
    if view.documents.n_queries < 2:
        raise ValueError("the qrels hold one topic; a choice is made on some and scored on others: give more")
    _check_common_topics(view)
    for name, value, least in (("seed", seed, 0), ("repeats", repeats, 1), ("max_sets", max_sets, 1)):
        check_count(name, value, least)
    names, sizes = context.names, _read_sizes(n)
    if max(sizes) > len(names):
        raise ValueError(f"n={max(sizes)} is not allowed; the context holds {counted(len(names), 'run')}")
    check_choice("method", method, METHODS)
    if method != "rrf" and k != 60:
        raise ValueError(f"k={k!r} goes with method='rrf', not {method!r}; leave it out")
    fusion = Fusion(method, k, Combination(k=k, depth=depth).fused_depth(view.rankings))
    check_whole_to(view.rankings, fusion.depth)
    is_cut = depth is None and fusion.depth < DEFAULT_DEPTH
    _check_strategies(strategies)
    splits = split_topics(view.documents.n_queries, folds, repeats, seed)
    n_sets = sum(math.comb(len(names), size) for size in sizes)
    if "exact" in strategies and n_sets > max_sets:
        raise ValueError(
            f"'exact' would try {n_sets:,} sets of runs, and max_sets is {max_sets:,}; set more, or leave it out"
        )
    chooser = Chooser(
        FusedValues(view, base, fusion), len(names), splits, cache(partial(_last_run_nrg, view))
    )
    single = chooser.choose("single", 1)
    rows = []
    for strategy in dict.fromkeys(strategies):
        for size in {"single": [1], "all": [len(names)]}.get(strategy, sizes):
            choice = chooser.choose(strategy, size)
            difference = choice.held_out - single.held_out
            margin = interval_margin(choice, single, splits, confidence)
            row = {"strategy": strategy, "n": size, "names": tuple(names[i] for i in choice.runs)}
            row |= {"depth": fusion.depth} if is_cut else {}
            row |= {"in_sample": choice.in_sample, "held_out": choice.held_out, "difference": difference}
            row |= {"ci_lower": difference - margin, "ci_upper": difference + margin}
            rows.append(row | {"chosen": {names[i]: share for i, share in choice.shares.items()}})
    table = pd.DataFrame(rows)
    table.attrs |= {"measure": str(base), "confidence": confidence}
    return note_missing_topics(table, note, missing, context)


def _last_run_nrg(view: Collection, runs: RunSet) -> FloatArray:
    """Return the NRG@10 of the last run of a set given the others, on every topic."""
    *priors, name = (view.names[i] for i in runs)
    return (NRG @ 10).score(Evaluated.of(view, name, priors))


def _check_strategies(strategies: Any) -> None:
    if not _is_list(strategies) or not len(strategies):
        raise ValueError(f"strategies={strategies!r} must be a list of some of {str([*STRATEGIES])[1:-1]}")
    for strategy in strategies:
        check_choice("strategies", strategy, tuple(STRATEGIES))


def _check_common_topics(view: Collection) -> None:
    """Raise ValueError where two runs have no judged topic in common."""
    topics = np.arange(view.documents.n_queries)
    ranks = np.array([np.isin(topics, view.documents.match_queries(run)) for run in view.runs.values()])
    for a in np.flatnonzero(~ranks.any(axis=1))[:1]:
        raise ValueError(f"run {view.names[a]!r} ranks no judged topic; leave it out")
    for a, b in np.argwhere(~(ranks @ ranks.T))[:1]:  # of booleans: whether both rank some topic
        raise ValueError(
            f"runs {view.names[a]!r} and {view.names[b]!r} have no judged topic in common; leave one out"
        )


def _is_list(value: Any) -> bool:
    return isinstance(value, (Sequence, np.ndarray)) and not isinstance(value, str)


def _read_sizes(n: Any) -> list[int]:
    """Return the numbers of runs to fuse, checked."""
    sizes = list(dict.fromkeys(n)) if _is_list(n) else [n]
    if not sizes:
        raise ValueError("n is empty; give a number, or a list of numbers")
    for size in sizes:
        check_count("n", size, 1)
    return sizes


# ---- choices on some topics, scored on others


class Splits(NamedTuple):
    """Random splits of the topics into those that choose and those that are held out, and scored."""

    held_out: BoolArray  #: which topics each split scores, shape (splits, topics); all equally often
    folds: int  #: how many splits are one repetition, in which every topic is scored once
    split: IntArray  #: of each choice with one topic less, the split it belongs to: the first splits
    deleted: IntArray  #: the topic that does not choose there
    #: Of the topics that choose, with sum 1, shape (choices, topics): for each split, then for all topics, then for
    #: each split with one topic less.
    weights: FloatArray


def split_topics(n_topics: int, folds: int, repeats: int, seed: int) -> Splits:
    """Return random splits of the topics; raise ValueError for too few topics."""
    check_count("folds", folds, 2)
    if folds > n_topics:
        raise ValueError(f"folds={folds} is more than the {n_topics} topics; give at most {n_topics}")
    fold = shuffled_topics(repeats, n_topics, seed)[:, None] % folds  # of each topic in a random order
    held_out = (fold == np.arange(folds)[:, None]).reshape(-1, n_topics)
    n_repeats = max(1, min(repeats, _MOST_DELETIONS // (n_topics * (folds - 1))))
    split, deleted = np.nonzero(~held_out[: n_repeats * folds])
    with_less = ~held_out[split]
    with_less[np.arange(len(deleted)), deleted] = False
    is_empty = ~with_less.any(axis=1)  # of two topics
    with_less[is_empty, deleted[is_empty]] = True
    choose = np.concatenate([~held_out, np.ones((1, n_topics), dtype=bool), with_less])
    return Splits(held_out, folds, split, deleted, choose / choose.sum(axis=1, keepdims=True))


class FusionChoice(NamedTuple):
    """The choice of a strategy, and its value."""

    runs: RunSet  #: chosen on all topics
    in_sample: float  #: their mean value
    held_out: float  #: the mean value on held-out topics
    values: FloatArray  #: the value of each choice on every topic, shape (choices, topics)
    shares: dict[int, float]  #: the share of the splits in which each run was chosen


class Chooser:
    """The choices of the strategies, in every split of the topics and on all topics.

    ``values`` returns the values of sets; ``added`` what the last run of a set adds to the others.
    """

    def __init__(
        self,
        values: ValuesOfSets,
        n_runs: int,
        splits: Splits,
        added: Callable[[RunSet], FloatArray] | None = None,
    ) -> None:
        self.values, self.n_runs, self.splits, self.added = values, n_runs, splits, added

    def choose(self, strategy: str, n: int) -> FusionChoice:
        """Return the choice of a strategy, with its value on the topics that did not choose it."""
        held_out, sets = self.splits.held_out, STRATEGIES[strategy](self, n)
        values, m = self.values(sets), len(held_out)
        counts = Counter(run for chosen in sets[:m] for run in chosen)
        shares = {run: count / m for run, count in counts.most_common()}
        # Every topic is held out as often as the others.
        in_sample, out = float(values[m].mean()), float(values[:m][held_out].mean())
        return FusionChoice(sets[m], in_sample, out, values, shares)

    def choose_best(self, n: int) -> list[RunSet]:
        """Return the best set of n runs for each choice."""
        sets = list(itertools.combinations(range(self.n_runs), n))
        values, step = self.values(sets), max(1, _MEANS_AT_ONCE // len(sets))
        blocks = (slice(at, at + step) for at in range(0, len(self.splits.weights), step))
        return [sets[i] for rows in blocks for i in self._means(values, rows).argmax(axis=0).tolist()]

    def _means(self, values: FloatArray, choices: slice | list[int]) -> FloatArray:
        """Return the means on the topics of some choices, shape (sets, choices); rounded, so that ties are ties."""
        return (values @ self.splits.weights[choices].T).round(12)

    def grow(self, values: ValuesOfSets, n: int) -> list[RunSet]:
        """Add the best run for each choice, until there are n; the last run of a set given to ``values`` is new."""
        chosen: list[RunSet] = [()] * len(self.splits.weights)
        for _ in range(n):
            rows_by_set: dict[RunSet, list[int]] = {}
            for row, runs in enumerate(chosen):
                rows_by_set.setdefault(runs, []).append(row)
            for runs, rows in rows_by_set.items():
                larger = [(*runs, i) for i in range(self.n_runs) if i not in runs]
                best = self._means(values(larger), rows).argmax(axis=0)
                for row, i in zip(rows, best.tolist(), strict=True):
                    chosen[row] = tuple(sorted(larger[i]))
        return chosen

    def grow_complementary(self, n: int) -> list[RunSet]:
        """Add the run that adds most to those before, by ``added``."""
        assert self.added is not None
        added = self.added
        return self.grow(lambda sets: np.array([added(runs) for runs in sets]), n)


#: The choice of each strategy, of n runs.
STRATEGIES: dict[str, Callable[[Chooser, int], list[RunSet]]] = {
    "single": Chooser.choose_best,
    "top": lambda chooser, n: chooser.grow(lambda sets: chooser.values([s[-1:] for s in sets]), n),
    "greedy": lambda chooser, n: chooser.grow(
        lambda sets: chooser.values([tuple(sorted(s)) for s in sets]), n
    ),
    "exact": Chooser.choose_best,
    "all": Chooser.choose_best,
    "complementary": Chooser.grow_complementary,
}


def interval_margin(chosen: FusionChoice, other: FusionChoice, splits: Splits, confidence: float) -> float:
    """Return half the width of the interval of the difference of two strategies on held-out topics.

    The larger of two estimates of the variance counts: ``(1/J + n_held/n_choose) · s²``, with s² the variance of the J
    splits' means (Nadeau and Bengio, Machine Learning, 2003), and the jackknife's, ``(T - 1)/T · Σ_t (d_t - d)²``, with
    d_t the difference when topic t neither chooses nor is scored (Efron and Stein, Annals of Statistics, 1981).
    """
    held_out, folds = splits.held_out, splits.folds
    n_splits, n_topics = held_out.shape
    difference = chosen.values - other.values
    scored = difference[:n_splits] * held_out
    means = scored.sum(axis=1) / held_out.sum(axis=1)
    corrected = (1 / n_splits + 1 / (folds - 1)) * float(means.var(ddof=1))
    used = int(splits.split.max()) + 1  # the first ones
    with_less = difference[n_splits + 1 :] * held_out[splits.split]
    changed = with_less.sum(axis=1) - scored.sum(axis=1)[splits.split]
    deleted = scored[:used].sum() - scored[:used].sum(axis=0)
    deleted += np.bincount(splits.deleted, weights=changed, minlength=n_topics)
    deleted /= used / folds * (n_topics - 1)
    jackknife = (n_topics - 1) * float(deleted.var())
    errors = (n_splits, corrected), (n_topics, jackknife)
    return max(float(stdtrit(n - 1, (1 + confidence) / 2)) * math.sqrt(variance) for n, variance in errors)
