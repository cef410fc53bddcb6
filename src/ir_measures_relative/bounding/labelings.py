"""Labelings: all judgments that the open documents of a collection could get."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np
from ir_measures import Measure

from ..context.collection import Collection
from ..context.evaluated import Evaluated
from ..context.measure_strings import is_relative, needs_subtopics, param_value
from ..context.memo import Memo
from ..context.tops import Look, Top
from ..data.arrays import BoolArray, FloatArray, IntArray, ObjectArray
from ..data.documents import Documents, Judgments
from ..data.ids import Ids
from ..data.rankings import Rankings
from ..measures.bases.gains import Gain, Relevant, Satisfying
from ..messages import warn
from .intervals import Interval, TimeLimit
from .level_sums import grades_between

# Fewer runs retrieve so few of the relevant documents that other runs would change ideal rankings and recall.
_ENOUGH_RUNS = 3
# If one relevant document in twenty has the highest grade, 60 lack it with a probability of less than one in twenty.
_ENOUGH_RELEVANT = 60
# The number of rows of rankings that are searched for unjudged documents without a cutoff.
_MOST_ROWS = 5_000_000


class NotBoundedError(ValueError):
    """A measure has no strict bounds."""


class Labelings:
    """The runs of a collection by one measure, under all labelings of its open documents.

    A document is open if it is unjudged and in the top of some run. None is open where the context's grades end below
    ``rel``. Arrays have one column per document of :attr:`docs`.

    This class values given labelings by the measure's own score; the subclasses have strict bounds too.

    Args:
        measure: the measure.
        runs: the runs, each on the judgments as they are.
        unretrieved_relevant: as for :func:`.bounds`.
    """

    def __init__(self, measure: Measure, runs: Sequence[Evaluated], unretrieved_relevant: int | None) -> None:
        self.measure, self.as_judged = measure, runs
        self._judged_collection = collection = runs[0].collection
        rel = param_value(measure, "rel")
        self._nothing_open = collection.grades_known and rel is not None and rel > collection.grades[1]
        self.cutoff: int | None = (
            measure.look.depth if is_relative(measure) else param_value(measure, "cutoff")
        )
        self.judged_only: bool = bool(param_value(measure, "judged_only", False))
        self.look = Look(self.cutoff, self.judged_only)
        few = len(collection.runs) < _ENOUGH_RUNS
        self._unretrieved_unknown = unretrieved_relevant is None and few and self.cutoff is None
        if unretrieved_relevant is None:
            unretrieved_relevant = (self.cutoff or 0) if few else 0
        self.unretrieved_relevant = 0 if self._nothing_open else unretrieved_relevant

    @cached_property
    def runs(self) -> list[Evaluated]:
        """Every run on the judged and the open documents."""
        collection = self._judged_collection
        if not self._nothing_open:
            depth, unretrieved = self.cutoff, self.unretrieved_relevant
            new_runs = tuple(run.run for run in self.as_judged if run.memo is not collection.memo)
            find = partial(open_documents, collection, depth, unretrieved, new_runs)
            # Once for a set of judgments; what new runs open is theirs alone.
            documents = find() if new_runs else collection.memoize(("open", depth, unretrieved), find)
            collection = replace(collection, documents=documents)
        return [run.on(collection) for run in self.as_judged]

    @property
    def docs(self) -> Documents:
        """The judged documents, and the open ones with grade 0; sorted by query."""
        return self.runs[0].collection.documents

    @cached_property
    def open(self) -> BoolArray:
        """Whether each document is open."""
        return ~self.docs.judged

    @cached_property
    def gain(self) -> Gain:
        """The gain of a grade; relevant or not, if the measure has no gains."""
        return Relevant(param_value(self.measure, "rel") or 1)

    @property
    def closed_queries(self) -> BoolArray:
        """Whether no document of each query is open."""
        result = np.ones(self.docs.n_queries, dtype=bool)
        result[self.docs.query[self.open]] = False
        return result

    @property
    def bounded(self) -> bool:
        """Whether there are strict bounds, or no document is open."""
        return self.why_not_bounded is None or not self.open.any()

    @property
    def why_not_bounded(self) -> str | None:
        """The reason why there are no strict bounds; None where there are."""
        return f"{self.measure} has no strict bounds"

    def judged_values(self) -> FloatArray | None:
        """Return the value of every run as judged, shape (runs, queries); None if unknown."""
        return None

    def values(self, grade: IntArray) -> FloatArray:
        """Return the values under some labelings, shape (runs, labelings, queries).

        Args:
            grade: of each open document, shape (labelings, open documents).
        """
        measure = self.measure
        if measure.looks_at_aspects if is_relative(measure) else needs_subtopics(measure):
            raise ValueError(
                f"{measure} looks at aspects, which no drawn label names; leave relevance_model= out"
            )
        for run in self.runs:
            run.positions(self.docs, self.look)  # once, not for each labeling
        values = np.empty((len(self.runs), len(grade), self.docs.n_queries))
        all_grades = self.docs.grade.copy()
        for i, open_grades in enumerate(grade):
            all_grades[self.open] = open_grades
            labelled = with_grades(self.runs[0].collection, all_grades)
            for row, run in enumerate(self.runs):
                if is_relative(measure):
                    values[row, i] = measure.score(run.on(labelled))
                else:
                    values[row, i] = labelled.compute_absolute([measure], run.run)[0]
        return values

    def bound_runs(self, limit: TimeLimit) -> Interval:
        """Return the interval of every run, shape (runs, queries); one that is not finished in time is wider.

        Raises:
            NotBoundedError: there are no bounds; see :attr:`why_not_bounded`.
        """
        raise NotBoundedError(self.why_not_bounded)

    def bound_differences(self, a: IntArray, b: IntArray, limit: TimeLimit) -> Interval:
        """Return the interval of run a[i] less run b[i], shape (pairs, queries)."""
        runs = self.bound_runs(limit)
        return runs.select(a).subtract(runs.select(b))

    def influence(self, a: int, b: int, reach: FloatArray) -> FloatArray:
        """Estimate how far each document's label moves the difference of two runs, which is at most ``reach``."""
        raise NotBoundedError(self.why_not_bounded)

    def warn_about_unretrieved(self) -> None:
        """Warn where the number of relevant documents that no run retrieves matters, and was not set."""
        if self._unretrieved_unknown and self.open.any():
            warn(
                f"{self.measure}: relevant documents that none of {self._judged_collection.names} retrieves would "
                "change these bounds: give unretrieved_relevant=10, or add the other runs to the context",
                self._judged_collection.context,
                "unretrieved relevant documents",
            )

    def open_grades(self) -> IntArray:
        """Return the grades that an open document may have, ascending, as far as they differ in gain.

        Warns where few grades are known and the context has no ``grades``.
        """
        (low, high), complete = self._judged_collection.grades, self._judged_collection.grades_known
        if isinstance(self.gain, Relevant):
            return np.array([0, self.gain.rel])
        if isinstance(self.gain, Clipped):  # the judgments may show a part of its scale
            return np.array([low, high if complete else max(high, self.gain.high)])
        grades = grades_between(0 if self.judged_only else low, high)
        highest = max(high, int(self.docs.grade.max(initial=0)))
        if isinstance(self.gain, Satisfying) and highest > self.gain.max_grade:
            raise ValueError(
                f"{self.measure}: documents may have the grade {highest}; max_grade must be at least that"
                if is_relative(self.measure)
                else f"{self.measure}: ir_measures computes ERR for grades up to {self.gain.max_grade}, not {highest}; "
                "leave it out"
            )
        relevant = int((self.docs.grade > 0).sum())
        if not complete and relevant < _ENOUGH_RELEVANT and self.open.any():
            warn(
                f"{f'only {relevant}' if relevant else 'no'} document{' is' if relevant == 1 else 's are'} judged "
                f"relevant, and unjudged ones are taken to have no higher grade than {high}: set RunContext(…, "
                f"grades=({low}, {high})), or more",
                self._judged_collection.context,
            )
        return grades


