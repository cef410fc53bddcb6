"""Random campaigns for the tests: heavy ties, missing queries, empty rankings, graded and negative labels."""

from __future__ import annotations

from typing import TypeAlias

from hypothesis import strategies as st

#: {query: {doc: score}}
Run: TypeAlias = dict[str, dict[str, float]]
#: {query: {doc: label}}
Labels: TypeAlias = dict[str, dict[str, int]]

QUERIES = ["q1", "q2", "q3"]
DOCS = ["a", "b", "c", "d", "e", "f", "A", "é", "d10", "d9"]

# Few distinct scores make ties; the two large ones are equal as 32-bit floats, and not as 64-bit ones.
_scores = st.sampled_from([0.0, 1.0, -1.0, 2.5, 16777216.0, 16777217.0])
_ranking = st.dictionaries(st.sampled_from(DOCS), _scores, max_size=len(DOCS))

#: {query: {doc: score}}; a query may be missing or empty.
runs = st.dictionaries(st.sampled_from(QUERIES), _ranking, min_size=0)
#: {query: {doc: label}}, at least one judgment.
qrels = st.dictionaries(
    st.sampled_from(QUERIES),
    st.dictionaries(st.sampled_from(DOCS), st.integers(-1, 3), min_size=1),
    min_size=1,
)
#: {name: run}, possibly none.
contexts = st.dictionaries(st.sampled_from(["r1", "r2", "r3", "r4"]), runs, max_size=4)
cutoffs = st.sampled_from([1, 2, 3, 5, 10])


def _some_label_from_0(labels: dict[str, dict[str, int]]) -> dict[str, dict[str, int]]:
    return {q: docs if max(docs.values()) >= 0 else {d: 0 for d in docs} for q, docs in labels.items()}


#: Qrels for comparisons with pytrec_eval, which writes outside its arrays for a query with negative labels only.
pytrec_eval_qrels = qrels.map(_some_label_from_0)
