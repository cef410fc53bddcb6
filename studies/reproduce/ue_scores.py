"""nDCG and AP with upper and expected value normalization, of all runs of a campaign at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ir_measures_relative.context.collection import judged_collection
from ir_measures_relative.context.tops import Look
from ir_measures_relative.data.arrays import FloatArray, IntArray, rank_within, sum_by_query
from ir_measures_relative.data.documents import Documents
from ir_measures_relative.measures.bases.ap import expected_precision_sum
from ir_measures_relative.measures.bases.base import expected_sum
from ir_measures_relative.measures.bases.browsing import LogDiscount
from ir_measures_relative.measures.bases.gains import compute_gains, discount
from ir_measures_relative.measures.form import Ideal
from ir_measures_relative.measures.ue import Normalizers, normalize

from .data import Campaign

CUTOFFS = (5, 10, 15, 20, 30)
VERSIONS = {"nDCG": ("nDCG", "V1", "V2"), "AP": ("AP", "V1", "V2")}


def _sum_of_precisions(position: IntArray, query: IntArray, n_queries: int) -> FloatArray:
    """The sum of the precisions at the relevant documents of each query, from their positions."""
    found = np.flatnonzero(position > 0)
    order = found[np.lexsort((position[found], query[found]))]
    return sum_by_query(rank_within(query[order]) / position[order], query[order], n_queries)


@dataclass(frozen=True)
class Pool:
    """The judged documents of a campaign, and where each run ranks each of them; the runs' names.

    Attributes:
        position: runs × documents, 0 where it is not retrieved.
    """

    names: list[str]
    docs: Documents
    position: IntArray

    @classmethod
    def of(cls, campaign: Campaign) -> Pool:
        view = judged_collection(campaign.context, campaign.qrels)
        return cls(campaign.context.names, view.documents, view.positions(view.documents, Look()))

    def part(self, keep: NDArray[np.bool_]) -> Pool:
        """Some of the documents alone, as though the runs had ranked no others."""
        topic = self.docs.query[keep]
        position = np.zeros((len(self.names), int(keep.sum())), dtype=np.int64)
        for run, all_places in enumerate(self.position[:, keep]):
            found = np.flatnonzero(all_places)
            order = found[np.lexsort((all_places[found], topic[found]))]
            starts = np.searchsorted(topic[order], topic[order])
            position[run, order] = np.arange(len(order)) - starts + 1
        return Pool(self.names, self.docs.select(keep), position)

    def scores(self, base: str, cutoff: int) -> tuple[dict[str, FloatArray], FloatArray]:
        """The values of the measure and of its two versions, runs × topics, and the expected value of each topic.

        The measure itself, and its expected value, are divided by the value of a perfect ranking.
        """
        actual, normalizers = (self._dcg if base == "nDCG" else self._precisions)(cutoff)
        upper, expected = normalizers.upper, normalizers.expected
        some = upper > 0
        safe = np.where(some, upper, 1.0)
        versions = [np.where(some, actual / safe, 0.0)]
        versions += [np.stack([normalize(a, normalizers, v) for a in actual]) for v in (1, 2)]
        return dict(zip(VERSIONS[base], versions, strict=True)), np.where(some, expected / safe, 0.0)

    def _sizes(self, cutoff: int) -> tuple[FloatArray, IntArray]:
        size = np.bincount(self.docs.query, minlength=self.docs.n_queries)
        return np.maximum(size, 1).astype(np.float64), np.minimum(size, cutoff)

    def _dcg(self, cutoff: int) -> tuple[FloatArray, Normalizers]:
        docs = self.docs
        gain = compute_gains(docs.grade, "exp-log2", None)
        size, depth = self._sizes(cutoff)
        mean_gain = sum_by_query(gain, docs.query, docs.n_queries) / size
        normalizers = Normalizers(
            Ideal(LogDiscount(), cutoff).value(gain, docs.query, docs.n_queries),
            expected_sum(mean_gain, depth, LogDiscount()),
        )
        kept = np.where(self.position <= cutoff, self.position, 0)
        actual = [sum_by_query(gain * discount(p), docs.query, docs.n_queries) for p in kept]
        return np.array(actual), normalizers

    def _precisions(self, cutoff: int) -> tuple[FloatArray, Normalizers]:
        docs, some = self.docs, self.docs.grade > 0
        topic = docs.query[some]
        size, depth = self._sizes(cutoff)
        relevant = np.bincount(topic, minlength=docs.n_queries)
        normalizers = Normalizers(
            np.minimum(relevant, cutoff).astype(np.float64),
            expected_precision_sum(relevant, size.astype(np.int64), depth, exact=False),
        )
        kept = np.where(self.position <= cutoff, self.position, 0)[:, some]
        actual = [_sum_of_precisions(p, topic, docs.n_queries) for p in kept]
        return np.array(actual), normalizers
