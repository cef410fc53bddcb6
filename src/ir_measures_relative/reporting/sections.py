"""From the tables of the analyses to the data of the page: names, numbers, and indices into the names."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import numpy as np

from ..measures.strings import is_relative
from ..plots.heatmap import bounds_of_colours
from ..plots.intervals import means_and_bars
from ..scoring import Scores
from .documents import documents
from .findings import Findings, Likeness
from .texts import Lookup

if TYPE_CHECKING:
    import pandas as pd

# The digits behind the point that the page keeps of most numbers; it shows four. (Fewer would be rounded twice.)
_DIGITS = 9
# How long the part of an address may be that names a run or a topic.
_LONGEST_SLUG = 80


def data_of(found: Findings, texts: Lookup, queries: Mapping[str, str]) -> dict[str, Any]:
    """The data of the page: what JSON has, without a NaN; a section that has nothing to say is not in it."""
    names = found.judged.names
    query_ids = [str(q) for q in found.judged.judgments.query_ids]
    data: dict[str, Any] = {
        "runs": runs(names, found.context.groups),
        "groups": sorted(set(found.context.groups.values())),
        "topics": [
            {"id": q, "slug": slug} | ({"query": queries[q]} if q in queries else {})
            for q, slug in zip(query_ids, slugs(query_ids), strict=True)
        ],
        "measures": [{"name": str(m), "relative": is_relative(m)} for m in found.measures],
    }
    data |= values(found.scores, [str(m) for m in found.measures])
    if found.explained is not None:
        cutoff = found.explained.get("cutoff")
        about = documents(found.explanations, names, query_ids, cutoff)
        said = texts(about["docs"])
        if said:
            about["texts"] = [said.get(doc) for doc in about["docs"]]
        data["documents"] = {
            "measure": found.measures.index(found.explained),
            "cutoff": cutoff,
            **about,
        }
    index = {name: i for i, name in enumerate(names)}
    if found.likeness is not None:
        data["likeness"] = likeness(found.likeness)
    if found.selection is not None:
        measure, table = found.selection
        columns = ["marginal", "cumulative", "bound"]
        data["selection"] = {"measure": measure, "rows": rows(table, index, columns)}
    if found.shapley is not None:
        measure, table = found.shapley
        data["shapley"] = {"measure": measure, "rows": rows(table, index, [measure])}
    if found.open:
        ends = ["lower", "value", "upper"]
        named = {} if found.context.reference is None else {"reference": index[found.context.reference]}
        data["bounds"] = [{"measure": m, "rows": rows(t, index, ends)} for m, t, _ in found.open]
        columns = ["verdict", *ends, "open"]
        data["verdicts"] = [{"measure": m, "rows": rows(t, index, columns)} | named for m, _, t in found.open]
    if found.comparison is not None and found.context.reference is not None:
        columns = ["measure", "mean", "difference", "lower", "upper", "p_corrected", "wins", "ties", "losses"]
        data["comparison"] = {
            "reference": index[found.context.reference],
            "rows": rows(found.comparison.drop(columns="other"), index, columns),
        }
    return data


def runs(names: Sequence[str], groups: Mapping[str, str]) -> list[dict[str, Any]]:
    """The runs: name, address, group as an index into the sorted groups."""
    of_group = {group: i for i, group in enumerate(sorted(set(groups.values())))}
    return [
        {"name": name, "slug": slug} | ({"group": of_group[groups[name]]} if name in groups else {})
        for name, slug in zip(names, slugs(names), strict=True)
    ]


def slugs(ids: Sequence[str]) -> list[str]:
    """What names each in an address: the id with its characters escaped, shortened and numbered where it is long.

    >>> slugs(["BM25", "a b/c", "x" * 100])[:2]
    ['BM25', 'a%20b%2Fc']
    """
    found: list[str] = []
    for i, text in enumerate(ids):
        slug = quote(text, safe="", errors="replace")
        plain = len(slug) <= _LONGEST_SLUG and slug not in found
        found.append(slug if plain else f"{slug[:_LONGEST_SLUG]}~{i + 1}")
    return found


def values(scores: Scores, shown: Sequence[str]) -> dict[str, Any]:
    """The values of every measure, run and topic; the means, and the ends of their 95 % intervals where they have some.

    The interval is that of a mean over topics: a measure that ir_measures adds up has none.
    """
    names = list(map(str, scores.measures))
    place = [names.index(m) for m in shown]
    table, bars = means_and_bars(scores.long_table(), *shown)
    means = scores.means()
    result: dict[str, list[Any]] = {"values": [], "means": [], "lower": [], "upper": []}
    for name, j in zip(shown, place, strict=True):
        mean = means[:, j]
        below, above = bars[name]
        result["values"].append([numbers(v) for v in scores.values[:, j].tolist()])
        result["means"].append(
            [x if math.isfinite(x) else None for x in mean.tolist()]
        )  # as the table has them
        averaged = np.isclose(mean, table[name].to_numpy(), rtol=1e-9, atol=1e-12)
        ends = np.array([mean - below, mean + above])
        ends[:, ~averaged] = np.nan
        result["lower"].append(numbers(ends[0].tolist()))
        result["upper"].append(numbers(ends[1].tolist()))
    return result


def numbers(found: Sequence[float]) -> list[float | None]:
    """As JSON has them: rounded, None for what is no finite number."""
    return [number(x) for x in found]


def number(x: float) -> float | None:
    """One of :func:`numbers`; no negative zero."""
    return round(x, _DIGITS) + 0.0 if math.isfinite(x) else None


def rows(table: pd.DataFrame, index: Mapping[str, int], columns: Sequence[str]) -> list[list[Any]]:
    """The rows of a table as lists: the run (or the two runs) as indices, then the columns."""
    keys = [key for key in ("name", "other") if key in table.columns]
    cells = [[index[name] for name in table[key]] for key in keys]
    cells += [[_plain(value) for value in table[column].tolist()] for column in columns]
    return [list(row) for row in zip(*cells, strict=True)]


def _plain(value: Any) -> Any:
    """A cell as JSON has it."""
    if isinstance(value, (bool, str, int)):
        return value
    return number(float(value)) if isinstance(value, float) else None


def likeness(found: Likeness) -> dict[str, Any]:
    """The distances of each two runs once: row i those to the runs before it; what the first and last colour are."""
    below = [numbers(row[:i]) for i, row in enumerate(found.distance.tolist())]
    apart = found.distance[np.tril_indices(len(found.distance), -1)]
    low, high, _ = bounds_of_colours(apart, signed=False)
    return {"measure": found.measure, "order": found.order, "distance": below, "colours": [low, high]}
