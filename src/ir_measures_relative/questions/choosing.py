"""What the fusion of sets of runs is worth on every topic; and choices of sets on some topics, scored on others."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Any, NamedTuple, Protocol, TypeAlias

import ir_measures
import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit
from tqdm import tqdm

from ..arrays import BoolArray, FloatArray, IntArray, ratio, row_sums
from ..comparison import JudgedContext
from ..measures.fusion import Fusion, cutoff_of, fused_rankings, union_of, votes_of
from ..measures.gains import discount, reciprocal
from ..options import check_count

#: Some runs of a context, by ascending indices.
RunSet: TypeAlias = tuple[int, ...]

#: From the labels of rankings, in their order, shape (rankings, depth), and the labels of all judged documents of the
#: topic, to the value of each ranking. A label below 1 gains nothing.
ValueOfLabels: TypeAlias = Callable[[IntArray, IntArray], FloatArray]

#: The label of an unjudged document, and of a place behind the end of a ranking.
UNJUDGED = 0
# How many choices with one topic less are made: all of them, of as many repetitions as keep within this.
_MOST_DELETIONS = 5_000
_MEANS_AT_ONCE = 1 << 23
# How many scores are held at once: what fits into the processor's cache.
_SCORES_AT_ONCE = 1 << 17
# By how much rounding to 32 bits may raise a score.
_SLACK = 1 + 1e-6


def value_of_labels(measure: ir_measures.Measure) -> ValueOfLabels | None:
    """How a measure follows from labels alone; None for one that is left to ir_measures."""
    name, params = measure.NAME, measure.params
    usual = {"dcg": "log2", "judged_only": False, "gains": None}
    others = params.keys() - {"cutoff", "rel"}
    if name not in _OF_GAINS or any(other not in usual or params[other] != usual[other] for other in others):
        return None
    cutoff, rel = params.get("cutoff"), params.get("rel", 1)

    def value(labels: IntArray, judged: IntArray) -> FloatArray:
        if name == "nDCG":
            return _OF_GAINS[name](np.maximum(labels, 0), np.maximum(judged, 0), cutoff)
        return _OF_GAINS[name]((labels >= rel).astype(np.float64), judged >= rel, cutoff)

    return value


def _ndcg(gain: IntArray, known: IntArray, cutoff: int | None) -> FloatArray:
    ideal = np.sort(known)[::-1][:cutoff]
    best = np.array(row_sums(ideal * discount.up_to(len(ideal))[1:]))
    return ratio(row_sums(gain * discount.up_to(gain.shape[1])[1:]), best)


# From the gains of rankings, those of all judged documents, and the cutoff; a gain is 0 or 1 but for nDCG.
_OF_GAINS: dict[str, Callable[[Any, Any, int | None], FloatArray]] = {
    "nDCG": _ndcg,
    "P": lambda found, known, cutoff: row_sums(found) / (cutoff or 1),
    "R": lambda found, known, cutoff: ratio(row_sums(found), np.array(known.sum(), dtype=np.float64)),
    "Success": lambda found, known, cutoff: np.minimum(row_sums(found), 1.0),
    "RR": lambda found, known, cutoff: (found * reciprocal.up_to(found.shape[1])[1:]).max(axis=1),
    "AP": lambda found, known, cutoff: ratio(
        row_sums(np.cumsum(found, axis=1) * reciprocal.up_to(found.shape[1])[1:] * found),
        np.array(known.sum(), dtype=np.float64),
    ),
}


class _TopicVotes(NamedTuple):
    """What the runs say of the documents of one topic."""

    vote: FloatArray  #: what each run gives to each document, shape (runs, documents)
    holds: NDArray[np.int16]  #: 1 where it holds it, else 0
    label: IntArray  #: of each document
    judged: IntArray  #: the labels of all judged documents


class FusedValues:
    """The values of fused sets of runs by an absolute measure, each computed when it is first asked for.

    A set of one run has the value of the run itself.
    """

    def __init__(self, judged: JudgedContext, measure: ir_measures.Measure, fusion: Fusion) -> None:
        self.judged = judged
        self.measure = measure
        self.fusion = fusion
        self.cutoff = cutoff_of(measure)
        self._of_labels = value_of_labels(measure)
        of_runs = judged.absolute_of_runs(measure)
        self._known: dict[RunSet, FloatArray] = {(i,): values for i, values in enumerate(of_runs)}

    def of(self, sets: Sequence[RunSet]) -> FloatArray:
        """The value of every set on every topic, shape (sets, topics); with a progress bar."""
        missing = sorted({s for s in sets if s not in self._known}, key=lambda s: (len(s), s))
        show = {"desc": "fusing sets of runs", "disable": None, "leave": False, "delay": 1.0}
        if missing and self._of_labels is None:
            for one in tqdm(missing, unit="set", **show):
                rankings = fused_rankings(self.judged, one, self.fusion, cutoff=self.cutoff)
                self._known[one] = self.judged.absolute([self.measure], rankings)[0]
        elif missing:
            groups = [np.array(list(of_size)) for _, of_size in itertools.groupby(missing, key=len)]
            topics = tqdm(self._topics, unit="topic", **show)
            on_topics = [[self._on_topic(topic, group) for group in groups] for topic in topics]
            for group, values in zip(groups, zip(*on_topics, strict=True), strict=True):
                self._known.update(zip(map(tuple, group.tolist()), np.stack(values, axis=1), strict=True))
        return np.array([self._known[s] for s in sets]).reshape(len(sets), self.judged.judgments.n_queries)

    @cached_property
    def _topics(self) -> list[_TopicVotes]:
        judgments, docs = self.judged.judgments, union_of(self.judged, self.fusion.depth).docs
        runs = [votes_of(self.judged, i, self.fusion) for i in range(len(self.judged.names))]
        # Where the documents of each topic begin, among those that a run holds.
        starts = [docs.query[row].searchsorted(np.arange(judgments.n_queries + 1)) for row, _ in runs]
        topics = []
        for t in range(judgments.n_queries):
            first, end = docs.starts[t : t + 2].tolist()
            vote = np.zeros((len(runs), end - first))
            holds = np.zeros((len(runs), end - first), dtype=np.int16)
            for i, (row, votes) in enumerate(runs):
                own = slice(*starts[i][t : t + 2])
                vote[i, row[own] - first] = votes[own]
                holds[i, row[own] - first] = 1
            judged = judgments.grade[judgments.starts[t] : judgments.starts[t + 1]]
            topics.append(_TopicVotes(vote, holds, docs.grade[first:end], judged))
        return topics

    def _on_topic(self, topic: _TopicVotes, sets: IntArray) -> FloatArray:
        """The value of each of some sets of one size, shape (sets, size), on one topic."""
        assert self._of_labels is not None
        topic = self._without_low_documents(topic, sets.shape[1])
        n_docs = len(topic.label)
        if not n_docs:
            return self._of_labels(np.full((len(sets), 1), UNJUDGED), topic.judged)
        depth = n_docs if self.cutoff is None else min(self.cutoff, n_docs)
        result = np.empty(len(sets))
        # A held document is a number that grows with its score, as 32 bits, and falls with its place among equals.
        place = np.arange(n_docs - 1, -1, -1, dtype=np.uint64)
        step = max(1, _SCORES_AT_ONCE // n_docs)
        for at in range(0, len(sets), step):
            block = sets[at : at + step]
            total, holders = topic.vote[block[:, 0]], topic.holds[block[:, 0]]
            for column in block.T[1:]:
                total += topic.vote[column]
                holders += topic.holds[column]
            score = self.fusion.fused(total, holders).astype(np.float32)
            key = score.view(np.uint32).astype(np.uint64) + np.uint64(1)
            key <<= np.uint64(32)
            key += place
            key[holders == 0] = 0
            key.partition(n_docs - depth, axis=1)
            first = np.sort(key[:, n_docs - depth :], axis=1)[:, ::-1]
            document = n_docs - 1 - (first & np.uint64(2**32 - 1)).astype(np.int64)
            labels = np.where(first > 0, topic.label[document], UNJUDGED)
            result[at : at + step] = self._of_labels(labels, topic.judged)
        return result

    def _without_low_documents(self, topic: _TopicVotes, size: int) -> _TopicVotes:
        """Without the documents that no set of that size has among the first that the measure looks at.

        The last of these has at least the score that a run of the set gives its own last one; and of every set some
        run gives it at least the size-th smallest of these scores.
        """
        n_runs, n_docs = topic.vote.shape
        if self.cutoff is None or n_docs <= self.cutoff or size > n_runs:
            return topic
        own_last = np.partition(topic.vote, n_docs - self.cutoff, axis=1)[:, n_docs - self.cutoff]
        least = float(np.sort(own_last)[size - 1])
        highest = np.sort(topic.vote, axis=0)[-size:].sum(axis=0)
        holders = np.minimum(topic.holds.sum(axis=0), size)
        keep = self.fusion.fused(highest, holders) * _SLACK >= least
        return _TopicVotes(topic.vote[:, keep], topic.holds[:, keep], topic.label[keep], topic.judged)


class ValuesOfSets(Protocol):
    """What the fusion of sets of runs is worth."""

    def of(self, sets: Sequence[RunSet]) -> FloatArray:
        """The value of every set on every topic, shape (sets, topics)."""


class Divisions(NamedTuple):
    """The topics, divided again and again into those that choose and those that are scored."""

    held_out: BoolArray  #: which topics each division scores, shape (divisions, topics); all equally often
    folds: int  #: how many divisions are one repetition, in which every topic is scored once
    division: IntArray  #: of each choice with one topic less, which division it is made in: the first ones
    deleted: IntArray  #: the topic that does not choose there
    #: Of the topics that choose, with sum 1, shape (choices, topics): for each division, then for all topics, then for
    #: each division with one topic less.
    weights: FloatArray


def divided(n_topics: int, folds: int, repeats: int, seed: int) -> Divisions:
    """Random divisions of the topics; ValueError for too few of them."""
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
    """Raises ValueError for one topic alone."""
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
        means = [(own.of(s) * self.weights).sum(axis=1) for own, s in zip(self.values, sets, strict=True)]
        setting = np.array(means).argmax(axis=0)
        picked = [sets[s][i] for i, s in enumerate(setting.tolist())]
        values = np.empty(self.weights.shape)
        for s in np.unique(setting).tolist():
            rows = np.flatnonzero(setting == s)
            values[rows] = self.values[s].of([picked[i] for i in rows])
        held_out = self.divisions.held_out
        n_divisions = len(held_out)
        counts = Counter(run for one in picked[:n_divisions] for run in one)
        return FusionChoice(
            int(setting[n_divisions]),
            picked[n_divisions],
            float(values[n_divisions].mean()),
            float(values[:n_divisions][held_out].mean()),  # every topic is held out as often as the others
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
            larger = {
                one: [tuple(sorted((*one, i))) for i in self._further(one, within)] for one in {*chosen}
            }
            values.of(sorted({one for sets in larger.values() for one in sets}))  # all at once
            for one, rows in _rows_of(chosen).items():
                if larger[one]:
                    means = values.of(larger[one]) @ self.weights[rows].T
                    better = means.max(axis=0) > values.of([one])[0] @ self.weights[rows].T
                    best = means.argmax(axis=0)
                    for i, row in enumerate(rows):
                        if within.limit is None or better[i]:
                            chosen[row] = larger[one][best[i]]
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
                further = self._further(one, within)
                if further:
                    added = np.array([self._added(i, one) for i in further]) @ self.weights[rows].T
                    for row, best in zip(rows, added.argmax(axis=0).tolist(), strict=True):
                        chosen[row] = tuple(sorted((*one, further[best])))
        return chosen

    def _further(self, runs: RunSet, within: Budget) -> list[int]:
        """The runs that may be added to some."""
        return [i for i in range(self.n_runs) if i not in runs and within.allows((*runs, i))]

    def _best(self, values: ValuesOfSets, sets: Sequence[RunSet]) -> list[RunSet]:
        """The best of some sets for each choice."""
        of_sets = values.of(sets)
        step = max(1, _MEANS_AT_ONCE // len(sets))
        blocks = (self.weights[at : at + step].T for at in range(0, len(self.weights), step))
        return [sets[i] for block in blocks for i in (of_sets @ block).argmax(axis=0).tolist()]


def _rows_of(chosen: Sequence[RunSet]) -> dict[RunSet, list[int]]:
    """The choices by what they chose."""
    rows: dict[RunSet, list[int]] = {}
    for i, one in enumerate(chosen):
        rows.setdefault(one, []).append(i)
    return rows


#: What each strategy chooses.
STRATEGIES: dict[str, Callable[[Chooser, ValuesOfSets, int, Budget], list[RunSet]]] = {
    name: getattr(Chooser, name) for name in ("single", "top", "greedy", "exact", "all", "complementary")
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
