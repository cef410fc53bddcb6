"""Where judged documents are found: ids are matched by their bytes, however long they and the others are."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ir_measures_relative import RunContext
from ir_measures_relative.arrays import object_array
from ir_measures_relative.ids import Ids
from ir_measures_relative.judgments import Judgments

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
        rows = docs.rows_of(np.zeros(len(some), dtype=np.int64), Ids.of(some))
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


def test_a_long_id_among_short_ones_changes_nothing() -> None:
    labels = {"q": {"d1": 1, "d2": 0, "a-document-with-a-long-name": 1}}
    table = RunContext({"r": {"q": {"d1": 2.0, "d2": 1.0}}, "s": {"q": {"d2": 1.0}}}).evaluate(
        labels, ["UniqueRel@2", "MED(base='P')@2"]
    )
    assert table["UniqueRel@2"].tolist() == [1, 0]
    assert table["MED(base='P')@2"].tolist() == [0.5, 0.5]
