"""Drawn grades for unjudged documents, by a relevance model of the runs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import ir_measures
import numpy as np

from ..context.checks import check_whole_to
from ..context.evaluated import Evaluated
from ..context.measure_strings import param_value
from ..data.arrays import FloatArray, IntArray
from ..data.documents import Documents, Judgments
from ..io.qrels import Qrels, make_judgments, qrels_columns
from ..tolerances import LABELED_ALIKE
from .labelings import Labelings
from .llm_judge import FEWEST_SHARED, NO_LABEL, JudgedRelevance
from .relevance import DEEPER, FEWEST_RUNS, Pool, draw_grades

# The number of labelings that are drawn at once.
_BATCH = 50
# The number of gains, of all documents under some labelings, that are in memory at once.
_GAINS_AT_ONCE = 1 << 22
# A judge that labels a smaller share of the unjudged documents changes little.
_FEW_LABELLED = 0.5


def check_relevance_model(
    relevance_model: str | None,
    n_runs: int,
    measures: Sequence[ir_measures.Measure],
    perquery: bool,
    with_llm: bool = False,
) -> None:
    """Raise ValueError where the model cannot draw labelings for these measures, or has too few runs to learn from."""
    if relevance_model is None:
        if with_llm:
            raise ValueError(
                "llm_judgments= is an input of the model of the pool; set relevance_model='pool' too"
            )
        return
    if relevance_model != "pool":
        raise ValueError(f"relevance_model={relevance_model!r} is not allowed; give 'pool', or leave it out")
    if perquery:
        raise ValueError("relevance_model= is about the mean over queries; leave perquery=True out")
    for measure in measures:
        rewarded = [
            label for label, gain in (param_value(measure, "gains") or {}).items() if label < 1 and gain
        ]
        if rewarded:
            raise ValueError(
                f"{measure}: relevance_model= gives the probability of being relevant, and the measure's gains reward "
                f"grade {rewarded[0]}, which is not relevant; leave relevance_model= out"
            )
    if n_runs < FEWEST_RUNS and not with_llm:
        raise ValueError(
            f"relevance_model='pool' needs at least {FEWEST_RUNS} runs to learn from, and there are {n_runs}: add runs "
            "of the collection, give llm_judgments=, or leave relevance_model= out"
        )


class Imputation:
    """A relevance model that is fitted on the runs of a collection and their judgments.

    Args:
        runs: the runs, on the judged documents and the unjudged ones of their tops.
        cutoff: the measure's.
        llm_judgments: judgments by a language model.
        candidate: the row of the run that the language model may favour.
    """

    def __init__(
        self,
        runs: Sequence[Evaluated],
        cutoff: int | None,
        llm_judgments: Judgments | None = None,
        candidate: int | None = None,
    ) -> None:
        self._runs, self._cutoff, self._llm, self.candidate = runs, cutoff, llm_judgments, candidate
        docs = runs[0].collection.documents
        if cutoff is not None:
            reader = f"a relevance model, which reads {DEEPER} times the cutoff,"
            check_whole_to((run.run for run in runs), cutoff * DEEPER, reader, DEEPER)
        pool, label = self._pool(docs), self._labels(docs)
        groups = number_groups(runs)
        self.model = JudgedRelevance(pool, docs.grade, docs.judged, label, groups=groups, candidate=candidate)
        in_tops = pool.in_top.any(axis=0)
        labelled = in_tops & (label != NO_LABEL) if label is not None else np.zeros_like(in_tops)
        self.n_unjudged = int((in_tops & ~docs.judged).sum())
        #: How many documents in tops the language model labelled, and how many unjudged ones.
        self.n_in_tops, self.n_labelled = int(labelled.sum()), int((labelled & ~docs.judged).sum())
        #: A sentence on the scale of the language model's grades, where it is not that of the judgments.
        self.about_scale = "" if label is None else _describe_scale(label[label != NO_LABEL], docs)

    @property
    def exists(self) -> bool:
        """Whether there is a model; of few runs it knows nothing but the labels of unjudged documents."""
        return self.model.exists and not (len(self._runs) < FEWEST_RUNS and self.covers_few)

    @property
    def covers_few(self) -> bool:
        """Whether the language model labelled less than half of the unjudged documents."""
        return self.n_labelled < _FEW_LABELLED * self.n_unjudged

    def draw(self, labelings: Labelings, samples: int, seed: int) -> Iterator[FloatArray]:
        """Yield values of runs under drawn grades, in batches of the shape (runs, labelings, topics).

        Args:
            labelings: the runs to value, and their unjudged documents; of the same collection, but perhaps others.
            samples: how many labelings.
            seed: of the random numbers.
        """
        random = np.random.default_rng(seed)
        opened = labelings.docs.select(labelings.open)
        docs = opened.select(opened.exists)
        pool = self._pool(docs)
        logits = self.model.logits(pool, self._labels(docs))
        retrieved = pool.in_top
        retrieved |= (pool.ranks > 0) & ~retrieved.any(axis=0)
        for start in range(0, samples, _BATCH):
            size = min(_BATCH, samples - start)
            grade = np.zeros((size, len(opened)), dtype=np.int64)
            grade[:, opened.exists] = draw_grades(
                logits, self.model.levels, retrieved, self.model.sd, size, random
            )
            step = max(1, _GAINS_AT_ONCE // max(len(labelings.docs), 1))
            parts = [labelings.values(grade[at : at + step]) for at in range(0, size, step)]
            yield np.concatenate(parts, axis=1)

    def gain_slope(self, labelings: Labelings) -> FloatArray:
        """Return how fast the expected gain of each document grows with the shift of a run, shape (documents).

        The shift, which all documents of a run share, makes most of the uncertainty; a judged document has none of it.
        """
        rows, chance = self._chances(labelings)
        reached = np.cumprod(chance, axis=0)
        growth = np.diff(labelings.gain(self.model.levels).astype(np.float64))[:, None]
        result = np.zeros(len(labelings.docs))
        result[rows] = (growth * reached * np.cumsum(1.0 - chance, axis=0)).sum(axis=0)
        return result

    def probability_of_gain(self, labelings: Labelings) -> FloatArray:
        """Return the probability that each document gains anything, shape (documents); 0 where it is judged."""
        rows, chance = self._chances(labelings)
        reached = np.vstack([np.ones(len(rows)), np.cumprod(chance, axis=0), np.zeros(len(rows))])
        result = np.zeros(len(labelings.docs))
        result[rows] = (-np.diff(reached, axis=0))[labelings.gain(self.model.levels) > 0].sum(axis=0)
        return result

    def _chances(self, labelings: Labelings) -> tuple[IntArray, FloatArray]:
        """Return the unjudged documents, and the probability of each level given the one below."""
        from scipy.special import expit

        unjudged = labelings.open & labelings.docs.exists
        docs = labelings.docs.select(unjudged)
        return np.flatnonzero(unjudged), expit(self.model.logits(self._pool(docs), self._labels(docs)))

    def _pool(self, docs: Documents) -> Pool:
        """Return the ranks at which the runs retrieve documents, to a little below the cutoff."""
        deep = None if self._cutoff is None else self._cutoff * DEEPER
        rows = [docs.positions_in(run.run, deep) for run in self._runs]
        return Pool(np.array(rows), docs.query, docs.n_queries, self._cutoff)

    def _labels(self, docs: Documents) -> IntArray | None:
        """Return the labels of the language model, :data:`NO_LABEL` where there is none; None without one."""
        if self._llm is None:
            return None
        topic = np.array([self._llm.query_code.get(query, -1) for query in docs.query_ids], dtype=np.int64)
        row = np.full(len(docs), -1, dtype=np.int64)
        in_topics = docs.exists & (topic[docs.query] >= 0)
        row[in_topics] = self._llm.find_rows(topic[docs.query[in_topics]], docs.ids.take(in_topics))
        return np.append(self._llm.grade, NO_LABEL)[row]


def number_groups(runs: Sequence[Evaluated]) -> IntArray | None:
    """Return the number of each run's group; None if no groups are known."""
    groups = runs[0].collection.groups
    if not groups:
        return None
    keys = [groups.get(run.name, i) if run.name is not None else run.group or i for i, run in enumerate(runs)]
    return np.array([keys.index(key) for key in keys], dtype=np.int64)


