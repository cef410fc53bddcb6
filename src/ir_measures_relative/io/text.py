"""Lines of columns that white space separates -> arrays of where each column of each line stands.

White space is what C's ``isspace`` says, since trec_eval reads so. ir_measures splits where Python's ``str.split``
does, at more characters; a file that holds one of these is refused, so that none means one thing here and another
there. So are numbers that only one of C and Python reads, such as ``1_000``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import numpy as np

from ..arrays import BoolArray, FloatArray, IntArray
from ..ids import ByteArray, Ids

# What str.split splits at and isspace does not.
_OTHER_SPACE = re.compile("[\x1c-\x1f\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]")
_WHOLE_NUMBER = re.compile(rb"[+-]?[0-9]+")
# Python's float() reads what is made of these as C does, and nothing else that is made of these.
_OF_A_NUMBER = b"0123456789+-.eE"
_ROWS = (
    1 << 15
)  # whose numbers are read at a time: what is computed on the way stays in the processor's cache
_PIECE = 1 << 20  # bytes that are decoded at a time


class Columns:
    """A file of lines with the same number of columns; blank lines do not count."""

    def __init__(self, data: bytes, n: int) -> None:
        """Takes the content and the number of columns.

        Raises:
            ValueError: a line with another number, or characters that no such file may hold; without a message,
                which :func:`first_bad_line` finds.
        """
        self._text = data
        self._data = np.frombuffer(data, dtype=np.uint8)
        low = np.flatnonzero(self._data <= ord(" "))  # white space, and next to nothing else
        byte = self._data[low]
        counts = np.bincount(byte, minlength=ord(" ") + 1)
        _check_characters(data, counts)
        if counts[_NOT_SPACE].any():
            space = ~_NOT_SPACE[byte]
            low, byte = low[space], byte[space]
        if not len(low) or low[-1] < len(data) - 1:  # no newline at the end
            low, byte = np.append(low, len(data)), np.append(byte, np.uint8(ord("\n")))
        # A column ends at white space, and starts behind the one before.
        starts, ends = np.zeros_like(low), low
        np.add(low[:-1], 1, out=starts[1:])
        last = byte == ord("\n")  # of its line
        last[-1] = True
        if (starts == ends).any():  # where two stand together, there is none
            column = starts < ends
            line = (np.cumsum(last) - last)[column]
            starts, ends, last = starts[column], ends[column], np.ones(len(line), dtype=bool)
            last[:-1] = line[1:] > line[:-1]
        if len(starts) % n:
            raise ValueError
        last = last.reshape(-1, n)
        if not last[:, -1].all() or last[:, :-1].any():
            raise ValueError
        self._starts: IntArray = starts.reshape(-1, n)
        self._ends: IntArray = ends.reshape(-1, n)

    def __len__(self) -> int:
        return len(self._starts)

    def line(self, row: int) -> int:
        """The number, from 1, of the line that a row stands in."""
        return 1 + self._text.count(b"\n", 0, int(self._starts[row, 0]))

    def ids(self, i: int) -> Ids:
        """The i-th column as ids."""
        return Ids(self._data, self._starts[:, i].copy(), self._ends[:, i].copy())

    def floats(self, i: int) -> FloatArray:
        """The i-th column as finite numbers, each the nearest double.

        Raises:
            ValueError: one that is not written as C and Python both write a number, or that is too large for a
                double; without a message.
        """
        starts, ends = self._starts[:, i], self._ends[:, i]
        values = np.empty(len(self))
        for at in range(0, len(self), _ROWS):
            rows = slice(at, at + _ROWS)
            values[rows], known = _decimals(self._data, starts[rows], ends[rows] - starts[rows])
            others = at + np.flatnonzero(~known)
            if len(others):
                texts = self._texts(starts[others], ends[others])
                if b"".join(texts).translate(None, _OF_A_NUMBER):
                    raise ValueError
                values[others] = list(map(float, texts))
        if not np.isfinite(values).all():
            raise ValueError
        return values

    def whole_numbers(self, i: int) -> IntArray:
        """The i-th column as whole numbers, below 2^31 in size.

        Raises:
            ValueError: one that is not; without a message.
        """
        column = self.ids(i)
        if column.n_words <= 1:  # relevance labels, of which there are few different ones
            words, row = np.unique(column.word(0), return_inverse=True)
            texts = [int(word).to_bytes(8, "little").rstrip(b"\0") for word in words]
            return np.array(list(map(_whole_number, texts)), dtype=np.int64)[row]
        texts = self._texts(self._starts[:, i], self._ends[:, i])
        return np.array(list(map(_whole_number, texts)), dtype=np.int64)

    def _texts(self, starts: IntArray, ends: IntArray) -> list[bytes]:
        return [self._text[a:b] for a, b in zip(starts.tolist(), ends.tolist(), strict=True)]


def _whole_number(text: bytes) -> int:
    if not _WHOLE_NUMBER.fullmatch(text) or abs(int(text)) >= 2**31:
        raise ValueError
    return int(text)


# Of the bytes up to the space: what isspace does not say is white space.
_NOT_SPACE = np.array([chr(i) not in " \t\n\v\f\r" for i in range(ord(" ") + 1)])


def _check_characters(data: bytes, counts: IntArray) -> None:
    """Raises ValueError, without a message, where :func:`what_is_wrong` finds something.

    Args:
        counts: how many there are of each byte up to the space.
    """
    if counts[0] or counts[0x1C:0x20].any():
        raise ValueError
    if counts[ord("\r")] and _BARE_RETURN.search(data):
        raise ValueError
    if not data.isascii() and any(_OTHER_SPACE.search(piece.decode()) for piece in _pieces(data)):
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
    value = number / _POWERS_OF_TEN[places]
    return np.where(negative, -value, value), known


# Exact, all of them; numpy's own powers need not be.
_POWERS_OF_TEN = np.array([float(10**i) for i in range(18)])
_BARE_RETURN = re.compile(rb"\r(?!\n|\Z)")


def _pieces(data: bytes) -> Iterator[bytes]:
    """The text in pieces of whole lines."""
    start = 0
    while start < len(data):
        end = data.find(b"\n", start + _PIECE) + 1 or len(data)
        yield data[start:end]
        start = end


def first_bad_line(data: bytes, check: Callable[[bytes], object]) -> tuple[int, bytes]:
    """The number, from 1, and the text of the first line for which ``check`` raises ValueError.

    Args:
        check: takes a line, or several; raises where it does for one of them. There is such a line.
    """
    start, end, number = 0, len(data), 1
    while True:  # halve what holds it
        middle = (start + end) // 2
        cut = data.rfind(b"\n", start, middle) + 1 or data.find(b"\n", middle, end - 1) + 1
        if not cut:
            return number, data[start:end].removesuffix(b"\n")
        if _passes(check, data[start:cut]):
            number += data.count(b"\n", start, cut)
            start = cut
        else:
            end = cut


def _passes(check: Callable[[bytes], object], text: bytes) -> bool:
    try:
        check(text)
    except ValueError:
        return False
    return True


def what_is_wrong(line: bytes) -> str | None:
    """What characters a line must not hold, in words; None where it is all right."""
    if b"\0" in line:
        return "it holds a NUL, which ends a text in C; is it a text file?"
    if _BARE_RETURN.search(line):
        return "it holds a carriage return (\\r) that no line feed follows; end lines with \\n"
    try:
        text = line.decode()
    except UnicodeDecodeError as error:
        place = f"byte {line[error.start]:#04x} at {error.start + 1}"
        return f"it is not text in UTF-8 ({place}); convert the file to UTF-8"
    other = _OTHER_SPACE.search(text)
    if other:
        return (
            f"it holds the character U+{ord(other[0]):04X}, which Python takes for white space and C does not, so that "
            "programs differ in where a column ends; replace it"
        )
    return None


def shown(text: bytes) -> str:
    """The start of a line or a column, for a message."""
    start = text[:80].decode("utf-8", "ignore").strip()
    return repr(start + "…" if len(text) > 80 else start)


def csv_hint(line: bytes) -> str:
    """What to do with a line that looks like one of comma-separated values; nothing where it does not."""
    if len(line.split()) > 2 or max(line.count(b","), line.count(b";")) < 2:
        return ""
    return (
        "; it looks like CSV: separate the columns by spaces, or read it with pandas and give the DataFrame"
    )
