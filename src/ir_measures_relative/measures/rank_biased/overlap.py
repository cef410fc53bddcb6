"""Rank-biased overlap: how much two rankings agree at each depth, and what that comes to."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ...arrays import FloatArray, IntArray, ratio, row_sums, sum_by_query
from ..gains import persistence
from .pairs import Pair, Side


def rank_biased_overlap(pair: Pair, p: float, kind: str, ties: str) -> FloatArray:
    """RBO of each query.

    Args:
        pair: the rankings, with their ties unless ``ties`` is 'broken'.
        p: how likely a searcher is to go one position deeper.
        kind: 'ext', 'min' or 'max'.
        ties: 'broken', 'w', 'a' or 'b'.
    """
    values = [_of_block(block, p, kind, ties) for block in pair.blocks()]
    return np.concatenate([np.zeros(0), *values]).clip(0.0, 1.0)


def _of_block(pair: Pair, p: float, kind: str, ties: str) -> FloatArray:
    short = np.minimum(pair.run.length, pair.reference.length)
    long = np.maximum(pair.run.length, pair.reference.length)
    depth = np.arange(1, int(long.max(initial=1)) + 1)
    agreement, at_short = _agreement(pair, short, depth, kind, ties)
    common = np.bincount(pair.query, minlength=pair.n_queries)
    weight = (1.0 - p) * persistence(p)(depth)

    def weighted(values: FloatArray) -> FloatArray:
        """The sum over the depths down to the end of the longer ranking."""
        return row_sums(np.where(depth <= long[:, None], values, 0.0) * weight)

    if kind == "min":  # what follows adds no overlap: common / d at each depth d
        down_to = np.concatenate([[0.0], np.cumsum(weight / depth)])[long]
        left = persistence(p)(long + 1)  # what all that follows weighs; at most 1 / (long + 1) of it counts
        below = np.clip((1.0 - p) / p * -math.log1p(-p) - down_to, 0.0, left / (long + 1))
        least: FloatArray = weighted(agreement) + common * below
        return least
    if kind == "max":
        return 1.0 - (weighted(1.0 - agreement) + _missed_below(short, long, common, p))
    # In this form a ranking and itself come to 1, and two that share nothing to 0, to the last bit.
    limit = ratio(common + (long - short) * at_short, long.astype(np.float64))
    limit[long == 0] = 1.0
    return limit + weighted(agreement - limit[:, None])


def _missed_below(short: IntArray, long: IntArray, common: IntArray, p: float) -> FloatArray:
    """What the best continuation misses below the end of the longer ranking.

    At each depth it gives either ranking a document of the other's, until both hold all, at the depth ``complete``.
    """
    complete = long + short - common
    counts = complete - long
    query = np.repeat(np.arange(len(long)), counts)
    depth = np.arange(len(query)) + np.repeat(long + 1 - (np.cumsum(counts) - counts), counts)
    missed = (complete[query] - depth) / depth * ((1.0 - p) * persistence(p)(depth))
    return sum_by_query(missed, query, len(long))


class _Groups(NamedTuple):
    """The group of tied documents at each depth of a ranking; below its end, each depth is a group of its own."""

    first: IntArray  #: its first position, shape (queries, depths), or (depths,) where ties are broken
    last: IntArray  #: its last position

    def share(self, depth: IntArray) -> FloatArray:
        """How much of each document of the group is seen at each depth, if all of its orders are equally likely."""
        result: FloatArray = (depth - self.first + 1) / (self.last - self.first + 1)
        return result


def _groups(side: Side, depth: IntArray, ties: str) -> _Groups:
    if ties == "broken":
        return _Groups(depth, depth)
    first, last = (np.tile(depth, (len(side.length), 1)) for _ in range(2))
    first[side.query, side.position - 1] = side.first
    last[side.query, side.position - 1] = side.last
    return _Groups(first, last)


def _agreement(
    pair: Pair, short: IntArray, depth: IntArray, kind: str, ties: str
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
        alone = (
            np.where(longer, run.first, reference.first) - 1 - whole
        )  # wholly seen, in the longer one alone
        cut_alone = np.where(longer, run.last, reference.last) - within - alone
    else:
        share = np.ones(1)
        alone = np.where(longer, run.last, reference.last) - within
        cut_alone = np.zeros(1, dtype=np.int64)
    size = {"broken": _depth, "w": _mean_seen, "a": _depth, "b": _norms}[ties](run, reference, depth)
    agreement = overlap / size
    at_short = np.where(short > 0, agreement[np.arange(len(short)), short - 1], 0.0)
    if kind == "min" or (pair.run.length == pair.reference.length).all():
        return agreement, at_short
    missing = np.maximum(depth - short[:, None], 0)  # documents of the shorter ranking
    if kind == "max":
        more = np.minimum(missing, alone) + share * np.maximum(missing - alone, 0)
    else:
        seen = ratio(alone + share * cut_alone, (alone + cut_alone).astype(np.float64))
        more = missing * at_short[:, None] * seen
    return (overlap + more) / size, at_short


# What the overlap is divided by, at each depth.


def _depth(run: _Groups, reference: _Groups, depth: IntArray) -> FloatArray:
    """How many documents there are to the depth."""
    return depth.astype(np.float64)


def _mean_seen(run: _Groups, reference: _Groups, depth: IntArray) -> FloatArray:
    """How many there are with those tied at the depth, the mean of the two rankings."""
    result: FloatArray = (run.last + reference.last) / 2.0
    return result


def _norms(run: _Groups, reference: _Groups, depth: IntArray) -> FloatArray:
    """The lengths of the vectors of shares, multiplied."""
    squares = [g.first - 1 + g.share(depth) ** 2 * (g.last - g.first + 1) for g in (run, reference)]
    result: FloatArray = np.sqrt(squares[0] * squares[1])
    return result
