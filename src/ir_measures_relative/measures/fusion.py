"""Fusion of rankings: several become one. And FusionGain: what a run adds to the fusion of others."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import ir_measures
import numpy as np

from ..arrays import BoolArray, FloatArray, IntArray, ratio, row_sums, rows_of_queries, sum_by_query
from ..comparison import Comparison, JudgedContext, JudgedTop
from ..ids import Ids
from ..judgments import Judgments
from ..rankings import Rankings
from . import parameters
from .declaration import Change, Contributions, OfAbsoluteBase, register
from .gains import discount, gain_of, ideal_dcg, reciprocal
from .parameters import Param
from .strings import value_range

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..extremes.labelings import Labelings
    from ..extremes.model import Model

#: The methods of fusion.
METHODS = ("rrf", "isr", "combsum", "combmnz")

# Those whose sum is multiplied by the number of rankings that hold the document.
_TIMES_HOLDERS = ("isr", "combmnz")
# Scores whose range is smaller are divided by this, as in ranx: all are then about 0.
_SMALLEST_RANGE = 1e-9
_LARGEST_SCORE = float(np.finfo(np.float32).max)
# How many scores are held at once: what fits into the processor's cache.
_SCORES_AT_ONCE = 1 << 17
# By how much rounding to 32 bits may raise a score.
_SLACK = 1 + 1e-6
# The label of an unjudged document, and of a place behind the end of a ranking.
_UNJUDGED = 0


class Fusion(NamedTuple):
    """How rankings are fused, as :data:`~ir_measures_relative.FusionGain` says."""

    method: str = "rrf"  #: one of :data:`METHODS`
    k: int = 60  #: of ``rrf``: the larger, the less the first positions stand out
    depth: int = 1000  #: how many documents of each ranking are fused

    def votes(self, query: IntArray, position: IntArray, score: NDArray[np.float32]) -> FloatArray:
        """What one run gives to each document of its rankings, at least 0; the scores are those of :func:`min_max`."""
        if self.method == "rrf":
            return 1.0 / (self.k + position.astype(np.float64))
        if self.method == "isr":
            return 1.0 / (position.astype(np.float64) ** 2)
        return min_max(query, score)

    def fused(self, total: FloatArray, holders: IntArray | NDArray[np.int16]) -> FloatArray:
        """The fused scores, from the sum of the votes and the number of rankings that hold each document."""
        return total * holders if self.method in _TIMES_HOLDERS else total


def min_max(query: IntArray, score: NDArray[np.float32]) -> FloatArray:
    """Scores by query, descending, each query's scaled to lie from 0 to 1; all 0 where they are the same."""
    if not len(query):
        return np.empty(0)
    values = np.clip(score.astype(np.float64), -_LARGEST_SCORE, _LARGEST_SCORE)
    starts = np.flatnonzero(np.diff(query, prepend=query[0] - 1))
    sizes = np.diff(np.append(starts, len(query)))
    high, low = values[starts], values[starts + sizes - 1]
    spread = np.maximum(high - low, _SMALLEST_RANGE)
    scaled: FloatArray = (values - np.repeat(low, sizes)) / np.repeat(spread, sizes)
    return scaled


class Union(NamedTuple):
    """The documents of the runs of a context, to a depth: each once for every judged query that holds it."""

    #: Sorted by query, then by id, descending: of two equal scores the first row comes first. The grade is 0 where the
    #: judgments do not know the document.
    docs: Judgments
    #: Of each run the rows of ``docs`` that it holds, by query and position, with their positions and scores.
    holdings: list[tuple[IntArray, JudgedTop]]


def union_of(judged: JudgedContext, depth: int) -> Union:
    """The union of the runs of a context; found once for a set of judgments."""

    def found() -> Union:
        tops = [judged.top(run, depth) for run in judged.context.runs.values()]
        nothing = np.empty(0, dtype=np.int64)
        query = np.concatenate([nothing, *(top.docs.query for top in tops)])
        grade = np.concatenate([nothing, *(top.docs.grade for top in tops)])
        # On bytes that hold nothing else: the ids of a run may be on those of its whole file.
        ids = Ids.of(list(itertools.chain.from_iterable(top.docs.ids.strings() for top in tops)))
        order = ids.descending(query) if len(ids) else query
        everything = Judgments(judged.judgments.query_ids, query[order], ids.take(order), grade[order])
        repeated, last = everything.repeats()
        first_seen, keep = np.arange(len(order)), np.ones(len(order), dtype=bool)
        first_seen[repeated], keep[repeated] = last, False
        row = np.empty(len(order), dtype=np.int64)
        row[order] = (np.cumsum(keep) - 1)[first_seen]
        ends = itertools.pairwise(np.cumsum([0, *(len(top.position) for top in tops)]))
        holdings = [(row[first:end], top) for top, (first, end) in zip(tops, ends, strict=True)]
        return Union(everything.select(keep), holdings)

    return judged.cached(("union", depth), found)


