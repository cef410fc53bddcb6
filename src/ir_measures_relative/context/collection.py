"""The runs of a context on judged documents, as arrays: positions, products over runs, absolute values."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from threading import Lock
from typing import Any, TypeVar

import ir_measures
import numpy as np

from ..data.arrays import BoolArray, FloatArray, IntArray
from ..data.documents import NAME_NO_ASPECT, Documents, Judgments
from ..data.rankings import Rankings
from ..io import datasets
from ..io.qrels import Qrels, QrelsColumns, make_judgments, qrels_columns
from ..messages import counted, first_ids, warn
from .measure_strings import needs_subtopics
from .memo import Memo
from .priors import PriorPolicy
from .tops import Look, Top, find_top

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Collection:
    """The runs of a context on judged documents; immutable.

    Nothing changes in place: ``select_runs`` and ``select_queries`` return another collection. Those with the same
    judgments share the ``memo``, so nothing is computed twice.
    """

    runs: Mapping[str, Rankings]  #: the runs, by name
    documents: Documents  #: the judged documents, and those that may yet be judged
    judgments: Judgments  #: the judgments; the same object as ``documents`` where all of these are judged
    #: Computed values; a key names the runs, the documents and the labels that its value depends on.
    memo: Memo
    context: object  #: the RunContext that this was made from; each warning is given once for it
    #: The lowest (0 or less) and the highest (1 or more) grade that a document may have.
    grades: tuple[int, int]
    grades_known: bool  #: whether the context sets ``grades``; otherwise they are those of the judgments
    policy: PriorPolicy  #: which runs are the priors of which
    groups: Mapping[str, str]  #: from run name to group name
    reference: str | None  #: the name of the reference run
    num_docs: int | None  #: the number of documents that could be retrieved
    whole: bool = True  #: whether these are all queries of the judgments; if not, there are no means

    @cached_property
    def names(self) -> list[str]:
        """The names of the runs, in their order."""
        return list(self.runs)

    @cached_property
    def index(self) -> dict[str, int]:
        """The index of each run, by its name."""
        return {name: i for i, name in enumerate(self.runs)}

    @cached_property
    def rankings(self) -> tuple[Rankings, ...]:
        """The runs, in their order."""
        return tuple(self.runs.values())

    @cached_property
    def _own(self) -> frozenset[Rankings]:
        """The runs of the context as a set, for a fast lookup."""
        return frozenset(self.rankings)

    def memo_for(self, run: Rankings) -> Memo:
        """Return the memo for results on any run; a new run gets its own, which is freed with the run."""
        return self.memo if run in self._own else Memo()

    # ---- other collections

    def select_runs(self, names: Iterable[str]) -> Collection:
        """Return the collection as though only some of the runs had taken part."""
        some = set(names)
        runs = {name: run for name, run in self.runs.items() if name in some}
        groups = {name: group for name, group in self.groups.items() if name in runs}
        reference = self.reference if self.reference in runs else None
        return replace(self, runs=runs, groups=groups, reference=reference)

    def select_queries(self, keep: BoolArray) -> Collection:
        """Return the collection of the queries where ``keep`` is true, as though the others were not judged."""
        judgments = self.judgments.select_queries(keep)
        memo = Memo(len(self.runs), len(judgments))
        return replace(self, documents=judgments, judgments=judgments, memo=memo)

    # ---- positions

    def positions_in_run(
        self, run: Rankings, docs: Documents, look: Look, memo: Memo | None = None
    ) -> IntArray:
        """Return the position of each of ``docs``, of :attr:`documents`, in any run: from 1, 0 where not in its top.

        ``memo`` stores the positions; default: the collection's memo, which is only for the context's runs.
        """
        memo = self.memo if memo is None else memo
        if look.judged_only:  # then positions depend on the labels too

            def compute() -> IntArray:
                position = self.documents.positions_among_judged(run, look.depth)
                rows = (rows for source, rows in docs.sources() if source is self.documents)
                return position if docs is self.documents else position[next(rows)]

            return memo.get(("positions among judged", run, docs, look), compute)
        key = "positions", run, docs.version
        computed: _Positions | None = memo.find(key)
        if computed is not None and computed.depth == look.depth:
            return computed.position
        if computed is not None and computed.reach(look.depth):
            return computed.to(look.depth)
        position = _locate(run, docs, look.depth, memo)
        memo.keep(key, _Positions(position, look.depth))
        return position

    def positions(self, docs: Documents, look: Look, of: IntArray | None = None) -> IntArray:
        """Return the positions in every run, or in the runs of the indices ``of``; shape (runs, documents)."""
        runs = self.rankings if of is None else [self.rankings[i] for i in of.tolist()]
        rows = [self.positions_in_run(run, docs, look) for run in runs]
        return np.array(rows, dtype=np.int64).reshape(len(rows), len(docs))

    def top(self, run: Rankings, depth: int | None, memo: Memo | None = None) -> Top:
        """Return the first documents of any run, judged or not."""
        memo = self.memo if memo is None else memo
        return memo.get(("top", run, self.documents, depth), lambda: find_top(self.documents, run, depth))

    def tops(self, depth: int | None) -> list[Top]:
        """Return the first documents of every run of the context; the memo makes room for all of them."""
        most = [len(run) if depth is None else depth * len(run.query_ids) for run in self.rankings]
        self.memo.make_room(2, sum(map(min, map(len, self.rankings), most)))
        return [self.top(run, depth) for run in self.rankings]

    # ---- over runs

    def memoize(self, key: Hashable, compute: Callable[[], T]) -> T:
        """Return ``compute()``, computed once; the key holds all else that it depends on, besides runs and labels."""
        return self.memo.get((key, self.documents, self.rankings), compute)

    def product(
        self, factor: Callable[[IntArray], FloatArray], docs: Documents, look: Look, of: IntArray
    ) -> FloatArray:
        """Return for each of ``docs`` the product, over the runs ``of`` (ascending), of ``factor`` of its position.

        ``factor`` works elementwise, on 0 where not retrieved, and is part of the key in the memo. So it must be a
        function of a module, or a frozen dataclass with ``__call__``: a lambda would never be found again.
        """
        n, m = len(self.runs), len(of)
        if not m:
            return np.ones(len(docs))
        key = factor, docs if look.judged_only else docs.version, look, self.rankings

        def factors() -> FloatArray:
            return factor(self.positions(docs, look))

        # Running products from both ends are kept: the first m runs take none, and all but one take one multiplication.
        if of[-1] == m - 1 or m == n - 1:
            first = self.memo.get(("first", key), lambda: _running_products(factors()))
            if of[-1] == m - 1:
                return first[m]
            out = int(np.searchsorted(of != np.arange(m), True))
            last = self.memo.get(("last", key), lambda: _running_products(factors()[::-1]))
            return first[out] * last[n - 1 - out]

        def product() -> FloatArray:
            columns, rest, width = self.memo.get(("without ones", key), lambda: _without_ones(factors()))
            result = np.ones(width)
            result[columns] = rest[of].prod(axis=0)
            return result

        return self.memo.get(("product", key, of.tobytes()), product)

    # ---- absolute measures

    def compute_absolute(
        self, measures: Sequence[ir_measures.Measure], run: Rankings, *, as_given: bool = False
    ) -> FloatArray:
        """Compute absolute measures of any run, by ir_measures; shape (measures, queries). Values are not kept.

        With ``as_given``, each provider breaks ties in its own way instead of trec_eval's.
        """
        from .absolute import AbsoluteEvaluator, qrels_for  # not needed by relative measures

        judgments = self.judgments
        for measure in measures if judgments.labels is None else ():
            if needs_subtopics(measure):
                raise ValueError(f"{measure} needs the aspects of documents, and {NAME_NO_ASPECT}")
        qrels = self.memo.get(("qrels", judgments), lambda: cache(partial(qrels_for, judgments)))
        key = "evaluator", judgments, tuple((type(m), m) for m in measures), as_given
        evaluator = self.memo.get(
            key, partial(AbsoluteEvaluator, ir_measures.DefaultPipeline, measures, qrels, as_given)
        )
        return evaluator.values(run, judgments, partial(self.relevant_positions, run))

    def relevant_positions(self, run: Rankings, depth: int | None) -> IntArray:
        """Return where any run ranks each relevant document, to this depth."""
        return self.positions_in_run(run, self.judgments.relevant, Look(depth), self.memo_for(run))

    def absolute_values(
        self, measure: ir_measures.Measure, run: Rankings, memo: Memo | None = None
    ) -> FloatArray:
        """Return one absolute measure of any run, one value a query; ``memo`` as for :meth:`positions_in_run`."""
        key = "absolute", run, self.judgments, type(measure), measure
        memo = self.memo if memo is None else memo
        return memo.get(key, lambda: self.compute_absolute([measure], run)[0])

    def absolute_values_by_run(self, measure: ir_measures.Measure) -> FloatArray:
        """Return an absolute measure of every run of the context, shape (runs, queries)."""

        def compute() -> FloatArray:
            rows = [self.absolute_values(measure, run) for run in self.rankings]
            return np.array(rows).reshape(len(rows), self.documents.n_queries)

        return self.memoize(("absolute", self.judgments, type(measure), measure), compute)

    def means(self, measure: ir_measures.Measure) -> dict[str, float]:
        """Return the mean over all queries of an absolute measure, for every run of the context."""
        if not self.whole:
            raise ValueError(
                f"the means of {measure} over all queries decide the priors: BestOfOtherGroups.choose(means, groups)"
            )
        return dict(zip(self.runs, self.absolute_values_by_run(measure).mean(axis=1).tolist(), strict=True))


# For how many sets of judgments a context keeps its collection: each batch of topics is one.
_KEPT = 8
_KEEPING = Lock()


def judged_collection(context: Any, qrels: Qrels | QrelsColumns | None) -> Collection:
    """Return the collection of a context on judgments in any form, by default its dataset's; kept for later calls."""
    columns = qrels_columns(datasets.fetch_qrels(context.dataset) if qrels is None else qrels)
    seen = list(context._collections)
    entry = next((entry for entry in seen if entry[0].equals(columns)), None)
    if entry is None:
        columns = columns.copied()  # the caller may change the qrels later
        entry = columns, new_collection(context, make_judgments(columns))
        queries = entry[1].documents.query_ids
        if len(queries) and not len(columns.relevance):
            warn(
                f"the qrels hold no judgment: they name {counted(len(queries), 'topic')} without any, "
                f"such as {queries[0]!r}; give other qrels",
                context,
            )
    with _KEEPING:
        earlier = [other for other in context._collections if other is not entry]
        context._collections[:] = [entry, *earlier][:_KEPT]
    return entry[1]


