"""Runs of a context that complement each other."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import ir_measures
import numpy as np
import pandas as pd

from ..context.checks import check_runs
from ..context.collection import Collection, judged_collection
from ..context.evaluated import Evaluated
from ..context.missing_topics import check_topics, tell_of_missing_topics
from ..context.run_context import RunContext, check_is_context
from ..data.arrays import FloatArray, IntArray, max_by_query, ratio
from ..io.qrels import Qrels
from ..measures.measure import RelativeMeasure
from .explain import relative_measure


@dataclass(frozen=True)
class CoverageFunction:
    """The value v(S) of a group S of runs: how far they cover a number of items, each with its weight.

    Monotone, and submodular unless ``query`` is given, so ``v(T)`` plus the largest n gains over T is a bound for every
    group of n (Nemhauser, Wolsey and Fisher, Mathematical Programming, 1978).
    """

    seen: FloatArray  #: how far each run covers each item, in [0, 1], shape (runs, items)
    weight: FloatArray  #: what each item is worth, at least 0
    #: A group covers an item as far as the best of its runs; else what one run leaves open the next may cover.
    best: bool = False
    #: The query of each item, ascending, where a query is worth its largest item and not the sum of all.
    query: IntArray | None = None

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


def coverage_function(measure: RelativeMeasure, view: Collection) -> CoverageFunction | None:
    """What groups of the context's runs are worth by a measure; None where it does not say.

    ``(1/N) Σ_d G(d) · (1 - Π_j (1 - seen(pos_j(d))))`` by the form of a measure, N from the gains before any prior. Not
    of a cascade, where what one document gives depends on the others.
    """
    n_queries = max(view.documents.n_queries, 1)
    if not measure.has_form:
        covered = measure.covered_by_runs(view)
        return None if covered is None else CoverageFunction(covered[0], covered[1] / n_queries, best=True)
    forms = [measure.form(Evaluated.of(view, name, priors=())) for name in view.names]
    form, seen = forms[0], np.array([form.seen for form in forms])
    if form.rule.combine == "cascade":
        return None
    weight = form.gain / n_queries
    if form.rule.combine == "largest":
        return CoverageFunction(seen, weight, query=form.items.query)
    return CoverageFunction(seen, ratio(weight, form.over(form.gain)[form.items.query]))


def select_complementary(
    context: RunContext,
    qrels: Qrels | None,
    n: int,
    measure: ir_measures.Measure | str = "NRG(norm='ideal')@10",
    *,
    missing: str | None = None,
) -> pd.DataFrame:
    """Choose complementary runs of a context, for pooling, or for users who read several lists.

    Do not use them to choose what to fuse: a fused list has only k ranks (:func:`fuse`). The choice is greedy: it takes
    the best run, then again and again the best given those chosen.

    The value of a group is the gain of a user who reads it all: ``(1/N) · Σ_d G(d) · (1 - Π_j (1 - seen(pos_j(d))))``
    for NRG, N from the gains before any prior; with base RR the largest term; the distinct relevant documents or
    aspects in the top k for UniqueRel and NewAspects; for TaSC the best run of each query. It may exceed 1. Greedy
    selection reaches at least 1 - 1/e of the best group's with ``NRG(norm='ideal')``, bases P and RBP, UniqueRel and
    NewAspects, where the marginals sum to it; there is no such promise for ``NRG@10`` itself.

    Args:
        n: the number of runs to choose.
        measure: NRG, UniqueRel, NewAspects, alpha_NRG or TaSC, without ``prior=``; the context's priors are ignored.
        missing: what to do with topics that a run has no ranking for, as for :func:`decide`.

    Returns:
        a DataFrame with one row per chosen run: ``name``; ``marginal``: the mean of the measure given those before;
        ``cumulative``: the value of the runs so far, NaN with base ERR and alpha_NRG; ``bound``: no group of as many
        runs has a higher value, NaN where it is unknown and with base RR.

    Raises:
        ValueError: n out of range, a measure without priors, or a run that misses too many topics.
    """
    check_is_context(context)
    parsed = relative_measure(measure)
    if parsed.RELATIVE_TO != "priors" or parsed.get("prior") is not None:
        raise ValueError(f"measure={parsed!r}: give one whose priors are free, such as NRG@10")
    names = context.names
    if isinstance(n, bool) or not isinstance(n, (int, np.integer)) or not 1 <= n <= len(names):
        raise ValueError(f"n={n!r} is not allowed; of these runs, give a number from 1 to {len(names)}")
    view = judged_collection(context, qrels)
    check_runs(view, [parsed], missing_topics=False)
    view, note = check_topics(view, names, missing)
    chosen, marginal = _greedy(view, parsed, n)
    columns = {"name": [names[i] for i in chosen], "marginal": marginal}
    table = pd.DataFrame(columns | _values(coverage_function(parsed, view), chosen))
    table.attrs["measure"] = str(parsed)
    return tell_of_missing_topics(table, note, missing, context)


def _greedy(view: Collection, measure: RelativeMeasure, n: int) -> tuple[list[int], list[float]]:
    """The runs in the order in which each adds most by the measure, and what it adds."""
    names = view.names
    chosen: list[int] = []
    marginal: list[float] = []
    for _ in range(n):
        priors = tuple(names[i] for i in chosen)
        left = [i for i in range(len(names)) if i not in chosen]
        means = {i: float(measure.score(Evaluated.of(view, names[i], priors)).mean()) for i in left}
        best = max(means, key=means.__getitem__)
        chosen.append(best)
        marginal.append(means[best])
    return chosen, marginal


def _values(coverage: CoverageFunction | None, chosen: Sequence[int]) -> dict[str, FloatArray]:
    """The value of the first 1, 2, … runs, and bounds of the value of any as many."""
    n = len(chosen)
    value, bound = np.full(n + 1, np.nan), np.full(n, np.nan)
    if coverage is None:
        return {"cumulative": value[1:], "bound": bound}
    if coverage.query is None:
        bound[:] = np.inf
    covered = coverage.covered([])
    for i in range(n + 1):
        value[i] = coverage.value(covered)
        if coverage.query is None:
            bound = np.minimum(bound, value[i] + np.cumsum(-np.sort(-coverage.gains(covered))[:n]))
        if i < n:
            covered = coverage.joined(covered, chosen[i])
    return {"cumulative": value[1:], "bound": np.maximum(bound, value[1:])}
