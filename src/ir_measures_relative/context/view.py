"""Runs × documents × labels as arrays: all that a measure may ask for."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeVar

import ir_measures
import numpy as np

from ..data.arrays import BoolArray, FloatArray, IntArray, ObjectArray
from ..data.documents import NAME_NO_ASPECT, Documents, Judgments
from ..data.ids import Ids, WordArray
from ..data.rankings import Rankings
from ..io import datasets
from ..messages import few_quoted, kind_of, warn
from .absolute import AbsoluteEvaluator, qrels_for
from .measure_strings import needs_subtopics
from .priors import Members, finder_for_new_runs, matching, replaced, some_runs
from .tops import Top, find_top, numbered, same_rankings, unjudged

if TYPE_CHECKING:
    from ..io.qrels import Qrels, QrelsColumns


T = TypeVar("T")
_MISSING: Any = object()
_WRITING = Lock()

# How much is kept: so many bytes, or tables of (runs × documents) numbers, whichever is more.
_LEAST_BYTES, _TABLES = 3 << 24, 16


class Store:
    """Values by keys of all that they depend on. Threads need no lock to read: at worst two compute the same value."""

    def __init__(self, n_runs: int = 0, n_docs: int = 0) -> None:
        self.most = _LEAST_BYTES
        self.make_room(n_runs, n_docs)
        self._values: dict[Hashable, Any] = {}
        self._sizes: OrderedDict[Hashable, int] = OrderedDict()
        self._held = 0  # the sum of the sizes

    def make_room(self, n_runs: int, n_docs: int) -> None:
        """Keeps some tables of so many runs and documents: all that one measure may ask for again."""
        self.most = max(self.most, _TABLES * 8 * n_runs * n_docs)

    def __getstate__(self) -> dict[str, Any]:
        """Without the values: other libraries' evaluators do not pickle."""
        return self.__dict__ | {"_values": {}, "_sizes": OrderedDict(), "_held": 0}

    def get(self, key: Hashable, compute: Callable[[], T]) -> T:
        """The value of a key; computed if it is not here."""
        value: T = self._values.get(key, _MISSING)  # in one step: another thread may evict it
        if value is _MISSING:
            value = compute()
            size = _size(value)
            with _WRITING:
                if size:
                    self._evict(size - self._sizes.pop(key, 0))
                    self._sizes[key] = size
                self._values[key] = value
        return value

    def known(self, key: Hashable) -> Any:
        """The value of a key; None if it is not here."""
        return self._values.get(key)

    def _evict(self, size: int) -> None:
        """Makes place for a value of that size."""
        self._held += size
        while self._held > self.most and self._sizes:
            key, freed = self._sizes.popitem(last=False)
            del self._values[key]
            self._held -= freed


def _size(value: Any) -> int:
    """The bytes of an array, of documents, or of those in a list, tuple or dict of arrays."""
    if isinstance(value, dict) and isinstance(next(iter(value.values()), None), np.ndarray):
        value = list(value.values())
    return sum(map(_size, value)) if isinstance(value, (list, tuple)) else getattr(value, "nbytes", 0)


_HEAD = 10  # how deep two rankings are compared before it is worth comparing all of them
_KEPT = 8  # of how many sets of judgments a context keeps the view: batches are one each
_MOST_ROWS = 5_000_000  # of rankings that are looked through for unjudged documents without a cutoff