def new_collection(context: Any, judgments: Judgments, *, whole: bool = True) -> Collection:
    """Return the collection of a context on these judgments; ``whole``: whether they are those of all queries."""
    _check_cut_runs(context.runs.values(), judgments)
    return Collection(
        runs=context.runs,
        documents=judgments,
        judgments=judgments,
        memo=Memo(len(context.runs), len(judgments)),
        context=context,
        grades=_grade_range(context, judgments),
        grades_known=context.grades is not None,
        policy=context.policy,
        groups=context.groups,
        reference=context.reference,
        num_docs=context.num_docs,
        whole=whole,
    )


def _check_cut_runs(runs: Iterable[Rankings], judgments: Judgments) -> None:
    """Raise ValueError where the judgments have a topic that the track of some run lacks."""
    for cut in {run.cut: None for run in runs if run.cut is not None}:
        missing = judgments.query_ids[cut.listed.match_query_ids(judgments.query_ids) < 0]
        if len(missing):
            raise ValueError(
                f"{cut.source} knows nothing of topic {missing[0]!r}, one of {len(missing)} judged topics it lacks "
                f"(it has {first_ids(cut.listed.query_ids)}): leave these out, or make it again with these judgments"
            )


def _grade_range(context: Any, docs: Judgments) -> tuple[int, int]:
    """Return the lowest and the highest grade: those of the context if set, else of the judgments."""
    lowest, highest = int(docs.grade.min(initial=0)), int(docs.grade.max(initial=1))
    if context.grades is None:
        return lowest, highest
    low, high = min(context.grades[0], 0), max(context.grades[1], 1)
    if not (low <= lowest and highest <= high):
        beyond = highest if highest > context.grades[1] else lowest
        raise ValueError(
            f"the qrels hold the grade {beyond}, not of grades={context.grades}; correct RunContext(grades=)"
        )
    return low, high


