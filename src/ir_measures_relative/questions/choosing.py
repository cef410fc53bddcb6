"""What the fusion of sets of runs is worth on every topic; and choices of sets on some topics, scored on others."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

import ir_measures
import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit
from tqdm import tqdm

from ..arrays import BoolArray, FloatArray, IntArray, ratio, row_sums, rows_of_queries
from ..comparison import JudgedContext
from ..measures.fusion import Fusion, cutoff_of, fused_rankings, union_of, votes_of
from ..measures.gains import discount, reciprocal
from ..options import check_count
from ..stats.pairs_and_ties import places

#: Some runs of a context, by ascending indices.
RunSet: TypeAlias = tuple[int, ...]

#: From sets of runs to the value of each on every topic, shape (sets, topics).
ValuesOfSets: TypeAlias = Callable[[Sequence[RunSet]], FloatArray]

#: Whether a budget allows a set; None without a budget.
Allows: TypeAlias = Callable[[RunSet], bool] | None

#: From the labels of rankings, in their order, shape (rankings, depth), and the labels of all relevant documents
#: of the topic, to the value of each ranking. A label below 1 gains nothing.
ValueOfLabels: TypeAlias = Callable[[IntArray, IntArray], FloatArray]

# The label of an unjudged document, and of a place behind the end of a ranking.
_UNJUDGED = 0
# How many choices with one topic less are made: all of them, of as many repetitions as keep within this.
_MOST_DELETIONS = 5_000
_MEANS_AT_ONCE = 1 << 23
# How many scores are held at once: what fits into the processor's cache.
_SCORES_AT_ONCE = 1 << 17
# By how much rounding to 32 bits may raise a score.
_SLACK = 1 + 1e-6


def value_of_labels(measure: ir_measures.Measure) -> ValueOfLabels | None:
    """How a measure follows from labels alone; None for one that is left to ir_measures."""
    usual = {"dcg": "log2", "judged_only": False, "gains": None}
    others = {name: value for name, value in measure.params.items() if name not in ("cutoff", "rel")}
    cutoff, rel = measure.params.get("cutoff"), measure.params.get("rel", 1)
    if measure.NAME not in _OF_GAINS or rel < 1 or not others.items() <= usual.items():
        return None

    def value(*labels: IntArray) -> FloatArray:
        graded = measure.NAME == "nDCG"
        found, known = ((np.maximum(x, 0) if graded else x >= rel).astype(np.float64) for x in labels)
        return _OF_GAINS[measure.NAME](found, known, cutoff)

    return value


def _dcg(gain: FloatArray) -> FloatArray:
    return row_sums(gain * discount.up_to(gain.shape[-1])[1:])


def _precisions(found: FloatArray) -> FloatArray:
    return np.cumsum(found, axis=1) * reciprocal.up_to(found.shape[1])[1:] * found


# From the gains of rankings, those of all documents, and the cutoff; a gain is 0 or 1 but for nDCG.
_OF_GAINS: dict[str, Callable[[Any, Any, int | None], FloatArray]] = {
    "nDCG": lambda found, known, cutoff: ratio(_dcg(found), _dcg(np.sort(known)[::-1][:cutoff])),
    "P": lambda found, known, cutoff: row_sums(found) / (cutoff or 1),
    "R": lambda found, known, cutoff: ratio(row_sums(found), row_sums(known)),
    "Success": lambda found, known, cutoff: found.max(axis=1),
    "RR": lambda found, known, cutoff: (found * reciprocal.up_to(found.shape[1])[1:]).max(axis=1),
    "AP": lambda found, known, cutoff: ratio(row_sums(_precisions(found)), row_sums(known)),
}


class _TopicVotes(NamedTuple):
    """What the runs say of the documents of one topic: those that a run holds, and then the other relevant ones."""

    vote: FloatArray  #: what each run gives to each document, shape (runs, documents)
    holds: NDArray[np.int16]  #: 1 where it holds it, else 0
    label: IntArray  #: of each document; 0 where it is not judged

    def of(self, docs: BoolArray) -> _TopicVotes:
        """Some of the documents."""
        return _TopicVotes(self.vote[:, docs], self.holds[:, docs], self.label[docs])


class FusedValues:
    """The values of fused sets of runs by an absolute measure, each computed when it is first asked for.

    A set of one run has the value of the run itself.
    """

    def __init__(self, judged: JudgedContext, measure: ir_measures.Measure, fusion: Fusion) -> None:
        self.judged, self.measure, self.fusion = judged, measure, fusion
        self.cutoff = cutoff_of(measure)
        self._of_labels = value_of_labels(measure)
        of_runs = judged.absolute_of_runs(measure)
        self._known: dict[RunSet, FloatArray] = {(i,): values for i, values in enumerate(of_runs)}
        self._of_size: dict[int, list[_TopicVotes]] = {}

    def __call__(self, sets: Sequence[RunSet]) -> FloatArray:
        """The value of every set on every topic, shape (sets, topics); with a progress bar."""
        missing = sorted({s for s in sets if s not in self._known}, key=lambda s: (len(s), s))
        show = {"desc": "fusing sets of runs", "disable": None, "leave": False, "delay": 1.0}
        if self._of_labels is None:
            for one in tqdm(missing, unit="set", **show):
                rankings = fused_rankings(self.judged, one, self.fusion, cutoff=self.cutoff)
                self._known[one] = self.judged.absolute([self.measure], rankings)[0]
        else:
            for size, group in itertools.groupby(missing, key=len):
                of_size = list(group)
                if size not in self._of_size:
                    self._of_size[size] = [self._without_low_documents(topic, size) for topic in self._topics]
                topics = tqdm(self._of_size[size], unit="topic", **show)
                values = [self._on_topic(topic, np.array(of_size)) for topic in topics]
                self._known.update(zip(of_size, np.stack(values, axis=1), strict=True))
        return np.array([self._known[s] for s in sets]).reshape(len(sets), self.judged.judgments.n_queries)

    def on_halves(self, splits: int, seed: int) -> FloatArray:
        """The values of the runs on random halves of each topic's documents, shape (splits, 2, runs, topics).

        A ranking is what is left of it in the half, and so are the judgments. The fusion has to keep the
        order of a run, as ``rrf`` does.
        """
        alone = np.arange(len(self.judged.names))[:, None]
        result = np.empty((splits, 2, len(alone), len(self._topics)))
        rng = np.random.default_rng(seed)
        show = {"desc": "halving topics", "unit": "topic", "disable": None, "leave": False}
        for t, topic in enumerate(tqdm(self._topics, **show)):
            for of_split in result[..., t]:
                half = rng.integers(2, size=len(topic.label)).astype(bool)
                for values, kept in zip(of_split, (~half, half), strict=True):
                    values[:] = self._on_topic(topic.of(kept), alone)
        return result

    @cached_property
    def _topics(self) -> list[_TopicVotes]:
        relevant, docs = self.judged.judgments.relevant, union_of(self.judged, self.fusion.depth).docs
        others = relevant.select(docs.rows_of(relevant.query, relevant.ids) < 0)
        runs = [votes_of(self.judged, i, self.fusion) for i in range(len(self.judged.names))]
        rows_of_runs = [rows_of_queries(docs.query[row], docs.n_queries) for row, _ in runs]
        topics = []
        for t, (first, end) in enumerate(itertools.pairwise(docs.starts.tolist())):
            label = np.append(docs.grade[first:end], others.grade[slice(*others.starts[t : t + 2])])
            vote = np.zeros((len(runs), len(label)))
            holds = np.zeros(vote.shape, dtype=np.int16)
            for i, ((row, votes), rows) in enumerate(zip(runs, rows_of_runs, strict=True)):
                vote[i, row[rows[t]] - first] = votes[rows[t]]
                holds[i, row[rows[t]] - first] = 1
            topics.append(_TopicVotes(vote, holds, label))
        return topics

    def _on_topic(self, topic: _TopicVotes, sets: IntArray) -> FloatArray:
        """The value of each of some sets of one size, shape (sets, size), on one topic."""
        assert self._of_labels is not None
        n_docs = len(topic.label)
        if not n_docs:
            return np.zeros(len(sets))
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
            labels = np.where(first > 0, topic.label[document], _UNJUDGED)
            result[at : at + step] = self._of_labels(labels, topic.label)
        return result

    def _without_low_documents(self, topic: _TopicVotes, size: int) -> _TopicVotes:
        """Without the documents that no set of that size has among the first that the measure looks at.

        The last of these has at least the score that a run of the set gives its own last one; and of every set some
        run gives it at least the size-th smallest of these scores. Those with a gain stay, for the ideal ranking.
        """
        n_runs, n_docs = topic.vote.shape
        if self.cutoff is None or n_docs <= self.cutoff or size > n_runs:
            return topic
        own_last = np.partition(topic.vote, n_docs - self.cutoff, axis=1)[:, n_docs - self.cutoff]
        least = float(np.sort(own_last)[size - 1])
        highest = np.sort(topic.vote, axis=0)[-size:].sum(axis=0)
        holders = np.minimum(topic.holds.sum(axis=0), size)
        keep = (self.fusion.fused(highest, holders) * _SLACK >= least) | (topic.label > 0)
        return topic.of(keep)


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
    fold = places(repeats, n_topics, seed)[:, None] % folds
    held_out = (fold == np.arange(folds)[:, None]).reshape(-1, n_topics)
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
        self.values, self.n_runs, self.divisions = values, n_runs, divisions
        self._added = added

    def choose(self, strategy: str, n: int, within: Allows = None) -> FusionChoice:
        """What a strategy chooses, and how that does on the topics that did not choose it."""
        weights, held_out = self.divisions.weights, self.divisions.held_out
        sets = [STRATEGIES[strategy](self, values, n, within) for values in self.values]
        of_settings = np.array([of(chosen) for of, chosen in zip(self.values, sets, strict=True)])
        setting = (of_settings * weights).sum(axis=2).round(12).argmax(axis=0)
        choices = np.arange(len(weights))
        values, m = of_settings[setting, choices], len(held_out)
        counts = Counter(run for i in range(m) for run in sets[setting[i]][i])
        return FusionChoice(
            int(setting[m]),
            sets[setting[m]][m],
            float(values[m].mean()),
            float(values[:m][held_out].mean()),  # every topic is held out as often as the others
            values[:m],
            values[m + 1 :],
            {run: count / m for run, count in counts.most_common()},
        )

    def single(self, values: ValuesOfSets, n: int, within: Allows) -> list[RunSet]:
        """The best run of each choice."""
        return self._best(values, ((i,) for i in range(self.n_runs)), within)

    def top(self, values: ValuesOfSets, n: int, within: Allows) -> list[RunSet]:
        """The n best runs of each choice; with a budget, those of the best for which it is enough."""
        means = self._means(values([(i,) for i in range(self.n_runs)]))
        chosen: list[RunSet] = []
        for order in np.argsort(-means, axis=0, kind="stable").T.tolist():
            runs: RunSet = ()
            for run in order:
                if len(runs) < n and (within is None or within((*runs, run))):
                    runs = (*runs, run)
            chosen.append(tuple(sorted(runs)))
        return chosen

    def greedy(self, values: ValuesOfSets, n: int, within: Allows) -> list[RunSet]:
        """The best run, then the one that makes the fusion best, and so on; with a budget, while it gets better."""
        return self._grown(
            lambda sets: values([tuple(sorted(s)) for s in sets]), n, within, within is not None
        )

    def exact(self, values: ValuesOfSets, n: int, within: Allows) -> list[RunSet]:
        """The best set of each choice; with a budget, also of fewer runs."""
        sizes = [n] if within is None else range(1, n + 1)
        every = (sets for size in sizes for sets in itertools.combinations(range(self.n_runs), size))
        return self._best(values, every, within)

    def all(self, values: ValuesOfSets, n: int, within: Allows) -> list[RunSet]:
        """All runs."""
        return [tuple(range(self.n_runs))] * len(self.divisions.weights)

    def complementary(self, values: ValuesOfSets, n: int, within: Allows) -> list[RunSet]:
        """Run by run, the one that adds most to those before."""
        added = self._added
        assert added is not None
        return self._grown(lambda sets: np.array([added(s[-1], s[:-1]) for s in sets]), n, within, False)

    def _best(self, values: ValuesOfSets, sets: Iterable[RunSet], within: Allows) -> list[RunSet]:
        """The best of some sets for each choice."""
        allowed = list(filter(within, sets))  # all of them by None
        of_sets, step = values(allowed), max(1, _MEANS_AT_ONCE // len(allowed))
        blocks = (slice(at, at + step) for at in range(0, len(self.divisions.weights), step))
        return [allowed[i] for block in blocks for i in self._means(of_sets, block).argmax(axis=0).tolist()]

    def _means(self, values: FloatArray, choices: slice | list[int] = slice(None)) -> FloatArray:
        """The means on the topics of some choices, shape (sets, choices); rounded: of equal sets the first counts."""
        return (values @ self.divisions.weights[choices].T).round(12)

    def _grown(self, values: ValuesOfSets, n: int, within: Allows, while_better: bool) -> list[RunSet]:
        """Run by run the best one for each choice, by the values of sets of which the last run is the new one."""
        chosen: list[RunSet] = [()] * len(self.divisions.weights)
        reached = np.full(len(chosen), -np.inf)
        for _ in range(n):
            rows_of: dict[RunSet, list[int]] = {}
            for row, runs in enumerate(chosen):
                rows_of.setdefault(runs, []).append(row)
            for runs, rows in rows_of.items():
                larger = [(*runs, i) for i in range(self.n_runs) if i not in runs]
                if larger := list(filter(within, larger)):
                    means = self._means(values(larger), rows)
                    best, means = means.argmax(axis=0), means.max(axis=0)
                    for row, i, mean in zip(rows, best.tolist(), means.tolist(), strict=True):
                        if not while_better or mean > reached[row]:
                            chosen[row], reached[row] = tuple(sorted(larger[i])), mean
        return chosen


#: What each strategy chooses.
STRATEGIES: dict[str, Callable[[Chooser, ValuesOfSets, int, Allows], list[RunSet]]] = {
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
    held_out, folds = divisions.held_out, divisions.folds
    n_divisions, n_topics = held_out.shape
    scored = (chosen.values - other.values) * held_out
    means = scored.sum(axis=1) / held_out.sum(axis=1)
    corrected = (1 / n_divisions + 1 / (folds - 1)) * float(means.var(ddof=1))

    used = int(divisions.division.max()) + 1  # the first ones
    with_less = (chosen.with_less - other.with_less) * held_out[divisions.division]
    changed = with_less.sum(axis=1) - scored.sum(axis=1)[divisions.division]
    deleted = scored[:used].sum() - scored[:used].sum(axis=0)
    deleted += np.bincount(divisions.deleted, weights=changed, minlength=n_topics)
    deleted /= used / folds * (n_topics - 1)
    jackknife = (n_topics - 1) * float(deleted.var())
    errors = (n_divisions, corrected), (n_topics, jackknife)
    return max(float(stdtrit(n - 1, (1 + confidence) / 2)) * math.sqrt(variance) for n, variance in errors)
