"""Where does a measure see no difference? Ties, and at which recall levels rankings separate."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import ir_measures
import numpy as np
import pandas as pd

from ir_measures_relative import RunContext
from ir_measures_relative.data.arrays import rank_within

from .checks import check_count
from .judged import Judged, check_two_runs
from .table import BoolArray, FloatArray, IntArray, pairs_of, read_table


def ties(table: Any) -> pd.DataFrame:
    """The share of pairs of runs that a measure ties, of all pairs on all topics (lexiprecision, Table 2).

    Values that differ by at most 10⁻⁹ of the measure's spread are tied; in a table with a column ``other``, 0 is a tie.
    Invariant under: factors other than 0, added constants, and any function that keeps different values apart.

    Returns:
        a DataFrame with one row per measure: ``measure``, ``comparisons`` (pairs × topics), how many are ``tied``, and
        their ``share``.
    """
    rows = []
    for scores in read_table(table):
        tied = scores.pairs.differences == 0
        row = {"measure": scores.measure, "comparisons": tied.size, "tied": int(tied.sum())}
        rows.append(row | {"share": float(tied.mean())})
    return pd.DataFrame(rows)


class Levels(NamedTuple):
    """The recall levels of every run, in the order in which a measure looks at them."""

    measure: str
    pairs: int  #: of runs
    ranks: FloatArray  #: reciprocal ranks, runs × queries × levels
    relevant: IntArray  #: how many levels each query has

    def differences(self) -> Iterator[FloatArray]:
        """``RR_i`` of each run less those of each later one: pairs × queries × levels."""
        for i in range(len(self.ranks) - 1):
            yield self.ranks[i] - self.ranks[i + 1 :]


def _levels(context: Any, qrels: Any, measure: Any) -> Levels:
    """Return the recall levels of the runs of a context, as the measure has them."""
    check_two_runs(context, "compare")
    parsed = ir_measures.parse_measure(measure) if isinstance(measure, str) else measure
    if parsed.NAME not in ("rrLP", "sgnLP", "sgnLR", "RPP"):
        raise ValueError(f"{parsed} does not compare recall levels; give rrLP, sgnLP, sgnLR or RPP")
    if parsed.params.get("ref") is not None:
        raise ValueError(f"{parsed} compares with {parsed.params['ref']!r} alone; leave ref= out")
    judged, params = Judged.read(qrels), parsed.params
    relevant = judged.grade >= params.get("rel", 1)
    positions = judged.positions(context, params.get("cutoff"), params.get("judged_only", False))[:, relevant]
    count = np.bincount(judged.query[relevant], minlength=len(judged.query_ids))
    ranks = np.array([_reciprocal_ranks(p, judged.query[relevant], len(count)) for p in positions])
    if parsed.NAME == "sgnLR":
        # Each topic's own last level first: what the rows are padded with goes to the end again.
        level = np.arange(ranks.shape[2])
        at = np.where(level < count[:, None], count[:, None] - 1 - level, level)
        ranks = np.take_along_axis(ranks, np.broadcast_to(at, ranks.shape), axis=2)
    return Levels(str(parsed), math.comb(len(ranks), 2), ranks, count)


def _reciprocal_ranks(position: IntArray, query: IntArray, n_queries: int) -> FloatArray:
    """Return RR_1 ≥ RR_2 ≥ … of each topic in a row: 1 / position of its relevant documents, 0 if not retrieved."""
    value = np.divide(1.0, position, out=np.zeros(len(position)), where=position > 0)
    order = np.lexsort((-value, query))
    level = rank_within(query[order]) - 1
    result = np.zeros((n_queries, int(level.max(initial=-1)) + 1))
    result[query[order], level] = value[order]
    return result


def ties_by_level(
    context: RunContext, qrels: Any, measure: ir_measures.Measure | str = "rrLP", levels: int = 20
) -> pd.DataFrame:
    """The share of pairs of rankings that are tied at each recall level (lexiprecision, Figure 5).

    Two rankings are tied at level i if their i-th highest relevant documents have the same rank, or neither retrieves
    one, whatever the levels before. Level 1 is reciprocal rank. A level counts the topics with so many relevant
    documents.

    Returns:
        a DataFrame with one row per level: ``measure``, ``level`` from 1, ``comparisons`` (pairs × topics), how many
        are ``tied``, and their ``share``.
    """
    check_count("levels", levels, 1)
    found = _levels(context, qrels, measure)
    deepest = min(levels, found.ranks.shape[2])
    has = np.arange(deepest) < found.relevant[:, None]
    tied = np.zeros(deepest, dtype=np.int64)
    for differences in found.differences():
        tied += ((differences[..., :deepest] == 0) & has).sum(axis=(0, 1))
    comparisons = found.pairs * has.sum(axis=0)
    columns = {"measure": found.measure, "level": np.arange(deepest) + 1, "comparisons": comparisons}
    return pd.DataFrame(columns | {"tied": tied, "share": tied / comparisons})


def separation(context: RunContext, qrels: Any, measure: ir_measures.Measure | str = "rrLP") -> pd.DataFrame:
    """At which recall level pairs of rankings separate: the distribution of i* (lexiprecision, Figure 6).

    i* is the first level at which the reciprocal ranks of two rankings differ (for sgnLR from the worst one on).

    Returns:
        a DataFrame with one row per level at which some pair separates: ``measure``, ``level`` from 1, ``comparisons``
        (pairs × topics), how many ``separated`` here, their ``share``, and ``cumulative``: of all that separate
        somewhere, the share that has by this level.
    """
    found = _levels(context, qrels, measure)
    counts = np.zeros(found.ranks.shape[2] + 1, dtype=np.int64)
    for differences in found.differences():
        differ: BoolArray = differences != 0
        first = differ[differ.any(axis=2)].argmax(axis=1) if differ.size else np.zeros(0, dtype=np.int64)
        counts += np.bincount(first, minlength=len(counts))
    comparisons = found.pairs * found.ranks.shape[1]
    at = np.flatnonzero(counts)
    columns = {"measure": found.measure, "level": at + 1, "comparisons": comparisons, "separated": counts[at]}
    cumulative = np.cumsum(counts[at]) / counts.sum()
    return pd.DataFrame(columns | {"share": counts[at] / comparisons, "cumulative": cumulative})


def locality(
    context: RunContext,
    qrels: Any,
    measure: ir_measures.Measure | str = "rrLP",
    levels: int = 8,
    ahead: int = 4,
) -> pd.DataFrame:
    """Does what two rankings differ by at one recall level tell of the next? (lexiprecision, Figure 7)

    Over all pairs of rankings, of the topics with at least ``levels`` relevant documents: the correlation of the
    differences in reciprocal rank, δRR_i, at each two levels, and the coefficients of a linear model of δRR_i by the
    ``ahead`` levels that follow. Each pair counts both ways, so that means are 0 and the model has no constant.
    Reciprocal ranks shrink with the level, so a coefficient below 1 is no weak relation.

    Returns:
        a DataFrame with one row per level and later one: ``measure``, ``level`` from 1, ``other``, ``comparisons``
        (pairs × topics), ``correlation`` (NaN where nothing differs), and ``coefficient`` of ``other`` in the model of
        ``level`` (NaN where it is not in the model).
    """
    check_count("levels", levels, 2)
    check_count("ahead", ahead, 1)
    found = _levels(context, qrels, measure)
    deep = found.relevant >= levels
    if not deep.any():
        most = int(found.relevant.max(initial=0))
        raise ValueError(f"levels={levels} is more than any topic has, which is {most}; give fewer")
    products = np.zeros((levels, levels))
    for differences in found.differences():
        flat = differences[:, deep, :levels].reshape(-1, levels)
        products += flat.T @ flat
    model = np.full((levels, levels), np.nan)
    for i in range(levels - ahead):
        inside = slice(i + 1, i + 1 + ahead)
        if np.linalg.matrix_rank(products[inside, inside]) == ahead:
            model[i, inside] = np.linalg.solve(products[inside, inside], products[inside, i])
    size = np.sqrt(products.diagonal())
    with np.errstate(invalid="ignore"):
        correlation = products / np.outer(size, size)
    level, other = pairs_of(range(levels))
    columns: dict[str, Any] = {"measure": found.measure, "level": level + 1, "other": other + 1}
    columns |= {"comparisons": found.pairs * int(deep.sum()), "correlation": correlation[level, other]}
    return pd.DataFrame(columns | {"coefficient": model[level, other]})
