"""Choices of runs to fuse, made on some topics and scored on others."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np

from ..arrays import BoolArray, FloatArray
from ..comparison import Comparison, JudgedContext
from ..measures.nrg import NRG
from ..options import check_count
from .fused_values import FusedValues, RunSet


class Found(NamedTuple):
    """What a strategy chose."""

    setting: int  #: which of the ways of fusion, chosen on all topics
    runs: RunSet  #: chosen on all topics
    in_sample: float  #: their mean value
    held_out: float  #: the mean value on the topics that did not choose
    values: FloatArray  #: on every topic, of what each division chooses, shape (divisions, topics)
    shares: dict[int, float]  #: in which share of the divisions each run was chosen


class Divisions(NamedTuple):
    """The topics, divided again and again.

    Attributes:
        weights: row i has the weights of the topics that choose in the i-th division, which sum to 1; in the last row
            all topics choose. Shape (divisions + 1, topics).
        held_out: which topics are scored in each division, shape (divisions, topics); each as often as the others.
    """

    weights: FloatArray
    held_out: BoolArray


def divided(n_topics: int, folds: int, repeats: int, seed: int) -> Divisions:
    """Random divisions of the topics.

    Raises:
        ValueError: too few topics.
    """
    check_topics(n_topics)
    check_count("folds", folds, 2)
    if folds > n_topics:
        raise ValueError(f"folds={folds} is more than the {n_topics} topics; give at most {n_topics}")
    rng = np.random.default_rng(seed)
    held_out = np.zeros((repeats * folds, n_topics), dtype=bool)
    for i in range(repeats):
        for j, part in enumerate(np.array_split(rng.permutation(n_topics), folds)):
            held_out[i * folds + j, part] = True
    choose = np.concatenate([~held_out, np.ones((1, n_topics), dtype=bool)])
    return Divisions(choose / choose.sum(axis=1, keepdims=True), held_out)


def reach_of_interval(difference: FloatArray, confidence: float) -> float:
    """How far the interval of a difference that several choices make reaches to each side of its mean.

    Student's, with the variance ``s²/T + s_c²``: s is the standard deviation over the T topics of what one choice
    makes, and s_c that over the choices of its mean. So it is as sure as one choice on all topics would be: the choices
    are made on the same topics, and more of them tell little more.

    Args:
        difference: on every topic, shape (choices, topics).
    """
    from scipy.stats import t

    n_choices, n_topics = difference.shape
    variance = float(difference.var(axis=1, ddof=1).mean()) / n_topics
    if n_choices > 1:
        variance += float(difference.mean(axis=1).var(ddof=1))
    return float(t.ppf((1 + confidence) / 2, n_topics - 1)) * math.sqrt(variance)


def check_topics(n_topics: int) -> None:
    """Raises ValueError for fewer topics than can be divided."""
    if n_topics < 2:
        raise ValueError(
            "the qrels hold one topic; a choice of runs is made on some topics and scored on others: give more"
        )


class Budget(NamedTuple):
    """What a set of runs may cost."""

    costs: FloatArray | None
    limit: float | None

    def total(self, runs: RunSet) -> float:
        """What some runs cost together."""
        return 0.0 if self.costs is None else float(self.costs[list(runs)].sum())

    def allows(self, runs: RunSet) -> bool:
        """Whether they are within the budget."""
        return self.limit is None or self.total(runs) <= self.limit

    def sizes(self, n: int) -> Iterable[int]:
        """How many runs a set may have: n of them, and with a budget fewer as well."""
        return [n] if self.limit is None else range(1, n + 1)


class Chooser:
    """The choices of the strategies in every division of the topics, and on all topics."""

    def __init__(self, judged: JudgedContext, values: Sequence[FusedValues], divisions: Divisions) -> None:
        self.judged = judged
        self.values = values
        self.divisions = divisions
        self.n_runs = len(judged.names)
        self.n_choices = len(divisions.weights)
        self._complements: dict[tuple[int, frozenset[int]], FloatArray] = {}

    def means(self, values: FusedValues, sets: Sequence[RunSet]) -> FloatArray:
        """The mean value of each set over the topics that choose, shape (sets, choices)."""
        means: FloatArray = values.of(sets) @ self.divisions.weights.T
        return means

    def result(self, strategy: str, n: int, within: Budget) -> Found:
        """What a strategy chooses, together with the way of fusion, and how that does on the other topics."""
        runs = [STRATEGIES[strategy](self, values, n, within) for values in self.values]
        of_choices = np.array([self._of_choices(v, one) for v, one in zip(self.values, runs, strict=True)])
        setting = of_choices.argmax(axis=0)
        picked = [runs[s][i] for i, s in enumerate(setting)]
        held_out = self.divisions.held_out
        scored = np.empty(held_out.shape)
        for i, (s, one) in enumerate(zip(setting[:-1], picked[:-1], strict=True)):
            scored[i] = self.values[s].of([one])[0]
        mean = float(scored[held_out].mean())  # every topic is held out as often as the others
        counts = Counter(run for one in picked[:-1] for run in one)
        shares = {run: count / len(held_out) for run, count in counts.most_common()}
        return Found(int(setting[-1]), picked[-1], float(of_choices.max(axis=0)[-1]), mean, scored, shares)

    def _of_choices(self, values: FusedValues, runs: Sequence[RunSet]) -> FloatArray:
        """The mean value of the i-th set over the topics of the i-th choice."""
        means: FloatArray = (values.of(runs) * self.divisions.weights).sum(axis=1)
        return means

    def single(self, values: FusedValues, n: int, within: Budget) -> list[RunSet]:
        """The best run of each choice."""
        runs: list[RunSet] = [(i,) for i in range(self.n_runs) if within.allows((i,))]
        return self._best(values, runs)

    def top(self, values: FusedValues, n: int, within: Budget) -> list[RunSet]:
        """The n best runs of each choice; with a budget, those of the best for which it is enough."""
        order = np.argsort(-self.means(values, [(i,) for i in range(self.n_runs)]), axis=0, kind="stable")
        chosen: list[RunSet] = []
        for column in order.T.tolist():
            runs: RunSet = ()
            for run in column:
                if len(runs) < n and within.allows((*runs, run)):
                    runs = (*runs, run)
            chosen.append(tuple(sorted(runs)))
        return chosen

    def greedy(self, values: FusedValues, n: int, within: Budget) -> list[RunSet]:
        """The best run, then the one that makes the fusion best, and so on; with a budget, while it gets better."""
        chosen = self.single(values, 1, within)
        growing = set(range(self.n_choices))
        for _ in range(n - 1):
            further = {i: self._larger(chosen[i], within) for i in growing}
            asked = sorted({one for sets in further.values() for one in sets})
            if not asked:
                break
            row, means = {one: j for j, one in enumerate(asked)}, self.means(values, asked)
            now = self._of_choices(values, chosen)
            for i, sets in further.items():
                best = max(sets, key=lambda one: means[row[one], i], default=chosen[i])
                if not sets or (within.limit is not None and means[row[best], i] <= now[i]):
                    growing.discard(i)
                else:
                    chosen[i] = best
        return chosen

    def exact(self, values: FusedValues, n: int, within: Budget) -> list[RunSet]:
        """The best set of each choice."""
        sizes = within.sizes(n)
        every = (one for size in sizes for one in itertools.combinations(range(self.n_runs), size))
        return self._best(values, [one for one in every if within.allows(one)])

    def all(self, values: FusedValues, n: int, within: Budget) -> list[RunSet]:
        """All runs."""
        return [tuple(range(self.n_runs))] * self.n_choices

    def complementary(self, values: FusedValues, n: int, within: Budget) -> list[RunSet]:
        """The greedy choice by NRG@10, given those before."""
        chosen: list[RunSet] = [()] * self.n_choices
        for _ in range(n):
            for i, runs in enumerate(chosen):
                further = [j for j in range(self.n_runs) if j not in runs and within.allows((*runs, j))]
                added = {j: float(self._complement(j, runs) @ self.divisions.weights[i]) for j in further}
                if added:
                    chosen[i] = (*runs, max(added, key=added.__getitem__))
        return [tuple(sorted(runs)) for runs in chosen]

    def _complement(self, run: int, runs: RunSet) -> FloatArray:
        key = run, frozenset(runs)
        if key not in self._complements:
            name = self.judged.names[run]
            priors = tuple(self.judged.names[i] for i in sorted(runs))
            comparison = Comparison(self.judged, self.judged.context.runs[name], name, priors)
            self._complements[key] = (NRG @ 10).score(comparison)
        return self._complements[key]

    def _larger(self, runs: RunSet, within: Budget) -> list[RunSet]:
        """The sets of one run more."""
        larger = (tuple(sorted((*runs, i))) for i in range(self.n_runs) if i not in runs)
        return [one for one in larger if within.allows(one)]

    def _best(self, values: FusedValues, sets: Sequence[RunSet]) -> list[RunSet]:
        return [sets[i] for i in self.means(values, sets).argmax(axis=0)]


#: What each strategy chooses; the number of runs matters to some of them.
STRATEGIES: dict[str, Callable[[Chooser, FusedValues, int, Budget], list[RunSet]]] = {
    "single": Chooser.single,
    "top": Chooser.top,
    "greedy": Chooser.greedy,
    "exact": Chooser.exact,
    "all": Chooser.all,
    "complementary": Chooser.complementary,
}
