"""Lines of columns that white space separates -> arrays of where each column of each line stands.

White space is what C's ``isspace`` says, since trec_eval reads so. ir_measures splits where Python's ``str.split``
does, at more characters; a file that holds one of these is refused, so that none means one thing here and another
there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from ..arrays import BoolArray, FloatArray, IntArray
from ..ids import ByteArray, Ids

# What str.split splits at and isspace does not, and str.splitlines' ends of lines among it.
_OTHER_SPACE = re.compile("[\x1c-\x1f\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]")
_NUMBER = re.compile(rb"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_WHOLE_NUMBER = re.compile(rb"[+-]?\d+")


class Columns:
    """A file of lines with the same number of columns."""

    def __init__(self, data: bytes, n: int) -> None:
        """Takes the content and the number of columns.

        Raises:
            ValueError: a line with another number, or characters that no such file may hold; without a message,
                which :func:`first_bad_line` finds.
        """
        _check_characters(data)
        self._data = np.frombuffer(data, dtype=np.uint8)
        space = _is_space(self._data)
        edges = np.flatnonzero(np.diff(space.view(np.int8), prepend=np.int8(1), append=np.int8(1)))
        if len(edges) % (2 * n):
            raise ValueError
        self._starts = edges[0::2].reshape(-1, n)
        self._ends = edges[1::2].reshape(-1, n)
        newline = np.flatnonzero(self._data == ord("\n"))
        # How many lines end before the first and before the last column of each row.
        first, last = (np.searchsorted(newline, self._starts[:, i]) for i in (0, n - 1))
        if (first != last).any() or (np.diff(first) == 0).any():
            raise ValueError

    def __len__(self) -> int:
        return len(self._starts)

    def ids(self, i: int) -> Ids:
        """The i-th column as ids."""
        return Ids(self._data, self._starts[:, i].copy(), self._ends[:, i].copy())

    def floats(self, i: int) -> FloatArray:
        """The i-th column as numbers, each the nearest double.

        Raises:
            ValueError: one that is not written as C and Python both write a number; without a message.
        """
        starts, lengths = self._starts[:, i], self._ends[:, i] - self._starts[:, i]
        values, known = _decimals(self._data, starts, lengths)
        for row in np.flatnonzero(~known):
            text = self._data[starts[row] : starts[row] + lengths[row]].tobytes()
            if not _NUMBER.fullmatch(text):
                raise ValueError
            values[row] = float(text)
        return values

    def whole_numbers(self, i: int) -> IntArray:
        """The i-th column as whole numbers.

        Raises:
            ValueError: one that is not; without a message.
        """
        column = self.ids(i)
        if not len(column):
            return np.empty(0, dtype=np.int64)
        distinct, row = np.unique(column.word(0), return_inverse=True)
        if column.n_words <= 1 and len(distinct) < 1000:  # grades, of which there are few
            texts = [int(word).to_bytes(8, "little").rstrip(b"\0") for word in distinct]
            return np.array([_whole_number(text) for text in texts], dtype=np.int64)[row]
        return np.array([_whole_number(text.encode()) for text in column.strings()], dtype=np.int64)


def _whole_number(text: bytes) -> int:
    if not _WHOLE_NUMBER.fullmatch(text) or abs(int(text)) >= 2**31:
        raise ValueError
    return int(text)


def _is_space(data: ByteArray) -> BoolArray:
    return np.asarray((data == 32) | ((data - np.uint8(9)) <= 4))


def _check_characters(data: bytes) -> None:
    if b"\0" in data or re.search(rb"\r(?!\n)", data):
        raise ValueError
    if data.isascii():
        if re.search(rb"[\x1c-\x1f]", data):
            raise ValueError
    elif _OTHER_SPACE.search(data.decode()):
        raise ValueError


def _decimals(data: ByteArray, starts: IntArray, lengths: IntArray) -> tuple[FloatArray, BoolArray]:
    """Numbers such as -12.375 with up to 15 digits, and which rows hold one.

    Their digits make a whole number that a double holds exactly, and so is the power of ten to divide it by: the
    quotient is rounded once, to the nearest double.
    """
    n = len(starts)
    number = np.zeros(n, dtype=np.int64)
    digits, places, points = np.zeros((3, n), dtype=np.int64)
    known = lengths <= 17
    longest = int(lengths[known].max(initial=0))
    last = len(data) - 1
    negative = np.zeros(n, dtype=bool)
    for j in range(longest):
        inside = known & (j < lengths)
        byte = data[np.minimum(starts + j, last)]
        digit = byte - np.uint8(ord("0"))
        is_digit = inside & (digit <= 9)
        is_point = inside & (byte == ord("."))
        number = np.where(is_digit, number * 10 + digit, number)
        digits += is_digit
        places += is_digit & (points > 0)
        points += is_point
        other = inside & ~is_digit & ~is_point
        if j == 0:
            negative = other & (byte == ord("-"))
            other &= ~negative & (byte != ord("+"))
        known &= ~other
    known &= (digits > 0) & (digits <= 15) & (points <= 1)
    value = number / 10.0 ** np.minimum(np.arange(23), 22)[np.minimum(places, 22)]
    return np.where(negative, -value, value), known


def lines(data: bytes) -> Iterator[tuple[int, bytes]]:
    """The lines that are not blank, with their numbers from 1; one at a time."""
    start, number = 0, 0
    while start < len(data):
        end = data.find(b"\n", start)
        end = len(data) if end < 0 else end
        number += 1
        line = data[start:end]
        if line.strip():
            yield number, line
        start = end + 1


def what_is_wrong(line: bytes) -> str | None:
    """What characters a line must not hold, in words; None where it is all right."""
    if b"\0" in line:
        return "it holds a NUL, which ends a text in C; is it a text file?"
    if b"\r" in line.removesuffix(b"\r"):
        return "it holds a carriage return (\\r) that no line feed follows; end lines with \\n"
    try:
        text = line.decode()
    except UnicodeDecodeError as error:
        return f"it is not text in UTF-8 (byte {line[error.start]:#04x} at {error.start + 1}); convert the file to UTF-8"
    other = _OTHER_SPACE.search(text)
    if other:
        return (
            f"it holds the character U+{ord(other[0]):04X}, which Python takes for white space and C does not, so that "
            "programs differ in where a column ends; replace it"
        )
    return None


def shown(line: bytes) -> str:
    """The start of a line, for a message."""
    return repr(line[:80].decode("utf-8", "replace").strip())


def is_csv(line: bytes) -> bool:
    """Whether a line looks like one of comma-separated values."""
    return len(line.split()) <= 2 and line.count(b",") >= 2


def is_number(text: bytes) -> bool:
    """Whether C and Python both read it as a number."""
    return _NUMBER.fullmatch(text) is not None
