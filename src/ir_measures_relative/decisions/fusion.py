"""Fusion of rankings: several become one."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import ir_measures
import numpy as np
from numpy.typing import NDArray

from ..context.measure_strings import value_of
from ..context.tops import Top
from ..context.view import View
from ..data.arrays import FloatArray, IntArray
from ..data.documents import Documents
from ..data.ids import Ids
from ..data.rankings import Rankings

METHODS = ("rrf", "isr", "combsum", "combmnz")

# Whose sum is multiplied by the number of rankings that hold the document.
_TIMES_HOLDERS = ("isr", "combmnz")
_SMALLEST_RANGE = 1e-9  # by which scores of a smaller range are divided, as in ranx
_LARGEST_SCORE = float(np.finfo(np.float32).max)


class Fusion(NamedTuple):
    """How rankings are fused: the score of a document is a sum over the rankings that have it in their first ``depth``.

    - ``rrf``: ``1/(k + i)`` at position i; ``combsum``: its score, scaled to lie from 0 to 1;
    - ``isr``: ``1/i²``; ``combmnz``: the scaled score; either sum times the number of these rankings.

    Source: Fox and Shaw, TREC-2, 1993; Cormack, Clarke and Büttcher, SIGIR 2009; Mourão, Martins and Magalhães, 2015.
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

    #: Sorted by query, then by id, descending: of two equal scores the first row comes first.
    docs: Documents
    #: Of each run the rows of ``docs`` that it holds, by query and position, with their positions and scores.
    holdings: list[tuple[IntArray, Top]]


def union_of(view: View, depth: int) -> Union:
    """The union of the runs of a context; found once for a set of judgments."""

    def found() -> Union:
        tops = view.at(depth).tops_of_runs()
        nothing = np.empty(0, dtype=np.int64)
        query = np.concatenate([nothing, *(top.docs.query for top in tops)])
        grade = np.concatenate([nothing, *(top.docs.grade for top in tops)])
        ids = Ids.joined([top.docs.ids for top in tops])
        order = ids.descending(query) if len(ids) else query
        everything = Documents(view.query_ids, query[order], ids.take(order), grade[order])
        repeated, last = everything.repeats()
        first_seen, keep = np.arange(len(order)), np.ones(len(order), dtype=bool)
        first_seen[repeated], keep[repeated] = last, False
        row = np.empty(len(order), dtype=np.int64)
        row[order] = (np.cumsum(keep) - 1)[first_seen]
        ends = itertools.pairwise(np.cumsum([0, *(len(top.position) for top in tops)]))
        holdings = [(row[first:end], top) for top, (first, end) in zip(tops, ends, strict=True)]
        return Union(everything.select(keep), holdings)

    return view.cached(("union", depth), found)


def fused_rankings(view: View, runs: Sequence[int], fusion: Fusion) -> Rankings:
    """The fusion of some runs of a context, as a run of the judged queries."""
    docs, holdings = union_of(view, fusion.depth)
    total, holders = np.zeros(len(docs)), np.zeros(len(docs), dtype=np.int64)
    for run in runs:
        row, top = holdings[run]
        vote = partial(fusion.votes, top.docs.query, top.position, top.score)
        total[row] += view.cached(("votes", run, fusion), vote)
        holders[row] += 1
    held = np.flatnonzero(holders)
    score = fusion.fused(total[held], holders[held])
    return Rankings(view.query_ids[docs.query[held]], docs.ids.take(held), score, name="the fused run")


def cutoff_of(measure: ir_measures.Measure) -> int | None:
    """How much of a ranking a measure of ir_measures looks at; None for all of it."""
    cutoff: int | None = None if value_of(measure, "judged_only") else value_of(measure, "cutoff")
    return cutoff
