"""Query and document ids as ranges of bytes: what a file or an Arrow column holds anyway.

Making a Python string of every id would be most of the work of reading a run, and nearly none is ever looked at. So
ids stay where they are, as UTF-8, and are compared eight bytes at a time; they are matched by a hash and verified by
their bytes, so that no result depends on the hash.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from .arrays import BoolArray, IntArray, ObjectArray, object_array

WordArray: TypeAlias = NDArray[np.uint64]
ByteArray: TypeAlias = NDArray[np.uint8]

_SHIFT = np.uint64(29)
_FACTOR = np.uint64(0xBF58476D1CE4E5B9)
_OTHER_FACTOR = np.uint64(0x9E3779B97F4A7C15)


class Ids:
    """Ids, one a row: the bytes ``data[starts[i] : starts[i] + lengths[i]]``, which are UTF-8."""

    def __init__(self, data: ByteArray, starts: IntArray, lengths: IntArray) -> None:
        if len(data) < 8:
            data = np.concatenate([data, np.zeros(8, dtype=np.uint8)])
        self.data = data
        self.starts = starts
        self.lengths = lengths

    @classmethod
    def of(cls, strings: ObjectArray | Sequence[str]) -> Ids:
        """The ids of an array of strings.

        Raises:
            TypeError: something else among them.
            UnicodeEncodeError: half of a surrogate pair, which no file can hold.
        """
        items = list(strings)
        text = "\n".join(items)
        data = np.frombuffer(text.encode(), dtype=np.uint8)
        if len(text) == len(data):
            lengths = np.fromiter(map(len, items), dtype=np.int64, count=len(items))
        else:
            lengths = np.fromiter((len(s.encode()) for s in items), dtype=np.int64, count=len(items))
        ends = np.cumsum(lengths + 1)
        return cls(data, ends - lengths - 1, lengths)

    def __len__(self) -> int:
        return len(self.starts)

    def take(self, rows: IntArray | slice | BoolArray) -> Ids:
        """The ids of some rows, on the same bytes."""
        return Ids(self.data, self.starts[rows], self.lengths[rows])

    def copy(self) -> Ids:
        """The ids on bytes of their own, where others may change these."""
        return Ids(self.data.copy(), self.starts.copy(), self.lengths.copy())

    def strings(self) -> ObjectArray:
        """The ids as Python strings."""
        if not len(self):
            return np.empty(0, dtype=object)
        low = int(self.starts.min())
        data = self.data[low : int((self.starts + self.lengths).max())].tobytes()
        starts = (self.starts - low).tolist()
        ends = (self.starts - low + self.lengths).tolist()
        if data.isascii():
            text = data.decode("ascii")
            return object_array([text[a:b] for a, b in zip(starts, ends, strict=True)])
        return object_array([data[a:b].decode() for a, b in zip(starts, ends, strict=True)])

    def string(self, row: int) -> str:
        """One id as a Python string; what is not UTF-8 shows as such."""
        start = int(self.starts[row])
        return self.data[start : start + int(self.lengths[row])].tobytes().decode("utf-8", "replace")

    def word(self, i: int, rows: IntArray | slice = slice(None)) -> WordArray:
        """The i-th eight bytes of each id, as a number; 0 beyond its end."""
        last = len(self.data) - 8
        words = np.ndarray(last + 1, dtype="<u8", buffer=self.data, strides=(1,))
        at = self.starts[rows] + 8 * i
        left = self.lengths[rows] - 8 * i
        excess = np.maximum(at - last, 0)
        result = words[np.minimum(at, last)]
        if excess.any():
            result = np.where(
                excess < 8, result >> (8 * np.minimum(excess, 7)).astype(np.uint64), np.uint64(0)
            )
        kept = (8 * np.clip(8 - left, 0, 8)).astype(np.uint64)  # bits that are another's
        short = kept > 0
        if short.any():
            mask = np.where(
                kept < 64, np.uint64(0xFFFFFFFFFFFFFFFF) >> np.minimum(kept, np.uint64(63)), np.uint64(0)
            )
            result = result & mask
        return result

    @property
    def n_words(self) -> int:
        """How many eight bytes the longest id has."""
        return (int(self.lengths.max(initial=0)) + 7) // 8

    def keys(self, salt: IntArray, seed: int = 0) -> WordArray:
        """A hash of each id and its ``salt``, such as its query: equal where both are, and hardly ever else."""
        with np.errstate(over="ignore"):
            key = (salt.astype(np.uint64) + np.uint64(seed)) * _OTHER_FACTOR + self.lengths.astype(np.uint64)
            key *= _FACTOR
            for i in range(self.n_words):
                rows: IntArray | slice = slice(None) if i < 4 else np.flatnonzero(self.lengths > 8 * i)
                mixed = (key[rows] ^ self.word(i, rows)) * _FACTOR
                key[rows] = mixed ^ (mixed >> _SHIFT)
        return key

    def equal(self, rows: IntArray, other: Ids, other_rows: IntArray) -> BoolArray:
        """Whether the ids of ``rows`` are those of the other's ``other_rows``, byte by byte."""
        same: BoolArray = self.lengths[rows] == other.lengths[other_rows]
        longest = int(self.lengths[rows[same]].max(initial=0))
        for i in range((longest + 7) // 8):
            at = np.flatnonzero(same & (self.lengths[rows] > 8 * i))
            same[at] = self.word(i, rows[at]) == other.word(i, other_rows[at])
        return same

    def changes(self) -> IntArray:
        """The rows at which another id stands than in the row before, the first row included."""
        n = len(self)
        if not n:
            return np.empty(0, dtype=np.int64)
        rows = np.arange(n)
        different = ~self.equal(rows[1:], self, rows[:-1])
        return np.concatenate([[0], np.flatnonzero(different) + 1]).astype(np.int64)

    def descending(self, group: IntArray) -> IntArray:
        """The order of the rows by ``group``, then by id, from the last to the first in the order of strcmp."""
        words = [~self.word(i).byteswap() for i in range(self.n_words)]
        return np.lexsort([*reversed(words), group])
