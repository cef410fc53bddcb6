"""Rank similarity to a reference run, top-weighted and without judgments: RBO and RBA.

Neither looks at a judgment. An evaluation scores the queries of the qrels, as for every measure, but their
labels do not matter. :func:`~ir_measures_relative.similarity` needs no qrels.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..data.arrays import FloatArray, IntArray, ratio, row_sums, sum_by_query
from ..measures import parameters
from ..measures.bases.browsing import Geometric
from ..measures.measure import RelativeMeasure, register
from ..measures.parameters import Param

if TYPE_CHECKING:
    from ..context.view import View
    from ..data.rankings import Rankings

# About how many positions of rankings are looked at together: what is computed on the way stays in the cache.
_TOGETHER = 1 << 16


class RankedRows(NamedTuple):
    """A ranking of each query: rows sorted by query, then by position.

    Documents of equal score are a group, which stands at the positions ``first`` to ``last``; where ties are broken
    every document is a group of its own.
    """

    length: IntArray  #: of each query's ranking
    query: IntArray  #: of each row
    position: IntArray  #: of each row, from 1
    first: IntArray  #: of each row
    last: IntArray  #: of each row

    def of_queries(self, start: int, end: int) -> RankedRows:
        """The rankings of some queries, which are then numbered from 0."""
        rows = slice(*np.searchsorted(self.query, [start, end]))
        return RankedRows(
            self.length[start:end],
            self.query[rows] - start,
            self.position[rows],
            self.first[rows],
            self.last[rows],
        )


class Pair(NamedTuple):
    """A run's and a reference's rankings of the same queries."""

    run: RankedRows
    reference: RankedRows
    query: IntArray  #: of each document that both hold, ascending
    in_run: IntArray  #: its row in ``run``
    in_reference: IntArray  #: its row in ``reference``

    @property
    def n_queries(self) -> int:
        return len(self.run.length)

    def blocks(self) -> Iterator[Pair]:
        """The same for a few queries at a time, which are then numbered from 0."""
        deepest = max(int(side.length.max(initial=1)) for side in (self.run, self.reference))
        step = max(_TOGETHER // deepest, 1)
        for start in range(0, self.n_queries, step):
            end = min(start + step, self.n_queries)
            rows = slice(*np.searchsorted(self.query, [start, end]))
            yield Pair(
                self.run.of_queries(start, end),
                self.reference.of_queries(start, end),
                self.query[rows] - start,
                self.in_run[rows] - np.searchsorted(self.run.query, start),
                self.in_reference[rows] - np.searchsorted(self.reference.query, start),
            )


def _ranked_rows(view: View, run: Rankings, cutoff: int | None, tied: bool) -> RankedRows:
    """The ranking of each query, with documents of equal score tied, or in the order of their positions."""

    def compute() -> RankedRows:
        top = view.at(cutoff).top(run)
        query, position = top.docs.query, top.position
        length = np.bincount(query, minlength=view.n_queries)
        if not tied:
            return RankedRows(length, query, position, position, position)
        changes = (top.score[1:] != top.score[:-1]) | (query[1:] != query[:-1])
        starts = np.flatnonzero(np.append(True, changes)[: len(query)])
        sizes = np.diff(np.append(starts, len(query)))
        first = np.repeat(position[starts], sizes)
        return RankedRows(length, query, position, first, first + np.repeat(sizes, sizes) - 1)

    return view.cached_of(run, ("ranked rows", cutoff, tied), compute)


# ---- rank-biased overlap --------------------------------------------------------------------------------


def rank_biased_overlap(pair: Pair, p: float, variant: str, ties: str) -> FloatArray:
    """RBO of each query, but for rounding beyond its range. See :class:`RBO`."""
    short = np.minimum(pair.run.length, pair.reference.length)
    long = np.maximum(pair.run.length, pair.reference.length)
    depth = np.arange(1, int(long.max(initial=1)) + 1)
    agreement, at_short = _agreement(pair, short, depth, variant, ties)
    common = np.bincount(pair.query, minlength=pair.n_queries)
    weight = Geometric(p).share(depth)

    def weighted(values: FloatArray) -> FloatArray:
        """The sum over the depths down to the end of the longer ranking."""
        return row_sums(np.where(depth <= long[:, None], values, 0.0) * weight)

    if variant == "min":  # what follows adds no overlap: common / d at each depth d
        down_to = np.concatenate([[0.0], np.cumsum(weight / depth)])[long]
        # What all that follows weighs; at most 1 / (long + 1) of it counts.
        left = Geometric(p).seen(long + 1)
        below = np.clip((1.0 - p) / p * -math.log1p(-p) - down_to, 0.0, left / (long + 1))
        least: FloatArray = weighted(agreement) + common * below
        return least
    if variant == "max":
        # Below the longer ranking's end the best continuation gives either, at each depth, a document of the other's,
        # until both hold all, at the depth ``complete``.
        complete = long + short - common
        counts = complete - long
        query = np.repeat(np.arange(len(long)), counts)
        below_end = np.arange(len(query)) + np.repeat(long + 1 - (np.cumsum(counts) - counts), counts)
        missed = (complete[query] - below_end) / below_end * Geometric(p).share(below_end)
        return 1.0 - (weighted(1.0 - agreement) + sum_by_query(missed, query, len(long)))
    # In this form a ranking and itself come to 1, and two that share nothing to 0, to the last bit.
    limit = ratio(common + (long - short) * at_short, long.astype(np.float64))
    limit[long == 0] = 1.0
    return limit + weighted(agreement - limit[:, None])


class _Groups(NamedTuple):
    """The group of tied documents at each depth of a ranking; below its end, each depth is a group of its own."""

    first: IntArray  #: its first position, shape (queries, depths), or (depths,) where ties are broken
    last: IntArray  #: its last position

    def share(self, depth: IntArray) -> FloatArray:
        """How much of each document of the group is seen at each depth, if all of its orders are equally likely."""
        result: FloatArray = (depth - self.first + 1) / (self.last - self.first + 1)
        return result


def _groups(side: RankedRows, depth: IntArray, ties: str) -> _Groups:
    if ties == "broken":
        return _Groups(depth, depth)
    first, last = (np.tile(depth, (len(side.length), 1)) for _ in range(2))
    first[side.query, side.position - 1] = side.first
    last[side.query, side.position - 1] = side.last
    return _Groups(first, last)


def _agreement(
    pair: Pair, short: IntArray, depth: IntArray, variant: str, ties: str
) -> tuple[FloatArray, FloatArray]:
    """The agreement at each depth, shape (queries, depths), and that at the end of the shorter ranking, 0 if empty.

    A document is seen wholly, or as one of a group that the depth cuts in part. Then the overlap is bilinear in the
    two rankings' shares: four counts of the common documents say all, however many groups there are.

    Below the end of the shorter ranking its next documents are none of the longer one's ('min'), those of the longer
    one in their order ('max'), or any of them as often as its last agreement says ('ext').
    """
    run, reference = (_groups(side, depth, ties) for side in (pair.run, pair.reference))
    first, last = (
        (pair.run.first[pair.in_run], pair.reference.first[pair.in_reference]),
        (pair.run.last[pair.in_run], pair.reference.last[pair.in_reference]),
    )

    def count(a: IntArray, b: IntArray) -> IntArray:
        """How many common documents are past the depth ``a`` in the run and ``b`` in the reference, at each depth."""
        width = len(depth) + 1
        at = pair.query * width + np.minimum(np.maximum(a, b), width) - 1
        table = np.bincount(at, minlength=pair.n_queries * width).reshape(-1, width)
        result: IntArray = table[:, :-1].cumsum(axis=1)
        return result

    longer = np.reshape(pair.run.length >= pair.reference.length, (-1, 1))
    within = count(first[0], first[1])
    overlap = within.astype(np.float64)
    if ties in ("a", "b"):
        x, y = run.share(depth), reference.share(depth)
        whole = count(last[0] + 1, last[1] + 1)
        in_run = count(first[0], last[1] + 1) - whole  # cut in the run alone
        in_reference = count(last[0] + 1, first[1]) - whole
        cut_in_both = within - whole - in_run - in_reference
        overlap = whole + (x * in_run + y * in_reference) + x * y * cut_in_both
        share = np.where(longer, x, y)
        # Wholly seen, in the longer one alone.
        alone = np.where(longer, run.first, reference.first) - 1 - whole
        cut_alone = np.where(longer, run.last, reference.last) - within - alone
    else:
        share = np.ones(1)
        alone = np.where(longer, run.last, reference.last) - within
        cut_alone = np.zeros(1, dtype=np.int64)
    size: FloatArray = depth.astype(np.float64)  # what the overlap is divided by, at each depth
    if ties == "w":  # how many there are with those tied at the depth, the mean of the two rankings
        size = (run.last + reference.last) / 2.0
    elif ties == "b":  # the lengths of the vectors of shares, multiplied
        squares = [g.first - 1 + g.share(depth) ** 2 * (g.last - g.first + 1) for g in (run, reference)]
        size = np.sqrt(squares[0] * squares[1])
    agreement = overlap / size
    at_short = np.where(short > 0, agreement[np.arange(len(short)), short - 1], 0.0)
    if variant == "min" or (pair.run.length == pair.reference.length).all():
        return agreement, at_short
    missing = np.maximum(depth - short[:, None], 0)  # documents of the shorter ranking
    if variant == "max":
        more = np.minimum(missing, alone) + share * np.maximum(missing - alone, 0)
    else:
        seen = ratio(alone + share * cut_alone, (alone + cut_alone).astype(np.float64))
        more = missing * at_short[:, None] * seen
    return (overlap + more) / size, at_short


# ---- rank-biased alignment ------------------------------------------------------------------------------


def rank_biased_alignment(pair: Pair, p: float, variant: str) -> FloatArray:
    """RBA of each query; tied documents of the pair share what their positions weigh. See :class:`RBA`."""
    run, reference = (_weight(side.first, side.last, p) for side in (pair.run, pair.reference))
    in_both = run[pair.in_run], reference[pair.in_reference]
    if variant == "min":
        return _sum_of_shared(np.sqrt(in_both[0] * in_both[1]), pair)
    # The weights of either ranking sum to 1, so that Σ √(v·w) = 1 - ½·Σ (√v - √w)²; a ranking and itself come to 1.
    apart = _sum_of_shared((np.sqrt(in_both[0]) - np.sqrt(in_both[1])) ** 2, pair)
    missing_in_reference = _apart(pair.run, run, pair.in_run, pair.reference.length, p)
    missing_in_run = _apart(pair.reference, reference, pair.in_reference, pair.run.length, p)
    return (1.0 - 0.5 * (apart + (missing_in_reference + missing_in_run))).clip(0.0, 1.0)


def _sum_of_shared(values: FloatArray, pair: Pair) -> FloatArray:
    """The sum over the documents that both hold; the smallest first, since the pair has them in the run's order."""
    order = np.lexsort((values, pair.query))
    return sum_by_query(values[order], pair.query[order], pair.n_queries)


