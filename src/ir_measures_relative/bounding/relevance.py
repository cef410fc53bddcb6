"""The relevance model: the probability of each grade of an unjudged document, learned from the judged documents.

The grade y of a document follows a chain of logits, one for each level above the lowest::

    logit P(y >= level s | y >= level s - 1) = w_s · x + a_s · r_s

The inputs x are the best rank of the document, the number of runs that retrieve it, and the share of its topic's other
documents that reach the level; with LLM judgments also their grade. The intercept r_s of a run is how much more often
its judged documents reach the level than x predicts. It is learned from documents that other runs retrieve too: those
of one run alone are judged in pooled runs, and unjudged in a new one. The judged documents cannot show how unjudged
documents of a run differ from them: that is a shift of all its documents, which is drawn.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..data.arrays import BoolArray, FloatArray, IntArray

#: The weight of the mean of all topics in that of one, in documents.
SHRINKAGE = 10.0
#: The depth, as a multiple of the cutoff, to which ranks count: documents just below the cutoff are a hint.
DEEPER = 10
_RIDGE = 1.0
# The standard deviation of a run's intercept, in log-odds.
_INTERCEPT_SD = 0.7
#: With fewer runs, ranks do not predict which documents are relevant.
FEWEST_RUNS = 4
# With this number of runs or more, the shift of a run is smaller.
_MANY_RUNS = 6
# A larger step could overshoot where the curvature is small.
_LONGEST_STEP = 2.0
_PRECISION = 1e-10
# The number of random numbers that are drawn at once.
_DRAWN_AT_ONCE = 1 << 20


def shift_sd(n_runs: int, with_judge: bool = False) -> float:
    """Return the standard deviation of the unknown shift of a run's documents, in log-odds.

    The values were measured: with them, the errors of drawn differences are as large as the draws predict.
    """
    if with_judge:
        return 0.5
    return 0.6 if n_runs >= _MANY_RUNS else 0.85


class Pool(NamedTuple):
    """Documents, and the ranks at which the runs of a pool retrieve them."""

    ranks: IntArray  #: the rank of each document in every run from 1, 0 if not retrieved; shape (runs, documents)
    topic: IntArray  #: the topic of each document, from 0
    n_topics: int
    cutoff: int | None  #: the tops of the runs end here; None if they are whole rankings

    @property
    def in_top(self) -> BoolArray:
        """Whether each run retrieves each document in its top, shape (runs, documents)."""
        return (self.ranks > 0) & (True if self.cutoff is None else self.ranks <= self.cutoff)

    def select(self, which: IntArray | BoolArray) -> Pool:
        """Return some of the documents."""
        return self._replace(ranks=self.ranks[:, which], topic=self.topic[which])


class _Stage(NamedTuple):
    """One logit of the chain, as fitted."""

    rate: float  # the share of all documents that reach the level
    n_documents: IntArray  # the number of documents of each topic that reach the level before
    n_above: IntArray  # the number of these that reach this level
    intercepts: FloatArray  # of the runs
    weights: FloatArray  # of the inputs; only the constant where nothing can be learned


class RelevanceModel:
    """The probabilities of the grades of documents, fitted on the judged documents in the tops of a pool's runs.

    Without ranks, it is fitted on all judged documents.

    Args:
        pool: the documents to learn from.
        grade: their grades; below 0 counts as 0, and those of unjudged documents do not count.
        judged: whether each is judged.
        groups: a number for each run, equal for runs of one group. Default: a group each, but duplicates together.
        judge: further inputs, shape (inputs, documents); see :meth:`.Judge.inputs`.
        levels: the grades to distinguish, from 0. Default: those of the judged documents in tops.
        by_ranks: whether ranks, topics and runs are inputs; else only the judge is.
    """

    def __init__(
        self,
        pool: Pool,
        grade: IntArray,
        judged: BoolArray,
        *,
        groups: IntArray | None = None,
        judge: FloatArray | None = None,
        levels: IntArray | None = None,
        by_ranks: bool = True,
    ) -> None:
        self._by_ranks = by_ranks
        top = pool.in_top
        self._run_weights = _run_weights(top)
        is_learned = judged & top.any(axis=0) if by_ranks else judged
        learned, learned_grade = pool.select(is_learned), np.maximum(grade[is_learned], 0)
        present = np.unique(np.append(0, learned_grade))
        #: The grades that documents may have, ascending from 0.
        self.levels: IntArray = (
            levels if levels is not None else present if len(present) > 1 else np.arange(2)
        )
        inputs = self._inputs(learned, None if judge is None else judge[:, is_learned])
        shared = count_groups(learned.in_top, groups) > 1
        self._stages = []
        for before, level in zip(self.levels[:-1], self.levels[1:], strict=True):
            reached = learned_grade >= before
            above = (learned_grade[reached] >= level).astype(np.float64)
            self._stages.append(self._fit(learned.select(reached), inputs[reached], above, shared[reached]))

    def logits(self, pool: Pool, judge: FloatArray | None = None) -> FloatArray:
        """Return the logits of documents by their ranks in the same runs, shape (levels - 1, documents).

        The topics are those that the model was fitted on; ``judge`` is as for the model.
        """
        inputs = self._inputs(pool, judge)
        return np.array([self._logit(stage, pool, inputs) for stage in self._stages])

    def _fit(self, docs: Pool, inputs: FloatArray, above: FloatArray, shared: BoolArray) -> _Stage:
        """Fit a stage to the documents that reach the level before; ``above`` is 1 for those that reach the level.

        Intercepts are learned only from the ``shared`` documents.
        """
        rate = float(above.mean()) if len(above) else 0.0
        n_documents = np.bincount(docs.topic, minlength=docs.n_topics)
        n_above = np.bincount(docs.topic[above > 0], minlength=docs.n_topics)
        none = np.zeros(len(docs.ranks))
        if not 0.0 < rate < 1.0:
            probability = (above.sum() + 0.5) / (len(above) + 1.0) if len(above) else 0.0
            with np.errstate(divide="ignore"):
                constant = np.log(probability) - np.log1p(-probability)
            return _Stage(rate, n_documents, n_above, none, np.array([constant]))
        stage = _Stage(rate, n_documents, n_above, none, none)
        x = self._with_rate(stage, docs, inputs, above)
        weights = fit_logistic(x, above)
        if not self._by_ranks:
            return stage._replace(weights=weights)
        by_run = fit_intercepts(docs.in_top[:, shared], (x @ weights)[shared], above[shared])
        weights = fit_logistic(_with_intercepts(x, docs.in_top, by_run), above)
        return stage._replace(intercepts=by_run, weights=weights)

    def _logit(self, stage: _Stage, docs: Pool, inputs: FloatArray) -> FloatArray:
        if len(stage.weights) == 1:
            return np.full(len(docs.topic), stage.weights[0])
        x = self._with_rate(stage, docs, inputs, None)
        if self._by_ranks:
            x = _with_intercepts(x, docs.in_top, stage.intercepts)
        return x @ stage.weights

    def rank_inputs(self, docs: Pool) -> FloatArray:
        """Return the inputs from rankings, the first of them 1, shape (documents, inputs)."""
        ranks, top = docs.ranks, docs.in_top
        best = np.where(ranks > 0, 1.0 / np.maximum(ranks, 1), 0.0).max(axis=0, initial=0.0)
        n_runs = self._run_weights @ top
        deeper = (ranks > 0).sum(axis=0)
        columns = [
            np.ones(len(docs.topic)),
            np.log(np.maximum(best, 1e-6)),
            np.log(np.where(top.any(axis=0), n_runs, 1.0)),
            np.log1p(deeper) / np.log1p(max(len(ranks), 1)),
        ]
        return np.stack(columns, axis=1)

    def _inputs(self, docs: Pool, judge: FloatArray | None) -> FloatArray:
        """Return the inputs of all stages, shape (documents, inputs)."""
        inputs = self.rank_inputs(docs) if self._by_ranks else np.ones((len(docs.topic), 1))
        return inputs if judge is None else np.column_stack([inputs, *judge])

    def _with_rate(
        self, stage: _Stage, docs: Pool, inputs: FloatArray, above: FloatArray | None
    ) -> FloatArray:
        """Add the log-odds of the rate of each document's topic; while fitting, ``above`` is what is learned."""
        if not self._by_ranks:
            return inputs
        # A document's own grade must not predict itself: the rate is that of the topic's other documents.
        size = stage.n_documents[docs.topic] - (above is not None)
        n_above = stage.n_above[docs.topic] - (0.0 if above is None else above)
        rate = np.clip((n_above + SHRINKAGE * stage.rate) / (size + SHRINKAGE), 1e-4, 1 - 1e-4)
        return np.column_stack([inputs, np.log(rate) - np.log1p(-rate)])


