"""Which unjudged documents to judge next."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import ir_measures
import numpy as np

from ..comparison import check_is_context, judged_context
from ..io.qrels import Qrels
from ..jobs import Work
from ..measures.strings import parse_measure
from ..options import LABELED_ALIKE as TOLERANCE
from ..options import check_count
from .bounded_measures import model_of
from .bounds import check_bounded
from .verdicts import differences, pairs_of, verdict_of

if TYPE_CHECKING:
    import pandas as pd

    from ..context import RunContext


def judge_next(
    context: RunContext,
    qrels: Qrels | None,
    measure: ir_measures.Measure | str,
    n: int,
    between: tuple[str, str] | None = None,
    *,
    path: str | os.PathLike[str] | None = None,
    jobs: int = 1,
    time_limit: float | None = None,
) -> pd.DataFrame:
    """The unjudged documents whose labels would settle most of the verdicts that are open.

    For every open verdict a document counts by how far its label can move the difference of the two runs, over what
    the nearer end of the interval has to move for a proof. Judge the documents, add their labels to the qrels, and
    ask again: what is left depends on what was found.

    Args:
        context: the runs; with a ``reference``, only the pairs with it.
        qrels: the judgments, as for :meth:`RunContext.evaluate`.
        measure: as for :func:`bounds`.
        n: how many documents; fewer are given where no more take part in an open verdict.
        between: two runs, where only their verdict counts.
        path: a file to write the documents to, one ``query_id doc_id`` a line, as a pool for those who judge.
        jobs: as for :func:`verdicts`.
        time_limit: as for :func:`verdicts`.

    Returns:
        a DataFrame in the order in which to judge: ``query_id``, ``doc_id``, ``weight``, and ``pairs``, the number of
        open verdicts in which the document takes part.

    Raises:
        ValueError: ``between`` names what is not a run of the context; n below 1; what :func:`verdicts` raises.

    Example:
        >>> from ir_measures_relative import RunContext, judge_next
        >>> runs = {"a": {"q": {"A": 2, "B": 1}}, "b": {"q": {"B": 2, "X": 1}}}
        >>> judge_next(RunContext(runs), {"q": {"A": 0}}, "P@2", 5)
          query_id doc_id  weight  pairs
        0        q      X    10.0      1
    """
    import pandas as pd

    check_is_context(context)
    work = Work(jobs, time_limit)
    parsed, judged = parse_measure(measure), judged_context(context, qrels)
    check_bounded(judged, [parsed])
    check_count("n", n, 1)
    a, b = pairs_of(context)
    if between is not None:
        names = context.names
        if not isinstance(between, (tuple, list)) or len(between) != 2 or between[0] == between[1]:
            raise ValueError(f"between={between!r} must be the names of two runs, such as ('BM25', 'ANCE')")
        unknown = [name for name in between if name not in names]
        if unknown:
            raise ValueError(
                f"between names {unknown}, which the context does not hold; its runs are {names}"
            )
        a, b = (np.array([names.index(name)], dtype=np.int64) for name in between)
    model = model_of(parsed, judged)
    _, interval = differences(judged, parsed, model, a, b, work)
    lower, upper = interval.lower.mean(axis=1), interval.upper.mean(axis=1)
    docs, listed = model.open_docs.docs, np.flatnonzero(model.open)
    weight, pairs = np.zeros(len(listed)), np.zeros(len(listed), dtype=np.int64)
    reach = np.maximum(np.abs(interval.lower), np.abs(interval.upper))
    for i in np.flatnonzero(verdict_of(lower, upper) == "open").tolist():
        moved = model.influence(int(a[i]), int(b[i]), reach[i])[listed]
        missing = max(min(-lower[i], upper[i]), (upper[i] - lower[i]) / 10)
        weight += moved / docs.n_queries / missing
        pairs += moved > TOLERANCE
    order = np.lexsort((listed, -weight))
    order = order[pairs[order] > 0][:n]
    rows = listed[order]
    columns: dict[str, Any] = {
        "query_id": pd.Series(docs.query_ids[docs.query[rows]], dtype=str),
        "doc_id": pd.Series(docs.ids.take(rows).strings(), dtype=str),
        "weight": weight[order],
        "pairs": pairs[order],
    }
    if path is not None:
        lines = (f"{q} {d}\n" for q, d in zip(columns["query_id"], columns["doc_id"], strict=True))
        Path(path).write_text("".join(lines), encoding="utf-8")
    return pd.DataFrame(columns)
