"""What a measure gets to say how it is bounded: the labelings of a campaign, and the kinds of measures there are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property, partial
from typing import Any, TypeAlias

import ir_measures
import numpy as np
from ir_measures import Measure

from ..context.measure_strings import value_of
from ..context.view import View
from ..data.arrays import BoolArray, FloatArray, IntArray
from ..data.documents import Documents
from ..data.registry import Registry
from ..measures.bases.gains import gain_of, grades_between
from ..messages import warn
from .ap import Precisions
from .err import Cascade
from .model import Model
from .ndcg import Normalized
from .sums import MaximumModel, SumModel

#: Of each run, the indices of its priors.
PriorsOfRuns: TypeAlias = list[IntArray]

# Fewer runs hold little of what is relevant, so that others would change ideal rankings and recall.
_ENOUGH_RUNS = 3
# If one relevant document in twenty has the highest grade, none of 60 has it with a chance of less than one in twenty.
_ENOUGH_RELEVANT = 60


class ModelBuilder:
    """The labelings of the open documents, as one measure looks at them.

    A document is open if it is unjudged and in the top of some run. None is where the context's grades end below
    ``rel``. The parameters ``cutoff``, ``judged_only``, ``rel``, ``prior`` and ``ref`` are read from the measure.
    Arrays have one column per document of :attr:`docs`, and one row per run where runs differ.

    Args:
        measure: the measure that is bounded.
        views: the runs, each on the judgments as they are.
        unretrieved_relevant: as for :func:`.bounds`.
        closed: whether the judged documents are taken to be all there are.
        bound: from another measure, and runs on the judgments, to its model.
    """

    def __init__(
        self,
        measure: Measure,
        views: Sequence[View],
        *,
        unretrieved_relevant: int | None,
        closed: bool,
        bound: Callable[[Measure, Sequence[View]], Model],
    ) -> None:
        self.measure = measure
        self.as_judged = views
        self.members, self.grades = views[0].members, views[0].grades
        rel, known = value_of(measure, "rel"), self.members.grades
        self.closed = closed or (known is not None and rel is not None and rel > self.grades[1])
        self.cutoff: int | None = value_of(measure, "cutoff")
        few = len(views[0].names) < _ENOUGH_RUNS
        self._ask_unretrieved = unretrieved_relevant is None and few and self.cutoff is None
        if unretrieved_relevant is None:
            unretrieved_relevant = (self.cutoff or 0) if few else 0
        self.unretrieved_relevant = 0 if self.closed else unretrieved_relevant
        self.judged_only: bool = value_of(measure, "judged_only", False)
        self.of = bound

    @cached_property
    def views(self) -> list[View]:
        """Every run on the judged and the open documents, as deep as the measure looks."""
        view = self.as_judged[0]
        if not self.closed:
            new = tuple(v.evaluated for v in self.as_judged if v.row is None)
            key = "open", self.cutoff, self.unretrieved_relevant
            # Found once for a set of judgments; with new runs it is for them alone.
            opened = partial(view.with_open, *key[1:], new)
            view = opened() if new else view.cached(key, opened)
        return [view.evaluating(v).at(self.cutoff, self.judged_only) for v in self.as_judged]

    @property
    def docs(self) -> Documents:
        """The judged documents, and the open ones with grade 0; sorted by query."""
        return self.views[0].documents

    @cached_property
    def open(self) -> BoolArray:
        """Which documents are open."""
        return ~self.docs.judged

    @cached_property
    def positions(self) -> IntArray:
        """Where every run ranks each document, from 1; 0 for not in its top. Shape (runs, documents)."""
        return np.array([view.positions(self.docs) for view in self.views])

    @property
    def priors(self) -> PriorsOfRuns:
        """The priors of every run, as ascending indices into the runs."""
        prior = value_of(self.measure, "prior")
        return [view.priors(prior) for view in self.as_judged]

    @property
    def references(self) -> list[int]:
        """The reference of every run, as an index into the runs."""
        ref = value_of(self.measure, "ref")
        return [self.members.rankings.index(view.reference_run(ref)) for view in self.as_judged]

    def prior_product(self, factor: Callable[[IntArray], FloatArray]) -> FloatArray:
        """For every run, the product over its priors of ``factor`` of each document's position there, 0 for none."""
        prior = value_of(self.measure, "prior")
        return np.array([view.prior_product(factor, self.docs, prior) for view in self.views])

    @property
    def labels(self) -> IntArray:
        """The labels that an open document may have, ascending; warns where few are known and the context has no
        ``grades``.
        """
        low, high = self.grades
        relevant = int((self.docs.grade > 0).sum())
        if self.members.grades is None and relevant < _ENOUGH_RELEVANT and self.open.any():
            warn(
                f"{f'only {relevant}' if relevant else 'no'} documents are judged relevant, and unjudged ones are "
                f"taken to have no higher grade than {high}: set RunContext(…, grades=({low}, {high})), or more",
                self.members,
            )
        return grades_between(0 if self.judged_only else low, high)

    def relevant(self, rel: int = 1) -> BoolArray:
        """Which documents are judged relevant."""
        result: BoolArray = ~self.open & (self.docs.grade >= rel)
        return result

    def gains(self, dcg: str, gains: dict[int, int] | None) -> tuple[FloatArray, FloatArray]:
        """The gain of each judged document, and the gains that a label can give, ascending; see :func:`.gain_of`.

        Raises ValueError where every label gives a gain, and ``unretrieved_relevant`` documents may stay without one.
        """
        levels = np.unique(gain_of(self.labels, dcg, gains))
        if levels[0] > 0 and self.unretrieved_relevant:
            raise ValueError(
                f"{self.measure}: every judged document has a gain, so judging further documents would "
                "always change the ideal ranking; give unretrieved_relevant=0"
            )
        return gain_of(self.docs.grade, dcg, gains), levels

    def scores(self, grade: IntArray) -> FloatArray:
        """What the measure's own ``score`` gives every run where documents have these grades; (runs, queries)."""
        labelled = self.views[0].with_labels(grade)
        return np.array([self.measure.score(labelled.evaluating(view)) for view in self.views])

    def additive(
        self, weight: FloatArray, gain: FloatArray | BoolArray, least: float = 0.0, most: float = 1.0
    ) -> Model:
        """``Σ_d weight(d)·gain(d)``, such as precision: each label counts by itself. Exact for a run and for two.

        ``weight`` is at least 0; the gain of an open document is from ``least`` to ``most``.
        """
        return SumModel(self.views, self._of_runs(weight), gain, least, most)

    def normalized(self, weight: FloatArray, gain: FloatArray, levels: FloatArray) -> Model:
        """``Σ_d weight(d)·gain(d)`` over the ideal DCG of the labels, such as nDCG. Exact for a run and for two.

        ``gain`` and ``levels`` are those of :meth:`gains`.
        """
        self.warn_of_others()
        return Normalized(self.views, self._of_runs(weight), gain, levels, self.cutoff)

    def best(self, worth: FloatArray, relevant: BoolArray) -> Model:
        """The largest ``worth(d)`` of a relevant document, such as reciprocal rank. Exact for a run and for two."""
        return MaximumModel(self.views, self._of_runs(worth), relevant)

    def precisions(self, relevant: BoolArray, weight: FloatArray | None = None) -> Model:
        """Average precision, where documents count by a weight. Exact for a run; for two by branch and bound."""
        weights: FloatArray = np.ones(len(self.docs)) if weight is None else weight
        self.warn_of_others()
        return Precisions(self.views, self.positions, relevant, weights)

    def cascade(self, stop: FloatArray, highest: float) -> Model:
        """``Σ_i (1/i)·stop(d_i)·Π_{j<i} (1 - stop(d_j))``, such as ERR. Exact for a run; for two by branch and bound.

        ``stop`` is the chance that each judged document satisfies a user; a label can make it ``highest``.
        """
        no_priors = [np.empty(0, dtype=np.int64)] * len(self.positions)
        return Cascade(self.views, self.positions, no_priors, stop, highest)

    def pool(self, collection: int | None) -> tuple[IntArray, IntArray]:
        """The size of the pool of each query with its open documents, or ``collection``; and how deep it is ranked."""
        docs = self.docs
        query = docs.query[docs.grade >= 0] if self.judged_only else docs.query
        size = np.bincount(query, minlength=docs.n_queries)
        if collection is not None:
            size = np.full(len(size), collection, dtype=np.int64)
        return size, size if self.cutoff is None else np.minimum(size, self.cutoff)

    def warn_of_others(self) -> None:
        """Warns where nobody said how many relevant documents no run retrieves, and that decides."""
        if self._ask_unretrieved and self.open.any():
            warn(
                f"{self.measure}: relevant documents that none of {self.as_judged[0].names} retrieves would change "
                "these bounds: give unretrieved_relevant=10, or add the other runs to the context",
                self.members,
            )

    def _of_runs(self, values: FloatArray | Sequence[float]) -> FloatArray:
        """The values with a row a run."""
        shape = len(self.views), len(self.docs)
        return np.broadcast_to(np.asarray(values, dtype=np.float64), shape)


#: By the class of a measure, or one of its bases, the function that makes its model by a method of
#: :class:`ModelBuilder`; a ValueError says why it cannot be bounded.
BOUNDS: Registry[type[Measure], Callable[[Any, ModelBuilder], Model]] = Registry("bounds")


def bounded(measure: Measure, builder: ModelBuilder) -> Model:
    """The model of a measure."""
    for kind in type(measure).__mro__:
        if kind in BOUNDS:
            return BOUNDS[kind](measure, builder)
    if getattr(measure, "JUDGMENTS", "needed") == "ignored":
        raise ValueError(f"{measure} looks at no judgment, so that none can change it; leave it out")
    every = ir_measures.measures.registry.values()
    known = sorted({m.NAME for m in every if any(kind in BOUNDS for kind in type(m).__mro__)})
    raise ValueError(f"{measure} cannot be bounded yet; these can: {', '.join(known)}")
