"""One run beside a context, on one set of judgments: all that a measure may ask for, as arrays.

What depends on the context and the judgments alone is computed once and kept in :class:`JudgedContext`;
:class:`Comparison` adds the evaluated run.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import ir_measures
import numpy as np

from .judgments import BoolArray, FloatArray, Judgments
from .priors import resolve
from .rankings import IntArray, Rankings

if TYPE_CHECKING:
    from .context import RunContext

T = TypeVar("T")

# How deep two rankings are compared before it is worth comparing all of them.
_HEAD = 10


class JudgedContext:
    """The runs of a context, seen through one set of judgments.

    Attributes:
        context: the runs and the policy.
        judgments: every judged document.
    """

    def __init__(self, context: RunContext, judgments: Judgments) -> None:
        self.context = context
        self.judgments = judgments
        self._cache: dict[Hashable, Any] = {}

    def cached(self, key: Hashable, compute: Callable[[], T]) -> T:
        """What ``compute`` gives, computed once a key."""
        if key not in self._cache:
            self._cache[key] = compute()
        value: T = self._cache[key]
        return value

    def positions_in(self, rankings: Rankings, docs: Judgments, cutoff: int | None, judged_only: bool) -> IntArray:
        """Where a run ranks each of ``docs`` (the judgments, or their relevant part), 0 where not in its top."""
        if not judged_only:
            return docs.positions(rankings, cutoff)
        among = self.judgments.positions_among_judged(rankings, cutoff)
        return among if docs is self.judgments else among[self.judgments.grade > 0]

    def positions(self, docs: Judgments, cutoff: int | None, judged_only: bool) -> IntArray:
        """:meth:`positions_in` for every run of the context, shape (runs, documents)."""
        runs = self.context.runs.values()

        def compute() -> IntArray:
            rows = [self.positions_in(r, docs, cutoff, judged_only) for r in runs]
            return np.array(rows, dtype=np.int64).reshape(len(rows), len(docs))

        return self.cached(("positions", docs is self.judgments, cutoff, judged_only), compute)

    def per_query(self, measure: ir_measures.Measure, rankings: Rankings) -> FloatArray:
        """An absolute measure of a run, one value a query, by ir_measures.

        Raises:
            ValueError: a measure that no provider computes, or that needs more than relevance.
        """
        if needs_subtopics(measure):
            raise ValueError(
                f"{measure} needs the subtopics of the qrels, which a context does not keep; compute it with "
                "ir_measures.calc_aggregate or pt.Experiment"
            )
        evaluator = self.cached(
            ("evaluator", measure), lambda: ir_measures.evaluator([measure], self.qrels_dict())
        )
        index = {q: i for i, q in enumerate(self.judgments.query_ids)}
        values = np.zeros(len(index))
        for metric in evaluator.iter_calc(rankings.to_dict()):
            values[index[metric.query_id]] = metric.value
        return values

    def per_query_of_runs(self, measure: ir_measures.Measure) -> FloatArray:
        """:meth:`per_query` for every run of the context, shape (runs, queries)."""
        return self.cached(
            ("per query", measure),
            lambda: np.array([self.per_query(measure, r) for r in self.context.runs.values()]).reshape(
                len(self.context.runs), self.judgments.n_queries
            ),
        )

    def means(self, measure: ir_measures.Measure) -> dict[str, float]:
        """The mean over queries of an absolute measure, for every run of the context."""
        return dict(zip(self.context.names, self.per_query_of_runs(measure).mean(axis=1).tolist(), strict=True))

    def qrels_dict(self) -> dict[str, dict[str, int]]:
        """The judgments as ir_measures takes them."""
        return self.cached(("qrels",), lambda: _nested(self.judgments))

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

    def same_heads(self, rankings: Rankings, name: str, depth: int | None = _HEAD) -> bool:
        """Whether every judged query that the run holds starts as it does in the member of that name."""
        theirs = self.head_of(name, depth)
        return all(theirs.get(q) == docs for q, docs in self.head(rankings, depth).items())

    def same_rankings(self, rankings: Rankings, name: str) -> bool:
        """Whether the run ranks every judged query that it holds as the member of that name does."""
        return self.same_heads(rankings, name) and self.same_heads(rankings, name, None)


def needs_subtopics(measure: ir_measures.Measure) -> bool:
    """Whether a measure of ir_measures rates diversity, by subtopics that stand in the qrels' iteration column."""
    return bool(ir_measures.providers.registry["pyndeval"].supports(measure))


def _nested(judgments: Judgments) -> dict[str, dict[str, int]]:
    result: dict[str, dict[str, int]] = {q: {} for q in judgments.query_ids}
    hopeless = set(range(judgments.n_queries)) - set(judgments.query[judgments.grade >= 0].tolist())
    for query, doc_id, grade in zip(judgments.query.tolist(), judgments.doc_ids, judgments.grade.tolist(), strict=True):
        # pytrec_eval writes outside its arrays for a query with negative labels only; 0 means the same to it.
        result[judgments.query_ids[query]][doc_id] = max(grade, 0) if query in hopeless else grade
    return result


