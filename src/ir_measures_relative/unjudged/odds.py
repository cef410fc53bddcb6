"""The chance that a run is better, where the judgments leave a verdict open."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import ir_measures
import numpy as np

from ..arrays import FloatArray, IntArray, ObjectArray
from ..extremes.model import Model
from ..options import LABELED_ALIKE as TOLERANCE
from .pool_odds import Chance, pool_chances

#: What ``verdicts(…, odds=…)`` takes: ``"pool"``, or the chance of each document.
Odds: TypeAlias = "str | Chance"

# Labelings at once.
_BATCH = 50


def check_odds(measures: Sequence[ir_measures.Measure], perquery: bool) -> None:
    """Raises ValueError where the draws would not be labelings of these measures."""
    if perquery:
        raise ValueError("odds are those of the mean over queries; leave perquery=True out")
    for measure in measures:
        rewarded = [
            label for label, gain in (measure.params.get("gains") or {}).items() if label < 1 and gain
        ]
        if rewarded:
            raise ValueError(
                f"{measure}: odds are those of being relevant, and its gains give {rewarded[0]}, the label of what is "
                "not, a gain; leave odds out"
            )


def chances_of(model: Model, odds: Odds) -> FloatArray:
    """The chance of every open document to be relevant, in their order.

    Raises:
        ValueError: no such model; a chance outside [0, 1].
    """
    open_docs = model.open_docs
    if odds == "pool":
        return pool_chances(open_docs, model.known_gain > 0)[model.open]
    if not callable(odds):
        raise ValueError(
            f"odds={odds!r} is not allowed; give 'pool', or a function from query id and document id to the chance "
            "that the document is relevant"
        )
    docs, rows = open_docs.docs, np.flatnonzero(model.open)
    ids = docs.ids.take(rows).strings()
    result = np.zeros(len(rows))
    for i, (query, doc) in enumerate(zip(docs.query_ids[docs.query[rows]], ids, strict=True)):
        if open_docs.listed[rows[i]]:
            chance = odds(query, doc)
            if not isinstance(chance, (int, float, np.number)) or not 0 <= chance <= 1:
                raise ValueError(
                    f"odds: the chance of document {doc!r} of query {query!r} is {chance!r}; it must be a number from "
                    "0 to 1"
                )
            result[i] = chance
    return result


def probabilities(
    model: Model,
    a: IntArray,
    b: IntArray,
    chances: FloatArray,
    samples: int,
    seed: int,
    spread: float = 0.0,
) -> FloatArray:
    """The share of sampled labelings in which the mean of run a[i] is above that of b[i]; ties count half.

    Args:
        chances: of the open documents.
        samples: how many labelings are drawn.
        seed: of the draw.
        spread: how uncertain the log-odds of all documents of a run are together, as a standard deviation.
    """
    random = np.random.default_rng(seed)
    gains = model.known_gain[model.known_gain > 0]
    above = np.zeros(len(a))
    holders = model.open_docs.positions()[:, model.open] > 0
    share = holders / np.maximum(holders.sum(axis=0), 1)
    logits = np.log(np.clip(chances, 1e-9, 1 - 1e-9)) - np.log1p(-np.clip(chances, 1e-9, 1 - 1e-9))
    for start in range(0, samples, _BATCH):
        size = min(_BATCH, samples - start)
        shifted = logits + spread * random.standard_normal((size, len(holders))) @ share
        # A document of chance 0 is not relevant, whatever the run.
        chance = np.where(chances > 0, 1.0 / (1.0 + np.exp(-shifted)), 0.0) if spread else chances
        drawn = random.random((size, len(chances))) < chance
        # Its gain is that of some relevant document.
        gain = random.choice(gains, drawn.shape) if len(gains) else np.ones(drawn.shape)
        means = model.sampled(drawn * gain).mean(axis=2)
        difference = means[a] - means[b]
        above += (difference > TOLERANCE).sum(axis=1) + (np.abs(difference) <= TOLERANCE).sum(axis=1) / 2
    return above / samples


def settled_probabilities(probability: FloatArray, verdict: ObjectArray) -> FloatArray:
    """With 1 and 0 where the verdict is proved, and a half where no labels tell the two apart."""
    result = probability.copy()
    for word, value in (("better", 1.0), ("worse", 0.0), ("equal", 0.5)):
        result[verdict == word] = value
    return result
