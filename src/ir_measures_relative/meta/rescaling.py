"""Which statistics are about a measure, and which about its unit?"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from ..io.frames import is_frame
from ..messages import kind_of
from .conflicts import conflicts
from .correlations import correlation
from .differences import percentage_absolute_difference
from .power import discriminative_power
from .resampling import stability, swap_rate
from .table import frame, read_table
from .ties import ties

if TYPE_CHECKING:
    import pandas as pd

#: What :func:`rescaling_test` looks at if nothing is asked for.
STATISTICS: dict[str, Callable[[Any], Any]] = {
    "conflicts": conflicts,
    "correlation": correlation,
    "discriminative_power": discriminative_power,
    "percentage_absolute_difference": percentage_absolute_difference,
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
    """Multiplies each measure by constants, and adds constants to it, and says which statistics move.

    2 × P@10 is the same measure as P@10: what differs between the two is no evidence for either. Where a statistic
    moves, it must not be used to compare measures of different units, such as AP with its rareness.

    Args:
        table: ``name``, ``query_id`` (or ``qid``), ``measure``, ``value``: what ``evaluate(…, perquery=True)`` returns.
        statistics: from a name to a function of such a table that returns a DataFrame with a column ``measure``, such
            as ``{"stability": functools.partial(meta.stability, threshold="absolute")}``; all of this module that
            take a table if not given.
        factors: above 0.
        shifts: what is added.

    Returns:
        a DataFrame with one row a measure, statistic, ``column`` of numbers and ``change`` (such as ``"× 2"``): the
        value ``before`` and ``after`` (of the row that moves most, where a statistic has several a measure), and
        whether it ``moves``: by more than 10⁻⁹ of itself. A column that has other rows than before moves, with no
        values.

    Raises:
        ValueError: a table that is not complete, a factor that is not above 0, and what the statistics object to.

    Example:
        >>> import pandas as pd
        >>> from ir_measures_relative import meta
        >>> rows = [(n, q, "M", v) for n, v in [("a", 0.30), ("b", 0.26)] for q in range(4)]
        >>> found = meta.rescaling_test(pd.DataFrame(rows, columns=["name", "query_id", "measure", "value"]))
        >>> found.loc[found["moves"], ["statistic", "column", "change"]].head(3)
                                 statistic      column change
        17  percentage_absolute_difference  difference    + 1
        45             stability, relative   stability    + 1
        47             stability, relative        ties    + 1
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
    return frame(rows)


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
            same = np.isclose(a, b, rtol=1e-9, atol=1e-12, equal_nan=True)
            most = int(np.argmax(np.where(same, -1.0, np.nan_to_num(np.abs(a - b), nan=np.inf))))
            row = {"before": float(a[most]), "after": float(b[most]), "moves": not same.all()}
            result.append((measure, column, row))
    return result
