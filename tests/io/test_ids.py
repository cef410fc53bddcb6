"""Ids as ranges of bytes do what Python's strings do, and judged documents are found by their bytes."""

import itertools
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from ir_measures import ScoredDoc

from drawn import examples
from ir_measures_relative.data import rankings
from ir_measures_relative.data.arrays import object_array
from ir_measures_relative.data.documents import Judgments
from ir_measures_relative.data.ids import Ids, pair_keys
from ir_measures_relative.io.runs import read_run

# Few characters and lengths about eight bytes, so that ids agree in all but one word, byte or length.
strings = st.one_of(
    st.text("ab", max_size=3),
    st.text("ab", min_size=6, max_size=18),
    st.text("a\n é日😀", max_size=12),
    st.sampled_from(["", "a" * 7, "a" * 8, "a" * 9, "a" * 16, "a" * 200, "a" * 199 + "b", "b" + "a" * 199]),
)
lists = st.lists(strings, max_size=12)


@st.composite
def ranges(draw: Any) -> tuple[Ids, list[str]]:
    """Ids anywhere in some bytes, in any order, also at the very end of them, and what they stand for."""
    pieces = draw(st.lists(st.tuples(strings, strings), max_size=8))
    data, places = b"", []
    for between, piece in pieces:
        data += between.encode()
        places.append((len(data), len(data) + len(piece.encode()), piece))
        data += piece.encode()
    data += draw(st.sampled_from([b"", b"x", b"xxxxxxxx"]))
    chosen = draw(st.lists(st.sampled_from(places), max_size=12)) if places else []
    starts, ends = (np.array([place[i] for place in chosen], dtype=np.int64) for i in (0, 1))
    return Ids(np.frombuffer(data, dtype=np.uint8), starts, ends), [place[2] for place in chosen]


made = st.one_of(ranges(), lists.map(lambda items: (Ids.of(items), items)))


@given(made=made)
@example((Ids.of([]), []))
@example((Ids.of([""]), [""]))
@example((Ids.of(["", ""]), ["", ""]))
def test_strings(made: tuple[Ids, list[str]]) -> None:
    ids, items = made
    assert len(ids) == len(items)
    assert ids.strings().tolist() == items and ids.strings().dtype == object
    assert [ids.string(i) for i in range(len(ids))] == items
    assert ids.n_words == max((-(-len(s.encode()) // 8) for s in items), default=0)
    rows = np.arange(len(items))[::-2]
    assert ids.take(rows).strings().tolist() == items[::-2]
    assert Ids.of(object_array(items)).strings().tolist() == items


@given(made=made)
def test_words_are_the_bytes(made: tuple[Ids, list[str]]) -> None:
    ids, items = made
    for i in range(ids.n_words + 2):
        expected = [int.from_bytes(s.encode()[8 * i : 8 * i + 8], "little") for s in items]
        assert ids.word(i).tolist() == expected
        assert ids.word(i, np.arange(len(items))[::-1]).tolist() == expected[::-1]


@given(a=made, b=made, seed=st.integers(0, 3))
@example(a=(Ids.of(["a" * 8, "a" * 9]), ["a" * 8, "a" * 9]), b=(Ids.of(["a" * 9]), ["a" * 9]), seed=0)
def test_hashes_and_equality(a: tuple[Ids, list[str]], b: tuple[Ids, list[str]], seed: int) -> None:
    """Equal where and only where the strings are: that two of so few collide would be a flaw of the hash."""
    pairs = np.array(list(itertools.product(range(len(a[1])), range(len(b[1])))), dtype=np.int64).reshape(
        -1, 2
    )
    expected = [a[1][i] == b[1][j] for i, j in pairs.tolist()]
    assert a[0].equal(pairs[:, 0], b[0], pairs[:, 1]).tolist() == expected
    hashes = a[0].hashes(seed)[pairs[:, 0]] == b[0].hashes(seed)[pairs[:, 1]]
    assert hashes.tolist() == expected


def test_equality_does_not_rest_on_the_hash() -> None:
    """Every two ids of these differ, wherever they do."""
    items = ["".join(t) for n in range(1, 4) for t in itertools.product("ab", repeat=n)]
    items += ["a" * i + "b" + "a" * (20 - i) for i in range(21)]
    ids, rows = Ids.of(items), np.arange(len(items))
    for shift in range(1, len(items)):
        assert not ids.equal(rows, ids, np.roll(rows, shift)).any()
    assert ids.equal(rows, ids, rows).all()


def test_hashes_spread() -> None:
    """No collision among 200,000 pairs of neighbouring numbers, as ids of collections are."""
    ids = Ids.of([f"clueweb09-en0000-{i % 100:02d}-{i:05d}" for i in range(2000)])
    query, doc = np.divmod(np.arange(200_000), 2000)
    keys = pair_keys(query, ids.hashes()[doc])
    assert len(np.unique(keys)) == 200_000
    same = pair_keys(query, Ids.of(ids.strings()).hashes()[doc])
    assert np.array_equal(keys, same)


@given(made=made)
def test_changes(made: tuple[Ids, list[str]]) -> None:
    ids, items = made
    assert ids.changes().tolist() == [i for i in range(len(items)) if i == 0 or items[i] != items[i - 1]]


@examples(40)
@given(made=made, groups=st.lists(st.integers(0, 2), min_size=12, max_size=12))
def test_descending_is_the_order_of_strcmp(made: tuple[Ids, list[str]], groups: list[int]) -> None:
    ids, items = made
    group = np.array(groups[: len(items)], dtype=np.int64)
    order = ids.descending(group).tolist()
    assert sorted(order) == list(range(len(items)))
    expected = sorted(range(len(items)), key=lambda i: items[i].encode(), reverse=True)
    expected.sort(key=lambda i: groups[i])
    assert [(groups[i], items[i]) for i in order] == [(groups[i], items[i]) for i in expected]


@given(a=made, b=made)
def test_followed_by(a: tuple[Ids, list[str]], b: tuple[Ids, list[str]]) -> None:
    assert a[0].followed_by(b[0]).strings().tolist() == a[1] + b[1]


def test_what_is_not_text() -> None:
    for bad in ([1], ["a", None], [b"a"], ["a", float("nan")]):
        with pytest.raises(TypeError):
            Ids.of(bad)
    with pytest.raises(UnicodeEncodeError):
        Ids.of(["a", "\udc80"])
    broken = np.frombuffer(b"ab\xffcd", dtype=np.uint8)
    assert Ids(broken, np.array([1]), np.array([4])).string(0) == "b\ufffdc"


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