def _weight(first: IntArray, last: IntArray, p: float) -> FloatArray:
    """(1 - p)·p^(i - 1) at the position i: the mean over a group of tied documents."""
    browsing = Geometric(p)
    if (first == last).all():
        return browsing.share(first)
    size = last - first + 1
    of_group = (browsing.seen(first) - browsing.seen(last + 1)) / size
    return np.where(size == 1, browsing.share(first), of_group)


def _apart(side: RankedRows, weight: FloatArray, shared: IntArray, length: IntArray, p: float) -> FloatArray:
    """Σ (√v - √w)² over the documents that the other ranking lacks, where they follow it in their order, ties as here.

    Args:
        side: the ranking that holds them.
        weight: of each of its rows.
        shared: its rows that the other ranking holds too.
        length: of the other ranking of each query.
    """
    lacking = np.ones(len(side.query), dtype=bool)
    lacking[shared] = False
    rows = np.flatnonzero(lacking)
    query = side.query[rows]
    before = np.concatenate([[0], np.cumsum(lacking)])  # documents lacking, in the rows before each
    start = np.searchsorted(side.query, query)
    first = before[start + side.first[rows] - 1] - before[start] + 1
    last = before[start + side.last[rows]] - before[start]
    follows = _weight(length[query] + first, length[query] + last, p)
    return sum_by_query((np.sqrt(weight[rows]) - np.sqrt(follows)) ** 2, query, len(length))


