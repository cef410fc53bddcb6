"""The long table of values by run and topic, as arrays; and correlations between measures."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import ir_measures
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import kendalltau, weightedtau

from ir_measures_relative import RelativeWarning, RunContext, similarity
from ir_measures_relative.stats import Pairs

from .checks import check_choice

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]


class ScoreTable(NamedTuple):
    """The values of one measure, on all pairs of some runs."""

    measure: str
    names: list[str]  #: of the runs
    queries: list[Any]  #: their ids
    pairs: Pairs  #: of all two runs, the earlier one first
    values: FloatArray | None = None  #: runs × topics; None of a measure that has values of pairs alone

    def runs(self) -> FloatArray:
        """Return the values of the runs; ValueError where there are values of pairs alone."""
        if self.values is None:
            raise ValueError(
                f"{self.measure} has values of pairs (there is a column 'other'), and this needs a value for each run; "
                "give a table without that column (discriminative_power, asl_curve, conflicts and ties take pairs)"
            )
        return self.values

    def on(self, topics: BoolArray) -> ScoreTable:
        """Return the values on some topics, tied as before."""
        pairs = Pairs(self.pairs.differences[:, topics], self.pairs.limit)
        queries = [query for query, chosen in zip(self.queries, topics, strict=True) if chosen]
        values = None if self.values is None else self.values[:, topics]
        return self._replace(pairs=pairs, queries=queries, values=values)

    def means(self) -> FloatArray:
        """The mean of each pair of runs: how much better the first is."""
        means: FloatArray = self.pairs.differences.mean(axis=1)
        return means

    def standing(self) -> FloatArray:
        """The means of the runs over topics, those that are tied equal; of a measure of pairs, over opponents too."""
        if self.values is not None:
            means = self.values.mean(axis=1)
        else:
            square = np.zeros((len(self.names), len(self.names)))
            square[pairs_of(self.names)] = self.means()
            means = (square - square.T).sum(axis=1) / max(len(square) - 1, 1)
        return with_ties(means, self.pairs.limit)


def read_table(table: Any, *, least_topics: int = 1) -> list[ScoreTable]:
    """The measures of a table, in its order; ValueError for an incomplete table, or too few runs or topics."""
    if not isinstance(table, pd.DataFrame):
        raise TypeError(
            f"table is a {type(table).__name__}; give the DataFrame that RunContext.evaluate(…, perquery=True) or "
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
    value = pd.to_numeric(table["value"], errors="coerce").to_numpy(dtype=np.float64, na_value=np.nan)
    measure = table["measure"].astype(str)
    cells = table[[*runs, query]].assign(measure=measure, value=np.where(np.isfinite(value), value, np.nan))
    keys = [*runs, query]
    again = cells.duplicated([*keys, "measure"]).to_numpy()
    for row in cells[again].head(1).to_dict("records"):
        who = " and ".join(repr(row[run]) for run in runs)
        raise ValueError(
            f"{row['measure']} of run {who} on query {row[query]!r} is duplicated in the table; drop one"
        )
    axes = [*([names] * len(runs)), queries]
    make = _of_square if len(runs) == 2 else _of_runs
    tables = []
    for of, rows in cells.groupby("measure", sort=False):
        at = (pd.Index(axis).get_indexer(rows[key]) for axis, key in zip(axes, keys, strict=True))
        values = np.full(tuple(map(len, axes)), np.nan)
        values[tuple(at)] = rows["value"]
        tables.append(make(str(of), values, names, queries))
    return tables


def _of_runs(measure: str, values: FloatArray, names: list[str], queries: list[Any]) -> ScoreTable:
    """The values of runs × queries; ValueError where one is missing."""
    _refuse(np.isnan(values), measure, [f"run {name!r}" for name in names], queries, _MISSING)
    return ScoreTable(measure, names, queries, all_pairs(values), values)


def _of_square(measure: str, values: FloatArray, names: list[str], queries: list[Any]) -> ScoreTable:
    """The upper triangle, from whichever side it was given."""
    first, second = pairs_of(names)
    one, two = values[first, second], -values[second, first]
    differences = np.where(np.isnan(one), two, one)
    pairs = [f"runs {names[a]!r} and {names[b]!r}" for a, b in zip(first, second, strict=True)]
    unlike = np.abs(one - two) > Pairs.from_differences(differences).limit
    once = "is not the negative of that of the two the other way round; give each pair once"
    _refuse(unlike, measure, pairs, queries, once)
    _refuse(np.isnan(differences), measure, pairs, queries, _MISSING)
    return ScoreTable(measure, names, queries, Pairs.from_differences(differences))


_MISSING = "is missing or not a finite number; drop the measure, or that topic"


def _refuse(wrong: BoolArray, measure: str, rows: Sequence[str], queries: Sequence[Any], says: str) -> None:
    for row, query in np.argwhere(wrong)[:1]:
        raise ValueError(f"{measure} of {rows[row]} on query {queries[query]!r} {says}")


def pairs_of(names: Sequence[Any]) -> tuple[IntArray, IntArray]:
    """The rows of the two runs of each pair, the earlier one first."""
    first, second = np.triu_indices(len(names), 1)
    return first, second


def all_pairs(values: FloatArray) -> Pairs:
    """Return all pairs of runs × topics, the earlier run first."""
    first, second = pairs_of(range(len(values)))
    return Pairs.between(values[first], values[second])


def with_ties(values: FloatArray, limit: float) -> FloatArray:
    """Return the values, of which those that are tied are equal: each is the lowest that it is tied with."""
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    apart = np.diff(ordered, prepend=-np.inf) > limit
    lowest = np.maximum.accumulate(np.where(apart, np.arange(len(values)), 0))
    result = np.empty_like(values)
    result[order] = ordered[lowest]
    return result


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


def correlation(table: Any, statistic: str = "tau") -> pd.DataFrame:
    r"""How similarly two measures order the runs, by their means over topics. From -1 to 1.

    - ``"tau"``: Kendall's τ_b, :math:`(C - D) / \sqrt{(C + D + T_x)(C + D + T_y)}`, of C concordant and D discordant
      pairs, and T tied by one measure only.
    - ``"tau_ap"``: :math:`\frac{2}{n-1} \sum_{i=2}^{n} \frac{C(i)}{i-1} - 1`, C(i) how many of the runs above rank i by
      ``measure`` are above that run by ``other`` as well (Yilmaz, Aslam and Robertson, SIGIR 2008). ``other`` is the
      truth. With ties it is the mean over all ways to break them.
    - ``"weighted"``: Vigna's weighted τ (WWW 2015), a pair weighing 1/(1 + r) + 1/(1 + s) at ranks r and s from 0.

    Invariant under: positive factors and added constants, of any measure on its own.

    Returns:
        a DataFrame with one row per two measures, both ways: ``measure``, ``other``, ``correlation`` (NaN by τ and
        weighted τ where a measure ties all runs).
    """
    check_choice("statistic", statistic, tuple(CORRELATIONS))
    scores = read_table(table)
    for of_measure in scores:
        of_measure.runs()  # for its check
    rows = [
        (a.measure, b.measure, CORRELATIONS[statistic](a.standing(), b.standing()))
        for a, b in itertools.permutations(scores, 2)
    ]
    return pd.DataFrame(rows, columns=["measure", "other", "correlation"])


def tau_ap(x: FloatArray, y: FloatArray) -> float:
    """τ_AP of the ranking by ``x`` with that by ``y`` for the truth, the mean over all ways to break ties."""
    above = x[:, None] > x[None, :]
    agrees = (1 + np.sign(y[:, None] - y[None, :])) / 2
    better = above.sum(axis=0)
    right = (above * agrees).sum(axis=0)
    total = 0.0
    for rank in np.unique(better):  # of the best of those tied, from 0
        tied = better == rank
        # Of the j tied runs that chance puts above, half are above by the truth as well, on the mean.
        for j in range(max(0, 1 - rank), int(tied.sum())):
            total += (right[tied].mean() + j / 2) / (rank + j)
    return float(2 * total / (len(x) - 1) - 1)


#: Of two rankings by their values, the second being the truth.
CORRELATIONS: dict[str, Callable[[FloatArray, FloatArray], float]] = {
    "tau": lambda x, y: float(kendalltau(x, y).statistic),
    "tau_ap": tau_ap,
    "weighted": lambda x, y: float(weightedtau(x, y).statistic) if np.ptp(x) and np.ptp(y) else np.nan,
}


def _agreement(scores: ScoreTable, truth: ScoreTable) -> float:
    """The share of the pairs of runs that the truth's means tell apart that these tell apart alike; NaN of no pair."""
    return _alike(
        *(np.where(np.abs(means := s.means()) <= s.pairs.limit, 0.0, means) for s in (scores, truth))
    )


