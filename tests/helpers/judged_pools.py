"""Pools of runs, judgments of a part of what they retrieve, and the labels of a judge."""

from typing import Any

import numpy as np

from ir_measures_relative import RunContext
from ir_measures_relative.bounding.relevance import Pool


def drawn_pool(seed: int, n_runs: int = 8, n_topics: int = 30, n_docs: int = 30) -> tuple[Pool, Any, Any]:
    """Draw runs of different quality over documents with grades 0 to 3, judged if some run but the last retrieves them."""
    random = np.random.default_rng(seed)
    grade = random.choice(4, (n_topics, n_docs), p=(0.55, 0.2, 0.15, 0.1))
    quality = np.linspace(0.2, 1.2, n_runs)[:, None, None]
    score = quality * grade + random.normal(size=(n_runs, n_topics, n_docs))
    places = np.argsort(np.argsort(-score, axis=2), axis=2) + 1
    topic = np.repeat(np.arange(n_topics), n_docs)
    pool = Pool(places.reshape(n_runs, -1), topic, n_topics, 5)
    return pool, grade.reshape(-1), pool.in_top[:-1].any(axis=0)


def labels_of(grade: Any, right: float, seed: int = 0) -> Any:
    """Draw a judge's labels: the grades, or with some probability those of other documents."""
    random = np.random.default_rng(seed)
    return np.where(random.random(len(grade)) < right, grade, random.permutation(grade))


def collection(
    n_runs: int, seed: int = 0, n_topics: int = 30, n_docs: int = 30
) -> tuple[RunContext, Any, Any]:
    """A collection of runs, judgments of half of the documents, and labels of a judge for all."""
    pool, grade, _ = drawn_pool(seed, n_runs + 1, n_topics, n_docs)
    label = labels_of(grade, 0.8)
    runs: Any = {f"r{i}": {} for i in range(n_runs)}
    qrels: Any = {}
    llm: Any = {}
    for row, topic in enumerate(pool.topic):
        query, doc = f"q{topic}", f"d{row % n_docs}"
        for i, run in enumerate(runs.values()):
            run.setdefault(query, {})[doc] = -float(pool.ranks[i, row])
        if pool.in_top[0, row] or row % n_docs < 0.4 * n_docs:
            qrels.setdefault(query, {})[doc] = int(grade[row])
        llm.setdefault(query, {})[doc] = int(label[row])
    return RunContext(runs, grades=(0, 3)), qrels, llm
