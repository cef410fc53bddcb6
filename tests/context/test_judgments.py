"""Where judged documents are found: ids are matched by their bytes, however long they and the others are."""

from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ir_measures import ScoredDoc

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


@pytest.mark.parametrize("bits", [0xFFFFFFFF, 7, 0])
def test_colliding_hashes_change_nothing(bits: int) -> None:
    """Where halves of hashes are equal, or hashes of different ids, all of their bits and the ids decide."""
    hashes = Ids.hashes

    def few_bits(ids: Ids, seed: int = 0) -> Any:
        return hashes(ids, seed) & np.uint64(0xFFFFFFFFFFFFFFFF if seed else bits)

    random = np.random.default_rng(1)
    docs = [f"clueweb09-en0000-{i:03d}" for i in range(60)]
    run = {q: {d: float(random.integers(20)) for d in random.permutation(docs)[:40].tolist()} for q in "pqr"}
    judged = [(q, d) for q in "pqs" for d in sorted(random.permutation(docs)[:20].tolist())]
    query = np.array(["pqs".index(q) for q, _ in judged], dtype=np.int64)
    orders = {q: sorted(scores, key=lambda d: (scores[d], d), reverse=True) for q, scores in run.items()}
    expected = [orders[q].index(d) + 1 if d in run.get(q, ()) else 0 for q, d in judged]
    twice = [ScoredDoc(q, d, s) for q, scores in run.items() for d, s in scores.items()]
    twice.append(twice[7]._replace(score=-1.0))
    with patch.object(Ids, "hashes", few_bits):
        grades = np.ones(len(judged), dtype=np.int64)
        judgments = Judgments(object_array("pqs"), query, Ids.of([d for _, d in judged]), grades)
        assert not len(judgments.repeats()[0])
        assert judgments.positions_in(read_run(run)).tolist() == expected
        assert judgments.positions_in(read_run(run), 10).tolist() == [p if p <= 10 else 0 for p in expected]
        again = Judgments(
            object_array("p"), np.zeros(3, dtype=np.int64), Ids.of(["a", "b", "a"]), np.arange(3)
        )
        assert [rows.tolist() for rows in again.repeats()] == [[0], [2]]
        with pytest.raises(ValueError, match=f"lists document {twice[7].doc_id!r} more than once"):
            read_run(twice).check_documents()
