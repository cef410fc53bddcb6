"""The long table of values a run and query, as arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ..arrays import FloatArray, IntArray
from ..context import RunContext
from ..io.frames import is_frame
from ..messages import kind_of
from ..stats.pairs_and_ties import Pairs, tie_limit, with_ties


class Measured(NamedTuple):
    """The values of one measure.

    Attributes:
        measure: its name.
        names: of the runs.
        queries: their ids.
        pairs: all pairs of the runs on the queries, with the values of the runs; of a measure that compares two runs,
            which has values of pairs alone, without.
    """

    measure: str
    names: list[str]
    queries: list[Any]
    pairs: Pairs

    def runs(self) -> FloatArray:
        """The values of the runs.

        Raises:
            ValueError: there are values of pairs alone.
        """
        if self.pairs.values is None:
            raise ValueError(
                f"{self.measure} has values of pairs (there is a column 'other'), and this needs one a run: give a "
                "table without that column; discriminative_power, asl_curve, conflicts and ties take pairs"
            )
        return self.pairs.values

    def means(self) -> FloatArray:
        """The mean of each pair of runs: how much better the first is."""
        means: FloatArray = self.pairs.differences.mean(axis=1)
        return means

    def standing(self) -> FloatArray:
        """The means of the runs over topics, those that are tied equal; of a measure of pairs, over opponents too."""
        if self.pairs.values is not None:
            means = self.pairs.values.mean(axis=1)
        else:
            square = np.zeros((len(self.names), len(self.names)))
            square[pairs_of(self.names)] = self.means()
            means = (square - square.T).sum(axis=1) / max(len(square) - 1, 1)
        return with_ties(means, self.pairs.limit)


def read_table(table: Any, *, least_topics: int = 1) -> list[Measured]:
    """The measures of a table, in its order.

    Raises:
        TypeError: not a DataFrame.
        ValueError: columns that are not there, values that are missing, not finite or given twice, fewer than two runs
            or too few topics.
    """
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


def of_runs(measure: str, values: FloatArray, names: list[str], queries: list[Any]) -> Measured:
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
    return Measured(measure, names, queries, Pairs.of_runs(values))


def _of_square(measure: str, values: FloatArray, names: list[str], queries: list[Any]) -> Measured:
    """The upper triangle, from whichever side it was given."""
    first, second = pairs_of(names)
    one, two = values[first, second], -values[second, first]
    differences = np.where(np.isnan(one), two, one)
    for wrong, message in (
        (
            np.abs(one - two) > tie_limit(np.array([differences, -differences])),
            "is not the negative of that of the two the other way round; give each pair once",
        ),
        (np.isnan(differences), "is not in the table; every pair needs a value on every query"),
    ):
        for pair, query in np.argwhere(wrong)[:1]:
            a, b = names[first[pair]], names[second[pair]]
            raise ValueError(f"{measure} of runs {a!r} and {b!r} on query {queries[query]!r} {message}")
    return Measured(measure, names, queries, Pairs.of_differences(differences))


def pairs_of(names: Sequence[str]) -> tuple[IntArray, IntArray]:
    """The rows of the two runs of each pair, the earlier one first."""
    first, second = np.triu_indices(len(names), 1)
    return first, second


def check_two_runs(context: RunContext, to: str) -> None:
    """Raises ValueError for a context with fewer than two runs to compare, or to rank."""
    count = len(context.names)
    if count < 2:
        raise ValueError(f"the context holds {count} run{'s' * (count != 1)}; give two or more to {to}")


def summary(values: Sequence[float]) -> dict[str, Any]:
    """How many samples have a value, their mean, and their standard deviation (n - 1)."""
    known = np.array(values, dtype=np.float64)
    known = known[~np.isnan(known)]
    return {
        "samples": len(known),
        "mean": float(known.mean()) if len(known) else np.nan,
        "deviation": float(known.std(ddof=1)) if len(known) > 1 else np.nan,
    }
