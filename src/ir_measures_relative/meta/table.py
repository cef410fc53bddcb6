"""The long table of values a run and query, as arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ..context.run_context import RunContext
from ..data.arrays import FloatArray, IntArray
from ..io.frames import is_frame
from ..messages import kind_of
from ..stats.pairs_and_ties import Pairs, tie_limit, with_ties


class ScoreTable(NamedTuple):
    """The values of one measure, on all pairs of some runs."""

    measure: str
    names: list[str]  #: of the runs
    queries: list[Any]  #: their ids
    pairs: Pairs  #: with the values of the runs, but of a measure that has values of pairs alone

    def runs(self) -> FloatArray:
        """The values of the runs; ValueError where there are values of pairs alone."""
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


def read_table(table: Any, *, least_topics: int = 1) -> list[ScoreTable]:
    """The measures of a table, in its order.

    ValueError for columns that are not there, values that are missing, not finite or given twice, and for fewer than
    two runs or too few topics.
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
    runs = ["name", "other"] if "other" in table.columns else ["name"]
    for column in (*runs, query, "measure"):
        nameless = np.flatnonzero(table[column].isna())
        if len(nameless):
            raise ValueError(f"row {nameless[0]} of the table has no {column}; drop it, or say which it is")
    names = pd.unique(pd.concat([table[column] for column in runs])).tolist()
    if len(names) < 2:
        raise ValueError(f"table has {len(names)} run{'s' * (len(names) != 1)}; give two or more to compare")
    queries = pd.unique(table[query]).tolist()
    if len(queries) < least_topics:
        raise ValueError(f"table has {len(queries)} topic; {least_topics} or more are needed")
    numbers = pd.to_numeric(table["value"], errors="coerce").to_numpy(dtype=np.float64, na_value=np.nan)
    cells = table[[*runs, query]].assign(value=numbers)
    make = _of_square if len(runs) == 2 else of_runs
    return [
        make(str(measure), _filled(str(measure), rows, [names] * len(runs) + [queries]), names, queries)
        for measure, rows in cells.groupby(table["measure"].astype(str), sort=False)
    ]


def _filled(measure: str, rows: pd.DataFrame, axes: Sequence[list[Any]]) -> FloatArray:
    """The values, the last column of the rows, in the places that the others say; NaN where there is none."""
    keys = list(rows.columns[:-1])
    for wrong, says in (
        (~np.isfinite(rows["value"]), "is missing or not a finite number; drop the measure, or that topic"),
        (rows.duplicated(keys), "stands twice in the table; drop one"),
    ):
        for cell in rows.loc[wrong, keys].head(1).itertuples(index=False):
            raise ValueError(f"{measure} of {_words(*cell)} {says}")
    at = (pd.Index(axis).get_indexer(rows[key]) for axis, key in zip(axes, keys, strict=True))
    result: FloatArray = np.full(tuple(map(len, axes)), np.nan)
    result[tuple(at)] = rows["value"]
    return result


def _words(*names_and_query: Any) -> str:
    *names, query = names_and_query
    return f"{' and '.join(f'run {n!r}' for n in names)} on query {query!r}"


def of_runs(measure: str, values: FloatArray, names: list[str], queries: list[Any]) -> ScoreTable:
    """The values of runs × queries; ValueError where one is not there."""
    for run, query in np.argwhere(np.isnan(values))[:1]:
        raise ValueError(
            f"{measure} of {_words(names[run], queries[query])} is not in the table; every measure needs a value of "
            "every run on every query"
        )
    return ScoreTable(measure, names, queries, Pairs.of_runs(values))


def _of_square(measure: str, values: FloatArray, names: list[str], queries: list[Any]) -> ScoreTable:
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
    return ScoreTable(measure, names, queries, Pairs.of_differences(differences))


def pairs_of(names: Sequence[Any]) -> tuple[IntArray, IntArray]:
    """The rows of the two runs of each pair, the earlier one first."""
    first, second = np.triu_indices(len(names), 1)
    return first, second


def check_two_runs(context: RunContext, to: str) -> None:
    """Raises ValueError for a context with fewer than two runs to compare, or to rank."""
    count = len(context.names)
    if count < 2:
        raise ValueError(f"the context holds {count} run{'s' * (count != 1)}; give two or more to {to}")


def summaries(found: Mapping[tuple[Any, ...], Sequence[float]], *keys: str) -> pd.DataFrame:
    """For each key how many samples have a value, their mean, and their standard deviation (n - 1)."""
    rows = []
    for key, values in found.items():
        known = np.array(values, dtype=np.float64)
        known = known[~np.isnan(known)]
        row = dict(zip(keys, key, strict=True)) | {"samples": len(known)}
        row["mean"] = float(known.mean()) if len(known) else np.nan
        rows.append(row | {"deviation": float(known.std(ddof=1)) if len(known) > 1 else np.nan})
    return pd.DataFrame(rows)
