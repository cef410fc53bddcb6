"""Where judged documents are found: ids are matched by their bytes, however long they and the others are."""

from unittest.mock import patch

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ir_measures_relative.data import rankings
from ir_measures_relative.data.arrays import object_array
from ir_measures_relative.data.documents import Judgments
from ir_measures_relative.data.ids import Ids
from ir_measures_relative.io.runs import read_run

# Beginnings alike, so that ids differ in their last bytes; around 8, 16, 24 … bytes, where words end.
texts = (
    st.text("ab", max_size=2)
    | st.integers(5, 45).map(lambda n: "x" * n)
    | st.sampled_from(["é" * 4, "é" * 5, "\1", ""])
)
ids = st.lists(texts, unique=True, max_size=12)


@given(ids, ids)
def test_ids_are_found_whatever_stands_beside_them(judged: list[str], asked: list[str]) -> None:
    row_of = {d: i for i, d in enumerate(judged)}
    query = np.zeros(len(judged), dtype=np.int64)
    docs = Judgments(object_array(["q"]), query, Ids.of(judged), query)
    for some in (asked, *([d] for d in asked)):
        rows = docs.find_rows(np.zeros(len(some), dtype=np.int64), Ids.of(some))
        assert rows.tolist() == [row_of.get(d, -1) for d in some]


@given(st.lists(st.tuples(st.sampled_from(["p", "q"]), texts)))
def test_the_last_of_pairs_judged_twice(pairs: list[tuple[str, str]]) -> None:
    queries = ["p", "q"]
    order = sorted(range(len(pairs)), key=lambda i: pairs[i][0])
    query = np.array([queries.index(pairs[i][0]) for i in order], dtype=np.int64)
    docs = Judgments(object_array(queries), query, Ids.of([pairs[i][1] for i in order]), query)
    last = {pairs[i]: row for row, i in enumerate(order)}
    drop, final = docs.repeats()
    expected = {row: last[pairs[i]] for row, i in enumerate(order) if row != last[pairs[i]]}
    assert dict(zip(drop.tolist(), final.tolist(), strict=True)) == expected


@given(
    st.lists(st.tuples(st.sampled_from("pqr"), texts, st.sampled_from([1.0, 2.0, 3.0])), max_size=40),
    st.sets(st.tuples(st.sampled_from("pqr"), texts), max_size=6),
    st.integers(1, 12),
)
def test_positions_at_full_depth_are_those_of_the_whole_ranking(
    rows: list[tuple[str, str, float]], pairs: set[tuple[str, str]], part: int
) -> None:
    """Ties are broken only where a judged document is among them, a few queries at a time."""
    run: dict[str, dict[str, float]] = {}
    for query_id, doc_id, score in rows:
        run.setdefault(query_id, {})[doc_id] = score
    judged = sorted(pairs)
    query = np.array(["pqr".index(q) for q, _ in judged], dtype=np.int64)
    docs = Judgments(object_array("pqr"), query, Ids.of([d for _, d in judged]), query)
    expected = [
        sorted(run[q], key=lambda d: (run[q][d], d.encode()), reverse=True).index(d) + 1
        if d in run.get(q, {})
        else 0
        for q, d in judged
    ]
    with patch.object(rankings, "_PART", part):
        assert docs.positions_in(read_run(run)).tolist() == expected
