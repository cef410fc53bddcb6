"""The open documents of a campaign: those that no judgment knows, and that a labeling gives labels to.

An open document of a query is an unjudged one that some run of the context holds in its top. A labeling gives a label
to each of them. The judged documents keep theirs, and a document that no run holds has no gain.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays import BoolArray, FloatArray, IntArray, object_array
from ..comparison import Comparison, JudgedContext
from ..ids import Ids
from ..judgments import Judgments
from ..measures.gains import grades_between
from ..messages import warn
from ..priors import Watched

# How many rows of rankings are looked through for a measure without a cutoff.
_MOST_ROWS = 5_000_000
# If one relevant document in twenty has the highest grade, none of 60 has it with a chance of less than one in twenty.
_ENOUGH_RELEVANT = 60
_ABSENT = "\x7felsewhere "


class OpenDocuments:
    """The judged and the open documents of a campaign, to a depth.

    Args:
        judged: the context on the judgments as they are.
        cutoff: how deep the runs are looked at.
        unretrieved_relevant: how many further documents a query, which no run holds, may turn out relevant.
        closed: whether no document is open: ``docs`` are those that are judged.

    Attributes:
        completed: the context on all of ``docs``.
        docs: the judged documents, and the open ones with grade 0.
        open: which of ``docs`` are open.
        exists: which of ``docs`` are real; the others are those that no run holds.

    Raises:
        ValueError: more documents than can be looked at.
    """

    def __init__(
        self, judged: JudgedContext, cutoff: int | None, unretrieved_relevant: int = 0, closed: bool = False
    ) -> None:
        self.judged = judged
        self.cutoff = cutoff
        judgments = judged.judgments
        found = Judgments.none_of(judgments.query_ids) if closed else _unjudged(judged, cutoff)
        unretrieved_relevant = 0 if closed else unretrieved_relevant
        n_queries, n = judgments.n_queries, len(judgments)
        if unretrieved_relevant * n_queries > _MOST_ROWS:
            raise ValueError(
                f"unretrieved_relevant={unretrieved_relevant} is more documents than can be looked at, in {n_queries} "
                "topics; give fewer"
            )
        absent = np.repeat(np.arange(n_queries), unretrieved_relevant)
        names = [f"{_ABSENT}{i}" for i in range(unretrieved_relevant)] * n_queries
        query = np.concatenate([judgments.query, found.query, absent])
        ids = judgments.ids.followed_by(found.ids)
        if names:
            ids = ids.followed_by(Ids.of(names))
        grade = np.concatenate([judgments.grade, np.zeros(len(query) - n, dtype=np.int64)])
        order = np.argsort(query, kind="stable")
        self.docs = Judgments(judgments.query_ids, query[order], ids.take(order), grade[order])
        self.open: BoolArray = order >= n
        self.exists: BoolArray = order < n + len(found)
        self.completed = JudgedContext(judged.context, self.docs, whole=judged.whole)
        self._comparisons: dict[int, Comparison] = {}

    @property
    def n_queries(self) -> int:
        return self.docs.n_queries

    def comparison(self, run: int) -> Comparison:
        """A run of the context, beside the others, on the judged and the open documents."""
        if run not in self._comparisons:
            name = self.judged.names[run]
            rankings = self.judged.context.runs[name]
            # Its priors are those that it has on the judgments as they are.
            priors = Comparison(self.judged, rankings, name).priors()
            names = [self.judged.names[i] for i in priors]
            self._comparisons[run] = Comparison(self.completed, rankings, name, names)
        return self._comparisons[run]

    def positions(self, judged_only: bool = False) -> IntArray:
        """Where every run ranks each of ``docs``, shape (runs, documents); 0 where not in its top."""
        return self.completed.positions_of_runs(self.docs, self.cutoff, judged_only)

    def labels(self, judged_only: bool = False) -> IntArray:
        """The labels that an open document may have, ascending; with ``judged_only`` none below 0.

        To ``judged_only`` a document with a negative label is unjudged, so judging it would change nothing.

        Warns where few documents are judged relevant and the context does not say which grades there are: a higher
        grade than these may then exist, and bounds without it would not be proofs.
        """
        low, high = self.completed.grades
        relevant = int((self.docs.grade > 0).sum())
        if self.judged.context.grades is None and relevant < _ENOUGH_RELEVANT and self.open.any():
            few = {0: "no document is", 1: "only 1 document is"}.get(
                relevant, f"only {relevant} documents are"
            )
            warn(
                f"{few} judged relevant, and unjudged ones are taken to have no higher grade than {high}: "
                f"say which grades there are with RunContext(…, grades=({low}, {high})), or more",
                self.judged.context,
            )
        return grades_between(0 if judged_only else low, high)

    def sums(self, values: FloatArray, among: BoolArray) -> FloatArray:
        """The sums by query over some of ``docs``; ``values`` of shape (…, documents)."""
        rows = np.flatnonzero(among)
        return self.joined(values[..., rows], rows, np.add)

    def joined(self, values: FloatArray, rows: IntArray, function: np.ufunc) -> FloatArray:
        """What ``function`` joins of values of these rows of ``docs``, (…, rows), by query; 0 where there are none."""
        result = np.zeros((*values.shape[:-1], self.n_queries))
        if len(rows):
            query = self.docs.query[rows]
            starts = np.flatnonzero(np.diff(query, prepend=-1))
            result[..., query[starts]] = function.reduceat(values, starts, axis=-1)
        return result

    def pool(self, collection: int | None, judged_only: bool) -> tuple[IntArray, IntArray]:
        """The size of the pool of each query when its open documents are judged, and how deep it is ranked.

        Args:
            collection: the size of the collection, where that is the pool.
            judged_only: whether documents with a negative label are out of it.
        """
        query = self.docs.query[self.docs.grade >= 0] if judged_only else self.docs.query
        size = np.bincount(query, minlength=self.n_queries)
        if collection is not None:
            size = np.full(len(size), collection, dtype=np.int64)
        return size, size if self.cutoff is None else np.minimum(size, self.cutoff)


def _unjudged(judged: JudgedContext, cutoff: int | None) -> Judgments:
    """The unjudged documents in the tops of the runs, each once, sorted by query; grade 0."""
    rows = sum(len(run) for run in judged.context.runs.values())
    if cutoff is None and rows > _MOST_ROWS:
        raise ValueError(
            f"without a cutoff every unjudged document is open, and the runs hold {rows} rows; give the measure a "
            "cutoff, such as @1000"
        )
    query: list[Any] = [np.empty(0, dtype=np.int64)]
    ids: list[str] = []
    for run in judged.context.runs.values():
        top = judged.top(run, cutoff)
        unknown = np.flatnonzero(~top.judged)
        query.append(top.docs.query[unknown])
        ids += top.docs.ids.take(unknown).strings().tolist()
    queries = np.concatenate(query)
    order = np.argsort(queries, kind="stable")
    all_ids = Ids.of(object_array(ids))
    nothing = np.zeros(len(order), dtype=np.int64)
    found = Judgments(judged.judgments.query_ids, queries[order], all_ids.take(order), nothing)
    again, _ = found.repeats()
    keep = np.ones(len(found), dtype=bool)
    keep[again] = False
    return found.select(keep)


def warn_of_judged_priors(judged: JudgedContext) -> None:
    """Warns where the judgments decide which runs are whose priors."""
    campaign = Watched(judged)
    for name in judged.names:
        judged.context.policy.priors_of(campaign, name)
    if campaign.asked:
        warn(
            "the judgments decide which runs are whose priors, and so do the open documents; the priors are taken to "
            "stay as the judgments choose them now"
        )