@dataclass(frozen=True, eq=False)
class View:
    """The runs of a context on documents and their labels; and one of these runs, or a new one, as evaluated.

    It does not change. Its methods make others; what stays true is computed once for all of them.
    """

    members: Members  #: the runs of the context, and what is known of them
    documents: Documents  #: the judged documents, and those that may yet be judged
    judgments: Judgments  #: the judgments; the same object as ``documents`` where all of these are judged
    grades: tuple[int, int]  #: the lowest and the highest that a document may have, at most 0 and at least 1
    ranks: Store  #: what depends on the rankings alone, by version of the documents
    labels: Store  #: what depends on the labels as well
    whole: bool = True  #: whether these are all queries, so that means over them are the collection's
    run: Rankings | None = None  #: the evaluated run
    member: int | None = None  #: which run of the context it is; None for a new run
    chosen: tuple[str, ...] | None = None  #: the names of its priors, instead of the policy's
    group: str | None = None  #: of a new run, for a policy that goes by groups; None where it is not said
    depth: int | None = None  #: how much of every ranking is looked at
    judged_only: bool = False  #: whether all documents that nobody judged are taken out of the rankings first
    former: tuple[Rankings, ...] = ()  #: the runs of the view that this one was made of
    _own: Store = field(default_factory=Store, repr=False)  #: what depends on the evaluated run

    @classmethod
    def on(cls, members: Members, judgments: Judgments, *, whole: bool = True) -> View:
        """The runs on these judgments."""
        ranks, labels = (Store(len(members.runs), len(judgments)) for _ in range(2))
        grades = grades_of(members, judgments)
        return cls(members, judgments, judgments, grades, ranks, labels, whole=whole)

    # ---- what is here ------------------------------------------------------------------------------------

    @property
    def query_ids(self) -> ObjectArray:
        """The queries, in the order of the qrels."""
        return self.documents.query_ids

    @property
    def n_queries(self) -> int:
        return self.documents.n_queries

    @property
    def relevant(self) -> Documents:
        """The documents with a grade above 0."""
        return self.documents.relevant

    @property
    def names(self) -> list[str]:
        """The runs of the context, in their order."""
        return self.members.names

    @property
    def runs(self) -> Mapping[str, Rankings]:
        """The runs of the context, by name."""
        return self.members.runs

    @property
    def groups(self) -> Mapping[str, str]:
        """From run name to group name."""
        return self.members.groups

    @property
    def name(self) -> str | None:
        """The name of the evaluated run; None for a new run."""
        return None if self.member is None else self.names[self.member]

    @property
    def evaluated(self) -> Rankings:
        """The evaluated run, where there is one."""
        if self.run is None:
            raise ValueError("no run is evaluated here: take view.of(name) or view.with_run(rankings)")
        return self.run

    @property
    def row(self) -> int | None:
        """Which of the context's runs has the rankings of the evaluated run as its own; None for other rankings."""
        if self.member is None or self.run is not self.members.rankings[self.member]:
            return None
        return self.member

    # ---- other views -------------------------------------------------------------------------------------

    def at(self, depth: int | None, judged_only: bool = False) -> View:
        """Every ranking to this depth; of the judged documents alone, or of all."""
        return replace(self, depth=depth, judged_only=judged_only)

    def of(self, name: str, priors: Collection[str] | None = None) -> View:
        """A run of the context as the evaluated one; ``priors`` are the names of its priors, if not the policy's."""
        return self.with_run(self.runs[name], priors=priors, member=name)

    def of_each(self) -> list[View]:
        """Every run of the context as the evaluated one, in their order."""
        return [self.of(name) for name in self.names]

    def with_run(
        self,
        rankings: Rankings,
        priors: Collection[str] | None = None,
        group: str | None = None,
        member: str | None = None,
    ) -> View:
        """A new run as the evaluated one; ``member`` is the name of the run in whose place it stands, if it does."""
        index = None if member is None else self.members.index[member]
        chosen = None if priors is None else tuple(priors)
        return self._other(run=rankings, member=index, chosen=chosen, group=group)

    def evaluating(self, other: View) -> View:
        """The run that another view evaluates, here."""
        return self._other(run=other.run, member=other.member, chosen=other.chosen, group=other.group)

    def with_runs(self, rankings: Mapping[str, Rankings]) -> View:
        """With further runs in the context, by name; or with others in the place of those of these names."""
        return self._other(
            members=replaced(self.members, runs={**self.runs, **rankings}), former=self.members.rankings
        )

    def of_runs(self, names: Collection[str]) -> View:
        """As though only some of the runs had taken part: the others are nobody's priors, and no reference."""
        return self._other(members=some_runs(self.members, names), former=self.members.rankings)

    def with_labels(self, grade: IntArray) -> View:
        """With other grades of all the documents, which are then all judged."""
        labelled = self.documents.graded(grade)
        store = Store(len(self.names), len(labelled))
        return self._other(documents=labelled, judgments=Judgments.of(labelled), labels=store)

    def with_open(
        self, depth: int | None, unretrieved_relevant: int = 0, also: Sequence[Rankings] = ()
    ) -> View:
        """With the unjudged documents in the tops of the runs, and of others, which may yet be judged.

        ``unretrieved_relevant``: how many further documents a query, which no run holds, may turn out relevant.
        """
        runs = (*self.members.rankings, *also)
        rows = sum(map(len, runs))
        if depth is None and rows > _MOST_ROWS:
            raise ValueError(f"without a cutoff all {rows} rows of the runs are open; set one, such as @1000")
        if unretrieved_relevant * self.n_queries > _MOST_ROWS:
            many, n = unretrieved_relevant, self.n_queries
            raise ValueError(f"unretrieved_relevant={many} is too many for {n} topics; give fewer")
        to_depth = self.at(depth)
        opened = unjudged([to_depth.top(run) for run in runs], self.query_ids)
        query = np.repeat(np.arange(self.n_queries), unretrieved_relevant)
        no, nobody = np.zeros(len(query), dtype=bool), Ids.of([""] * len(query))
        unretrieved = Documents(self.query_ids, query, nobody, np.zeros_like(query), judged=no, exists=no)
        documents = self.documents.followed_by(opened, unretrieved)
        for store in (self.ranks, self.labels):
            store.make_room(len(self.names), len(documents))
        return self._other(documents=documents)

    def of_queries(self, keep: BoolArray) -> View:
        """Return the runs on some of the queries, as though the others were not judged."""
        return View.on(self.members, self.judgments.of_queries(keep), whole=self.whole)

    def of_query(self, query_id: str) -> View:
        """One query alone, which the judgments hold; nothing that is computed here is used there."""
        runs = {name: run.of_query(query_id) for name, run in self.runs.items()}
        one = View.on(
            replaced(self.members, runs=runs, grades=self.grades),
            self.judgments.of_query(query_id),
            whole=False,
        )
        if self.run is None:
            return one
        run = runs[self.names[self.member]] if self.member is not None else self.run.of_query(query_id)
        return replace(one, run=run, member=self.member, chosen=self.chosen, group=self.group)

    def _other(self, **changes: Any) -> View:
        """Another view on the same labels, for which nothing of the evaluated run is known."""
        return replace(self, _own=Store(), **changes)

    # ---- what was computed -------------------------------------------------------------------------------

    def cached(self, key: Hashable, compute: Callable[[], T]) -> T:
        """What ``compute`` makes of the runs and the labels, once a key, which holds all else it depends on."""
        return self.labels.get((key, self.documents, self.members.rankings), compute)

    def cached_of(self, rankings: Rankings, key: Hashable, compute: Callable[[], T]) -> T:
        """The same of one run; of one that is neither the context's nor the evaluated one it is not kept."""
        if rankings in self.members.held:
            return self.labels.get((key, self.documents, rankings), compute)
        return self._own.get((key, self.documents), compute) if rankings is self.run else compute()

    def _of_each_run(
        self, store: Store, key: Hashable, of_run: Callable[[Rankings], Any], width: int, kind: type
    ) -> Any:
        """A row for each run of the context; those of the view that this one was made of are taken from there."""
        former = store.known((key, self.former))
        row = {} if former is None else {run: i for i, run in enumerate(self.former)}
        rows = [former[row[run]] if run in row else of_run(run) for run in self.members.rankings]
        return np.array(rows, dtype=kind).reshape(len(rows), width)

    # ---- positions ---------------------------------------------------------------------------------------

    def positions(self, docs: Documents) -> IntArray:
        """Where the evaluated run ranks each of ``docs``, some of :attr:`documents`: from 1, 0 where not in the top."""
        if self.row is not None:
            of_run: IntArray = self.positions_of_runs(docs)[self.row]
            return of_run
        key = "positions", docs, self.depth, self.judged_only
        return self._own.get(key, lambda: self.positions_in(self.evaluated, docs))

    def positions_of_runs(self, docs: Documents) -> IntArray:
        """Where every run of the context ranks each of ``docs``, shape (runs, documents); 0 where not in its top."""
        (store, of_docs), runs = self._of_positions(docs), self.members.rankings
        key = "positions", of_docs

        def compute() -> IntArray:
            table = None if self.judged_only else self._known_positions(docs)
            if table is None:
                of_run = partial(self.positions_in, docs=docs)
                table = self._of_each_run(store, key, of_run, len(docs), np.int64)
            return table

        return store.get((key, runs), compute)

    def _known_positions(self, docs: Documents) -> IntArray | None:
        """The same from kept positions, in deeper rankings or of more documents; None where there are none."""

        def known(some: Documents, depth: int | None) -> Any:
            return self.ranks.known((("positions", (some.version, depth)), self.members.rankings))

        deeper = None if self.depth is None else known(docs, None)
        if deeper is not None:
            return np.where(deeper <= self.depth, deeper, 0)
        tables = ((known(source, self.depth), rows) for source, rows in docs.sources())
        return next((table[:, rows] for table, rows in tables if table is not None), None)

    def _of_positions(self, docs: Documents) -> tuple[Store, Hashable]:
        """The store for what depends on the positions of some documents, and a key of these documents and the depth."""
        if self.judged_only:
            return self.labels, (docs, self.depth)
        return self.ranks, (docs.version, self.depth)

    def positions_in(self, rankings: Rankings, docs: Documents) -> IntArray:
        """Where any run ranks each of ``docs``."""
        if not self.judged_only:
            return docs.positions_in(rankings, self.depth)
        if docs is self.documents:
            return docs.positions_among_judged(rankings, self.depth)
        rows = next(rows for source, rows in docs.sources() if source is self.documents)
        return self.documents.positions_among_judged(rankings, self.depth)[rows]

    def top(self, rankings: Rankings | None = None) -> Top:
        """The first documents of the evaluated run, or of another one."""
        run = self.evaluated if rankings is None else rankings
        compute = partial(find_top, self.documents, run, self.depth)
        return self.cached_of(run, ("top", self.depth), compute)

    def tops_of_runs(self) -> list[Top]:
        """The first documents of every run of the context, with room to keep them together."""
        runs, depth = self.members.rankings, self.depth
        most = [len(run) if depth is None else depth * len(run.query_ids) for run in runs]
        self.labels.make_room(2, sum(map(min, map(len, runs), most)))
        return [self.top(run) for run in runs]

    def rows_in_top(self, other: Rankings) -> IntArray:
        """The row in the top of the evaluated run of each document in that of another; -1 for one not there."""
        run = self.evaluated
        if not {run, other} <= self.members.held:
            of_run, of_other = self.top(), self.top(other)
            return of_run.docs.rows_of(of_other.docs.query, of_other.docs.ids, of_other.hashes)

        # Of all pairs of runs: comparing ids in each would take most of the time.
        def numbers() -> dict[Rankings, IntArray]:
            return dict(zip(self.members.rankings, numbered(self.tops_of_runs()), strict=True))

        number = self.cached(("numbers", self.depth), numbers)

        def locate() -> IntArray:
            rows = np.full(1 + max(int(of_run.max(initial=-1)) for of_run in number.values()), -1)
            rows[number[run]] = np.arange(len(number[run]))
            return rows

        return self._own.get(("located", self.documents, self.depth), locate)[number[other]]

    def starts_as(self, name: str, depth: int | None = _HEAD) -> bool:
        """Whether each judged query that the evaluated run holds starts as in the run of that name."""
        view = self.at(depth)
        own = view.top()
        held = np.bincount(own.docs.query, minlength=self.n_queries) > 0
        return bool(same_rankings(own, view.top(self.runs[name]), held)[held].all())

    def twin(self, names: Sequence[str], partly: bool = False) -> str | None:
        """Return the first of these runs that ranks every judged query as the evaluated run does; None where none does.

        ``partly``: every judged query that the evaluated run holds.
        """
        rankings = self.members.rankings
        heads = self.cached(("heads",), lambda: list(map(self._heads, rankings)))
        own, index = self._heads(self.evaluated), self.members.index
        alike = [bool(((of_run == own) | (partly & (own == 0))).all()) for of_run in heads]
        return next((name for name in names if alike[index[name]] and self.ranks_as(name)), None)

    def _heads(self, rankings: Rankings) -> WordArray:
        """A hash of the start of each ranking: equal where two start alike, hardly ever else; 0 without a ranking."""
        top = rankings.top(_HEAD)
        query = self.documents.queries_of(rankings)[top.query]
        known, result = query >= 0, np.zeros(self.n_queries, dtype=np.uint64)
        np.add.at(result, query[known], (top.hashes * (2 * top.position + 1).astype(np.uint64))[known])
        return result

    def ranks_as(self, name: str) -> bool:
        """Whether the evaluated run ranks each judged query that it holds as the run of that name does."""
        return self.starts_as(name) and self.starts_as(name, None)

    # ---- relative to the other runs ----------------------------------------------------------------------

    def priors(self, prior: str | None = None) -> IntArray:
        """The priors, as ascending indices into the context's runs; ``prior`` is the measure's parameter."""
        return self._own.get(("priors", prior), lambda: self._find_priors(prior))

    def _find_priors(self, prior: str | None) -> IntArray:
        index, names = self.members.index, self.names
        of_new_run = finder_for_new_runs(self.members.policy)
        if prior is not None:
            chosen: Sequence[str] = matching(prior, names)
        elif self.chosen is not None:
            chosen = self.chosen
        elif self.member is None and self.group is not None and of_new_run is not None:
            chosen = list(of_new_run(self, self.group))
        else:
            chosen = list(self.members.policy.priors_of(self, self.name))
            if self.member is not None and names == [self.name]:
                only = f"the context holds no run but {self.name!r}, so it has no prior"
                warn(f"{only}; add the runs to compare with to the RunContext", self.members)
        if list(chosen) == names[: len(chosen)]:  # as it mostly is, and quick to see
            rows = np.arange(len(chosen))
        else:  # a policy may name runs that were left out of this view
            rows = np.array(sorted({index[n] for n in chosen if n in index}), dtype=np.int64)
        return rows if self.member is None else rows[rows != self.member]

    def prior_product(
        self, factor: Callable[[IntArray], FloatArray], docs: Documents, prior: str | None = None
    ) -> FloatArray:
        """For each of ``docs``, the product over the priors of ``factor`` of its position there (0: not retrieved).

        ``factor`` works elementwise, and is its own key in the cache: a function of a module, or a frozen dataclass
        with ``__call__``.
        """
        store, of_docs = self._of_positions(docs)
        key = factor, of_docs, self.members.rankings
        chosen = self.priors(prior)
        n, m = len(self.names), len(chosen)

        def factors() -> FloatArray:
            return factor(self.positions_of_runs(docs))

        if not m:
            return np.ones(len(docs))
        # The first m, or all but one: products from both ends, kept, so that leaving a run out is one multiplication.
        if chosen[-1] == m - 1 or m == n - 1:
            first = store.get(("first", key), lambda: _running_products(factors()))
            if chosen[-1] == m - 1:
                return np.asarray(first[m])
            out = int(np.searchsorted(chosen != np.arange(m), True))
            last = store.get(("last", key), lambda: _running_products(factors()[::-1]))
            return np.asarray(first[out] * last[n - 1 - out])

        def product() -> FloatArray:
            moved, of_moved, width = store.get(("moved", key), lambda: _without_ones(factors()))
            product = np.ones(width)
            product[moved] = of_moved[chosen].prod(axis=0)
            return product

        return store.get(("product", key, chosen.tobytes()), product)

    def n_retrieving(self, docs: Documents, systems: str | None = None) -> tuple[IntArray, int]:
        """For each of ``docs`` the number of systems that hold it in their top; and how many systems there are.

        Systems are all runs, the evaluated one too; with ``systems`` those of these names or globs, or the groups.
        """
        found = self.positions_of_runs(docs)
        own = self.positions(docs) > 0
        if systems is not None:
            run = len(found) if self.member is None else self.member
            held = np.vstack([found[:run] > 0, own, found[run + 1 :] > 0])
            system = self._systems_of_runs(systems, run)
            by_system = np.array([held[system == s].any(axis=0) for s in np.unique(system[system >= 0])])
            return by_system.sum(axis=0), len(by_system)
        store, of_docs = self._of_positions(docs)
        count = store.get(("retrieving", of_docs, self.members.rankings), lambda: (found > 0).sum(axis=0))
        if self.member is None:
            return count + own, len(self.names) + 1
        return count - (found[self.member] > 0) + own, len(self.names)

    def _systems_of_runs(self, systems: str, run: int) -> IntArray:
        """A number for the system of each run of the context, -1 for none, and of the evaluated ``run``, maybe last."""
        names, groups = self.names, self.groups
        own = range(max(len(names), run + 1))  # each run is a system of its own
        if systems != "groups":
            chosen = {*matching(systems, names, "systems")}
            return np.array([i if i == run or names[i] in chosen else -1 for i in own])
        if not groups:
            raise ValueError("systems='groups' needs groups; set RunContext(…, groups={'run': 'group'})")
        # A policy that goes by no groups does not ask for the column.
        group = self.group or self.evaluated.group
        if group == "" and self.member is None and finder_for_new_runs(self.members.policy) is None:
            warn(
                "the run's column 'group' does not hold one name in all rows, so it is a system of its own",
                self.members,
            )
        of_runs = [*map(groups.get, names), group or None][: len(own)]
        return np.array([of_runs.index(group) if group is not None else i for i, group in enumerate(of_runs)])

    def reference_run(self, ref: str | None = None) -> Rankings:
        """The reference run: ``ref``, else the context's, else the only other run."""
        names = self.names
        name = ref if ref is not None else self.members.reference
        others = [n for n in names if n != self.name]
        if name is None and not names:
            raise ValueError("which run is the reference? set RunContext({…}, reference='BM25')")
        if name is None and len(others) != 1:
            evaluated = f", and {self.name!r} is evaluated" if self.name else ""
            raise ValueError(
                f"which run is the reference? The context holds {few_quoted(names)}{evaluated}; set "
                "RunContext(…, reference=name), or ref='name' in the measure"
            )
        name = others[0] if name is None else name
        if name not in self.members.index:
            raise ValueError(f"ref={name!r} is not a run of the context; its runs are {few_quoted(names)}")
        return self.runs[name]

    # ---- absolute measures -------------------------------------------------------------------------------

    def absolute(
        self,
        measures: Sequence[ir_measures.Measure],
        rankings: Rankings | None = None,
        *,
        as_given: bool = False,
    ) -> FloatArray:
        """Absolute measures of the evaluated run, or of another one, by ir_measures; shape (measures, queries).

        ``as_given``: each provider orders equal scores as it does, and not as trec_eval.
        """
        judgments = self.judgments
        for measure in measures:
            if needs_subtopics(measure) and judgments.labels is None:
                raise ValueError(f"{measure} needs the aspects of documents, and {NAME_NO_ASPECT}")
        qrels = self.labels.get(("qrels", judgments), lambda: cache(partial(qrels_for, judgments)))
        key = "evaluator", judgments, tuple((type(m), m) for m in measures), as_given
        evaluator = self.labels.get(
            key, partial(AbsoluteEvaluator, ir_measures.DefaultPipeline, measures, qrels, as_given)
        )
        run = self.evaluated if rankings is None else rankings
        return evaluator.values(run, judgments, partial(self.positions_of_relevant, run))

    def positions_of_relevant(self, run: Rankings, depth: int | None) -> IntArray:
        """Where any run ranks each relevant document, to this depth."""
        view, docs = self.at(depth), self.judgments.relevant
        if run in self.members.held:
            of_run: IntArray = view.positions_of_runs(docs)[self.members.rankings.index(run)]
            return of_run
        return view.positions_in(run, docs)

    def absolute_of_runs(self, measure: ir_measures.Measure) -> FloatArray:
        """:meth:`absolute` of one measure for every run of the context, shape (runs, queries)."""
        key = "absolute", self.judgments, type(measure), measure

        def of_run(run: Rankings) -> Any:
            return self.absolute([measure], run)[0]

        compute = partial(self._of_each_run, self.labels, key, of_run, self.n_queries, np.float64)
        values: FloatArray = self.labels.get((key, self.members.rankings), compute)
        return values

    def absolute_of_run(self, measure: ir_measures.Measure) -> FloatArray:
        """:meth:`absolute` of one measure of the evaluated run, as :meth:`absolute_of_runs` has it where it does."""
        if self.row is not None:
            values: FloatArray = self.absolute_of_runs(measure)[self.row]
            return values
        return self._own.get(("absolute", type(measure), measure), lambda: self.absolute([measure])[0])

    def means(self, measure: ir_measures.Measure) -> dict[str, float]:
        """The mean over all queries of an absolute measure, for every run of the context."""
        if not self.whole:
            raise ValueError(
                f"the means of {measure} over all queries decide the priors: BestOfOtherGroups.choose(means, groups)"
            )
        return dict(zip(self.names, self.absolute_of_runs(measure).mean(axis=1).tolist(), strict=True))


