"""One run beside a context, on one set of judgments: all that a measure may ask for, as arrays.

What depends on the context and the judgments alone is computed once and kept in :class:`JudgedContext`;
:class:`Comparison` adds the evaluated run.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeVar

import ir_measures
import numpy as np

from .arrays import BoolArray, FloatArray, IntArray
from .ids import WordArray, pair_keys
from .io import datasets
from .judgments import NAME_NO_ASPECT, Judgments
from .measures.absolute import HostEvaluator, qrels_for
from .measures.strings import needs_subtopics
from .messages import few_quoted, kind_of, warn
from .priors import ContextData, finder_for_newcomers, matching, replaced
from .rankings import Rankings

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .io.qrels import Qrels, QrelsColumns

T = TypeVar("T")
_MISSING: Any = object()

# How deep two rankings are compared before it is worth comparing all of them.
_HEAD = 10
# How many sets of judgments a context keeps its arrays for: pt.Experiment with a batch_size makes one a batch.
_KEPT = 8
# How much of what is computed stays from call to call: so many bytes, or tables of (runs × judged documents) numbers.
_MOST_BYTES, _MOST_TABLES = 3 << 24, 16


@dataclass(frozen=True)
class Budget:
    """A cutoff in tokens: as many of the first documents of a ranking as fit, up to the first that does not."""

    tokens: int


#: How deep rankings are looked at: so many documents, so many tokens, or None for all of them.
Depth: TypeAlias = "int | Budget | None"

# How deep a ranking is sorted first, to see how much of it a budget reads; then four times as deep, and so on.
_FIRST_READ = 32


class JudgedTop(NamedTuple):
    """The first documents of a run for the judged queries, judged or not; sorted by query, then by position."""

    docs: Judgments  #: the documents, grade 0 where not judged
    position: IntArray  #: 1-based
    judged: BoolArray  #: whether the judgments know the document
    hashes: WordArray  #: ``docs.ids.hashes()``
    score: NDArray[np.float32]  #: as it is compared; equal where two documents of a query are tied


class JudgedContext:
    """The runs of a context, seen through one set of judgments.

    Attributes:
        context: the runs and the policy.
        names: the runs, in their order.
        groups: from run name to group name.
        judgments: every judged document.
        grades: the lowest (at most 0) and the highest grade (at least 1) that a document may have: the context's, or
            those of the judgments.
        whole: whether these are all the queries there are, so that means over them are the campaign's.
        index: from the name of a run to its place among the context's.
    """

    def __init__(self, context: ContextData, judgments: Judgments, *, whole: bool = True) -> None:
        self.context = context
        self.names: list[str] = context.names
        self.groups = context.groups
        self.judgments = judgments
        self.whole = whole
        self.index = {name: i for i, name in enumerate(self.names)}
        self._members = frozenset(context.runs.values())
        self._cache: dict[Hashable, Any] = {}
        self._located: tuple[Rankings, Depth, IntArray] | None = None
        own = int(judgments.grade.min(initial=0)), int(judgments.grade.max(initial=1))
        known = context.grades
        if known is not None and not (min(known[0], 0) <= own[0] and own[1] <= max(known[1], 1)):
            beyond = own[1] if own[1] > known[1] else own[0]
            raise ValueError(
                f"the qrels hold the grade {beyond}, and the context says that grades are from {known[0]} to "
                f"{known[1]}: correct RunContext(…, grades=…)"
            )
        self.grades: tuple[int, int] = own if known is None else (min(known[0], 0), max(known[1], 1))

    def __getstate__(self) -> dict[str, Any]:
        """Without what was computed: other libraries' evaluators do not pickle."""
        return self.__dict__ | {"_cache": {}, "_located": None}

    def cached(self, key: Hashable, compute: Callable[[], T]) -> T:
        """What ``compute`` gives, computed once a key. The key holds all that it depends on, as values."""
        value: T = self._cache.get(key, _MISSING)  # in one step: another thread may let go of it
        if value is _MISSING:
            value = self._cache[key] = compute()
        return value

    def let_go(self) -> None:
        """Forgets what was computed first, where it is much: asked for many cutoffs in turn, no memory would do."""
        most = max(_MOST_BYTES, _MOST_TABLES * 8 * len(self.names) * len(self.judgments))
        sizes = {key: _size(value) for key, value in list(self._cache.items())}
        excess = sum(sizes.values()) - most
        for key, size in sizes.items():
            if excess <= 0:
                break
            if size:
                self._cache.pop(key, None)
                excess -= size

    def cached_of(self, rankings: Rankings, key: Hashable, compute: Callable[[], T]) -> T:
        """The same for something of a run; that of a run which the context does not hold is not kept."""
        return self.cached((rankings, key), compute) if rankings in self._members else compute()

    def of_query(self, query_id: str) -> JudgedContext:
        """The same for one query alone, which the judgments hold; nothing that is computed here is used there."""
        of_query = self.judgments.of_query(query_id)
        runs = {name: run.of_query(query_id) for name, run in self.context.runs.items()}
        return JudgedContext(replaced(self.context, runs=runs, grades=self.grades), of_query, whole=False)

    def positions_in(self, rankings: Rankings, docs: Judgments, cutoff: Depth, judged_only: bool) -> IntArray:
        """Where a run ranks each of ``docs``, from 1; 0 where not in its top."""
        if not isinstance(cutoff, Budget):
            return docs.positions_in(rankings, cutoff, judged_only)
        depth = self.documents_read(rankings, cutoff)
        position = docs.positions_in(rankings, max(int(depth.max(initial=0)), 1))
        return np.where(position <= depth[docs.query], position, 0)

    def documents_read(self, rankings: Rankings, budget: Budget) -> IntArray:
        """How many documents of each judged query's ranking a budget reads.

        Raises:
            ValueError: the context does not know how long the documents are.
        """
        return self.cached_of(rankings, ("read", budget), lambda: self._documents_within(rankings, budget))

    def _documents_within(self, rankings: Rankings, budget: Budget) -> IntArray:
        lengths = self.context.lengths
        if lengths is None:
            raise ValueError(
                f"budget={budget.tokens} needs the lengths of the documents: say RunContext(…, tokens=…), such as a "
                "dict from document id to its number of tokens"
            )
        n_queries = self.judgments.n_queries
        read, total = np.zeros((2, n_queries), dtype=np.int64)
        left, depth = np.arange(n_queries), 0
        for (
            position
        ) in itertools.count():  # no length is looked up but of what is read, and of the first too many
            if position == depth:
                depth = 4 * depth or _FIRST_READ
                docs = self.top(rankings, depth).docs
            left = left[docs.starts[left] + position < docs.starts[left + 1]]
            if not len(left):
                break
            total[left] += lengths.of(docs.ids.take(docs.starts[left] + position).strings().tolist())
            left = left[total[left] <= budget.tokens]
            read[left] = position + 1
        return read

    def positions_of_runs(self, docs: Judgments, cutoff: Depth, judged_only: bool) -> IntArray:
        """Where every run of the context ranks each of ``docs``, shape (runs, documents); 0 where not in its top."""
        runs = self.context.runs.values()

        def compute() -> IntArray:
            deeper: IntArray | None = self._cache.get(("positions", docs, None, judged_only))
            if deeper is not None and isinstance(cutoff, int):
                return np.where(deeper <= cutoff, deeper, 0)
            rows = [self.positions_in(run, docs, cutoff, judged_only) for run in runs]
            return np.array(rows, dtype=np.int64).reshape(len(rows), len(docs))

        return self.cached(("positions", docs, cutoff, judged_only), compute)

    def top(self, rankings: Rankings, cutoff: Depth) -> JudgedTop:
        """The first documents of a run, as deep as ``cutoff`` says; computed once for a run of the context."""
        return self.cached_of(rankings, ("top", cutoff), lambda: self._find_top(rankings, cutoff))

    def rows_in(self, rankings: Rankings, other: Rankings, cutoff: Depth) -> IntArray:
        """The row in the top of a run of each document in that of another; -1 for one that is not there."""
        if not {rankings, other} <= self._members:
            of_run, of_other = self.top(rankings, cutoff), self.top(other, cutoff)
            return of_run.docs.rows_of(of_other.docs.query, of_other.docs.ids, of_other.hashes)
        # Of all pairs of runs: comparing ids in each would take most of the time.
        numbers = self.cached(("numbers", cutoff), lambda: self._numbered(cutoff))
        located = self._located  # of one run, being large; other threads may change it
        if located is None or located[:2] != (rankings, cutoff):
            size = 1 + max(int(number.max(initial=-1)) for number in numbers.values())
            rows = np.full(size, -1, dtype=np.int64)
            rows[numbers[rankings]] = np.arange(len(numbers[rankings]))
            located = self._located = rankings, cutoff, rows
        return located[2][numbers[other]]

    def _numbered(self, cutoff: Depth) -> dict[Rankings, IntArray]:
        """Of each run a number for each document in its top, by query: one number for one document in all of them."""
        runs = list(self.context.runs.values())
        tops = [self.top(run, cutoff) for run in runs]
        starts = np.cumsum([0, *(len(top.position) for top in tops)])
        for seed in itertools.count():
            hashes = [top.docs.ids.hashes(seed) if seed else top.hashes for top in tops]
            keys = [pair_keys(top.docs.query, of_top) for top, of_top in zip(tops, hashes, strict=True)]
            _, first, number = np.unique(np.concatenate(keys), return_index=True, return_inverse=True)
            numbers = np.split(number, starts[1:-1])
            holder = np.searchsorted(starts, first, side="right") - 1  # the first run with the document
            if all(
                self._same_documents(
                    top, tops[i], (first - starts[i])[number_of_run], holder[number_of_run] == i
                )
                for top, number_of_run in zip(tops, numbers, strict=True)
                for i in np.unique(holder[number_of_run]).tolist()
            ):
                return dict(zip(runs, numbers, strict=True))
        raise AssertionError  # seeds do not end

    @staticmethod
    def _same_documents(top: JudgedTop, other: JudgedTop, row: IntArray, among: BoolArray) -> bool:
        """Whether some documents of a top are those of rows of another, and not only of the same hash."""
        rows = np.flatnonzero(among)
        same_query = top.docs.query[rows] == other.docs.query[row[rows]]
        return bool((same_query & top.docs.ids.equal(rows, other.docs.ids, row[rows])).all())

    def _find_top(self, rankings: Rankings, cutoff: Depth) -> JudgedTop:
        if isinstance(cutoff, Budget):
            read = self.documents_read(rankings, cutoff)
            whole = self.top(rankings, max(int(read.max(initial=0)), 1))
            keep = whole.position <= read[whole.docs.query]
            columns = (whole.position[keep], whole.judged[keep], whole.hashes[keep], whole.score[keep])
            return JudgedTop(whole.docs.select(keep), *columns)
        top, judgments = rankings.top(cutoff), self.judgments
        query = judgments.queries_of(rankings)[top.query]
        rows = np.flatnonzero(query >= 0)
        rows = rows[np.argsort(query[rows], kind="stable")]
        query, ids, hashes = query[rows], top.ids.take(rows), top.hashes[rows]
        known = judgments.rows_of(query, ids, hashes)
        grade = np.where(known >= 0, judgments.grade[known], 0) if len(judgments) else np.zeros_like(known)
        docs = Judgments(judgments.query_ids, query, ids, grade)
        return JudgedTop(docs, top.position[rows], known >= 0, hashes, top.score[rows])

    def absolute(self, measures: Sequence[ir_measures.Measure], rankings: Rankings) -> FloatArray:
        """Absolute measures of a run by ir_measures, shape (measures, queries).

        Raises:
            ValueError: a measure that no provider computes, or of aspects where the judgments name none.
        """
        for measure in measures:
            if needs_subtopics(measure) and self.judgments.labels is None:
                raise ValueError(f"{measure} needs the aspects of documents, and {NAME_NO_ASPECT}")
        qrels = self.cached(("qrels",), lambda: cache(partial(qrels_for, self.judgments)))
        key = "evaluator", tuple((type(m), m) for m in measures)
        evaluator = self.cached(key, partial(HostEvaluator, ir_measures.DefaultPipeline, measures, qrels))
        return evaluator.values(rankings, self.judgments)

    def absolute_of_runs(self, measure: ir_measures.Measure) -> FloatArray:
        """:meth:`absolute` of one measure for every run of the context, shape (runs, queries)."""

        def compute() -> FloatArray:
            values = [self.absolute([measure], run)[0] for run in self.context.runs.values()]
            return np.array(values).reshape(len(values), self.judgments.n_queries)

        return self.cached(("absolute", type(measure), measure), compute)

    def means(self, measure: ir_measures.Measure) -> dict[str, float]:
        """The mean over all queries of an absolute measure, for every run of the context.

        Raises:
            ValueError: these are not all the queries.
        """
        if not self.whole:
            raise ValueError(
                f"the means of {measure} over all queries decide which runs are whose priors, and a part of the "
                "queries does not know them; give the dict that BestOfOtherGroups.choose(means, groups) makes"
            )
        return dict(zip(self.names, self.absolute_of_runs(measure).mean(axis=1).tolist(), strict=True))

    def head(self, rankings: Rankings, depth: int | None) -> dict[int, tuple[str, ...]]:
        """The first documents of each judged query that a run holds."""
        top = rankings.top(depth)
        query = self.judgments.queries_of(rankings)
        starts = np.searchsorted(top.query, np.arange(len(query) + 1))
        return {
            int(q): tuple(top.doc_ids[a:b])
            for q, a, b in zip(query, starts[:-1], starts[1:], strict=True)
            if q >= 0 and b > a
        }

    def head_of(self, name: str, depth: int | None) -> dict[int, tuple[str, ...]]:
        """:meth:`head` of a run of the context."""
        return self.cached(("head", name, depth), lambda: self.head(self.context.runs[name], depth))

    def head_hash(self, name: str, depth: int | None) -> int:
        """A hash of :meth:`head_of` without its strings: equal where two are, and hardly ever else."""
        run = self.context.runs[name]
        top = run.top(depth)
        query = self.judgments.queries_of(run)[top.query]
        order = np.argsort(query, kind="stable")[np.count_nonzero(query < 0) :]
        return hash((query[order].tobytes(), top.hashes[order].tobytes()))

    def same_heads(self, rankings: Rankings, name: str, depth: int | None = _HEAD) -> bool:
        """Whether every judged query that the run holds starts as it does in the member of that name."""
        theirs = self.head_of(name, depth)
        return all(theirs.get(q) == docs for q, docs in self.head(rankings, depth).items())

    def same_rankings(self, rankings: Rankings, name: str) -> bool:
        """Whether the run ranks every judged query that it holds as the member of that name does."""
        return self.same_heads(rankings, name) and self.same_heads(rankings, name, None)


