"""The statistics of an audit, on arrays: chances to be asked for, predictions by cell, and sums of labels.

Gains are between 0 and 1, ``query`` is sorted, and the variances are those of independent draws, which are not smaller.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import NamedTuple

import numpy as np

from ..data.arrays import BoolArray, FloatArray, IntArray, ratio

#: How many made-up labels each cell of predictions starts with: half of them at the least gain, half at the greatest.
PSEUDO_LABELS = 2.0
#: What is added to the spread of the labels of a grade: a judge that seems sure is looked at too.
LEAST_SPREAD = 0.1
#: The chances of a label are taken to be at least this far from 0 and 1, in the variance.
LEAST_CHANCE = 0.05


class Sample(NamedTuple):
    """The documents that may be asked for, and those that were."""

    query: IntArray  #: of each document
    n_queries: int
    chance: FloatArray  #: to be asked for, in [0, 1]
    asked: BoolArray  #: who is in the sample


class Sums(NamedTuple):
    """Estimates of sums, one a comparison."""

    by_query: FloatArray  #: what each query adds to the sum, shape (comparisons, queries)
    variance: FloatArray  #: of the sum, over the samples that could have been drawn
    free: IntArray  #: how many labels of the sample it rests on that need not have been in it
    square: FloatArray  #: about how large the squares of what the queries add are together


def uniform(seed: int, *ids: Iterable[str]) -> FloatArray:
    """A number in [0, 1) for each row of ids; by its ids and the seed alone, whatever other rows there are."""
    keys = ("\t".join((str(seed), *row)).encode() for row in zip(*ids, strict=True))
    drawn = [int.from_bytes(blake2b(key, digest_size=7).digest(), "big") for key in keys]
    return np.array(drawn) / 2.0**56


def draw_order(seed: int, ids: Iterable[Iterable[str]], chance: FloatArray) -> FloatArray:
    """By which documents of these chances, in (0, 1), are drawn, smallest first: Pareto sampling (Rosén, 1997)."""
    drawn = uniform(seed, *ids)
    odds: FloatArray = drawn / (1.0 - drawn) * (1.0 - chance) / chance
    return odds


def chances(score: FloatArray, budget: float) -> FloatArray:
    """``min(1, c·score)``, with the c by which they add up to ``budget``; all 1 where fewer scores are above 0."""
    result = np.zeros(len(score))
    rows = np.flatnonzero(score > 0)
    if budget >= len(rows):
        result[rows] = 1.0
        return result
    falling = np.sort(score[rows])[::-1]
    factor = (budget - np.arange(len(rows))) / np.cumsum(falling[::-1])[::-1]  # where so many are certain
    result[rows] = np.minimum(1.0, factor[np.argmax(factor * falling <= 1.0)] * score[rows])
    return result


def spread_of_grade(share: FloatArray) -> FloatArray:
    """How far labels may scatter at this share of the judge's highest grade, NaN for none; no estimate rests on it."""
    chance = np.where(np.isnan(share), 0.5, 0.05 + 0.75 * share)
    result: FloatArray = np.sqrt(chance * (1.0 - chance)) + LEAST_SPREAD
    return result


def predictions(gain: FloatArray, sample: Sample, cell: IntArray) -> tuple[FloatArray, FloatArray]:
    """The predicted gain of each document, by its cell *on other queries*, so that estimates stay unbiased; and a
    variance.
    """
    inverse = ratio(sample.asked.astype(np.float64), sample.chance)
    pseudo = PSEUDO_LABELS * ratio(np.array((sample.chance > 0).sum()), np.array(sample.chance.sum()))
    group, cells = cell * sample.n_queries + sample.query, int(cell.max(initial=0)) + 1

    def of_others(values: FloatArray) -> FloatArray:
        by_query = np.bincount(group, values, cells * sample.n_queries).reshape(cells, -1)
        rest: FloatArray = by_query.sum(axis=1, keepdims=True) - by_query
        return np.maximum(rest, 0.0)

    weight, sums, squares = (of_others(inverse * gain**power) for power in range(3))

    def mean(total: FloatArray) -> FloatArray:
        of_all = ratio(total.sum(axis=0) + pseudo / 2, weight.sum(axis=0) + pseudo)
        of_group: FloatArray = ratio(total + pseudo * of_all, weight + pseudo).reshape(-1)[group]
        return of_group

    predicted = mean(sums)
    least = LEAST_CHANCE * (1.0 - LEAST_CHANCE)
    return predicted, np.clip(mean(squares) - predicted**2, least, 0.25)


def estimated_sums(weight: FloatArray, gain: FloatArray, sample: Sample, cell: IntArray) -> Sums:
    """``Σ_d weight(d)·gain(d)`` of each comparison, from the gains of the sample: ``Σ w·ŷ + Σ_sample w·(y - ŷ)/π``.

    The variance is the larger of that of the sampled errors, far too small where few labels agree, and the predicted
    one.
    """
    predicted, scatter = predictions(gain, sample, cell)
    inverse = ratio(np.ones(len(gain)), sample.chance)
    error = np.where(sample.asked, (gain - predicted) * inverse, 0.0)
    squares, maybe = weight**2, sample.chance < 1
    measured = squares @ np.where(maybe, (1.0 - sample.chance) * error**2, 0.0)
    expected = squares @ np.where(maybe & (sample.chance > 0), (inverse - 1.0) * scatter, 0.0)
    by_query = sums_by_query(weight * (predicted + error), sample.query, sample.n_queries)
    free = (weight != 0) @ (sample.asked & maybe).astype(np.int64)
    # Both the predictions and the number of labels are drawn, too.
    few = ratio(free + 1.0, np.maximum(free - 1.0, 1.0))
    predicted_sums = sums_by_query(weight * predicted, sample.query, sample.n_queries)
    square = squares @ scatter + (predicted_sums**2).sum(axis=1)
    variance = np.maximum(measured, expected) * few
    # A judge that says nothing predicts small sums; those of the sample say how large they are with any judge.
    square = np.maximum(square, (by_query**2).sum(axis=1) - variance)
    return Sums(by_query, variance, free, square)


def sums_by_query(values: FloatArray, query: IntArray, n_queries: int) -> FloatArray:
    """The sums of the columns of each query, shape (…, queries); ``query`` is of each column."""
    result, starts = np.zeros((*values.shape[:-1], n_queries)), np.flatnonzero(np.diff(query, prepend=-1))
    if len(starts):
        result[..., query[starts]] = np.add.reduceat(values, starts, axis=-1)
    return result


def reach(parts: Sequence[tuple[FloatArray, FloatArray]], confidence: float) -> FloatArray:
    """Half the width of Student's interval where ``parts``, variances with degrees of freedom, add up; may be
    infinite.
    """
    from scipy.special import stdtrit

    total = np.sum([variance for variance, _ in parts], axis=0)
    unknown = np.any([(variance > 0) & (df < 1) for variance, df in parts], axis=0)
    shares = np.sum([variance**2 / np.maximum(df, 1.0) for variance, df in parts], axis=0)
    df = np.maximum(ratio(total**2, shares), 1.0)
    return np.where(unknown, np.inf, stdtrit(df, (1.0 + confidence) / 2.0) * np.sqrt(total))


def within(
    value: FloatArray, half: FloatArray, least: FloatArray, most: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """``value ± half``, as far as it lies from ``least`` to ``most``; all of that where none of it does."""
    lower, upper = np.maximum(value - half, least), np.minimum(value + half, most)
    apart = lower > upper
    return np.where(apart, least, lower), np.where(apart, most, upper)
