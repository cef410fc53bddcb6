"""The long table of values a run and query, as arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..arrays import FloatArray, IntArray
from ..io.frames import is_frame
from ..messages import kind_of

if TYPE_CHECKING:
    import pandas as pd

#: What is smaller than this share of a measure's spread is rounding.
ROUNDING = 1e-9


class Scores(NamedTuple):
    """The values of one measure.

    Attributes:
        measure: its name.
        names: of the runs.
        queries: their ids.
        values: runs × queries; None of a measure that compares two runs, which has values of pairs alone.
        first: of each pair, the row of its first run.
        second: and of its second.
        differences: pairs × queries: by how much the first is better than the second.
        spread: from the lowest value (or difference, if there is nothing else) to the highest.
    """

    measure: str
    names: list[str]
    queries: list[Any]
    values: FloatArray | None
    first: IntArray
    second: IntArray
    differences: FloatArray
    spread: float

    def runs(self) -> FloatArray:
        """The values of the runs.

        Raises:
            ValueError: there are values of pairs alone.
        """
        if self.values is None:
            raise ValueError(
                f"{self.measure} has values of pairs (there is a column 'other'), and this needs one a run: give a "
                "table without that column; discriminative_power, asl_curve, conflicts and ties take pairs"
            )
        return self.values


def read_table(table: Any, *, least_topics: int = 1) -> list[Scores]:
    """The measures of a table, in its order.

    Raises:
        TypeError: not a DataFrame.
        ValueError: columns that are not there, values that are missing, not finite or given twice, fewer than two runs
            or too few topics.
    """
    import pandas as pd

    if not is_frame(table):
        raise TypeError(
            f"table is {kind_of(table)}; give the DataFrame that RunContext.evaluate(…, perquery=True) or "
            "pt.Experiment(…, perquery=True) returns"
        )
    query = "query_id" if "query_id" in table.columns else "qid"
    missing = [c for c in ("name", query, "measure", "value") if c not in table.columns]
    if missing:
        raise ValueError(
            f"table has no column {', '.join('query_id (or qid)' if c == 'qid' else c for c in missing)}; its columns "
            f"are {[str(c) for c in table.columns]}; give the one of evaluate(…, perquery=True)"
        )
    paired = "other" in table.columns
    for column in ("name", query, "measure", *(["other"] if paired else [])):
        nameless = np.flatnonzero(table[column].isna())
        if len(nameless):
            raise ValueError(f"row {nameless[0]} of the table has no {column}; drop it, or say which it is")
    measures = table["measure"].astype(str)
    names = pd.unique(pd.concat([table["name"], table["other"]]) if paired else table["name"]).tolist()
    if len(names) < 2:
        raise ValueError(f"table has {len(names)} run{'s' * (len(names) != 1)}; give two or more to compare")
    queries = pd.unique(table[query]).tolist()
    if len(queries) < least_topics:
        raise ValueError(f"table has {len(queries)} topic; {least_topics} or more are needed")
    row = pd.Index(names).get_indexer(table["name"])
    column = pd.Index(queries).get_indexer(table[query])
    other = pd.Index(names).get_indexer(table["other"]) if paired else None
    numbers = pd.to_numeric(table["value"], errors="coerce").to_numpy(dtype=np.float64, na_value=np.nan)
    result = []
    for measure in pd.unique(measures):
        rows = np.flatnonzero((measures == measure).to_numpy())
        axes = [names, queries] if other is None else [names, names, queries]
        at = (row[rows], column[rows]) if other is None else (row[rows], other[rows], column[rows])
        filled = _filled(measure, axes, at, numbers[rows])
        result.append(
            of_runs(measure, filled, *axes) if other is None else _of_square(measure, filled, *axes[1:])
        )
    return result


def _filled(
    measure: str, axes: Sequence[list[Any]], at: Sequence[IntArray], numbers: FloatArray
) -> FloatArray:
    """The values in their places, NaN where there is none."""
    where = [f"{_words(axes, [i[r] for i in at])}" for r in np.flatnonzero(~np.isfinite(numbers))[:1]]
    if where:
        raise ValueError(
            f"{measure} of {where[0]} is missing or not a finite number; drop the measure, or that topic"
        )
    shape = tuple(map(len, axes))
    flat = np.ravel_multi_index(tuple(at), shape)
    again = np.flatnonzero(np.bincount(flat, minlength=1) > 1)
    if len(again):
        raise ValueError(
            f"{measure} of {_words(axes, np.unravel_index(again[0], shape))} stands twice in the table; drop one"
        )
    result: FloatArray = np.full(shape, np.nan)
    result.flat[flat] = numbers
    return result


def _words(axes: Sequence[list[Any]], at: Sequence[Any]) -> str:
    *names, query = (axis[int(i)] for axis, i in zip(axes, at, strict=True))
    return f"{' and '.join(f'run {n!r}' for n in names)} on query {query!r}"


def of_runs(measure: str, values: FloatArray, names: list[str], queries: list[Any]) -> Scores:
    """The values of runs × queries.

    Raises:
        ValueError: a value that is not there.
    """
    absent = np.argwhere(np.isnan(values))
    if len(absent):
        raise ValueError(
            f"{measure} of {_words([names, queries], absent[0])} is not in the table; every measure needs a value of "
            "every run on every query"
        )
    first, second = np.triu_indices(len(names), 1)
    differences = values[first] - values[second]
    spread = float(np.ptp(values))
    return Scores(measure, names, queries, values, first, second, _clean(differences, spread), spread)


def of_pairs(measure: str, differences: FloatArray, names: list[str], queries: list[Any]) -> Scores:
    """The values of every two runs, the earlier one first: pairs × queries."""
    first, second = np.triu_indices(len(names), 1)
    spread = float(np.ptp(differences)) if differences.size else 0.0
    return Scores(measure, names, queries, None, first, second, _clean(differences, spread), spread)


def _of_square(measure: str, values: FloatArray, names: list[str], queries: list[Any]) -> Scores:
    """The upper triangle, from whichever side it was given."""
    first, second = np.triu_indices(len(names), 1)
    one, two = values[first, second], -values[second, first]
    differences = np.where(np.isnan(one), two, one)
    spread = float(np.nanmax(differences) - np.nanmin(differences)) if differences.size else 0.0
    clash = np.argwhere(np.abs(one - two) > ROUNDING * spread)
    if len(clash):
        a, b = names[first[clash[0][0]]], names[second[clash[0][0]]]
        raise ValueError(
            f"{measure} of runs {a!r} and {b!r} on query {queries[clash[0][1]]!r} is not the negative of that of the "
            "two the other way round; give each pair once"
        )
    absent = np.argwhere(np.isnan(differences))
    if len(absent):
        a, b = names[first[absent[0][0]]], names[second[absent[0][0]]]
        raise ValueError(
            f"{measure} of runs {a!r} and {b!r} on query {queries[absent[0][1]]!r} is not in the table; every pair "
            "needs a value on every query"
        )
    return of_pairs(measure, differences, names, queries)


def _clean(differences: FloatArray, spread: float) -> FloatArray:
    """0 where two differ by no more than what rounding may do: a tie."""
    return np.where(np.abs(differences) <= ROUNDING * spread, 0.0, differences)


def frame(rows: list[dict[str, Any]], columns: Sequence[str] | None = None) -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame(rows, columns=columns)
