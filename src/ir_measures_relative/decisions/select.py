"""Sets of the runs of a context: which complement each other, and what a run adds to them as more are deployed."""

from __future__ import annotations

import heapq
import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, singledispatch
from typing import Any, TypeVar

import ir_measures
import numpy as np
import pandas as pd
from ir_measures import Measure
from tqdm import tqdm

from ..arguments import check_choice, check_confidence, check_count
from ..context.evaluate import check_runs
from ..context.priors import matching
from ..context.run_context import RunContext
from ..context.view import View, check_is_context, view_of
from ..data.arrays import FloatArray, IntArray, max_by_query, ratio
from ..further_measures.alpha_nrg import _NewAspects, best_shown
from ..io.qrels import Qrels
from ..measures.measure import RelativeMeasure
from ..measures.nrg import _NRG, _TaSC, _UniqueRel
from ..messages import few_quoted, warn
from ..stats.intervals import crossed_interval
from ..tolerances import ROUNDED
from ..work import Work
from .explain import relative_measure

T = TypeVar("T")


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


def select_complementary(
    context: RunContext,
    qrels: Qrels | None,
    n: int,
    measure: ir_measures.Measure | str = "NRG(norm='ideal')@10",
    method: str = "greedy",
    time_limit: float | None = None,
) -> pd.DataFrame:
    """Choose complementary runs of a context, for pooling, or for users who read several lists.

    Do not use them to choose what to fuse: a fused list has only k ranks (:func:`fuse`). ``"greedy"`` takes the best
    run, then again and again the best given those chosen. ``"exact"`` takes the group with the highest value
    (``cumulative``), by branch and bound.

    The value of a group is the gain of a user who reads it all: ``(1/N) · Σ_d G(d) · (1 - Π_j (1 - seen(pos_j(d))))``
    for NRG, N from the gains before any prior; with base RR the largest term; the distinct relevant documents or
    aspects in the top k for UniqueRel and NewAspects; for TaSC the best run of each query. It may exceed 1. Greedy
    selection reaches at least 1 - 1/e of the best group's with ``NRG(norm='ideal')``, bases P and RBP, UniqueRel and
    NewAspects, where the marginals sum to it; there is no such promise for ``NRG@10`` itself.

    Args:
        n: the number of runs to choose.
        measure: NRG, UniqueRel, NewAspects, alpha_NRG or TaSC, without ``prior=``; the context's priors are ignored.
        time_limit: seconds after which ``"exact"`` returns the best group so far, with a warning.

    Returns:
        a DataFrame with one row per chosen run: ``name``; ``marginal``: the mean of the measure given those before;
        ``cumulative``: the value of the runs so far, NaN with base ERR and alpha_NRG; ``bound``: no group of as many
        runs has a higher value, NaN where it is unknown and with base RR.

    Raises:
        ValueError: n out of range, a measure without priors, or ``"exact"`` with base RR or ERR.
    """
    check_is_context(context)
    parsed = measure_with_free_priors(measure)
    names = context.names
    if isinstance(n, bool) or not isinstance(n, (int, np.integer)) or not 1 <= n <= len(names):
        raise ValueError(f"n={n!r} is not allowed; of these runs, give a number from 1 to {len(names)}")
    check_choice("method", method, ("greedy", "exact"))
    work = Work(time_limit=time_limit)
    view = view_of(context, qrels)
    check_runs(view)
    coverage = coverage_function(parsed, view)
    if method == "greedy":
        chosen, marginal = _greedy(view, parsed, n, range(len(names)))
        bound = None
    else:
        if coverage is None or coverage.query is not None:
            raise ValueError(f"measure={parsed!r}: method='exact' needs a measure that sums, such as NRG@10")
        group, value, bound = best_group(coverage, int(n), work)
        if bound > value:
            warn(f"method='exact' stopped after time_limit={time_limit:g}: {value:.6g}, at most {bound:.6g}")
        chosen, marginal = _greedy(view, parsed, n, group)
    columns = {"name": [names[i] for i in chosen], "marginal": marginal}
    return pd.DataFrame(columns | _values(coverage, chosen, bound))


