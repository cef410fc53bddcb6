"""Which of two runs is better by a relative measure, how sure that is, and whether a run adds anything."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import ir_measures
import numpy as np

from ..arrays import FloatArray
from ..comparison import Comparison, JudgedContext, check_is_context, judged_context
from ..context import RunContext
from ..io.qrels import Qrels
from ..measures.strings import is_relative, parse_measures
from ..messages import kind_of, warn
from ..options import check_count
from ..priors import ContextData, Listed, Policy, policy_of
from ..scoring import mean_of_topics, score_runs
from ..stats.paired import (
    BY_SPREAD,
    TESTS,
    Settings,
    check_correction,
    corrected,
    is_constant,
    paired_test,
    without_rounding,
)
from ..stats.validity import why_not_comparable

if TYPE_CHECKING:
    import pandas as pd


def compare(
    context: RunContext,
    qrels: Qrels | None,
    measures: Sequence[ir_measures.Measure | str],
    names: Sequence[str] | None = None,
    priors: Policy | None = None,
    baseline: str | None = None,
    test: str = "t",
    correction: str | None = "holm",
    confidence: float = 0.95,
    *,
    resamples: int = 9999,
    seed: int = 0,
) -> pd.DataFrame:
    """Compares runs two by two on measures, relative or not: differences, intervals, and tests that are valid.

    A paired test of two runs asks whether one quantity differs between them. On a measure that is relative to priors
    it is one quantity only where both runs stand against the same priors but for each other, and each counts the
    other as a prior or neither does. There are two ways to have that:

    - fixed priors, ``priors=["BM25", …]``: what does each candidate add to these? The candidates are not among them;
    - symmetric ones, ``priors="others"``: each candidate against all other runs, so "which of the two would you rather
      do without?".

    With ``"earlier"`` or other policies, pairs that do not stand so have the two means and nothing else, and a warning
    says why. Measures that compare a run with a reference by their sign (rrLP, sgnLP, sgnLR and
    RPP, without ``ref=``) are computed for every pair, with ``other`` as the reference, and tested against 0.

    Args:
        context: the runs.
        qrels: the judgments, as for :meth:`RunContext.evaluate`.
        measures: measures of this package and of ir_measures, or measure strings.
        names: the runs to compare; all but the fixed priors if not given.
        priors: as for :class:`RunContext`; those of the context if not given.
        baseline: the run to compare every other with; all pairs if not given.
        test: ``"t"`` (paired t-test), ``"wilcoxon"`` (signed ranks), ``"sign"``, ``"randomization"`` (signs
            flipped) or ``"bootstrap"`` (of t, shifted to a mean of 0). The interval is Student's, and with
            ``"bootstrap"`` that of the same resamples. All by scipy.
        correction: how the p-values of one measure are corrected for the number of pairs: what statsmodels'
            ``multipletests`` knows, such as ``"holm"``, ``"bonferroni"``, ``"fdr_bh"``; None for no correction.
        confidence: of the interval, which is that of one comparison, not corrected for their number.
        resamples: how many, for randomization and bootstrap.
        seed: of their random numbers.

    Returns:
        a DataFrame with one row a measure and pair: ``name``, ``other``, ``measure``; ``mean`` and ``other_mean`` over
        topics, also of a measure that ir_measures sums; ``difference`` of the two, and its interval ``lower`` to
        ``upper``; ``p``, two-sided, and ``p_corrected``; ``effect``, the mean difference in standard deviations of
        the difference; on how many topics the run ``wins``, ``ties`` and ``losses``; and the number of ``topics``.

    Raises:
        ValueError: names or a baseline that the context does not hold, or that are among the fixed priors; a single
            run; an unknown test or correction.
        ImportError: a correction, and statsmodels is not installed.

    Example:
        >>> from ir_measures_relative import RunContext, UniqueRel, compare
        >>> qrels = {f"q{i}": {"A": 1, "B": 1} for i in range(8)}
        >>> def run(docs, n=8):
        ...     return {f"q{i}": {docs[i]: 1.0} for i in range(n)}
        >>> context = RunContext({"BM25": run("AAAAAAAA"), "one": run("BBBBBBBA"), "two": run("AAAAAABB")})
        >>> table = compare(context, qrels, [UniqueRel @ 1], priors=["BM25"], test="sign")
        >>> table[["name", "other", "mean", "other_mean", "p", "wins", "ties", "losses"]]
          name other   mean  other_mean      p  wins  ties  losses
        0  one   two  0.875        0.25  0.125     6     1       1
    """
    check_is_context(context)
    settings = _settings(test, correction, confidence, resamples, seed)
    parsed = parse_measures(measures)
    _candidates(context, names, priors, baseline)  # for its checks, before the judgments are read
    judged = judged_context(context, qrels)
    return compare_judged(judged, parsed, names, priors, baseline, test, correction, settings)


def compare_judged(
    judged: JudgedContext,
    parsed: Sequence[ir_measures.Measure],
    names: Sequence[str] | None = None,
    priors: Policy | None = None,
    baseline: str | None = None,
    test: str = "t",
    correction: str | None = "holm",
    settings: Settings | None = None,
) -> pd.DataFrame:
    """:func:`compare`, on judgments that are read already."""
    from tqdm import tqdm

    check_correction(correction)
    settings, context = settings or Settings(), judged.context
    names, of_each = _candidates(context, names, priors, baseline)
    pairs = _pairs(names, baseline)
    chosen = None if of_each is None else {n: of_each(judged, n) for n in names}
    by_pair = [m for m in parsed if is_relative(m) and m.SIGNED and m.get("ref") is None]
    scored = [m for m in parsed if m not in by_pair]
    scores = score_runs(judged, names, scored, priors=chosen)
    row = {name: i for i, name in enumerate(names)}
    asked = _Warnings(context, test)
    rows: list[dict[str, Any]] = []
    todo = list(itertools.product(parsed, pairs))
    for measure, (a, b) in tqdm(todo, desc="testing", unit="test", disable=None, leave=False):
        if measure in by_pair:
            of_a: FloatArray = measure(ref=b).score(Comparison(judged, context.runs[a], a))
            of_b, reason = np.zeros(len(of_a)), None
        else:
            of_a, of_b = (scores.values[row[n], scored.index(measure)] for n in (a, b))
            reason = why_not_comparable(judged, measure, a, b, chosen)
        rows.append(
            {"name": a, "other": b, "measure": str(measure)}
            | _row(measure, of_a, of_b, test, settings, asked, reason, (a, b))
        )
    asked.say()
    return _table(rows, correction)


def adds(
    context: RunContext,
    qrels: Qrels | None,
    measures: Sequence[ir_measures.Measure | str],
    names: Sequence[str] | None = None,
    priors: Policy | None = None,
    test: str = "t",
    correction: str | None = "holm",
    confidence: float = 0.95,
    *,
    resamples: int = 9999,
    seed: int = 0,
) -> pd.DataFrame:
    """Does a run add anything? The mean of what each adds, with a one-sided interval, and a test against 0.

    A mean of UniqueRel or NRG can only be 0 or more, so the question is how far above 0 it certainly is: ``lower``.
    Each run stands for itself: whatever its priors are, the row says what it adds to those.

    UniqueRel and NRG(base='P') are 0 for a copy of a prior, and tested against that. Other measures are not: by NRG's
    other models a searcher has overlooked some of what stands low in the priors, and a copy shows it once more;
    Shapley, TaSC and rareness reward what others find as well. That such a mean is above 0 says nothing, so it has
    ``lower`` and no ``p``, and a warning says so.

    Args:
        context: the runs.
        qrels: the judgments.
        measures: measures that are relative to priors or to all systems.
        names: the runs; all but the fixed priors if not given.
        priors: as for :func:`compare`, which also has the other arguments.

    Returns:
        a DataFrame with one row a measure and run: ``name``, ``measure``, ``mean``, ``lower`` (the mean is at least
        that, with the confidence asked for; below 0 where not even that is certain), ``p`` (one-sided) and
        ``p_corrected``, ``effect``, ``above`` (on how many
        topics it adds something) and ``topics``.

    Raises:
        ValueError: as :func:`compare`; a measure that is relative to neither.

    Example:
        >>> from ir_measures_relative import RunContext, UniqueRel, adds
        >>> qrels = {f"q{i}": {"A": 1, "B": 1} for i in range(8)}
        >>> old, new = ({q: {d: 1.0} for q, d in zip(qrels, docs)} for docs in ("AAAAAAAA", "BBBBBBBA"))
        >>> adds(RunContext({"old": old, "new": new}), qrels, [UniqueRel @ 1], priors=["old"]).round(3)
          name      measure   mean  lower    p  p_corrected  effect  above  topics
        0  new  UniqueRel@1  0.875  0.638  0.0          0.0   2.475      7       8
    """
    from tqdm import tqdm

    check_is_context(context)
    settings = _settings(test, correction, confidence, resamples, seed)._replace(greater=True)
    parsed = parse_measures(measures)
    for measure in parsed:
        if not is_relative(measure) or measure.RELATIVE_TO not in ("priors", "systems"):
            raise ValueError(
                f"{measure} does not say what a run adds to others; give a measure such as UniqueRel@10 or NRG@10"
            )
    names, of_each = _candidates(context, names, priors, None)
    judged = judged_context(context, qrels)
    chosen = None if of_each is None else {n: of_each(judged, n) for n in names}
    scores = score_runs(judged, names, parsed, priors=chosen)
    asked = _Warnings(context, test)
    rows: list[dict[str, Any]] = []
    todo = list(itertools.product(enumerate(parsed), enumerate(names)))
    for (j, measure), (i, name) in tqdm(todo, desc="testing", unit="test", disable=None, leave=False):
        values = scores.values[i, j]
        row = _row(measure, values, np.zeros(len(values)), test, settings, asked, None, (name,))
        row["above"] = row["wins"]
        if not measure.is_0_for_a_copy:
            row["p"] = row["p_corrected"] = np.nan
            asked.above_0_for_a_copy(measure)
        kept = ("mean", "lower", "p", "p_corrected", "effect", "above", "topics")
        rows.append({"name": name, "measure": str(measure)} | {k: row[k] for k in kept})
    asked.say()
    return _table(rows, correction)


def _table(rows: list[dict[str, Any]], correction: str | None) -> pd.DataFrame:
    """The rows as a table, with the p-values of each measure corrected for their number."""
    import pandas as pd

    table = pd.DataFrame(rows)
    for _, of_measure in table.groupby("measure", sort=False):
        p = of_measure["p"].to_numpy(dtype=np.float64)
        table.loc[of_measure.index, "p_corrected"] = corrected(p, correction)
    counts = [column for column in ("wins", "ties", "losses", "above") if column in table]
    return table.astype(dict.fromkeys(counts, "Int64"))


def _settings(test: str, correction: str | None, confidence: float, resamples: int, seed: int) -> Settings:
    """The arguments of a test, checked."""
    if test not in TESTS:
        raise ValueError(f"test={test!r} is not allowed; it must be one of {', '.join(map(repr, TESTS))}")
    is_number = isinstance(confidence, (int, float, np.floating)) and not isinstance(confidence, bool)
    if not is_number or not 0.5 < confidence < 1:
        raise ValueError(
            f"confidence={confidence!r} is not allowed; it must be between 0.5 and 1, such as 0.95"
        )
    check_count("resamples", resamples, 99)
    check_count("seed", seed, 0)
    check_correction(correction)
    return Settings(float(confidence), resamples=int(resamples), seed=seed)


def _candidates(
    context: ContextData, names: Sequence[str] | None, priors: Policy | None, baseline: str | None
) -> tuple[list[str], Any]:
    """The runs to compare, and what gives the priors of each: None for the context's policy."""
    if isinstance(names, str):
        raise ValueError(f"names={names!r} must be a list of run names, such as [{names!r}]")
    policy = context.policy if priors is None else policy_of(priors, context.names, context.groups)
    of_each = None if priors is None else policy.priors_of
    fixed = policy.priors if isinstance(policy, Listed) else ()
    asked = [n for n in context.names if n not in fixed] if names is None else list(names)
    if baseline is not None and baseline not in asked:
        asked.append(baseline)
    for name in asked:
        if not isinstance(name, str):
            raise ValueError(f"{name!r} is {kind_of(name)}; give the name of a run of the context")
        what = "baseline" if name == baseline else "names"
        if name not in context.runs:
            raise ValueError(f"{what}={name!r}: the context holds no such run; its runs are {context.names}")
        if name in fixed:
            raise ValueError(
                f"{what}={name!r} is among the fixed priors={list(fixed)}: against itself it has no prior where the "
                "others have one, so its values are another quantity; leave it out of one of the two, or give "
                "priors='others'"
            )
    twice = next((n for i, n in enumerate(asked) if n in asked[:i]), None)
    if twice is not None:
        raise ValueError(f"names holds {twice!r} twice; name every run once")
    if not asked:
        why = "all are among the fixed priors; give fewer priors" if fixed else "give the names of some"
        raise ValueError(f"there is no run to compare: {why if context.runs else 'the context holds none'}")
    return asked, of_each


