"""A campaign in the place of the data sets of the paper on UE-normalized measures: each run is a system."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ir_measures_relative.data.arrays import FloatArray

from .data import Campaign
from .ue_scores import CUTOFFS, VERSIONS, Pool
from .ue_statistics import LEVEL, p_values

SETS = ("all", "uninformative", "ideal")
_HALVES = 20
_LEAST = 4

Rows = NDArray[np.intp]


@dataclass(frozen=True)
class Study:
    """A campaign, by one of the two measures, each run as a system."""

    name: str
    base: str
    pool: Pool

    @cached_property
    def scores(self) -> list[dict[str, FloatArray]]:
        """Of each cutoff and version: runs × topics."""
        return [self.pool.scores(self.base, k)[0] for k in CUTOFFS]

    @cached_property
    def expected(self) -> FloatArray:
        """The expected value of each topic, on the mean of the cutoffs."""
        return np.asarray(np.mean([self.pool.scores(self.base, k)[1] for k in CUTOFFS], axis=0))

    @cached_property
    def means(self) -> dict[str, FloatArray]:
        """Of each version, on the mean of the cutoffs: runs × topics."""
        return {v: np.mean([s[v] for s in self.scores], axis=0) for v in self.versions}

    @cached_property
    def without_lower_branch(self) -> list[FloatArray]:
        """Version 2 of each cutoff where values below the random level too are divided by what lies above it."""
        result = []
        for cutoff, scores in zip(CUTOFFS, self.scores, strict=True):
            expected = self.pool.scores(self.base, cutoff)[1]
            room = np.where(expected < 1, 1 - expected, 1.0)
            result.append((scores[self.base] - expected) / room)
        return result

    @property
    def versions(self) -> tuple[str, ...]:
        return VERSIONS[self.base]

    @cached_property
    def sets(self) -> dict[str, Rows]:
        """All topics; the half in which runs are least above the expected value; the half in which they are most."""
        above = self.means[self.base].mean(axis=0) - self.expected
        order, half = np.argsort(above, kind="stable"), max(2, len(above) // 2)
        return {"all": np.arange(len(above)), "uninformative": order[:half], "ideal": order[-half:]}

    def of_sets(self, statistic: Callable[[Rows], float]) -> list[float]:
        return [statistic(self.sets[s]) for s in SETS]

    def where(self, nDCG: int, AP: int) -> str:
        return f"Table {nDCG if self.base == 'nDCG' else AP}, {self.name}"

    def told_apart(self, version: str, topics: Rows) -> NDArray[np.bool_]:
        """Which pairs are told apart at which cutoff, by Student's paired t-test at 0.05."""
        return np.stack([p_values(s[version][:, topics])[0] <= LEVEL for s in self.scores])

    @cached_property
    def halves(self) -> list[tuple[Rows, Rows]]:
        """Random halves of the topics, and the other half of each."""
        rng, half = np.random.default_rng(0), len(self.expected) // 2
        orders = [rng.permutation(len(self.expected)) for _ in range(_HALVES)]
        return [(order[:half], order[half : 2 * half]) for order in orders]

    @cached_property
    def told_apart_of_halves(self) -> dict[str, NDArray[np.bool_]]:
        """Which pairs are told apart on each of the two halves: splits × 2 × cutoffs × pairs."""
        return {
            v: np.array([[self.told_apart(v, rows) for rows in both] for both in self.halves])
            for v in self.versions
        }


def pool_of(campaign: Campaign) -> Pool:
    """The judged documents, of enough runs and topics.

    Raises:
        SystemExit: there are too few.
    """
    pool = Pool.of(campaign)
    if len(pool.names) < 2 or pool.docs.n_queries < _LEAST:
        raise SystemExit(
            f"{campaign.folder}: runs: {len(pool.names)}, topics: {pool.docs.n_queries}; the experiments of UE "
            f"need two runs and {_LEAST} topics"
        )
    return pool
