"""Fusion of rankings: several become one. And FusionGain: what a run adds to the fusion of others."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import ir_measures
import numpy as np

from ..context.measure_strings import value_of, value_range
from ..data.arrays import FloatArray, IntArray, ratio, sum_by_query
from ..measures import parameters
from ..measures.bases import BASES
from ..measures.bases.gains import discount, ideal_dcg
from ..measures.measure import Change, Contributions, OfAbsoluteBase, register
from ..measures.parameters import Param

# `import ir_measures_relative` needs no run yet: what holds them is imported where a fusion is asked for.
if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..context.tops import Top
    from ..context.view import View
    from ..data.documents import Documents
    from ..data.rankings import Rankings

METHODS = ("rrf", "isr", "combsum", "combmnz")

# Whose sum is multiplied by the number of rankings that hold the document.
_TIMES_HOLDERS = ("isr", "combmnz")
_SMALLEST_RANGE = 1e-9  # by which scores of a smaller range are divided, as in ranx
_LARGEST_SCORE = float(np.finfo(np.float32).max)


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

    #: Sorted by query, then by id, descending: of two equal scores the first row comes first.
    docs: Documents
    #: Of each run the rows of ``docs`` that it holds, by query and position, with their positions and scores.
    holdings: list[tuple[IntArray, Top]]


def union_of(view: View, depth: int) -> Union:
    """The union of the runs of a context; found once for a set of judgments."""
    from ..data.documents import Documents
    from ..data.ids import Ids

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


def fused_rankings(
    view: View, runs: Sequence[int], fusion: Fusion, new_run: Rankings | None = None
) -> Rankings:
    """The fusion of some runs of a context, and of a new run to it, as a run of the judged queries."""
    from ..data.ids import Ids
    from ..data.rankings import Rankings

    docs, holdings = union_of(view, fusion.depth)

    def votes_of(run: int) -> tuple[IntArray, FloatArray]:
        """The rows of the union that a run of the context holds, and what it gives to each; computed once."""
        row, top = holdings[run]
        vote = partial(fusion.votes, top.docs.query, top.position, top.score)
        return row, view.cached(("votes", run, fusion), vote)

    votes = [votes_of(run) for run in runs]
    query, ids = docs.query, docs.ids
    if new_run is not None:
        top = view.at(fusion.depth).top(new_run)
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
    return Rankings(view.query_ids[query[held]], ids.take(held), score, name="the fused run")


def cut(rankings: Rankings, cutoff: int | None) -> Rankings:
    """The first documents of each ranking, as a run of its own, which is small to keep."""
    from ..data.rankings import Rankings

    if cutoff is None:
        return rankings
    top = rankings.top(cutoff)
    return Rankings(rankings.query_ids[top.query], top.ids, top.score.astype(np.float64), name=rankings.name)


def cutoff_of(measure: ir_measures.Measure) -> int | None:
    """How much of a ranking a measure of ir_measures looks at; None for all of it."""
    cutoff: int | None = None if value_of(measure, "judged_only") else value_of(measure, "cutoff")
    return cutoff


class _FusionGain(OfAbsoluteBase):
    """What a run adds when it is fused with its priors into one ranking.

    ``FusionGain = S(fuse(priors and run)) - S(fuse(priors))`` for each query, S any measure of ir_measures; S(run)
    without priors. A document's fused score is a sum over the rankings that have it among their first ``depth``:

    - ``rrf``: ``1/(k + i)`` at position i; ``combsum``: its score, scaled to lie from 0 to 1;
    - ``isr``: ``1/i²``; ``combmnz``: the scaled score; either sum times the number of these rankings.

    The range is that of a difference of S; below 0, the run hurts. **Not for** users who read one ranking after the
    other: use NRG or UniqueRel.

    Source: Fox and Shaw, TREC-2, 1993; Cormack, Clarke and Büttcher, SIGIR 2009; Mourão, Martins and Magalhães, 2015.

    Example:
        >>> from ir_measures_relative import FusionGain, RunContext
        >>> qrels = {"q": {"A": 1, "B": 1}}
        >>> with RunContext({"old": {"q": {"X": 3.0, "A": 2.0, "B": 1.0}}}):
        ...     measure = FusionGain(base="P@2")  # X, A without it; A, B with it
        ...     measure.calc_aggregate(qrels, {"q": {"B": 2.0, "A": 1.0}})
        0.5
    """

    __name__ = "FusionGain"
    PAPERS = {"fox1993combination": "comb", "cormack2009reciprocal": "rrf", "mourao2015multimodal": "isr"}
    RELATIVE_TO = "priors"
    NAME = __name__
    PRETTY_NAME = "Fusion Gain"
    SHORT_DESC = "What the run adds to the fusion of the prior runs, by another measure."
    FORMULA = r"S(\mathrm{fuse}(R_1, \dots, R_m, R)) - S(\mathrm{fuse}(R_1, \dots, R_m))"
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
        return Fusion(self.get("method"), self.get("k"), self.get("depth"))

    def score(self, view: View) -> FloatArray:
        base, (before, after) = [self.base_measure()], self.two_rankings(view)
        value: FloatArray = view.absolute(base, after)[0]
        if len(view.priors(self.get("prior"))):
            value = value - view.absolute(base, before)[0]
        return value

    def two_rankings(self, view: View) -> tuple[Rankings, Rankings]:
        """The fusion of the priors, and that of the priors and the run; without priors nothing, and the run."""
        fusion, cutoff, run = self.fusion, cutoff_of(self.base_measure()), view.evaluated

        def fused(runs: tuple[int, ...]) -> Rankings:
            key = "fused", runs, fusion, cutoff
            return view.cached(key, lambda: cut(fused_rankings(view, runs, fusion), cutoff))

        priors = tuple(view.priors(self.get("prior")).tolist())
        if not priors:
            return fused(()), run
        if view.row is not None:
            return fused(priors), fused(tuple(sorted((*priors, view.row))))
        key = "fused with", priors, fusion, cutoff
        return fused(priors), view.cached_of(
            run, key, lambda: cut(fused_rankings(view, priors, fusion, run), cutoff)
        )

    def change(self, view: View) -> Change:
        """The two rankings, and what each relevant document gives to the second less what it gives to the first."""
        before, after = self.two_rankings(view)
        judgments, base = view.documents, self.base_measure()
        cutoff = value_of(base, "cutoff")
        if base.NAME not in ("nDCG", "P", "R") or value_of(base, "judged_only"):
            raise ValueError(
                f"{self!r}: {base} is not a sum over documents; give the base nDCG@k, P@k or R@k"
            )
        weight: Any = discount if base.NAME == "nDCG" else np.sign
        gain = BASES[base.NAME].gain_of(judgments.grade, partial(value_of, base))
        if base.NAME == "nDCG":
            all_gain = ideal_dcg(gain, judgments.query, judgments.n_queries, cutoff)
        else:
            all_gain = sum_by_query(gain, judgments.query, judgments.n_queries)
        of_query = np.full(judgments.n_queries, float(cutoff)) if base.NAME == "P" else all_gain
        docs = judgments.select(gain > 0)
        gain = ratio(gain[gain > 0], of_query[docs.query])
        moved = weight(docs.positions_in(after, cutoff)) - weight(docs.positions_in(before, cutoff))
        return Change(before, after, cutoff, Contributions(docs, gain, gain * moved))


FusionGain = register(_FusionGain())
