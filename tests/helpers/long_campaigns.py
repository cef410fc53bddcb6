"""Generated campaigns as one long frame, as an engine takes them."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

#: {run: {query: {doc: score}}}
Campaign = Mapping[str, Mapping[str, Mapping[str, float]]]


def frame_of(runs: Campaign) -> pd.DataFrame:
    rows = [(n, q, d, s) for n, run in runs.items() for q, docs in run.items() for d, s in docs.items()]
    frame = pd.DataFrame(rows, columns=["name", "query_id", "doc_id", "score"])
    return frame.astype({"name": str, "query_id": str, "doc_id": str, "score": float})


def qrels_frame(labels: Mapping[str, Mapping[str, int]]) -> pd.DataFrame:
    rows = [(q, d, label) for q, docs in labels.items() for d, label in docs.items()]
    return pd.DataFrame(rows, columns=["query_id", "doc_id", "relevance"])


def campaign(
    seed: int = 0, n_runs: int = 4, n_queries: int = 9, depth: int = 30
) -> tuple[Campaign, pd.DataFrame]:
    """Runs that overlap, with ties, and graded judgments; q0 is not judged, and no run holds the last query."""
    rng = np.random.default_rng(seed)
    runs = {
        f"run{r}": {
            f"q{q}": {f"d{d}": float(rng.integers(9)) for d in rng.choice(60, depth, replace=False)}
            for q in range(n_queries)
            if rng.random() < 0.9
        }
        for r in range(n_runs)
    }
    labels = {
        f"q{q}": {f"d{d}": int(rng.integers(-1, 3)) for d in rng.choice(60, 25, replace=False)}
        for q in range(1, n_queries + 1)
    }
    labels["q2"] = {
        doc: min(label, 1) for doc, label in labels["q2"].items()
    }  # a query without the top grade
    return runs, qrels_frame(labels)
