"""The recall levels of all runs at once, and what lexiprecision makes of every two of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from tqdm import tqdm

from ir_measures_relative.context.collection import judged_collection
from ir_measures_relative.context.tops import Look
from ir_measures_relative.data.arrays import FloatArray, IntArray
from ir_measures_relative.measures.lexiprecision import reciprocal_ranks

from .data import Campaign

_BATCH = 200


@dataclass(frozen=True)
class Found:
    """Where each run ranks each relevant document.

    Attributes:
        names: of the runs.
        topics: those with a relevant document; the others tie all runs.
        position: runs × relevant documents, 0 where it is not retrieved.
        topic: of each document, as an index into ``topics``, ascending.
    """

    names: list[str]
    topics: list[str]
    position: IntArray
    topic: IntArray

    @classmethod
    def of(cls, campaign: Campaign, rel: int) -> Found:
        """The documents with a grade of ``rel`` or more."""
        view = judged_collection(campaign.context, campaign.qrels)
        docs = view.documents.relevant
        keep = docs.grade >= rel
        position = view.positions(docs, Look())[:, keep]
        kept, topic = np.unique(docs.query[keep], return_inverse=True)
        return cls(campaign.context.names, [docs.query_ids[i] for i in kept], position, topic)

    @cached_property
    def pairs(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """The two runs of each pair."""
        return np.triu_indices(len(self.names), 1)

    @cached_property
    def rr(self) -> FloatArray:
        """RR_i: runs × topics × recall levels, 0 where there is no such document or it is not retrieved."""
        return self.rr_of(np.ones(len(self.topic), dtype=bool))

    @cached_property
    def relevant(self) -> IntArray:
        """How many relevant documents each topic has."""
        return np.bincount(self.topic, minlength=len(self.topics))

    def rr_of(self, keep: NDArray[np.bool_]) -> FloatArray:
        """The same of some of the documents, the others being not relevant."""
        topic, n = self.topic[keep], len(self.topics)
        return np.stack([reciprocal_ranks(p[keep], topic, n) for p in self.position])

    def long(self, values: FloatArray, measure: str) -> pd.DataFrame:
        """The values of pairs × topics as a table for :mod:`studies.meta`."""
        first, second = (np.array(self.names, dtype=object)[i] for i in self.pairs)
        n = len(self.topics)
        columns = {"name": np.repeat(first, n), "other": np.repeat(second, n)}
        columns |= {"query_id": np.tile(np.array(self.topics, dtype=object), len(first))}
        return pd.DataFrame(columns | {"measure": measure, "value": values.ravel()})


def lexiprecision(rr: FloatArray, start: int = 0) -> tuple[FloatArray, IntArray]:
    """rrLP of every two runs on every topic, and the recall level that decided, from 1; 0 of a tie.

    Args:
        rr: runs × topics × recall levels.
        start: how many of the first levels are not looked at.
    """
    first, second = np.triu_indices(len(rr), 1)
    value = np.zeros((len(first), rr.shape[1]))
    decided = np.zeros(value.shape, dtype=np.int64)
    pair, topic = (i.ravel() for i in np.indices(value.shape))
    for level in range(start, rr.shape[2]):
        difference = rr[first[pair], topic, level] - rr[second[pair], topic, level]
        differs = difference != 0
        value[pair[differs], topic[differs]] = difference[differs]
        decided[pair[differs], topic[differs]] = level + 1
        pair, topic = pair[~differs], topic[~differs]
    return value, decided


def level_difference(rr: FloatArray, level: int) -> FloatArray:
    """δRR_i of every two runs on every topic: pairs × topics; 0 where no topic has so many relevant documents."""
    first, second = np.triu_indices(len(rr), 1)
    if level > rr.shape[2]:
        return np.zeros((len(first), rr.shape[1]))
    difference: FloatArray = rr[first, :, level - 1] - rr[second, :, level - 1]
    return difference


def largest_by_chance(
    values: FloatArray, runs: int, permutations: int, seed: int = 0, what: str = ""
) -> FloatArray:
    """The largest mean preference of any pair, where the names of the runs are permuted on each topic; ascending.

    It is the randomized HSD test for preferences: of the differences of a measure, the largest of any pair is the
    range of the means, and the test that of Carterette (TOIS 2012).

    Args:
        values: pairs × topics.
    """
    first, second = np.triu_indices(runs, 1)
    square = np.zeros((values.shape[1], runs, runs))
    square[:, first, second], square[:, second, first] = values.T, -values.T
    rng = np.random.default_rng(seed)
    result = np.empty(permutations)
    with tqdm(total=permutations, desc=f"permuting {what}", unit="", disable=None, leave=False) as bar:
        for start in range(0, permutations, _BATCH):
            size = min(_BATCH, permutations - start)
            order = np.tile(np.arange(runs), (size, len(square), 1))
            rng.permuted(order, axis=2, out=order)
            total = np.zeros((size, len(first)))
            for topic, of_topic in enumerate(square):
                total += of_topic[order[:, topic, first], order[:, topic, second]]
            result[start : start + size] = np.abs(total).max(axis=1, initial=0.0) / len(square)
            bar.update(size)
    return np.sort(result)


def told_apart(values: FloatArray, by_chance: FloatArray, strictly: bool, level: float = 0.05) -> float:
    """The share of pairs with p < level by the randomized HSD test.

    Args:
        values: pairs × topics.
        by_chance: what :func:`largest_by_chance` gave.
        strictly: counts the permutations whose largest is *above* the pair's, and divides by their number. That is no
            p-value: permutations that reach what was observed belong to it, and the observed one as well.
    """
    means, slack = np.abs(values.mean(axis=1)), 1e-9 * np.abs(values).max(initial=0.0)
    n = len(by_chance)
    if strictly:
        p = (n - np.searchsorted(by_chance, means + slack)) / n
    else:
        p = (1 + n - np.searchsorted(by_chance, means - slack)) / (1 + n)
    return float((p < level).mean())
