"""Judgments by a language model as a further input of the relevance model, where they help.

They never replace people's judgments. A judge is not used if its labels do not help on the documents that people judged
as well, or if it favours a candidate.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..data.arrays import BoolArray, FloatArray, IntArray
from .relevance import FEWEST_RUNS, SHRINKAGE, Pool, RelevanceModel, count_groups, log_loss, shift_sd

#: The label of a document that the judge did not label.
NO_LABEL = int(np.iinfo(np.int64).min)
# A judge that lowers the error by less is not used; as the only input, it must lower it further.
LEAST_FALL, _LEAST_FALL_ALONE = 0.1, 0.2
#: The fewest documents that both a judge and people must have labelled.
FEWEST_SHARED = 50
#: A judge that favours a candidate's documents more than this, in standard deviations of other runs', is not used.
MOST_FAVOUR = 1.65
# Fewer other runs do not show how much a judge's favour varies.
_FEWEST_OTHERS = 5
# The least share of documents from outside the tops for the check of a judge that is the only input: a candidate's
# documents are unlike those of the deployed run, and with judgments of these alone, errors were far larger than drawn.
_LEAST_ELSEWHERE = 0.25
# The fewest unjudged documents of a candidate, and documents that only one run retrieves, for a useful mean.
_FEWEST_UNJUDGED, _FEWEST_UNIQUE = 10, 25
# Labels in more grades are put into this number of steps of similar size.
_MOST_STEPS = 6
_FOLDS = 5


class Judge:
    """The labels of a judge as inputs of the relevance model: a 1 at the step of the label, and the topic's mean step.

    Steps are the ranks of the labels among the judge's own grades, so its scale does not matter.

    Args:
        label: of each document of a pool; :data:`NO_LABEL` where there is none.
        topic: of each document.
        n_topics: the number of topics.
    """

    def __init__(self, label: IntArray, topic: IntArray, n_topics: int) -> None:
        labelled = label != NO_LABEL
        grades = np.unique(label[labelled])
        if len(grades) > _MOST_STEPS:
            ends = np.quantile(label[labelled], np.arange(1, _MOST_STEPS) / _MOST_STEPS)
            grades = np.unique(np.append(grades[0], np.ceil(ends)))
        self._grades = grades
        step, n = self._steps(label[labelled]), np.bincount(topic[labelled], minlength=n_topics)
        middle = float(step.mean()) if len(step) else 0.0
        sums = np.bincount(topic[labelled], step - middle, n_topics)
        self._mean_step = sums / np.maximum(n, 1)

    def inputs(self, label: IntArray, topic: IntArray) -> FloatArray:
        """Return the inputs of labelled documents, shape (inputs, documents)."""
        step = self._steps(label)
        return np.array(
            [*(step == s for s in range(1, len(self._grades))), self._mean_step[topic]], dtype=float
        )

    def _steps(self, label: IntArray) -> IntArray:
        return np.maximum(np.searchsorted(self._grades, label, side="right") - 1, 0)


class Gate(NamedTuple):
    """The check of a judge on the documents that people judged as well."""

    n_shared: int  #: documents that both labelled; in the tops, if ranks are inputs
    n_not_relevant: int  #: those of these that people judged not relevant
    fall: float  #: the relative reduction of the log loss on held-out topics by the judge
    elsewhere: float  #: the share of these documents that no run retrieves in its top
    by_ranks: bool  #: whether ranks are inputs, in addition to which the judge must help

    @property
    def least_fall(self) -> float:
        """The least reduction of the log loss that the judge must bring."""
        return LEAST_FALL if self.by_ranks else _LEAST_FALL_ALONE

    @property
    def representative(self) -> bool:
        """Whether the documents that both labelled may represent those of a candidate."""
        return self.by_ranks or self.elsewhere >= _LEAST_ELSEWHERE

    @property
    def open(self) -> bool:
        """Whether the judge is used."""
        enough = self.n_shared >= FEWEST_SHARED and self.n_not_relevant > 0
        return enough and self.representative and self.fall >= self.least_fall


class JudgedRelevance:
    """The relevance model of a pool, with the labels of a judge as inputs where these help.

    With fewer than :data:`.FEWEST_RUNS` runs, ranks predict too little, and the judge is the only input.

    Args:
        pool, grade, judged, groups: as for :class:`.RelevanceModel`.
        label: the judge's label of each document; :data:`NO_LABEL` where there is none. None without a judge.
        candidate: the row of the run that the judge may favour.
    """

    def __init__(
        self,
        pool: Pool,
        grade: IntArray,
        judged: BoolArray,
        label: IntArray | None = None,
        *,
        groups: IntArray | None = None,
        candidate: int | None = None,
    ) -> None:
        n_runs = len(pool.ranks)
        by_ranks = n_runs >= FEWEST_RUNS
        self._without = RelevanceModel(pool, grade, judged, groups=groups, by_ranks=by_ranks)
        self._with: RelevanceModel | None = None
        #: Whether the judge helps; None without one.
        self.gate: Gate | None = None
        #: How much the judge favours the candidate, in standard deviations; None if unknown.
        self.favour: float | None = None
        if label is not None:
            self.gate = check_judge(pool, grade, judged, label, groups=groups, by_ranks=by_ranks)
            if candidate is not None and by_ranks:
                self.favour = measure_favour(self._without, pool, label, judged, candidate, groups)
            if self.gate.open and not self.favoured:
                labelled = label != NO_LABEL
                docs, label = pool.select(labelled), label[labelled]
                self._judge = Judge(label, docs.topic, docs.n_topics)
                self._with = RelevanceModel(
                    docs,
                    grade[labelled],
                    judged[labelled],
                    groups=groups,
                    judge=self._judge.inputs(label, docs.topic),
                    levels=self.levels,
                    by_ranks=by_ranks,
                )
        #: Whether there is a model; with few runs there is none without a judge that helps.
        self.exists = by_ranks or self.uses_judge
        #: The standard deviation of the unknown shift of a run's documents, in log-odds.
        self.sd = shift_sd(n_runs, with_judge=self.uses_judge)

    @property
    def uses_judge(self) -> bool:
        """Whether the labels of the judge are inputs."""
        return self._with is not None

    @property
    def favoured(self) -> bool:
        """Whether the judge favours the candidate's unjudged documents too much to be used."""
        return self.favour is not None and self.favour > MOST_FAVOUR

    @property
    def levels(self) -> IntArray:
        """The grades that documents may have, ascending from 0."""
        return self._without.levels

    def logits(self, docs: Pool, label: IntArray | None = None) -> FloatArray:
        """Return the logits of documents as :meth:`.RelevanceModel.logits` does; ``label`` is the judge's of each."""
        logits = self._without.logits(docs)
        if self._with is not None and label is not None:
            labelled = label != NO_LABEL
            some, label = docs.select(labelled), label[labelled]
            logits[:, labelled] = self._with.logits(some, self._judge.inputs(label, some.topic))
        return logits