def votes_of(judged: JudgedContext, run: int, fusion: Fusion) -> tuple[IntArray, FloatArray]:
    """The rows of the union that a run of the context holds, and what it gives to each; computed once."""
    row, top = union_of(judged, fusion.depth).holdings[run]
    votes = judged.cached(
        ("votes", run, fusion), lambda: fusion.votes(top.docs.query, top.position, top.score)
    )
    return row, votes


def fused_rankings(
    judged: JudgedContext, runs: Sequence[int], fusion: Fusion, newcomer: Rankings | None = None
) -> Rankings:
    """The fusion of some runs of a context, and of a newcomer to it, as a run of the judged queries."""
    docs = union_of(judged, fusion.depth).docs
    votes = [votes_of(judged, run, fusion) for run in runs]
    query, ids = docs.query, docs.ids
    if newcomer is not None:
        top = judged.top(newcomer, fusion.depth)
        row = docs.rows_of(top.docs.query, top.docs.ids, top.hashes)
        new = np.flatnonzero(row < 0)  # documents that nobody else holds
        row[new] = len(docs) + np.arange(len(new))
        query = np.concatenate([query, top.docs.query[new]])
        ids = ids.followed_by(Ids.of(top.docs.ids.take(new).strings()))
        votes.append((row, fusion.votes(top.docs.query, top.position, top.score)))
    total, holders = np.zeros(len(query)), np.zeros(len(query), dtype=np.int64)
    for row, vote in votes:
        total[row] += vote
        holders[row] += 1
    held = np.flatnonzero(holders)
    score = fusion.fused(total[held], holders[held])
    return Rankings(judged.judgments.query_ids[query[held]], ids.take(held), score, name="the fused run")


def cut(rankings: Rankings, cutoff: int | None) -> Rankings:
    """The first documents of each ranking, as a run of its own, which is small to keep."""
    if cutoff is None:
        return rankings
    top = rankings.top(cutoff)
    return Rankings(rankings.query_ids[top.query], top.ids, top.score.astype(np.float64), name=rankings.name)


def cutoff_of(measure: ir_measures.Measure) -> int | None:
    """How much of a ranking a measure of ir_measures looks at; None for all of it."""
    cutoff: int | None = None if measure.params.get("judged_only") else measure.params.get("cutoff")
    return cutoff


# ---- the fusion of many sets of runs

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
        from tqdm import tqdm  # importing the package does without it

        missing = sorted({s for s in sets if s not in self._known}, key=lambda s: (len(s), s))
        show = {"desc": "fusing sets of runs", "disable": None, "leave": False, "delay": 1.0}
        if self._of_labels is None:
            for one in tqdm(missing, unit="set", **show):
                rankings = fused_rankings(self.judged, one, self.fusion)
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
        n_docs, result = len(topic.label), np.zeros(len(sets))
        if not n_docs:
            return result
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


# ---- the measure


