"""The collection of a context on judgments, kept for when the same judgments come again.

The context is a :class:`.RunContext`, which uses this.
"""

from __future__ import annotations

from threading import Lock
from typing import Any

from ..data.documents import Judgments
from ..io import datasets
from ..io.qrels import Qrels, QrelsColumns, judge, qrels_columns
from ..messages import warn
from .checks import check_cut_runs
from .collection import Collection
from .memo import Memo

# How many sets of judgments a context keeps the collection of: batches are one each.
_KEPT = 8
_KEEPING = Lock()


def judged_collection(context: Any, qrels: Qrels | QrelsColumns | None) -> Collection:
    """Return the collection of a context on judgments in any form, or on its dataset's.

    It is kept for when the same judgments come again.
    """
    columns = qrels_columns(datasets.fetch_qrels(context.dataset) if qrels is None else qrels)
    seen = list(context._collections)
    entry = next((entry for entry in seen if entry[0].same_as(columns)), None)
    if entry is None:
        columns = columns.kept()  # what the caller does to the qrels later was not judged
        entry = columns, new_collection(context, judge(columns))
        queries = entry[1].documents.query_ids
        if len(queries) and not columns.n_rows:
            warn(
                f"the qrels hold no judgment: they name {len(queries)} topics without any, such as {queries[0]!r}; "
                "give other qrels",
                context,
            )
    with _KEEPING:
        others = [other for other in context._collections if other is not entry]
        context._collections[:] = [entry, *others][:_KEPT]
    return entry[1]


def new_collection(context: Any, judgments: Judgments, *, whole: bool = True) -> Collection:
    """Return the collection of a context on these judgments; ``whole``: whether they are those of all queries."""
    check_cut_runs(context.runs.values(), judgments)
    return Collection(
        runs=context.runs,
        documents=judgments,
        judgments=judgments,
        memo=Memo(len(context.runs), len(judgments)),
        context=context,
        grades=_grades_of(context, judgments),
        grades_known=context.grades is not None,
        policy=context.policy,
        groups=context.groups,
        reference=context.reference,
        num_docs=context.num_docs,
        whole=whole,
    )


def _grades_of(context: Any, docs: Judgments) -> tuple[int, int]:
    """Return the lowest and the highest grade of the context, else of the documents."""
    own = int(docs.grade.min(initial=0)), int(docs.grade.max(initial=1))
    if context.grades is None:
        return own
    low, high = min(context.grades[0], 0), max(context.grades[1], 1)
    if not (low <= own[0] and own[1] <= high):
        beyond = own[1] if own[1] > context.grades[1] else own[0]
        raise ValueError(
            f"the qrels hold the grade {beyond}, not of grades={context.grades}; correct RunContext(grades=)"
        )
    return low, high