class Comparison:
    """One run, evaluated relative to a context, on one set of judgments.

    Attributes:
        judged: the context, with what is computed once for it.
        context: the runs and the policy.
        judgments: every judged document.
        grades: the lowest and the highest grade that a document may have.
        rankings: the evaluated run.
        member: its name in the context; None for a newcomer.
        chosen: the names of its priors, instead of those that the context's policy gives it.
        group: the group of a newcomer, for a policy that goes by groups; None where it is not said.
    """

    def __init__(
        self,
        judged: JudgedContext,
        rankings: Rankings,
        member: str | None,
        chosen: Sequence[str] | None = None,
        group: str | None = None,
    ) -> None:
        self.judged = judged
        self.context = judged.context
        self.judgments = judged.judgments
        self.grades = judged.grades
        self.group = group
        self.chosen = chosen
        self.rankings = rankings
        self.member = member
        self._positions: dict[Hashable, IntArray] = {}
        self._priors: dict[str | None, IntArray] = {}

    @property
    def relevant(self) -> Judgments:
        """The judged documents with a grade above 0."""
        return self.judgments.relevant

    def positions(self, docs: Judgments, cutoff: Depth = None, judged_only: bool = False) -> IntArray:
        """Where the evaluated run ranks each of ``docs``: 1-based, 0 where it is not in the top ``cutoff``.

        ``docs`` is :attr:`judgments` or :attr:`relevant`.
        """
        key = docs, cutoff, judged_only
        if key not in self._positions:
            if self.member is not None and self.rankings is self.context.runs[self.member]:
                row = self.judged.index[self.member]
                self._positions[key] = self.judged.positions_of_runs(docs, cutoff, judged_only)[row]
            else:
                self._positions[key] = self.judged.positions_in(self.rankings, docs, cutoff, judged_only)
        return self._positions[key]

    def priors(self, prior: str | None = None) -> IntArray:
        """The priors, as ascending indices into the context's runs; ``prior`` is the measure's parameter."""
        if prior not in self._priors:
            self._priors[prior] = self._find_priors(prior)
        return self._priors[prior]

    def _find_priors(self, prior: str | None) -> IntArray:
        index, names = self.judged.index, self.judged.names
        of_newcomer = finder_for_newcomers(self.context.policy)
        if prior is not None:
            chosen: Sequence[str] = matching(prior, names)
        elif self.chosen is not None:
            chosen = self.chosen
        elif self.member is None and self.group is not None and of_newcomer is not None:
            chosen = list(of_newcomer(self.judged, self.group))
        else:
            chosen = list(self.context.policy.priors_of(self.judged, self.member))
            if self.member is not None and names == [self.member]:
                warn(
                    f"the context holds no run but {self.member!r}, so it has no prior, and its relative measures are "
                    "the absolute ones; add the runs to compare with to the RunContext",
                    self.context,
                )
        if list(chosen) == names[: len(chosen)]:  # as it mostly is, and quick to see
            rows = np.arange(len(chosen))
        else:
            rows = np.array(sorted({index[n] for n in chosen}), dtype=np.int64)
        return rows if self.member is None else rows[rows != index[self.member]]

    def prior_product(
        self,
        factor: Callable[[IntArray], FloatArray],
        docs: Judgments,
        *,
        prior: str | None,
        cutoff: int | None,
        judged_only: bool,
    ) -> FloatArray:
        """For each of ``docs``, the product over the priors of ``factor`` of its position there (0: not retrieved).

        The products over the first and over the last runs of the context are computed once, so that leaving one
        run out costs one multiplication, however many runs there are. ``factor`` works elementwise, and is its own key
        in the cache: a function of a module, or a frozen dataclass with ``__call__``.
        """
        judged = self.judged
        key = factor, docs, cutoff, judged_only
        chosen = self.priors(prior)
        n, m = len(judged.names), len(chosen)

        def factors() -> FloatArray:
            return factor(judged.positions_of_runs(docs, cutoff, judged_only))

        if not m:
            return np.ones(len(docs))
        if chosen[-1] == m - 1 or m == n - 1:  # the first m, or all but one
            first = judged.cached(("first", key), lambda: _running_products(factors()))
            if chosen[-1] == m - 1:
                return np.asarray(first[m])
            out = int(np.searchsorted(chosen != np.arange(m), True))
            last = judged.cached(("last", key), lambda: _running_products(factors()[::-1]))
            return np.asarray(first[out] * last[n - 1 - out])
        return self._product_of(chosen, judged.cached(("factors", key), factors), key)

    def _product_of(self, chosen: IntArray, factors: FloatArray, key: Hashable) -> FloatArray:
        """The product over some of the runs; kept while the next run has the same ones, as in a greedy selection."""
        last: list[Any] = self.judged.cached(("product", key), lambda: [None, None])
        if last[0] is None or not np.array_equal(last[0], chosen):
            moved, of_moved = self.judged.cached(("moved", key), lambda: _without_ones(factors))
            product = np.ones(factors.shape[1])
            product[moved] = of_moved[chosen].prod(axis=0)
            last[:] = chosen, product
        result: FloatArray = last[1]
        return result

    def retrieving_systems(
        self, docs: Judgments, cutoff: int | None, judged_only: bool, systems: str | None = None
    ) -> tuple[IntArray, int]:
        """For each of ``docs`` the number of systems that hold it in their top ``cutoff``; and how many systems.

        The systems are all runs of the context, and the evaluated one; with ``systems``, the runs of these names or
        globs and the evaluated one, or the groups of the runs (``"groups"``).
        """
        judged = self.judged
        found = judged.positions_of_runs(docs, cutoff, judged_only)
        own = self.positions(docs, cutoff, judged_only) > 0
        if systems is not None:
            run = judged.index[self.member] if self.member is not None else len(found)
            held = np.vstack([found[:run] > 0, own, found[run + 1 :] > 0])
            system = self._systems_of_runs(systems, run)
            by_system = np.array([held[system == s].any(axis=0) for s in np.unique(system[system >= 0])])
            return by_system.sum(axis=0), len(by_system)
        count: IntArray = judged.cached(
            ("retrieving", docs, cutoff, judged_only), lambda: (found > 0).sum(axis=0)
        )
        if self.member is None:
            return count + own, len(judged.names) + 1
        return count - (found[judged.index[self.member]] > 0) + own, len(judged.names)

    def _systems_of_runs(self, systems: str, run: int) -> IntArray:
        """A number for the system of each run of the context, -1 for none, and of the evaluated ``run``, maybe last."""
        names, groups = self.judged.names, self.judged.groups
        own = range(max(len(names), run + 1))  # each run is a system of its own
        if systems != "groups":
            chosen = {*matching(systems, names, "systems")}
            return np.array([i if i == run or names[i] in chosen else -1 for i in own])
        if not groups:
            raise ValueError(
                "systems='groups' counts each group of runs once, and the context has no groups; say which run is "
                "whose: RunContext(…, groups={'run': 'group'})"
            )
        # A policy that goes by no groups does not ask for the column.
        group = self.group or self.rankings.group
        if group == "" and self.member is None and finder_for_newcomers(self.context.policy) is None:
            warn(
                "the run's column 'group' does not hold one name in all rows, so that it is a system of its own for "
                "systems='groups'; give it one string",
                self.context,
            )
        of_runs = [*map(groups.get, names), group or None][: len(own)]
        return np.array([of_runs.index(group) if group is not None else i for i, group in enumerate(of_runs)])

    def reference(self, ref: str | None = None) -> Rankings:
        """The reference run: ``ref``, else the context's, else the only other run.

        Raises:
            ValueError: none of these says which run it is; lists the runs.
        """
        names = self.context.names
        name = ref if ref is not None else self.context.reference
        others = [n for n in names if n != self.member]
        if name is None and not names:
            raise ValueError(
                "which run is the reference? The context holds none; make one with the run to compare with: "
                "RunContext({'BM25': bm25_run}, reference='BM25')"
            )
        if name is None and len(others) != 1:
            raise ValueError(
                f"which run is the reference? The context holds {few_quoted(names)}"
                + (f", and {self.member!r} is evaluated" if self.member else "")
                + "; say RunContext(…, reference=name), or ref='name' in the measure"
            )
        name = others[0] if name is None else name
        if name not in self.judged.index:
            raise ValueError(f"ref={name!r} is not a run of the context; its runs are {few_quoted(names)}")
        return self.context.runs[name]


