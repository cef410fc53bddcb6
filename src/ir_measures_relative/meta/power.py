"""Discriminative power: how many pairs of runs does a measure tell apart, and how many where there is nothing?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arrays import FloatArray
from ..options import check_choice, check_count, check_share
from ..stats.paired import check_correction, corrected
from .pairs import SUM_TESTS, bootstrap_p, holm, hsd_p, permuted_means, topic_counts, tukey_p
from .table import Scores, frame, read_table

if TYPE_CHECKING:
    import pandas as pd

_TESTS = (*SUM_TESTS, "bootstrap", "hsd", "tukey")
_OF_ALL_RUNS = ("hsd", "tukey")


def discriminative_power(
    table: Any,
    test: str = "t",
    correction: str | None = None,
    level: float | Sequence[float] = 0.05,
    *,
    resamples: int = 9999,
    swaps: int = 1000,
    seed: int = 0,
) -> pd.DataFrame:
    """The share of pairs of runs that a test tells apart on a measure, and the share where there is nothing to tell.

    ``share`` is significant pairs / pairs (Sakai, SIGIR 2006), from 0 to 1. ``false_positive_rate`` is the same share
    of tables in which the runs do not differ: the names of each two swapped on topics drawn at random, the same topics
    for all pairs. A test that is sound has a rate of about ``level`` without a correction, and less with one; more
    power at a higher rate is no more power.

    The tests, of the differences a topic but for the last three:

    - ``"t"``: Student's paired t-test; ``"sign"``: binomial, without ties;
    - ``"wilcoxon"``: signed ranks, exact for up to 50 topics without ties, and by the normal distribution otherwise;
    - ``"bootstrap"``: Sakai's ASL, of t over resamples of topics, of differences shifted to a mean of 0. Its false
      positive rate takes ``swaps`` × ``resamples`` resamples: give fewer of both, or ``swaps=0``;
    - ``"hsd"``: the randomized two-way Tukey HSD (Carterette, TOIS 2012): the names of all runs permuted on each topic,
      p the share of permutations with a range of means of at least the difference. It allows for the number of pairs
      itself;
    - ``"tukey"``: the same by the studentized range, of the residuals of runs and topics that add up, with
      (runs - 1)(topics - 1) degrees of freedom: it tells more apart, for normal residuals of one variance;
    - ``"unpaired_t"``: two samples of one variance, as though each run had topics of its own, which is also Tukey's HSD
      of two runs at a time. Not a test for runs on the same topics; here so that tables made with it can be had again.

    Invariant under: positive factors and added constants (on one seed, to rounding).

    Args:
        table: ``name``, ``query_id`` (or ``qid``), ``measure``, ``value``: what ``evaluate(…, perquery=True)`` returns.
            With a column ``other`` each value is of a pair, how much better ``name`` is (rrLP, sgnLP, RPP), for the
            tests of differences.
        test: one of those above.
        correction: of the p-values of each measure for the number of pairs: what statsmodels' ``multipletests`` knows,
            such as ``"holm"``. Other ones than this take a minute for 1,000 ``swaps`` of a measure.
        level: at which a pair is told apart: p ≤ level; or several, for a row each, since power at one level says
            nothing of another. At all levels at once it is :func:`asl_curve`.
        resamples: of the bootstrap; permutations of HSD.
        swaps: how many tables without differences; 0 leaves the rate out, NaN.
        seed: of all random numbers. All measures get the same ones.

    Returns:
        a DataFrame with one row a measure: ``measure``, ``pairs``, ``significant``, ``share`` and
        ``false_positive_rate``; of several levels one row a measure and ``level``. A pair whose difference is the same
        on every topic, and not 0, has no t, and counts as not told apart; so does one that differs on too few topics
        for the bootstrap.

    Raises:
        ValueError: a table that is not complete, fewer than two runs or topics, an argument that is not allowed.
        ImportError: statsmodels is not installed, with a correction.

    Example:
        >>> import pandas as pd
        >>> from ir_measures_relative import meta
        >>> rows = [(n, q, "P@10", v + q % 3 / 10) for n, v in [("a", 0.1), ("b", 0.5)] for q in range(9)]
        >>> rows += [("c", q, "P@10", 0.1 + q % 2 / 10) for q in range(9)]
        >>> table = pd.DataFrame(rows, columns=["name", "query_id", "measure", "value"])
        >>> meta.discriminative_power(table, test="sign", swaps=0)
          measure  pairs  significant     share  false_positive_rate
        0    P@10      3            2  0.666667                  NaN
    """
    several = not isinstance(level, (int, float, np.number, str)) and isinstance(level, Iterable)
    levels: list[float] = list(level) if several else [level]  # type: ignore[arg-type, list-item]
    if not levels:
        raise ValueError("level is empty; give some, such as [0.01, 0.05]")
    for one in levels:
        check_share("level", one)
    check_count("swaps", swaps, 0)
    rows: list[dict[str, Any]] = []
    for scores, p, null in p_values(table, test, correction, resamples, swaps, seed):
        found, of_null = corrected(p, correction), _corrected_rows(null, correction)
        for one in levels:
            told = found <= one
            row: dict[str, Any] = {"measure": scores.measure} | ({"level": float(one)} if several else {})
            row |= {"pairs": len(p), "significant": int(told.sum()), "share": float(told.mean())}
            rows.append(row | {"false_positive_rate": float((of_null <= one).mean()) if swaps else np.nan})
    return frame(rows)


def asl_curve(
    table: Any,
    test: str = "bootstrap",
    correction: str | None = None,
    *,
    resamples: int = 9999,
    seed: int = 0,
) -> pd.DataFrame:
    """The p-values of all pairs of runs, sorted from the highest: Sakai's curve of achieved significance levels.

    The further down a measure's curve runs, the more pairs it tells apart, at whichever level (Sakai, SIGIR 2006).

    Invariant under: positive factors and added constants (on one seed, to rounding).

    Args:
        table: as for :func:`discriminative_power`, which also has the other arguments.

    Returns:
        a DataFrame with one row a measure and pair: ``measure``, ``rank`` from 1, ``name``, ``other`` and ``p``, from 0
        to 1, highest first; the pairs that a test says nothing of, NaN, come last.

    Raises:
        ValueError: as :func:`discriminative_power`.
    """
    rows: list[dict[str, Any]] = []
    for scores, p, _ in p_values(table, test, correction, resamples, 0, seed):
        p = corrected(p, correction)
        for rank, pair in enumerate(np.argsort(-p, kind="stable"), 1):
            names = scores.names[scores.first[pair]], scores.names[scores.second[pair]]
            row = {"measure": scores.measure, "rank": rank, "name": names[0], "other": names[1]}
            rows.append(row | {"p": float(p[pair])})
    return frame(rows)


def _corrected_rows(p: FloatArray, correction: str | None) -> FloatArray:
    """The p-values of each row, corrected for their number."""
    if correction in ("holm", "h"):
        return holm(p)
    return p if correction is None else np.array([corrected(row, correction) for row in p])


def p_values(
    table: Any, test: str, correction: str | None, resamples: int, swaps: int, seed: int
) -> Iterator[tuple[Scores, FloatArray, FloatArray]]:
    """Of each measure, the p-value of each pair, and those of each table whose names were swapped."""
    from tqdm import tqdm

    check_choice("test", test, _TESTS)
    check_count("resamples", resamples, 99)
    check_count("seed", seed, 0)
    check_correction(correction)
    if test in _OF_ALL_RUNS and correction is not None:
        raise ValueError(
            f"correction={correction!r}: test={test!r} allows for the number of pairs itself; give correction=None"
        )
    measures = read_table(table, least_topics=2)
    n = len(measures[0].queries)
    if test in _OF_ALL_RUNS:
        # The values from their mean on: what is added to all of them takes no digits away.
        values = [s.runs() - s.runs().mean() for s in measures]
        nulls = permuted_means(values, swaps, seed + 1)
        if test == "tukey":
            for scores, of_measure, null in zip(measures, values, nulls, strict=True):
                yield scores, tukey_p(of_measure.mean(axis=1), scores), tukey_p(null, scores)
            return
        ranges = [np.sort(np.ptp(m, axis=1)) for m in permuted_means(values, resamples, seed)]
        for scores, of_measure, found, null in zip(measures, values, ranges, nulls, strict=True):
            yield scores, hsd_p(of_measure.mean(axis=1), found, scores), hsd_p(null, found, scores)
        return
    signs = np.random.default_rng(seed + 1).choice([-1.0, 1.0], size=(swaps, n))
    counts = topic_counts(resamples, n, seed) if test == "bootstrap" else None
    for scores in tqdm(measures, desc="testing", unit="measure", disable=None, leave=False):
        if counts is not None:
            d = scores.differences
            null = np.array([bootstrap_p(d * s, counts) for s in tqdm(signs, disable=None, leave=False)])
            yield scores, bootstrap_p(d, counts), null
        else:
            weights, p_of = SUM_TESTS[test](scores)
            yield scores, p_of(weights.sum(axis=1)), p_of(signs @ weights.T)
