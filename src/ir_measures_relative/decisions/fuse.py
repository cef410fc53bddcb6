"""Choose runs to fuse, and estimate the gain on held-out topics."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, partial
from typing import Any, NamedTuple, TypeAlias

import ir_measures
import numpy as np
import pandas as pd
from scipy.special import stdtrit

from ..arguments import check_amount, check_choice, check_confidence, check_count
from ..context.checks import check_runs, check_whole_to
from ..context.collection import Collection, judged_collection
from ..context.evaluated import Evaluated
from ..context.measure_strings import absolute_measure
from ..context.missing_topics import check_topics, note_missing_topics
from ..context.run_context import RunContext, check_is_context
from ..data.arrays import BoolArray, FloatArray, IntArray
from ..data.rankings import known_depth
from ..io.qrels import Qrels
from ..measures.nrg import NRG
from ..messages import counted
from ..stats.intervals import shuffled_topics
from .fusion import METHODS, FusedValues, Fusion, RunSet
from .options import DEFAULT_DEPTH

#: The strategy that the command line and the report conclude from, whichever turns out best.
FIXED_BEFOREHAND = "greedy"
#: How many sets of runs are tried at most, unless the caller says otherwise.
MOST_SETS = 100_000
# The most choices with one topic less, which limits the repetitions that the jackknife uses.
_MOST_DELETIONS = 5_000
_MEANS_AT_ONCE = 1 << 23

#: From sets of runs to the value of each on every topic, shape (sets, topics).
ValuesOfSets: TypeAlias = Callable[[Sequence[RunSet]], FloatArray]

#: Whether a budget allows a set; None without a budget.
Allows: TypeAlias = Callable[[RunSet], bool] | None


def fuse(
    context: RunContext,
    qrels: Qrels | None,
    n: int | Sequence[int],
    measure: ir_measures.Measure | str = "nDCG@10",
    *,
    method: str = "rrf",
    k: int | Sequence[int] = 60,
    depth: int | Sequence[int] | None = None,
    strategies: Sequence[str] = ("single", "top", "greedy", "exact", "all"),
    folds: int = 2,
    repeats: int = 20,
    seed: int = 0,
    cost: Mapping[str, float] | None = None,
    budget: float | Sequence[float] | None = None,
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
        n: the number of runs to fuse, or several; with a budget, the largest number.
        measure: an absolute measure.
        method: a document's score is the sum of 1/(k + i) over its ranks i (``"rrf"``); of 1/i², times the number of
            runs that have it (``"isr"``); of its scores, each scaled to [0, 1] (``"combsum"``); or of these, times that
            number (``"combmnz"``).
        k: of ``"rrf"``. Of several k or depths, the best is chosen with the runs.
        depth: how many documents of each run are fused; default: 1,000, or as many as the track of a run has.
        strategies: of those above.
        folds: the parts of the topics; the choice is made on all but one.
        repeats: the number of random splits.
        seed: of the splits.
        cost: of each run.
        budget: the highest cost of a set, or several.
        confidence: of the intervals.
        max_sets: the largest number of sets that ``"exact"`` may try.
        missing: topics that a run has no ranking for, as for :func:`decide`.

    Returns:
        a DataFrame with one row per strategy (and n, and budget): ``strategy``, ``n``; ``names``: the runs chosen on
        all topics; ``k``, ``depth``, ``cost``, ``budget``, where asked for; ``in_sample``: their value on the topics
        that chose them; ``held_out``: the mean value on held-out topics; ``difference`` from ``"single"``, with
        ``ci_lower`` and ``ci_upper`` for new topics, the wider of Nadeau and Bengio's and the jackknife's interval (in
        simulations, 95 % cover 97 to 100 %); ``chosen``: from run to the share of splits in which it was chosen.

    Raises:
        ValueError: more runs than there are, one topic, a relative measure, more sets than ``max_sets``, no cost.
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
    names, sizes = context.names, _read_numbers("n", n, 1)
    if max(sizes) > len(names):
        raise ValueError(f"n={max(sizes)} is not allowed; the context holds {counted(len(names), 'run')}")
    available = known_depth(view.rankings, DEFAULT_DEPTH)
    settings = _read_settings(method, k, available if depth is None else depth)
    check_whole_to(view.rankings, max(setting.depth for setting in settings))
    _check_strategies(strategies)
    costs, budgets = _read_costs(cost, budget, names)
    splits = split_topics(view.documents.n_queries, folds, repeats, seed)
    if "exact" in strategies:
        _check_set_count(
            len(names), sizes if budget is None else range(1, max(sizes) + 1), len(settings), max_sets
        )
    values = [FusedValues(view, base, setting) for setting in settings]
    chooser = Chooser(values, len(names), splits, cache(partial(_last_run_nrg, view)))
    shows_depth = _is_list(depth) or (depth is None and available != DEFAULT_DEPTH)
    rows = []
    for limit in budgets:

        def allows(runs: RunSet, limit: float | None = limit) -> bool:
            return limit is None or float(costs[list(runs)].sum()) <= limit

        within = None if limit is None else allows
        single = chooser.choose("single", 1, within)
        for strategy in dict.fromkeys(strategies):
            for size in {"single": [1], "all": [len(names)]}.get(strategy, sizes):
                if strategy == "all" and not allows(tuple(range(size))):
                    continue
                choice = chooser.choose(strategy, size, within)
                difference, setting = choice.held_out - single.held_out, settings[choice.setting]
                margin = interval_margin(choice, single, splits, confidence)
                row = {"strategy": strategy, "n": size, "names": tuple(names[i] for i in choice.runs)}
                row |= {"k": setting.k} if _is_list(k) else {}
                row |= {"depth": setting.depth} if shows_depth else {}
                row |= {} if cost is None else {"cost": float(costs[list(choice.runs)].sum())}
                row |= {} if limit is None else {"budget": limit}
                row |= {"in_sample": choice.in_sample, "held_out": choice.held_out, "difference": difference}
                row |= {"ci_lower": difference - margin, "ci_upper": difference + margin}
                rows.append(row | {"chosen": {names[i]: share for i, share in choice.shares.items()}})
    if not rows:
        raise ValueError(f"budget={budget!r} is not enough for all runs; ask for another strategy than 'all'")
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


def _check_set_count(n_runs: int, sizes: Iterable[int], n_settings: int, most: int) -> None:
    n_sets = n_settings * sum(math.comb(n_runs, size) for size in sizes)
    if n_sets > most:
        raise ValueError(
            f"'exact' would try {n_sets:,} sets of runs, and max_sets is {most:,}; set more, or leave it out"
        )


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


def _read_numbers(name: str, value: Any, least: int | None) -> list[Any]:
    """Return one number or several as a checked list: whole numbers from ``least`` on; if it is None, any amounts."""
    numbers = list(value) if _is_list(value) else [value]
    if not numbers:
        raise ValueError(f"{name} is empty; give a number, or a list of numbers")
    for number in numbers:
        check_amount(name, number) if least is None else check_count(name, number, least)
    return list(dict.fromkeys(numbers))


def _read_settings(method: str, k: Any, depth: Any) -> list[Fusion]:
    check_choice("method", method, METHODS)
    if method != "rrf" and (_is_list(k) or k != 60):
        raise ValueError(f"k={k!r} goes with method='rrf', not {method!r}; leave it out")
    pairs = itertools.product(_read_numbers("k", k, 0), _read_numbers("depth", depth, 1))
    return [Fusion(method, int(number), int(end)) for number, end in pairs]


def _read_costs(cost: Any, budget: Any, names: Sequence[str]) -> tuple[FloatArray, list[float | None]]:
    """Return the cost of each run, and the budgets; 0, and no budget, where they are not given."""
    budgets = [None] if budget is None else _read_numbers("budget", budget, None)
    if cost is None and budget is not None:
        raise ValueError("budget= needs to know what each run costs: give cost={name: cost} as well")
    given = dict.fromkeys(names, 0.0) if cost is None else cost
    if not isinstance(given, Mapping) or {*given} != {*names}:
        wrong = sorted({*given} ^ {*names}) if isinstance(given, Mapping) else given
        raise ValueError(f"cost= must hold a number for each run, and no other; correct {wrong}")
    for name, amount in given.items():
        check_amount(f"cost[{name!r}]", amount)
    costs = np.array([float(given[name]) for name in names])
    if budget is not None and min(budgets) < costs.min():
        raise ValueError(
            f"budget={min(budgets)!r} is not enough for any run; the cheapest costs {costs.min():g}"
        )
    return costs, budgets


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

    setting: int  #: which of the ways of fusion, chosen on all topics
    runs: RunSet  #: chosen on all topics
    in_sample: float  #: their mean value
    held_out: float  #: the mean value on held-out topics
    values: FloatArray  #: the value of each choice on every topic, shape (choices, topics)
    shares: dict[int, float]  #: the share of the splits in which each run was chosen


class Chooser:
    """The choices of the strategies, in every split of the topics and on all topics.

    ``values`` has one function for each way of fusion; ``added`` returns what the last run of a set adds to the others.
    """

    def __init__(
        self,
        values: Sequence[ValuesOfSets],
        n_runs: int,
        splits: Splits,
        added: Callable[[RunSet], FloatArray] | None = None,
    ) -> None:
        self.values, self.n_runs, self.splits, self.added = values, n_runs, splits, added

    def choose(self, strategy: str, n: int, within: Allows = None) -> FusionChoice:
        """Return the choice of a strategy, with its value on the topics that did not choose it."""
        weights, held_out = self.splits.weights, self.splits.held_out
        sets = [STRATEGIES[strategy](self, values, n, within) for values in self.values]
        by_setting = np.array([values(chosen) for values, chosen in zip(self.values, sets, strict=True)])
        setting = (by_setting * weights).sum(axis=2).round(12).argmax(axis=0)
        values, m = by_setting[setting, np.arange(len(weights))], len(held_out)
        counts = Counter(run for i in range(m) for run in sets[setting[i]][i])
        shares = {run: count / m for run, count in counts.most_common()}
        # Every topic is held out as often as the others.
        in_sample, out = float(values[m].mean()), float(values[:m][held_out].mean())
        return FusionChoice(int(setting[m]), sets[setting[m]][m], in_sample, out, values, shares)

    def choose_best(self, values: ValuesOfSets, sizes: Iterable[int], within: Allows) -> list[RunSet]:
        """Return the best set of some sizes for each choice."""
        every = (sets for size in sizes for sets in itertools.combinations(range(self.n_runs), size))
        allowed = list(filter(within, every))  # without a budget, all sets
        set_values, step = values(allowed), max(1, _MEANS_AT_ONCE // len(allowed))
        blocks = (slice(at, at + step) for at in range(0, len(self.splits.weights), step))
        return [allowed[i] for rows in blocks for i in self._means(set_values, rows).argmax(axis=0).tolist()]

    def _means(self, values: FloatArray, choices: slice | list[int]) -> FloatArray:
        """Return the means on the topics of some choices, shape (sets, choices); rounded, so that ties are ties."""
        return (values @ self.splits.weights[choices].T).round(12)

    def grow(
        self, values: ValuesOfSets, n: int, within: Allows = None, while_better: bool = False
    ) -> list[RunSet]:
        """Add the best run for each choice, again and again; the last run of a set is the new one."""
        chosen: list[RunSet] = [()] * len(self.splits.weights)
        reached = np.full(len(chosen), -np.inf)
        for _ in range(n):
            rows_by_set: dict[RunSet, list[int]] = {}
            for row, runs in enumerate(chosen):
                rows_by_set.setdefault(runs, []).append(row)
            for runs, rows in rows_by_set.items():
                larger = [(*runs, i) for i in range(self.n_runs) if i not in runs]
                if larger := list(filter(within, larger)):
                    means = self._means(values(larger), rows)
                    best, means = means.argmax(axis=0), means.max(axis=0)
                    for row, i, mean in zip(rows, best.tolist(), means.tolist(), strict=True):
                        if not while_better or mean > reached[row]:
                            chosen[row], reached[row] = tuple(sorted(larger[i])), mean
        return chosen


def _greedy(chooser: Chooser, values: ValuesOfSets, n: int, within: Allows) -> list[RunSet]:
    """Add run by run up to n; with a budget, only while the value rises."""
    return chooser.grow(lambda sets: values([tuple(sorted(s)) for s in sets]), n, within, within is not None)


def _exact(chooser: Chooser, values: ValuesOfSets, n: int, within: Allows) -> list[RunSet]:
    """Choose the best set of n runs; with a budget, of at most n."""
    return chooser.choose_best(values, [n] if within is None else range(1, n + 1), within)


def _complementary(chooser: Chooser, _: ValuesOfSets, n: int, within: Allows) -> list[RunSet]:
    """Add the run that adds most to those before, by ``added``."""
    assert chooser.added is not None
    added = chooser.added
    return chooser.grow(lambda sets: np.array([added(runs) for runs in sets]), n, within)


#: The choice of each strategy, of up to n runs.
STRATEGIES: dict[str, Callable[[Chooser, ValuesOfSets, int, Allows], list[RunSet]]] = {
    "single": _exact,
    "top": lambda chooser, values, n, within: chooser.grow(lambda s: values([x[-1:] for x in s]), n, within),
    "greedy": _greedy,
    "exact": _exact,
    "all": lambda chooser, values, n, within: chooser.choose_best(values, [n], None),
    "complementary": _complementary,
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
