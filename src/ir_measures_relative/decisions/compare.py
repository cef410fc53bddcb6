"""Whether two runs differ by a measure, relative or not, on more than these topics."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import ir_measures
import numpy as np
import pandas as pd
from scipy.sparse import csr_array
from tqdm import tqdm

from ..context.checks import check_runs
from ..context.collection import Collection, judged_collection
from ..context.duplicates import deepest_cutoff, find_duplicates, priors_of, why_incomparable
from ..context.evaluate import aggregate, is_summed, one_topic_counts, score_runs
from ..context.evaluated import Evaluated
from ..context.measure_strings import is_relative, parse_measures, value_range
from ..context.missing_topics import check_topics, tell_of_missing_topics
from ..context.priors import FixedPriors, Policy, resolve_policy
from ..context.run_context import RunContext, check_is_context
from ..data.arrays import FloatArray, IntArray
from ..data.ids import pair_keys
from ..io.qrels import Qrels
from ..measures.measure import RelativeMeasure
from ..messages import few_quoted, kind_of, warn
from ..stats.families import MAX_T, Corrected, Family
from ..stats.intervals import effect_interval, mean_and_error, means_and_margins
from ..stats.paired_tests import TESTS, PairedTestOptions, Pairs, check_test, tie_limit
from ..stats.topics_needed import topics_to_settle

# The columns of the effect and its interval, and of the number of topics and its interval.
_EFFECT = ("effect", "effect_ci_lower", "effect_ci_upper")
_TOPICS = ("topics_needed", "topics_fewest", "topics_most")


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
    of_family = Family(correction=correction, extent=family)
    options = PairedTestOptions(confidence=confidence, resamples=resamples, seed=seed)
    parsed = parse_measures(measures)
    names, of_each, fixed = _candidates(context, names, priors, baseline)
    view = judged_collection(context, qrels)
    check_runs(view, parsed, missing_topics=False)
    view, note = check_topics(view, names, missing, relative=any(map(is_relative, parsed)))
    _refuse_copies(view, names, parsed, fixed)
    if len(names) < 2:
        raise ValueError(f"there is one run to compare, {names[0]!r}; give more names, or fewer priors")
    who = list(itertools.combinations(names, 2))
    if baseline is not None:
        who = [(name, baseline) for name in names if name != baseline]
    chosen = None if of_each is None else {n: of_each(view, n) for n in names}
    scored = [m for m in parsed if not is_of_pairs(m)]
    scores = score_runs(view, names, scored, priors=chosen, missing_topics=False)
    if (message := one_topic_counts(scores)) is not None:
        warn(message)
    first, second = ([names.index(pair[i]) for pair in who] for i in (0, 1))
    members, told = [], []
    for measure in tqdm(parsed, desc="comparing", unit="measure", disable=None, leave=False):
        reasons: list[str | None] = [None] * len(who)
        if is_of_pairs(measure):
            one = np.array([measure(ref=b).score(Evaluated.of(view, a)) for a, b in who]).reshape(
                len(who), -1
            )
            other, limit = np.zeros(one.shape), tie_limit(np.array([one, -one]))
        else:
            values = scores.values[:, scored.index(measure)]
            one, other, limit = values[first], values[second], tie_limit(values)
            reasons = [why_incomparable(view, measure, a, b, chosen) for a, b in who]
        valid = np.array([reason is None for reason in reasons])
        pairs = Pairs.between(one, other, limit)
        own = measure.TEST if isinstance(measure, RelativeMeasure) else "t"
        members.append((Pairs(np.where(valid[:, None], pairs.differences, np.nan), limit), test or own))
        told.append((measure, one, other, pairs, reasons))
    notes: dict[str, list[str]] = {}
    tested = of_family.test(members, options)
    tables = [
        _table(*of_measure, found, made, notes, who, confidence)
        for of_measure, (_, made), found in zip(told, members, tested, strict=True)
    ]
    for message, *more in notes.values():  # each kind is said once
        warn(message + (f" (and {len(more)} more such)" if more else ""))
    table = pd.concat(tables, ignore_index=True)
    at_once = correction == MAX_T and all(TESTS[of_measure].by_t for _, of_measure in members)
    table.attrs |= {"confidence": confidence, "simultaneous": at_once}  # for sentence()
    return tell_of_missing_topics(table, note, missing, context)


def _candidates(
    context: RunContext, names: Sequence[str] | None, priors: Policy | None, baseline: str | None
) -> tuple[list[str], Any, Sequence[str]]:
    """The runs to compare, what gives the priors of each: None for the context's policy, and the fixed priors."""
    if isinstance(names, str):
        raise ValueError(f"names={names!r} must be a list of run names, such as [{names!r}]")
    policy = context.policy if priors is None else resolve_policy(priors, context.names, context.groups)
    fixed = policy.priors if isinstance(policy, FixedPriors) else ()
    asked = [n for n in context.names if n not in fixed] if names is None else list(names)
    if baseline is not None and baseline not in asked:
        asked.append(baseline)
    for i, name in enumerate(asked):
        what = "baseline" if name == baseline else "names"
        if not isinstance(name, str):
            raise ValueError(f"{name!r} is {kind_of(name)}; give the name of a run of the context")
        if name not in context.runs:
            known = few_quoted(context.names)
            raise ValueError(f"{what}={name!r}: the context holds no such run; its runs are {known}")
        if name in fixed:
            raise ValueError(
                f"{what}={name!r} is among the fixed priors={few_quoted(fixed)}; leave it out, or give priors='others'"
            )
        if name in asked[:i]:
            raise ValueError(f"names holds {name!r} twice; name every run once")
    if not asked:
        why = "all are among the fixed priors; give fewer priors" if fixed else "give the names of some"
        raise ValueError(f"there is no run to compare: {why if context.runs else 'the context holds none'}")
    return asked, None if priors is None else policy.priors_of, fixed


