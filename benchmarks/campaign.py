"""A seeded synthetic campaign of TREC-8's size: 129 runs, 50 topics, 1,000 documents a ranking.

Runs overlap because they share document scores: a run's score of a document is a topic-wide merit, plus what its
group of systems makes of it, plus noise. Scores are rounded, so that they tie as real ones do.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

RUNS, TOPICS, DEPTH, POOL = 129, 50, 1000, 4000


def make(
    runs: int = RUNS, topics: int = TOPICS, depth: int = DEPTH, seed: int = 8
) -> tuple[dict[str, pd.DataFrame], pd.DataFrame]:
    """(runs by name, qrels), as plain frames with string ids."""
    rng = np.random.default_rng(seed)
    pool = max(POOL * depth // DEPTH, 4 * depth)
    ids = np.array(
        [
            f"{source}{rng.integers(10**6):06d}-{i:05d}"
            for i, source in enumerate(rng.choice(["FT911-", "FBIS3-", "LA0101"], pool * 2))
        ],
        dtype=object,
    )
    group = rng.integers(0, max(runs // 3, 1), runs)
    columns: dict[str, list[np.ndarray]] = {f"run{i:03d}": [] for i in range(runs)}
    docs: dict[str, list[np.ndarray]] = {name: [] for name in columns}
    query_ids = [str(401 + t) for t in range(topics)]
    judged = []
    for query_id in query_ids:
        members = rng.choice(len(ids), pool, replace=False)
        merit = rng.gumbel(size=pool)
        taste = rng.normal(size=(group.max() + 1, pool))
        relevant = merit + 0.7 * rng.normal(size=pool) > 4.0
        pooled = np.zeros(pool, dtype=bool)
        for i, name in enumerate(columns):
            score = np.round(merit + taste[group[i]] + 0.5 * rng.normal(size=pool), 2 + i % 3)
            top = np.argsort(-score, kind="stable")[:depth]
            columns[name].append(score[top])
            docs[name].append(ids[members[top]])
            pooled[top[:100]] = True
        for d in np.flatnonzero(pooled):
            judged.append((query_id, ids[members[d]], int(relevant[d]) + int(relevant[d] and merit[d] > 5)))
    query_column = np.repeat(np.array(query_ids, dtype=object), depth)
    frames = {
        name: pd.DataFrame(
            {
                "query_id": query_column,
                "doc_id": np.concatenate(docs[name]),
                "score": np.concatenate(columns[name]),
            }
        )
        for name in columns
    }
    return frames, pd.DataFrame(judged, columns=["query_id", "doc_id", "relevance"])
