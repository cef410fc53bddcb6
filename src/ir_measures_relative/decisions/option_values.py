"""What each option's list scores on every topic, and what its unjudged documents could change."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import ir_measures
import numpy as np
import pandas as pd

from ..bounding.bounds import model_of, values_of
from ..bounding.model import Model
from ..bounding.probabilities import FEWEST_RUNS, default_log_odds_sd, pool_chances, sampled_values
from ..bounding.verdicts import differences, rounded_to_zero, unjudged_shares
from ..context.measure_strings import value_of
from ..context.view import View
from ..data.arrays import FloatArray, IntArray
from ..data.rankings import Rankings
from ..tolerances import LABELED_ALIKE
from ..work import Work


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
        view: all runs; their unjudged documents may be relevant too, as in :func:`.verdicts`, and they
            tell how probable that is.
        lists: the list of each option.
        by: an absolute measure.
        unretrieved_relevant: how many further documents a topic, in no list, may turn out relevant.

    Attributes:
        values: shape (options, topics), by the judgments as they are.
        bounded: whether it is known what the unjudged documents could change.
    """

    def __init__(
        self,
        view: View,
        lists: Sequence[Rankings],
        by: ir_measures.Measure,
        unretrieved_relevant: int | None = None,
        work: Work | None = None,
    ) -> None:
        self.by, self._work, self._view = by, work or Work(), view
        self._lists = [view.with_run(one) for one in lists]
        self.bounded = True
        try:
            self._model: Model = model_of(by, self._lists, unretrieved_relevant)
            self.values: FloatArray = values_of(self._lists, by, self._model)
        except ValueError:
            self.bounded = False
            self.values = np.array([one.absolute_of_run(by) for one in self._lists])

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

    def to_judge(self, a: IntArray, b: IntArray, found: Differences) -> pd.DataFrame:
        """The unjudged documents that can move the differences of a[i] and b[i], those that move them most first."""
        model, docs = self._model, self._model.docs
        moved = np.zeros(len(docs))
        reach = np.maximum(np.abs(found.worst), np.abs(found.best))
        for i in range(len(a)):
            moved = np.maximum(moved, model.influence(int(a[i]), int(b[i]), reach[i]))
        moved[~(model.open & docs.exists)] = 0.0
        rows = np.flatnonzero(moved > LABELED_ALIKE)
        position = np.array([view.positions(docs) for view in model.views])[:, rows]
        first = np.where(position > 0, position, np.iinfo(np.int64).max).min(axis=0)
        rows = rows[np.lexsort((docs.query[rows], first, -np.round(moved[rows], 9)))]
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
        runs = len(self._view.names)
        if not self.bounded or runs < FEWEST_RUNS:
            return None
        model, lists = self._model, [one.evaluated for one in self._lists]
        cutoff = model.views[0].depth
        assert cutoff is None or isinstance(cutoff, int)
        every = self._view.with_open(cutoff, also=lists).at(cutoff)
        row = every.documents.rows_of(model.docs.query, model.docs.ids)
        known = (row >= 0) & model.docs.exists
        relevant = np.zeros(len(every.documents), dtype=bool)
        relevant[row[known]] = model.known_gain[known] > 0
        views = [*every.of_each(), *map(every.with_run, lists)]
        chances = np.where(known, pool_chances(views, relevant)[row], 0.0)[model.open]
        return sampled_values(model, chances, samples, seed, default_log_odds_sd(runs))


def value_beside(view: View, measure: Any, name: str, priors: Sequence[str]) -> FloatArray:
    """A relative measure of one run on every topic, as a new run beside these prior runs."""
    values: FloatArray = measure.score(view.with_run(view.runs[name], priors=priors))
    return values
