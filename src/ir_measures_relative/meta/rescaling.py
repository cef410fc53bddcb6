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
from .table import ScoreTable, correlation, of_runs, pairs_of, read_table
from .tied_pairs import ties
from .topics import reliability, stability, swap_rate


def percentage_absolute_difference(
    table: Any, families: Mapping[str, Sequence[str]] | None = None
) -> pd.DataFrame:
    r"""PAD: by how many per cent the means of two runs differ, the mean over pairs (UE, Eq. 8 and Tables 10 and 22).

    Of two runs with means :math:`M_1` and :math:`M_2` it is :math:`100 \cdot |M_1 - M_2| / \max(M_1, M_2)`. The paper
    takes means over cutoffs as well as topics, which ``families`` does, and reads a higher PAD as a measure that
    distinguishes better.

    **Warning.** Invariant under: positive factors. **Not under added constants**: what is taken off all values alike
    makes every percentage larger and tells no two runs further apart. 0.50 and 0.55 differ by 9 %; less 0.40, the same
    two differ by 33 %. nDCG_UE takes an expected value off nDCG, so that its PAD must be higher, whatever it
    distinguishes: do not compare measures of different origins by PAD, but by :func:`discriminative_power` with its
    false positive rate.

    Args:
        families: from a label to measures of the table whose values are averaged first, such as
            ``{"nDCG": ["nDCG@5", "nDCG@10"]}``; each measure on its own if not given.

    Returns:
        a DataFrame with one row a measure, or family:

        - ``measure``; ``pairs``: how many have a PAD. Two means that differ have none where the larger is not above 0;
        - ``difference``: the mean PAD in per cent, 0 of equal means, above 100 where one of two is below 0; NaN of no
          pair.
    """
    rows = []
    for scores in _families(read_table(table), families):
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


def _families(scores: list[ScoreTable], families: Mapping[str, Sequence[str]] | None) -> list[ScoreTable]:
    """The means of the measures of each family, as a measure of its own."""
    if families is None:
        return scores
    such = "give a dict from label to a list of measures, such as {'nDCG': ['nDCG@5', 'nDCG@10']}"
    if not isinstance(families, Mapping):
        raise ValueError(f"families is {kind_of(families)}; {such}")
    known = {s.measure: s for s in scores}
    result = []
    for label, members in families.items():
        if isinstance(members, str):
            raise ValueError(f"families[{label!r}]={members!r} is a string; {such}")
        wanted = [str(m) for m in members]
        lacking = [m for m in wanted if m not in known]
        if lacking or not wanted:
            raise ValueError(
                f"families[{label!r}]={wanted} must name measures of the table, which are {list(known)}"
            )
        values = np.mean([known[m].runs() for m in wanted], axis=0)
        result.append(of_runs(str(label), values, scores[0].names, scores[0].queries))
    return result


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
    """Multiplies each measure by constants, and adds constants to it, and says which statistics move.

    2 × P@10 is the same measure as P@10: what differs between the two is no evidence for either. Where a statistic
    moves, it must not be used to compare measures of different units, such as AP with its rareness.

    Args:
        statistics: from a name to a function of such a table that returns a DataFrame with a column ``measure``, such
            as ``{"stability": functools.partial(meta.stability, threshold="absolute")}``; all of this module that
            take a table if not given.
        factors: above 0.
        shifts: what is added.

    Returns:
        a DataFrame with one row a measure, statistic, column of numbers and change:

        - ``measure``, ``statistic``, ``column``; ``change``, such as ``"× 2"``;
        - ``before``, ``after``: of the row that moves most, where a statistic has several a measure; NaN where the
          statistic has other rows than before;
        - ``moves``: whether it does, by more than 10⁻⁹ of itself.

    Example:
        >>> import pandas as pd
        >>> from ir_measures_relative import meta
        >>> rows = [(n, q, "M", v) for n, v in [("a", 0.30), ("b", 0.26)] for q in range(4)]
        >>> found = meta.rescaling_test(pd.DataFrame(rows, columns=["name", "query_id", "measure", "value"]))
        >>> found.loc[found["moves"], ["statistic", "column", "change"]].head(3)
                                 statistic      column change
        20  percentage_absolute_difference  difference    + 1
        69             stability, relative   stability    + 1
        71             stability, relative        ties    + 1
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
