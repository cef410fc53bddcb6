"""Power of measures: significant pairs, ASL curves, conflicts, differences in per cent; and which depend on units."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from numbers import Real
from typing import Any

import numpy as np
import pandas as pd
from tqdm import tqdm

from ir_measures_relative.stats import PairedTestOptions, correct_p_values

from .checks import check_count, check_share
from .table import FloatArray, ScoreTable, correlation, pairs_of, read_table
from .testing import ROUNDED, TESTS_OF_ALL_RUNS, TestResult, check_test, run_test
from .tied_pairs import ties
from .topics import reliability, stability, swap_rate

# Values of statistics that differ by at most this share are the same.
_SAME = 1e-9


def discriminative_power(
    table: Any,
    test: str = "t",
    correction: str | None = None,
    level: float = 0.05,
    *,
    resamples: int = 9999,
    swaps: int = 1000,
    seed: int = 0,
) -> pd.DataFrame:
    """The share of pairs of runs that are significantly different, and the share where no pair differs.

    ``share`` is significant pairs / pairs (Sakai, SIGIR 2006). ``false_positive_rate_per_pair`` is the same in
    ``swaps`` tables without differences: the names of each two runs swapped on random topics, the same for all pairs;
    ``false_positive_rate_per_family`` is the share of these tables with any significant pair. Both are about ``level``
    or less for a sound test; a higher power at a higher rate is no more power. Invariant under: positive factors and
    added constants.

    The tests of :func:`~ir_measures_relative.compare`, with ``"bootstrap"`` Sakai's ASL, and three of all runs:

    - ``"hsd"``: randomized two-way Tukey HSD (Carterette, TOIS 2012): p is the share of permutations of all names on
      each topic with a range of means of at least the difference;
    - ``"tukey"``: the same by the studentized range, of the residuals of runs and topics that add up;
    - ``"unpaired_t"``: two samples of one variance, which is not valid for runs on the same topics; to recompute
      published tables.

    Args:
        table: with a column ``other``, values of pairs (rrLP, sgnLP, RPP), for the tests of differences.
        correction: as for :func:`~ir_measures_relative.compare`, for the pairs of each measure; not with HSD.
        resamples: of the bootstrap and the randomization test; permutations of HSD.

    Returns:
        a DataFrame with one row per measure: ``measure``, ``pairs``, ``significant``, ``share`` and the two rates (NaN
        with ``swaps=0``). Pairs without a p-value count as not significant.
    """
    check_share("level", level)
    check_count("swaps", swaps, 0)
    rows: list[dict[str, Any]] = []
    for scores, found in _tested(table, test, correction, resamples, seed):
        # Other random numbers than those of the test.
        p, null = (correct_p_values(x, correction) for x in (found.p, found.null(swaps, seed + 1)))
        differ, false = p <= level, null <= level
        row: dict[str, Any] = {"measure": scores.measure, "pairs": len(p), "significant": int(differ.sum())}
        rates = (false.mean(), false.any(axis=1).mean()) if swaps else (np.nan, np.nan)
        row |= {"share": float(differ.mean()), "false_positive_rate_per_pair": float(rates[0])}
        rows.append(row | {"false_positive_rate_per_family": float(rates[1])})
    return pd.DataFrame(rows)


def asl_curve(
    table: Any,
    test: str = "bootstrap",
    correction: str | None = None,
    *,
    resamples: int = 9999,
    seed: int = 0,
) -> pd.DataFrame:
    """The p-values of all pairs of runs, sorted from the highest: achieved significance levels (Sakai, SIGIR 2006).

    The lower the curve of a measure, the more pairs are significantly different, at all levels at once. Invariant
    under: positive factors and added constants. Arguments are those of :func:`discriminative_power`.

    Returns:
        a DataFrame with one row per measure and pair: ``measure``; ``rank`` from 1; ``name`` and ``other``; ``p``,
        highest first, and NaN last.
    """
    rows: list[dict[str, Any]] = []
    for scores, found in _tested(table, test, correction, resamples, seed):
        p = correct_p_values(found.p, correction)
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
    """How often two measures agree or contradict each other on a pair of runs (Moffat, Scholer and Thomas, ADCS 2012).

    A disagreement does not say which measure errs. Invariant under: positive factors and added constants of any
    measure on its own. Arguments are those of :func:`discriminative_power`.

    Returns:
        a DataFrame with one row per two measures: ``measure``, ``other``, ``pairs``; the counts ``agree`` (significant
        for the same run by both), ``contradict`` (for different runs), ``only_measure``, ``only_other`` (by one of the
        two), ``neither``; ``conflicts`` = contradict + only_measure + only_other (UE, Table 8), and their ``share``.
    """
    check_share("level", level)
    verdicts = [
        (scores.measure, np.where(correct_p_values(found.p, correction) <= level, _better(found), 0.0))
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
    """The values of each measure on all pairs of runs, and the result of a test of them."""
    check_test(test)
    options = PairedTestOptions(resamples=resamples, seed=seed)
    if test in ("hsd", "tukey") and correction is not None:
        raise ValueError(
            f"correction={correction!r}: test={test!r} allows for the number of pairs itself; give correction=None"
        )
    measures = read_table(table, least_topics=2)
    for scores in tqdm(measures, desc="testing", unit="measure", disable=None, leave=False):
        if test in TESTS_OF_ALL_RUNS:
            scores.runs()  # raises ValueError for a table of pairs
        yield scores, run_test(scores.pairs, scores.values, test, options)


def _better(found: TestResult) -> FloatArray:
    """Which run of each pair is above by the statistic of the test: 1 the first, -1 the second, 0 neither."""
    total, size = found.terms.sum(axis=1), np.abs(found.terms).sum(axis=1)
    return np.where(np.abs(total) <= ROUNDED * size, 0.0, np.sign(total))


def percentage_absolute_difference(table: Any) -> pd.DataFrame:
    r"""PAD: by how many per cent the means of two runs differ, the mean over pairs (UE, Eq. 8 and Tables 10 and 22).

    With means :math:`M_1` and :math:`M_2`: :math:`100 \cdot |M_1 - M_2| / \max(M_1, M_2)`. Invariant under: positive
    factors, and **not under added constants**: 0.50 and 0.55 differ by 9 %; less 0.40, the same two differ by 33 %.
    nDCG_UE subtracts an expected value from nDCG, so its PAD is higher whatever it distinguishes. Compare measures of
    different origins by :func:`discriminative_power` with its false positive rate.

    Returns:
        a DataFrame with one row per measure: ``measure``; ``pairs``, those with a PAD (unequal means have none where
        the larger is not above 0); ``difference``, the mean PAD in per cent, above 100 where a mean is below 0.
    """
    rows = []
    for scores in read_table(table):
        means = scores.runs().mean(axis=1)
        a, b = (means[i] for i in pairs_of(scores.names))
        apart, larger = np.abs(a - b), np.maximum(a, b)
        same = apart <= scores.pairs.limit
        known = same | (larger > 0)
        with np.errstate(divide="ignore", invalid="ignore"):
            percent = np.where(same, 0.0, 100 * apart / larger)[known]
        row = {"measure": scores.measure, "pairs": len(percent)}
        rows.append(row | {"difference": float(percent.mean()) if len(percent) else np.nan})
    return pd.DataFrame(rows)


#: What :func:`rescaling_test` looks at if nothing is asked for.
STATISTICS: dict[str, Callable[[Any], Any]] = {
    "conflicts": conflicts,
    "correlation": correlation,
    "discriminative_power": discriminative_power,
    "percentage_absolute_difference": percentage_absolute_difference,
    "reliability": reliability,
    "stability": stability,
    "stability, relative": partial(stability, threshold="relative"),
    "stability, absolute": partial(stability, threshold="absolute"),
    "swap_rate": swap_rate,
    "ties": ties,
}


def rescaling_test(
    table: Any,
    statistics: Mapping[str, Callable[[Any], Any]] | None = None,
    factors: Sequence[float] = (2.0, 0.5),
    shifts: Sequence[float] = (1.0,),
) -> pd.DataFrame:
    """Multiply each measure by constants, add constants to it, and say which statistics change.

    2 × P@10 is the same measure as P@10. A statistic that changes must not compare measures of different units.

    Args:
        statistics: from a name to a function of a table that returns a DataFrame with a column ``measure``; default:
            all of this module that take a table.
        factors: above 0.
        shifts: what is added.

    Returns:
        a DataFrame with one row per measure, statistic, column of numbers and change: ``measure``, ``statistic``,
        ``column``, ``change`` such as ``"× 2"``; ``before`` and ``after`` of the row that changes most (NaN where the
        statistic has other rows than before); ``moves``, whether it changes by more than 10⁻⁹ of itself.
    """
    read_table(table)
    for name, numbers, least in (("factors", factors, 0.0), ("shifts", shifts, -np.inf)):
        wrong = [x for x in numbers if not (isinstance(x, Real) and least < x < np.inf)]
        if wrong:
            raise ValueError(
                f"{name}={list(numbers)} holds {wrong[0]!r}; give finite numbers, and factors above 0"
            )
    values = table["value"].astype(float)
    changed = [(f"× {x:g}", table.assign(value=values * x)) for x in factors]
    changed += [(f"+ {x:g}", table.assign(value=values + x)) for x in shifts]
    rows: list[dict[str, Any]] = []
    for name, statistic in (STATISTICS if statistics is None else statistics).items():
        before = statistic(table)
        if not isinstance(before, pd.DataFrame) or "measure" not in before.columns:
            raise TypeError(
                f"statistics[{name!r}] returned a {type(before).__name__}; give a function that returns a "
                "DataFrame with a column measure"
            )
        for change, other in changed:
            rows += [
                {"measure": measure, "statistic": name, "column": column, "change": change} | moved
                for measure, column, moved in _moves(before, statistic(other))
            ]
    return pd.DataFrame(rows)


def _moves(before: Any, after: Any) -> list[tuple[str, str, dict[str, Any]]]:
    """Each measure and column of numbers, with what has become of it."""
    result = []
    columns = before.select_dtypes("number").columns
    for measure in before["measure"].unique():
        old, new = (x.loc[x["measure"] == measure] for x in (before, after))
        for column in columns:
            a, b = old[column].to_numpy(dtype=np.float64), new[column].to_numpy(dtype=np.float64)
            if len(a) != len(b):
                result.append((measure, column, {"before": np.nan, "after": np.nan, "moves": True}))
                continue
            same = np.isclose(a, b, rtol=_SAME, atol=ROUNDED, equal_nan=True)
            most = int(np.argmax(np.where(same, -1.0, np.nan_to_num(np.abs(a - b), nan=np.inf))))
            row = {"before": float(a[most]), "after": float(b[most]), "moves": not same.all()}
            result.append((measure, column, row))
    return result