def read_llm_judgments(llm_judgments: Qrels | None, docs: Documents) -> Judgments | None:
    """Read judgments by a language model for these documents.

    Raises:
        ValueError: they are no qrels, or of other topics.
    """
    if llm_judgments is None:
        return None
    try:
        columns = qrels_columns(llm_judgments)
    except ValueError as error:
        raise ValueError(f"llm_judgments: {error}") from None
    judgments = make_judgments(columns, "the LLM judgments")
    if not len(judgments.query_ids):
        raise ValueError("llm_judgments: there are none; give judgments, or leave it out")
    if not set(judgments.query_ids.tolist()) & set(docs.query_ids.tolist()):
        few = [list(ids[:3]) for ids in (judgments.query_ids, docs.query_ids)]
        raise ValueError(
            f"llm_judgments: no topic is one of the qrels': they have {few[0]}, the qrels {few[1]}; give judgments of "
            "the same topics"
        )
    return judgments


def _describe_scale(label: IntArray, docs: Documents) -> str:
    """Return a sentence if a language model's grades are not on the scale of the judgments; else an empty text."""
    grade = docs.grade[docs.judged]
    if not len(label) or not len(grade):
        return ""
    lowest, highest = min(int(grade.min()), 0), int(grade.max())
    if label.min() >= lowest and label.max() <= highest:
        return ""
    theirs, human = f"{label.min()} to {label.max()}", f"{lowest} to {highest}"
    return (
        f" Their grades, {theirs}, are not on the scale of the human ones, {human}: only their order counts."
    )


