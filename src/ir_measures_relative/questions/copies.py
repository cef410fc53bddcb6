"""What an exact copy of a run's nearest prior would score: how little a value above 0 may say."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from ..arrays import FloatArray, IntArray
from ..comparison import Comparison, JudgedContext
from ..ids import pair_keys
from ..priors import replaced
from ..scoring import mean_of_topics


class Copies(NamedTuple):
    """Of each run by one measure: its nearest prior, and the mean of a copy of that in its place; None and NaN of none.

    The nearest prior holds most of the documents of the run's top k in its own top k, over all topics that are judged,
    whether the documents are or not; of equals it is the first in the context. k is the measure's cutoff; without one
    the whole rankings count.
    """

    nearest: list[str | None]
    means: FloatArray


def copies_of_nearest(
    judged: JudgedContext,
    names: Sequence[str],
    measure: Any,
    priors: Mapping[str, Collection[str]] | None = None,
) -> Copies:
    """What copies of the nearest priors score, each in the place of a run.

    Args:
        names: the runs.
        measure: one that is relative to priors, or to all systems, where all others are a run's priors.
        priors: the names of the priors of each run, instead of those that the context's policy gives it.
    """
    cutoff = measure.params.get("cutoff")
    shared = judged.cached(("shared", cutoff), lambda: _shared(judged, cutoff))
    nearest: list[str | None] = []
    means = np.full(len(names), np.nan)
    for i, name in enumerate(names):
        row = judged.index[name]
        others = np.delete(np.arange(len(judged.names)), row)
        if measure.RELATIVE_TO == "priors":
            chosen = None if priors is None else tuple(priors[name])
            own = Comparison(judged, judged.context.runs[name], name, chosen)
            others = own.priors(measure.get("prior"))
        near = judged.names[others[shared[row, others].argmax()]] if len(others) else None
        nearest.append(near)
        if near is not None:
            means[i] = mean_of_topics(measure, _score_of_copy(judged, name, near, measure, others))
    return Copies(nearest, means)


def _score_of_copy(judged: JudgedContext, name: str, near: str, measure: Any, priors: IntArray) -> FloatArray:
    runs = judged.context.runs
    if measure.RELATIVE_TO == "priors":
        # A newcomer with the run's priors, and so with the one that it is a copy of.
        copy = Comparison(judged, runs[near], None, [judged.names[i] for i in priors])
        measure = type(measure)(**{key: value for key, value in measure.params.items() if key != "prior"})
    else:
        # All systems are those that there would be, without the run.
        context = replaced(judged.context, runs={**runs, name: runs[near]})
        copy = Comparison(JudgedContext(context, judged.judgments, whole=judged.whole), runs[near], name)
    values: FloatArray = measure.score(copy)
    return values


def _shared(judged: JudgedContext, cutoff: int | None) -> IntArray:
    """How many documents of the judged topics each two runs both hold in their tops: runs × runs."""
    tops = [judged.top(run, cutoff) for run in judged.context.runs.values()]
    keys = [pair_keys(top.docs.query, top.hashes) for top in tops]
    different, document = np.unique(np.concatenate(keys), return_inverse=True)
    starts = np.cumsum([0, *map(len, keys)])
    shape = len(keys), max(len(different), 1)
    holds = csr_array((np.ones(len(document), dtype=np.int64), document, starts), shape=shape)
    both: IntArray = (holds @ holds.T).toarray()
    return both
