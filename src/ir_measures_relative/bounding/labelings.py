"""All judgments that the open documents of a collection could get, as a measure looks at them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
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
from ..data.registry import Registry
from ..measures.bases.gains import Clipped, Gain, Relevant, Satisfying, grades_between
from ..messages import warn
from ..work import Work
from .intervals import Interval

# Fewer runs hold little of what is relevant, so that others would change ideal rankings and recall.
_ENOUGH_RUNS = 3
# If one relevant document in twenty has the highest grade, none of 60 has it with a chance of less than one in twenty.
_ENOUGH_RELEVANT = 60


class NotBoundedError(ValueError):
    """A measure has no strict bounds."""


class Labelings:
    """The runs of a collection by one measure, and all labelings of its open documents.

    A document is open if it is unjudged and in the top of some run. None is where the context's grades end below
    ``rel``. Arrays have one column per document of :attr:`docs`.

    This class samples labelings, by the measure's own score; the subclasses have strict bounds too.

    Args:
        measure: the measure.
        runs: the runs, each on the judgments as they are.
        unretrieved_relevant: as for :func:`.bounds`.
        closed: whether the judged documents are taken to be all there are.
    """

    def __init__(
        self, measure: Measure, runs: Sequence[Evaluated], unretrieved_relevant: int | None, closed: bool
    ) -> None:
        self.measure, self.as_judged = measure, runs
        self._judged = collection = runs[0].collection
        rel = param_value(measure, "rel")
        beyond = collection.grades_known and rel is not None and rel > collection.grades[1]
        self._nothing_open = closed or beyond
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
        collection = self._judged
        if not self._nothing_open:
            new = tuple(run.run for run in self.as_judged if run.memo is not collection.memo)
            key = "open", self.cutoff, self.unretrieved_relevant
            # Made once for a set of judgments; with new runs it is for them alone.
            make = partial(open_documents, collection, *key[1:], new)
            documents = make() if new else collection.memoize(key, make)
            collection = replace(collection, documents=documents)
        return [run.on(collection) for run in self.as_judged]

    @property
    def docs(self) -> Documents:
        """The judged documents, and the open ones with grade 0; sorted by query."""
        return self.runs[0].collection.documents

    @cached_property
    def open(self) -> BoolArray:
        """Which of the documents are open."""
        return ~self.docs.judged

    @cached_property
    def positions(self) -> IntArray:
        """The position of each document in every run, from 1; 0 where it is not in the top. Shape (runs, documents)."""
        return np.array([run.positions(self.docs, self.look) for run in self.runs])

    @cached_property
    def gain(self) -> Gain:
        """What a grade gains; relevant or not, where the measure does not say."""
        return Relevant(param_value(self.measure, "rel") or 1)

    @cached_property
    def relevant(self) -> BoolArray:
        """Which documents are judged, and gain something."""
        result: BoolArray = ~self.open & (self.gain(self.docs.grade) > 0)
        return result

    @property
    def relevant_grade(self) -> int:
        """A grade of what is relevant."""
        return int(param_value(self.measure, "rel") or 1)

    @property
    def closed_queries(self) -> BoolArray:
        """In which queries no document is open."""
        result = np.ones(self.docs.n_queries, dtype=bool)
        result[self.docs.query[self.open]] = False
        return result

    @property
    def bounded(self) -> bool:
        """Whether there are strict bounds, or no document is open."""
        return self.why_not_bounded is None or not self.open.any()

    @property
    def why_not_bounded(self) -> str | None:
        """Why there are no strict bounds; None where there are."""
        return f"{self.measure} has no strict bounds"

    def value(self) -> FloatArray | None:
        """The value of every run where no open document gains, shape (runs, queries); None where it is unknown."""
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
        self.positions  # noqa: B018  (joined once, and not for each labeling)
        values = np.empty((len(self.runs), len(grade), self.docs.n_queries))
        every = self.docs.grade.copy()
        for i, of_labeling in enumerate(grade):
            every[self.open] = of_labeling
            labelled = with_grades(self.runs[0].collection, every)
            for row, run in enumerate(self.runs):
                values[row, i] = self._score(run.on(labelled))
        return values

    def _score(self, run: Evaluated) -> FloatArray:
        values: FloatArray = (
            self.measure.score(run)
            if is_relative(self.measure)
            else run.collection.compute_absolute([self.measure], run.run)[0]
        )
        return values

    def bound_runs(self, work: Work) -> Interval:
        """Return the interval of every run, shape (runs, queries); what is not finished in time is wider.

        Raises:
            NotBoundedError: there are none; see :attr:`why_not_bounded`.
        """
        raise NotBoundedError(self.why_not_bounded)

    def bound_differences(self, a: IntArray, b: IntArray, work: Work) -> Interval:
        """Return the interval of run a[i] less run b[i], shape (pairs, queries)."""
        one = self.bound_runs(work)
        return one.of(a).minus(one.of(b))

    def influence(self, a: int, b: int, reach: FloatArray) -> FloatArray:
        """Return about how far each document's label moves the difference of two runs, which is at most ``reach``."""
        raise NotBoundedError(self.why_not_bounded)

    def warn_about_unretrieved(self) -> None:
        """Warn where nobody said how many relevant documents no run retrieves, and that decides."""
        if self._unretrieved_unknown and self.open.any():
            warn(
                f"{self.measure}: relevant documents that none of {self._judged.names} retrieves would change "
                "these bounds: give unretrieved_relevant=10, or add the other runs to the context",
                self._judged.context,
                "unretrieved relevant documents",
            )

    def open_grades(self) -> IntArray:
        """Return the grades that an open document may have, ascending, as far as they differ in gain.

        Warns where few grades are known and the context has no ``grades``.
        """
        (low, high), known = self._judged.grades, self._judged.grades_known
        if isinstance(self.gain, Relevant):
            return np.array([0, self.gain.rel])
        if isinstance(self.gain, Clipped):  # the measure knows more of the scale than the judgments may show
            return np.array([low, high if known else max(high, self.gain.high)])
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
        if not known and relevant < _ENOUGH_RELEVANT and self.open.any():
            warn(
                f"{f'only {relevant}' if relevant else 'no'} document{' is' if relevant == 1 else 's are'} judged "
                f"relevant, and unjudged ones are taken to have no higher grade than {high}: set RunContext(…, "
                f"grades=({low}, {high})), or more",
                self._judged.context,
            )
        return grades


