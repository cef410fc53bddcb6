"""Random campaigns for the tests: heavy ties, missing queries, empty rankings, graded and negative labels.

A run, and judgments, are each *one* draw of hypothesis, of bytes that are read here: to have it draw each document and
each score took three times as long as what the tests then did with them. Bytes of 0 are an empty run, so that a failing
example still shrinks document by document.
"""

import itertools
import random
from typing import TypeAlias, TypeVar

import numpy as np
from hypothesis import strategies as st

#: {query: {doc: score}}
Run: TypeAlias = dict[str, dict[str, float]]
#: {query: {doc: label}}
Labels: TypeAlias = dict[str, dict[str, int]]
T = TypeVar("T")

QUERIES = ["q1", "q2", "q3"]
DOCS = ["a", "b", "c", "d", "e", "f", "A", "é", "d10", "d9"]

# Few distinct scores make ties; the two large ones are equal as 32-bit floats, and not as 64-bit ones.
_SCORES = [0.0, 1.0, -1.0, 2.5, 16777216.0, 16777217.0]
_LABELS = [0, 1, 2, 3, -1]

#: In which order the documents stand, by a byte; 0 leaves them as they are.
_ORDERS = [
    list(range(len(DOCS))),
    *(random.Random(i).sample(range(len(DOCS)), len(DOCS)) for i in range(255)),
]
_QUERIES = list(itertools.permutations(QUERIES))
_PER_QUERY = 2 + len(DOCS)


def _some_documents(drawn: bytes, values: list[T]) -> dict[str, T]:
    """Documents with a value each: how many there are goes by the first byte, their order by the second."""
    share = drawn[0] % 17  # from none to all of them
    of_docs = {
        DOCS[i]: values[drawn[2 + i] // 16 % len(values)]
        for i in _ORDERS[drawn[1]]
        if 15 - drawn[2 + i] % 16 < share
    }
    return of_docs


def _by_query(drawn: bytes, values: list[T], empty: bool) -> dict[str, dict[str, T]]:
    """{query: {doc: value}}; of the queries one in four is missing, and, if ``empty``, one in eight has no document."""
    found = {}
    for i, query in enumerate(_QUERIES[drawn[0] % len(_QUERIES)]):
        of_query = drawn[1 + i * _PER_QUERY : 1 + (i + 1) * _PER_QUERY]
        if of_query[0] < 64:
            continue
        docs = _some_documents(of_query, values) if of_query[0] >= 96 or not empty else {}
        if docs or empty:
            found[query] = docs
    return found


def _at_least_one(labels: Labels, drawn: bytes) -> Labels:
    """With one judgment where there is none."""
    return labels or {QUERIES[drawn[0] % 3]: {DOCS[drawn[1] % len(DOCS)]: _LABELS[drawn[2] % len(_LABELS)]}}


_bytes = st.binary(min_size=1 + len(QUERIES) * _PER_QUERY, max_size=1 + len(QUERIES) * _PER_QUERY)

#: {doc: score}, possibly none.
rankings = st.binary(min_size=_PER_QUERY, max_size=_PER_QUERY).map(
    lambda drawn: _some_documents(drawn, _SCORES)
)
#: {query: {doc: score}}; a query may be missing or empty.
runs = _bytes.map(lambda drawn: _by_query(drawn, _SCORES, empty=True))
#: {query: {doc: label}}, at least one judgment.
qrels = _bytes.map(lambda drawn: _at_least_one(_by_query(drawn, _LABELS, empty=False), drawn))
#: {name: run}, possibly none.
contexts = st.dictionaries(st.sampled_from(["r1", "r2", "r3", "r4"]), runs, max_size=4)
cutoffs = st.sampled_from([1, 2, 3, 5, 10])


def _some_label_from_0(labels: Labels) -> Labels:
    return {q: docs if max(docs.values()) >= 0 else {d: 0 for d in docs} for q, docs in labels.items()}


#: Qrels for comparisons with pytrec_eval, which writes outside its arrays for a query with negative labels only.
pytrec_eval_qrels = qrels.map(_some_label_from_0)


def graded_campaign(seed: int, runs: int = 5, topics: int = 3) -> tuple[dict[str, Run], Labels]:
    """Runs with ties and missing topics, and graded labels, some of them negative."""
    rng = random.Random(seed)
    docs = [f"d{i}" for i in range(12)]
    queries = [f"q{i}" for i in range(topics)]
    of_runs: dict[str, Run] = {}
    for i in range(runs):
        of_runs[f"r{i}"] = {
            q: {d: float(rng.randint(0, 9)) for d in rng.sample(docs, rng.randint(1, 12))}
            for q in queries
            if q == "q0" or rng.random() < 0.9
        }
    labels = {q: {d: rng.randint(-1, 2) for d in rng.sample(docs, rng.randint(1, 10))} for q in queries}
    return of_runs, labels


def full_campaign(
    seed: int, n_runs: int, n_queries: int, *, n_docs: int, depth: int, grades: int
) -> tuple[dict[str, Run], dict[str, dict[str, int]]]:
    """Runs with a ranking of one depth for each topic, in which every document is judged."""
    rng = np.random.default_rng(seed)
    docs, queries = [f"d{i}" for i in range(n_docs)], [f"q{i}" for i in range(n_queries)]
    runs = {
        f"r{i}": {
            q: {d: float(-j) for j, d in enumerate(rng.choice(docs, depth, replace=False).tolist())}
            for q in queries
        }
        for i in range(n_runs)
    }
    return runs, {q: dict(zip(docs, rng.integers(0, grades, n_docs).tolist(), strict=True)) for q in queries}
