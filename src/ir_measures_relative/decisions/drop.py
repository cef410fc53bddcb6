"""Which deployed run can go? What is lost without each of them, in lists of the same length."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import ir_measures
import numpy as np
import pandas as pd

from ..context.checks import check_topics
from ..context.evaluate import check_runs
from ..context.run_context import RunContext
from ..context.view import check_is_context, view_of
from ..data.arrays import FloatArray
from ..io.qrels import Qrels
from ..io.runs import Run
from ..stats.paired_tests import PairedTestOptions
from ..tolerances import LABELED_ALIKE
from ..work import Work
from . import decision_text, evidence
from .compared import RunsDropped
from .decision import Decision
from .fuse import Chooser, FusionChoice, ValuesOfSets, divided, in_order, reach_of_interval
from .fused_values import FusedValues, RunSet
from .fusion import METHODS, Fusion
from .options import Option, OptionLists, OptionValues, Settings, combination_of, deciding_measure
from .worth import deployed_runs

# Random halves of the topics, by which the smallest set is chosen and scored.
_HALVES = 10


def drop(
    context: RunContext,
    qrels: Qrels | None,
    deployed: str | Sequence[str] | None = None,
    by: ir_measures.Measure | str = "nDCG@10",
    method: str = "rrf",
    margin: float | None = None,
    *,
    k: int = 60,
    depth: int = 1000,
    rerank: Run | str | None = None,
    pool: int = 100,
    groups: Mapping[str, str] | None = None,
    confidence: float = 0.95,
    unretrieved_relevant: int | None = None,
    n: int = 20,
    resamples: int = 9999,
    seed: int = 0,
    time_limit: float | None = 10.0,
    missing: str | None = None,
) -> Decision:
    """Which deployed run can go? What is lost without each of them, in lists of the same length.

    The options are *keep* (the deployed runs), and *drop X* for each (the others). The loss is *keep* minus *drop X*,
    with its interval for all runs at once, as for :func:`decide`, which also has the other arguments.

    Args:
        deployed: names of the deployed runs, or globs; default: all runs of the context.
        margin: the largest loss that you accept, in the unit of ``by``. Without it there is no verdict.

    Returns:
        a :class:`Decision`. ``verdict`` is ``"safe"`` if some run is safe to drop, else ``"open"`` if some run is open,
        else ``"needed"``; ``"not graded"`` without a margin. The table has a row per run: ``option``, ``run``,
        ``mean`` without it; ``loss`` and the columns of :func:`decide` (below 0, the list scores higher without the
        run); ``verdict``: ``"safe"``: the upper end is at most the margin; ``"needed"``: the lower end is above it; or
        ``"open"``; and ``as_judged``. ``evidence["fewer"]``: the smallest set of runs within the margin, chosen run by
        run on one half of the topics; its loss on the other half.

    Raises:
        ValueError: one deployed run; what :func:`decide` raises.
    """
    check_is_context(context)
    work, measure = Work(time_limit=time_limit), deciding_measure(by)
    test = PairedTestOptions(confidence=confidence, resamples=resamples, seed=seed)
    how = combination_of(context, measure, method, k=k, depth=depth, rerank=rerank, pool=pool)
    settings = Settings(
        measure, how, test, unretrieved_relevant, margin=margin or 0.0, groups=groups, n=n, work=work
    )
    names = deployed_runs(context, deployed, None)
    if len(names) < 2:
        raise ValueError(f"drop needs two deployed runs or more, and {names} is one; pass more runs")
    whole = view_of(context, qrels)
    check_runs(whole.of_runs(names), missing_topics=False)
    whole, note = check_topics(whole, names, missing)
    view = whole.of_runs(names)
    sets = {"keep": tuple(names)}
    sets |= {f"drop {name}": tuple(other for other in names if other != name) for name in names}
    options = [Option(name, runs) for name, runs in sets.items()]
    compared = RunsDropped(view, options, settings, whole, margin is not None)
    tables = evidence.tables_of(compared)
    if compared.graded and len(names) > 2 and compared.topics > 3:
        tables = {"fewer": _fewer(compared, names), **tables}
    return compared.decision(decision_text.of_drop, tables, note)


def _fewer(of: RunsDropped, names: Sequence[str]) -> pd.DataFrame:
    """The smallest set of runs within the margin, and what it loses on topics that did not choose it."""
    how, by = of.settings.how, of.settings.by
    if how.method in METHODS and how.rerank is None:
        values: ValuesOfSets = FusedValues(of.view, by, Fusion(how.method, how.k, how.depth))
    else:
        values = partial(_values_of_sets, of)
    halves = divided(of.topics, 2, _HALVES, 0)
    every = tuple(range(len(names)))
    enough = halves.weights @ values([every])[0] - of.margin - LABELED_ALIKE
    sets = Chooser([values], len(names), halves).grown(in_order(values), len(names), enough=enough)
    whole = np.broadcast_to(values([every]), (len(sets), of.topics))
    of_sets, m = values(sets), len(halves.held_out)
    chosen, other = (FusionChoice(0, every, 0.0, 0.0, one, {}) for one in (of_sets, whole))
    loss, held_out = whole - of_sets, halves.held_out
    reach = reach_of_interval(chosen, other, halves, of.settings.test.confidence)
    mean = float(loss[:m][held_out].mean())
    row = {
        "runs": ", ".join(names[i] for i in sets[m]),
        "number": len(sets[m]),
        "loss_in_sample": float(loss[m].mean()),
        "loss": mean,
        "ci_lower": mean - reach,
        "ci_upper": mean + reach,
    }
    return pd.DataFrame([row])


def _values_of_sets(of: RunsDropped, sets: Sequence[RunSet]) -> FloatArray:
    """The value of sets of runs on every topic, for methods that are no sum."""
    names = of.view.names
    options = [Option(f"set {i}", tuple(names[run] for run in runs)) for i, runs in enumerate(sets)]
    lists = OptionLists(of.view, options, of.settings.how).rankings()
    return OptionValues(of.view, lists, of.settings.by).values