# Of rankings that are looked through for unjudged documents without a cutoff.
_MOST_ROWS = 5_000_000


def open_documents(
    collection: Collection, depth: int | None, unretrieved_relevant: int = 0, also: Sequence[Rankings] = ()
) -> Documents:
    """Return the judged documents, and those in the tops of the runs, and of others, which may yet be judged.

    ``unretrieved_relevant``: how many further documents a query, which no run retrieves, may turn out relevant.
    """
    judged, runs = collection.documents, (*collection.rankings, *also)
    rows = sum(map(len, runs))
    if depth is None and rows > _MOST_ROWS:
        raise ValueError(f"without a cutoff all {rows} rows of the runs are open; set one, such as @1000")
    if unretrieved_relevant * judged.n_queries > _MOST_ROWS:
        many, n = unretrieved_relevant, judged.n_queries
        raise ValueError(f"unretrieved_relevant={many} is too many for {n} topics; give fewer")
    tops = [collection.top(run, depth, collection.memo_for(run)) for run in runs]
    query = np.repeat(np.arange(judged.n_queries), unretrieved_relevant)
    no, nobody = np.zeros(len(query), dtype=bool), Ids.of([""] * len(query))
    unretrieved = Documents(judged.query_ids, query, nobody, np.zeros_like(query), judged=no, exists=no)
    documents = judged.followed_by(_unjudged(tops, judged.query_ids), unretrieved)
    collection.memo.make_room(len(runs), len(documents))
    return documents


def _unjudged(tops: Sequence[Top], query_ids: ObjectArray) -> Documents:
    """The unjudged documents of tops, each once, sorted by query."""
    nothing = Documents(query_ids, np.empty(0, dtype=np.int64), Ids.of([]), np.empty(0, dtype=np.int64))
    ids: list[Ids] = []
    query = [nothing.query]
    for top in tops:
        rows = np.flatnonzero(~top.docs.judged)
        query.append(top.docs.query[rows])
        ids.append(top.docs.ids.take(rows))
    queries = np.concatenate(query)
    order = np.argsort(queries, kind="stable")
    all_ids, zeros = Ids.joined(ids).take(order), np.zeros(len(order), dtype=np.int64)
    found = Documents(query_ids, queries[order], all_ids, zeros, judged=zeros > 0)
    again, _ = found.repeats()
    keep = np.ones(len(found), dtype=bool)
    keep[again] = False
    return found.select(keep)


def with_grades(collection: Collection, grade: IntArray) -> Collection:
    """Return the collection with other grades of all its documents, which are then all judged."""
    documents = collection.documents.graded(grade)
    memo = Memo(
        len(collection.runs), len(documents), parent=collection.memo
    )  # grades are drawn by the thousand
    return replace(collection, documents=documents, judgments=Judgments.of(documents), memo=memo)


#: By the class of a measure, what makes the :class:`Labelings` of one that has no form and yet strict bounds.
BOUNDS: Registry[type[Measure], Callable[..., Labelings]] = Registry("bounds")
