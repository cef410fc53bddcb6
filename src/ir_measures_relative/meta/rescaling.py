"""Does a statistic change when every value is multiplied by 2? The test of that, and differences in per cent."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from numbers import Real
from typing import Any

import numpy as np
import pandas as pd

from ..io.frames import is_frame
from ..messages import kind_of
from ..tolerances import ROUNDED, TIED
from .power import conflicts, discriminative_power
from .table import correlation, pairs_of, read_table
from .tied_pairs import ties
from .topics import reliability, stability, swap_rate


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
        if not is_frame(before) or "measure" not in before.columns:
            raise TypeError(
                f"statistics[{name!r}] returned {kind_of(before)}; it must return a DataFrame with a column measure"
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
            same = np.isclose(a, b, rtol=TIED, atol=ROUNDED, equal_nan=True)
            most = int(np.argmax(np.where(same, -1.0, np.nan_to_num(np.abs(a - b), nan=np.inf))))
            row = {"before": float(a[most]), "after": float(b[most]), "moves": not same.all()}
            result.append((measure, column, row))
    return result