# ---- the measures ---------------------------------------------------------------------------------------


class _RankBiased(RelativeMeasure):
    """What the two share: the rankings side by side."""

    RELATIVE_TO = "reference"
    SIMILARITY = True
    JUDGMENTS = "ignored"

    @property
    def value_range(self) -> tuple[float, float]:
        return 0.0, 1.0

    def pair(self, view: View) -> Pair:
        """The rankings of the run and of the reference, each to the cutoff, with their ties unless these are broken."""
        cutoff, tied = self.get("cutoff"), self.get("ties") != "broken"
        both = view.evaluated, view.reference_run(self.get("ref"))
        run, reference = (_ranked_rows(view, side, cutoff, tied) for side in both)
        found = view.at(cutoff).rows_in_top(both[1])
        shared = np.flatnonzero(found >= 0)
        return Pair(run, reference, reference.query[shared], found[shared], shared)


class _RBO(_RankBiased):
    """Rank-biased overlap: the share of documents that a user sees in both the run and the reference.

    ``RBO = (1 - p)·Σ_d p^(d-1)·A_d``: the user goes on from each depth d with the probability p, and A_d is the share
    of the first d documents that the two have in common. At p = 0.9 the first ten positions have 86 % of the weight.
    ``variant`` says how rankings go on: ``'ext'`` as they end (Webber et al.'s Eq. 32), ``'min'``, ``'max'`` as
    differently, or as alike, as they can. ``ties`` says what documents of equal score are: ``'broken'`` in trec_eval's
    order, ``'w'`` at the first rank of their group, ``'a'`` in an unknown order (the mean over orders), ``'b'`` that,
    corrected to 1 for itself.

    Range [0, 1]: 1 for a ranking and itself ('ext', 'max'; not by ``ties='a'``), 0 for two that share nothing ('ext',
    'min'). Symmetric. It needs no judgments. **Not for** saying which run is *better*.

    Source: Webber, Moffat and Zobel, ACM TOIS 28(4), 2010; ties: Corsi and Urbano, SIGIR 2024.

    Example:
        >>> from ir_measures_relative import RBO, RunContext
        >>> qrels = {"q": {"A": 0}}  # any label names the query
        >>> run = lambda ranking: {"q": {d: -float(i) for i, d in enumerate(ranking)}}
        >>> with RunContext({"old": run("ABC")}):  # nothing in common at depth 1, all of it from depth 2 on
        ...     [round(RBO(variant=variant).calc_aggregate(qrels, run("BAC")), 3) for variant in ("min", "ext", "max")]
        [0.423, 0.9, 0.9]
    """

    __name__ = "RBO"
    PAPERS = {"webber2010similarity": "", "corsi2024treatment": ""}
    PRETTY_NAME = "Rank-Biased Overlap"
    SHORT_DESC = "How much of what a user sees in the run is in the reference too."
    FORMULA = (
        r"\mathrm{RBO} = (1 - p) \sum_{d=1}^{\infty} p^{d-1} A_d, \qquad "
        r"A_d = \frac{|Y_{1:d} \cap Z_{1:d}|}{d} \text{ (without ties)}"
    )
    SEE_ALSO = ("RBA", "MED")
    SUPPORTED_PARAMS = {
        "cutoff": parameters.cutoff(),
        "ref": parameters.ref(),
        "p": parameters.persistence(default=0.9, of="RBO"),
        "variant": Param(
            str,
            "what follows the rankings: more of the agreement at their end ('ext'), or as little ('min') or as much "
            "('max') as there can be",
            default="ext",
            choices=("ext", "min", "max"),
        ),
        "ties": Param(
            str,
            "documents of equal score: in trec_eval's order ('broken'), at one rank ('w'), in any order ('a'), or "
            "that, corrected for what ties hide ('b')",
            default="broken",
            choices=("broken", "w", "a", "b"),
        ),
    }

    def score(self, view: View) -> FloatArray:
        """The overlap of each query."""
        p, variant, ties = map(self.get, ("p", "variant", "ties"))
        values = [rank_biased_overlap(block, p, variant, ties) for block in self.pair(view).blocks()]
        return np.concatenate([np.zeros(0), *values]).clip(0.0, 1.0)


