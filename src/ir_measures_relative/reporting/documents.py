"""The documents behind the values, from the tables of ``explain``: every position once, however many tables have it."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arrays import FloatArray

if TYPE_CHECKING:
    import pandas as pd

# How many documents of a ranking are shown: as many as the cutoff has, up to the second; the first without one.
_SHOWN, _MOST = 10, 20
_POSITION_IN = "position in "


def documents(
    tables: Sequence[pd.DataFrame], names: Sequence[str], query_ids: Sequence[str], cutoff: int | None
) -> dict[str, Any]:
    """The documents at the top of each run, as the page has them.

    Args:
        tables: what :func:`~ir_measures_relative.explain` gives for each run.
        names: the runs.
        query_ids: the topics.
        cutoff: of the measure.

    Returns:
        ``depth``, how many are shown; ``docs``, the ids; ``priors``, for each run the runs that it is scored
        against; ``found``, for each topic its documents, as ``[doc, grade or None, [run, position, run, …]]``, and
        ``listed``, for each run and topic what is at its top, as ``[row of found, position, gain, contribution]``.
    """
    import pandas as pd

    depth = _SHOWN if cutoff is None else min(cutoff, _MOST)
    shown = [table[table["position"] <= depth] for table in tables]
    run_of = {name: i for i, name in enumerate(names)}
    priors = [[run_of[n] for n in _priors(table)] for table in tables]
    rows = pd.concat(shown, ignore_index=True)[
        ["query_id", "doc_id", "relevance", "position", "gain", "contribution"]
    ]
    run = np.repeat(np.arange(len(shown)), [len(table) for table in shown])
    topic_of = {query: i for i, query in enumerate(query_ids)}
    topic = rows["query_id"].map(topic_of).to_numpy(dtype=np.int64)
    doc, ids = pd.factorize(rows["doc_id"], sort=True)
    pair, first, entry = np.unique(topic * max(len(ids), 1) + doc, return_index=True, return_inverse=True)
    topic_of_pair = pair // max(len(ids), 1)
    starts = np.searchsorted(topic_of_pair, np.arange(len(query_ids) + 1))
    positions = _positions(shown, priors, run, entry, rows["position"].to_numpy())
    grade = [None if pd.isna(g) else int(g) for g in rows["relevance"].iloc[first]]
    found = [[int(doc[first[i]]), grade[i], positions[i]] for i in range(len(pair))]
    listed: list[list[list[Any]]] = [[[] for _ in query_ids] for _ in names]
    for r, t, e, position, gain, contribution in zip(
        run.tolist(), topic.tolist(), entry.tolist(), rows["position"], rows["gain"], rows["contribution"], strict=True
    ):  # fmt: skip
        listed[r][t].append([e - int(starts[t]), int(position), _short(gain), _short(contribution)])
    return {
        "depth": depth,
        "docs": [str(doc_id) for doc_id in ids],
        "priors": priors,
        "found": [found[a:b] for a, b in itertools.pairwise(starts)],
        "listed": listed,
    }


def _short(x: float) -> float:
    """As many digits as matter: a gain may be very small, and make up a value all the same."""
    return float(f"{x:.9g}")


def _priors(table: pd.DataFrame) -> list[str]:
    """The runs that a table has the positions in."""
    columns = [str(column) for column in table.columns]
    return [c.removeprefix(_POSITION_IN) for c in columns if c.startswith(_POSITION_IN)]


def _positions(
    tables: Sequence[pd.DataFrame],
    priors: Sequence[Sequence[int]],
    run: Any,
    entry: Any,
    own: Any,
) -> list[list[int]]:
    """For each document of a topic the runs that hold it, and where: ``[run, position, run, position, …]``."""
    known = [np.stack([entry, run, own.astype(np.int64)])]
    start = 0
    for table, others in zip(tables, priors, strict=True):
        of_table = entry[start : start + len(table)]
        start += len(table)
        if len(table) and others:
            columns = table.columns[[str(c).startswith(_POSITION_IN) for c in table.columns]]
            place: FloatArray = table[columns].to_numpy(dtype=np.float64, na_value=np.nan)
            row, column = np.nonzero(~np.isnan(place))
            there = place[row, column].astype(np.int64)
            known.append(np.stack([of_table[row], np.asarray(others)[column], there]))
    every = np.unique(np.concatenate(known, axis=1), axis=1)
    bounds = np.searchsorted(every[0], np.arange(int(entry.max(initial=-1)) + 2))
    flat = every[1:].T
    return [flat[a:b].reshape(-1).tolist() for a, b in itertools.pairwise(bounds)]