def _pairs(names: Sequence[str], baseline: str | None) -> list[tuple[str, str]]:
    if len(names) < 2:
        raise ValueError(
            f"there is one run to compare, {names[0]!r}; a comparison needs two: give more names, or fewer priors "
            "(adds() asks whether one run adds anything)"
        )
    if baseline is None:
        return list(itertools.combinations(names, 2))
    return [(name, baseline) for name in names if name != baseline]


def _row(
    measure: ir_measures.Measure,
    of_a: FloatArray,
    of_b: FloatArray,
    test: str,
    settings: Settings,
    warnings: _Warnings,
    reason: str | None,
    who: tuple[str, ...],
) -> dict[str, Any]:
    """What is said of two runs, from the values of each on every topic."""
    known = ~(np.isnan(of_a) | np.isnan(of_b))
    of_a, of_b = of_a[known], of_b[known]
    difference = without_rounding(of_a, of_b)
    n = len(difference)
    mean, other_mean = (mean_of_topics(measure, v) if n else np.nan for v in (of_a, of_b))
    row: dict[str, Any] = {"mean": mean, "other_mean": other_mean, "difference": mean - other_mean}
    outcome, effect = (np.nan, np.nan, np.nan), np.nan
    wins, losses = int((difference > 0).sum()), int((difference < 0).sum())
    if not known.all():
        warnings.unknown(measure, int((~known).sum()))
    counts: dict[str, Any] = {"wins": wins, "ties": n - wins - losses, "losses": losses}
    if reason is not None:
        warnings.not_comparable(measure, who, reason)
        row["difference"], counts = np.nan, dict.fromkeys(counts, None)
    elif n < 2:
        warnings.one_topic(n)
    else:
        p, lower, upper = paired_test(difference, test, settings)
        outcome = (lower, upper, p)
        effect = _effect(difference)
        if np.isnan(p) and is_constant(difference):
            warnings.constant(measure, who, float(difference[0]))
        elif np.isnan(p):
            warnings.sparse(measure, who, wins + losses)
    row |= dict(zip(("lower", "upper", "p"), outcome, strict=True))
    row |= {"p_corrected": row["p"], "effect": effect}
    return row | counts | {"topics": n}