class _FusionGain(OfAbsoluteBase):
    """What a run adds when it is fused with its priors into one ranking.

    ``FusionGain = S(fuse(priors and run)) - S(fuse(priors))`` for each query, S the base measure, any that
    ir_measures can compute. Without priors it is S(run). A document's fused score is the sum, over the rankings
    that hold it among their first ``depth``, of

    - ``rrf``: ``1/(k + i)`` at position i;
    - ``combsum``: its score, scaled so that these first documents have scores from 0 to 1 (all 0 where they are equal);
    - ``isr``: ``1/i²``, and ``combmnz``: the scaled score; either sum is multiplied by the number of these rankings.

    These are the definitions of ranx. Scores are those that trec_eval reads, 32-bit floats, and the fused ranking is
    in trec_eval's order. The range is that of a difference of S: [-1, 1] for nDCG. Below 0, fusing with this run hurts.
    A copy of the only prior gains exactly 0. A copy of one of several gives that prior more weight, and may
    gain or lose.

    When not to use it: if users read the rankings one after the other. Use NRG or UniqueRel there. A run may
    show many documents that no prior has, and still hurt a fused top ten.

    Sources: Fox and Shaw, "Combination of Multiple Searches", TREC-2, 1993; Cormack, Clarke and Büttcher, "Reciprocal
    Rank Fusion Outperforms Condorcet and Individual Rank Learning Methods", SIGIR 2009; Mourão, Martins and Magalhães,
    "Multimodal Medical Information Retrieval with Unsupervised Rank Fusion", 2015.

    Example:
        >>> import ir_measures
        >>> from ir_measures_relative import FusionGain, RunContext
        >>> qrels = {"q": {"A": 1, "B": 1}}
        >>> with RunContext({"old": {"q": {"X": 3.0, "A": 2.0, "B": 1.0}}}):
        ...     measure = FusionGain(base="P@2")  # X, A without it; A, B with it
        ...     measure.calc_aggregate(qrels, {"q": {"B": 2.0, "A": 1.0}})
        0.5
    """

    __name__ = "FusionGain"
    RELATIVE_TO = "priors"
    NAME = __name__
    PRETTY_NAME = "Fusion Gain"
    SHORT_DESC = "What the run adds to the fusion of the prior runs, by another measure."
    FORMULA = (
        r"\mathrm{FusionGain} = S(\mathrm{fuse}(R_1, \dots, R_m, R)) - S(\mathrm{fuse}(R_1, \dots, R_m))"
    )
    SEE_ALSO = ("NRG", "UniqueRel", "TaSC")
    SUPPORTED_PARAMS = {
        "base": parameters.absolute_base("a measure string that ir_measures can compute"),
        "method": Param(str, "how rankings are fused", default="rrf", choices=METHODS),
        "k": parameters.count(
            "of method='rrf': the larger, the less the first positions stand out", 0, default=60
        ),
        "depth": parameters.count("how many documents of each ranking are fused", default=1000),
        "prior": parameters.prior(),
    }

    def check_together(self) -> None:
        super().check_together()
        if "k" in self.params and self.fusion.method != "rrf":
            raise ValueError(f"{self!r}: k goes with method 'rrf', not {self.fusion.method!r}")

    @property
    def value_range(self) -> tuple[float, float]:
        low, high = value_range(self.get("base"))
        return low - high, high - low

    @property
    def fusion(self) -> Fusion:
        """How the rankings are fused."""
        return Fusion(self.get("method"), self.get("k"), self.get("depth"))

    def score(self, comparison: Comparison) -> FloatArray:
        """What the run adds for each query."""
        base, (before, after) = [self.base_measure()], self.two_rankings(comparison)
        value: FloatArray = comparison.judged.absolute(base, after)[0]
        if len(comparison.priors(self.get("prior"))):
            value = value - comparison.judged.absolute(base, before)[0]
        return value

    def two_rankings(self, comparison: Comparison) -> tuple[Rankings, Rankings]:
        """The fusion of the priors, and that of the priors and the run; without priors nothing, and the run."""
        judged, member, fusion = comparison.judged, comparison.member, self.fusion
        cutoff = cutoff_of(self.base_measure())

        def fused(runs: tuple[int, ...]) -> Rankings:
            key = "fused", runs, fusion, cutoff
            return judged.cached(key, lambda: cut(fused_rankings(judged, runs, fusion), cutoff))

        priors = tuple(comparison.priors(self.get("prior")).tolist())
        if not priors:
            return fused(()), comparison.rankings
        if member is None or comparison.rankings is not comparison.context.runs[member]:
            return fused(priors), fused_rankings(judged, priors, fusion, comparison.rankings)
        return fused(priors), fused(tuple(sorted((*priors, judged.index[member]))))

    def bounded(self, labelings: Labelings) -> Model:
        judged = labelings.judged
        runs = zip(judged.names, judged.context.runs.values(), strict=True)
        pairs = [self.two_rankings(Comparison(judged, run, name)) for name, run in runs]
        before, after = zip(*pairs, strict=True)
        return labelings.difference_of(self.base_measure(), before, after)

    def change(self, comparison: Comparison) -> Change:
        """The two rankings, and what each relevant document gives to the second less what it gives to the first."""
        before, after = self.two_rankings(comparison)
        judgments, base = comparison.judgments, self.base_measure()
        cutoff, params = base.params.get("cutoff"), base.params
        if base.NAME not in ("nDCG", "P", "R") or params.get("judged_only"):
            raise ValueError(
                f"{self!r}: {base} is not a sum over documents, so it cannot be explained document by document; give "
                "the base nDCG@k, P@k or R@k"
            )
        weight: Any = discount if base.NAME == "nDCG" else np.sign
        if base.NAME == "nDCG":
            gain = gain_of(judgments.grade, params.get("dcg", "log2"), params.get("gains"))
            all_gain = ideal_dcg(gain, judgments.query, judgments.n_queries, cutoff)
        else:
            gain = (judgments.grade >= params.get("rel", 1)).astype(np.float64)
            all_gain = sum_by_query(gain, judgments.query, judgments.n_queries)
        of_query = np.full(judgments.n_queries, float(cutoff)) if base.NAME == "P" else all_gain
        docs = judgments.select(gain > 0)
        gain = ratio(gain[gain > 0], of_query[docs.query])
        moved = weight(docs.positions_in(after, cutoff)) - weight(docs.positions_in(before, cutoff))
        return Change(before, after, cutoff, Contributions(docs, gain, gain * moved))


FusionGain = register(_FusionGain())
