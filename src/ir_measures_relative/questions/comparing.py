"""Which of two runs is better by a relative measure, how sure that is, and whether a run adds anything."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

import ir_measures
import numpy as np
import pandas as pd
from tqdm import tqdm

from ..arrays import FloatArray
from ..comparison import Comparison, JudgedContext, check_is_context, judged_context, some
from ..context import RunContext
from ..io.qrels import Qrels
from ..measures.declaration import RelativeMeasure
from ..measures.strings import is_relative, parse_measures
from ..messages import kind_of, warn
from ..priors import ContextData, Listed, Policy, policy_of
from ..scoring import mean_of_topics, score_runs
from ..stats.paired_tests import (
    TESTS,
    PairedTestOptions,
    check_correction,
    check_test,
    corrected,
    paired_test,
)
from ..stats.pairs_and_ties import Pairs, tie_limit


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
            ``"bootstrap"`` that of the same resamples.
        correction: how the p-values of one measure are corrected for the number of pairs: ``"holm"``, or what
            statsmodels' ``multipletests`` knows, such as ``"bonferroni"``, ``"fdr_bh"``; None for no correction.
        confidence: of the interval, which is that of one comparison, not corrected for their number.
        resamples: how many, for randomization and bootstrap.
        seed: of their random numbers.

    Returns:
        a DataFrame with one row a measure and pair:

        - ``name``, ``other``, ``measure``;
        - ``mean``, ``other_mean``: over topics, also of a measure that ir_measures sums;
        - ``difference``: of the two means, with its interval ``lower`` to ``upper``;
        - ``p``: two-sided, and ``p_corrected``;
        - ``effect``: the mean difference in standard deviations of the difference;
        - ``wins``, ``ties``, ``losses``: on how many topics the run is better, as good and worse. A difference of at
          most 10⁻⁹ of the spread of the measure (over the runs that are compared, on all topics) is a tie, for the test
          as well;
        - ``topics``: how many.

    Raises:
        ValueError: names or a baseline that the context does not hold, or that are among the fixed priors; a single
            run; an unknown test or correction.
        ImportError: a correction that needs statsmodels, which is not installed.

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
    options = _checked(context, test, correction, confidence, resamples, seed)
    parsed = parse_measures(measures)
    _candidates(context, names, priors, baseline)  # for its checks, before the judgments are read
    judged = judged_context(context, qrels)
    return compare_judged(judged, parsed, names, priors, baseline, test, correction, options)


def compare_judged(
    judged: JudgedContext,
    parsed: Sequence[ir_measures.Measure],
    names: Sequence[str] | None = None,
    priors: Policy | None = None,
    baseline: str | None = None,
    test: str = "t",
    correction: str | None = "holm",
    options: PairedTestOptions | None = None,
) -> pd.DataFrame:
    """:func:`compare`, on judgments that are read already."""
    check_correction(correction)
    options, context = options or PairedTestOptions(), judged.context
    names, of_each = _candidates(context, names, priors, baseline)
    who = _pairs(names, baseline)
    chosen = None if of_each is None else {n: of_each(judged, n) for n in names}
    scored = [m for m in parsed if not is_of_pairs(m)]
    scores = score_runs(judged, names, scored, priors=chosen)
    first, second = ([names.index(pair[i]) for pair in who] for i in (0, 1))
    asked = _Warnings()
    tables = []
    for measure in tqdm(parsed, desc="testing", unit="measure", disable=None, leave=False):
        reasons: list[str | None] = [None] * len(who)
        if is_of_pairs(measure):
            one = np.array(
                [measure(ref=b).score(Comparison(judged, context.runs[a], a)) for a, b in who]
            ).reshape(len(who), -1)
            other, limit = np.zeros(one.shape), tie_limit(np.array([one, -one]))
        else:
            values = scores.values[:, scored.index(measure)]
            one, other, limit = values[first], values[second], tie_limit(values)
            reasons = [why_not_comparable(judged, measure, a, b, chosen) for a, b in who]
        table = _table(measure, one, other, limit, test, options, asked, who, reasons)
        table.insert(0, "name", [a for a, _ in who])
        table.insert(1, "other", [b for _, b in who])
        table["p_corrected"] = corrected(table["p"].to_numpy(), correction)
        tables.append(table)
    asked.say()
    return pd.concat(tables, ignore_index=True)


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
        a DataFrame with one row a measure and run:

        - ``name``, ``measure``, ``mean``;
        - ``lower``: the mean is at least that, with the confidence asked for; below 0 where not even that is certain;
        - ``p``: one-sided, and ``p_corrected``;
        - ``effect``: the mean in standard deviations;
        - ``above``: on how many topics the run adds something;
        - ``topics``: how many.

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
    options = replace(_checked(context, test, correction, confidence, resamples, seed), greater=True)
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
    asked = _Warnings()
    tables = []
    for j, measure in enumerate(tqdm(parsed, desc="testing", unit="measure", disable=None, leave=False)):
        values, nothing = scores.values[:, j], np.zeros(scores.values[:, j].shape)
        limit = tie_limit(np.array([values, nothing]))
        who = [(name,) for name in names]
        table = _table(measure, values, nothing, limit, test, options, asked, who, [None] * len(names))
        table.insert(0, "name", names)
        table["above"] = table["wins"]
        if not measure.is_0_for_a_copy:
            table["p"] = np.nan
            asked.note(
                "above 0",
                f"{measure} is above 0 for a copy of another run too, so there is no test of that, and p is NaN; "
                "go by lower, or give UniqueRel@k or NRG(base='P')@k, which are 0 for a copy",
                times=len(names),
            )
        table["p_corrected"] = corrected(table["p"].to_numpy(), correction)
        tables.append(table)
    asked.say()
    columns = ["name", "measure", "mean", "lower", "p", "p_corrected", "effect", "above", "topics"]
    return pd.concat(tables, ignore_index=True)[columns]


def _checked(
    context: RunContext, test: str, correction: str | None, confidence: float, resamples: int, seed: int
) -> PairedTestOptions:
    """The options of a test, every argument checked."""
    check_is_context(context)
    check_test(test)
    check_correction(correction)
    return PairedTestOptions(confidence=confidence, resamples=resamples, seed=seed)


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


def _table(
    measure: ir_measures.Measure,
    one: FloatArray,
    other: FloatArray,
    limit: float,
    test: str,
    options: PairedTestOptions,
    warnings: _Warnings,
    who: Sequence[tuple[str, ...]],
    reasons: Sequence[str | None],
) -> pd.DataFrame:
    """What is said of each pair, by its values on every topic, pairs × topics, or why they are not comparable."""
    pairs, known = Pairs.between(one, other, limit), ~np.isnan(one - other)
    valid = np.array([reason is None for reason in reasons])
    tested = Pairs(np.where(valid[:, None], pairs.differences, np.nan), limit)
    rows: list[dict[str, Any]] = []
    for i, (p, lower, upper) in enumerate(zip(*paired_test(tested, test, options), strict=True)):
        d = pairs.differences[i, known[i]]
        n, wins, losses = len(d), int((d > 0).sum()), int((d < 0).sum())
        mean, other_mean = (mean_of_topics(measure, v[i, known[i]]) if n else np.nan for v in (one, other))
        both = " and ".join(map(repr, who[i]))
        row: dict[str, Any] = {"measure": str(measure), "mean": mean, "other_mean": other_mean}
        row |= {"difference": mean - other_mean, "lower": lower, "upper": upper, "p": p, "p_corrected": p}
        row |= {"effect": np.nan, "wins": wins, "ties": n - wins - losses, "losses": losses, "topics": n}
        if n < len(known[i]):
            left_out = len(known[i]) - n
            warnings.note(
                "unknown",
                f"{measure} has no value on {left_out} topic{'s' if left_out > 1 else ''}; the comparison leaves them "
                "out, as its column topics says",
            )
        if (reason := reasons[i]) is not None:
            instead = (
                "give fixed priors that neither is among, compare(…, priors=[…]), or priors='others'"
                if isinstance(measure, RelativeMeasure) and measure.RELATIVE_TO == "priors"
                else "compare runs that are not the reference"
            )
            warnings.note(
                "not comparable",
                f"the values of {both} on {measure} are different quantities, since {reason}; "
                f"the comparison has no p-value and no interval: {instead}",
            )
            row |= {"difference": np.nan} | dict.fromkeys(("wins", "ties", "losses"))
        elif n < 2:
            warnings.note(
                "topics",
                f"there {'is 1 topic' if n else 'are no topics'} to compare on, so there is no test and no interval; "
                "judge more topics",
            )
        elif np.ptp(d) > limit:
            row["effect"] = d.mean() / d.std(ddof=1)
            if np.isnan(p):
                warnings.note(
                    "sparse",
                    f"{both}: {measure} differs on {wins + losses} topics alone, and many resamples hold none of them, "
                    f"so test={test!r} has no p-value and no interval; give another test=, such as 'randomization'",
                )
        elif not d.any():
            row["effect"] = 0.0
        elif np.isnan(p):
            others = ", ".join(repr(k) for k, t in TESTS.items() if t.needs == "pair" and not t.by_spread)
            warnings.note(
                "constant",
                f"{both}: the difference on {measure} is {d[0]:.6g} on every topic, and test={test!r} goes by its "
                f"spread, so there is no p-value; give test= one of {others}",
            )
        rows.append(row)
    return pd.DataFrame(rows).astype(dict.fromkeys(("wins", "ties", "losses"), "Int64"))


def is_of_pairs(measure: ir_measures.Measure) -> bool:
    """Whether the measure compares any two runs by its sign: rrLP, sgnLP, sgnLR and RPP, without ``ref=``."""
    return is_relative(measure) and measure.SIGNED and measure.get("ref") is None


def why_not_comparable(
    judged: JudgedContext,
    measure: ir_measures.Measure,
    a: str,
    b: str,
    priors: dict[str, Collection[str]] | None = None,
) -> str | None:
    """Why the values of two runs of a context are different quantities; None if they are not.

    Two values relative to priors compare where both runs stand against the same runs but for each other:
    ``priors(a) - {b} = priors(b) - {a}``, and each counts the other as a prior or neither does. Distances to a
    reference compare where neither run is the reference.

    Args:
        priors: of each run, instead of those that the context's policy gives it.
    """
    if not is_relative(measure):
        return None

    def priors_of(name: str) -> set[str]:
        chosen = None if priors is None else tuple(priors[name])
        comparison = Comparison(judged, judged.context.runs[name], name, chosen)
        return {judged.names[i] for i in comparison.priors(measure.get("prior"))}

    if measure.RELATIVE_TO == "priors":
        of_a, of_b = priors_of(a), priors_of(b)
        if (b in of_a) != (a in of_b):
            counts, other = (a, b) if b in of_a else (b, a)
            return f"{other!r} is a prior of {counts!r}, and {counts!r} is not a prior of {other!r}"
        alone = sorted((of_a - {b}) ^ (of_b - {a}))
        if alone:
            return f"{some(alone)} {'is a prior' if len(alone) == 1 else 'are priors'} of one and not of the other"
    if measure.RELATIVE_TO == "reference" and not measure.SIGNED:
        reference = Comparison(judged, judged.context.runs[a], None).reference(measure.get("ref"))
        for name in (a, b):
            if reference is judged.context.runs[name]:
                return f"{name!r} is the reference, which is at no distance from itself"
    return None


class _Warnings:
    """What was met, each kind said once."""

    def __init__(self) -> None:
        self._said: dict[str, tuple[str, int]] = {}

    def note(self, kind: str, message: str, times: int = 1) -> None:
        first, count = self._said.get(kind, (message, 0))
        self._said[kind] = first, count + times

    def say(self) -> None:
        for message, count in self._said.values():
            warn(message + (f" (and {count - 1} more such)" if count > 1 else ""))
