"""One campaign of the rareness paper's experiments: its values, and what can be had from positions alone."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import ir_measures
import numpy as np
import pandas as pd
from ir_measures import AP, P

from ir_measures_relative import AP_Rareness, P_Rareness

from .data import Campaign

ALPHAS = (0.0, 0.25, 0.5, 0.75, 1.0)
K = 100


def measure(base: str, alpha: float, k: int = K) -> ir_measures.Measure:
    """P or AP at α = 0, with rareness above."""
    if alpha == 0.0:
        return {"P": P, "AP": AP}[base] @ k
    return {"P": P_Rareness, "AP": AP_Rareness}[base](alpha=alpha) @ k


@dataclass(frozen=True)
class Study:
    """What the experiments take from a campaign."""

    campaign: Campaign

    @property
    def runs(self) -> list[str]:
        """The names of the runs."""
        return list(self.campaign.context.names)

    @cached_property
    def values(self) -> dict[tuple[str, float, int], np.ndarray]:
        """By base, α and k: runs × queries."""
        lines = [(b, a, k) for b in ("P", "AP") for a in ALPHAS for k in (10, K, 1000)]
        context = self.campaign.context
        table = context.evaluate(self.campaign.qrels, [measure(*line) for line in lines], perquery=True)
        table = table.assign(measure=table["measure"].astype(str))
        found = {}
        for line in lines:
            of_line = table[table["measure"] == str(measure(*line))]
            wide = of_line.pivot(index="name", columns="query_id", values="value")
            found[line] = wide.reindex(index=self.runs, columns=self.campaign.queries).to_numpy(dtype=float)
        return found

    def table(self, lines: dict[str, np.ndarray], runs: list[str] | None = None) -> pd.DataFrame:
        """The long table for `studies.meta`, of values runs × queries by their names; of some of the runs alone."""
        chosen = self.runs if runs is None else runs
        rows = [self.runs.index(name) for name in chosen]
        index = pd.MultiIndex.from_product([chosen, self.campaign.queries], names=["name", "query_id"])
        parts = [
            pd.DataFrame({"measure": name, "value": values[rows].ravel()}, index=index)
            for name, values in lines.items()
        ]
        return pd.concat(parts).reset_index()

    @cached_property
    def positions(self) -> np.ndarray:
        """Where each run has each relevant document, from 1, 0 if not in the top 100: runs × documents, by query."""
        relevant = self.relevant
        found = []
        for top in self.campaign.top(K).values():
            merged = relevant.merge(top, "left", on=["query_id", "doc_id"])
            found.append((-merged["score"]).fillna(0).to_numpy(dtype=np.int64))
        return np.stack(found)

    @cached_property
    def relevant(self) -> pd.DataFrame:
        """The relevant documents: query_id, doc_id; sorted."""
        relevant = self.campaign.qrels.query("relevance >= 1")[["query_id", "doc_id"]]
        return relevant.sort_values(["query_id", "doc_id"], ignore_index=True)


def first_place(held: np.ndarray, alpha: float, as_released: bool = False) -> int:
    """How many relevant documents that no other run has S_rare needs to have the highest P_Rareness@100 of a topic.

    Args:
        held: which of the topic's relevant documents the real runs have in their top 100: runs × documents.
        as_released: S_rare does not count as a system, neither for the others' rareness nor for its own.
    """
    systems = len(held) + (not as_released)
    best = (held @ (1 + alpha * (1 - held.sum(axis=0) / systems))).max(initial=0.0)
    return int(np.floor(best / (1 + alpha * (1 - 1 / systems)) + 1e-9)) + 1


def ranks(held: np.ndarray, alpha: float, most: int) -> tuple[np.ndarray, np.ndarray]:
    """The ranks of S_rare and of S_common among the real runs with 1, 2, … relevant documents; NaN without so many.

    S_common has the documents that most real runs have, first; a tie is the mean of its ranks.
    """
    systems = len(held) + 1
    counts = held.sum(axis=0)
    order = np.argsort(-counts, kind="stable")
    order = order[counts[order] > 0]
    rare, common = np.full(most, np.nan), np.full(most, np.nan)
    alone = held @ (1 + alpha * (1 - counts / systems))
    for n in range(1, most + 1):
        rare[n - 1] = _rank(alone, n * (1 + alpha * (1 - 1 / systems)))
        if n <= len(order):
            with_it = counts.copy()
            with_it[order[:n]] += 1
            weight = 1 + alpha * (1 - with_it / systems)
            common[n - 1] = _rank(held @ weight, weight[order[:n]].sum())
    return rare, common


def _rank(others: np.ndarray, score: float) -> float:
    return 1 + (others > score + 1e-9).sum() + (np.abs(others - score) <= 1e-9).sum() / 2
