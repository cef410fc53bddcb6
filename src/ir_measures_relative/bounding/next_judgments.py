"""Which unjudged documents to judge next, to settle the most orders of two runs."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import ir_measures
import numpy as np
import pandas as pd

from ..arguments import check_count
from ..context.collection import judged_collection
from ..context.run_context import RunContext, check_is_context
from ..data.arrays import IntArray
from ..io.qrels import Qrels
from ..messages import escaped, few_quoted
from ..stats.paired_tests import tie_limit, with_ties
from ..tolerances import LABELED_ALIKE
from ..work import Work, check_writable, write_whole
from .bounds import campaign_of, check_bounded, labelings_of
from .verdicts import differences, pairs_of, settled_of


def judge_next(
    context: RunContext,
    qrels: Qrels | None,
    measure: ir_measures.Measure | str,
    n: int,
    between: tuple[str, str] | None = None,
    *,
    path: str | os.PathLike[str] | None = None,
    unretrieved_relevant: int | None = None,
    jobs: int = 1,
    time_limit: float | None = None,
) -> pd.DataFrame:
    """The unjudged documents whose labels would settle most of the undecided orders.

    For every undecided pair a document counts by how far its label can move the difference of the two runs, over what
    the nearer end of the interval has to move. Judge the documents, add their labels to the qrels, and ask again.

    Args:
        context: the runs; with a ``reference``, only the pairs with it.
        n: how many documents; fewer are given where no more take part in an undecided pair.
        between: two runs, where only their order counts.
        path: a file to write the documents to, one ``query_id doc_id`` a line, as a pool for those who judge.
        qrels, measure, unretrieved_relevant, jobs, time_limit: as for :func:`verdicts`.

    Returns:
        a DataFrame in the order in which to judge: ``query_id``, ``doc_id``, the ``weight`` by which they are ordered,
        and ``pairs``, the number of undecided pairs in which the document takes part.

    Raises:
        ValueError: what :func:`verdicts` raises; with ``path``, an id with a blank, which no pool file can hold.
    """
    work = Work(jobs, time_limit)
    check_is_context(context)
    (parsed,), runs = campaign_of(judged_collection(context, qrels), [measure])
    check_count("n", n, 1)
    if path is not None:
        check_pool(path)
    a, b = pairs_of(context) if between is None else _pair(context, between)
    labelings = labelings_of(parsed, runs, unretrieved_relevant)
    check_bounded([labelings])
    _, interval = differences(runs, parsed, labelings, a, b, work)
    lower, upper = interval.lower.mean(axis=1), interval.upper.mean(axis=1)
    docs, rows = labelings.docs, np.flatnonzero(labelings.open & labelings.docs.exists)
    weight, pairs = np.zeros(len(rows)), np.zeros(len(rows), dtype=np.int64)
    reach = np.maximum(np.abs(interval.lower), np.abs(interval.upper))
    for i in np.flatnonzero(settled_of(lower, upper) == "undecided").tolist():
        moved = labelings.influence(int(a[i]), int(b[i]), reach[i])[rows]
        missing = max(min(-lower[i], upper[i]), (upper[i] - lower[i]) / 10)
        weight += moved / docs.n_queries / missing
        pairs += moved > LABELED_ALIKE
    some = pairs > 0
    rows, weight, pairs = rows[some], weight[some], pairs[some]
    query_ids, doc_ids = docs.query_ids[docs.query[rows]], docs.ids.take(rows).strings()
    by_id = (np.unique(ids, return_inverse=True)[1] for ids in (doc_ids, query_ids))
    order = np.lexsort((*by_id, -with_ties(weight, tie_limit(weight))))[:n]
    columns: dict[str, Any] = {
        "query_id": pd.Series(query_ids[order], dtype=str),
        "doc_id": pd.Series(doc_ids[order], dtype=str),
        "weight": weight[order],
        "pairs": pairs[order],
    }
    asked = pd.DataFrame(columns)
    if path is not None:
        write_pool(asked, path)
    return asked


def write_pool(asked: pd.DataFrame, path: str | os.PathLike[str]) -> None:
    """Write the documents to judge as a pool file; ValueError for an id that would be no column of it."""
    text = "".join(line + "\n" for line in pool_lines(asked))
    write_whole(path, lambda beside: Path(beside).write_text(text, encoding="utf-8"))


def check_pool(path: str | os.PathLike[str]) -> None:
    """Raises ValueError where a pool file would overwrite labels, OSError where it cannot be written."""
    check_writable(path)
    if os.path.exists(path):
        lines = Path(path).read_bytes().splitlines()
        number = next((i for i, line in enumerate(lines, start=1) if len(line.split()) not in (0, 2)), None)
        if number is not None:
            raise ValueError(
                f"{path}, line {number}: it holds more than 'query_id doc_id', such as labels, which a new pool would "
                "overwrite; give another path, or remove the file"
            )


def pool_lines(asked: pd.DataFrame) -> list[str]:
    """The documents to judge as the lines of a pool file; ValueError for an id that would be no column of it."""
    lines = []
    for query, doc in zip(asked["query_id"], asked["doc_id"], strict=True):
        line = f"{query} {doc}"
        if line.split() != [query, doc] or escaped(line) != line:
            raise ValueError(
                f"document {doc!r} of query {query!r}: a pool file has ids without blanks and control characters, a "
                "query and a document a line; take the table that judge_next gives instead, or other ids"
            )
        lines.append(line)
    return lines


def _pair(context: RunContext, between: object) -> tuple[IntArray, IntArray]:
    """The one pair of two runs, as indices; ValueError for what is not the names of two runs of the context."""
    names = context.names
    if not isinstance(between, (tuple, list)) or len(between) != 2 or between[0] == between[1]:
        raise ValueError(f"between={between!r} must be the names of two runs, such as ('BM25', 'ANCE')")
    unknown = [name for name in between if name not in names]
    if unknown:
        raise ValueError(
            f"between names {unknown}, which the context does not hold; its runs are {few_quoted(names)}"
        )
    a, b = (np.array([names.index(name)], dtype=np.int64) for name in between)
    return a, b