class Comparison:
    """One run, evaluated relative to a context, on one set of judgments.

    Attributes:
        judged: the context, with what is computed once for it.
        rankings: the evaluated run.
        member: its name in the context; None for a newcomer.
        chosen: the names of its priors, instead of those that the context's policy gives it.
    """

    def __init__(
        self,
        judged: JudgedContext,
        rankings: Rankings,
        member: str | None,
        chosen: Sequence[str] | None = None,
    ) -> None:
        self.judged = judged
        self.chosen = chosen
        self.rankings = rankings
        self.member = member
        self._positions: dict[Hashable, IntArray] = {}

    @property
    def context(self) -> RunContext:
        return self.judged.context

    @property
    def judgments(self) -> Judgments:
        """Every judged document."""
        return self.judged.judgments

    @property
    def relevant(self) -> Judgments:
        """The judged documents with a grade above 0."""
        return self.judged.judgments.relevant

    @property
    def n_queries(self) -> int:
        return self.judged.judgments.n_queries

    def positions(self, docs: Judgments, cutoff: int | None = None, judged_only: bool = False) -> IntArray:
        """Where the evaluated run ranks each of ``docs``: 1-based, 0 where it is not in the top ``cutoff``.

        ``docs`` is :attr:`judgments` or :attr:`relevant`.
        """
        key = (docs is self.judgments, cutoff, judged_only)
        if key not in self._positions:
            self._positions[key] = self.judged.positions_in(self.rankings, docs, cutoff, judged_only)
        return self._positions[key]

    def priors(self, prior: str | None = None) -> list[int]:
        """The priors, as indices into the context's runs; ``prior`` is the measure's parameter."""
        index = {name: i for i, name in enumerate(self.context.names)}
        if self.chosen is not None and prior is None:
            return sorted(index[name] for name in self.chosen)
        names = resolve(self.judged, self.member, prior)
        if not names and self.member is not None and prior is None and self.context.priors == "others":
            warnings.warn(
                f"the context holds no run but {self.member!r}, so it has no prior, and its relative measures are "
                "the absolute ones; add the runs to compare with to the RunContext",
                stacklevel=2,
            )
        return [index[name] for name in names]

    def prior_product(
        self,
        factor: Callable[[IntArray], FloatArray],
        key: Hashable,
        docs: Judgments,
        *,
        prior: str | None,
        cutoff: int | None,
        judged_only: bool,
    ) -> FloatArray:
        """For each of ``docs``, the product over the priors of ``factor`` of its position there.

        The products over the first and over the last runs of the context are computed once, so that leaving one
        run out costs one multiplication, however many runs there are.

        Args:
            factor: from positions (0 for not retrieved) to factors, elementwise.
            key: tells this ``factor`` from others.
        """
        judged = self.judged
        full_key = (key, docs is self.judgments, cutoff, judged_only)
        chosen = self.priors(prior)
        n = len(self.context.names)

        def factors() -> FloatArray:
            return factor(judged.positions(docs, cutoff, judged_only))

        if not chosen:
            return np.ones(len(docs))
        if chosen == list(range(len(chosen))):
            first = judged.cached(("first", full_key), lambda: _running_products(factors()))
            return np.asarray(first[len(chosen)])
        out = [i for i in range(n) if i not in set(chosen)]
        if len(out) == 1:
            first = judged.cached(("first", full_key), lambda: _running_products(factors()))
            last = judged.cached(("last", full_key), lambda: _running_products(factors()[::-1]))
            return np.asarray(first[out[0]] * last[n - 1 - out[0]])
        return np.asarray(judged.cached(("factors", full_key), factors)[chosen].prod(axis=0))

    def retrieving_systems(self, docs: Judgments, cutoff: int | None, judged_only: bool) -> tuple[IntArray, int]:
        """For each of ``docs`` the number of systems that hold it in their top ``cutoff``; and how many systems.

        The systems are all runs of the context, and the evaluated one.
        """
        judged = self.judged
        found: BoolArray = judged.positions(docs, cutoff, judged_only) > 0
        count: IntArray = judged.cached(
            ("retrieving", docs is self.judgments, cutoff, judged_only), lambda: found.sum(axis=0)
        )
        own = self.positions(docs, cutoff, judged_only) > 0
        if self.member is None:
            return count + own, len(self.context.names) + 1
        return count - found[self.context.names.index(self.member)] + own, len(self.context.names)

    def reference(self, ref: str | None = None) -> Rankings:
        """The reference run: ``ref``, else the context's, else the only other run.

        Raises:
            ValueError: none of these says which run it is; lists the runs.
        """
        names = self.context.names
        name = ref if ref is not None else self.context.reference
        if name is None:
            others = [n for n in names if n != self.member]
            if len(others) != 1:
                raise ValueError(
                    f"which run is the reference? The context holds {list(names)}"
                    + (f", and {self.member!r} is evaluated" if self.member else "")
                    + "; say RunContext(…, reference=name), or ref='name' in the measure"
                )
            name = others[0]
        if name not in names:
            raise ValueError(f"ref={name!r} is no run of the context; its runs are {list(names)}")
        return self.context.runs[name]


def _running_products(factors: FloatArray) -> FloatArray:
    """Row i is the product of the first i rows; shape (rows + 1, columns)."""
    ones = np.ones((1, factors.shape[1]))
    return np.concatenate([ones, np.cumprod(factors, axis=0)])


