"""Runs of a context that complement each other."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import ir_measures
import numpy as np
import pandas as pd

from ..context.checks import check_runs
from ..context.collection import Collection, judged_collection
from ..context.evaluated import Evaluated
from ..context.missing_topics import check_topics, note_missing_topics
from ..context.run_context import RunContext, check_is_context
from ..data.arrays import FloatArray, IntArray, max_by_query, ratio
from ..io.qrels import Qrels
from ..measures.measure import RelativeMeasure
from .explain import check_relative


@dataclass(frozen=True)
class CoverageFunction:
    """The value v(S) of a group S of runs: the weighted sum of how far the group covers each item.

    Monotone, and submodular unless ``query`` is given, so ``v(T)`` plus the largest n gains over T is a bound for every
    group of n (Nemhauser, Wolsey and Fisher, Mathematical Programming, 1978).
    """

    seen: FloatArray  #: how far each run covers each item, in [0, 1], shape (runs, items)
    weight: FloatArray  #: of each item, at least 0
    #: A group covers an item as far as the best of its runs; else each run covers its share of the rest.
    best: bool = False
    #: The query of each item, ascending, where a query is worth its largest item and not the sum of all.
    query: IntArray | None = None

    def extend(self, covered: FloatArray, run: int) -> FloatArray:
        """Return how far a group covers each item with one more run."""
        seen: FloatArray = self.seen[run]
        if self.best:
            return np.maximum(covered, seen)
        return 1.0 - (1.0 - covered) * (1.0 - seen)

    def value(self, covered: FloatArray) -> float:
        """Return the value of a group."""
        if self.query is None:
            return float(self.weight @ covered)
        n_queries = int(self.query.max(initial=-1)) + 1
        return float(max_by_query(self.weight * covered, self.query, n_queries).sum())

    def gains(self, covered: FloatArray) -> FloatArray:
        """Return the gain in value that each run would bring to a group."""
        if self.best:
            return np.maximum(self.seen - covered, 0.0) @ self.weight
        return self.seen @ (self.weight * (1.0 - covered))


def coverage_function(measure: RelativeMeasure, view: Collection) -> CoverageFunction | None:
    """Return the value of groups of runs by a measure; None for one that defines none.

    By the form of a measure it is ``(1/N) Σ_d G(d) · (1 - Π_j (1 - seen(pos_j(d))))``, with N from the gains before any
    prior. A cascade has none, since the gain of a document depends on the others there.
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
        context: the runs.
        qrels: the judgments.
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
    parsed = check_relative(measure)
    if parsed.RELATIVE_TO != "priors" or parsed.get("prior") is not None:
        raise ValueError(f"measure={parsed!r}: give one whose priors are free, such as NRG@10")
    names = context.names
    if isinstance(n, bool) or not isinstance(n, (int, np.integer)) or not 1 <= n <= len(names):
        raise ValueError(f"n={n!r} is not allowed; of these runs, give a number from 1 to {len(names)}")
    view = judged_collection(context, qrels)
    check_runs(view, [parsed], missing_topics=False)
    view, note = check_topics(view, names, missing)
    chosen, marginals = _choose_greedily(view, parsed, n)
    cumulative, bound = _bound_values(coverage_function(parsed, view), chosen)
    columns = {"marginal": marginals, "cumulative": cumulative, "bound": bound}
    table = pd.DataFrame({"name": [names[i] for i in chosen], **columns})
    table.attrs["measure"] = str(parsed)
    return note_missing_topics(table, note, missing, context)


def _choose_greedily(view: Collection, measure: RelativeMeasure, n: int) -> tuple[list[int], list[float]]:
    """Return the runs in the order in which each adds most by the measure, and what it adds."""
    chosen: list[int] = []
    marginals: list[float] = []
    for _ in range(n):
        priors = tuple(view.names[i] for i in chosen)
        means = {
            i: float(measure.score(Evaluated.of(view, name, priors)).mean())
            for i, name in enumerate(view.names)
            if i not in chosen
        }
        chosen.append(max(means, key=means.__getitem__))
        marginals.append(means[chosen[-1]])
    return chosen, marginals


def _bound_values(coverage: CoverageFunction | None, chosen: Sequence[int]) -> tuple[FloatArray, FloatArray]:
    """Return the value of the first 1, 2, … runs, and the bound of the value of any group of as many."""
    n = len(chosen)
    values, bound = np.full(n, np.nan), np.full(n, np.nan)
    if coverage is None:
        return values, bound
    groups = list(itertools.accumulate(chosen, coverage.extend, initial=np.zeros(len(coverage.weight))))
    values[:] = [coverage.value(group) for group in groups[1:]]
    if coverage.query is None:
        largest_gains = (np.cumsum(-np.sort(-coverage.gains(group))[:n]) for group in groups)
        bound = np.min(
            [coverage.value(g) + gains for g, gains in zip(groups, largest_gains, strict=True)], axis=0
        )
    return values, np.maximum(bound, values)
