"""Ids as ranges of UTF-8 bytes, as in a file or an Arrow column: making strings would be most of reading a run.

They are matched by a hash and verified by their bytes, eight at a time, so that no result depends on the hash.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from .arrays import BoolArray, IntArray, ObjectArray, object_array

if TYPE_CHECKING:
    from numpy.typing import NDArray

WordArray: TypeAlias = "NDArray[np.uint64]"
ByteArray: TypeAlias = "NDArray[np.uint8]"

_ALL = slice(None)
# Rows that are processed at a time, so that what is computed on the way stays in the processor's cache.
_BLOCK = 1 << 14
_FEW = 16  # rows that Python sorts faster than numpy
_LITTLE_ENDIAN: np.dtype[np.uint64] = np.dtype("<u8")
_SHIFT = np.uint64(29)
_FACTOR = np.uint64(0xBF58476D1CE4E5B9)
_OTHER_FACTOR = np.uint64(0x9E3779B97F4A7C15)
#: The first 0, 1, …, 8 bytes of a little-endian word.
FIRST_BYTES = np.array([(1 << (8 * n)) - 1 for n in range(9)], dtype=np.uint64)


class Ids:
    """Ids, one a row: the bytes ``data[starts[i] : ends[i]]``, which are UTF-8."""

    def __init__(self, data: ByteArray, starts: IntArray, ends: IntArray) -> None:
        if len(data) < 16:
            data = np.concatenate([data, np.zeros(16, dtype=np.uint8)])
        self.data = data
        self.starts = starts
        self.ends = ends

    @classmethod
    def of(cls, strings: ObjectArray | Sequence[str]) -> Ids:
        """Return the ids of an array of strings."""
        texts, ends_by_block, size = list[bytes](), [np.empty(0, dtype=np.int64)], 0
        for at in range(0, len(strings), _BLOCK):
            block = strings[at : at + _BLOCK]
            items: list[str] = block.tolist() if isinstance(block, np.ndarray) else list(block)
            text = "\n".join(items).encode()
            if b"\0" in text:
                raise TypeError("an id holds a NUL")
            ends = np.append(np.flatnonzero(np.frombuffer(text, dtype=np.uint8) == ord("\n")), len(text))
            if len(ends) != len(items):  # line breaks in ids
                ends = np.cumsum([len(s.encode()) + 1 for s in items]) - 1
            texts.append(text)
            ends_by_block.append(size + ends)
            size += len(text) + 1
        texts.append(bytes(16))  # so that sixteen bytes can be read from the start of any id
        data, ends = np.frombuffer(b"\n".join(texts), dtype=np.uint8), np.concatenate(ends_by_block)
        starts = np.zeros_like(ends)
        np.add(ends[:-1], 1, out=starts[1:])
        return cls(data, starts, ends)

    @classmethod
    def joined(cls, parts: Sequence[Ids]) -> Ids:
        """Return the ids of each, one after the other, on bytes that hold nothing else."""
        texts = [np.empty(0, dtype=np.uint8)]
        for part in parts:
            offset = part.starts - (np.cumsum(part.lengths) - part.lengths)
            texts.append(part.data[np.repeat(offset, part.lengths) + np.arange(part.lengths.sum())])
        lengths = np.concatenate([np.empty(0, dtype=np.int64), *(part.lengths for part in parts)])
        ends = np.cumsum(lengths)
        return cls(np.concatenate(texts), ends - lengths, ends)

    def __len__(self) -> int:
        return len(self.starts)

    @property
    def lengths(self) -> IntArray:
        """How many bytes each id has."""
        return self.ends - self.starts

    def take(self, rows: IntArray | NDArray[np.int32] | slice | BoolArray) -> Ids:
        """Return the ids of some rows, on the same bytes."""
        return Ids(self.data, self.starts[rows], self.ends[rows])

    def followed_by(self, other: Ids) -> Ids:
        """Return these ids, and then the other's."""
        shift = 0 if other.data is self.data else len(self.data)
        data = self.data if not shift else np.concatenate([self.data, other.data])
        ends = np.concatenate([self.ends, other.ends + shift])
        return Ids(data, np.concatenate([self.starts, other.starts + shift]), ends)

    def strings(self) -> ObjectArray:
        """Return the ids as Python strings."""
        if not len(self):
            return np.empty(0, dtype=object)
        low, high = int(self.starts.min()), int(self.ends.max())
        if high - low > 16 * int(self.lengths.sum()):  # a few, far apart
            ranges = zip(self.starts.tolist(), self.ends.tolist(), strict=True)
            return object_array([self.data[a:b].tobytes().decode() for a, b in ranges])
        data = self.data[low:high].tobytes()
        ranges = zip((self.starts - low).tolist(), (self.ends - low).tolist(), strict=True)
        if data.isascii():
            text = data.decode("ascii")
            return object_array([text[a:b] for a, b in ranges])
        return object_array([data[a:b].decode() for a, b in ranges])

    def string(self, row: int) -> str:
        """Return one id as a Python string; what is not UTF-8 shows as such."""
        return self.data[int(self.starts[row]) : int(self.ends[row])].tobytes().decode("utf-8", "replace")

    def word(self, i: int, rows: IntArray | slice = _ALL) -> WordArray:
        """Return the i-th eight bytes of each id, as a number; 0 beyond its end."""
        last = len(self.data) - 8
        words: WordArray = np.ndarray(last + 1, dtype=_LITTLE_ENDIAN, buffer=self.data, strides=(1,))
        at, ends = self.starts[rows], self.ends[rows]
        if i:
            at = at + 8 * i
        if not len(at):
            return np.zeros(0, dtype=np.uint64)
        left = ends - at
        if at.max() <= last:
            result = words[at]
        else:  # near the end of the data: the last eight bytes, shifted
            excess = np.maximum(at - last, 0)
            result = words[np.minimum(at, last)] >> (8 * np.minimum(excess, 7)).astype(np.uint64)
        if left.min() < 8:
            result = result & FIRST_BYTES.take(left, mode="clip")
        return result

    @property
    def n_words(self) -> int:
        """The length of the longest id, in words of eight bytes."""
        return (int(self.lengths.max(initial=0)) + 7) // 8

    def hashes(self, seed: int = 0) -> WordArray:
        """Return a hash of each id: equal where two are, and hardly ever else."""
        result = np.empty(len(self.starts), dtype=np.uint64)
        for at in range(0, len(result), _BLOCK):
            block = slice(at, at + _BLOCK)
            result[block] = self._hashes(self.starts[block], self.ends[block], seed)
        return result

    def _hashes(self, starts: IntArray, ends: IntArray, seed: int) -> WordArray:
        lengths = ends - starts
        with np.errstate(over="ignore"):
            result = lengths.astype(np.uint64)
            result += np.uint64(seed)
            result *= _FACTOR
            for word in self._two_words(starts, lengths):
                _mix(result, word)
            for i in range(2, (int(lengths.max()) + 7) // 8):
                rows = np.flatnonzero(lengths > 8 * i)
                mixed = result[rows]
                _mix(mixed, Ids(self.data, starts[rows], ends[rows]).word(i))
                result[rows] = mixed
        return result

    def _two_words(self, starts: IntArray, lengths: IntArray) -> tuple[WordArray, WordArray]:
        """Return the first and the second eight bytes of ids, in the time of one of them."""
        last = len(self.data) - 16
        if starts.max() > last:
            ids = Ids(self.data, starts, starts + lengths)
            return ids.word(0), ids.word(1)
        pairs: NDArray[np.void] = np.ndarray(last + 1, dtype="V16", buffer=self.data, strides=(1,))
        first, second = pairs[starts].view(_LITTLE_ENDIAN).reshape(-1, 2).T
        shortest = int(lengths.min())
        if shortest < 8:
            first = first & FIRST_BYTES.take(lengths, mode="clip")
        if shortest < 16:
            second = second & FIRST_BYTES.take(lengths - 8, mode="clip")
        return first, second

    def equal(self, rows: IntArray, other: Ids, other_rows: IntArray) -> BoolArray:
        """Return whether the ids of ``rows`` are those of the other's ``other_rows``, byte by byte."""
        starts, other_starts = self.starts[rows], other.starts[other_rows]
        lengths, other_lengths = self.ends[rows] - starts, other.ends[other_rows] - other_starts
        same: BoolArray = lengths == other_lengths
        if not same.any():
            return same
        other_words = other._two_words(other_starts, other_lengths)
        for word, other_word in zip(self._two_words(starts, lengths), other_words, strict=True):
            same &= word == other_word
        for i in range(2, (int(lengths.max()) + 7) // 8):
            at = np.flatnonzero(same & (lengths > 8 * i))
            same[at] = self.word(i, rows[at]) == other.word(i, other_rows[at])
        return same

    def same_bytes(self, other: Ids) -> bool:
        """Return whether the ids have the layout of the others in memory; the same ids may have another layout."""
        if not len(self) or len(self) != len(other):
            return False
        pairs = (self.data, other.data), (self.starts, other.starts), (self.ends, other.ends)
        if all(a.__array_interface__ == b.__array_interface__ for a, b in pairs):
            return True  # the same memory, as of an Arrow column that comes again
        (a, starts, ends), (b, other_starts, other_ends) = (
            (ids.starts[0], ids.starts - ids.starts[0], ids.ends - ids.starts[0]) for ids in (self, other)
        )
        if not (np.array_equal(starts, other_starts) and np.array_equal(ends, other_ends)):
            return False
        low, high = int(starts.min()), int(ends.max())
        return np.array_equal(self.data[a + low : a + high], other.data[b + low : b + high])

    def changes(self) -> IntArray:
        """Return the rows whose id differs from the row before, the first row included."""
        width = int(self.ends[0] - self.starts[0]) if len(self) else 0
        if width and (self.lengths == width).all() and (self.starts[1:] == self.ends[:-1]).all():
            # The topics' numbers in an Arrow column: letter by letter.
            letters = self.data[self.starts[0] : self.ends[-1]]
            return np.unique(np.append(0, np.flatnonzero(letters[width:] != letters[:-width]) // width + 1))
        blocks: list[IntArray] = [np.zeros(min(len(self), 1), dtype=np.int64)]
        for at in range(0, len(self) - 1, _BLOCK):
            blocks.append(at + 1 + np.flatnonzero(self.take(slice(at, at + _BLOCK + 1))._differ()))
        return np.concatenate(blocks)

    def _differ(self) -> BoolArray:
        """Return for each id but the first whether it differs from the one before."""
        lengths = self.lengths
        different: BoolArray = lengths[1:] != lengths[:-1]
        for i in range((int(lengths.max()) + 7) // 8):
            if i < 2:
                word = self.word(i)
                different |= word[1:] != word[:-1]
            else:
                at = np.flatnonzero(~different & (lengths[1:] > 8 * i))
                different[at] = self.word(i, at + 1) != self.word(i, at)
        return different

    def descending(self, group: IntArray) -> IntArray:
        """Return the order of the rows by ``group``, from 0 up, then by id, from the last to the first by strcmp."""
        if len(self) <= _FEW:
            texts = [self.data[a:b].tobytes() for a, b in zip(self.starts, self.ends, strict=True)]
            by_id = sorted(range(len(self)), key=texts.__getitem__, reverse=True)
            return np.array(sorted(by_id, key=group.tolist().__getitem__), dtype=np.int64)
        rank, n = group, max(len(self), 1)
        most = int(group.max(initial=0)) + 1  # of the numbers that a row may have
        # Eight bytes of the ids after the other; each row has one number at any time.
        for i in range(self.n_words):
            if most * n >= 2**63:
                rank, most = _ranks(rank), n
            rank, most = rank * n + _ranks(~self.word(i).byteswap()), most * n
        return np.argsort(rank)


def _mix(hashes: WordArray, words: WordArray) -> None:
    """Mix a word into each hash, in place."""
    hashes ^= words
    hashes *= _FACTOR
    hashes ^= hashes >> _SHIFT


def _ranks(values: IntArray | WordArray) -> IntArray:
    """Return for each value how many different smaller values there are."""
    order = np.argsort(values)
    in_order = values[order]
    ranks = np.empty(len(values), dtype=np.int64)
    ranks[order] = np.cumsum(in_order != np.append(in_order[:1], in_order[:-1]))
    return ranks


def order_ties(ids: Ids, is_first: BoolArray, wanted: IntArray | None = None) -> tuple[IntArray, IntArray]:
    """Return the rows of ties, and the row that belongs in the place of each, by id from the last to the first.

    Args:
        ids: the id of each row.
        is_first: whether a row does not tie with the row before; one more item ends the last tie.
        wanted: rows; only ties with one of them are returned. Default: all ties.
    """
    tied = ~(is_first[:-1] & is_first[1:])
    rows = np.flatnonzero(tied) if wanted is None else wanted[tied[wanted]]
    if not len(rows):
        return rows, rows
    tie: IntArray = np.cumsum(is_first[rows])
    if wanted is not None:
        first = np.flatnonzero(is_first)
        ties = np.unique(np.searchsorted(first, rows, side="right") - 1)
        sizes = first[ties + 1] - first[ties]
        tie = np.repeat(np.arange(len(ties)), sizes)
        rows = np.arange(len(tie)) + (first[ties] - np.cumsum(sizes) + sizes)[tie]
    return rows, rows[ids.take(rows).descending(tie)]


def repeated(query: IntArray, ids: Ids, hashes: WordArray) -> tuple[int, int] | None:
    """Return the first row with the id of an earlier row of its query, behind that row; None where all differ."""
    keys = pair_keys(query, hashes)
    if not has_repeats(keys):
        return None
    order = np.argsort(keys)
    same = np.flatnonzero(keys[order[1:]] == keys[order[:-1]])
    seen: dict[tuple[int, str], int] = {}
    for row in np.unique(np.concatenate([order[same], order[same + 1]])).tolist():
        before = seen.setdefault((int(query[row]), ids.string(row)), row)
        if before != row:
            return before, row
    return None


def has_repeats(keys: WordArray) -> bool:
    """Return whether two keys are equal; half of their bits, which sort faster, decide for all but a few."""
    halves = (keys >> np.uint64(32)).astype(np.uint32)
    in_order = np.sort(halves)
    twice = in_order[1:][in_order[1:] == in_order[:-1]]
    if not len(twice):
        return False
    doubtful = keys[np.isin(halves, twice)]
    return len(np.unique(doubtful)) < len(doubtful)


def search(keys: WordArray, wanted: WordArray) -> IntArray:
    """Return ``np.searchsorted(keys, wanted)``, by ascending key, which keeps the search in the processor's cache."""
    order = np.argsort(wanted)
    at = np.empty(len(wanted), dtype=np.int64)
    at[order] = np.searchsorted(keys, wanted[order])
    return at


def pair_keys(query: IntArray, hashes: WordArray) -> WordArray:
    """Return a key of each (query, id), from the hash of the id: equal where both are, and hardly ever else."""
    with np.errstate(over="ignore"):
        keys = query.astype(np.uint64)
        keys += np.uint64(1)
        keys *= _OTHER_FACTOR
        keys ^= hashes
    return keys
