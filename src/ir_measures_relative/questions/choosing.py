"""Choices of runs to fuse, made on some topics and scored on others."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple, Protocol

import numpy as np
from scipy.special import stdtrit

from ..arrays import BoolArray, FloatArray, IntArray
from ..options import check_count
from .fused_values import RunSet

# How many choices with one topic less are made: all of them, of as many repetitions as keep within this.
_MOST_DELETIONS = 5_000
# How many means are held at once.
_AT_ONCE = 1 << 23


class ValuesOfSets(Protocol):
    """What the fusion of sets of runs is worth."""

    def of(self, sets: Sequence[RunSet]) -> FloatArray:
        """The value of every set on every topic, shape (sets, topics)."""


class Divisions(NamedTuple):
    """The topics, divided again and again into those that choose and those that are scored.

    Attributes:
        held_out: which topics are scored in each division, shape (divisions, topics); each as often as the others.
        folds: how many divisions are one repetition, in which every topic is scored once.
        division: of each choice with one topic less, which division it is made in: the first ones.
        deleted: the topic that does not choose there.
        weights: the weights of the topics that choose, which sum to 1, shape (choices, topics): for each division, then
            for all topics, then for each division with one topic less.
    """

    held_out: BoolArray
    folds: int
    division: IntArray
    deleted: IntArray
    weights: FloatArray


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
    repeated = max(1, min(repeats, _MOST_DELETIONS // (n_topics * (folds - 1))))
    division, deleted = np.nonzero(~held_out[: repeated * folds])
    without = ~held_out[division]
    without[np.arange(len(deleted)), deleted] = False
    none_left = ~without.any(axis=1)  # of two topics
    without[none_left, deleted[none_left]] = True
    choose = np.concatenate([~held_out, np.ones((1, n_topics), dtype=bool), without])
    return Divisions(held_out, folds, division, deleted, choose / choose.sum(axis=1, keepdims=True))


def check_topics(n_topics: int) -> None:
    """Raises ValueError for fewer topics than can be divided."""
    if n_topics < 2:
        raise ValueError(
            "the qrels hold one topic; a choice of runs is made on some topics and scored on others: give more"
        )


class Budget(NamedTuple):
    """What a set of runs may cost."""

    costs: FloatArray | None = None
    limit: float | None = None

    def total(self, runs: RunSet) -> float:
        """What some runs cost together."""
        return 0.0 if self.costs is None else float(self.costs[list(runs)].sum())

    def allows(self, runs: RunSet) -> bool:
        """Whether they are within the budget."""
        return self.limit is None or self.total(runs) <= self.limit

    def sizes(self, n: int) -> Iterable[int]:
        """How many runs a set may have: n of them, and with a budget fewer as well."""
        return [n] if self.limit is None else range(1, n + 1)


class FusionChoice(NamedTuple):
    """What a strategy chose, and what that is worth."""

    setting: int  #: which of the ways of fusion, chosen on all topics
    runs: RunSet  #: chosen on all topics
    in_sample: float  #: their mean value
    held_out: float  #: the mean value on the topics that did not choose
    values: FloatArray  #: on every topic, of what each division chooses, shape (divisions, topics)
    with_less: FloatArray  #: the same, of what the divisions choose with one topic less
    shares: dict[int, float]  #: in which share of the divisions each run was chosen


class Chooser:
    """The choices of the strategies, in every division of the topics and on all topics.

    Args:
        values: what sets of runs are worth, for each way of fusion; the best way is chosen together with the runs.
        n_runs: how many runs there are.
        divisions: of the topics.
        added: what a run adds to some others on every topic, for the strategy ``"complementary"``.
    """

    def __init__(
        self,
        values: Sequence[ValuesOfSets],
        n_runs: int,
        divisions: Divisions,
        added: Callable[[int, RunSet], FloatArray] | None = None,
    ) -> None:
        self.values = values
        self.n_runs = n_runs
        self.divisions = divisions
        self.weights = divisions.weights
        self._added = added

    def choose(self, strategy: str, n: int, within: Budget = Budget()) -> FusionChoice:  # noqa: B008
        """What a strategy chooses, and how that does on the topics that did not choose it."""
        sets = [STRATEGIES[strategy](self, values, n, within) for values in self.values]
        own = np.array([self._own_means(values, one) for values, one in zip(self.values, sets, strict=True)])
        setting = own.argmax(axis=0)
        picked = [sets[s][i] for i, s in enumerate(setting.tolist())]
        values = np.empty(self.weights.shape)
        for s in np.unique(setting).tolist():
            rows = np.flatnonzero(setting == s)
            values[rows] = self.values[s].of([picked[i] for i in rows])
        held_out = self.divisions.held_out
        n_divisions = len(held_out)
        mean = float(values[:n_divisions][held_out].mean())  # every topic is held out as often as the others
        counts = Counter(run for one in picked[:n_divisions] for run in one)
        return FusionChoice(
            int(setting[n_divisions]),
            picked[n_divisions],
            float(values[n_divisions].mean()),
            mean,
            values[:n_divisions],
            values[n_divisions + 1 :],
            {run: count / n_divisions for run, count in counts.most_common()},
        )

    def single(self, values: ValuesOfSets, n: int, within: Budget) -> list[RunSet]:
        """The best run of each choice."""
        return self._best(values, [(i,) for i in range(self.n_runs) if within.allows((i,))])

    def top(self, values: ValuesOfSets, n: int, within: Budget) -> list[RunSet]:
        """The n best runs of each choice; with a budget, those of the best for which it is enough."""
        means = values.of([(i,) for i in range(self.n_runs)]) @ self.weights.T
        chosen: list[RunSet] = []
        for order in np.argsort(-means, axis=0, kind="stable").T.tolist():
            runs: RunSet = ()
            for run in order:
                if len(runs) < n and within.allows((*runs, run)):
                    runs = (*runs, run)
            chosen.append(tuple(sorted(runs)))
        return chosen

    def greedy(self, values: ValuesOfSets, n: int, within: Budget) -> list[RunSet]:
        """The best run, then the one that makes the fusion best, and so on; with a budget, while it gets better."""
        chosen = self.single(values, 1, within)
        for _ in range(n - 1):
            larger = {one: self._one_more(one, within) for one in dict.fromkeys(chosen)}
            values.of(sorted({one for sets in larger.values() for one in sets}))  # all at once
            for one, rows in _rows_of(chosen).items():
                if not larger[one]:
                    continue
                means = values.of(larger[one]) @ self.weights[rows].T
                now = values.of([one])[0] @ self.weights[rows].T
                for row, best, mean, before in zip(
                    rows, means.argmax(axis=0).tolist(), means.max(axis=0), now, strict=True
                ):
                    if within.limit is None or mean > before:
                        chosen[row] = larger[one][best]
        return chosen

    def exact(self, values: ValuesOfSets, n: int, within: Budget) -> list[RunSet]:
        """The best set of each choice."""
        every = (s for size in within.sizes(n) for s in itertools.combinations(range(self.n_runs), size))
        return self._best(values, [one for one in every if within.allows(one)])

    def all(self, values: ValuesOfSets, n: int, within: Budget) -> list[RunSet]:
        """All runs."""
        return [tuple(range(self.n_runs))] * len(self.weights)

    def complementary(self, values: ValuesOfSets, n: int, within: Budget) -> list[RunSet]:
        """Run by run, the one that adds most to those before."""
        assert self._added is not None
        chosen: list[RunSet] = [()] * len(self.weights)
        for _ in range(n):
            for one, rows in _rows_of(chosen).items():
                further = [i for i in range(self.n_runs) if i not in one and within.allows((*one, i))]
                if further:
                    added = np.array([self._added(i, one) for i in further]) @ self.weights[rows].T
                    for row, best in zip(rows, added.argmax(axis=0).tolist(), strict=True):
                        chosen[row] = tuple(sorted((*one, further[best])))
        return chosen

    def _one_more(self, runs: RunSet, within: Budget) -> list[RunSet]:
        """The sets of one run more."""
        larger = (tuple(sorted((*runs, i))) for i in range(self.n_runs) if i not in runs)
        return [one for one in larger if within.allows(one)]

    def _best(self, values: ValuesOfSets, sets: Sequence[RunSet]) -> list[RunSet]:
        """The best of some sets for each choice."""
        of_sets = values.of(sets)
        step = max(1, _AT_ONCE // len(sets))
        best: list[int] = []
        for at in range(0, len(self.weights), step):
            best += (of_sets @ self.weights[at : at + step].T).argmax(axis=0).tolist()
        return [sets[i] for i in best]

    def _own_means(self, values: ValuesOfSets, sets: Sequence[RunSet]) -> FloatArray:
        """The mean value of the i-th set over the topics of the i-th choice."""
        means: FloatArray = (values.of(sets) * self.weights).sum(axis=1)
        return means


def _rows_of(chosen: Sequence[RunSet]) -> dict[RunSet, list[int]]:
    """The choices by what they chose."""
    rows: dict[RunSet, list[int]] = {}
    for i, one in enumerate(chosen):
        rows.setdefault(one, []).append(i)
    return rows


#: What each strategy chooses.
STRATEGIES: dict[str, Callable[[Chooser, ValuesOfSets, int, Budget], list[RunSet]]] = {
    "single": Chooser.single,
    "top": Chooser.top,
    "greedy": Chooser.greedy,
    "exact": Chooser.exact,
    "all": Chooser.all,
    "complementary": Chooser.complementary,
}


def reach_of_interval(
    chosen: FusionChoice, other: FusionChoice, divisions: Divisions, confidence: float
) -> float:
    """How far the interval of the difference of two strategies, on topics that did not choose, reaches to each side.

    The divisions are of the same topics, so that more of them tell little more. Two estimates of the variance allow for
    that, and the larger one counts, since each is too small where the other is not:

    - ``(1/J + n_held/n_choose) · s²``, with s² the variance of the J divisions' means (Nadeau and Bengio, "Inference
      for the Generalization Error", Machine Learning, 2003). It is too small with more than two folds, whose choices
      are much alike.
    - the jackknife's: ``(T - 1)/T · Σ_t (d_t - d)²``, with d_t the difference when topic t neither chooses nor is
      scored (Efron and Stein, "The Jackknife Estimate of Variance", Annals of Statistics, 1981).
    """
    difference, with_less = chosen.values - other.values, chosen.with_less - other.with_less
    held_out, folds = divisions.held_out, divisions.folds
    n_divisions, n_topics = held_out.shape
    share = (1 + confidence) / 2

    means = (difference * held_out).sum(axis=1) / held_out.sum(axis=1)
    corrected = (1 / n_divisions + 1 / (folds - 1)) * float(means.var(ddof=1))
    reach = float(stdtrit(n_divisions - 1, share)) * math.sqrt(corrected)

    used = len(np.unique(divisions.division))  # the first ones
    scored = difference[:used] * held_out[:used]
    total = scored.sum(axis=1)
    changed = (with_less * held_out[divisions.division]).sum(axis=1) - total[divisions.division]
    deleted = total.sum() - scored.sum(axis=0)
    deleted = deleted + np.bincount(divisions.deleted, weights=changed, minlength=n_topics)
    deleted = deleted / (used / folds * (n_topics - 1))
    jackknife = (n_topics - 1) / n_topics * float(((deleted - deleted.mean()) ** 2).sum())
    return max(reach, float(stdtrit(n_topics - 1, share)) * math.sqrt(jackknife))
