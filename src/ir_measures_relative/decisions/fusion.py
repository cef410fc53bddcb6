"""Fusion of rankings: the fused run, and the values of many fused sets of runs."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeAlias

import ir_measures
import numpy as np
from numpy.typing import NDArray

from ..context.collection import Collection
from ..context.measure_strings import param_value
from ..context.tops import Top
from ..data.arrays import BoolArray, FloatArray, IntArray, query_slices, ratio, row_sums
from ..data.documents import Documents
from ..data.ids import Ids
from ..data.rankings import Rankings
from ..measures.bases.base import BASES
from ..measures.form import Ideal

METHODS = ("rrf", "isr", "combsum", "combmnz")

# The methods that multiply the sum by the number of rankings that have the document.
_TIMES_HOLDERS = ("isr", "combmnz")
_SMALLEST_RANGE = 1e-9  # scores of a smaller range are divided by this, as in ranx
# The measures whose values for labels are those of ir_measures to the last bit.
_BY_LABELS = ("nDCG", "P", "R", "Success", "RR", "AP")
# By how much rounding to 32 bits may raise a score.
_SLACK = 1 + 1e-6
# The depth to which rankings are read first, and the factor by which it grows where that is too little.
_FIRST, _FACTOR = 128, 2
# How many scores are computed at once: as many as fit into the processor's cache.
_SCORES_AT_ONCE = 1 << 17


class Fusion(NamedTuple):
    """How rankings are fused: the score of a document is a sum over the rankings that have it in their first ``depth``.

    - ``rrf``: ``1/(k + i)`` at position i; ``combsum``: its score, scaled to lie from 0 to 1;
    - ``isr``: ``1/i²``; ``combmnz``: the scaled score; either sum times the number of these rankings.
    """

    method: str = "rrf"  #: one of :data:`METHODS`
    k: int = 60  #: of ``rrf``: the larger, the less the first positions stand out
    depth: int = 1000  #: how many documents of each ranking are fused

    def votes(self, query: IntArray, position: IntArray, score: NDArray[np.float32]) -> FloatArray:
        """Return the vote, at least 0, of one run for each document retrieved; scores as for :func:`min_max`."""
        if self.method == "rrf":
            return 1.0 / (self.k + position.astype(np.float64))
        if self.method == "isr":
            return 1.0 / (position.astype(np.float64) ** 2)
        if np.isnan(score).any():
            raise ValueError(
                f"fusion by {self.method!r} needs scores, and a track has positions alone; fuse by 'rrf' or 'isr'"
            )
        return min_max(query, score)

    def combine(self, total: FloatArray, holders: IntArray | NDArray[np.int16]) -> FloatArray:
        """Return the fused scores from the sum of the votes and the number of rankings that have each document."""
        return total * holders if self.method in _TIMES_HOLDERS else total


def min_max(query: IntArray, score: NDArray[np.float32]) -> FloatArray:
    """Scale the scores of each query to [0, 1]; they are sorted by query, then descending. Equal scores become 0."""
    if not len(query):
        return np.empty(0)
    values = score.astype(np.float64)
    starts = np.flatnonzero(np.diff(query, prepend=query[0] - 1))
    sizes = np.diff(np.append(starts, len(query)))
    high, low = values[starts], values[starts + sizes - 1]
    spread = np.maximum(high - low, _SMALLEST_RANGE)
    return (values - np.repeat(low, sizes)) / np.repeat(spread, sizes)


# ---- the documents of all runs, and the votes for them


class Union(NamedTuple):
    """The documents that the runs of a context retrieve to a depth, once for each judged query."""

    #: Sorted by query, then by id, descending: of two equal scores the first row comes first.
    docs: Documents
    #: For each run, the rows of ``docs`` that it retrieves, by query and position; and its top, with the scores.
    runs: list[tuple[IntArray, Top]]


def unite_rankings(view: Collection, depth: int) -> Union:
    """Return the documents that the runs of a context retrieve to a depth; computed once for a set of judgments."""

    def compute() -> Union:
        tops, nothing = view.tops(depth), np.empty(0, dtype=np.int64)
        query = np.concatenate([nothing, *(top.docs.query for top in tops)])
        grade = np.concatenate([nothing, *(top.docs.grade for top in tops)])
        ids = Ids.joined([top.docs.ids for top in tops])
        order = ids.descending(query) if len(ids) else query
        listed = Documents(view.documents.query_ids, query[order], ids.take(order), grade[order])
        repeated, last = listed.repeats()
        first_row, keep = np.arange(len(order)), np.ones(len(order), dtype=bool)
        first_row[repeated], keep[repeated] = last, False
        row = np.empty(len(order), dtype=np.int64)
        row[order] = (np.cumsum(keep) - 1)[first_row]
        ends = np.cumsum([len(top.position) for top in tops])
        return Union(listed.select(keep), list(zip(np.split(row, ends[:-1]), tops, strict=True)))

    return view.memoize(("union", depth), compute)


class Votes(NamedTuple):
    """The votes of each run for the documents that some run retrieves to a depth, and its largest vote below the depth.

    A run gives no document below the depth more than the first one there. So a few documents of each run settle most
    fused lists.
    """

    fusion: Fusion
    docs: Documents  #: of :func:`unite_rankings`
    #: For each run, the rows of ``docs`` that it votes for, ascending, and its votes.
    by_run: list[tuple[IntArray, FloatArray]]
    below: FloatArray  #: each run's vote for its first document below the depth, shape (topics, runs)
    goes_on: BoolArray  #: whether a run has a document there

    def scores(self, runs: Iterable[int]) -> tuple[FloatArray, BoolArray]:
        """Return the fused score of each document by the votes of some runs, and whether one of them has it."""
        total, holders = np.zeros(len(self.docs)), np.zeros(len(self.docs), dtype=np.int64)
        for row, vote in (self.by_run[run] for run in runs):
            total[row] += vote
            holders[row] += 1
        return self.fusion.combine(total, holders), holders > 0

    def suffice(self, topics: int | slice, runs: IntArray, last: FloatArray) -> bool:
        """Return whether these votes settle the fused lists: no document below the depth can reach a ``last`` score.

        ``last`` has the score of the last document of each list; -1 for a list that is not full.
        """
        below, goes_on = (values[topics][..., runs] for values in (self.below, self.goes_on))
        most = self.fusion.combine(below.sum(axis=-1), goes_on.sum(axis=-1))
        return not bool((goes_on.any(axis=-1) & (last <= most * _SLACK)).any())


def depths(least: int, most: int) -> Iterator[int]:
    """Yield the depths to which to read the rankings, one after the other, until one is enough."""
    depth = max(least, min(_FIRST, most))
    while depth < most:
        yield depth
        depth *= _FACTOR
    yield most


def votes_to(view: Collection, fusion: Fusion, depth: int) -> Votes:
    """Return the votes for the documents that some run of the context retrieves to a depth; computed once."""

    def compute() -> Votes:
        docs, runs = unite_rankings(view, depth).docs, view.rankings
        by_run, below = [], np.zeros((docs.n_queries, len(runs)))
        goes_on = below > 0
        for i, run in enumerate(runs):
            rows, votes = [np.empty(0, dtype=np.int64)], [np.empty(0)]
            for part in run.parts():  # their deep tops are not kept
                top = part.top(fusion.depth)
                topic = docs.match_queries(part)[top.query]
                judged = np.flatnonzero(topic >= 0)
                query, position = topic[judged], top.position[judged]
                vote = fusion.votes(query, position, top.score[judged])
                row = docs.find_rows(query, top.ids.take(judged), top.hashes[judged])
                rows.append(row[row >= 0])
                votes.append(vote[row >= 0])
                first_below = position == depth + 1
                below[query[first_below], i], goes_on[query[first_below], i] = vote[first_below], True
            row, vote = np.concatenate(rows), np.concatenate(votes)
            order = np.argsort(row)
            by_run.append((row[order], vote[order]))
        return Votes(fusion, docs, by_run, below, goes_on)

    return view.memoize(("votes to", fusion, depth), compute)


def fused_rankings(view: Collection, runs: Sequence[int], fusion: Fusion) -> Rankings:
    """Return the fusion of some runs of a context, as a run of the judged queries."""
    votes = votes_to(view, fusion, fusion.depth)
    score, is_retrieved = votes.scores(runs)
    docs = votes.docs.select(is_retrieved)
    return Rankings(docs.query_ids[docs.query], docs.ids, score[is_retrieved], name="the fused run")


def list_cutoff(measure: ir_measures.Measure) -> int | None:
    """Return how many ranks of a list an ir_measures measure reads; None for all of them."""
    return None if param_value(measure, "judged_only") else param_value(measure, "cutoff")


# ---- the values of many sets

#: Some runs of a context, by ascending indices.
RunSet: TypeAlias = tuple[int, ...]

#: From the labels of rankings, in their order, shape (rankings, depth), and the labels of all relevant documents
#: of the topic, to the value of each ranking. A label below 1 gains nothing.
LabelFunction: TypeAlias = Callable[[IntArray, IntArray], FloatArray]


def label_function(measure: ir_measures.Measure) -> LabelFunction | None:
    """Return how a measure follows from labels alone; None for one that is left to ir_measures."""
    usual = {"dcg": "log2", "judged_only": False, "gains": None}
    further = {name: value for name, value in measure.params.items() if name not in ("cutoff", "rel")}
    if (
        measure.NAME not in _BY_LABELS
        or measure.params.get("rel", 1) < 1
        or not further.items() <= usual.items()
    ):
        return None
    rule = BASES[measure.NAME].rule(partial(param_value, measure))

    def value(ranked: IntArray, judged: IntArray) -> FloatArray:
        gain = rule.gain(ranked)
        terms = gain * rule.seen.seen(np.arange(1, gain.shape[1] + 1))
        if rule.combine == "largest":
            return terms.max(axis=1)
        if rule.combine == "precisions":
            terms = terms * np.cumsum(gain, axis=1)
        if not isinstance(rule.over, Ideal):
            return row_sums(terms) / rule.over
        return ratio(row_sums(terms), rule.over.value(rule.gain(judged), np.zeros_like(judged), 1))

    return value


class _TopicVotes(NamedTuple):
    """The votes for the documents of one topic: those that a run retrieves, then the other relevant ones."""

    vote: FloatArray  #: of each run for each document, shape (runs, documents)
    holds: NDArray[np.int16]  #: 1 where the run retrieves the document, else 0
    label: IntArray  #: of each document; 0 where it is not judged


class FusedValues:
    """The values of fused sets of runs by an absolute measure, each computed when it is first needed.

    A set of one run has the value of the run itself.
    """

    def __init__(self, view: Collection, measure: ir_measures.Measure, fusion: Fusion) -> None:
        self.view, self.measure, self.fusion = view, measure, fusion
        self.cutoff = list_cutoff(measure)
        self._value_of_labels = label_function(measure)
        values_by_run = view.absolute_values_by_run(measure)
        self._values: dict[RunSet, FloatArray] = {(i,): values for i, values in enumerate(values_by_run)}
        end = fusion.depth if self.cutoff is None else min(self.cutoff, fusion.depth)
        self._depths = list(depths(end, fusion.depth))  # the first of which is looked at
        self._topics: dict[int, list[_TopicVotes]] = {}  # by the size of sets; 0 for all documents looked at

    def __call__(self, sets: Sequence[RunSet]) -> FloatArray:
        """Return the value of every set on every topic, shape (sets, topics); with a progress bar."""
        from tqdm import tqdm  # importing the package does without it

        missing = sorted({s for s in sets if s not in self._values}, key=lambda s: (len(s), s))
        show = {"desc": "fusing sets of runs", "disable": None, "leave": False, "delay": 1.0}
        if self._value_of_labels is None:
            for runs in tqdm(missing, unit="set", **show):
                rankings = fused_rankings(self.view, runs, self.fusion)
                self._values[runs] = self.view.compute_absolute([self.measure], rankings)[0]
        else:
            for _, group in itertools.groupby(missing, key=len):
                same_size = list(group)
                progress = partial(tqdm, unit="topic", **show)
                while (values := self._score_sets(np.array(same_size), progress)) is None:
                    self._depths.pop(0)
                    self._topics.clear()
                self._values.update(zip(same_size, values, strict=True))
        return np.array([self._values[s] for s in sets]).reshape(len(sets), self.view.documents.n_queries)

    @property
    def _votes(self) -> Votes:
        return votes_to(self.view, self.fusion, self._depths[0])

    def _score_sets(self, sets: IntArray, progress: Callable[[Any], Iterable[Any]]) -> FloatArray | None:
        """Return the value of sets of one size, shape (sets, topics); None where too few documents were read."""
        size = sets.shape[1]
        if not self._topics:
            self._topics[0] = self._split_by_topic()
        if size not in self._topics:
            self._topics[size] = [self._drop_low_documents(topic, size) for topic in self._topics[0]]
        result = np.zeros((len(sets), self.view.documents.n_queries))
        for t, topic in enumerate(progress(self._topics[size])):
            if not self._score_topic(t, topic, sets, result[:, t]):
                return None
        return result

    def _split_by_topic(self) -> list[_TopicVotes]:
        relevant, docs, runs = self.view.documents.relevant, self._votes.docs, self._votes.by_run
        further = relevant.select(docs.find_rows(relevant.query, relevant.ids) < 0)
        slices = [query_slices(docs.query[row], docs.n_queries) for row, _ in runs]
        topics = []
        for t, (first, end) in enumerate(itertools.pairwise(docs.starts.tolist())):
            label = np.append(docs.grade[first:end], further.grade[slice(*further.starts[t : t + 2])])
            vote = np.zeros((len(runs), len(label)))
            holds = np.zeros(vote.shape, dtype=np.int16)
            for i, ((row, votes), rows) in enumerate(zip(runs, slices, strict=True)):
                vote[i, row[rows[t]] - first] = votes[rows[t]]
                holds[i, row[rows[t]] - first] = 1
            topics.append(_TopicVotes(vote, holds, label))
        return topics

    def _score_topic(self, t: int, topic: _TopicVotes, sets: IntArray, result: FloatArray) -> bool:
        """Write the value of sets of one size, shape (sets, size), on one topic; False if that takes more documents."""
        assert self._value_of_labels is not None
        n_docs = len(topic.label)
        if not n_docs:
            return True
        depth = n_docs if self.cutoff is None else min(self.cutoff, n_docs)
        # The key of a document grows with its score, as 32 bits, and falls with its row among equals.
        reversed_row = np.arange(n_docs - 1, -1, -1, dtype=np.uint64)
        step = max(1, _SCORES_AT_ONCE // n_docs)
        for at in range(0, len(sets), step):
            block = sets[at : at + step]
            total, holders = topic.vote[block[:, 0]], topic.holds[block[:, 0]]
            for column in block.T[1:]:
                total += topic.vote[column]
                holders += topic.holds[column]
            score = self.fusion.combine(total, holders).astype(np.float32)
            key = score.view(np.uint32).astype(np.uint64) + np.uint64(1)
            key <<= np.uint64(32)
            key += reversed_row
            key[holders == 0] = 0
            key.partition(n_docs - depth, axis=1)
            first = np.sort(key[:, n_docs - depth :], axis=1)[:, ::-1]
            last = ((first[:, -1] >> np.uint64(32)) - np.uint64(1)).astype(np.uint32).view(np.float32)
            if not self._votes.suffice(t, block, np.where(first[:, -1] > 0, last, -1.0)):
                return False
            document = n_docs - 1 - (first & np.uint64(2**32 - 1)).astype(np.int64)
            labels = np.where(first > 0, topic.label[document], 0)
            result[at : at + step] = self._value_of_labels(labels, topic.label)
        return True

    def _drop_low_documents(self, topic: _TopicVotes, size: int) -> _TopicVotes:
        """Return the topic without the documents that no set of a size ranks within the measure's cutoff.

        The last of its documents has at least the score that a run of the set gives its own last one; and of every set
        some run gives it at least the size-th smallest of these scores. Those with a gain stay, for the ideal ranking.
        """
        n_runs, n_docs = topic.vote.shape
        if self.cutoff is None or n_docs <= self.cutoff or size > n_runs:
            return topic
        last_votes = np.partition(topic.vote, n_docs - self.cutoff, axis=1)[:, n_docs - self.cutoff]
        least = float(np.sort(last_votes)[size - 1])
        highest = np.sort(topic.vote, axis=0)[-size:].sum(axis=0)
        holders = np.minimum(topic.holds.sum(axis=0), size)
        keep = (self.fusion.combine(highest, holders) * _SLACK >= least) | (topic.label > 0)
        return _TopicVotes(topic.vote[:, keep], topic.holds[:, keep], topic.label[keep])
