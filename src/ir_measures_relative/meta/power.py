"""How much does a measure tell apart: power and its false positives, ASL curves, conflicts with other measures."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
from tqdm import tqdm

from ..arguments import check_count, check_share
from ..data.arrays import FloatArray
from ..stats.families import check_correction, corrected
from ..stats.paired_tests import PairedTestOptions, TestResult, check_test
from ..tolerances import ROUNDED
from .table import ScoreTable, pairs_of, read_table


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

    ``share`` is significant pairs / pairs (Sakai, SIGIR 2006), from 0 to 1. ``false_positive_rate_per_pair`` is the
    same share of tables in which the runs do not differ: the names of each two swapped on topics drawn at random, the
    same topics for all pairs. ``false_positive_rate_per_family`` is the share of these tables in which any pair is told
    apart. A sound test without a correction has a rate per pair of about ``level``, and a higher one per family; with
    Holm's or Bonferroni's correction, or HSD, the rate per family is at most about ``level``. More power at a higher
    rate is no more power.

    The tests are those of :func:`~ir_measures_relative.compare`, of a pair's differences by topic, and three of all
    runs at once:

    - ``"t"``: Student's paired t-test; ``"sign"``: binomial, without ties;
    - ``"wilcoxon"``: signed ranks, exact for up to 50 topics without ties, or 13 with some, and else by the normal
      distribution;
    - ``"randomization"``: the signs of the differences flipped, in all ways where there are at most ``resamples``;
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
        table: with a column ``other`` each value is of a pair, how much better ``name`` is (rrLP, sgnLP, RPP), for the
            tests of differences.
        correction: of the p-values of each measure for the number of pairs, as for
            :func:`~ir_measures_relative.compare`. Others than ``"holm"`` take a minute for 1,000 ``swaps``.
        level: at which a pair is told apart: p ≤ level; or several, for a row each, since power at one level says
            nothing of another. At all levels at once it is :func:`asl_curve`.
        resamples: how many, of the bootstrap and of randomization; permutations of HSD.
        swaps: how many tables without differences; 0 leaves the rates out, NaN.

    Returns:
        a DataFrame with one row a ``measure`` (and ``level``, of several): ``pairs`` of runs, ``significant``,
        ``share``, ``false_positive_rate_per_pair``, ``false_positive_rate_per_family``. A pair whose difference is the
        same on every topic, and not 0, counts as not told apart, and so does one of too few topics for the bootstrap.

    Example:
        >>> import pandas as pd
        >>> from ir_measures_relative import meta
        >>> rows = [(n, q, "P@10", v + q % 3 / 10) for n, v in [("a", 0.1), ("b", 0.5)] for q in range(9)]
        >>> rows += [("c", q, "P@10", 0.1 + q % 2 / 10) for q in range(9)]
        >>> table = pd.DataFrame(rows, columns=["name", "query_id", "measure", "value"])
        >>> meta.discriminative_power(table, test="sign", swaps=0)[["measure", "pairs", "significant", "share"]]
          measure  pairs  significant     share
        0    P@10      3            2  0.666667
    """
    several = not isinstance(level, (int, float, np.number, str)) and isinstance(level, Iterable)
    levels: list[float] = list(level) if several else [level]  # type: ignore[arg-type, list-item]
    if not levels:
        raise ValueError("level is empty; give some, such as [0.01, 0.05]")
    for one in levels:
        check_share("level", one)
    check_count("swaps", swaps, 0)
    rows: list[dict[str, Any]] = []
    for scores, found in _tested(table, test, correction, resamples, seed):
        # Other random numbers than those of the test.
        p, null = (corrected(x, correction) for x in (found.p, found.null(swaps, seed + 1)))
        for one in levels:
            told = p <= one
            row: dict[str, Any] = {"measure": scores.measure} | ({"level": float(one)} if several else {})
            row |= {"pairs": len(p), "significant": int(told.sum()), "share": float(told.mean())}
            for unit, false in (("pair", null <= one), ("family", (null <= one).any(axis=1))):
                row[f"false_positive_rate_per_{unit}"] = float(false.mean()) if swaps else np.nan
            rows.append(row)
    return pd.DataFrame(rows)


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
        a DataFrame with one row a measure and pair:

        - ``measure``; ``rank``, from 1; ``name`` and ``other``, the two runs;
        - ``p``: from 0 to 1, highest first; the pairs that a test says nothing of, NaN, come last.

    Raises:
        ValueError: as :func:`discriminative_power`.
    """
    rows: list[dict[str, Any]] = []
    for scores, found in _tested(table, test, correction, resamples, seed):
        p = corrected(found.p, correction)
        first, second = pairs_of(scores.names)
        for rank, pair in enumerate(np.argsort(-p, kind="stable"), 1):
            row = {"measure": scores.measure, "rank": rank, "name": scores.names[first[pair]]}
            rows.append(row | {"other": scores.names[second[pair]], "p": float(p[pair])})
    return pd.DataFrame(rows)


def conflicts(
    table: Any,
    test: str = "t",
    correction: str | None = None,
    level: float = 0.05,
    *,
    resamples: int = 9999,
    seed: int = 0,
) -> pd.DataFrame:
    """How often two measures agree, by a test, on which of two runs is better; contradict; or one tells and one not.

    Each pair of runs is told apart by both measures for the same run (an active agreement, in the words of Moffat,
    Scholer and Thomas, ADCS 2012), by both for different runs (an active disagreement), by one of the two, or by
    neither. UE's Table 8 counts "conflict cases", in which one measure tells two runs apart and the other does not, or
    they contradict.

    A disagreement does not say which of the two measures errs, and one that tells more apart is in conflict with others
    for that alone. Invariant under: positive factors and added constants, of any measure on its own. Arguments are as
    for :func:`discriminative_power`.

    Returns:
        a DataFrame with one row for each two measures:

        - ``measure``, ``other``; ``pairs`` of runs;
        - ``agree``, ``contradict``, ``only_measure``, ``only_other``, ``neither``: counts that add up to ``pairs``;
        - ``conflicts``: contradict + only_measure + only_other, and their ``share`` of the pairs, from 0 to 1.

    Example:
        >>> import pandas as pd
        >>> from ir_measures_relative import meta
        >>> values = {"A": {"a": 0.1, "b": 0.5, "c": 0.3}, "B": {"a": 0.1, "b": 0.5, "c": 0.5}}
        >>> rows = [(n, q, m, v + q * i % 3 / 50) for m, vs in values.items() for i, (n, v) in enumerate(vs.items())
        ...         for q in range(9)]
        >>> table = pd.DataFrame(rows, columns=["name", "query_id", "measure", "value"])
        >>> meta.conflicts(table)[["measure", "other", "agree", "contradict", "only_measure", "only_other", "neither"]]
          measure other  agree  contradict  only_measure  only_other  neither
        0       A     B      2           0             1           0        0
    """
    check_share("level", level)
    verdicts = [
        (scores.measure, np.where(corrected(found.p, correction) <= level, _better(found), 0.0))
        for scores, found in _tested(table, test, correction, resamples, seed)
    ]
    rows = []
    for (measure, one), (name, other) in itertools.combinations(verdicts, 2):
        counts = {
            "agree": (one * other > 0).sum(),
            "contradict": (one * other < 0).sum(),
            "only_measure": ((one != 0) & (other == 0)).sum(),
            "only_other": ((one == 0) & (other != 0)).sum(),
            "neither": ((one == 0) & (other == 0)).sum(),
        }
        row: dict[str, Any] = {"measure": measure, "other": name, "pairs": len(one)}
        row |= {key: int(count) for key, count in counts.items()}
        row["conflicts"] = row["contradict"] + row["only_measure"] + row["only_other"]
        rows.append(row | {"share": row["conflicts"] / len(one)})
    columns = ["agree", "contradict", "only_measure", "only_other", "neither", "conflicts", "share"]
    return pd.DataFrame(rows, columns=["measure", "other", "pairs", *columns])


def _tested(
    table: Any, test: str, correction: str | None, resamples: int, seed: int
) -> Iterator[tuple[ScoreTable, TestResult]]:
    """What a test finds out about all pairs by each measure."""
    chosen = check_test(test, campaign=True)
    options = PairedTestOptions(resamples=resamples, seed=seed)
    check_correction(correction)
    if chosen.corrects and correction is not None:
        raise ValueError(
            f"correction={correction!r}: test={test!r} allows for the number of pairs itself; give correction=None"
        )
    measures = read_table(table, least_topics=2)
    for scores in tqdm(measures, desc="testing", unit="measure", disable=None, leave=False):
        if chosen.needs == "campaign":
            scores.runs()  # for its check
        yield scores, chosen.run(scores.pairs, options)


def _better(found: TestResult) -> FloatArray:
    """Which run of each pair the test is for: 1 the first, -1 the second; by signs or ranks, where it is by these."""
    total, size = found.terms.sum(axis=1), np.abs(found.terms).sum(axis=1)
    return np.where(np.abs(total) <= ROUNDED * size, 0.0, np.sign(total))
