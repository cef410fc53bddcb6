"""Which runs to fuse, and what that is worth on topics that had no say in the choice."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any

import ir_measures
import numpy as np
import pandas as pd

from ..arrays import FloatArray
from ..comparison import Comparison, JudgedContext, check_is_context, judged_context, some
from ..context import RunContext
from ..io.qrels import Qrels
from ..measures.fusion import METHODS, Fusion
from ..measures.nrg import NRG
from ..measures.strings import absolute_measure
from ..options import check_choice, check_confidence, check_count, is_number
from ..scoring import check_campaign
from ..stats.intervals import student_interval
from .choosing import STRATEGIES, Budget, Chooser, check_topics, divided, reach_of_interval
from .fused_values import FusedValues, RunSet

#: How many sets of runs are tried at most, unless the caller says otherwise.
MOST_SETS = 100_000


def fuse(
    context: RunContext,
    qrels: Qrels | None,
    n: int | Sequence[int],
    measure: ir_measures.Measure | str = "nDCG@10",
    *,
    method: str = "rrf",
    k: int | Sequence[int] = 60,
    depth: int | Sequence[int] = 1000,
    strategies: Sequence[str] = ("single", "top", "greedy", "exact", "all"),
    folds: int = 2,
    repeats: int = 20,
    seed: int = 0,
    cost: Mapping[str, float] | None = None,
    budget: float | Sequence[float] | None = None,
    confidence: float = 0.95,
    max_sets: int = MOST_SETS,
) -> pd.DataFrame:
    """Which runs to fuse, and what the fusion is worth on topics that did not choose them.

    A set of runs that was chosen because it did best on some topics looks better on these than it is. So each strategy
    chooses on a part of the topics, and is scored on the others; every topic is scored once a repetition.

    The strategies:

    - ``"single"``: the best run, alone;
    - ``"top"``: the n best runs by the measure;
    - ``"greedy"``: starts with the best run, and adds the run that makes the fusion best, until there are n;
    - ``"exact"``: the best of all sets of n;
    - ``"all"``: all runs;
    - ``"complementary"``: what :func:`select_complementary` chooses by NRG@10, which does not look at the fusion.

    Args:
        context: the runs.
        qrels: the judgments, as for :meth:`RunContext.evaluate`.
        n: how many runs to fuse; a list for several answers at once. With a budget, at most so many.
        measure: an absolute measure.
        method: ``"rrf"``, ``"isr"``, ``"combsum"`` or ``"combmnz"``, as for
            :data:`~ir_measures_relative.FusionGain`.
        k: of ``"rrf"``. A list: the best is chosen on the same topics as the runs.
        depth: how many documents of each ranking are fused. A list: as for ``k``.
        strategies: which of the above.
        folds: in how many parts the topics are divided. The choice is made on all parts but one.
        repeats: how often the topics are divided.
        seed: of the divisions.
        cost: what each run costs, such as milliseconds. The cost of a set is the sum.
        budget: how much a set may cost; a list for several answers at once, which
            :func:`ir_measures_relative.plots.fusion_frontier` draws.
        confidence: of the intervals.
        max_sets: how many sets ``"exact"`` may try.

    Returns:
        a DataFrame with one row a strategy (and n, and budget), with the columns

        - ``strategy``;
        - ``n``: how many runs were asked for; 1 for ``"single"``, and all for ``"all"``;
        - ``names``: the runs that it chooses on all topics;
        - ``k``, ``depth``: what it chooses with them, where they were lists;
        - ``cost``, ``budget``: what these runs cost, and may cost, where costs were given;
        - ``in_sample``: the value of these runs on the very topics that chose them;
        - ``held_out``: the mean value on topics that did not choose, of what the others chose;
        - ``difference``: of ``held_out`` from that of ``"single"``;
        - ``lower``, ``upper``: the interval of this difference, for new topics;
        - ``chosen``: from run name to the share of the divisions in which it was chosen.

        The interval allows for the divisions being of the same topics: it is the wider of Nadeau and Bengio's and the
        jackknife's. In simulations a 95 % interval holds the true difference in 97 to 100 % of the cases. An interval
        that takes the divisions for independent does so in 26 to 63 %.

    Raises:
        ValueError: a number of runs that there are not, one topic, a measure that is relative to other runs, more sets
            than ``max_sets``, a cost that is missing or not a number.

    Example:
        >>> from ir_measures_relative import RunContext, fuse
        >>> runs = {
        ...     "odd": {q: {"A": 3, "X": 2, "B": 1} for q in "1234"},
        ...     "even": {q: {"B": 3, "Y": 2, "A": 1} for q in "1234"},
        ...     "none": {q: {"X": 3, "Y": 2, "Z": 1} for q in "1234"},
        ... }
        >>> qrels = {q: {"A": 1, "B": 1} for q in "1234"}
        >>> table = fuse(RunContext(runs), qrels, 2, "P@2")
        >>> table[["strategy", "names", "in_sample", "held_out"]]
          strategy              names  in_sample  held_out
        0   single             (odd,)        0.5       0.5
        1      top        (odd, even)        1.0       1.0
        2   greedy        (odd, even)        1.0       1.0
        3    exact        (odd, even)        1.0       1.0
        4      all  (odd, even, none)        0.5       0.5
    """
    check_is_context(context)
    base = absolute_measure(measure)
    check_confidence(confidence)
    check_count("seed", seed, 0)
    check_count("repeats", repeats, 1)
    check_count("max_sets", max_sets, 1)
    names = context.names
    sizes = _sizes(n, names)
    settings = _settings(method, k, depth)
    chosen = _strategies(strategies)
    costs, budgets = _costs(cost, budget, names)
    judged = judged_together(context, qrels)
    divisions = divided(judged.judgments.n_queries, folds, repeats, seed)
    if "exact" in chosen:
        _check_number_of_sets(len(names), sizes, budget is not None, len(settings), max_sets)
    values = [FusedValues(judged, base, one) for one in settings]
    chooser = Chooser(values, len(names), divisions, _Complements(judged).added)
    rows: list[dict[str, Any]] = []
    for limit in budgets:
        within = Budget(costs, limit)
        single = chooser.choose("single", 1, within)
        for strategy in chosen:
            for size in {"single": [1], "all": [len(names)]}.get(strategy, sizes):
                if strategy == "all" and not within.allows(tuple(range(len(names)))):
                    continue
                found = single if strategy == "single" else chooser.choose(strategy, size, within)
                fusion = settings[found.setting]
                row: dict[str, Any] = {"strategy": strategy, "n": size}
                row["names"] = tuple(names[i] for i in found.runs)
                row |= {"k": fusion.k} if _is_list(k) else {}
                row |= {"depth": fusion.depth} if _is_list(depth) else {}
                row |= {"cost": within.total(found.runs)} if costs is not None else {}
                row |= {"budget": limit} if budget is not None else {}
                difference = found.held_out - single.held_out
                reach = reach_of_interval(found, single, divisions, confidence)
                row |= {"in_sample": found.in_sample, "held_out": found.held_out, "difference": difference}
                row |= {"lower": difference - reach, "upper": difference + reach}
                row["chosen"] = {names[i]: share for i, share in found.shares.items()}
                rows.append(row)
    return pd.DataFrame(rows)


def fusion_pairs(
    context: RunContext,
    qrels: Qrels | None,
    measure: ir_measures.Measure | str = "nDCG@10",
    *,
    method: str = "rrf",
    k: int = 60,
    depth: int = 1000,
    confidence: float = 0.95,
) -> pd.DataFrame:
    """What fusing two runs gains over the better of the two, for every pair.

    Args:
        context: the runs.
        qrels: the judgments, as for :meth:`RunContext.evaluate`.
        measure: an absolute measure.
        method: how rankings are fused, as for :func:`fuse`.
        k: of ``"rrf"``.
        depth: how many documents of each ranking are fused.
        confidence: of the intervals.

    Returns:
        a DataFrame with one row a pair, with the columns

        - ``name``, ``other``: the two runs, in the order of the context;
        - ``fused``: the mean value of their fusion;
        - ``better``: the mean value of the better of the two;
        - ``gain``: ``fused`` less ``better``; below 0, fusing these two hurts;
        - ``lower``, ``upper``: Student's interval of the gain over the run that is better on these topics.

    Raises:
        ValueError: fewer than two runs, one topic, a measure that is relative to other runs.
    """
    check_is_context(context)
    base = absolute_measure(measure)
    check_confidence(confidence)
    if len(context.names) < 2:
        raise ValueError(f"the context holds {len(context.names)} runs; a pair needs two")
    fusion = _settings(method, k, depth)
    if len(fusion) > 1:
        raise ValueError("k and depth are one number each here; fuse() chooses among several")
    judged = judged_together(context, qrels)
    check_topics(judged.judgments.n_queries)
    values = FusedValues(judged, base, fusion[0])
    pairs = list(itertools.combinations(range(len(context.names)), 2))
    alone, together = values.of([(i,) for i in range(len(context.names))]), values.of(pairs)
    means = alone.mean(axis=1)
    better = np.array([a if means[a] >= means[b] else b for a, b in pairs])
    gain = together - alone[better]
    lower, upper = student_interval(gain, confidence)
    mean = gain.mean(axis=1)
    names = np.array(context.names, dtype=object)
    return pd.DataFrame(
        {
            "name": pd.Series(names[[a for a, _ in pairs]], dtype=str),
            "other": pd.Series(names[[b for _, b in pairs]], dtype=str),
            "fused": together.mean(axis=1),
            "better": means[better],
            "gain": mean,
            "lower": np.where(np.isnan(lower), mean, lower),  # the same on every topic
            "upper": np.where(np.isnan(upper), mean, upper),
        }
    )


class _Complements:
    """What runs add to others by NRG@10, each computed when it is first asked for."""

    def __init__(self, judged: JudgedContext) -> None:
        self._judged = judged
        self._known: dict[tuple[int, RunSet], FloatArray] = {}

    def added(self, run: int, others: RunSet) -> FloatArray:
        """What a run adds to some others, on every topic."""
        if (run, others) not in self._known:
            judged, name = self._judged, self._judged.names[run]
            priors = [judged.names[i] for i in others]
            comparison = Comparison(judged, judged.context.runs[name], name, priors)
            self._known[run, others] = (NRG @ 10).score(comparison)
        return self._known[run, others]


def judged_together(context: RunContext, qrels: Qrels | None) -> JudgedContext:
    """The context on the judgments.

    Raises:
        ValueError: two runs that hold no judged topic in common, so that there is nothing to fuse.
    """
    judged = judged_context(context, qrels)
    check_campaign(judged)
    held = np.zeros((len(context.names), judged.judgments.n_queries), dtype=bool)
    for i, run in enumerate(context.runs.values()):
        query = judged.judgments.queries_of(run)
        held[i, query[query >= 0]] = True
    apart = np.argwhere(held.astype(np.int64) @ held.T.astype(np.int64) == 0)
    if len(apart):
        (a, b), ids = apart[0], judged.judgments.query_ids
        raise ValueError(
            f"runs {context.names[a]!r} and {context.names[b]!r} have no judged topic in common, so they cannot be "
            f"fused: the first has {some(ids[held[a]])}, the second {some(ids[held[b]])}"
        )
    return judged


def _is_list(value: Any) -> bool:
    return isinstance(value, (Sequence, np.ndarray)) and not isinstance(value, str)


def _sizes(n: Any, names: Sequence[str]) -> list[int]:
    sizes = list(n) if _is_list(n) else [n]
    if not sizes:
        raise ValueError("n is empty; say how many runs to fuse")
    for size in sizes:
        whole = isinstance(size, (int, np.integer)) and not isinstance(size, bool)
        if not whole or not 1 <= size <= len(names):
            raise ValueError(
                f"n={size!r} is not allowed; it must be a whole number from 1 to {len(names)}, the runs of the context"
            )
    return list(dict.fromkeys(map(int, sizes)))


def _settings(method: str, k: Any, depth: Any) -> list[Fusion]:
    check_choice("method", method, METHODS)
    ks, depths = (list(value) if _is_list(value) else [value] for value in (k, depth))
    for name, values, least in (("k", ks, 0), ("depth", depths, 1)):
        if not values:
            raise ValueError(f"{name} is empty; give a number, or a list of numbers to choose from")
        for value in values:
            check_count(name, value, least)
    if method != "rrf":
        if _is_list(k):
            raise ValueError(f"k={k!r} goes with method='rrf', not {method!r}; leave it out")
        ks = [60]
    return list(dict.fromkeys(Fusion(method, int(one), int(d)) for one in ks for d in depths))


def _strategies(strategies: Any) -> list[str]:
    if not _is_list(strategies) or not len(strategies):
        raise ValueError(
            f"strategies={strategies!r} must be a list of some of {', '.join(map(repr, STRATEGIES))}"
        )
    for strategy in strategies:
        check_choice("strategies", strategy, tuple(STRATEGIES))
    return list(dict.fromkeys(strategies))


def _costs(cost: Any, budget: Any, names: Sequence[str]) -> tuple[FloatArray | None, list[float | None]]:
    """What each run costs, and the budgets."""
    if cost is None:
        if budget is not None:
            raise ValueError("budget= needs to know what each run costs: give cost={name: cost} as well")
        return None, [None]
    if not isinstance(cost, Mapping):
        raise ValueError(f"cost={cost!r} must be a dict from run name to a number")
    unknown = [name for name in cost if name not in names]
    missing = [name for name in names if name not in cost]
    if unknown or missing:
        what = f"names {unknown}, which the context does not hold" if unknown else f"lacks {missing}"
        raise ValueError(f"cost {what}; give the cost of each run: {list(names)}")
    for name, value in cost.items():
        _check_amount(f"cost[{name!r}]", value)
    costs = np.array([float(cost[name]) for name in names])
    budgets = list(budget) if _is_list(budget) else [budget]
    if not budgets:
        raise ValueError("budget is empty; give a number, or a list of numbers")
    for one in budgets:
        if one is not None or budget is not None:
            _check_amount("budget", one)
        if one is not None and one < costs.min(initial=np.inf):
            raise ValueError(f"budget={one!r} is not enough for any run; the cheapest costs {costs.min():g}")
    return costs, budgets


def _check_amount(name: str, value: Any) -> None:
    if not is_number(value) or not 0 <= value < np.inf:
        raise ValueError(f"{name}={value!r} is not allowed; it must be a number from 0 up")


def _check_number_of_sets(
    n_runs: int, sizes: Sequence[int], budgeted: bool, n_settings: int, max_sets: int
) -> None:
    """Raises ValueError where the exact search would have to try too many sets."""
    wanted = set(range(1, max(sizes) + 1)) if budgeted else set(sizes)
    number = n_settings * sum(math.comb(n_runs, size) for size in wanted)
    if number > max_sets:
        of = f"{n_settings} settings of k and depth × the " if n_settings > 1 else ""
        raise ValueError(
            f"strategy 'exact' would try {number:,} sets of runs ({of}sets of {', '.join(map(str, sizes))} of {n_runs} "
            f"runs), and max_sets is {max_sets:,}. Leave 'exact' out, as in strategies=('single', 'top', 'greedy', "
            "'all'), since 'greedy' tries few sets; or give a larger max_sets"
        )
