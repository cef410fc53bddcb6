"""What the fusion of every set of runs is worth on every topic: many sets at once, as arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import NamedTuple, TypeAlias

import ir_measures
import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from ..arrays import FloatArray, IntArray, ratio, row_sums
from ..comparison import JudgedContext
from ..measures.fusion import Fusion, fused_rankings, union_of, votes_of
from ..measures.gains import discount, reciprocal

#: Some runs of a context, by ascending indices.
RunSet: TypeAlias = tuple[int, ...]

#: From the labels of rankings, in their order, shape (rankings, depth), and the labels of all judged documents of the
#: topic, to the value of each ranking. A label below 1 gains nothing.
ValueOfLabels: TypeAlias = Callable[[IntArray, IntArray], FloatArray]

#: The label of an unjudged document, and of a place behind the end of a ranking.
UNJUDGED = 0
# How many scores are held at once: what fits into the processor's cache.
_AT_ONCE = 1 << 17
# By how much rounding to 32 bits may raise a score.
_SLACK = 1 + 1e-6


def value_of_labels(measure: ir_measures.Measure) -> ValueOfLabels | None:
    """How a measure follows from labels alone; None for one that is left to ir_measures."""
    known = {"cutoff", "rel"} if measure.NAME != "nDCG" else {"cutoff", "dcg"}
    defaults = {"judged_only": False, "gains": None}
    others = {name: value for name, value in measure.params.items() if name not in known}
    if any(name not in defaults or value != defaults[name] for name, value in others.items()):
        return None
    cutoff, rel = measure.params.get("cutoff"), measure.params.get("rel", 1)
    if measure.NAME == "nDCG" and measure.params.get("dcg", "log2") == "log2":
        return partial(_ndcg, cutoff=cutoff)
    if measure.NAME in _OF_FOUND:
        return partial(_binary, value=_OF_FOUND[measure.NAME], cutoff=cutoff, rel=rel)
    return None


def _ndcg(labels: IntArray, judged: IntArray, *, cutoff: int | None) -> FloatArray:
    ideal = np.sort(np.maximum(judged, 0))[::-1][:cutoff]
    best = np.array(row_sums(ideal * discount.up_to(len(ideal))[1:]))
    return ratio(row_sums(np.maximum(labels, 0) * discount.up_to(labels.shape[1])[1:]), best)


def _binary(
    labels: IntArray,
    judged: IntArray,
    *,
    value: Callable[[FloatArray, FloatArray, int], FloatArray],
    cutoff: int | None,
    rel: int,
) -> FloatArray:
    relevant = np.array((judged >= rel).sum(), dtype=np.float64)
    return value((labels >= rel).astype(np.float64), relevant, cutoff or 1)


# From which places hold a relevant document (1, else 0), the number of these that there are, and the cutoff.
_OF_FOUND: dict[str, Callable[[FloatArray, FloatArray, int], FloatArray]] = {
    "P": lambda found, relevant, cutoff: row_sums(found) / cutoff,
    "R": lambda found, relevant, cutoff: ratio(row_sums(found), relevant),
    "Success": lambda found, relevant, cutoff: np.minimum(row_sums(found), 1.0),
    "RR": lambda found, relevant, cutoff: (found * reciprocal.up_to(found.shape[1])[1:]).max(axis=1),
    "AP": lambda found, relevant, cutoff: ratio(
        row_sums(np.cumsum(found, axis=1) * reciprocal.up_to(found.shape[1])[1:] * found), relevant
    ),
}


class _TopicVotes(NamedTuple):
    """What the runs say of the documents of one topic."""

    vote: FloatArray  #: what each run gives to each document, shape (runs, documents)
    holds: NDArray[np.int16]  #: 1 where it holds it, else 0
    label: IntArray  #: of each document
    judged: IntArray  #: the labels of all judged documents


class FusedValues:
    """The values of fused sets of runs on every topic, each computed when it is first asked for.

    Args:
        judged: the context, on the judgments.
        measure: an absolute measure.
        fusion: how the rankings are fused. A set of one run has the value of the run itself.
    """

    def __init__(self, judged: JudgedContext, measure: ir_measures.Measure, fusion: Fusion) -> None:
        self.judged = judged
        self.measure = measure
        self.fusion = fusion
        self.cutoff: int | None = cutoff_of(measure)
        self._of_labels = value_of_labels(measure)
        self._known: dict[RunSet, FloatArray] = {
            (i,): values for i, values in enumerate(judged.absolute_of_runs(measure))
        }
        self._topics: list[_TopicVotes] | None = None

    @property
    def n_topics(self) -> int:
        return self.judged.judgments.n_queries

    def of(self, sets: Sequence[RunSet]) -> FloatArray:
        """The value of every set on every topic, shape (sets, topics)."""
        self.compute(sets)
        return np.array([self._known[s] for s in sets]).reshape(len(sets), self.n_topics)

    def compute(self, sets: Iterable[RunSet]) -> None:
        """Computes those of the sets that are not known yet, with a progress bar."""
        missing = sorted({s for s in sets if s not in self._known}, key=lambda s: (len(s), s))
        if not missing:
            return
        show = {"desc": "fusing sets of runs", "disable": None, "leave": False, "delay": 1.0}
        if self._of_labels is None:
            for one in tqdm(missing, unit="set", **show):
                rankings = fused_rankings(self.judged, one, self.fusion, cutoff=self.cutoff)
                self._known[one] = self.judged.absolute([self.measure], rankings)[0]
            return
        if self._topics is None:
            self._topics = self._by_topic()
        sizes = sorted({len(s) for s in missing})
        groups = [np.array([s for s in missing if len(s) == size], dtype=np.int64) for size in sizes]
        values = [np.empty((self.n_topics, len(group))) for group in groups]
        for t, topic in enumerate(tqdm(self._topics, unit="topic", **show)):
            for group, of_group in zip(groups, values, strict=True):
                of_group[t] = self._on_topic(topic, group)
        for group, of_group in zip(groups, values, strict=True):
            of_sets = np.ascontiguousarray(of_group.T)
            self._known.update(zip(map(tuple, group.tolist()), of_sets, strict=True))

    def _by_topic(self) -> list[_TopicVotes]:
        judgments, docs = self.judged.judgments, union_of(self.judged, self.fusion.depth).docs
        runs = [votes_of(self.judged, i, self.fusion) for i in range(len(self.judged.names))]
        query_of = [docs.query[row] for row, _ in runs]
        topics = []
        for t in range(self.n_topics):
            first, end = int(docs.starts[t]), int(docs.starts[t + 1])
            vote = np.zeros((len(runs), end - first))
            holds = np.zeros((len(runs), end - first), dtype=np.int16)
            for i, ((row, votes), query) in enumerate(zip(runs, query_of, strict=True)):
                a, b = np.searchsorted(query, [t, t + 1])
                vote[i, row[a:b] - first] = votes[a:b]
                holds[i, row[a:b] - first] = 1
            judged = judgments.grade[judgments.starts[t] : judgments.starts[t + 1]]
            topics.append(_TopicVotes(vote, holds, docs.grade[first:end], judged))
        return topics

    def _on_topic(self, topic: _TopicVotes, sets: IntArray) -> FloatArray:
        """The value of each of some sets of one size, shape (sets, size), on one topic."""
        assert self._of_labels is not None
        topic = self._without_low_documents(topic, sets.shape[1])
        n_docs = len(topic.label)
        depth = n_docs if self.cutoff is None else min(self.cutoff, n_docs)
        result = np.empty(len(sets))
        if not depth:
            nothing = np.zeros((1, 1), dtype=np.int64)
            result[:] = self._of_labels(nothing, topic.judged)
            return result
        # A held document is a number that grows with its score, as 32 bits, and falls with its place among equals.
        place = np.arange(n_docs - 1, -1, -1, dtype=np.uint64)
        step = max(1, _AT_ONCE // n_docs)
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


def cutoff_of(measure: ir_measures.Measure) -> int | None:
    """How much of a ranking a measure of ir_measures looks at; None for all of it."""
    if measure.params.get("judged_only"):
        return None
    cutoff: int | None = measure.params.get("cutoff")
    return cutoff