def _refuse_copies(
    view: Collection, names: Sequence[str], measures: Sequence[ir_measures.Measure], fixed: Sequence[str]
) -> None:
    """Raises ValueError where a run to compare is a fixed prior under another name."""
    depth = deepest_cutoff(measures)
    first = find_duplicates(view, depth) if fixed and depth != 0 else {}
    of_priors = {first.get(name, name): name for name in fixed}
    name = next((name for name in names if first.get(name, name) in of_priors), None)
    if name is not None:
        prior = of_priors[first.get(name, name)]
        raise ValueError(
            f"{name!r} ranks as {prior!r} does, which is among the fixed priors={few_quoted(fixed)}: it would "
            "be its own prior, and its values another quantity; leave it out of one of the two"
        )


def _table(
    measure: ir_measures.Measure,
    one: FloatArray,
    other: FloatArray,
    pairs: Pairs,
    reasons: Sequence[str | None],
    found: Corrected,
    test: str,
    notes: dict[str, list[str]],
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

    def note(kind: str, message: str) -> None:
        notes.setdefault(kind, []).append(message)

    for i, (p, p_corrected, lower, upper) in enumerate(zip(found.p, found.p_corrected, *ends, strict=True)):
        d, reason = pairs.differences[i, known[i]], reasons[i]
        n, wins, losses = len(d), int(pairs.wins[i]), int(pairs.losses[i])
        mean, other_mean = (_mean_of_topics(measure, v[i, known[i]]) if n else np.nan for v in (one, other))
        both = " and ".join(map(repr, who[i]))
        row: dict[str, Any] = {"name": who[i][0], "other": who[i][1], "measure": str(measure)}
        row |= {"mean": mean, "other_mean": other_mean, "difference": mean - other_mean}
        row |= {"ci_lower": lower, "ci_upper": upper, "test": test, "p": p, "p_corrected": p_corrected}
        row |= dict.fromkeys(_EFFECT, np.nan)
        row |= {"wins": wins, "ties": n - wins - losses, "losses": losses, "topics": n}
        row |= dict.fromkeys(_TOPICS, np.nan)
        if reason is None and lower <= 0 <= upper and n > 1:
            needed = topics_to_settle(d, (upper - lower) / 2, 0.0, confidence)
            counts = (np.inf,) * 3 if needed is None or not needed.possible else needed
            row |= dict(zip(_TOPICS, counts, strict=True))
        if left_out := len(known[i]) - n:
            note(
                "unknown",
                f"{measure} has no value on {left_out} topic{'s' if left_out > 1 else ''}; the comparison leaves them "
                "out, as its column topics says",
            )
        if n < 2 and reason is None:
            there = "is 1 topic" if n else "are no topics"
            note(
                "topics",
                f"there {there} to compare on, so there is no test and no interval; judge more topics",
            )
        if reason is not None:
            priors = isinstance(measure, RelativeMeasure) and measure.RELATIVE_TO == "priors"
            fixed = "give fixed priors that neither is among, compare(…, priors=[…]), or priors='others'"
            note(
                "not comparable",
                f"the values of {both} on {measure} are different quantities, since {reason}; "
                "the comparison has no p-value and no interval: "
                + (fixed if priors else "compare runs that are not the reference"),
            )
            row |= {"difference": np.nan} | dict.fromkeys(("wins", "ties", "losses"))
        elif n > 1 and np.ptp(d) > limit:
            row |= {name: values[i] for name, values in zip(_EFFECT, effects, strict=True)}
            if np.isnan(p):
                note(
                    "sparse",
                    f"{both}: {measure} differs on {wins + losses} topics alone, and many resamples hold none of them, "
                    f"so test={test!r} has no p-value and no interval; give another test=, such as 'randomization'",
                )
        elif n > 1 and not d.any():
            row["effect"] = 0.0
        elif n > 1 and np.isnan(p):
            others = ", ".join(repr(k) for k, t in TESTS.items() if not t.by_spread)
            note(
                "constant",
                f"{both}: the difference on {measure} is {d[0]:.6g} on every topic, and test={test!r} goes by its "
                f"spread, so there is no p-value; give test= one of {others}",
            )
        rows.append(row)
    return pd.DataFrame(rows).astype(dict.fromkeys(("wins", "ties", "losses"), "Int64"))


def is_of_pairs(measure: ir_measures.Measure) -> bool:
    """Whether the measure compares any two runs by its sign: rrLP, sgnLP, sgnLR and RPP, without ``ref=``."""
    return is_relative(measure) and measure.SIGNED and measure.get("ref") is None


class Copies(NamedTuple):
    """Of each run by one measure: its nearest prior, and what a copy of that has in its place; None and NaN of none.

    The nearest prior holds most of the documents of the run's top k, over all judged topics; of equals the first.
    """

    nearest: list[str | None]
    means: FloatArray
    values: FloatArray  #: runs × topics


def copies_of_nearest(
    view: Collection, names: Sequence[str], measure: Any, priors: Mapping[str, Iterable[str]] | None = None
) -> Copies:
    """What copies of the nearest priors score, each in the place of a run."""
    cutoff, to_priors = measure.params.get("cutoff"), measure.RELATIVE_TO == "priors"
    free = type(measure)(**{key: value for key, value in measure.params.items() if key != "prior"})
    shared = shared_documents(view, cutoff)
    nearest: list[str | None] = [None] * len(names)
    means = np.full(len(names), np.nan)
    values = np.full((len(names), view.documents.n_queries), np.nan)
    for i, name in enumerate(names):
        row = view.index[name]
        others = np.delete(np.arange(len(view.names)), row)
        if to_priors:
            others = priors_of(view, name, measure, priors)
        if not len(others):
            continue
        nearest[i] = near = view.names[others[shared[row, others].argmax()]]
        if to_priors:
            # A new run with the run's priors, and so with the one that it is a copy of.
            of_copy = Evaluated.of(view, view.runs[near], [view.names[i] for i in others])
            values[i] = free.score(of_copy)
        else:
            # All systems are those that there would be, without the run.
            values[i] = measure.score(Evaluated.of(view.with_runs({name: view.runs[near]}), name))
        means[i] = _mean_of_topics(measure, values[i])
    return Copies(nearest, means, values)


def shared_documents(view: Collection, cutoff: int | None) -> IntArray:
    """How many documents of the judged topics each two runs both hold in their tops: runs × runs."""

    def compute() -> IntArray:
        tops = view.tops(cutoff)
        keys = [pair_keys(top.docs.query, top.hashes) for top in tops]
        different, document = np.unique(np.concatenate(keys), return_inverse=True)
        starts = np.cumsum([0, *map(len, keys)])
        shape = len(keys), max(len(different), 1)
        holds = csr_array((np.ones(len(document), dtype=np.int64), document, starts), shape=shape)
        both: IntArray = (holds @ holds.T).toarray()
        return both

    return view.memoize(("shared", cutoff), compute)


# ---- means


def mean_intervals(
    context: RunContext,
    qrels: Qrels | None,
    measures: Sequence[ir_measures.Measure | str],
    confidence: float = 0.95,
) -> pd.DataFrame:
    """The mean of each run by each measure, with its interval over topics.

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
    check_means(parsed)
    return intervals_of_means(context.evaluate(qrels, parsed, perquery=True), parsed, confidence)


def check_means(measures: Sequence[ir_measures.Measure]) -> None:
    """Raises ValueError for a measure without a mean."""
    summed = [str(m) for m in measures if is_summed(m)]
    if summed:
        raise ValueError(f"{summed[0]} is a sum over topics, and no mean that has an interval; leave it out")


def intervals_of_means(
    table: pd.DataFrame, measures: Sequence[ir_measures.Measure], confidence: float = 0.95
) -> pd.DataFrame:
    """As :func:`mean_intervals`, from the long table of the values by topic."""
    means, margins = means_and_margins(table, *measures, confidence=confidence)
    names = list(map(str, measures))
    mean = means[names].to_numpy().reshape(-1)
    below, above = (np.transpose([margins[name][side] for name in names]).reshape(-1) for side in (0, 1))
    ends = {"mean": mean, "ci_lower": mean - below, "ci_upper": mean + above}
    of_each = {"name": means["name"].repeat(len(names)).tolist(), "measure": names * len(means)}
    return pd.DataFrame(of_each | ends)


def _mean_of_topics(measure: ir_measures.Measure, values: FloatArray) -> float:
    """The mean of some values, of a measure that ir_measures sums as well."""
    return float(values.mean()) if is_summed(measure) else aggregate(measure, values)