def view_of(context: Members, qrels: Qrels | QrelsColumns | None) -> View:
    """The view of a context on judgments in any form, or on its dataset's; kept for when the same ones come again."""
    from ..io.qrels import judge, qrels_columns

    columns = qrels_columns(datasets.qrels_of(context.dataset) if qrels is None else qrels)
    kept: list[tuple[QrelsColumns, View]] = context._views
    for i, (known, view) in enumerate(kept):
        if known.same_as(columns):
            kept.insert(0, kept.pop(i))
            return view
    columns = columns.kept()  # what the caller does to the qrels later was not judged
    view = View.on(context, judge(columns))
    if view.n_queries and not columns.n_rows:
        warn(
            f"the qrels hold no judgment: they name {view.n_queries} topics without any, such as "
            f"{view.query_ids[0]!r}; give other qrels",
            context,
        )
    kept.insert(0, (columns, view))
    del kept[_KEPT:]
    return view


def grades_of(members: Members, docs: Documents) -> tuple[int, int]:
    """The lowest and the highest grade: those that the context says, else those of the documents."""
    own = int(docs.grade.min(initial=0)), int(docs.grade.max(initial=1))
    if members.grades is None:
        return own
    low, high = min(members.grades[0], 0), max(members.grades[1], 1)
    if not (low <= own[0] and own[1] <= high):
        beyond = own[1] if own[1] > members.grades[1] else own[0]
        raise ValueError(
            f"the qrels hold the grade {beyond}, not of grades={members.grades}; correct RunContext(grades=)"
        )
    return low, high


def check_is_context(context: object) -> None:
    """Raises TypeError for what is not a :class:`RunContext`, such as a dict of runs."""
    if not isinstance(context, Members):
        remedy = "RunContext(runs)" if isinstance(context, Mapping) else "a RunContext"
        raise TypeError(f"the context is {kind_of(context)}; give {remedy}")


def some(ids: Any) -> str:
    """The first few of the ids, for a message."""
    return f"{list(ids[:3])}{' …' if len(ids) > 3 else ''}"


def _without_ones(factors: FloatArray) -> tuple[IntArray, FloatArray, int]:
    """The columns in which anything is not 1, what stands there, and how many there are; most are in no run's top."""
    moved = np.flatnonzero((factors != 1.0).any(axis=0))
    return moved, factors[:, moved].copy(order="C"), factors.shape[1]


def _running_products(factors: FloatArray) -> FloatArray:
    """Row i is the product of the first i rows; shape (rows + 1, columns)."""
    ones = np.ones((1, factors.shape[1]))
    return np.concatenate([ones, np.cumprod(factors, axis=0)])
