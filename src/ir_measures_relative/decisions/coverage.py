"""The worth of a group of runs, by the measures of what a run adds to its priors: what to select runs by."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import singledispatch

import numpy as np
from ir_measures import Measure

from ..context.view import View
from ..data.arrays import FloatArray, IntArray, max_by_query, ratio
from ..further_measures.alpha_nrg import _NewAspects, best_shown
from ..measures.nrg import _NRG, _TaSC, _UniqueRel


@dataclass(frozen=True)
class CoverageFunction:
    """The value v(S) of a group S of runs: how far they cover a number of items, each with its weight.

    Monotone, and submodular unless ``query`` is given: what a run adds to a group is never more than what it adds to
    a part of it. So greedy selection reaches at least 1 - 1/e of the best group of its size, and ``v(T)`` plus the
    largest n gains over T is a bound for every group of n (Nemhauser, Wolsey and Fisher, "An Analysis of
    Approximations for Maximizing Submodular Set Functions", Mathematical Programming, 1978).
    """

    seen: FloatArray  #: how far each run covers each item, in [0, 1], shape (runs, items)
    weight: FloatArray  #: what each item is worth, at least 0
    #: A group covers an item as far as the best of its runs; else what one run leaves open the next may cover.
    best: bool = False
    #: The query of each item, ascending, where a query is worth its largest item and not the sum of all.
    query: IntArray | None = None

    @property
    def submodular(self) -> bool:
        """Whether the bounds hold."""
        return self.query is None

    def covered(self, runs: Iterable[int]) -> FloatArray:
        """How far a group covers each item."""
        covered: FloatArray = np.zeros(len(self.weight))
        for run in runs:
            covered = self.joined(covered, run)
        return covered

    def joined(self, covered: FloatArray, run: int) -> FloatArray:
        """How far a group and one run more cover each item."""
        seen: FloatArray = self.seen[run]
        if self.best:
            return np.maximum(covered, seen)
        return 1.0 - (1.0 - covered) * (1.0 - seen)

    def value(self, covered: FloatArray) -> float:
        """v of a group."""
        if self.query is None:
            return float(self.weight @ covered)
        n_queries = int(self.query.max(initial=-1)) + 1
        return float(max_by_query(self.weight * covered, self.query, n_queries).sum())

    def gains(self, covered: FloatArray) -> FloatArray:
        """What each run would add to the value of a group."""
        if self.query is not None:
            now = self.value(covered)
            return np.array([self.value(self.joined(covered, run)) - now for run in range(len(self.seen))])
        if self.best:
            return np.maximum(self.seen - covered, 0.0) @ self.weight
        gains: FloatArray = self.seen @ (self.weight * (1.0 - covered))
        return gains


@singledispatch
def coverage_function(measure: Measure, view: View) -> CoverageFunction | None:
    """What groups of the context's runs are worth by a measure; None where it does not say."""
    return None


@coverage_function.register(_NRG)
def _by_nrg(measure: _NRG, view: View) -> CoverageFunction | None:
    """``(1/N) Σ_d G(d) · (1 - Π_j (1 - seen(pos_j(d))))``, N from the gains before any prior; 1 with norm=None.

    None for a cascade, where what one document gives depends on the others.
    """
    base, browsing = measure.base, measure.browsing
    if base.residual == "cascade":
        return None
    docs, gain = base.gains(view.documents, measure)
    seen = browsing.seen(view.at(measure.get("cutoff"), measure.get("judged_only")).positions_of_runs(docs))
    weight = gain / max(docs.n_queries, 1)
    if base.residual == "largest":
        return CoverageFunction(seen, weight, query=docs.query)
    if measure.get("norm") is not None:
        norm = base.norm(docs, gain, measure.depth_of_ideal, browsing)
        weight = ratio(weight, norm[docs.query])
    return CoverageFunction(seen, weight)


@coverage_function.register(_UniqueRel)
def _by_unique_rel(measure: _UniqueRel, view: View) -> CoverageFunction:
    """The number of distinct relevant documents in the top k of a group."""
    docs = view.relevant
    found = view.at(measure.get("cutoff"), measure.get("judged_only")).positions_of_runs(docs) > 0
    weight = (docs.grade >= measure.get("rel")) / max(docs.n_queries, 1)
    return CoverageFunction(found.astype(np.float64), weight)


@coverage_function.register(_TaSC)
def _by_tasc(measure: _TaSC, view: View) -> CoverageFunction:
    """On each query, the best value of the base measure that a run of the group has."""
    values = measure.checked(view.absolute_of_runs(measure.base_measure()))
    n_queries = values.shape[1]
    return CoverageFunction(values, np.full(n_queries, 1.0 / max(n_queries, 1)), best=True)


@coverage_function.register(_NewAspects)
def _by_new_aspects(measure: _NewAspects, view: View) -> CoverageFunction:
    """The number of distinct aspects in the top of a group, or the sum of the best gains."""
    answers = measure.answers(view)
    most = best_shown(answers, np.ones(len(answers.docs), dtype=np.int64))
    seen = ratio(measure.shown_by_runs(view, answers), most)
    return CoverageFunction(seen, most / max(answers.docs.n_queries, 1), best=True)