def check_judge(
    pool: Pool,
    grade: IntArray,
    judged: BoolArray,
    label: IntArray,
    *,
    groups: IntArray | None = None,
    by_ranks: bool = True,
) -> Gate:
    """Check how far a judge lowers the log loss of "relevant or not" on held-out topics.

    The arguments are those of :class:`JudgedRelevance`; without ``by_ranks``, the judge is the only input.
    """
    in_tops = np.asarray(pool.in_top.any(axis=0))
    both = judged & (label != NO_LABEL)
    shared = np.flatnonzero(both & in_tops if by_ranks else both)
    elsewhere = float(1.0 - np.mean(in_tops[shared])) if len(shared) else 0.0
    docs, label, relevant = pool.select(shared), label[shared], (grade[shared] > 0).astype(np.int64)
    n_not_relevant = int((relevant == 0).sum())
    fold = np.unique(docs.topic, return_inverse=True)[1] % _FOLDS
    if len(shared) < FEWEST_SHARED or not 0 < n_not_relevant < len(shared) or not fold.any():
        return Gate(len(shared), n_not_relevant, 0.0, elsewhere, by_ranks)
    inputs = Judge(label, docs.topic, docs.n_topics).inputs(label, docs.topic)
    levels, losses = np.arange(2), np.zeros(2)
    for held_out in (fold == i for i in np.unique(fold)):
        for i, judge in enumerate((inputs[:0], inputs)):
            model = RelevanceModel(docs, relevant, ~held_out, groups=groups, judge=judge, by_ranks=by_ranks)
            logits = model.logits(docs.select(held_out), judge[:, held_out])
            losses[i] += held_out.sum() * log_loss(logits, levels, relevant[held_out])
    without, with_judge = losses
    return Gate(len(shared), n_not_relevant, float(1.0 - with_judge / without), elsewhere, by_ranks)


def measure_favour(
    model: RelevanceModel,
    pool: Pool,
    label: IntArray,
    judged: BoolArray,
    candidate: int,
    groups: IntArray | None = None,
) -> float | None:
    """Return how much a judge favours a candidate's unjudged documents, in standard deviations.

    Labels are compared with a least-squares fit to the ranks of the document, the other labels of its topic, and the
    probabilities of its grades without the judge. The candidate's unjudged documents are compared with its judged ones;
    and so are, to standardise, the documents that only one other run retrieves with its other documents.

    The model is one without the judge, the other arguments are those of :class:`JudgedRelevance`. None if too few runs
    or documents show the favour.
    """
    labelled = label != NO_LABEL
    docs, judged = pool.select(labelled), judged[labelled]
    step = np.searchsorted(np.unique(label[labelled]), label[labelled]).astype(np.float64)
    top = docs.in_top
    unique = top & (count_groups(top, groups) == 1)
    unjudged = ~judged & top[candidate]
    if unjudged.sum() < _FEWEST_UNJUDGED:
        return None
    surplus = step - _expected_steps(model, docs, step)

    def compare(some: BoolArray, rest: BoolArray) -> float:
        return float(surplus[some].mean() - (surplus[rest].mean() if rest.any() else 0.0))

    other_runs = [
        compare(unique[run], top[run] & ~unique[run])
        for run in range(len(top))
        if (run != candidate if groups is None else groups[run] != groups[candidate])
        and unique[run].sum() >= _FEWEST_UNIQUE
    ]
    sd = np.std(other_runs, ddof=1) if len(other_runs) >= _FEWEST_OTHERS else 0.0
    if not sd:
        return None
    return float((compare(unjudged, top[candidate] & judged) - np.mean(other_runs)) / sd)


def _expected_steps(model: RelevanceModel, docs: Pool, step: FloatArray) -> FloatArray:
    """Return the least-squares fit to the labels from ranks, topics and the model's probabilities of the grades."""
    from scipy.special import expit

    n = np.bincount(docs.topic, minlength=docs.n_topics)[docs.topic] - 1
    sums = np.bincount(docs.topic, step, docs.n_topics)[docs.topic] - step
    mean_of_rest = (sums + SHRINKAGE * step.mean()) / (n + SHRINKAGE)
    reached = np.cumprod(expit(model.logits(docs)), axis=0)
    inputs = np.column_stack([model.rank_inputs(docs), mean_of_rest, *reached])
    weights = np.linalg.lstsq(inputs, step, rcond=None)[0]
    expected: FloatArray = inputs @ weights
    return expected