def _by_standing(of: Callable[[FloatArray, FloatArray], float]) -> Callable[[ScoreTable, ScoreTable], float]:
    return lambda scores, truth: of(scores.standing(), truth.standing())


def _alike(found: FloatArray, expected: FloatArray) -> float:
    told = expected != 0
    return float((np.sign(found) == np.sign(expected))[told].mean()) if told.any() else np.nan


#: How alike two sets of values of the same runs are, the second being the truth.
ALIKE: dict[str, Callable[[ScoreTable, ScoreTable], float]] = {
    **{name: _by_standing(of) for name, of in CORRELATIONS.items()},
    "agreement": _agreement,
    "ranking_agreement": lambda scores, truth: _alike(scores.pairs.differences, truth.pairs.differences),
    "ties": lambda scores, truth: float((scores.pairs.differences == 0).mean()),
}


def is_of_pairs(measure: ir_measures.Measure) -> bool:
    """Return whether a measure says which of any two runs is better: rrLP, sgnLP, sgnLR, RPP without ``ref=``."""
    return getattr(measure, "SIGNED", False) and measure.params.get("ref") is None


def score(context: RunContext, qrels: Any, measures: Sequence[ir_measures.Measure]) -> list[ScoreTable]:
    """Return the values of each measure; of each two runs by a measure of pairs."""
    single = [m for m in measures if not is_of_pairs(m)]
    of_pairs = [m for m in measures if is_of_pairs(m)]
    tables: list[ScoreTable] = []
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", RelativeWarning
        )  # which the data that parts are made of had caused before
        if single:
            tables += read_table(context.evaluate(qrels, single, perquery=True))
        if of_pairs:
            tables += read_table(similarity(context, qrels, of_pairs, perquery=True))
    by_name = {scores.measure: scores for scores in tables}
    return [by_name[str(measure)] for measure in measures]