def draw_grades(
    logits: FloatArray,
    levels: IntArray,
    in_top: BoolArray,
    sd: float,
    samples: int,
    random: np.random.Generator,
) -> IntArray:
    """Draw grades of documents, shape (samples, documents).

    The documents of a run share a shift of all their logits. That of a document of several runs is the sum of theirs,
    scaled to the same standard deviation: what the ranks miss does not vanish where many runs retrieve a document.

    Args:
        logits: as :meth:`RelevanceModel.logits` returns them for ``levels``.
        levels: the grades, ascending.
        in_top: whether each run retrieves each document, shape (runs, documents).
        sd: the standard deviation of the shifts; see :func:`shift_sd`.
        samples: how many grades of each document.
        random: the source of random numbers.
    """
    from scipy.special import expit

    share = in_top / np.sqrt(np.maximum(in_top.sum(axis=0), 1))
    shift = sd * random.standard_normal((samples, len(in_top))) @ share
    reached = np.zeros(shift.shape, dtype=np.min_scalar_type(len(levels)))
    climbs, step = np.ones(shift.shape, dtype=bool), max(1, _DRAWN_AT_ONCE // max(shift.shape[1], 1))
    for logit in logits:
        for at in range(0, samples, step):
            some = shift[at : at + step]
            climbs[at : at + step] &= random.random(some.shape) < expit(logit + some)
        reached += climbs
    return levels[reached]


def log_loss(logits: FloatArray, levels: IntArray, grade: IntArray) -> float:
    """Return the mean of -log P(grade) over documents, whose logits have the shape (levels - 1, documents)."""
    loss = np.zeros(len(grade))
    for logit, before, level in zip(logits, levels[:-1], levels[1:], strict=True):
        sign = np.where(grade >= level, 1.0, -1.0)
        loss += np.where(grade >= before, np.logaddexp(0.0, -sign * logit), 0.0)
    return float(loss.mean())


def fit_logistic(inputs: FloatArray, labels: FloatArray) -> FloatArray:
    """Return the weights of a logistic regression with a small ridge; the first input is constant, without a ridge."""
    from scipy.special import expit  # loading it takes longer than most verdicts, which need no model

    ridge = np.full(inputs.shape[1], _RIDGE)
    ridge[0] = 1e-9
    weights = np.zeros(len(ridge))
    for _ in range(100):
        probability = expit(inputs @ weights)
        slope = inputs.T @ (probability - labels) + ridge * weights
        curvature = (inputs * (probability * (1.0 - probability))[:, None]).T @ inputs + np.diag(ridge)
        step = np.linalg.solve(curvature, slope)
        longest = np.abs(step).max()
        weights -= step * min(1.0, _LONGEST_STEP / max(longest, _PRECISION))
        if longest < _PRECISION:
            break
    return weights


def fit_intercepts(in_top: BoolArray, logits: FloatArray, labels: FloatArray) -> FloatArray:
    """Return by how much the log-odds of each run's documents differ from ``logits``, shrunken towards 0."""
    from scipy.special import expit

    run, doc = np.nonzero(in_top)
    n_runs, prior = len(in_top), 1.0 / _INTERCEPT_SD**2
    result = np.zeros(n_runs)
    for _ in range(100):
        probability = expit(logits[doc] + result[run])
        slope = np.bincount(run, labels[doc] - probability, n_runs) - result * prior
        curvature = np.bincount(run, probability * (1.0 - probability), n_runs) + prior
        # In a step of at most 1 the curvature changes little enough for Newton's method to converge from anywhere.
        step = np.clip(slope / curvature, -1.0, 1.0)
        result += step
        if np.abs(step).max(initial=0.0) < _PRECISION:
            break
    return result


def _with_intercepts(inputs: FloatArray, in_top: BoolArray, intercept: FloatArray) -> FloatArray:
    """Add the mean and the highest intercept of the runs that retrieve each document."""
    mean = intercept @ in_top / np.maximum(in_top.sum(axis=0), 1)
    highest = np.where(in_top, intercept[:, None], -np.inf).max(axis=0)
    return np.column_stack([inputs, mean, np.where(in_top.any(axis=0), highest, 0.0)])


def _run_weights(in_top: BoolArray) -> FloatArray:
    """Return the weight of each run: the lower, the more other runs retrieve its documents; copies share one weight."""
    shared = in_top.astype(np.float64) @ in_top.T
    size = np.maximum(np.diag(shared), 1.0)
    weights: FloatArray = 1.0 / np.maximum((shared / np.minimum.outer(size, size)).sum(axis=1), 1.0)
    return weights


def count_groups(in_top: BoolArray, groups: IntArray | None) -> IntArray:
    """Return how many groups of runs retrieve each document; without groups, runs with the same top are one."""
    if groups is None:
        groups = np.unique(in_top, axis=0, return_inverse=True)[1].reshape(-1)
    count: IntArray = np.sum([in_top[groups == group].any(axis=0) for group in np.unique(groups)], axis=0)
    return count
