"""Tests of the differences between runs, by relative and absolute measures."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import ir_measures
import numpy as np
import pandas as pd
from ir_measures.measures.base import SumAgg
from tqdm import tqdm

from ..bounding.verdicts import unjudged_shares
from ..context.checks import check_runs
from ..context.collection import Collection, judged_collection
from ..context.duplicates import deepest_cutoff, find_duplicates, why_incomparable
from ..context.evaluate import aggregate, describe_dominant_topics, score_runs
from ..context.evaluated import Evaluated
from ..context.measure_strings import is_relative, param_value, parse_measures, value_range
from ..context.missing_topics import check_topics, note_missing_topics
from ..context.priors import FixedPriors, Policy, resolve_policy
from ..context.run_context import RunContext, check_is_context
from ..data.arrays import FloatArray
from ..data.rankings import known_depth
from ..io.qrels import Qrels
from ..measures.measure import RelativeMeasure
from ..messages import counted, few_quoted, kind_of, warn
from ..stats.families import MAX_T, Corrected, Family
from ..stats.intervals import effect_interval, mean_and_error, means_and_margins, topics_to_settle
from ..stats.paired_tests import TESTS, PairedTestOptions, Pairs, check_test, tie_limit

_COUNTS = ("wins", "ties", "losses")
_EFFECT = ("effect", "effect_ci_lower", "effect_ci_upper")
_TOPICS = ("topics_needed", "topics_fewest", "topics_most")
_DEPTH = 10  # of the tops of a measure without a cutoff, for the share that is unjudged
# Measures of ir_measures that leave unjudged documents out, or do not depend on relevance.
_WITHOUT_UNJUDGED = ("Bpref", "infAP", "Judged", "NumQ", "NumRel", "NumRet")


def compare(
    context: RunContext,
    qrels: Qrels | None,
    measures: Sequence[ir_measures.Measure | str],
    names: Sequence[str] | None = None,
    priors: Policy | None = None,
    baseline: str | None = None,
    test: str | None = None,
    correction: str | None = MAX_T,
    confidence: float = 0.95,
    *,
    family: str = "call",
    resamples: int = 9999,
    seed: int = 0,
    missing: str | None = None,
) -> pd.DataFrame:
    """Compare runs in pairs: differences, confidence intervals and valid tests, for relative and absolute measures.

    With a measure relative to priors, a comparison is valid if, apart from the two themselves, both runs are scored
    against the same runs, and each counts the other as a prior or neither does. Other pairs have only their two means,
    and a warning says why. rrLP, sgnLP, sgnLR and RPP without ``ref=`` have ``other`` as the reference, and are tested
    against 0.

    Args:
        context: the runs.
        qrels: the judgments; unjudged documents count as not relevant.
        measures: relative or absolute measures.
        names: the runs to compare; default: all but the fixed priors.
        priors: as for :class:`RunContext`; default: those of the context.
        baseline: the run to compare every other with; default: all pairs.
        test: ``"t"``, ``"wilcoxon"``, ``"sign"``, ``"randomization"`` or ``"bootstrap"``. Default: ``"bootstrap"`` for
            NRG, UniqueRel and TaSC, ``"t"`` for others. The interval is Student's, or that of the bootstrap.
        correction: for the number of rows: ``"max-t"`` (one bootstrap of topics for all rows, for ``"t"`` and
            ``"bootstrap"``; other tests by Holm's method), ``"holm"``, a method of statsmodels' ``multipletests``, or
            None.
        confidence: of all intervals at once with ``"max-t"``, of each on its own with None, else of a row
            1 - (1 - confidence) · p / p_corrected.
        family: ``"call"`` corrects all rows together, ``"measure"`` those of each measure.
        resamples: how many resamples a randomized test and ``"max-t"`` draw.
        seed: of the random numbers.
        missing: topics that a run has no ranking for, as for :func:`decide`.

    Returns:
        a DataFrame with one row per measure and pair: ``name``, ``other``, ``measure``, ``mean``, ``other_mean``,
        ``difference`` with ``ci_lower`` and ``ci_upper``, ``test``; ``p``, two-sided, and ``p_corrected``: for ``"t"``
        and ``"bootstrap"`` the interval excludes 0 exactly if it is below 1 - confidence; ``effect``, d_z: the mean
        difference divided by the standard deviation of the differences, with its interval by the noncentral t;
        ``wins``, ``ties``, ``losses``, ``topics``: counts of topics; a difference of at most 10⁻⁹ of the measure's
        spread is a tie; ``topics_needed``, if the interval includes 0: how many topics would settle with 80 % power
        which run is above, inf for more than 10,000, and at the ends of the variance's interval.

    Raises:
        ValueError: an unknown run, test or correction; a single run; a run among the fixed priors.
    """
    check_is_context(context)
    if test is not None:
        check_test(test)
    families = Family(correction=correction, extent=family)
    options = PairedTestOptions(confidence=confidence, resamples=resamples, seed=seed)
    parsed = parse_measures(measures)
    policy = context.policy if priors is None else resolve_policy(priors, context.names, context.groups)
    fixed = policy.priors if isinstance(policy, FixedPriors) else ()
    names = _choose_runs(context, names, fixed, baseline)
    view = replace(judged_collection(context, qrels), policy=policy)
    check_runs(view, parsed, missing_topics=False)
    view, note = check_topics(view, names, missing, relative=any(map(is_relative, parsed)))
    _reject_copied_priors(view, names, parsed, fixed)
    if len(names) < 2:
        raise ValueError(f"there is one run to compare, {names[0]!r}; give more names, or fewer priors")
    run_pairs = list(itertools.combinations(names, 2))
    if baseline is not None:
        run_pairs = [(name, baseline) for name in names if name != baseline]
    comparisons = list(_score_pairs(view, parsed, names, run_pairs, test))
    corrected = families.test([(c.comparable_pairs, c.test) for c in comparisons], options)
    warnings: dict[str, list[str]] = {}
    for comparison, result in zip(comparisons, corrected, strict=True):
        for kind, message in _explain_gaps(comparison, result.p):
            warnings.setdefault(kind, []).append(message)
    for message, *more in warnings.values():
        warn(message + (f" (and {len(more)} more such)" if more else ""))
    tables = [_tabulate(*pair, confidence) for pair in zip(comparisons, corrected, strict=True)]
    table = pd.concat(tables, ignore_index=True)
    table.attrs |= {  # for sentence()
        "confidence": confidence,
        "simultaneous": correction == MAX_T and all(TESTS[c.test].by_t for c in comparisons),
        "unjudged": _find_unjudged_share(view, names, parsed),
    }
    return note_missing_topics(table, note, missing, context)


def _choose_runs(
    context: RunContext, names: Sequence[str] | None, fixed: Sequence[str], baseline: str | None
) -> list[str]:
    """Return the runs to compare, none of which is among the ``fixed`` priors."""
    if isinstance(names, str):
        raise ValueError(f"names={names!r} must be a list of run names, such as [{names!r}]")
    chosen = [n for n in context.names if n not in fixed] if names is None else list(names)
    if baseline is not None and baseline not in chosen:
        chosen.append(baseline)
    for i, name in enumerate(chosen):
        argument = "baseline" if name == baseline else "names"
        if not isinstance(name, str):
            raise ValueError(f"{name!r} is {kind_of(name)}; give the name of a run of the context")
        if name not in context.runs:
            runs = few_quoted(context.names)
            raise ValueError(f"{argument}={name!r}: the context holds no such run; its runs are {runs}")
        if name in fixed:
            raise ValueError(
                f"{argument}={name!r} is among the fixed priors={few_quoted(fixed)}; leave it out, or give "
                "priors='others'"
            )
        if name in chosen[:i]:
            raise ValueError(f"names holds {name!r} twice; name every run once")
    if not chosen:
        why = "all are among the fixed priors; give fewer priors" if fixed else "give the names of some"
        raise ValueError(f"there is no run to compare: {why if context.runs else 'the context holds none'}")
    return chosen


def _reject_copied_priors(
    view: Collection, names: Sequence[str], measures: Sequence[ir_measures.Measure], fixed: Sequence[str]
) -> None:
    """Raise ValueError where a run to compare is a fixed prior under another name."""
    depth = deepest_cutoff(measures)
    original = find_duplicates(view, depth) if fixed and depth != 0 else {}
    prior_by_original = {original.get(name, name): name for name in fixed}
    for name in names:
        if (prior := prior_by_original.get(original.get(name, name))) is not None:
            raise ValueError(
                f"{name!r} ranks as {prior!r} does, which is among the fixed priors={few_quoted(fixed)}: it would "
                "be its own prior, and its values another quantity; leave it out of one of the two"
            )


class _Comparison(NamedTuple):
    """The pairs of runs by one measure, and the values of both runs on each topic, shape (pairs, topics)."""

    measure: ir_measures.Measure
    names: Sequence[tuple[str, str]]
    first: FloatArray
    second: FloatArray
    pairs: Pairs
    reasons: Sequence[str | None]  # why a pair is not comparable; None where it is
    test: str

    @property
    def comparable_pairs(self) -> Pairs:
        """The pairs, with NaN for the differences of those that are not comparable."""
        comparable = np.array([reason is None for reason in self.reasons])
        return Pairs(np.where(comparable[:, None], self.pairs.differences, np.nan), self.pairs.limit)


def _score_pairs(
    view: Collection,
    measures: Sequence[ir_measures.Measure],
    names: Sequence[str],
    run_pairs: Sequence[tuple[str, str]],
    test: str | None,
) -> Iterator[_Comparison]:
    """Yield the comparison by each measure; warn where one topic decides a mean."""
    scored = [measure for measure in measures if not is_pairwise(measure)]
    scores = score_runs(view, names, scored, missing_topics=False)
    if (message := describe_dominant_topics(scores)) is not None:
        warn(message)
    first_runs, second_runs = ([names.index(pair[side]) for pair in run_pairs] for side in (0, 1))
    for measure in tqdm(measures, desc="comparing", unit="measure", disable=None, leave=False):
        test_of_measure = test or (measure.TEST if isinstance(measure, RelativeMeasure) else "t")
        reasons: list[str | None] = [None] * len(run_pairs)
        if is_pairwise(measure):
            first = np.array([measure(ref=b).score(Evaluated.of(view, a)) for a, b in run_pairs])
            second, limit = np.zeros(first.shape), tie_limit(np.array([first, -first]))
        else:
            values = scores.values[:, scored.index(measure)]
            first, second, limit = values[first_runs], values[second_runs], tie_limit(values)
            reasons = [why_incomparable(view, measure, a, b) for a, b in run_pairs]
        pairs = Pairs.between(first, second, limit)
        yield _Comparison(measure, run_pairs, first, second, pairs, reasons, test_of_measure)


def is_pairwise(measure: ir_measures.Measure) -> bool:
    """Whether the measure compares any two runs by its sign: rrLP, sgnLP, sgnLR and RPP, without ``ref=``."""
    return is_relative(measure) and measure.SIGNED and measure.get("ref") is None


def _tabulate(comparison: _Comparison, result: Corrected, confidence: float) -> pd.DataFrame:
    """Return the row of each pair."""
    measure, pairs = comparison.measure, comparison.pairs
    defined = ~np.isnan(pairs.differences)
    difference, error, n_topics = mean_and_error(pairs.differences)
    with np.errstate(divide="ignore", invalid="ignore"):
        effect = difference / error / n_topics**0.5
        effects = effect, *effect_interval(effect, n_topics, (result.upper - result.lower) / 2 / error)
    low, high = value_range(measure)
    # The value of a pairwise measure is a difference itself.
    farthest = high if is_pairwise(measure) else high - low
    ends = (np.clip(end, -farthest, farthest) for end in (result.lower, result.upper))
    to_mean = np.mean if _is_summed(measure) else partial(aggregate, measure)
    rows = []
    for i, (p, p_corrected, lower, upper) in enumerate(zip(result.p, result.p_corrected, *ends, strict=True)):
        differences, n = pairs.differences[i, defined[i]], int(n_topics[i])
        first, second = (values[i, defined[i]] for values in (comparison.first, comparison.second))
        mean, other_mean = (to_mean(values) if n else np.nan for values in (first, second))
        row: dict[str, Any] = dict(zip(("name", "other"), comparison.names[i], strict=True))
        row |= {"measure": str(measure), "mean": mean, "other_mean": other_mean, "difference": np.nan}
        row |= {"ci_lower": lower, "ci_upper": upper, "test": comparison.test}
        row |= {"p": p, "p_corrected": p_corrected, **dict.fromkeys(_EFFECT, np.nan)}
        row |= {**dict.fromkeys(_COUNTS), "topics": n, **dict.fromkeys(_TOPICS, np.nan)}
        if comparison.reasons[i] is None:
            wins, losses = int(pairs.wins[i]), int(pairs.losses[i])
            row["difference"] = mean - other_mean
            row |= zip(_COUNTS, (wins, n - wins - losses, losses), strict=True)
            if n > 1 and np.ptp(differences) > pairs.limit:
                row |= zip(_EFFECT, (column[i] for column in effects), strict=True)
            elif n > 1 and not differences.any():
                row["effect"] = 0.0
            if n > 1 and lower <= 0 <= upper:
                needed = topics_to_settle(differences, (upper - lower) / 2, confidence)
                row |= zip(_TOPICS, needed, strict=True)
        rows.append(row)
    return pd.DataFrame(rows).astype(dict.fromkeys(_COUNTS, "Int64"))


#: The reasons why something is missing from a row.
_GAPS = {
    "undefined": "{measure} has no value on {left_out}; the comparison leaves them out, as its column topics says",
    "incomparable": "the values of {both} on {measure} are different quantities, since {reason}; the comparison has no "
    "p-value and no interval: {fix}",
    "topics": "there {there} to compare on, so there is no test and no interval; judge more topics",
    "sparse": "{both}: {measure} differs on {n_differing} topics alone, and many resamples hold none of them, so "
    "test={test!r} has no p-value and no interval; give another test=, such as 'randomization'",
    "constant": "{both}: the difference on {measure} is {value:.6g} on every topic, and test={test!r} goes by its "
    "spread, so there is no p-value; give test= one of {applicable}",
}
_FIXED_PRIORS = "give fixed priors that neither is among, compare(…, priors=[…]), or priors='others'"


def _explain_gaps(comparison: _Comparison, p_values: FloatArray) -> Iterator[tuple[str, str]]:
    """Yield the key of :data:`_GAPS` and the warning for each value that is missing from a row."""
    measure, pairs = comparison.measure, comparison.pairs
    to_priors = isinstance(measure, RelativeMeasure) and measure.RELATIVE_TO == "priors"
    applicable = ", ".join(repr(name) for name, other in TESTS.items() if not other.by_spread)
    for i, reason in enumerate(comparison.reasons):
        differences = pairs.differences[i, ~np.isnan(pairs.differences[i])]
        n = len(differences)
        untested = n > 1 and reason is None and np.isnan(p_values[i])
        varies = untested and np.ptp(differences) > pairs.limit
        words = {
            "measure": measure,
            "test": comparison.test,
            "both": " and ".join(map(repr, comparison.names[i])),
            "left_out": counted(pairs.differences.shape[1] - n, "topic"),
            "reason": reason,
            "fix": _FIXED_PRIORS if to_priors else "compare runs that are not the reference",
            "there": "is 1 topic" if n else "are no topics",
            "n_differing": pairs.wins[i] + pairs.losses[i],
            "value": differences[0] if n else np.nan,
            "applicable": applicable,
        }
        gaps = {
            "undefined": n < pairs.differences.shape[1],
            "incomparable": reason is not None,
            "topics": reason is None and n < 2,
            "sparse": varies,
            "constant": untested and not varies and differences.any(),
        }
        yield from ((kind, _GAPS[kind].format(**words)) for kind, is_there in gaps.items() if is_there)


def _find_unjudged_share(
    view: Collection, names: Sequence[str], measures: Sequence[ir_measures.Measure]
) -> float:
    """Return the largest share of a run's top that is unjudged, by the measures that count it as not relevant."""
    depths = {
        known_depth(view.rankings, param_value(measure, "cutoff") or _DEPTH)
        for measure in measures
        if not param_value(measure, "judged_only") and measure.NAME not in _WITHOUT_UNJUDGED
        if not is_relative(measure) or measure.JUDGMENTS == "needed"
    }
    runs = [Evaluated.of(view, name) for name in names]
    return max((float(unjudged_shares(runs, depth).mean(axis=1).max()) for depth in depths), default=0.0)


# ---- means


def mean_intervals(
    context: RunContext,
    qrels: Qrels | None,
    measures: Sequence[ir_measures.Measure | str],
    confidence: float = 0.95,
) -> pd.DataFrame:
    """Return the mean of each run by each measure, with its interval over topics.

    The interval is Student's, of the logarithm of the mean for values that cannot be negative. Do not test a mean of
    UniqueRel or NRG against 0: one topic above 0 shows that it is not 0. By UniqueRel and NRG(base='P') a duplicate of
    a prior run has 0; by other measures it has more.

    Returns:
        a DataFrame with one row per run and measure: ``name``, ``measure``, ``mean``, ``ci_lower``, ``ci_upper``; the
        ends are NaN with fewer than two topics.

    Raises:
        ValueError: a measure that ir_measures sums, such as NumRet; what :meth:`RunContext.evaluate` raises.
    """
    parsed = parse_measures(measures)
    return tabulate_mean_intervals(context.evaluate(qrels, parsed, perquery=True), parsed, confidence)


def tabulate_mean_intervals(
    values: pd.DataFrame, measures: Sequence[ir_measures.Measure], confidence: float = 0.95
) -> pd.DataFrame:
    """Return the table of :func:`mean_intervals` from the long table of values by topic."""
    if summed := [str(measure) for measure in measures if _is_summed(measure)]:
        raise ValueError(f"{summed[0]} is a sum over topics, and no mean that has an interval; leave it out")
    means, margins = means_and_margins(values, *measures, confidence=confidence)
    names = list(map(str, measures))
    mean = means[names].to_numpy().reshape(-1)
    below, above = (np.transpose([margins[name][side] for name in names]).reshape(-1) for side in (0, 1))
    rows = {"name": means["name"].repeat(len(names)).tolist(), "measure": names * len(means)}
    return pd.DataFrame(rows | {"mean": mean, "ci_lower": mean - below, "ci_upper": mean + above})


def _is_summed(measure: ir_measures.Measure) -> bool:
    """Return whether ir_measures adds up the queries' values, as for NumRet and other counts."""
    return isinstance(measure.aggregator(), SumAgg)