def open_documents(
    collection: Collection,
    depth: int | None,
    unretrieved_relevant: int = 0,
    new_runs: Sequence[Rankings] = (),
) -> Documents:
    """Return the judged documents, and the open ones.

    Args:
        collection: the runs and judgments.
        depth: of the tops.
        unretrieved_relevant: how many further documents per query, which no run retrieves, may be relevant.
        new_runs: runs that are not in the collection, whose tops are opened too.
    """
    judged, runs = collection.documents, (*collection.rankings, *new_runs)
    rows = sum(map(len, runs))
    if depth is None and rows > _MOST_ROWS:
        raise ValueError(f"without a cutoff all {rows} rows of the runs are open; set one, such as @1000")
    if unretrieved_relevant * judged.n_queries > _MOST_ROWS:
        many, n = unretrieved_relevant, judged.n_queries
        raise ValueError(f"unretrieved_relevant={many} is too many for {n} topics; give fewer")
    tops = [collection.top(run, depth, collection.memo_for(run)) for run in runs]
    query = np.repeat(np.arange(judged.n_queries), unretrieved_relevant)
    false, empty_ids = np.zeros(len(query), dtype=bool), Ids.of([""] * len(query))
    unretrieved = Documents(
        judged.query_ids, query, empty_ids, np.zeros_like(query), judged=false, exists=false
    )
    documents = judged.followed_by(_unjudged(tops, judged.query_ids), unretrieved)
    collection.memo.make_room(len(runs), len(documents))
    return documents


def _unjudged(tops: Sequence[Top], query_ids: ObjectArray) -> Documents:
    """Return the unjudged documents of tops, each once, sorted by query."""
    unjudged = [np.flatnonzero(~top.docs.judged) for top in tops]
    no_query = np.empty(0, dtype=np.int64)
    query = np.concatenate([no_query, *(t.docs.query[rows] for t, rows in zip(tops, unjudged, strict=True))])
    ids = Ids.joined([top.docs.ids.take(rows) for top, rows in zip(tops, unjudged, strict=True)])
    order, zeros = np.argsort(query, kind="stable"), np.zeros(len(query), dtype=np.int64)
    documents = Documents(query_ids, query[order], ids.take(order), zeros, judged=zeros > 0)
    keep = np.ones(len(documents), dtype=bool)
    keep[documents.repeats()[0]] = False
    return documents.select(keep)


def with_grades(collection: Collection, grade: IntArray) -> Collection:
    """Return the collection with other grades of all its documents, which are then all judged."""
    documents = collection.documents.graded(grade)
    docs = documents if documents.exists.all() else documents.select(documents.exists)
    judgments = Judgments(docs.query_ids, docs.query, docs.ids, docs.grade)
    # A memo of its own, since grades are drawn by the thousand.
    memo = Memo(len(collection.runs), len(documents), parent=collection.memo)
    return replace(collection, documents=documents, judgments=judgments, memo=memo)


@dataclass(frozen=True)
class Clipped:
    """How far a grade is above ``low``, and at most ``high - low``, as in ir_measures' SDCG."""

    low: int
    high: int

    def __call__(self, grade: IntArray) -> FloatArray:
        return (np.clip(grade, self.low, self.high) - self.low).astype(np.float64)

    @property
    def pays_below_1(self) -> bool:
        return self.low < 0
