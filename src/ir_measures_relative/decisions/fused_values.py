"""The values of many fused sets of runs."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import ir_measures
import numpy as np

from ..context.collection import Collection
from ..data.arrays import BoolArray, FloatArray, IntArray, query_slices, ratio, row_sums
from ..data.documents import Documents
from ..measures.bases.gains import discount, reciprocal
from .fusion import Fusion, cutoff_of, fused_rankings, union_of

if TYPE_CHECKING:
    from numpy.typing import NDArray


#: By how much rounding to 32 bits may raise a score.
SLACK = 1 + 1e-6
# How deep the rankings are looked at first, and how many times as deep where that is too little.
_FIRST, _FACTOR = 128, 4


class Votes(NamedTuple):
    """What each run of a context gives to the documents that some run has in its first few, and to all others at most.

    A document below those gets no more from a run than its first one below, so most fused tops are known from a few.
    """

    fusion: Fusion
    docs: Documents  #: those of :func:`.union_of`
    of_runs: list[tuple[IntArray, FloatArray]]  #: rows of ``docs`` that a run holds, ascending, and its votes
    below: FloatArray  #: what each run gives to its first document below, shape (topics, runs)
    goes_on: BoolArray  #: whether it has one

    def enough(self, topics: int | slice, runs: IntArray, last: FloatArray) -> bool:
        """Whether no document scores above the ``last`` of the first of fused sets of ``runs``; below 0 of fewer."""
        below, goes_on = (values[topics][..., runs] for values in (self.below, self.goes_on))
        most = self.fusion.fused(below.sum(axis=-1), goes_on.sum(axis=-1))
        return not bool((goes_on.any(axis=-1) & (last <= most * SLACK)).any())


def depths(least: int, most: int) -> Iterator[int]:
    """How deep to look, one depth after the other, until that is enough."""
    depth = max(least, min(_FIRST, most))
    while depth < most:
        yield depth
        depth *= _FACTOR
    yield most


def votes_to(view: Collection, fusion: Fusion, depth: int) -> Votes:
    """The votes for the documents that some run of the context has in its first ``depth``; computed once."""

    def compute() -> Votes:
        docs, runs = union_of(view, depth).docs, view.rankings
        of_runs, below = [], np.zeros((docs.n_queries, len(runs)))
        goes_on = below > 0
        for i, run in enumerate(runs):
            rows, votes = [np.empty(0, dtype=np.int64)], [np.empty(0)]
            for part in run.parts():  # their deep tops are not kept
                top = part.top(fusion.depth)
                of_query = docs.match_queries(part)[top.query]
                judged = np.flatnonzero(of_query >= 0)
                query, position = of_query[judged], top.position[judged]
                vote = fusion.votes(query, position, top.score[judged])
                row = docs.find_rows(query, top.ids.take(judged), top.hashes[judged])
                rows.append(row[row >= 0])
                votes.append(vote[row >= 0])
                following = position == depth + 1
                below[query[following], i], goes_on[query[following], i] = vote[following], True
            row, vote = np.concatenate(rows), np.concatenate(votes)
            order = np.argsort(row)
            of_runs.append((row[order], vote[order]))
        return Votes(fusion, docs, of_runs, below, goes_on)

    return view.memoize(("votes to", fusion, depth), compute)


# How many scores are held at once: what fits into the processor's cache.
_SCORES_AT_ONCE = 1 << 17

#: Some runs of a context, by ascending indices.
RunSet: TypeAlias = tuple[int, ...]

#: From the labels of rankings, in their order, shape (rankings, depth), and the labels of all relevant documents
#: of the topic, to the value of each ranking. A label below 1 gains nothing.
ValueOfLabels: TypeAlias = Callable[[IntArray, IntArray], FloatArray]


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


class FusedValues:
    """The values of fused sets of runs by an absolute measure, each computed when it is first asked for.

    A set of one run has the value of the run itself.
    """

    def __init__(self, view: Collection, measure: ir_measures.Measure, fusion: Fusion) -> None:
        self.view, self.measure, self.fusion = view, measure, fusion
        self.cutoff = cutoff_of(measure)
        self._of_labels = value_of_labels(measure)
        of_runs = view.absolute_values_by_run(measure)
        self._known: dict[RunSet, FloatArray] = {(i,): values for i, values in enumerate(of_runs)}
        end = fusion.depth if self.cutoff is None else min(self.cutoff, fusion.depth)
        self._depths = list(depths(end, fusion.depth))  # the first of which is looked at
        self._of_size: dict[int, list[_TopicVotes]] = {}  # 0 for all that are looked at

    def __call__(self, sets: Sequence[RunSet]) -> FloatArray:
        """The value of every set on every topic, shape (sets, topics); with a progress bar."""
        from tqdm import tqdm  # importing the package does without it

        missing = sorted({s for s in sets if s not in self._known}, key=lambda s: (len(s), s))
        show = {"desc": "fusing sets of runs", "disable": None, "leave": False, "delay": 1.0}
        if self._of_labels is None:
            for one in tqdm(missing, unit="set", **show):
                rankings = fused_rankings(self.view, one, self.fusion)
                self._known[one] = self.view.compute_absolute([self.measure], rankings)[0]
        else:
            for _, group in itertools.groupby(missing, key=len):
                of_size = list(group)
                while (
                    found := self._of_sets(np.array(of_size), partial(tqdm, unit="topic", **show))
                ) is None:
                    self._depths.pop(0)
                    self._of_size.clear()
                self._known.update(zip(of_size, found, strict=True))
        return np.array([self._known[s] for s in sets]).reshape(len(sets), self.view.documents.n_queries)

    @property
    def _votes(self) -> Votes:
        return votes_to(self.view, self.fusion, self._depths[0])

    def _of_sets(self, sets: IntArray, shown: Callable[[Any], Iterable[Any]]) -> FloatArray | None:
        """The value of sets of one size, shape (sets, topics); None where too few documents are looked at."""
        size = sets.shape[1]
        if not self._of_size:
            self._of_size[0] = self._by_topic()
        if size not in self._of_size:
            topics = self._of_size[0]
            self._of_size[size] = [self._without_low_documents(topic, size) for topic in topics]
        result = np.zeros((len(sets), self.view.documents.n_queries))
        for t, topic in enumerate(shown(self._of_size[size])):
            if not self._on_topic(t, topic, sets, result[:, t]):
                return None
        return result

    def _by_topic(self) -> list[_TopicVotes]:
        relevant, docs, runs = self.view.documents.relevant, self._votes.docs, self._votes.of_runs
        others = relevant.select(docs.find_rows(relevant.query, relevant.ids) < 0)
        rows_of_runs = [query_slices(docs.query[row], docs.n_queries) for row, _ in runs]
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

    def _on_topic(self, t: int, topic: _TopicVotes, sets: IntArray, result: FloatArray) -> bool:
        """Writes the value of each of some sets of one size, shape (sets, size), on one topic; whether it is known."""
        assert self._of_labels is not None
        n_docs = len(topic.label)
        if not n_docs:
            return True
        depth = n_docs if self.cutoff is None else min(self.cutoff, n_docs)
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
            last = ((first[:, -1] >> np.uint64(32)) - np.uint64(1)).astype(np.uint32).view(np.float32)
            if not self._votes.enough(t, block, np.where(first[:, -1] > 0, last, -1.0)):
                return False
            document = n_docs - 1 - (first & np.uint64(2**32 - 1)).astype(np.int64)
            labels = np.where(first > 0, topic.label[document], 0)
            result[at : at + step] = self._of_labels(labels, topic.label)
        return True

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
        keep = (self.fusion.fused(highest, holders) * SLACK >= least) | (topic.label > 0)
        return _TopicVotes(topic.vote[:, keep], topic.holds[:, keep], topic.label[keep])
