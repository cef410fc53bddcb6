"""What the lists of options score, and what judgments of their unjudged documents could change."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import NamedTuple, TypeVar

import ir_measures
import numpy as np
import pandas as pd

from ..bounding.bounds import judged_values, make_labelings
from ..bounding.imputation import (
    Imputation,
    check_relevance_model,
    read_llm_judgments,
    sentence_about_judge,
)
from ..bounding.intervals import TimeLimit
from ..bounding.labelings import Labelings, open_documents
from ..bounding.relevance import FEWEST_RUNS
from ..bounding.verdicts import differences, round_to_zero, unjudged_shares
from ..context.checks import warn_about_last_labels
from ..context.collection import Collection
from ..context.evaluated import Evaluated
from ..context.measure_strings import needs_subtopics, param_value
from ..context.tops import Look
from ..data.arrays import BoolArray, FloatArray, IntArray, ObjectArray
from ..data.rankings import Rankings
from ..io.qrels import Qrels
from ..measures.bases.gains import Gain
from ..messages import counted
from ..tolerances import LABELED_ALIKE

T = TypeVar("T")

# The least share of documents that are not relevant among those that a relevance model learns from.
_LEAST_NOT_RELEVANT = 0.25


class _NoModel(NamedTuple):
    """Why no relevance model can impute judgments."""

    why: str = ""  #: without a full stop; empty where one can
    lacks_judgments: bool = False  #: whether more judgments of the tops would allow one


class OptionValues:
    """The lists of some options, scored by the judgments as they are, under imputed ones, and at the extremes.

    They are scored in an order that does not depend on the order of the options, so that equal options have equal
    values. What is computed for a ``key`` is stored with the collection.

    Args:
        collection: of all runs of the context. Their unjudged documents may be relevant too; the model learns from all.
        lists: of each option.
        by: the measure.
        unretrieved_relevant: how many further documents per topic, in no list, may turn out relevant.
        llm_judgments: by a language model.
        candidate: the run that a language model may favour; None where there is none.
        runs: those of each option, in the same order wherever it means the same.
        key: all else that the lists depend on; None where nothing is stored.
    """

    judged: FloatArray  #: the values by the judgments as they are, shape (options, topics)
    unjudged: FloatArray  #: the unjudged share of each list to the measure's cutoff
    all_judged: bool  #: whether no unjudged document is in the top of a list or of a run
    why_not_bounded: str | None  #: why there are no strict bounds; None where there are

    def __init__(
        self,
        collection: Collection,
        lists: Sequence[Rankings],
        by: ir_measures.Measure,
        unretrieved_relevant: int | None = None,
        limit: TimeLimit | None = None,
        llm_judgments: Qrels | None = None,
        candidate: str | None = None,
        runs: Sequence[tuple[str, ...]] | None = None,
        key: Hashable | None = None,
    ) -> None:
        self.by, self._collection, self._candidate = by, collection, candidate
        self._limit = limit or TimeLimit()
        self._llm = read_llm_judgments(llm_judgments, collection.documents)
        runs = runs or [()] * len(lists)
        order = sorted(range(len(lists)), key=lambda i: (sorted(runs[i]), runs[i]))
        self._lists = [lists[i] for i in order]
        self._place = np.argsort(order)  # the place of each option in that order
        self._unretrieved = unretrieved_relevant
        self._key: Hashable | None = None
        if key is not None and self._llm is None:
            self._key = key, type(by), by, unretrieved_relevant, tuple(runs[i] for i in order)
        judged, unjudged, self.all_judged, self.why_not_bounded = self._memoize("scores", self._score)
        self.judged, self.unjudged = judged[self._place], unjudged[self._place]

    def _memoize(self, key: Hashable, compute: Callable[[], T]) -> T:
        return compute() if self._key is None else self._collection.memoize((key, self._key), compute)

    @cached_property
    def _evaluated(self) -> list[Evaluated]:
        return [Evaluated.of(self._collection, run) for run in self._lists]

    @cached_property
    def _labelings(self) -> Labelings | str:
        """The labelings of the lists, or why there are none: every judgment would change every ideal ranking."""
        try:
            return make_labelings(self.by, self._evaluated, self._unretrieved)
        except ValueError as error:
            return str(error)

    @property
    def _existing_labelings(self) -> Labelings:
        assert isinstance(self._labelings, Labelings)
        return self._labelings

    def _score(self) -> tuple[FloatArray, FloatArray, bool, str | None]:
        runs, by, labelings = self._evaluated, self.by, self._labelings
        unjudged = unjudged_shares(runs, param_value(by, "cutoff")).mean(axis=1)
        if isinstance(labelings, str):
            judged = np.array([run.absolute(by) for run in runs])
            return judged, unjudged, not unjudged.any(), labelings
        all_judged = not (labelings.open & labelings.docs.exists).any()
        return judged_values(runs, by, labelings), unjudged, all_judged, labelings.why_not_bounded

    # ---- imputed judgments

    @property
    def why_no_model(self) -> str:
        """Why no relevance model can impute judgments, without a full stop; empty where one can."""
        return self._no_model.why

    @cached_property
    def _no_model(self) -> _NoModel:
        runs = len(self._collection.names)
        if isinstance(self._labelings, str) or needs_subtopics(self.by):
            return _NoModel(f"No relevance model imputes judgments for {self.by}")
        if runs < FEWEST_RUNS and (self._llm is None or not self._imputation.exists):
            further = counted(FEWEST_RUNS - runs, "further run")
            return _NoModel(f"A relevance model needs {further} of the collection")
        try:
            check_relevance_model("pool", runs, [self.by], perquery=False, with_llm=self._llm is not None)
        except ValueError:
            return _NoModel(f"No relevance model imputes judgments for the gains of {self.by}")
        # A language model alone learns from all judged documents.
        cutoff, gain, in_tops = self._labelings.cutoff, self._labelings.gain, runs >= FEWEST_RUNS
        key = "one-sided", type(self.by), self.by, in_tops
        return self._collection.memoize(key, lambda: _check_sides(self._collection, cutoff, gain, in_tops))

    @cached_property
    def _imputation(self) -> Imputation:
        """The relevance model of the runs of the context, which does not depend on the options."""
        cutoff = self._existing_labelings.cutoff
        candidate = None if self._candidate is None else self._collection.index[self._candidate]

        def fit() -> Imputation:
            documents = open_documents(self._collection, cutoff)
            opened = replace(self._collection, documents=documents)
            return Imputation(Evaluated.each(opened), cutoff, self._llm, candidate)

        if self._llm is not None:
            return fit()
        return self._collection.memoize(("imputation", type(self.by), self.by), fit)

    @property
    def about_judge(self) -> str:
        """A sentence on the judgments by a language model; empty without any, or if nothing is unjudged."""
        if self._llm is None or isinstance(self._labelings, str) or self.all_judged:
            return ""
        return sentence_about_judge(self._imputation) or ""

    def imputed(self, samples: int, seed: int) -> FloatArray:
        """Return values under judgments that the relevance model draws, shape (options, labelings, topics)."""

        def draw() -> FloatArray:
            labelings = self._existing_labelings
            return np.concatenate(list(self._imputation.draw(labelings, samples, seed)), axis=1)

        return self._memoize(("imputed", samples, seed), draw)[self._place]

    # ---- the extremes over all judgments

    def extreme_differences(self, first: Sequence[int], second: Sequence[int]) -> FloatArray:
        """Return the largest difference of list first[i] less list second[i] over all judgments, and the smallest.

        Shape (2, pairs, topics).
        """
        a, b = self._place[list(first)], self._place[list(second)]
        _, interval = differences(self._evaluated, self.by, self._existing_labelings, a, b, self._limit)
        return np.array([interval.upper, interval.lower])

    def largest_differences(self, options: int) -> FloatArray:
        """Return the largest difference of each two of the first options, shape (options, options, topics)."""
        place, option, n = self._place[:options], np.argsort(self._place), len(self._lists)
        pairs = [(x, y) for x, y in itertools.combinations(range(n), 2) if max(option[[x, y]]) < options]
        first, second = np.array(pairs, dtype=np.int64).reshape(-1, 2).T

        def compute() -> FloatArray:
            return self.extreme_differences(option[first].tolist(), option[second].tolist())

        result = np.zeros((n, n, self._collection.documents.n_queries))
        result[first, second], smallest = self._memoize(("most", *pairs), compute)
        result[second, first] = -smallest
        return result[np.ix_(place, place)]

    def to_judge(
        self, first: int, rivals: Sequence[int], reach: FloatArray, labels: str | None
    ) -> pd.DataFrame:
        """Return the unjudged documents that move the differences of a list from its rivals, the largest effect first.

        ``reach`` is how far judgments can move each difference from 0, shape (rivals, topics). With ``"imputed"``
        labels, it also counts how uncertain the gain of a document is. Without labels (None), those come first with
        which a relevance model can soonest be learned, if few judgments of documents that are not relevant are missing.
        """
        ids = np.empty((0, 2), dtype=object)
        if self.why_not_bounded is None and len(rivals):
            place, places = int(self._place[first]), self._place[list(rivals)].tolist()
            # The key needs no ``reach``: it follows from the lists that are compared.
            key = "to judge", place, frozenset(places), labels
            ids = self._memoize(key, lambda: self._documents_to_judge(place, places, reach, labels))
        return pd.DataFrame({"query_id": ids[:, 0], "doc_id": ids[:, 1]}, dtype=str)

    def _documents_to_judge(
        self, first: int, rivals: Sequence[int], reach: FloatArray, labels: str | None
    ) -> ObjectArray:
        labelings = self._existing_labelings
        docs, moved = labelings.docs, np.zeros(len(labelings.docs))
        for rival, reach_of_rival in zip(rivals, reach, strict=True):
            moved = np.maximum(moved, labelings.influence(first, rival, reach_of_rival))
        moved[~(labelings.open & docs.exists)] = 0.0
        weight = moved * self._imputation.gain_slope(labelings) if labels == "imputed" else moved
        rows, movable = np.flatnonzero(moved > LABELED_ALIKE), docs.select(moved > LABELED_ALIKE)
        rank = np.array([movable.positions_in(run, None) for run in self._lists])
        best = np.where(rank > 0, rank, np.iinfo(np.int64).max).min(axis=0)
        rows = rows[np.lexsort((docs.query[rows], best, -np.round(weight[rows], 9)))]
        if labels is None and len(self._collection.names) >= FEWEST_RUNS and self._no_model.lacks_judgments:
            soonest = self._learned_soonest(rows)
            rows = np.append(soonest, rows[~np.isin(rows, soonest)])
        return np.stack([docs.query_ids[docs.query[rows]], docs.ids.take(rows).strings()], axis=1)

    def _learned_soonest(self, rows: IntArray) -> IntArray:
        """Return the documents, of some rows, whose judgments soonest let a relevance model be learned.

        Half of the topics need judgments of enough documents that are not relevant. Topics come first that need few.
        None are returned if that cannot be expected.
        """
        labelings, collection = self._existing_labelings, self._collection
        docs, cutoff = labelings.docs, labelings.cutoff
        judged = _count_judged(collection, cutoff, labelings.gain, in_tops=True)
        try:
            probability = self._imputation.probability_of_gain(labelings)
        except ValueError:  # a track may be too shallow for a model
            return rows[:0]
        rows = rows[(collection.positions(docs, Look(cutoff))[:, rows] > 0).any(axis=0)]
        gains, missing, needed = probability[rows], judged.n_missing, []
        for topic in np.flatnonzero(~judged.is_enough):
            some = np.flatnonzero(docs.query[rows] == topic)
            some = some[np.argsort(gains[some], kind="stable")]
            relevant, spread = np.cumsum(gains[some]), np.cumsum(gains[some] * (1.0 - gains[some]))
            n = np.arange(1, len(some) + 1)
            not_relevant = n - relevant - _LEAST_NOT_RELEVANT * n + np.sqrt(spread)
            enough = np.flatnonzero(not_relevant >= missing[topic])
            if len(enough):
                needed.append(rows[some[: enough[0] + 1]])
        if len(needed) < judged.n_topics_missing:
            return rows[:0]
        return np.concatenate(sorted(needed, key=len)[: judged.n_topics_missing])


class _Judged(NamedTuple):
    """How many documents of each topic are judged, and how many of these are relevant."""

    n_judged: IntArray
    n_relevant: IntArray

    @property
    def n_missing(self) -> FloatArray:
        """How many judgments of documents that are not relevant each topic needs; at most 0 where it has enough."""
        missing: FloatArray = _LEAST_NOT_RELEVANT * self.n_judged - (self.n_judged - self.n_relevant)
        return missing

    @property
    def is_enough(self) -> BoolArray:
        """Whether a quarter or more of a topic's judged documents are not relevant."""
        return (self.n_judged > 0) & (self.n_missing <= 0)

    @property
    def n_topics_missing(self) -> int:
        """How many topics more must have enough, so that half of them have."""
        return max((len(self.n_judged) + 1) // 2 - int(self.is_enough.sum()), 0)


def _count_judged(collection: Collection, cutoff: int | None, gain: Gain, in_tops: bool) -> _Judged:
    """Count the judged documents of each topic: all, or those ``in_tops`` of the runs."""
    docs = collection.judgments
    counts = (collection.positions(docs, Look(cutoff)) > 0).any(axis=0) if in_tops else docs.judged
    relevant = counts & (gain(docs.grade) > 0)
    return _Judged(
        *(np.bincount(docs.query[which], minlength=docs.n_queries) for which in (counts, relevant))
    )


def _check_sides(collection: Collection, cutoff: int | None, gain: Gain, in_tops: bool) -> _NoModel:
    """Return whether a model can learn from the judgments what is not relevant, and why not.

    It can where a quarter or more of the judged documents are not relevant, on half of the topics or more; of all, or
    of those ``in_tops``.
    """
    judged = _count_judged(collection, cutoff, gain, in_tops)
    if not judged.n_topics_missing:
        return _NoModel()
    only_relevant = bool((judged.n_judged == judged.n_relevant).all())
    kind = "relevant documents only" if only_relevant else "hardly any documents that are not relevant"
    return _NoModel(f"The judgments list {kind}", lacks_judgments=True)


def check_relevant(collection: Collection, by: ir_measures.Measure) -> None:
    """Raise ValueError where no document is judged relevant; warn of repeated judgments."""
    warn_about_last_labels(collection, [by])
    rel = param_value(by, "rel", 1)
    # A document may be judged for several aspects.
    labels = collection.judgments.labels or collection.judgments
    if not (labels.grade >= rel).any():
        lower = ", or a lower rel=" if rel > 1 else ""
        raise ValueError(f"no judgment has the grade {rel} or a higher one; give other qrels{lower}")


def won_and_lost(differences: FloatArray) -> tuple[IntArray, IntArray]:
    """Count the topics on which each difference, shape (options, topics), is above 0, and those where it is below."""
    exact = round_to_zero(differences)
    return (exact > 0).sum(axis=1), (exact < 0).sum(axis=1)
