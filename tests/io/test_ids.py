"""Ids as ranges of bytes do what Python's strings do."""

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from drawn import examples
from ir_measures_relative.data.arrays import object_array
from ir_measures_relative.data.ids import Ids, pair_keys

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
