"""Rank similarity to a reference run, top-weighted and without judgments: RBO."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..data.arrays import FloatArray, IntArray, rank_within, ratio, row_sums, sum_by_query
from ..data.ids import Ids, pair_keys
from ..measures import parameters
from ..measures.bases.browsing import Geometric
from ..measures.measure import RelativeMeasure, register
from ..measures.parameters import Param

if TYPE_CHECKING:
    from ..context.evaluated import Evaluated
    from ..context.tops import Top
    from ..data.rankings import Rankings

# About how many positions of rankings are processed together, to stay in the processor's cache.
_TOGETHER = 1 << 16


class Pair(NamedTuple):
    """A run's and a reference's rankings of the same queries."""

    length: IntArray  #: of the two rankings of each query, shape (2, queries)
    query: IntArray  #: of each document that both hold, ascending
    position: IntArray  #: of these documents, from 1, shape (2, documents)


def rank_biased_overlap(pair: Pair, p: float, variant: str) -> FloatArray:
    """Return RBO of each query, which rounding may put outside its range. See :class:`RBO`."""
    length, query, deeper = pair.length, pair.query, pair.position.max(axis=0)
    n_queries, short, long = length.shape[1], length.min(axis=0), length.max(axis=0)
    depth = np.arange(1, int(long.max(initial=1)) + 1)
    cells = np.bincount(query * len(depth) + deeper - 1, minlength=n_queries * len(depth))
    overlap = cells.reshape(n_queries, -1).cumsum(axis=1)
    agreement: FloatArray = overlap / depth
    at_short = np.where(short > 0, agreement[np.arange(n_queries), short - 1], 0.0)
    if variant != "min" and (short != long).any():
        # The next documents of the shorter ranking: all in the longer one ('max'), or as many as agreed so far.
        missing = np.maximum(depth - short[:, None], 0)
        agreement = (overlap + (missing if variant == "max" else missing * at_short[:, None])) / depth
    common = np.bincount(query, minlength=n_queries)
    weight = Geometric(p).share(depth)

    def weighted(values: FloatArray) -> FloatArray:
        """Return the sum over the depths down to the end of the longer ranking."""
        return row_sums(np.where(depth <= long[:, None], values, 0.0) * weight)

    if variant == "min":  # what follows adds no overlap: common / d at each depth d
        down_to = np.concatenate([[0.0], np.cumsum(weight / depth)])[long]
        # The weight of all that follows, of which at most 1 / (long + 1) counts.
        left = Geometric(p).seen(long + 1)
        below = np.clip((1.0 - p) / p * -math.log1p(-p) - down_to, 0.0, left / (long + 1))
        return weighted(agreement) + common * below
    if variant == "max":
        # Below the longer ranking's end the best continuation gives either, at each depth, a document of the other's,
        # until both hold all, at the depth ``complete``.
        complete = long + short - common
        of_query = np.repeat(np.arange(n_queries), complete - long)
        below_end = long[of_query] + rank_within(of_query)
        missed = (complete[of_query] - below_end) / below_end * Geometric(p).share(below_end)
        return 1.0 - (weighted(1.0 - agreement) + sum_by_query(missed, of_query, n_queries))
    # In this form a ranking and itself come to 1, and two that share nothing to 0, to the last bit.
    limit = ratio(common + (long - short) * at_short, long.astype(np.float64))
    limit[long == 0] = 1.0
    return limit + weighted(agreement - limit[:, None])


def rows_in_top(run: Evaluated, other: Rankings, depth: int | None) -> IntArray:
    """Return the row in the top of the evaluated run of each document in that of another; -1 for one not there."""
    collection = run.collection
    if run.memo is not collection.memo or collection.memo_for(other) is not collection.memo:
        of_run, of_other = run.top(depth), collection.top(other, depth)
        return of_run.docs.find_rows(of_other.docs.query, of_other.docs.ids, of_other.hashes)

    # Of all pairs of runs: comparing ids in each would take most of the time.
    def numbers() -> dict[Rankings, IntArray]:
        return dict(zip(collection.rankings, number_documents(collection.tops(depth)), strict=True))

    number = collection.memoize(("numbers", depth), numbers)

    def locate() -> IntArray:
        rows = np.full(1 + max(int(of_run.max(initial=-1)) for of_run in number.values()), -1)
        rows[number[run.run]] = np.arange(len(number[run.run]))
        return rows

    return collection.memoize(("located", run.run, depth), locate)[number[other]]


def number_documents(tops: Sequence[Top]) -> list[IntArray]:
    """Return a number for each document of each top: a document of a query has the same in all tops."""
    query = np.concatenate([top.docs.query for top in tops])
    ids, ends = Ids.joined([top.docs.ids for top in tops]), np.cumsum([len(top.position) for top in tops])
    seed = 0
    while True:
        hashes = ids.hashes(seed) if seed else np.concatenate([top.hashes for top in tops])
        _, first, number = np.unique(pair_keys(query, hashes), return_index=True, return_inverse=True)
        rows = np.flatnonzero(first[number] != np.arange(len(query)))
        earlier = first[number[rows]]
        if (query[rows] == query[earlier]).all() and ids.equal(rows, ids, earlier).all():
            return np.split(number, ends[:-1])
        seed += 1  # two documents with one number: another hash


class _RBO(RelativeMeasure):
    """Rank-biased overlap: the share of documents that a user sees in both the run and the reference.

    ``RBO = (1 - p)·Σ_d p^(d-1)·A_d``: the user goes on from each depth d with the probability p, and A_d is the share
    of the first d documents that the two have in common. At p = 0.9 the first ten positions have 86 % of the weight.
    ``variant`` says how rankings go on: ``'ext'`` as they end (Webber et al.'s Eq. 32), ``'min'``, ``'max'`` as
    differently, or as alike, as they can. Ties are in trec_eval's order.

    Range [0, 1]: 1 for a ranking and itself ('ext', 'max'), 0 for two that share nothing ('ext',
    'min'). Symmetric. It needs no judgments. **Not for** saying which run is *better*.

    Source: Webber, Moffat and Zobel, ACM TOIS 28(4), 2010.

    Example:
        >>> from ir_measures_relative import RBO, RunContext
        >>> qrels = {"q": {"A": 0}}  # any label names the query
        >>> run = lambda ranking: {"q": {d: -float(i) for i, d in enumerate(ranking)}}
        >>> with RunContext({"old": run("ABC")}):  # nothing in common at depth 1, all of it from depth 2 on
        ...     [round(RBO(variant=variant).calc_aggregate(qrels, run("BAC")), 3) for variant in ("min", "ext", "max")]
        [0.423, 0.9, 0.9]
    """

    __name__ = "RBO"
    PAPERS = {"webber2010similarity": ""}
    RELATIVE_TO = "reference"
    SIMILARITY = True
    JUDGMENTS = "ignored"
    PRETTY_NAME = "Rank-Biased Overlap"
    SHORT_DESC = "How much of what a user sees in the run is in the reference too."
    FORMULA = (
        r"\mathrm{RBO} = (1 - p) \sum_{d=1}^{\infty} p^{d-1} A_d, \qquad "
        r"A_d = \frac{|Y_{1:d} \cap Z_{1:d}|}{d}"
    )
    SEE_ALSO = ("MED",)
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
    }

    @property
    def value_range(self) -> tuple[float, float]:
        return 0.0, 1.0

    def pair(self, run: Evaluated) -> Pair:
        """Return the rankings of the run and of the reference, each to the cutoff."""
        from ..context.checks import check_whole_to  # which importing the package does without

        reference, depth = run.reference(self.get("ref")), self.get("cutoff")
        check_whole_to((run.run, reference), depth, str(self))
        tops, row = (run.top(depth), run.collection.top(reference, depth)), rows_in_top(run, reference, depth)
        shared = np.flatnonzero(row >= 0)
        n_queries = run.collection.documents.n_queries
        length = np.stack([np.bincount(top.docs.query, minlength=n_queries) for top in tops])
        position = np.stack([tops[0].position[row[shared]], tops[1].position[shared]])
        return Pair(length, tops[1].docs.query[shared], position)

    def score(self, run: Evaluated) -> FloatArray:
        length, query, position = self.pair(run)
        step = max(_TOGETHER // int(length.max(initial=1)), 1)
        values = [np.zeros(0)]
        for start in range(0, length.shape[1], step):
            rows = slice(*np.searchsorted(query, [start, start + step]))
            block = Pair(length[:, start : start + step], query[rows] - start, position[:, rows])
            values.append(rank_biased_overlap(block, self.get("p"), self.get("variant")))
        return np.concatenate(values).clip(0.0, 1.0)


RBO = register(_RBO())
