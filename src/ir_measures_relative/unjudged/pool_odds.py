"""How likely an unjudged document is to be relevant, from the judged ones beside it.

A document of which the judgments know nothing still stands somewhere in the rankings: highly in many, or low in one.
How often the judged documents that stand so are relevant says how likely it is, on the query at hand. A logistic
regression on what the rankings say, made monotone and calibrated by an isotonic one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from ..arrays import BoolArray, FloatArray
from ..extremes.labelings import OpenDocuments

#: From a query id and a document id to the chance that the document is relevant.
Chance: TypeAlias = Callable[[str, str], float]

# How much the mean of all queries counts in the rate of one, in documents.
_SHRINKAGE = 10.0
# How deep rankings are looked at beyond the cutoff: what a run holds a little below it is a hint.
_DEEPER = 10
_RIDGE = 1.0


def pool_chances(open_docs: OpenDocuments, relevant: BoolArray) -> FloatArray:
    """The chance of each of ``open_docs.docs`` to be relevant, from the judged ones; see the module.

    Args:
        relevant: which judged documents are.

    Returns:
        one a document; those of judged documents say nothing of them.
    """
    docs = open_docs.docs
    features, held = _features(open_docs, relevant)
    known = np.flatnonzero(~open_docs.open & held)
    result = np.zeros(len(docs))
    free = np.flatnonzero(open_docs.open & open_docs.listed)
    if not len(known) or not len(free):
        return result
    labels = relevant[known].astype(np.float64)
    if labels.all() or not labels.any():
        result[free] = (labels.sum() + 0.5) / (len(labels) + 1.0)
        return result
    weights = logistic_fit(features[known], labels)
    score = features @ weights
    fitted = isotonic(score[known], labels)
    result[free] = fitted(score[free])
    return result


def _features(open_docs: OpenDocuments, relevant: BoolArray) -> tuple[FloatArray, BoolArray]:
    """What the rankings say of each document, shape (documents, features); and which some run holds in its top."""
    docs, n = open_docs.docs, open_docs.n_queries
    cutoff = open_docs.cutoff
    deep = None if cutoff is None else cutoff * _DEEPER
    place = open_docs.completed.positions_of_runs(docs, deep, False)
    with np.errstate(divide="ignore"):
        inverse = np.where(place > 0, 1.0 / place, 0.0)
    best = inverse.max(axis=0, initial=0.0)
    count = ((place > 0) & (True if cutoff is None else place <= cutoff)).sum(axis=0)
    held = count > 0
    deeper = (place > 0).sum(axis=0)
    judged = ~open_docs.open & held
    total = float(relevant[judged].mean()) if judged.any() else 0.0
    # Of the query's other documents: its own label must not speak for a document that the model learns from.
    own = np.where(judged, relevant, 0)
    size = np.bincount(docs.query[judged], minlength=n)[docs.query] - judged
    found = np.bincount(docs.query[judged & relevant], minlength=n)[docs.query] - own
    rate = (found + _SHRINKAGE * total) / (size + _SHRINKAGE)
    rate = np.clip(rate, 1e-4, 1 - 1e-4)
    columns = [
        np.ones(len(docs)),
        np.log(np.maximum(best, 1e-6)),
        np.log(np.maximum(count, 1)),
        np.log1p(deeper) / np.log1p(max(len(place), 1)),
        np.log(rate / (1.0 - rate)),
    ]
    return np.stack(columns, axis=1), held


def logistic_fit(features: FloatArray, labels: FloatArray) -> FloatArray:
    """The weights of a logistic regression with a small ridge, by Newton's method; the first feature is constant."""
    weights: FloatArray = np.zeros(features.shape[1])
    ridge = np.full(len(weights), _RIDGE)
    ridge[0] = 1e-9
    for _ in range(50):
        chance = 1.0 / (1.0 + np.exp(-np.clip(features @ weights, -30, 30)))
        gradient = features.T @ (labels - chance) - ridge * weights
        curvature = (features * (chance * (1.0 - chance))[:, None]).T @ features + np.diag(ridge)
        step = np.linalg.solve(curvature, gradient)
        weights = weights + step
        if np.abs(step).max() < 1e-9:
            break
    return weights


def isotonic(score: FloatArray, labels: FloatArray) -> Callable[[FloatArray], FloatArray]:
    """The non-decreasing function of the score that is nearest to the labels; linear between its steps.

    Pool adjacent violators. A little of the overall rate keeps chances from 0 and 1.
    """
    order = np.argsort(score, kind="stable")
    # Blocks: the sum of labels, the number, the mean score.
    sums: list[float] = []
    counts: list[float] = []
    middles: list[float] = []
    for x, y in zip(score[order].tolist(), labels[order].tolist(), strict=True):
        sums.append(y)
        counts.append(1.0)
        middles.append(x)
        while len(sums) > 1 and sums[-2] * counts[-1] >= sums[-1] * counts[-2]:
            total, count, middle = sums.pop(), counts.pop(), middles.pop()
            middles[-1] = (middles[-1] * counts[-1] + middle * count) / (counts[-1] + count)
            sums[-1] += total
            counts[-1] += count
    rate = float(labels.mean())
    values = (np.array(sums) + rate) / (np.array(counts) + 1.0)
    at = np.array(middles)
    return lambda x: np.interp(x, at, np.maximum.accumulate(values))
