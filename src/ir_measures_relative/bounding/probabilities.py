"""The probability that a run is above another one on these topics, where unjudged documents leave that undecided."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

import ir_measures
import numpy as np

from ..context.measure_strings import value_of
from ..context.view import View
from ..data.arrays import BoolArray, FloatArray, IntArray
from ..tolerances import LABELED_ALIKE
from .labelings import Labelings

#: From a query id and a document id to the chance that the document is relevant.
Chance: TypeAlias = Callable[[str, str], float]

#: What ``verdicts(…, relevance_model=…)`` takes: ``"pool"``, or the chance of each document.
RelevanceModel: TypeAlias = "str | Chance"

# Labelings at once.
_BATCH = 50
# How much the mean of all queries counts in the rate of one, in documents.
_SHRINKAGE = 10.0
# How deep rankings are looked at beyond the cutoff: what a run holds a little below it is a hint.
_DEEPER = 10
_RIDGE = 1.0
# How far the log-odds of the documents of a run may be from what their places say, as a standard deviation.
_INTERCEPT = 0.7
#: Probabilities from the pool of two runs know nothing (a Brier score of .25), and of three they are too sure.
FEWEST_RUNS = 4


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
        rewarded = [label for label, gain in (value_of(measure, "gains") or {}).items() if label < 1 and gain]
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
    """The values of the runs on labelings that are drawn by chances, in batches (runs, labelings, queries)."""
    random = np.random.default_rng(seed)
    relevant_grades = labelings.docs.grade[labelings.relevant]
    views, docs = labelings.views, labelings.docs
    holders = np.array([view.at(view.depth).positions(docs) for view in views])[:, labelings.open] > 0
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


def pool_chances(views: Sequence[View], relevant: BoolArray) -> FloatArray:
    """The chance of each open document of some runs to be relevant, from the judged ones; see above."""
    docs = views[0].documents
    features, top = _features(views, relevant)
    held = top.any(axis=0)
    known = np.flatnonzero(docs.judged & held)
    result = np.zeros(len(docs))
    free = np.flatnonzero(~docs.judged & docs.exists)
    if not len(known) or not len(free):
        return result
    labels = relevant[known].astype(np.float64)
    if labels.all() or not labels.any():
        result[free] = (labels.sum() + 0.5) / (len(labels) + 1.0)
        return result
    places = features @ logistic_fit(features[known], labels)
    intercepts = _intercepts(top[:, known], places[known], labels)
    mean = intercepts @ top / np.maximum(top.sum(axis=0), 1)
    highest = np.where(top, intercepts[:, None], -np.inf).max(axis=0)
    features = np.column_stack([features, mean, np.where(held, highest, 0.0)])
    score = features[free] @ logistic_fit(features[known], labels)
    result[free] = 1.0 / (1.0 + np.exp(-score))
    return result


def _intercepts(top: BoolArray, places: FloatArray, labels: FloatArray) -> FloatArray:
    """By how much the log-odds of each run's documents differ from what their places say, shrunken towards 0."""
    from scipy.special import expit

    run, doc = np.nonzero(top)
    result = np.zeros(len(top))
    for _ in range(100):
        chance = expit(places[doc] + result[run])
        slope = np.bincount(run, labels[doc] - chance, len(top)) - result / _INTERCEPT**2
        curvature = np.bincount(run, chance * (1.0 - chance), len(top)) + 1.0 / _INTERCEPT**2
        # In a step of at most 1 the curvature changes little enough for Newton's method to converge from anywhere.
        step = np.clip(slope / curvature, -1.0, 1.0)
        result += step
        if np.abs(step).max(initial=0.0) < 1e-12:
            break
    return result


def _features(views: Sequence[View], relevant: BoolArray) -> tuple[FloatArray, BoolArray]:
    """What the rankings say of each document, shape (documents, features); and which each run holds in its top."""
    docs, cutoff = views[0].documents, views[0].depth
    n, deep = docs.n_queries, cutoff * _DEEPER if isinstance(cutoff, int) else None
    place = np.array([view.at(deep).positions(docs) for view in views])
    with np.errstate(divide="ignore"):
        inverse = np.where(place > 0, 1.0 / place, 0.0)
    best = inverse.max(axis=0, initial=0.0)
    top = (place > 0) & (True if cutoff is None else place <= cutoff)
    held = top.any(axis=0)
    # A run counts the less, the more of its documents others hold, so that copies count once together.
    shared = top.astype(np.float64) @ top.T
    size = np.maximum(np.diag(shared), 1.0)
    count = (1.0 / np.maximum((shared / np.minimum.outer(size, size)).sum(axis=1), 1.0)) @ top
    deeper = (place > 0).sum(axis=0)
    judged = docs.judged & held
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
        np.log(np.where(held, count, 1.0)),
        np.log1p(deeper) / np.log1p(max(len(place), 1)),
        np.log(rate / (1.0 - rate)),
    ]
    return np.stack(columns, axis=1), top


def logistic_fit(features: FloatArray, labels: FloatArray) -> FloatArray:
    """The weights of a logistic regression with a small ridge; the first feature is constant."""
    from scipy.optimize import root  # loading it takes longer than most verdicts, which come without odds
    from scipy.special import expit

    ridge = np.full(features.shape[1], _RIDGE)
    ridge[0] = 1e-9

    def slope(weights: FloatArray) -> FloatArray:
        result: FloatArray = features.T @ (expit(features @ weights) - labels) + ridge * weights
        return result

    def curvature(weights: FloatArray) -> FloatArray:
        chance = expit(features @ weights)
        result: FloatArray = (features * (chance * (1.0 - chance))[:, None]).T @ features + np.diag(ridge)
        return result

    # The loss is convex: it is least where its slope is 0, which is found more precisely than the least loss itself.
    weights: FloatArray = root(slope, np.zeros(len(ridge)), jac=curvature, options={"xtol": 1e-13}).x
    return weights
