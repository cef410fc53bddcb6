"""What a run adds as more is deployed: beside sets of other runs of every size."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, TypeVar

import ir_measures
import numpy as np
import pandas as pd
from tqdm import tqdm

from ..arguments import check_confidence, check_count
from ..context.evaluate import check_runs
from ..context.priors import matching
from ..context.run_context import RunContext
from ..context.view import check_is_context, view_of
from ..io.qrels import Qrels
from ..messages import few_quoted, warn
from ..stats.intervals import crossed_interval
from ..work import Work
from .select import measure_with_free_priors

T = TypeVar("T")

# The largest number of other runs of which every subset is looked at.
_MOST_SUBSETS_OF = 12


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
    time_limit: float | None = None,
) -> pd.DataFrame:
    """What runs add to different sets of priors, taken from the other runs of a context.

    Args:
        context: the runs; its own policy of priors does not count here.
        qrels: the judgments, as for :meth:`RunContext.evaluate`.
        measure: a measure with priors: NRG, UniqueRel, NewAspects, alpha_NRG or TaSC, without ``prior=``.
        over: ``"size"``: sets of 0, 1, 2, … of the other runs, a row a size, which is the mean over all sets of that
            size, or over ``samples`` of them, drawn at random; ``"subset"``: every set, for up to 12 others; or
            families: a list of names or globs such as ``["bm25*", "neural*"]``, or a dict from a label to names.
        names: the runs that are scored; all if not given. A run is never its own prior.
        confidence: of the interval.
        samples: how many sets of a size.
        seed: of their choice, which is the same for runs with the same others.
        time_limit: how many seconds the call may take; None for no limit. What is not finished then is NaN, and a
            warning says how much.

    Returns:
        a DataFrame with one row a run and set, or size, of priors, and the columns

        - ``name``
        - ``priors``: the names of the set, the label of the family, or nothing for a size
        - ``size``: how many priors
        - ``mean``: over topics
        - ``ci_lower``, ``ci_upper``: its Student's interval, over topics; where the sets are drawn at random, over
          topics and sets (NaN for ``samples=1``)
        - ``topics``: how many topics

        :func:`ir_measures_relative.plots.sweep` draws it.

    Raises:
        ValueError: a measure without priors, names that the context does not hold, families that fit no run, or
            every subset of too many runs.

    Example:
        >>> from ir_measures_relative import RunContext, UniqueRel
        >>> from ir_measures_relative.decisions import added_value_curve
        >>> runs = {"a": {"q": {"A": 2, "B": 1}}, "b": {"q": {"B": 2, "A": 1}}, "c": {"q": {"C": 2, "B": 1}}}
        >>> qrels = {"q": {"A": 1, "B": 1, "C": 1}}
        >>> added_value_curve(RunContext(runs), qrels, UniqueRel @ 2, names=["c"])[["name", "size", "mean"]]
          name  size  mean
        0    c     0   2.0
        1    c     1   1.0
        2    c     2   1.0
    """
    check_is_context(context)
    parsed = measure_with_free_priors(measure)
    check_confidence(confidence)
    check_count("samples", samples, 1)
    check_count("seed", seed, 0)
    if names is not None and not len(names):
        raise ValueError("names is empty; give the names of some runs, or leave it out for all")
    if not isinstance(over, str) and not len(over):
        raise ValueError("over is empty; give families of priors, 'size' or 'subset'")
    chosen = context.names if names is None else list(names)
    unknown = [n for n in chosen if n not in context.runs]
    if isinstance(names, str) or unknown:
        wrong = repr(names) if isinstance(names, str) else str(unknown)
        raise ValueError(
            f"names={wrong}: give a list of runs of the context, which are {few_quoted(context.names)}"
        )
    work = Work(time_limit=time_limit)
    view = view_of(context, qrels)
    check_runs(view)
    rows: list[dict[str, Any]] = []
    todo = [(name, *one) for name in chosen for one in _sets(context.names, name, over, samples, seed)]
    for name, label, size, sets in tqdm(todo, desc="sweeping priors", unit="set", disable=None, leave=False):
        row = {"name": name, "priors": label, "size": size} | dict.fromkeys(
            ("mean", "ci_lower", "ci_upper"), math.nan
        )
        rows.append(row | {"topics": view.n_queries})
        if work.expired():
            continue
        of_sets = np.array([parsed.score(view.of(name, priors)) for priors in sets])
        values = of_sets.mean(axis=0)
        there_are = math.comb(len(context.names) - 1, size) if over == "size" else len(sets)
        ends = crossed_interval(of_sets, there_are, confidence)
        lower, upper = (float(end) for end in np.clip(ends, *parsed.value_range))
        rows[-1] |= {"mean": float(values.mean()), "ci_lower": lower, "ci_upper": upper}
    table = pd.DataFrame(rows)
    if open_rows := int(table["mean"].isna().sum()):
        warn(
            f"added_value_curve: {open_rows} of {len(table)} rows were not reached within "
            f"time_limit={time_limit}, and are NaN: give more time, fewer samples= or fewer names="
        )
    return table


def _sets(
    names: Sequence[str],
    name: str,
    over: str | Sequence[str] | Mapping[str, Sequence[str]],
    samples: int,
    seed: int,
) -> Iterator[tuple[Any, int, list[tuple[str, ...]]]]:
    """The label, the size, and the sets of priors of each row of a run."""
    others = [n for n in names if n != name]
    if over == "size":
        for size in range(len(others) + 1):
            yield None, size, of_size(others, size, samples, seed)
    elif over == "subset":
        if len(others) > _MOST_SUBSETS_OF:
            raise ValueError(
                f"over='subset' would score 2^{len(others)} sets; give over='size', or up to {_MOST_SUBSETS_OF} others"
            )
        for size in range(len(others) + 1):
            for priors in itertools.combinations(others, size):
                yield priors, size, [priors]
    elif isinstance(over, str):
        raise ValueError(
            f"over={over!r} is not allowed; give 'size', 'subset', or a list of globs such as ['bm25*']"
        )
    else:
        families = over if isinstance(over, Mapping) else {glob: [glob] for glob in over}
        for label, globs in families.items():
            if isinstance(globs, str):
                raise ValueError(
                    f"over[{label!r}]={globs!r} must be a list of names or globs, such as [{globs!r}]"
                )
            family = {n for glob in globs for n in matching(glob, names)}
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
