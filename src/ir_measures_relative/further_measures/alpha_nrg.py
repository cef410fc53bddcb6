"""Aspects (subtopics, nuggets) that a ranking adds to those of the prior runs: alpha_NRG, NewAspects."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..data.arrays import (
    BoolArray,
    FloatArray,
    IntArray,
    ObjectArray,
    object_array,
    rank_within,
    ratio,
    row_sums,
    sum_by_query,
)
from ..measures import parameters
from ..measures.bases.browsing import powers
from ..measures.bases.gains import compute_gains, discount
from ..measures.measure import Contributions, RelativeMeasure, register
from ..measures.parameters import Param
from ..tolerances import ROUNDED

if TYPE_CHECKING:
    from ..context.collection import Collection
    from ..context.evaluated import Evaluated
    from ..data.documents import Documents


@dataclass(frozen=True, eq=False)
class Answers:
    """The documents that answer each aspect, one entry for each pair."""

    docs: Documents  #: all judged documents
    query: IntArray  #: the query of each aspect, ascending
    names: ObjectArray  #: of each aspect
    document: IntArray  #: of each answer: the row of its document
    aspect: IntArray  #: of each answer: its aspect
    gain: FloatArray  #: of each answer, above 0

    def in_ranking(self, position: IntArray) -> IntArray:
        """Return the answers in a ranking from the documents' positions: sorted by aspect, then from the top down."""
        at = position[self.document]
        rows = np.flatnonzero(at)
        return rows[np.lexsort((at[rows], self.aspect[rows]))]

    @cached_property
    def blocks(self) -> list[AnswersOfQueries]:
        """The answers as tables of some queries each."""
        n_queries = self.docs.n_queries
        first = np.searchsorted(self.query, np.arange(n_queries + 1))
        documents = np.unique(self.document)
        of_query = self.docs.query[documents]
        # Of equal gain, the greedy ideal takes the document whose id is the last by strcmp, as in ndeval.
        documents = documents[self.docs.ids.take(documents).descending(of_query)]
        place = np.zeros(len(self.docs), dtype=np.int64)
        place[documents] = rank_within(of_query) - 1
        depth, width = int(np.bincount(of_query).max(initial=0)), int(np.diff(first).max(initial=0))
        blocks, query = [], self.query[self.aspect]
        step = max(_CELLS // max(depth * width, 1), 1)
        for start in range(0, n_queries, step):
            end = min(start + step, n_queries)
            rows = np.flatnonzero((query >= start) & (query < end))
            table = np.zeros((width, end - start, depth))
            local = self.aspect[rows] - first[query[rows]]
            table[local, query[rows] - start, place[self.document[rows]]] = 1.0
            blocks.append(AnswersOfQueries(first[start : end + 1], table))
        return blocks


_CELLS = 1 << 22  # the size of a table of answers; that of a single query may be larger


class AnswersOfQueries(NamedTuple):
    """The answers of some queries as a table."""

    first: IntArray  #: the first aspect of each query, and at the end that after the last query
    table: FloatArray  #: 1 where a document answers an aspect, shape (aspects of a query, queries, documents)

    def greedy(self, weight: FloatArray, alpha: float, depth: int | None) -> FloatArray:
        """Return the gains of the ranking that takes the largest gain at each rank; 0 where no document is left."""
        width, n_queries, n_documents = self.table.shape
        left = np.zeros((width, n_queries))
        for aspect in range(width):
            at = self.first[:-1] + aspect
            has = np.flatnonzero(at < self.first[1:])
            left[aspect, has] = weight[at[has]]
        queries = np.arange(n_queries)
        taken = np.zeros((n_queries, n_documents), dtype=bool)
        gains = np.zeros((n_queries, n_documents if depth is None else min(depth, n_documents)))
        for rank in range(gains.shape[1]):
            score = np.zeros((n_queries, n_documents))
            # Aspect by aspect: the sum has the same bits, however many aspects other queries have.
            for answered, worth in zip(self.table, left, strict=True):
                score += answered * worth[:, None]
            score[taken] = -1.0
            best = score.max(axis=1, keepdims=True)
            if best.max(initial=0.0) <= 0.0:
                break
            chosen = (score >= best * (1.0 - ROUNDED)).argmax(axis=1)
            gains[:, rank] = np.maximum(score[queries, chosen], 0.0)
            taken[queries, chosen] = True
            left *= np.where(self.table[:, queries, chosen] > 0.0, 1.0 - alpha, 1.0)
        return gains


def ideal_alpha_dcg(answers: Answers, weight: FloatArray, alpha: float, depth: int | None) -> FloatArray:
    """Return the α-DCG of each query's greedy ideal ranking, by the weights of the aspects."""
    sums = []
    for block in answers.blocks:
        gains = block.greedy(weight, alpha, depth)
        sums.append(row_sums(gains * discount(np.arange(1, gains.shape[1] + 1))))
    return np.concatenate([np.zeros(0), *sums])


@dataclass(frozen=True)
class NotMet:
    """A function from positions in priors to the probability that their user met no answer to each aspect."""

    answers: Answers
    alpha: float

    def __call__(self, position: IntArray) -> FloatArray:
        """Return ``Π (1 - α · seen)`` over the answers, shape (runs, aspects), from shape (runs, documents)."""
        result = np.ones((len(position), len(self.answers.query)))
        for probability, in_run in zip(result, position, strict=True):
            rows = self.answers.in_ranking(in_run)
            seen = discount(in_run[self.answers.document[rows]])
            np.multiply.at(probability, self.answers.aspect[rows], 1.0 - self.alpha * seen)
        return result


def best_shown(answers: Answers, position: IntArray) -> FloatArray:
    """Return the largest gain of an answer to each aspect in a ranking; 0 where it shows none."""
    result = np.zeros(len(answers.query))
    shown = position[answers.document] > 0
    np.maximum.at(result, answers.aspect[shown], answers.gain[shown])
    return result


class AspectMeasure(RelativeMeasure):
    """A measure of the aspects that documents answer."""

    RELATIVE_TO = "priors"
    TEST = "bootstrap"
    looks_at_aspects = True
    COUNTS = True

    def answers(self, collection: Collection) -> Answers:
        """Return the answers by ``rel`` and ``gains``."""
        rel, gains = self.get("rel"), self.get("gains")
        key = "answers", rel, None if gains is None else tuple(sorted(gains.items()))
        docs = collection.judgments

        def find() -> Answers:
            labels = docs.aspects
            grade = labels.grade
            gain = np.ones(len(grade)) if gains is None else compute_gains(grade, "log2", gains)
            keep = (grade >= rel) & (gain > 0)
            return Answers(
                docs, labels.query, labels.names, labels.document[keep], labels.aspect[keep], gain[keep]
            )

        return collection.memoize(key, find)

    def list_aspects(self, run: Evaluated, answers: Answers) -> dict[str, ObjectArray]:
        """Return the aspects that each document answers, and those that none before it answers, for ``explain``."""
        position, priors = run.positions(answers.docs, self.look), run.priors(self.prior)
        shown = self.shown_by_runs(run.collection, answers)[priors].max(axis=0, initial=0.0) > 0.0
        rows = answers.in_ranking(position)
        first = rank_within(answers.aspect[rows]) == 1
        new = np.zeros(len(answers.document), dtype=bool)
        new[rows] = first & ~shown[answers.aspect[rows]]
        return {"aspects": _listed(answers, np.ones_like(new)), "new aspects": _listed(answers, new)}

    def shown_by_runs(self, collection: Collection, answers: Answers) -> FloatArray:
        """Return the largest gain of an answer to each aspect in the top of each run, shape (runs, aspects)."""

        def compute() -> FloatArray:
            position = collection.positions(answers.docs, self.look)
            rows = [best_shown(answers, in_run) for in_run in position]
            return np.array(rows).reshape(len(rows), len(answers.query))

        return collection.memoize(("shown", answers, self.look.depth), compute)


def _listed(answers: Answers, keep: BoolArray) -> ObjectArray:
    """Return the sorted names of each document's aspects, by the answers to ``keep``."""
    names: list[list[str]] = [[] for _ in range(len(answers.docs))]
    rows = np.flatnonzero(keep)
    for document, name in zip(
        answers.document[rows].tolist(), answers.names[answers.aspect[rows]], strict=True
    ):
        names[document].append(name)
    return object_array(tuple(sorted(aspects)) for aspects in names)


class _alpha_NRG(AspectMeasure):
    """α-nDCG for a user who has seen the prior runs: novelty within the ranking and against the priors.

    A document gains for each aspect (subtopic, nugget) that it answers: 1, times 1 - α for each document above it that
    answers the aspect, times ``Π (1 - α·seen(pos_j(d)))`` over the documents d in the top k of each prior j that answer
    it, ``seen(i) = 1/log2(i + 1)``. The sum of gains times seen(i) is divided by N, that sum for the ideal ranking of
    what is left, taken greedily as in ndeval: the largest gain first, then the last id.

    Range [0, e/(e - 1)]; without priors it is α-nDCG. A document answers an aspect if its grade there is at least
    ``rel``. The qrels name the aspect in the column ``iteration``.

    Source: Clarke et al., SIGIR 2008 (α-nDCG); Bigdeli et al., SIGIR-AP 2024 (priors). The combination is new here.

    Example, where the prior has the causes on top and no remedy:

        >>> from ir_measures import Qrel
        >>> from ir_measures_relative import RunContext, alpha_NRG
        >>> rows = [("A", "causes"), ("B", "causes"), ("B", "remedy"), ("C", "remedy")]
        >>> qrels = [Qrel("q", doc, 1, aspect) for doc, aspect in rows]
        >>> with RunContext({"old": {"q": {"A": 2.0, "X": 1.0}}}):
        ...     round((alpha_NRG @ 2).calc_aggregate(qrels, {"q": {"C": 2.0, "B": 1.0}}), 3)
        0.898
    """

    __name__ = "alpha_NRG"
    PAPERS = {"nrg2024": "", "clarke2008novelty": ""}
    PRETTY_NAME = "Alpha Normalized Residual Gain"
    SHORT_DESC = "What a ranking adds of aspects that neither the documents above nor the prior runs show."
    FORMULA = (
        r"\alpha\mathrm{NRG}@k = \frac{1}{N} \sum_{i=1}^{k} \mathrm{seen}(i) \sum_{a \in A(d_i)} "
        r"(1-\alpha)^{|\{l < i : a \in A(d_l)\}|} \prod_{j} \prod_{d : a \in A(d)} "
        r"\bigl(1 - \alpha\,\mathrm{seen}(\mathrm{pos}_j(d))\bigr)"
    )
    SEE_ALSO = ("NewAspects", "NRG")
    SUPPORTED_PARAMS = {
        "cutoff": parameters.cutoff(),
        "alpha": Param(
            float,
            "how much less an aspect is worth once a document has shown it: the chance that it satisfied",
            default=0.5,
            test=lambda alpha: 0 < alpha <= 1,
            allowed="a number above 0 and at most 1",
        ),
        "prior": parameters.prior(),
        "rel": parameters.rel(),
    }

    @property
    def value_range(self) -> tuple[float, float]:
        return 0.0, math.e / (math.e - 1.0)

    def score(self, run: Evaluated) -> FloatArray:
        answers, document, gain, ideal = self._gains(run)
        docs = answers.docs
        terms = gain * discount(run.positions(docs, self.look)[document])
        return ratio(sum_by_query(terms, docs.query[document], docs.n_queries), ideal)

    def contributions(self, run: Evaluated) -> Contributions:
        """Return the gain of each document over all of its aspects, and what it adds to the value of its query."""
        answers, document, gain, ideal = self._gains(run)
        docs = answers.docs
        gain = sum_by_query(gain, document, len(docs))
        terms = gain * discount(run.positions(docs, self.look))
        share = ratio(terms, ideal[docs.query])
        return Contributions(docs, gain, share, self.list_aspects(run, answers))

    def _gains(self, run: Evaluated) -> tuple[Answers, IntArray, FloatArray, FloatArray]:
        """Return the documents of the answers in the ranking, what each answer gains, and N of each query.

        An answer gains its aspect's weight after the priors, times 1 - α for each answer above it. The answers are
        sorted by query, from the top down, then by aspect.
        """
        alpha, depth, prior = map(self.get, ("alpha", "cutoff", "prior"))
        answers, look = self.answers(run.collection), self.look
        weight = np.ones(len(answers.query))
        if priors := len(run.priors(prior)):
            weight = run.left_by_priors(NotMet(answers, alpha), answers.docs, look, prior)
        position = run.positions(answers.docs, look)
        rows = answers.in_ranking(position)
        aspect, document = answers.aspect[rows], answers.document[rows]
        gain = weight[aspect] * powers(1.0 - alpha)(rank_within(aspect))
        order = np.lexsort((aspect, position[document], answers.query[aspect]))
        ideal = partial(ideal_alpha_dcg, answers, weight, alpha, depth)
        norm = (
            ideal() if priors else run.collection.memoize(("ideal alpha-DCG", answers, alpha, depth), ideal)
        )
        return answers, document[order], gain[order], norm


class _NewAspects(AspectMeasure):
    """The number of aspects (nuggets, subtopics) in the top k that no prior run has in its top k.

    A ranking has an aspect if its top holds a document whose grade for it is at least ``rel``. ``gains={1: 1, 2: 2}``
    weighs aspects: each counts the largest gain of a grade for it in the top, less the largest in any prior.
    ``gains={}`` takes the grades as they are. Range from 0.

    Source: this package; subtopic recall is that of Zhai, Cohen and Lafferty, SIGIR 2003.

    Example:
        >>> from ir_measures import Qrel
        >>> from ir_measures_relative import NewAspects, RunContext
        >>> rows = [("A", "causes"), ("B", "causes"), ("B", "remedy"), ("C", "remedy")]
        >>> qrels = [Qrel("q", doc, 1, aspect) for doc, aspect in rows]
        >>> with RunContext({"old": {"q": {"A": 2.0, "X": 1.0}}}):
        ...     (NewAspects @ 2).calc_aggregate(qrels, {"q": {"B": 2.0, "C": 1.0}})
        1.0
    """

    __name__ = "NewAspects"
    PAPERS = {"zhai2003beyond": ""}
    PRETTY_NAME = "New Aspects"
    SHORT_DESC = "The number of aspects that the top k shows and no prior run shows in its top k."
    FORMULA = (
        r"\mathrm{NewAspects}@k = \bigl|\{\, a : \exists\, i \le k : a \in A(d_i),\ "
        r"a \notin A(d)\ \mathrm{for\ all}\ d \in \mathrm{top}_k(R_j)\ \mathrm{and\ all}\ j \,\}\bigr|"
    )
    SEE_ALSO = ("alpha_NRG", "UniqueRel")
    SUPPORTED_PARAMS = {
        "cutoff": parameters.cutoff(required=True),
        "prior": parameters.prior(),
        "rel": parameters.rel(),
        "gains": parameters.gains("of the labels from rel on; one without an entry keeps its own value"),
    }
    zero_for_duplicate = True

    @property
    def value_range(self) -> tuple[float, float]:
        return 0.0, math.inf

    def score(self, run: Evaluated) -> FloatArray:
        answers, shown, before = self._shown(run)
        return sum_by_query(np.maximum(shown - before, 0.0), answers.query, answers.docs.n_queries)

    def contributions(self, run: Evaluated) -> Contributions:
        """Return what each document adds: an aspect counts for the first document with its largest gain."""
        answers, shown, before = self._shown(run)
        rows = answers.in_ranking(run.positions(answers.docs, self.look))
        aspect = answers.aspect[rows]
        best = np.flatnonzero(answers.gain[rows] == shown[aspect])
        first = best[rank_within(aspect[best]) == 1]
        new = np.maximum(shown - before, 0.0)[aspect[first]]
        gain = sum_by_query(new, answers.document[rows[first]], len(answers.docs))
        return Contributions(answers.docs, gain, gain, self.list_aspects(run, answers))

    def covered_by_runs(self, collection: Collection) -> tuple[FloatArray, FloatArray]:
        """Return the covered share of each aspect: a group covers it as well as the best of its runs."""
        answers = self.answers(collection)
        most = best_shown(answers, np.ones(len(answers.docs), dtype=np.int64))
        return ratio(self.shown_by_runs(collection, answers), most), most

    def _shown(self, run: Evaluated) -> tuple[Answers, FloatArray, FloatArray]:
        """Return the largest gain of an answer to each aspect: in the top of the run, and of any prior."""
        answers = self.answers(run.collection)
        shown = best_shown(answers, run.positions(answers.docs, self.look))
        priors = run.priors(self.prior)
        return answers, shown, self.shown_by_runs(run.collection, answers)[priors].max(axis=0, initial=0.0)


alpha_NRG = register(_alpha_NRG())
NewAspects = register(_NewAspects())
