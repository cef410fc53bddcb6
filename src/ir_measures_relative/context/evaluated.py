"""One evaluated run in a collection, with its positions, and its priors or reference: the input of every measure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol

import ir_measures
import numpy as np

from ..arguments import match_patterns
from ..data.arrays import FloatArray, IntArray
from ..data.documents import Documents
from ..data.rankings import Rankings
from ..messages import few_quoted
from .collection import Collection
from .memo import Memo
from .priors import finder_for_new_runs
from .tops import Look, Top


class HasGains(Protocol):
    """The part of :class:`.Gain` that an evaluated run needs."""

    @property
    def pays_below_1(self) -> bool:
        """Whether a grade below 1 may gain."""


@dataclass(frozen=True, eq=False)
class Evaluated:
    """One run against its priors, all systems or a reference, in a collection; immutable."""

    collection: Collection
    run: Rankings
    name: str | None  #: the name of the run of the context that it is or replaces; None for a new run
    index: int | None  #: the index of the run called ``name``; None for a new run
    given_priors: tuple[str, ...] | None  #: the names of its priors, if not the policy's
    group: str | None  #: the group of a new run, for a policy that uses groups; None if not given
    memo: Memo  #: for results on this run; see :meth:`Collection.memo_for`

    @classmethod
    def of(
        cls,
        collection: Collection,
        run: str | Rankings,
        priors: Iterable[str] | None = None,
        *,
        group: str | None = None,
        name: str | None = None,
    ) -> Evaluated:
        """Return a run of the collection by its name, or a new run by its rankings, as an evaluated run.

        ``name`` is that of the run of the context that new rankings replace, if any.
        """
        name = run if isinstance(run, str) else name
        rankings = collection.runs[run] if isinstance(run, str) else run
        index = None if name is None else collection.index[name]
        given = None if priors is None else tuple(priors)
        return cls(collection, rankings, name, index, given, group, collection.memo_for(rankings))

    @classmethod
    def each(cls, collection: Collection) -> list[Evaluated]:
        """Return all runs of the collection, in their order, as evaluated runs."""
        return [cls.of(collection, name) for name in collection.runs]

    def on(self, collection: Collection) -> Evaluated:
        """Return the same run in another collection of the same context."""
        is_new = self.memo is not self.collection.memo
        memo = Memo(parent=self.memo) if is_new else collection.memo
        return replace(self, collection=collection, memo=memo)

    def documents_for(self, gain: HasGains) -> Documents:
        """Return the documents that may gain: unjudged ones and those of a grade above 0, or all."""
        docs = self.collection.documents
        return docs if gain.pays_below_1 else docs.may_gain

    def positions(self, docs: Documents, look: Look) -> IntArray:
        """Return the position of each of ``docs`` in the run, from 1; 0 where it is not in the top."""
        return self.collection.positions_in_run(self.run, docs, look, self.memo)

    def top(self, depth: int | None) -> Top:
        """Return the first documents of the run, judged or not."""
        return self.collection.top(self.run, depth, self.memo)

    def absolute(self, measure: ir_measures.Measure) -> FloatArray:
        """Return an absolute measure of the run, by ir_measures; one value a query."""
        return self.collection.absolute_values(measure, self.run, self.memo)

    # ---- relative to the other runs

    def priors(self, prior: str | None = None) -> IntArray:
        """Return the priors as ascending indices of the runs; ``prior`` is the measure's parameter."""
        return self._priors if prior is None else self._indices(match_patterns(prior, self.collection.names))

    @cached_property
    def _priors(self) -> IntArray:
        collection, policy = self.collection, self.collection.policy
        if self.given_priors is not None:
            return self._indices(self.given_priors)
        if self.name is None and self.group is not None:
            find_priors = finder_for_new_runs(policy)
            if find_priors is not None:
                return self._indices(list(find_priors(collection, self.group)))
        return self._indices(list(policy.priors_of(collection, self.name)))

    def _indices(self, chosen: Sequence[str]) -> IntArray:
        names, index = self.collection.names, self.collection.index
        if list(chosen) == names[: len(chosen)]:  # the usual case, without a lookup
            rows = np.arange(len(chosen))
        else:  # a policy may name runs that are not in this collection
            rows = np.array(sorted({index[n] for n in chosen if n in index}), dtype=np.int64)
        return rows if self.index is None else rows[rows != self.index]

    def left_by_priors(
        self,
        factor: Callable[[IntArray], FloatArray],
        docs: Documents,
        look: Look,
        prior: str | None = None,
    ) -> FloatArray:
        """Return the share of each of ``docs`` that the priors leave; ``factor`` as for :meth:`Collection.product`."""
        return self.collection.product(factor, docs, look, self.priors(prior))

    def reference(self, ref: str | None = None) -> Rankings:
        """Return the reference run: ``ref``, else the context's, else the only other run."""
        names, name = self.collection.names, self.collection.reference if ref is None else ref
        if name is None:
            if not names:
                raise ValueError("which run is the reference? set RunContext({…}, reference='BM25')")
            others = [other for other in names if other != self.name]
            if len(others) != 1:
                evaluated = f", and {self.name!r} is evaluated" if self.name else ""
                raise ValueError(
                    f"which run is the reference? The context holds {few_quoted(names)}{evaluated}; set "
                    "reference=name, in RunContext or pt.relative.Experiment, or ref='name' in the measure"
                )
            name = others[0]
        if name not in self.collection.runs:
            raise ValueError(f"ref={name!r} is not a run of the context; its runs are {few_quoted(names)}")
        return self.collection.runs[name]