def _locate(run: Rankings, docs: Documents, depth: int | None, memo: Memo) -> IntArray:
    """Return the positions of ``docs``: from those of the documents they were selected from if known, else computed."""
    for source, rows in docs.sources() if docs.selected_from is not None else ():
        computed: _Positions | None = memo.find(("positions", run, source.version))
        if computed is not None and computed.reach(depth):
            return computed.to(depth)[rows]
    return docs.positions_in(run, depth)


class _Positions:
    """The positions of documents in a run, down to the greatest depth needed so far."""

    def __init__(self, position: IntArray, depth: int | None) -> None:
        self.position, self.depth, self.nbytes = position, depth, position.nbytes

    def reach(self, depth: int | None) -> bool:
        """Return whether the positions are known down to ``depth``."""
        return self.depth is None or (depth is not None and depth <= self.depth)

    def to(self, depth: int | None) -> IntArray:
        """Return the positions down to a depth, 0 below it."""
        if depth is None:
            return self.position
        return np.where(self.position <= depth, self.position, 0)


def _without_ones(factors: FloatArray) -> tuple[IntArray, FloatArray, int]:
    """Return the columns with a factor other than 1, their factors, and the number of all columns.

    Most documents are in no run's top, so most columns need no multiplication.
    """
    columns = np.flatnonzero((factors != 1.0).any(axis=0))
    return columns, factors[:, columns].copy(order="C"), factors.shape[1]


def _running_products(factors: FloatArray) -> FloatArray:
    """Return the product of the first i rows as row i; shape (rows + 1, columns)."""
    ones = np.ones((1, factors.shape[1]))
    return np.concatenate([ones, np.cumprod(factors, axis=0)])
