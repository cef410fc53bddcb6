"""Seeded synthetic campaigns, of TREC-8's size by default: 129 runs, 50 topics, 1,000 documents a ranking.

Runs overlap because they share document scores: a run's score of a document is a topic-wide merit, plus what its
group of systems makes of it, plus noise. Scores are rounded, so that they tie as real ones do.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

RUNS, TOPICS, DEPTH = 129, 50, 1000


def make(
    runs: int = RUNS, topics: int = TOPICS, depth: int = DEPTH, judged: int | None = None, seed: int = 8
) -> tuple[dict[str, pd.DataFrame], pd.DataFrame]:
    """(runs by name, qrels), as plain frames with string ids.

    Args:
        judged: how many documents of a query are judged, those first that the runs rank highest; all that one of
            them holds in its top 100 if not given.
    """
    rng = np.random.default_rng(seed)
    pool = max(4 * depth, 2 * (judged or 0))
    n_ids = 2 * pool
    sources = rng.choice(["FT911-", "FBIS3-", "LA0101"], n_ids)
    ids = np.array(
        [
            f"{s}{n:06d}-{i:05d}"
            for i, (s, n) in enumerate(zip(sources, rng.integers(10**6, size=n_ids), strict=True))
        ],
        dtype=object,
    )
    group = rng.integers(0, max(runs // 3, 1), runs)
    places = 10.0 ** (2 + np.arange(runs) % 3)[:, None]
    docs = np.empty((runs, topics, depth), dtype=np.int64)
    scores = np.empty((runs, topics, depth))
    judgments = []
    for topic in range(topics):
        members = rng.choice(n_ids, pool, replace=False)
        merit = rng.gumbel(size=pool)
        taste = rng.normal(size=(group.max() + 1, pool))
        relevant = merit + 0.7 * rng.normal(size=pool) > 4.0
        score = merit + taste[group] + 0.5 * rng.normal(size=(runs, pool))
        score = np.round(score * places) / places
        top = np.argsort(-score, axis=1, kind="stable")[:, :depth]
        docs[:, topic] = members[top]
        scores[:, topic] = np.take_along_axis(score, top, axis=1)
        if judged is None:
            known = np.unique(top[:, :100])
        else:  # a document's best position in any run
            best = np.full(pool, depth + 1)
            np.minimum.at(best, top, np.broadcast_to(np.arange(depth), top.shape))
            known = np.sort(np.lexsort((rng.random(pool), best))[:judged])
        grade = relevant[known].astype(np.int64) + (relevant[known] & (merit[known] > 5))
        judgments.append((np.full(len(known), topic), members[known], grade))
    query_ids = np.array([str(401 + t) for t in range(topics)], dtype=object)
    query_column = np.repeat(query_ids, depth)
    frames = {
        f"run{i:03d}": pd.DataFrame(
            {"query_id": query_column, "doc_id": ids[docs[i].reshape(-1)], "score": scores[i].reshape(-1)}
        )
        for i in range(runs)
    }
    topic, doc, grade = (np.concatenate(column) for column in zip(*judgments, strict=True))
    return frames, pd.DataFrame({"query_id": query_ids[topic], "doc_id": ids[doc], "relevance": grade})