def measure_with_free_priors(measure: ir_measures.Measure | str) -> RelativeMeasure:
    """The measure; ValueError for one that is not relative to priors, or that names them."""
    parsed = relative_measure(measure)
    if parsed.RELATIVE_TO != "priors" or parsed.get("prior") is not None:
        raise ValueError(f"measure={parsed!r}: give one whose priors are free, such as NRG@10")
    return parsed


def _greedy(
    view: View, measure: RelativeMeasure, n: int, among: Sequence[int]
) -> tuple[list[int], list[float]]:
    """The runs in the order in which each adds most by the measure, and what it adds."""
    names = view.names
    chosen: list[int] = []
    marginal: list[float] = []
    for _ in range(n):
        priors = tuple(names[i] for i in chosen)
        means = {i: float(measure.score(view.of(names[i], priors)).mean()) for i in among if i not in chosen}
        best = max(means, key=means.__getitem__)
        chosen.append(best)
        marginal.append(means[best])
    return chosen, marginal


def _values(
    coverage: CoverageFunction | None, chosen: Sequence[int], last: float | None
) -> dict[str, FloatArray]:
    """The value of the first 1, 2, … runs, and bounds of the value of any as many; the last bound, where known."""
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
    if last is not None:
        bound[-1] = last
    return {"cumulative": value[1:], "bound": np.maximum(bound, value[1:])}


def best_group(coverage: CoverageFunction, n: int, work: Work) -> tuple[list[int], float, float]:
    """The group of n runs with the highest value, that value, and a bound of any, by best-first branch and bound.

    A node is a group T and the runs that may still join it; its bound is v(T) plus the largest gains over T.
    """
    used = np.flatnonzero((coverage.weight > 0) & (coverage.seen > 0).any(axis=0))
    coverage = CoverageFunction(coverage.seen[:, used], coverage.weight[used], coverage.best)
    start = _greedy_group(coverage, n)
    best, value = start, coverage.value(coverage.covered(start))
    count = itertools.count()
    heap: list[tuple[float, int, tuple[int, ...], tuple[int, ...]]] = []
    alone = np.sort(coverage.gains(coverage.covered(())))
    heapq.heappush(heap, (-float(alone[-n:].sum()), next(count), (), tuple(range(len(coverage.seen)))))
    with tqdm(desc="searching groups", unit="group", disable=None, leave=False, delay=1.0) as bar:
        while heap:
            bound, _, group, left = heapq.heappop(heap)
            if -bound <= value + ROUNDED * abs(value):
                break
            if work.expired():
                return sorted(best), value, -bound
            bar.update()
            for bound, child, rest in _children(coverage, group, left, n):
                if bound <= value + ROUNDED * abs(value):
                    continue
                if len(child) == n:
                    best, value = child, bound
                else:
                    heapq.heappush(heap, (-bound, next(count), child, rest))
    return sorted(best), value, value


def _children(
    coverage: CoverageFunction, group: tuple[int, ...], left: tuple[int, ...], n: int
) -> Iterator[tuple[float, tuple[int, ...], tuple[int, ...]]]:
    """The groups of one run more, each with its bound, and the runs that may still join: those that add less."""
    covered = coverage.covered(group)
    gains = coverage.gains(covered)[list(left)]
    order = np.argsort(-gains, kind="stable")
    ordered = [left[i] for i in order]
    lacking = n - len(group)
    sums = np.concatenate([[0.0], np.cumsum(gains[order])])
    value = coverage.value(covered)
    for i in range(len(ordered) - lacking + 1):
        bound = value + float(sums[i + lacking] - sums[i])
        yield bound, (*group, ordered[i]), tuple(ordered[i + 1 :])


def _greedy_group(coverage: CoverageFunction, n: int) -> tuple[int, ...]:
    group: list[int] = []
    for _ in range(n):
        gains = coverage.gains(coverage.covered(group))
        gains[group] = -1.0
        group.append(int(gains.argmax()))
    return tuple(group)


# ---- what a run adds as more is deployed


