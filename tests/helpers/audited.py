"""A small campaign for audits: four runs on eight topics, labels by people, and a judge that is off by one at times."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from ir_measures_relative import RunContext

RNG = np.random.default_rng(5)
DOCS = [f"d{i}" for i in range(12)]
TOPICS = [f"q{i}" for i in range(8)]


def _run(seed: int, topics: list[str] = TOPICS, n: int = 8) -> dict[str, dict[str, float]]:
    rng = np.random.default_rng(seed)
    return {q: {d: float(n - i) for i, d in enumerate(rng.permutation(DOCS)[:n])} for q in topics}


RUNS = {name: _run(seed) for seed, name in enumerate(["a", "b", "c", "d"])}
HUMAN = {q: {d: int(RNG.integers(0, 4)) for d in DOCS} for q in TOPICS}
JUDGE = {
    q: {d: int(np.clip(g + RNG.integers(-1, 2), 0, 3)) for d, g in of.items()} for q, of in HUMAN.items()
}
CONTEXT = RunContext(RUNS, grades=(0, 3))


def labels_of(
    plan: pd.DataFrame, human: Mapping[str, Mapping[str, int]] = HUMAN
) -> dict[str, dict[str, int]]:
    """The labels that a plan asks for."""
    asked = plan[plan["ask"]]
    found: dict[str, dict[str, int]] = {}
    for q, d in zip(asked["query_id"], asked["doc_id"], strict=True):
        found.setdefault(q, {})[d] = human.get(q, {}).get(d, 0)
    return found
