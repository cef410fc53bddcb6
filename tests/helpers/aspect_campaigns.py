"""Random campaigns whose judgments are of aspects."""

import random
from typing import Any

import ir_measures

#: From query to the labels of its documents.
Aspects = dict[str, dict[str, dict[str, int]]]


def random_aspects(rng: random.Random, *, highest: int = 1, n_queries: int = 3) -> Aspects:
    """Labels of up to 8 documents for up to 5 aspects a query; each query has one at least."""
    labels: Aspects = {}
    for number in range(rng.randint(1, n_queries)):
        docs = [f"d{i}" for i in range(rng.randint(1, 8))]
        names = [f"a{i}" for i in range(rng.randint(1, 5))]
        judged = {(rng.choice(docs), rng.choice(names)) for _ in range(rng.randint(1, 25))}
        of_query: dict[str, dict[str, int]] = {}
        for doc, aspect in sorted(judged):
            of_query.setdefault(doc, {})[aspect] = rng.randint(0, highest)
        labels[f"q{number}"] = of_query
    return labels


def random_run(rng: random.Random, labels: Aspects) -> dict[str, dict[str, float]]:
    """Rankings of judged and unjudged documents, without ties; some queries may be missing, though never all."""
    run: dict[str, dict[str, float]] = {}
    for query in labels:
        docs = [f"d{i}" for i in range(11)]
        rng.shuffle(docs)
        if rng.random() < 0.9:
            run[query] = {doc: -float(i) for i, doc in enumerate(docs[: rng.randint(1, 11)])}
    return run or {next(iter(labels)): {"d0": 1.0}}


def as_qrels(labels: Aspects, rng: random.Random | None = None) -> list[ir_measures.Qrel]:
    """The labels as ir_measures' judgments, in random order where ``rng`` is given."""
    rows = [
        ir_measures.Qrel(query, doc, label, aspect)
        for query, docs in labels.items()
        for doc, of_doc in docs.items()
        for aspect, label in of_doc.items()
    ]
    if rng is not None:
        rng.shuffle(rows)
    return rows


def with_aspects(labels: dict[str, dict[str, int]]) -> list[ir_measures.Qrel]:
    """Judgments of two aspects: each document has its label for the one, and every second one less for the other."""
    rows = []
    for query, docs in labels.items():
        for doc, label in docs.items():
            rows.append(ir_measures.Qrel(query, doc, label, "one"))
            if ord(doc[-1]) % 2:
                rows.append(ir_measures.Qrel(query, doc, max(label - 1, -1), "two"))
    return rows


def ranked(run: dict[str, dict[str, float]], query: str) -> list[str]:
    """The ranking of one query."""
    return sorted(run.get(query, {}), key=lambda doc: -run[query][doc])


def by_query(values: Any) -> dict[str, float]:
    """ir_measures' metrics of one measure by query."""
    return {metric.query_id: metric.value for metric in values}


__all__ = [
    *("AspectLabels", "Aspects", "as_qrels", "by_query", "random_aspects", "random_run"),
    *("ranked", "with_aspects"),
]