def check_is_context(context: object) -> None:
    """Raises TypeError for what is not a :class:`RunContext`, such as a dict of runs."""
    if not isinstance(context, ContextData):
        remedy = "RunContext(runs)" if isinstance(context, Mapping) else "a RunContext"
        raise TypeError(f"the context is {kind_of(context)}; give {remedy}")


def judged_context(context: ContextData, qrels: Qrels | QrelsColumns | None) -> JudgedContext:
    """The context seen through these judgments, kept for when the same ones come again.

    Args:
        qrels: the judgments, in any form or as columns; None for those of the context's dataset.

    Raises:
        ValueError: judgments that cannot be read; none are given, and the context has no dataset that holds some.
    """
    from .io.qrels import judge, qrels_columns

    columns = qrels_columns(datasets.qrels_of(context.dataset) if qrels is None else qrels)
    kept: list[tuple[QrelsColumns, JudgedContext]] = context._judged
    for i, (known, judged) in enumerate(kept):
        if known.same_as(columns):
            kept.insert(0, kept.pop(i))
            judged.let_go()
            return judged
    columns = columns.kept()  # what the caller does to the qrels later was not judged
    judged = JudgedContext(context, judge(columns))
    kept.insert(0, (columns, judged))
    del kept[_KEPT:]
    return judged


