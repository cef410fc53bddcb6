"""Fusion of rankings: several become one, by what each says of every document; and what a run adds to that."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import ir_measures
import numpy as np

from ..arrays import FloatArray, IntArray, ratio
from ..comparison import Comparison, JudgedContext, JudgedTop
from ..ids import Ids
from ..judgments import Judgments
from ..rankings import Rankings
from . import parameters
from .declaration import Change, Contributions, OfAbsoluteBase, register
from .gains import discount, gain_of, ideal_dcg
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


class Fusion(NamedTuple):
    """How rankings are fused.

    A document's fused score is the sum of what each ranking gives it: ``1/(k + i)`` at position i by ``rrf``,
    ``1/i²`` by ``isr``, and its score by ``combsum`` and ``combmnz``, scaled so that the first ``depth`` of the
    ranking have scores from 0 to 1. ``isr`` and ``combmnz`` multiply the sum by the number of rankings that hold it.
    """

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
        query, grade = (
            np.concatenate([np.empty(0, dtype=np.int64), *columns])
            for columns in ([top.docs.query for top in tops], [top.docs.grade for top in tops])
        )
        # On bytes that hold nothing else: the ids of a run may be on those of its whole file.
        ids = Ids.of(list(itertools.chain.from_iterable(top.docs.ids.strings() for top in tops)))
        order = ids.descending(query) if len(ids) else query
        everything = Judgments(judged.judgments.query_ids, query[order], ids.take(order), grade[order])
        repeated, last = everything.repeats()
        first_seen, keep = np.arange(len(order)), np.ones(len(order), dtype=bool)
        first_seen[repeated], keep[repeated] = last, False
        row = np.empty(len(order), dtype=np.int64)
        row[order] = (np.cumsum(keep) - 1)[first_seen]
        ends = np.cumsum([len(top.position) for top in tops])[:-1]
        return Union(everything.select(keep), list(zip(np.split(row, ends), tops, strict=True)))

    return judged.cached(("union", depth), found)


def votes_of(judged: JudgedContext, run: int, fusion: Fusion) -> tuple[IntArray, FloatArray]:
    """The rows of the union that a run of the context holds, and what it gives to each; computed once."""
    row, top = union_of(judged, fusion.depth).holdings[run]
    votes = judged.cached(
        ("votes", run, fusion), lambda: fusion.votes(top.docs.query, top.position, top.score)
    )
    return row, votes


def fused_rankings(
    judged: JudgedContext,
    runs: Sequence[int],
    fusion: Fusion,
    *,
    newcomer: Rankings | None = None,
    cutoff: int | None = None,
) -> Rankings:
    """The fusion of some runs of a context, and of a newcomer to it, as a run of the judged queries.

    With a cutoff, the documents behind it may be missing.
    """
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
    if newcomer is not None:
        held = held[np.argsort(query[held], kind="stable")]
    score = fusion.fused(total[held], holders[held])
    if cutoff is not None:
        within = first_rows(score, query[held], cutoff)
        held, score = held[within], score[within]
    return Rankings(judged.judgments.query_ids[query[held]], ids.take(held), score, name="the fused run")


def first_rows(score: FloatArray, query: IntArray, cutoff: int) -> IntArray:
    """The rows of the ``cutoff`` highest scores of each query, and all that tie, as 32 bits, with the last of them."""
    compared = score.astype(np.float32)
    starts = np.flatnonzero(np.diff(query, prepend=-1))
    keep = np.ones(len(query), dtype=bool)
    for a, b in zip(starts.tolist(), np.append(starts, len(query))[1:].tolist(), strict=True):
        if b - a > cutoff:
            own = compared[a:b]
            keep[a:b] = own >= np.partition(own, b - a - cutoff)[b - a - cutoff]
    return np.flatnonzero(keep)


def cutoff_of(measure: ir_measures.Measure) -> int | None:
    """How much of a ranking a measure of ir_measures looks at; None for all of it."""
    cutoff: int | None = None if measure.params.get("judged_only") else measure.params.get("cutoff")
    return cutoff


class _FusionGain(OfAbsoluteBase):
    """What a run adds to its priors when they are fused into one ranking.

    ``FusionGain = S(fuse(priors and run)) - S(fuse(priors))`` for each query, S the base measure, any that
    ir_measures can compute. Without priors it is S(run). A document's fused score is the sum, over the rankings
    that hold it among their first ``depth``, of

    - ``rrf``: ``1/(k + i)`` at position i;
    - ``combsum``: its score, scaled so that these first documents have scores from 0 to 1 (all 0 where they are equal);
    - ``isr``: ``1/i²``, and ``combmnz``: the scaled score; the sum is then multiplied by the number of these rankings.

    These are the definitions of ranx. Scores are those that trec_eval reads, 32-bit floats, and the fused ranking is
    in trec_eval's order. The range is that of a difference of S: [-1, 1] for nDCG. Below 0, fusing with this run hurts.
    A copy of the only prior gains exactly 0; a copy of one of several gives that one more weight, and may gain or lose.

    Not to say what a searcher gains who reads the rankings one after the other: that is NRG, or UniqueRel. A run may
    show many documents that no prior has, and yet hurt a fused top ten.

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
    SHORT_DESC = "What fusing the run with the prior runs adds to the fusion of these, by another measure."
    FORMULA = (
        r"\mathrm{FusionGain} = S(\mathrm{fuse}(R_1, \dots, R_m, R)) - S(\mathrm{fuse}(R_1, \dots, R_m))"
    )
    SEE_ALSO = ("NRG", "UniqueRel", "TaSC")
    SUPPORTED_PARAMS = {
        "base": parameters.absolute_base("a measure string that ir_measures can compute"),
        "method": Param(str, "how rankings are fused", default="rrf", choices=METHODS),
        "k": Param(
            int,
            "of method='rrf': the larger, the less the first positions stand out",
            default=60,
            test=lambda k: 0 <= k < 2**31,
            allowed="a whole number from 0 up, below 2^31",
        ),
        "depth": Param(
            int,
            "how many documents of each ranking are fused",
            default=1000,
            test=lambda d: 1 <= d < 2**31,
            allowed="a whole number of at least 1 and below 2^31",
        ),
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
        judged, base = comparison.judged, self.base_measure()
        if not len(comparison.priors(self.get("prior"))):
            alone: FloatArray = judged.absolute([base], comparison.rankings)[0]
            return alone
        without, together = (judged.absolute([base], ranking)[0] for ranking in self.two_rankings(comparison))
        gain: FloatArray = together - without
        return gain

    def two_rankings(self, comparison: Comparison) -> tuple[Rankings, Rankings]:
        """The fusion of the priors, and that of the priors and the run; without priors nothing, and the run."""
        judged, member, fusion = comparison.judged, comparison.member, self.fusion
        cutoff = cutoff_of(self.base_measure())

        def fused(runs: tuple[int, ...]) -> Rankings:
            key = "fused", runs, fusion, cutoff
            return judged.cached(key, lambda: fused_rankings(judged, runs, fusion, cutoff=cutoff))

        priors = tuple(comparison.priors(self.get("prior")).tolist())
        if not priors:
            return fused(()), comparison.rankings
        if member is None or comparison.rankings is not comparison.context.runs[member]:
            newcomer = comparison.rankings
            return fused(priors), fused_rankings(judged, priors, fusion, newcomer=newcomer, cutoff=cutoff)
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
        docs, gain, weight = self._terms(comparison.judgments)
        cutoff = self.base_measure().params.get("cutoff")
        moved = weight(docs.positions_in(after, cutoff)) - weight(docs.positions_in(before, cutoff))
        return Change(before, after, cutoff, Contributions(docs, gain, gain * moved))

    def _terms(self, judgments: Judgments) -> tuple[Judgments, FloatArray, Callable[[IntArray], FloatArray]]:
        """The documents that the base is a sum over, what each is worth, and what a position counts for."""
        base = self.base_measure()
        name, cutoff, params = base.NAME, base.params.get("cutoff"), base.params
        if name not in ("nDCG", "P", "R") or params.get("judged_only"):
            raise ValueError(
                f"{self!r}: {base} is not a sum over documents, so it cannot be explained document by document; give "
                "the base nDCG@k, P@k or R@k"
            )
        if name == "nDCG":
            gain = gain_of(judgments.grade, params.get("dcg", "log2"), params.get("gains"))
            ideal = ideal_dcg(gain, judgments.query, judgments.n_queries, cutoff)
            docs = judgments.select(gain > 0)
            return docs, ratio(gain[gain > 0], ideal[docs.query]), discount
        docs = judgments.select(judgments.grade >= params.get("rel", 1))
        size = cutoff if name == "P" else np.bincount(docs.query, minlength=docs.n_queries)[docs.query]
        return docs, np.ones(len(docs)) / size, lambda position: (position > 0).astype(np.float64)


FusionGain = register(_FusionGain())
