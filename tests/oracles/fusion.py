"""Fusion of rankings in plain Python, one document after the other."""

from collections.abc import Sequence

import numpy as np

from oracles.rankings import trec_order

Scores = dict[str, float]


def as_read(scores: Scores) -> Scores:
    """The scores as trec_eval reads them, in C floats."""
    with np.errstate(over="ignore"):
        return {d: float(np.nan_to_num(np.float32(s))) for d, s in scores.items()}


def fuse(rankings: Sequence[Scores], method: str = "rrf", k: int = 60, depth: int = 1000) -> Scores:
    """The fused scores of one query's rankings."""
    total: Scores = {}
    holders: dict[str, int] = {}
    for scores in rankings:
        first = trec_order(scores)[:depth]
        read = as_read(scores)
        low, high = min((read[d] for d in first), default=0.0), max((read[d] for d in first), default=0.0)
        for position, doc in enumerate(first, start=1):
            vote = {
                "rrf": lambda i, s: 1 / (k + i),
                "isr": lambda i, s: 1 / i**2,
            }.get(method, lambda i, s, low=low, high=high: (s - low) / max(high - low, 1e-9))(
                position, read[doc]
            )
            total[doc] = total.get(doc, 0.0) + vote
            holders[doc] = holders.get(doc, 0) + 1
    times = method in ("isr", "combmnz")
    return {doc: score * (holders[doc] if times else 1) for doc, score in total.items()}


def fuse_runs(
    runs: Sequence[dict[str, Scores]], method: str = "rrf", k: int = 60, depth: int = 1000
) -> dict[str, Scores]:
    """The fused run, written out."""
    queries = dict.fromkeys(q for run in runs for q in run)
    fused = {q: fuse([run.get(q, {}) for run in runs], method, k, depth) for q in queries}
    return {q: scores for q, scores in fused.items() if scores}