class _RBA(_RankBiased):
    """Rank-biased alignment: how closely the run and the reference agree on the positions of documents.

    ``RBA = Σ_d √(w(y_d)·w(z_d))`` over the documents that both have, at y_d and z_d; ``w(i) = (1 - p)·p^(i-1)``. A swap
    of neighbours costs little, wherever it is. ``variant='min'``: the rankings go on with nothing in common; ``'max'``:
    each goes on with the documents that only the other has, then both are the same. With ``ties='mean'``, documents of
    equal score weigh the mean of the weights of their positions.

    Range [0, 1]; symmetric. n documents and themselves have 1 - p^n ('min') or 1 ('max'). It needs no judgments.
    **Not for** saying which run is *better*, nor for short rankings with 'min'.

    Source: Moffat, Mackenzie, Mallia and Petri, SIGIR-AP 2024.

    Example:
        >>> from ir_measures_relative import RBA, RunContext
        >>> qrels = {"q": {"A": 0}}  # any label names the query
        >>> run = lambda ranking: {"q": {d: -float(i) for i, d in enumerate(ranking)}}
        >>> with RunContext({"old": run("ABC")}):  # 1 - .9³ = .271 for ABC itself
        ...     [round(RBA(variant=variant).calc_aggregate(qrels, run("BAC")), 4) for variant in ("min", "max")]
        [0.2707, 0.9997]
    """

    __name__ = "RBA"
    PAPERS = {"moffat2024rank": ""}
    PRETTY_NAME = "Rank-Biased Alignment"
    SHORT_DESC = "How near the positions of the same documents are in the run and in the reference."
    FORMULA = r"\mathrm{RBA} = \sum_{d \in Y \cap Z} \sqrt{w(y_d)\, w(z_d)}, \qquad w(i) = (1 - p)\, p^{i-1}"
    SEE_ALSO = ("RBO", "MED")
    SUPPORTED_PARAMS = {
        "cutoff": parameters.cutoff(),
        "ref": parameters.ref(),
        "p": parameters.persistence(default=0.9, of="RBA"),
        "variant": Param(
            str,
            "what follows the rankings: nothing in common ('min'), or as much as there can be ('max')",
            default="min",
            choices=("min", "max"),
        ),
        "ties": Param(
            str,
            "documents of equal score: in trec_eval's order ('broken'), or at the mean of their weights ('mean')",
            default="broken",
            choices=("broken", "mean"),
        ),
    }

    def score(self, view: View) -> FloatArray:
        """The alignment of each query."""
        return rank_biased_alignment(self.pair(view), self.get("p"), self.get("variant"))


RBO = register(_RBO())
RBA = register(_RBA())
