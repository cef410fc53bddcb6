"""The probability that a run is above another one on these topics, where unjudged documents leave that undecided."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

import ir_measures
import numpy as np

from ..context.measure_strings import param_value
from ..context.tops import Look
from ..data.arrays import FloatArray, IntArray
from ..tolerances import LABELED_ALIKE
from .labelings import Labelings
from .relevance import FEWEST_RUNS

#: From a query id and a document id to the chance that the document is relevant.
Chance: TypeAlias = Callable[[str, str], float]

#: What ``verdicts(…, relevance_model=…)`` takes: ``"pool"``, or the chance of each document.
RelevanceModel: TypeAlias = "str | Chance"

# Labelings at once.
_BATCH = 50


def check_relevance_model(
    relevance_model: RelevanceModel | None,
    n_runs: int,
    measures: Sequence[ir_measures.Measure],
    perquery: bool,
    with_llm: bool = False,
) -> None:
    """Raise ValueError where the draws would not be labelings of these measures, or too few runs say the chances."""
    if with_llm and not (isinstance(relevance_model, str) and relevance_model == "pool"):
        raise ValueError(
            "llm_judgments= is an input of the model of the pool; set relevance_model='pool' too"
        )
    if relevance_model is None:
        return
    if perquery:
        raise ValueError("relevance_model= is about the mean over queries; leave perquery=True out")
    for measure in measures:
        rewarded = [
            label for label, gain in (param_value(measure, "gains") or {}).items() if label < 1 and gain
        ]
        if rewarded:
            raise ValueError(
                f"{measure}: relevance_model= gives the probability of being relevant, and its gains give "
                f"{rewarded[0]}, the label of what is not, a gain; leave relevance_model= out"
            )
    if isinstance(relevance_model, str):
        if relevance_model != "pool":
            raise ValueError(
                f"relevance_model={relevance_model!r} is not allowed; give 'pool', or a function from query id and "
                "document id to the probability that the document is relevant"
            )
        if n_runs < FEWEST_RUNS and not with_llm:
            raise ValueError(
                f"relevance_model='pool' needs at least {FEWEST_RUNS} runs to learn from, and there are {n_runs}: add "
                "runs of the collection, give llm_judgments=, leave relevance_model= out, or give a function"
            )


def default_log_odds_sd(n_runs: int) -> float:
    """The deviation that was measured to fit so many runs; the documents of few say less of each other."""
    return 0.8 if n_runs >= 6 else 1.2


def chances_of(labelings: Labelings, chance_of: Chance) -> FloatArray:
    """Return the chance of every open document to be relevant, in their order, by a function of the caller's."""
    if not callable(chance_of):
        raise ValueError(
            f"relevance_model={chance_of!r} is not allowed; give 'pool', or a function from query id and "
            "document id to the probability that the document is relevant"
        )
    docs, rows = labelings.docs, np.flatnonzero(labelings.open)
    ids = docs.ids.take(rows).strings()
    result = np.zeros(len(rows))
    for i, (query, doc) in enumerate(zip(docs.query_ids[docs.query[rows]], ids, strict=True)):
        if docs.exists[rows[i]]:
            chance = chance_of(query, doc)
            if not isinstance(chance, (int, float, np.number)) or not 0 <= chance <= 1:
                raise ValueError(
                    f"relevance_model: the probability of document {doc!r} of query {query!r} is {chance!r}; it must "
                    "be a number from 0 to 1"
                )
            result[i] = chance
    return result


def probabilities(drawn: Iterator[FloatArray], a: IntArray, b: IntArray) -> FloatArray:
    """Return the share of drawn labelings in which a[i] has the higher mean; ties, and one labeling more, count half.

    Args:
        drawn: values of the runs in batches, shape (runs, labelings, topics).
        a: rows of runs.
        b: rows of the runs to compare them with.
    """
    above, samples = np.zeros(len(a)), 0
    for values in drawn:
        means = values.mean(axis=2)
        difference = means[a] - means[b]
        tied = np.abs(difference) <= LABELED_ALIKE
        above += (difference > LABELED_ALIKE).sum(axis=1) + tied.sum(axis=1) / 2
        samples += values.shape[1]
    return (above + 0.5) / (samples + 1)


def sampled_values(
    labelings: Labelings, chances: FloatArray, samples: int, seed: int, log_odds_sd: float
) -> Iterator[FloatArray]:
    """Yield the values of the runs on labelings that are drawn by chances, in batches (runs, labelings, queries)."""
    random = np.random.default_rng(seed)
    relevant_grades = labelings.docs.grade[labelings.relevant]
    docs, look = labelings.docs, Look(labelings.cutoff)
    holders = np.array([run.positions(docs, look) for run in labelings.runs])[:, labelings.open] > 0
    share = holders / np.maximum(holders.sum(axis=0), 1)
    inside = np.clip(chances, 1e-9, 1 - 1e-9)
    logits = np.log(inside) - np.log1p(-inside)
    for start in range(0, samples, _BATCH):
        size = min(_BATCH, samples - start)
        shifted = logits + log_odds_sd * random.standard_normal((size, len(holders))) @ share
        # A document of chance 0 is not relevant, in any run.
        chance = np.where(chances > 0, 1.0 / (1.0 + np.exp(-shifted)), 0.0) if log_odds_sd else chances
        drawn = random.random((size, len(chances))) < chance
        # Its grade is that of some relevant document.
        grade = (
            random.choice(relevant_grades, drawn.shape) if len(relevant_grades) else labelings.relevant_grade
        )
        yield labelings.sampled(np.where(drawn, grade, 0))