def sentence_about_judge(imputation: Imputation) -> str | None:
    """Return a sentence on how the judgments by a language model were used; None without any."""
    model, gate = imputation.model, imputation.model.gate
    if gate is None:
        return None
    if not imputation.n_in_tops:
        return "No run retrieves in its top what the language model judged, so its judgments are not used."
    if gate.n_shared < FEWEST_SHARED:
        return (
            f"People judged {gate.n_shared:,} of the documents that the language model judged; "
            f"{FEWEST_SHARED} are needed to check it, so its judgments are not used."
        )
    if not gate.n_not_relevant:
        return (
            f"Of the {gate.n_shared:,} documents that the language model also judged, people judged none not relevant, "
            "so its judgments are not used."
        )
    if not gate.representative:
        return (
            "People judged hardly any documents but those in the tops of these runs "
            f"({100 * (1 - gate.elsewhere):.0f} %); LLM judgments cannot be checked on them alone, and are not used."
        )
    # Rounded down, since 9.6 % is less than 10 %.
    lowers = (
        f"The LLM judgments lower the error on the {gate.n_shared:,} documents that people also judged by "
        f"{math.floor(100 * max(gate.fall, 0.0))} %"
    )
    if gate.fall < gate.least_fall:
        return f"{lowers}, less than {100 * gate.least_fall:.0f} %; they are not used."
    if model.favour is not None and model.favoured:
        return (
            "The LLM judges the candidate's unjudged documents better than expected, by "
            f"{model.favour:.1f} standard deviations of other runs; its judgments are not used."
        )
    covered = f"{imputation.n_labelled:,} of {imputation.n_unjudged:,} unjudged documents"
    if not imputation.exists:
        return f"The LLM judgments cover {covered}, too few for a relevance model of these runs."
    text = f"{lowers}; they help to estimate unjudged grades."
    if imputation.candidate is not None and model.favour is None:
        text += " Too few runs or documents show whether they favour the candidate."
    text += imputation.about_scale
    if imputation.covers_few:
        text += f" They cover {covered}."
    return text


def probability_above(drawn: Iterator[FloatArray], a: IntArray, b: IntArray) -> FloatArray:
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
