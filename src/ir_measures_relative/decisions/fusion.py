"""Fusion of rankings: several become one."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import ir_measures
import numpy as np
from numpy.typing import NDArray

from ..context.collection import Collection
from ..context.measure_strings import param_value
from ..context.tops import Top
from ..data.arrays import FloatArray, IntArray
from ..data.documents import Documents
from ..data.ids import Ids
from ..data.rankings import Rankings

METHODS = ("rrf", "isr", "combsum", "combmnz")

# Whose sum is multiplied by the number of rankings that hold the document.
_TIMES_HOLDERS = ("isr", "combmnz")
_SMALLEST_RANGE = 1e-9  # by which scores of a smaller range are divided, as in ranx


class Fusion(NamedTuple):
    """How rankings are fused: the score of a document is a sum over the rankings that have it in their first ``depth``.

    - ``rrf``: ``1/(k + i)`` at position i; ``combsum``: its score, scaled to lie from 0 to 1;
    - ``isr``: ``1/i²``; ``combmnz``: the scaled score; either sum times the number of these rankings.
    """

    method: str = "rrf"  #: one of :data:`METHODS`
    k: int = 60  #: of ``rrf``: the larger, the less the first positions stand out
    depth: int = 1000  #: how many documents of each ranking are fused

    def votes(self, query: IntArray, position: IntArray, score: NDArray[np.float32]) -> FloatArray:
        """Return the vote of one run for each document of its rankings, at least 0; scores as for :func:`min_max`."""
        if self.method == "rrf":
            return 1.0 / (self.k + position.astype(np.float64))
        if self.method == "isr":
            return 1.0 / (position.astype(np.float64) ** 2)
        if np.isnan(score).any():
            raise ValueError(
                f"fusion by {self.method!r} needs scores, and a track has positions alone; fuse by 'rrf' or 'isr'"
            )
        return min_max(query, score)

    def fused(self, total: FloatArray, holders: IntArray | NDArray[np.int16]) -> FloatArray:
        """Return the fused scores from the sum of the votes and the number of rankings that have each document."""
        return total * holders if self.method in _TIMES_HOLDERS else total


def min_max(query: IntArray, score: NDArray[np.float32]) -> FloatArray:
    """Scale the scores of each query, which are by query and descending, to [0, 1]; equal scores become 0."""
    if not len(query):
        return np.empty(0)
    values = score.astype(np.float64)
    starts = np.flatnonzero(np.diff(query, prepend=query[0] - 1))
    sizes = np.diff(np.append(starts, len(query)))
    high, low = values[starts], values[starts + sizes - 1]
    spread = np.maximum(high - low, _SMALLEST_RANGE)
    scaled: FloatArray = (values - np.repeat(low, sizes)) / np.repeat(spread, sizes)
    return scaled


class Union(NamedTuple):
    """The documents of the runs of a context, to a depth: each once per judged query for which a run retrieves it."""

    #: Sorted by query, then by id, descending: of two equal scores the first row comes first.
    docs: Documents
    #: For each run its rows of ``docs``, by query and position, with their positions and scores.
    runs: list[tuple[IntArray, Top]]


def union_of(view: Collection, depth: int) -> Union:
    """Return the union of the runs of a context; computed once for a set of judgments."""

    def compute() -> Union:
        tops = view.tops(depth)
        nothing = np.empty(0, dtype=np.int64)
        query = np.concatenate([nothing, *(top.docs.query for top in tops)])
        grade = np.concatenate([nothing, *(top.docs.grade for top in tops)])
        ids = Ids.joined([top.docs.ids for top in tops])
        order = ids.descending(query) if len(ids) else query
        everything = Documents(view.documents.query_ids, query[order], ids.take(order), grade[order])
        repeated, last = everything.repeats()
        first_seen, keep = np.arange(len(order)), np.ones(len(order), dtype=bool)
        first_seen[repeated], keep[repeated] = last, False
        row = np.empty(len(order), dtype=np.int64)
        row[order] = (np.cumsum(keep) - 1)[first_seen]
        ends = itertools.pairwise(np.cumsum([0, *(len(top.position) for top in tops)]))
        rows_of_runs = [(row[first:end], top) for top, (first, end) in zip(tops, ends, strict=True)]
        return Union(everything.select(keep), rows_of_runs)

    return view.memoize(("union", depth), compute)


def fused_rankings(view: Collection, runs: Sequence[int], fusion: Fusion) -> Rankings:
    """Return the fusion of some runs of a context, as a run of the judged queries."""
    docs, rows_of_runs = union_of(view, fusion.depth)
    total, holders = np.zeros(len(docs)), np.zeros(len(docs), dtype=np.int64)
    for run in runs:
        row, top = rows_of_runs[run]
        vote = partial(fusion.votes, top.docs.query, top.position, top.score)
        total[row] += view.memoize(("votes", run, fusion), vote)
        holders[row] += 1
    retrieved = np.flatnonzero(holders)
    score = fusion.fused(total[retrieved], holders[retrieved])
    return Rankings(
        view.documents.query_ids[docs.query[retrieved]], docs.ids.take(retrieved), score, name="the fused run"
    )


def cutoff_of(measure: ir_measures.Measure) -> int | None:
    """Return how many ranks a measure of ir_measures looks at; None for all of them."""
    cutoff: int | None = None if param_value(measure, "judged_only") else param_value(measure, "cutoff")
    return cutoff