def _effect(difference: FloatArray) -> float:
    """The mean in standard deviations; 0 where all differences are 0, and NaN where they are all the same."""
    if is_constant(difference):
        return np.nan if difference.any() else 0.0
    return float(difference.mean() / difference.std(ddof=1))


class _Warnings:
    """What was met, to be said once a kind."""

    def __init__(self, context: ContextData, test: str) -> None:
        self._context, self._test = context, test
        self._said: dict[str, tuple[str, int]] = {}

    def _note(self, kind: str, message: str) -> None:
        first, count = self._said.get(kind, (message, 0))
        self._said[kind] = first, count + 1

    def not_comparable(self, measure: Any, who: tuple[str, ...], reason: str) -> None:
        instead = (
            "give fixed priors that neither is among, compare(…, priors=[…]), or priors='others'"
            if measure.RELATIVE_TO == "priors"
            else "compare runs that are not the reference"
        )
        self._note(
            "not comparable",
            f"the values of {who[0]!r} and {who[1]!r} on {measure} are different quantities, since {reason}; the "
            f"comparison has no p-value and no interval: {instead}",
        )

    def one_topic(self, n: int) -> None:
        self._note(
            "topics",
            f"there {'is 1 topic' if n == 1 else 'are no topics'} to compare on, so there is no test and no interval; "
            "judge more topics",
        )

    def constant(self, measure: Any, who: tuple[str, ...], difference: float) -> None:
        others = ", ".join(repr(t) for t in TESTS if t not in BY_SPREAD)
        self._note(
            "constant",
            f"{' and '.join(map(repr, who))}: the difference on {measure} is {difference:.6g} on every topic, and "
            f"test={self._test!r} goes by its spread, so there is no p-value; give test= one of {others}",
        )

    def above_0_for_a_copy(self, measure: Any) -> None:
        self._note(
            "above 0",
            f"{measure} is above 0 for a copy of another run too, so there is no test of that, and p is NaN; go by "
            "lower, or give UniqueRel@k or NRG(base='P')@k, which are 0 for a copy",
        )

    def sparse(self, measure: Any, who: tuple[str, ...], n: int) -> None:
        self._note(
            "sparse",
            f"{' and '.join(map(repr, who))}: {measure} differs on {n} topics alone, and many resamples hold none of "
            f"them, so test={self._test!r} has no p-value and no interval; give another test=, such as 'randomization'",
        )

    def unknown(self, measure: Any, count: int) -> None:
        self._note(
            "unknown",
            f"{measure} has no value on {count} topic{'s' if count > 1 else ''}; the comparison leaves them out, as "
            "its column topics says",
        )

    def say(self) -> None:
        for message, count in self._said.values():
            warn(message + (f" (and {count - 1} more such)" if count > 1 else ""))
