"""A judged context with fewer runs, or fewer labels, that looks up in the whole what is the same there."""

from __future__ import annotations

from collections.abc import Sequence

import ir_measures
import numpy as np

from ..arrays import BoolArray, FloatArray, IntArray
from ..comparison import JudgedContext
from ..judgments import Judgments
from ..priors import some_runs


class FewerRuns(JudgedContext):
    """As though only some of the runs had taken part.

    Args:
        whole: the context with all of them.
        rows: the places of those that are left, ascending.
    """

    def __init__(self, whole: JudgedContext, rows: Sequence[int]) -> None:
        names = [whole.names[i] for i in rows]
        super().__init__(some_runs(whole.context, names), whole.judgments, whole=whole.whole)
        self.grades = whole.grades
        self._all, self._rows = whole, np.array(rows, dtype=np.int64)

    def positions_of_runs(self, docs: Judgments, cutoff: int | None, judged_only: bool) -> IntArray:
        def compute() -> IntArray:
            found: IntArray = self._all.positions_of_runs(docs, cutoff, judged_only)[self._rows]
            return found

        return self.cached(("positions", docs, cutoff, judged_only), compute)

    def absolute_of_runs(self, measure: ir_measures.Measure) -> FloatArray:
        found: FloatArray = self._all.absolute_of_runs(measure)[self._rows]
        return found


class FewerLabels(JudgedContext):
    """As though some of the documents had not been judged.

    A query that would have no label keeps its first, as not relevant: so it counts, with the values of a query without
    relevant documents, by ir_measures' measures as well.

    Args:
        whole: the context with all labels.
        keep: which are left.
    """

    def __init__(self, whole: JudgedContext, keep: BoolArray) -> None:
        old = whole.judgments
        counts = np.bincount(old.query[keep], minlength=old.n_queries)
        first = old.starts[:-1][(counts == 0) & (np.diff(old.starts) > 0)]
        keep, grade = keep.copy(), old.grade.copy()
        keep[first] = True
        grade[first] = np.minimum(grade[first], 0)
        left = Judgments(old.query_ids, old.query[keep], old.ids.take(keep), grade[keep])
        super().__init__(whole.context, left, whole=whole.whole)
        self.grades = whole.grades
        self._all, self._keep = whole, keep
        self._keep_relevant = (keep & (grade > 0))[old.grade > 0]

    def positions_of_runs(self, docs: Judgments, cutoff: int | None, judged_only: bool) -> IntArray:
        if judged_only or (docs is not self.judgments and docs is not self.judgments.relevant):
            return super().positions_of_runs(docs, cutoff, judged_only)

        def compute() -> IntArray:
            old = self._all.judgments
            of_all = docs is self.judgments
            found = self._all.positions_of_runs(old if of_all else old.relevant, cutoff, judged_only)
            left: IntArray = found[:, self._keep if of_all else self._keep_relevant]
            return left

        return self.cached(("positions", docs, cutoff, judged_only), compute)