def added_value_curve(
    context: RunContext,
    qrels: Qrels | None,
    measure: ir_measures.Measure | str = "NRG(norm='ideal')@10",
    over: str | Sequence[str] | Mapping[str, Sequence[str]] = "size",
    names: Sequence[str] | None = None,
    confidence: float = 0.95,
    *,
    samples: int = 100,
    seed: int = 0,
) -> pd.DataFrame:
    """What runs add to different sets of priors, taken from the other runs of a context.

    Args:
        measure: NRG, UniqueRel, NewAspects, alpha_NRG or TaSC, without ``prior=``; the context's priors are ignored.
        over: ``"size"``: a row per number of priors, the mean over all sets of that size, or over ``samples`` random
            ones; or families: a list of names or globs such as ``["bm25*", "neural*"]``, or a dict from a label to
            these.
        names: the runs that are scored; default: all.

    Returns:
        a DataFrame with one row per run and set, or size, of priors: ``name``; ``priors``: the set, the label of the
        family, or nothing for a size; ``size``; ``mean`` over topics, with ``ci_lower`` and ``ci_upper``: Student's
        interval over topics, or over topics and random sets (NaN for ``samples=1``); ``topics``.

    Raises:
        ValueError: a measure without priors, or an unknown run.
    """
    check_is_context(context)
    parsed = measure_with_free_priors(measure)
    check_confidence(confidence)
    check_count("samples", samples, 1)
    check_count("seed", seed, 0)
    if over != "size" and (not isinstance(over, (Sequence, Mapping)) or isinstance(over, str) or not over):
        raise ValueError(f"over={over!r} is not allowed; give 'size', or a list of globs such as ['bm25*']")
    chosen = context.names if names is None else list(names)
    if isinstance(names, str) or not chosen or any(name not in context.runs for name in chosen):
        raise ValueError(f"names={names!r}: give a list of the context's runs {few_quoted(context.names)}")
    view = view_of(context, qrels)
    check_runs(view)
    rows = []
    todo = [(name, *one) for name in chosen for one in _sets(context.names, name, over, samples, seed)]
    for name, label, size, sets in tqdm(todo, desc="sweeping priors", unit="set", disable=None, leave=False):
        of_sets = np.array([parsed.score(view.of(name, priors)) for priors in sets])
        there_are = math.comb(len(context.names) - 1, size) if over == "size" else len(sets)
        ends = np.clip(crossed_interval(of_sets, there_are, confidence), *parsed.value_range)
        rows.append(
            (name, label, size, float(of_sets.mean(axis=0).mean()), *map(float, ends), view.n_queries)
        )
    columns = ["name", "priors", "size", "mean", "ci_lower", "ci_upper", "topics"]
    return pd.DataFrame(rows, columns=columns)


def _sets(
    names: Sequence[str], name: str, over: Any, samples: int, seed: int
) -> Iterator[tuple[Any, int, list[tuple[str, ...]]]]:
    """The label, the size, and the sets of priors of each row of a run."""
    others = [n for n in names if n != name]
    if over == "size":
        for size in range(len(others) + 1):
            yield None, size, of_size(others, size, samples, seed)
        return
    for label, globs in (over if isinstance(over, Mapping) else {glob: [glob] for glob in over}).items():
        if isinstance(globs, str):
            raise ValueError(
                f"over[{label!r}]={globs!r} must be a list of names or globs, such as [{globs!r}]"
            )
        family = {n for glob in globs for n in matching(glob, names, "over")}
        priors = tuple(n for n in others if n in family)
        yield label, len(priors), [priors]


def of_size(others: Sequence[T], size: int, samples: int, seed: int) -> list[tuple[T, ...]]:
    """All sets of a size, or as many of them as asked for."""
    if math.comb(len(others), size) <= samples:
        return list(itertools.combinations(others, size))
    return [tuple(map(others.__getitem__, one)) for one in _drawn(len(others), size, samples, seed)]


@lru_cache(maxsize=128)
def _drawn(n: int, size: int, samples: int, seed: int) -> list[tuple[int, ...]]:
    """So many sets of ``size`` of the first ``n`` whole numbers: the same for every run of a sweep."""
    rng = np.random.default_rng([seed, size])
    found: set[tuple[int, ...]] = set()
    while len(found) < samples:
        found.add(tuple(sorted(rng.choice(n, size, replace=False).tolist())))
    return sorted(found)
