"""Which of two runs is better by a relative measure, how sure that is, and whether a run adds anything."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import ir_measures
import numpy as np
import pandas as pd
from scipy.sparse import csr_array
from tqdm import tqdm

from ..arrays import FloatArray, IntArray
from ..context import RunContext
from ..ids import pair_keys
from ..io.qrels import Qrels
from ..measures.declaration import RelativeMeasure
from ..measures.parameters import value_of
from ..measures.strings import is_relative, parse_measures, value_range
from ..messages import few_quoted, kind_of, warn
from ..options import is_number
from ..priors import Listed, Members, Policy, matching, policy_of
from ..scoring import mean_of_topics, one_topic_counts, score_runs
from ..stats.families import Corrected, Family
from ..stats.intervals import effect_interval, mean_and_error
from ..stats.paired_tests import TESTS, PairedTestOptions, check_test
from ..stats.pairs_and_ties import Pairs, tie_limit
from ..stats.power import topics_to_settle
from ..view import View, check_is_context, some, view_of


def compare(
    context: RunContext,
    qrels: Qrels | None,
    measures: Sequence[ir_measures.Measure | str],
    names: Sequence[str] | None = None,
    priors: Policy | None = None,
    baseline: str | None = None,
    test: str | None = None,
    correction: str | None = "max-t",
    confidence: float = 0.95,
    *,
    family: str = "call",
    resamples: int = 9999,
    seed: int = 0,
) -> pd.DataFrame:
    """Compares runs two by two on measures, relative or not: differences, intervals, and tests that are valid.

    A paired test of two runs asks whether one quantity differs between them. On a measure that is relative to priors
    it is one quantity only if, apart from the two themselves, both are scored against the same runs, and
    each counts the other as a prior or neither does. There are two ways to have that:

    - fixed priors, ``priors=["BM25", …]``: what does each candidate add to these? The candidates are not among them;
    - symmetric ones, ``priors="others"``: each candidate against all other runs, so "which of the two would you rather
      do without?".

    With ``"earlier"`` or other policies, pairs that do not stand so have the two means and nothing else, and a warning
    says why. Measures that compare a run with a reference by their sign (rrLP, sgnLP, sgnLR and
    RPP, without ``ref=``) are computed for every pair, with ``other`` as the reference, and tested against 0. By rrLP,
    t is of the sizes of the preferences, and not of the counts of wins.

    Args:
        context: the runs.
        qrels: the judgments, as for :meth:`RunContext.evaluate`.
        measures: measures of this package and of ir_measures, or measure strings.
        names: the runs to compare; all but the fixed priors if not given.
        priors: as for :class:`RunContext`; those of the context if not given.
        baseline: the run to compare every other with; all pairs if not given.
        test: ``"t"`` (paired t-test), ``"wilcoxon"`` (signed ranks), ``"sign"``, ``"randomization"`` (signs
            flipped) or ``"bootstrap"`` (of t, shifted to a mean of 0). If not given it is each measure's own:
            ``"bootstrap"`` of NRG, UniqueRel and TaSC, whose differences are sparse and skewed, and ``"t"`` of others.
            The interval is Student's, and with ``"bootstrap"`` that of the same resamples.
        correction: for the number of rows: ``"max-t"``, ``"holm"``, or what statsmodels' ``multipletests`` knows, such
            as ``"bonferroni"``, ``"fdr_bh"``; None for none. By ``"max-t"``, of the tests ``"t"`` and ``"bootstrap"``
            (others are then corrected by Holm's method), each t is compared with the largest of all rows, over
            resamples of topics that all rows share; t in units of what 5 % of the row's own resamples exceed. The
            intervals are the rows' own, all made wider by one factor.
        confidence: of the intervals: of all at once by ``"max-t"`` (for 95 % on sparse measures in practice in 80 to
            90 %; docs/tests-checked.md has the figures), of each on its own with None. With another
            correction the interval of a row has the confidence 1 - (1 - confidence) · p / p_corrected, that of the
            row's test.
        family: which rows are corrected together: ``"call"``, all of them, or ``"measure"``, those of each measure.
        resamples: how many, for randomization, bootstrap and max-t.
        seed: of their random numbers.

    Returns:
        a DataFrame with one row a measure and pair:

        - ``name``, ``other``, ``measure``;
        - ``mean``, ``other_mean``: over topics, also of a measure that ir_measures sums;
        - ``difference``: of the two means, with its interval ``lower`` to ``upper``;
        - ``test``: which one was made;
        - ``p``: two-sided, and ``p_corrected``. By ``"t"`` and ``"bootstrap"`` the interval does not hold 0 just where
          ``p_corrected`` is below 1 - confidence. Beside the other tests, which ask another question, it is Student's.
          ``p_corrected`` by ``"max-t"`` is from resamples: never below 1/(1 + resamples), may exceed p times the number
          of rows, and need not order rows as p does;
        - ``effect``: d_z, the mean difference in standard deviations of the difference by topic. (Cohen's d divides by
          the standard deviation of the runs' values; of runs that mostly agree d_z is larger.) ``effect_lower`` and
          ``effect_upper``: its interval by the noncentral t distribution, which holds 0 where the other does;
        - ``wins``, ``ties``, ``losses``: on how many topics the run is better, as good and worse. A difference of at
          most 10⁻⁹ of the spread of the measure (over the runs that are compared, on all topics) is a tie, for the test
          as well;
        - ``topics``: how many;
        - ``topics_needed``: where the interval holds 0, how many topics would settle with 80 % power which run is
          better, were the difference and its spread those of these topics; inf where it is more than 10,000, so that
          no number helps. ``topics_fewest``, ``topics_most``: the same at the ends of the interval of the spread.

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
    check_is_context(context)
    if test is not None:
        check_test(test)
    of_family = Family(correction=correction, extent=family)
    options = PairedTestOptions(confidence=confidence, resamples=resamples, seed=seed)
    parsed = parse_measures(measures)
    names, of_each = _candidates(context, names, priors, baseline)
    view = view_of(context, qrels)
    who = _pairs(names, baseline)
    chosen = None if of_each is None else {n: of_each(view, n) for n in names}
    scored = [m for m in parsed if not is_of_pairs(m)]
    scores = score_runs(view, names, scored, priors=chosen)
    if (message := one_topic_counts(scores)) is not None:
        warn(message)
    first, second = ([names.index(pair[i]) for pair in who] for i in (0, 1))
    members, told = [], []
    for measure in tqdm(parsed, desc="comparing", unit="measure", disable=None, leave=False):
        reasons: list[str | None] = [None] * len(who)
        if is_of_pairs(measure):
            one = np.array([measure(ref=b).score(view.of(a)) for a, b in who]).reshape(len(who), -1)
            other, limit = np.zeros(one.shape), tie_limit(np.array([one, -one]))
        else:
            values = scores.values[:, scored.index(measure)]
            one, other, limit = values[first], values[second], tie_limit(values)
            reasons = [why_not_comparable(view, measure, a, b, chosen) for a, b in who]
        valid = np.array([reason is None for reason in reasons])
        pairs = Pairs.between(one, other, limit)
        members.append(
            (Pairs(np.where(valid[:, None], pairs.differences, np.nan), limit), test or test_of(measure))
        )
        told.append((measure, one, other, pairs, reasons))
    asked = _Warnings()
    tested = of_family.compared(members, options)
    tables = [
        _table(*of_measure, found, made, asked, who, confidence)
        for of_measure, (_, made), found in zip(told, members, tested, strict=True)
    ]
    asked.say()
    return pd.concat(tables, ignore_index=True)


def adds(
    context: RunContext,
    qrels: Qrels | None,
    measures: Sequence[ir_measures.Measure | str],
    names: Sequence[str] | None = None,
    priors: Policy | None = None,
    correction: str | None = "max-t",
    confidence: float = 0.95,
    *,
    at_least: float | None = None,
    family: str = "call",
    resamples: int = 9999,
    seed: int = 0,
) -> pd.DataFrame:
    """Does a run add anything, and how much at least? The mean of what each adds, with a one-sided interval.

    A mean of UniqueRel or NRG can only be 0 or more, and one topic on which it is more refutes that it is 0. So there
    is no test of that; the question is how far above 0 it certainly is: ``lower``, and with ``at_least=`` whether that
    is enough. Each run stands for itself: whatever its priors are, the row says what it adds to those.

    UniqueRel and NRG(base='P') are 0 for a copy of a prior. Other measures are not: by NRG's other models a searcher
    has overlooked some of what stands low in the priors, and a copy shows it once more; Shapley, TaSC and rareness
    reward what others find as well. That such a mean is above a number does not say that the run adds anything, so it
    has ``lower`` and no ``p``, and a warning says so.

    Args:
        context: the runs.
        qrels: the judgments.
        measures: measures that are relative to priors or to all systems.
        names: the runs; all but the fixed priors if not given.
        priors: as for :func:`compare`.
        correction, family: for the number of rows, as for :func:`compare`. By ``"max-t"`` all ``lower`` hold at once;
            by another correction, that of ``p``, each is on its own where there is no ``p``. So ``lower`` depends on
            how many rows the call has; for one run alone give ``correction=None``.
        confidence: of the interval.
        at_least: the smallest effect of interest, above 0, in the unit of the measures: the least mean that would be
            worth having, by UniqueRel a number of documents a topic. With it there is a ``p``.
        resamples, seed: of max-t, as for :func:`compare`.

    Returns:
        a DataFrame with one row a measure and run:

        - ``name``, ``measure``, ``mean``;
        - ``copy``: what an exact copy of the run's nearest prior would score in its place: a mean that is not well
          above it does not say that the run adds anything. The nearest prior holds most of the documents of the run's
          top k in its own top k, over all judged topics; of equals it is the first in the context. k is the measure's
          cutoff, without which whole rankings count. NaN of a run without priors. By a measure that is relative to all
          systems the others are the priors. A copy of another prior may score more: it is no upper bound of what
          copies score;
        - ``lower``: the mean is at least that, with the confidence asked for; by Student's t on the scale of the
          logarithm of the mean, so never below 0, but for a measure with negative values;
        - ``p``: one-sided, of a mean above ``at_least`` on the same scale; and ``p_corrected``, which is below
          1 - confidence just where ``lower`` is above that. Both only with ``at_least``, and
          NaN of a measure with negative values;
        - ``effect``: the mean in standard deviations of the values by topic; NaN of a measure that is not 0 for a copy,
          by which a copy has an effect too;
        - ``above``: on how many topics the run adds something: has more than 0, or by a measure that is not 0 for a
          copy more than that copy has there;
        - ``topics``: how many.

    Raises:
        ValueError: as :func:`compare`; a measure that is relative to neither; ``at_least`` that is not above 0, or of
            several measures that get a ``p``, in different units: documents of UniqueRel, shares of NRG(base='P').

    Example:
        >>> from ir_measures_relative import RunContext, UniqueRel, adds
        >>> qrels = {f"q{i}": {"A": 1, "B": 1} for i in range(8)}
        >>> old, new = ({q: {d: 1.0} for q, d in zip(qrels, docs)} for docs in ("AAAAAAAA", "BBBBBBBA"))
        >>> table = adds(RunContext({"old": old, "new": new}), qrels, [UniqueRel @ 1], priors=["old"], at_least=0.5)
        >>> table[["name", "measure", "mean", "copy", "lower", "p", "above", "topics"]].round(3)
          name      measure   mean  copy  lower      p  above  topics
        0  new  UniqueRel@1  0.875   0.0  0.668  0.003      7       8
    """
    check_is_context(context)
    of_family = Family(correction=correction, extent=family)
    options = PairedTestOptions(confidence=confidence, resamples=resamples, seed=seed)
    if at_least is not None and not (is_number(at_least) and 0 < at_least < np.inf):
        raise ValueError(
            f"at_least={at_least!r} is not allowed; it must be above 0: the least mean that is worth having, such as "
            "0.5 by UniqueRel@10, a document on every other topic"
        )
    parsed = parse_measures(measures)
    for measure in parsed:
        if not is_relative(measure) or measure.RELATIVE_TO not in ("priors", "systems"):
            raise ValueError(
                f"{measure} does not say what a run adds to others; give a measure such as UniqueRel@10 or NRG@10"
            )
    with_p = {type(m): m for m in parsed if m.is_0_for_a_copy}
    if at_least is not None and len({m.value_range for m in with_p.values()}) > 1:
        raise ValueError(
            f"at_least={at_least!r} is of one unit, and {' and '.join(map(str, with_p.values()))} have values of other "
            "ranges; call adds() for each, with an at_least of its own"
        )
    names, of_each = _candidates(context, names, priors, None)
    view = view_of(context, qrels)
    chosen = None if of_each is None else {n: of_each(view, n) for n in names}
    scores = score_runs(view, names, parsed, priors=chosen)
    if (message := one_topic_counts(scores)) is not None:
        warn(message)
    asked = _Warnings()
    members, tables = [], []
    for j, measure in enumerate(parsed):
        values = scores.values[:, j]
        limit = tie_limit(np.array([values, np.zeros(values.shape)]))
        tied = np.where(np.abs(values) <= limit, 0.0, values)
        members.append((tied, at_least if measure.is_0_for_a_copy else None))
        copies = copies_of_nearest(view, names, measure, chosen)
        tables.append(pd.DataFrame(_added(measure, names, values, tied, limit, copies, asked)))
    unsure = [str(m) for m in parsed if not m.is_0_for_a_copy]
    if unsure:
        warn(
            f"{', '.join(unsure)} {'is' if len(unsure) == 1 else 'are'} above 0 for a copy of another run too, so that "
            "lower is above a number does not say that the run adds anything"
            f"{', and there is no p' if at_least else ''}; give UniqueRel@k or NRG(base='P')@k, which are 0 for a copy"
        )
    for table, of_measure in zip(tables, of_family.above(members, options), strict=True):
        table["p"], table["p_corrected"], table["lower"], _ = of_measure
    asked.say()
    tested = [] if at_least is None else ["p", "p_corrected"]
    columns = ["name", "measure", "mean", "copy", "lower", *tested, "effect", "above", "topics"]
    return pd.concat(tables, ignore_index=True)[columns]


def _added(
    measure: RelativeMeasure,
    names: Sequence[str],
    values: FloatArray,
    tied: FloatArray,
    limit: float,
    copies: Copies,
    warnings: _Warnings,
) -> Iterator[dict[str, Any]]:
    """What is said of each run, by its values on every topic, runs × topics; and without what is a tie with 0."""
    from_0 = measure.is_0_for_a_copy
    # What a copy has as well is nothing that the run adds; a run without priors has all of it to itself.
    more = values - (0 if from_0 else np.nan_to_num(copies.values)) > limit
    for i, (name, of_run, without) in enumerate(zip(names, values, tied, strict=True)):
        known, d = of_run[~np.isnan(of_run)], without[~np.isnan(of_run)]
        row: dict[str, Any] = {"name": name, "measure": str(measure), "copy": copies.means[i]}
        row |= {"mean": mean_of_topics(measure, known) if len(d) else np.nan, "effect": np.nan}
        warnings.note_topics(measure, len(d), len(of_run) - len(d))
        if len(d) > 1 and np.ptp(d) > limit:
            row["effect"] = d.mean() / d.std(ddof=1) if from_0 else np.nan
        elif len(d) > 1 and not d.any():
            row["effect"] = 0.0 if from_0 else np.nan
        elif len(d) > 1:
            warnings.note(
                "constant",
                f"{name!r}: {measure} is {d[0]:.6g} on every topic, and the interval goes by its spread, so there is "
                "no lower end",
            )
        yield row | {"above": int(more[i].sum()), "topics": len(d)}


def _candidates(
    context: Members, names: Sequence[str] | None, priors: Policy | None, baseline: str | None
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
            raise ValueError(
                f"{what}={name!r}: the context holds no such run; its runs are {few_quoted(context.names)}"
            )
        if name in fixed:
            raise ValueError(
                f"{what}={name!r} is among the fixed priors={few_quoted(fixed)}: against itself it has no prior where "
                "the others have one, so its values are another quantity; leave it out of one of the two, or give "
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
    pairs: Pairs,
    reasons: Sequence[str | None],
    found: Corrected,
    test: str,
    warnings: _Warnings,
    who: Sequence[tuple[str, ...]],
    confidence: float,
) -> pd.DataFrame:
    """What is said of each pair, by its values on every topic, pairs × topics, or why they are not comparable."""
    known, limit = ~np.isnan(one - other), pairs.limit
    difference, error, topics = mean_and_error(pairs.differences)
    with np.errstate(divide="ignore", invalid="ignore"):
        effect = difference / error / topics**0.5
        effects = effect, *effect_interval(effect, topics, (found.upper - found.lower) / 2 / error)
    low, high = value_range(measure)
    # Of a pair, the value itself is the difference.
    far = high if is_of_pairs(measure) else high - low
    ends = (np.clip(end, -far, far) for end in (found.lower, found.upper))
    rows: list[dict[str, Any]] = []
    for i, (p, p_corrected, lower, upper) in enumerate(zip(found.p, found.p_corrected, *ends, strict=True)):
        d = pairs.differences[i, known[i]]
        n, wins, losses = len(d), int(pairs.wins[i]), int(pairs.losses[i])
        mean, other_mean = (mean_of_topics(measure, v[i, known[i]]) if n else np.nan for v in (one, other))
        both = " and ".join(map(repr, who[i]))
        row: dict[str, Any] = {"name": who[i][0], "other": who[i][1], "measure": str(measure)}
        row |= {"mean": mean, "other_mean": other_mean}
        row |= {"difference": mean - other_mean, "lower": lower, "upper": upper, "test": test, "p": p}
        row |= {"p_corrected": p_corrected, "effect": np.nan, "effect_lower": np.nan, "effect_upper": np.nan}
        row |= {"wins": wins, "ties": n - wins - losses, "losses": losses, "topics": n}
        row |= dict.fromkeys(("topics_needed", "topics_fewest", "topics_most"), np.nan)
        if reasons[i] is None and lower <= 0 <= upper and n > 1:
            needed = topics_to_settle(d, (upper - lower) / 2, 0.0, confidence)
            counts = (np.inf,) * 3 if needed is None or not needed.possible else needed
            row |= dict(zip(("topics_needed", "topics_fewest", "topics_most"), counts, strict=True))
        warnings.note_topics(measure, n, len(known[i]) - n, valid=reasons[i] is None)
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
        elif n > 1 and np.ptp(d) > limit:
            row |= {"effect": effects[0][i], "effect_lower": effects[1][i], "effect_upper": effects[2][i]}
            if np.isnan(p):
                warnings.note(
                    "sparse",
                    f"{both}: {measure} differs on {wins + losses} topics alone, and many resamples hold none of them, "
                    f"so test={test!r} has no p-value and no interval; give another test=, such as 'randomization'",
                )
        elif n > 1 and not d.any():
            row["effect"] = 0.0
        elif n > 1 and np.isnan(p):
            others = ", ".join(repr(k) for k, t in TESTS.items() if t.needs == "pair" and not t.by_spread)
            warnings.note(
                "constant",
                f"{both}: the difference on {measure} is {d[0]:.6g} on every topic, and test={test!r} goes by its "
                f"spread, so there is no p-value; give test= one of {others}",
            )
        rows.append(row)
    return pd.DataFrame(rows).astype(dict.fromkeys(("wins", "ties", "losses"), "Int64"))


def test_of(measure: ir_measures.Measure) -> str:
    """The test that a measure declares; of a measure of somebody else's, Student's."""
    return measure.TEST if isinstance(measure, RelativeMeasure) else "t"


def is_of_pairs(measure: ir_measures.Measure) -> bool:
    """Whether the measure compares any two runs by its sign: rrLP, sgnLP, sgnLR and RPP, without ``ref=``."""
    return is_relative(measure) and measure.SIGNED and measure.get("ref") is None


def why_not_comparable(
    view: View,
    measure: ir_measures.Measure,
    a: str,
    b: str,
    priors: dict[str, Collection[str]] | None = None,
) -> str | None:
    """Why the values of two runs of a context are different quantities; None if they are not.

    Two values relative to priors compare where both runs stand against the same runs but for each other:
    ``priors(a) - {b} = priors(b) - {a}``, and each counts the other as a prior or neither does. Distances to a
    reference compare where neither run is the reference. Where ``systems=`` says whose rankings count, they compare
    where both runs are among these, or neither is.

    Args:
        priors: of each run, instead of those that the context's policy gives it.
    """
    if not is_relative(measure):
        return None

    if measure.RELATIVE_TO == "priors":
        of_a, of_b = ({view.names[i] for i in _priors_of(view, n, measure, priors)} for n in (a, b))
        if (b in of_a) != (a in of_b):
            counts, other = (a, b) if b in of_a else (b, a)
            return f"{other!r} is a prior of {counts!r}, and {counts!r} is not a prior of {other!r}"
        alone = sorted((of_a - {b}) ^ (of_b - {a}))
        if alone:
            return f"{some(alone)} {'is a prior' if len(alone) == 1 else 'are priors'} of one and not of the other"
    systems = value_of(measure, "systems")
    if systems not in (None, "groups"):
        counted = {a, b} & {*matching(systems, view.names, "systems")}
        if len(counted) == 1:
            return f"{counted.pop()!r} is one of systems={systems!r}, and the other run is not"
    if measure.RELATIVE_TO == "reference" and not measure.SIGNED:
        reference = view.with_run(view.runs[a]).reference_run(measure.get("ref"))
        for name in (a, b):
            if reference is view.runs[name]:
                return f"{name!r} is the reference, which is at no distance from itself"
    return None


def _priors_of(view: View, name: str, measure: Any, priors: Mapping[str, Collection[str]] | None) -> IntArray:
    return view.of(name, None if priors is None else priors[name]).priors(measure.get("prior"))


class Copies(NamedTuple):
    """Of each run by one measure: its nearest prior, and what a copy of that has in its place; None and NaN of none.

    The nearest prior holds most of the documents of the run's top k in its own top k, over all topics that are judged,
    whether the documents are or not; of equals it is the first in the context. k is the measure's cutoff; without one
    the whole rankings count.
    """

    nearest: list[str | None]
    means: FloatArray
    values: FloatArray  #: runs × topics


def copies_of_nearest(
    view: View,
    names: Sequence[str],
    measure: Any,
    priors: Mapping[str, Collection[str]] | None = None,
) -> Copies:
    """What copies of the nearest priors score, each in the place of a run.

    Args:
        names: the runs.
        measure: one that is relative to priors, or to all systems, where all others are a run's priors.
        priors: the names of the priors of each run, instead of those that the context's policy gives it.
    """
    cutoff = measure.params.get("cutoff")
    shared = shared_documents(view, cutoff)
    nearest: list[str | None] = []
    means = np.full(len(names), np.nan)
    values = np.full((len(names), len(view.query_ids)), np.nan)
    for i, name in enumerate(names):
        row = view.members.index[name]
        others = np.delete(np.arange(len(view.names)), row)
        if measure.RELATIVE_TO == "priors":
            others = _priors_of(view, name, measure, priors)
        near = view.names[others[shared[row, others].argmax()]] if len(others) else None
        nearest.append(near)
        if near is not None:
            values[i] = _score_of_copy(view, name, near, measure, others)
            means[i] = mean_of_topics(measure, values[i])
    return Copies(nearest, means, values)


def _score_of_copy(view: View, name: str, near: str, measure: Any, priors: IntArray) -> FloatArray:
    copy = view.runs[near]
    if measure.RELATIVE_TO == "priors":
        # A newcomer with the run's priors, and so with the one that it is a copy of.
        of_copy = view.with_run(copy, priors=[view.names[i] for i in priors])
        measure = type(measure)(**{key: value for key, value in measure.params.items() if key != "prior"})
    else:
        # All systems are those that there would be, without the run.
        of_copy = view.with_runs({name: copy}).of(name)
    values: FloatArray = measure.score(of_copy)
    return values


def shared_documents(view: View, cutoff: int | None) -> IntArray:
    """How many documents of the judged topics each two runs both hold in their tops: runs × runs."""

    def compute() -> IntArray:
        tops = [view.at(cutoff).top(run) for run in view.runs.values()]
        keys = [pair_keys(top.docs.query, top.hashes) for top in tops]
        different, document = np.unique(np.concatenate(keys), return_inverse=True)
        starts = np.cumsum([0, *map(len, keys)])
        shape = len(keys), max(len(different), 1)
        holds = csr_array((np.ones(len(document), dtype=np.int64), document, starts), shape=shape)
        both: IntArray = (holds @ holds.T).toarray()
        return both

    return view.cached(("shared", cutoff), compute)


class _Warnings:
    """What was met, each kind said once."""

    def __init__(self) -> None:
        self._said: dict[str, tuple[str, int]] = {}

    def note(self, kind: str, message: str, times: int = 1) -> None:
        first, count = self._said.get(kind, (message, 0))
        self._said[kind] = first, count + times

    def note_topics(self, measure: ir_measures.Measure, n: int, left_out: int, valid: bool = True) -> None:
        """Topics without a value, and too few that have one."""
        if left_out:
            self.note(
                "unknown",
                f"{measure} has no value on {left_out} topic{'s' if left_out > 1 else ''}; the comparison leaves them "
                "out, as its column topics says",
            )
        if n < 2 and valid:
            self.note(
                "topics",
                f"there {'is 1 topic' if n else 'are no topics'} to compare on, so there is no test and no interval; "
                "judge more topics",
            )

    def say(self) -> None:
        for message, count in self._said.values():
            warn(message + (f" (and {count - 1} more such)" if count > 1 else ""))
