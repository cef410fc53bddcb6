"""Fusion of rankings: several rankings become one, by what each of them says of every document.

Fox and Shaw, "Combination of Multiple Searches", TREC-2, 1993; Cormack, Clarke and Büttcher, "Reciprocal Rank Fusion
Outperforms Condorcet and Individual Rank Learning Methods", SIGIR 2009; Mourão, Martins and Magalhães,
"Multimodal Medical Information Retrieval with Unsupervised Rank Fusion", CMIG 2015 (ISR). The definitions are those
of ranx.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..arrays import FloatArray, IntArray
from ..ids import Ids
from ..judgments import Judgments
from ..rankings import Rankings

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..comparison import JudgedContext, JudgedTop

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
        """What one run gives to each document of its rankings, at least 0.

        Args:
            query: of each document, ascending.
            position: in the ranking of the query: 1, 2, 3 …
            score: as trec_eval reads it, descending within each query.
        """
        if self.method == "rrf":
            return 1.0 / (self.k + position.astype(np.float64))
        if self.method == "isr":
            return 1.0 / (position.astype(np.float64) ** 2)
        return min_max(query, score)

    def fused(self, total: FloatArray, holders: IntArray | NDArray[np.int16]) -> FloatArray:
        """The fused scores, from the sum of the votes and the number of rankings that hold each document."""
        return total * holders if self.method in _TIMES_HOLDERS else total


def min_max(query: IntArray, score: NDArray[np.float32]) -> FloatArray:
    """The scores of each query, scaled to lie from 0 to 1; all 0 where they are the same.

    Args:
        query: of each score, ascending.
        score: descending within each query.
    """
    if not len(query):
        return np.empty(0)
    values = np.clip(score.astype(np.float64), -_LARGEST_SCORE, _LARGEST_SCORE)
    starts = np.flatnonzero(np.diff(query, prepend=query[0] - 1))
    sizes = np.diff(np.append(starts, len(query)))
    high, low = values[starts], values[starts + sizes - 1]
    spread = np.maximum(high - low, _SMALLEST_RANGE)
    scaled: FloatArray = (values - np.repeat(low, sizes)) / np.repeat(spread, sizes)
    return scaled


class RunVotes(NamedTuple):
    """What one run gives to the documents of a union."""

    row: IntArray  #: the documents that it holds, as rows of the union, sorted by query and position
    vote: FloatArray  #: what it gives to each of them


class Union:
    """The documents of the runs of a context, to a depth: each once for every judged query that some run holds it for.

    Attributes:
        docs: sorted by query, then by id, descending: of two equal scores the first row comes first. The grade is 0
            where the judgments do not know the document.
        holdings: of each run the rows of ``docs`` that it holds, with their positions and scores.
    """

    def __init__(self, judged: JudgedContext, depth: int) -> None:
        tops = [judged.top(run, depth) for run in judged.context.runs.values()]
        query = np.concatenate([np.empty(0, dtype=np.int64), *(top.docs.query for top in tops)])
        grade = np.concatenate([np.empty(0, dtype=np.int64), *(top.docs.grade for top in tops)])
        ids = _joined([top.docs.ids for top in tops])
        order = ids.descending(query) if len(ids) else query
        everything = Judgments(judged.judgments.query_ids, query[order], ids.take(order), grade[order])
        repeated, last = everything.repeats()
        first_seen = np.arange(len(order))
        first_seen[repeated] = last
        keep = np.ones(len(order), dtype=bool)
        keep[repeated] = False
        self.docs = everything.select(keep)
        row = np.empty(len(order), dtype=np.int64)
        row[order] = (np.cumsum(keep) - 1)[first_seen]
        ends = np.cumsum([len(top.position) for top in tops])[:-1]
        self.holdings: list[tuple[IntArray, JudgedTop]] = list(zip(np.split(row, ends), tops, strict=True))

    def votes(self, run: int, fusion: Fusion) -> RunVotes:
        """What a run of the context gives to the documents."""
        row, top = self.holdings[run]
        return RunVotes(row, fusion.votes(top.docs.query, top.position, top.score))


def _joined(parts: Sequence[Ids]) -> Ids:
    """All ids, on bytes that hold nothing else: those of a run may be its whole file."""
    own = [Ids.of(part.strings()) for part in parts if len(part)]
    if not own:
        return Ids.of([])
    shift = np.cumsum([0, *(len(part.data) for part in own)])
    return Ids(
        np.concatenate([part.data for part in own]),
        np.concatenate([part.starts + by for part, by in zip(own, shift[:-1], strict=True)]),
        np.concatenate([part.ends + by for part, by in zip(own, shift[:-1], strict=True)]),
    )


def union_of(judged: JudgedContext, depth: int) -> Union:
    """The union of the runs of a context; found once for a set of judgments."""
    return judged.cached(("union", depth), lambda: Union(judged, depth))


def votes_of(judged: JudgedContext, run: int, fusion: Fusion) -> RunVotes:
    """What a run of the context gives to the documents of the union; computed once for a set of judgments."""
    return judged.cached(("votes", run, fusion), lambda: union_of(judged, fusion.depth).votes(run, fusion))


class Newcomer:
    """A run that is not of the context, beside the union of those that are.

    Attributes:
        docs: the documents of the union, then those that only the newcomer holds.
    """

    def __init__(self, judged: JudgedContext, rankings: Rankings, fusion: Fusion) -> None:
        union = union_of(judged, fusion.depth).docs
        top = judged.top(rankings, fusion.depth)
        row = union.rows_of(top.docs.query, top.docs.ids, top.hashes)
        new = np.flatnonzero(row < 0)
        row[new] = len(union) + np.arange(len(new))
        self.query = np.concatenate([union.query, top.docs.query[new]])
        self.ids = union.ids.followed_by(Ids.of(top.docs.ids.take(new).strings()))
        self.votes = RunVotes(row, fusion.votes(top.docs.query, top.position, top.score))


def fused_rankings(
    judged: JudgedContext,
    runs: Sequence[int],
    fusion: Fusion,
    *,
    newcomer: Rankings | None = None,
    cutoff: int | None = None,
) -> Rankings:
    """The fusion of some runs of a context, and of a newcomer, as a run of the judged queries.

    Args:
        runs: indices of the context's runs.
        newcomer: a run that is not of the context, to be fused with them.
        cutoff: how much of the fused rankings is looked at; the rest may be missing.
    """
    union = union_of(judged, fusion.depth)
    votes = [votes_of(judged, run, fusion) for run in runs]
    query, ids = union.docs.query, union.docs.ids
    if newcomer is not None:
        beside = Newcomer(judged, newcomer, fusion)
        query, ids = beside.query, beside.ids
        votes.append(beside.votes)
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
    """The rows of the ``cutoff`` highest scores of each query, and all that tie with the last of them.

    Args:
        score: compared as 32-bit floats.
        query: ascending.
    """
    compared = score.astype(np.float32)
    starts = np.flatnonzero(np.diff(query, prepend=-1))
    keep = np.ones(len(query), dtype=bool)
    for a, b in zip(starts.tolist(), np.append(starts, len(query))[1:].tolist(), strict=True):
        if b - a > cutoff:
            own = compared[a:b]
            keep[a:b] = own >= np.partition(own, b - a - cutoff)[b - a - cutoff]
    return np.flatnonzero(keep)
