"""What runs give to the documents that can stand high once the runs are fused."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ..context.view import View
from ..data.arrays import BoolArray, FloatArray, IntArray
from ..data.documents import Documents
from ..further_measures.fusion_gain import Fusion, union_of

#: By how much rounding to 32 bits may raise a score.
SLACK = 1 + 1e-6
# How deep the rankings are looked at first, and how many times as deep where that is too little.
_FIRST, _FACTOR = 128, 4


class Votes(NamedTuple):
    """What each run of a context gives to the documents that some run has in its first few, and to all others at most.

    A document below those gets no more from a run than the run's first document below. So most fused tops are known
    from a few documents; :meth:`enough` tells whether they are.
    """

    fusion: Fusion
    docs: Documents  #: those of :func:`.union_of`
    of_runs: list[tuple[IntArray, FloatArray]]  #: rows of ``docs`` that a run holds, ascending, and its votes
    below: FloatArray  #: what each run gives to its first document below, shape (topics, runs)
    goes_on: BoolArray  #: whether it has one

    def enough(self, topics: int | slice, runs: IntArray, last: FloatArray) -> bool:
        """Whether no other document can be among the first of some fused sets of runs.

        Args:
            topics: one, or all.
            runs: of each set, shape (…, size).
            last: the score of the last of these first documents, below 0 where there are fewer; shape (topics, …).
        """
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


def votes_to(view: View, fusion: Fusion, depth: int) -> Votes:
    """The votes for the documents that some run of the context has in its first ``depth``; computed once."""

    def compute() -> Votes:
        docs, runs = union_of(view, depth).docs, view.members.rankings
        of_runs, below = [], np.zeros((docs.n_queries, len(runs)))
        goes_on = below > 0
        for i, run in enumerate(runs):
            rows, votes = [np.empty(0, dtype=np.int64)], [np.empty(0)]
            for part in run.parts():  # their deep tops are not kept
                top = part.top(fusion.depth)
                of_query = docs.queries_of(part)[top.query]
                judged = np.flatnonzero(of_query >= 0)
                query, position = of_query[judged], top.position[judged]
                vote = fusion.votes(query, position, top.score[judged])
                row = docs.rows_of(query, top.ids.take(judged), top.hashes[judged])
                rows.append(row[row >= 0])
                votes.append(vote[row >= 0])
                following = position == depth + 1
                below[query[following], i], goes_on[query[following], i] = vote[following], True
            row, vote = np.concatenate(rows), np.concatenate(votes)
            order = np.argsort(row)
            of_runs.append((row[order], vote[order]))
        return Votes(fusion, docs, of_runs, below, goes_on)

    return view.cached(("votes to", fusion, depth), compute)
