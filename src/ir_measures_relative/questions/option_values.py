"""What each option's list scores on every topic, and what its unjudged documents could change."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

import ir_measures
import numpy as np
import pandas as pd

from ..arrays import FloatArray, IntArray
from ..comparison import Comparison, JudgedContext
from ..extremes.model import Model
from ..extremes.open_documents import OpenDocuments
from ..jobs import Work
from ..measures.parameters import value_of
from ..options import LABELED_ALIKE
from ..priors import replaced
from ..rankings import Rankings
from ..unjudged.bounds import HOST_MEASURES, model_of
from ..unjudged.odds import FEWEST_RUNS, default_spread, pool_chances, sampled_values
from ..unjudged.verdicts import differences, rounded_to_zero, unjudged_shares


class Differences(NamedTuple):
    """Differences of options on every topic, each of shape (differences, topics)."""

    judged: FloatArray  #: by the judgments as they are
    worst: FloatArray  #: the least under any judgments of the unjudged documents
    best: FloatArray  #: the greatest

    def take(self, rows: IntArray) -> Differences:
        """Some of them."""
        return Differences(*(values[rows] for values in self))


class OptionValues:
    """The lists of some options, judged.

    Args:
        judged: the runs of which the options are made.
        lists: the list of each option.
        by: an absolute measure.
        unretrieved_relevant: how many further documents a topic, in no list, may turn out relevant.
        evidence: the runs that tell how probable it is that an unjudged document is relevant.

    Attributes:
        values: shape (options, topics), by the judgments as they are.
        bounded: whether it is known what the unjudged documents could change.
    """

    def __init__(
        self,
        judged: JudgedContext,
        lists: Sequence[Rankings],
        by: ir_measures.Measure,
        unretrieved_relevant: int = 0,
        work: Work | None = None,
        evidence: JudgedContext | None = None,
    ) -> None:
        self._judged, self.by, self._work = evidence or judged, by, work or Work()
        self._extra = unretrieved_relevant
        context = replaced(judged.context, runs={one.name: one for one in lists}, groups={}, reference=None)
        self._lists = JudgedContext(context, judged.judgments, whole=judged.whole)
        self.values: FloatArray = self._lists.absolute_of_runs(by)
        self.bounded = type(by) in HOST_MEASURES

    @cached_property
    def _model(self) -> Model:
        return model_of(self.by, self._lists, self._extra)

    def differences(self, a: IntArray, b: IntArray) -> Differences:
        """Of option a[i] less option b[i]; as judged three times where there are no bounds."""
        if not self.bounded:
            value = rounded_to_zero(self.values[a] - self.values[b])
            return Differences(value, value, value)
        value, interval = differences(self._lists, self.by, self._model, a, b, self._work)
        return Differences(value, interval.lower, interval.upper)

    def unjudged(self) -> FloatArray:
        """The share of each list that is not judged, to the measure's cutoff."""
        shares: FloatArray = unjudged_shares(self._lists, value_of(self.by, "cutoff")).mean(axis=1)
        return shares

    def to_judge(self, a: IntArray, b: IntArray, found: Differences, n: int | None) -> pd.DataFrame:
        """The unjudged documents that can move the differences of a[i] and b[i], those that move them most first."""
        docs, model = self._model.open_docs.docs, self._model
        moved = np.zeros(len(docs))
        reach = np.maximum(np.abs(found.worst), np.abs(found.best))
        for i in range(len(a)):
            moved = np.maximum(moved, model.influence(int(a[i]), int(b[i]), reach[i]))
        moved[~(model.open & model.open_docs.exists)] = 0.0
        rows = np.flatnonzero(moved > LABELED_ALIKE)
        position = model.open_docs.positions()[:, rows]
        first = np.where(position > 0, position, np.iinfo(np.int64).max).min(axis=0)
        rows = rows[np.lexsort((docs.query[rows], first, -np.round(moved[rows], 9)))][:n]
        columns = {
            "query_id": pd.Series(docs.query_ids[docs.query[rows]], dtype=str),
            "doc_id": pd.Series(docs.ids.take(rows).strings(), dtype=str),
        }
        return pd.DataFrame(columns)

    def sampled(self, samples: int, seed: int) -> Iterator[FloatArray] | None:
        """Values under judgments that are drawn, in batches (options, judgments, topics).

        The probability of each document to be relevant is that of the judged documents which the runs rank alike. None
        where too few runs tell it.
        """
        runs = len(self._judged.names)
        if not self.bounded or runs < FEWEST_RUNS:
            return None
        model = self._model
        docs = model.open_docs.docs
        context = self._judged.context
        lists = {f"{name} (option)": one for name, one in self._lists.context.runs.items()}
        together = JudgedContext(replaced(context, runs={**context.runs, **lists}), self._judged.judgments)
        every = OpenDocuments(together, model.open_docs.cutoff, 0)
        row = every.docs.rows_of(docs.query, docs.ids)
        known = row >= 0
        relevant = np.zeros(len(every.docs), dtype=bool)
        relevant[row[known]] = model.known_gain[known] > 0
        chances = np.where(known, pool_chances(every, relevant)[row], 0.0)[model.open]
        return sampled_values(model, chances, samples, seed, default_spread(runs))


def value_beside(
    judged: JudgedContext, measure: ir_measures.Measure, name: str, priors: Sequence[str]
) -> FloatArray:
    """A relative measure of one run on every topic, beside these prior runs."""
    # The measure's own name for the run is none of the context's: a copy of a prior is no prior of itself.
    one = Comparison(judged, judged.context.runs[name], None, list(priors))
    values: FloatArray = measure.score(one)
    return values