def check_queries(judged: JudgedContext, rankings: Rankings, *, may_be_batch: bool = False) -> None:
    """Raises ValueError where a run that holds queries shares none with the judgments.

    An empty run is legal. Where the run may be one batch of PyTerrier's, so is one whose ids and the qrels' are
    both known to the context: the judged topics of the batch got no results. That draws a warning.
    """
    judgments = judged.judgments
    if not len(rankings) or not judgments.n_queries or (judgments.queries_of(rankings) >= 0).any():
        return
    known = {q for run in judged.context.runs.values() for q in run.query_ids} if may_be_batch else set()
    message = (
        f"{rankings.name} has no query in common with the qrels: the run has {some(rankings.query_ids)}, "
        f"the qrels have {some(judgments.query_ids)}"
    )
    if known.intersection(rankings.query_ids) and known.intersection(judgments.query_ids):
        warn(message + "; its rankings count as empty", judged.context)
    else:
        own = set(rankings.query_ids.tolist())
        by_nugget = [q for q in judgments.query_ids if q.rpartition("_")[0] in own]
        remedy = "is one of them numbered differently, or for other topics?"
        if by_nugget:
            remedy = f"{by_nugget[0]!r} may be a nugget of a query: give judgments by query, the nugget in column two"
        raise ValueError(f"{message}; {remedy}")


def some(ids: Any) -> str:
    """The first few of the ids, for a message."""
    return f"{list(ids[:3])}{' …' if len(ids) > 3 else ''}"


def _size(value: Any) -> int:
    """The bytes of an array, or of those that stand in a list, tuple or dict, or in judgments."""
    if isinstance(value, np.ndarray):
        return int(value.nbytes)
    if isinstance(value, Judgments):
        return _size([value.query, value.grade, value.ids.starts, value.ids.ends])
    if isinstance(value, dict) and isinstance(next(iter(value.values()), None), np.ndarray):
        value = list(value.values())
    return sum(map(_size, value)) if isinstance(value, (list, tuple)) else 0


def _without_ones(factors: FloatArray) -> tuple[IntArray, FloatArray]:
    """The columns in which anything is not 1, and what stands there; most documents are in no run's top."""
    moved = np.flatnonzero((factors != 1.0).any(axis=0))
    return moved, factors[:, moved].copy(order="C")


def _running_products(factors: FloatArray) -> FloatArray:
    """Row i is the product of the first i rows; shape (rows + 1, columns)."""
    ones = np.ones((1, factors.shape[1]))
    return np.concatenate([ones, np.cumprod(factors, axis=0)])
