"""Columns of TREC's files, separated by white space, as arrays.

White space is C's ``isspace``, as in trec_eval. Characters and numbers that C and Python read differently are rejected.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeVar

import numpy as np

from ..data.arrays import BoolArray, FloatArray, IntArray
from ..data.ids import FIRST_BYTES, ByteArray, Ids, WordArray
from .files import check_lines

T = TypeVar("T")

#: The characters that str.split splits at and isspace does not, for a class of characters in a pattern.
OTHER_SPACE = "\x1c-\x1f\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
_OTHER_SPACE = re.compile(f"[{OTHER_SPACE}]")
_BARE_RETURN = re.compile(rb"\r(?!\n|\Z)")
_WHOLE_NUMBER = re.compile(rb"[+-]?[0-9]+")
# Python's float() reads texts of these characters as C does.
_NUMBER_CHARACTERS = b"0123456789+-.eE"
_ROWS = (
    1 << 15
)  # rows whose numbers are read at a time, so that intermediate results stay in the processor's cache

_NUMBER = re.compile(rb"[+-]?[0-9]+(\.[0-9]*)?([eE][+-]?[0-9]+)?")
_BINARY = re.compile(rb"[\0-\x08\x0e-\x1f]|\A\x80")  # in the first bytes of binary files
_HEAD = 1 << 16  # bytes in which the first line ends

_COMMENT = re.compile(rb"^#[^\n]*", re.MULTILINE)


def starts_as_trec(data: bytes, *, columns: int, number: int) -> bool:
    """Return whether the first line leaves no doubt that a file is TREC's, so that no other format need be tried."""
    line = data[:_HEAD].lstrip().split(b"\n", 1)[0]
    fields = line.split()
    if len(fields) != columns or _NUMBER.fullmatch(fields[number]) is None:
        return False
    if line[:1] in (b"{", b"[") or b":" in fields[1] or _BINARY.search(line):
        return False
    return not (b"\t" in line and b" " in line)


class Columns:
    """A file of lines with the same number of columns; blank lines do not count."""

    def __init__(self, data: bytes, n: int) -> None:
        """Find the ``n`` columns of each line; raise ValueError, without a message, where a line has another number."""
        self._text = data
        self._data = np.frombuffer(data, dtype=np.uint8)
        low = np.flatnonzero(self._data <= ord(" "))  # white space, and hardly any other bytes
        byte = self._data[low]
        unusual = (byte != ord(" ")) & (byte != ord("\n")) & (byte != ord("\t"))
        counts = np.bincount(byte[unusual], minlength=ord(" ") + 1)
        _check_characters(data, counts)
        if counts[_NOT_SPACE].any():
            space = ~_NOT_SPACE[byte]
            low, byte = low[space], byte[space]
        if not len(low) or low[-1] < len(data) - 1:  # no newline at the end
            low, byte = np.append(low, len(data)), np.append(byte, np.uint8(ord("\n")))
        # A column ends at white space, and starts behind the previous white space.
        starts, ends = np.zeros_like(low), low
        np.add(low[:-1], 1, out=starts[1:])
        last = byte == ord("\n")  # whether each column is the last of its line
        last[-1] = True
        if (starts == ends).any():  # no column between two white spaces
            column = starts < ends
            line = (np.cumsum(last) - last)[column]
            starts, ends, last = starts[column], ends[column], np.ones(len(line), dtype=bool)
            last[:-1] = line[1:] > line[:-1]
        if len(starts) % n:
            raise ValueError
        last = last.reshape(-1, n)
        if not last[:, -1].all() or np.count_nonzero(last) > len(last):
            raise ValueError
        if (self._data[starts[::n]] == ord("#")).any():  # a comment to trec_eval, and a row to ir_measures
            raise ValueError
        self._starts: IntArray = starts.reshape(-1, n)
        self._ends: IntArray = ends.reshape(-1, n)

    def __len__(self) -> int:
        return len(self._starts)

    def line(self, row: int) -> int:
        """Return the number of the line of a row, from 1."""
        return 1 + self._text.count(b"\n", 0, int(self._starts[row, 0]))

    def ids(self, i: int) -> Ids:
        """Return the i-th column as ids."""
        return Ids(self._data, self._starts[:, i].copy(), self._ends[:, i].copy())

    def floats(self, i: int) -> FloatArray:
        """Return the i-th column as finite numbers, each the nearest double."""
        starts, ends = self._starts[:, i], self._ends[:, i]
        values = np.empty(len(self))
        for at in range(0, len(self), _ROWS):
            rows = slice(at, at + _ROWS)
            values[rows], is_read = _decimals(self._data, starts[rows], ends[rows])
            unread = at + np.flatnonzero(~is_read)
            if len(unread):
                texts = self._texts(starts[unread], ends[unread])
                if b"".join(texts).translate(None, _NUMBER_CHARACTERS):
                    raise ValueError
                values[unread] = list(map(float, texts))
        if not np.isfinite(values).all():
            raise ValueError
        return values

    def whole_numbers(self, i: int) -> IntArray:
        """Return the i-th column as whole numbers, below 2^31 in size."""
        column = self.ids(i)
        if column.n_words <= 1:  # grades, of which few differ
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


# Which of the bytes up to the space are no white space to isspace.
_NOT_SPACE = np.array([chr(i) not in " \t\n\v\f\r" for i in range(ord(" ") + 1)])


def _check_characters(data: bytes, counts: IntArray) -> None:
    """Raise ValueError, without a message, for a character that :func:`_explain_characters` explains."""
    if counts[0] or counts[0x1C:0x20].any():
        raise ValueError
    if counts[ord("\r")] and _BARE_RETURN.search(data):
        raise ValueError
    if not data.isascii() and _OTHER_SPACE.search(data.decode()):
        raise ValueError


def _decimals(data: ByteArray, starts: IntArray, ends: IntArray) -> tuple[FloatArray, BoolArray]:
    """Return numbers of up to 18 digits, seven before the point, as the nearest doubles; and which rows hold one."""
    sign = data[starts]
    negative = sign == ord("-")
    starts = starts + (negative | (sign == ord("+")))
    words, lengths = Ids(data, starts, ends).word(0), ends - starts
    n_whole, has_point = _digits_before_point(words, np.minimum(lengths, 8))
    after_point = np.minimum(starts + n_whole + has_point, ends)
    n_places = ends - after_point
    places = np.minimum(n_places, _MAX_DIGITS)
    whole, is_read = _eight_digits(words & FIRST_BYTES[n_whole], n_whole)
    fraction, is_fraction = _digits(data, after_point, ends)
    n_digits = n_whole + n_places
    is_read &= is_fraction & (n_digits > 0) & (n_digits <= _MAX_DIGITS) & (has_point | (lengths <= 8))
    number = np.where(is_read, whole * _POWERS_OF_TEN[places] + fraction, 0)
    divisor = _POWERS_OF_TEN[places].astype(np.float64)
    value = number / divisor  # the nearest double, where both are exact as doubles
    large = np.flatnonzero(number >= 2**53)
    if len(large):
        value[large], is_certain = _quotient(number[large], divisor[large])
        is_read[large] &= is_certain
    return np.where(negative, -value, value), is_read


def _digits_before_point(words: WordArray, lengths: IntArray) -> tuple[IntArray, BoolArray]:
    """Count the bytes of little-endian words before a point, all of them without one; and tell where there is one."""
    with np.errstate(over="ignore"):
        difference = words ^ _POINTS  # a byte of 0 where the point is
        point = (difference - _ONES) & ~difference & _HIGH_BITS
        before = (point & -point) - _ONE  # all bits up to the first point
        n = (((before & _ONES) * _ONES) >> np.uint64(56)).astype(np.int64) - 1
    has_point = point != 0
    return np.where(has_point, n, lengths), has_point


def _quotient(number: IntArray, divisor: FloatArray) -> tuple[FloatArray, BoolArray]:
    """Return ``number / divisor`` as the nearest double, and where that is certain: not next to the middle of two.

    The remainder of the first quotient is exact, as the product of two doubles is the sum of two others (Dekker).
    """
    high = number.astype(np.float64)
    low = (number - high.astype(np.int64)).astype(np.float64)
    first = high / divisor
    product = first * divisor
    a, b = _halves(first)
    c, d = _halves(divisor)
    error = ((a * c - product) + a * d + b * c) + b * d
    rest = ((high - product) - error + low) / divisor
    # Far above the rounding error of the rest, and far below the distance of two doubles.
    doubt = first * 2.0**-96
    is_certain: BoolArray = first + (rest - doubt) == first + (rest + doubt)
    return first + rest, is_certain


def _halves(value: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Split values into two doubles of half as many digits, whose sum they are."""
    large = value * (2.0**27 + 1)
    high = large - (large - value)
    return high, value - high


def _digits(data: ByteArray, starts: IntArray, ends: IntArray) -> tuple[IntArray, BoolArray]:
    """Return whole numbers of up to 18 digits, 0 for no digits; and which rows hold nothing else."""
    column, lengths = Ids(data, starts, ends), ends - starts
    value, is_read = _eight_digits(column.word(0), np.clip(lengths, 0, 8))
    is_read &= lengths <= _MAX_DIGITS
    for i in range(1, -(-_MAX_DIGITS // 8)):
        long = np.flatnonzero(is_read & (lengths > 8 * i))
        if not len(long):
            break
        more = np.minimum(lengths[long] - 8 * i, 8)
        low, are_digits = _eight_digits(column.word(i, long), more)
        value[long] = value[long] * _POWERS_OF_TEN[more] + low
        is_read[long] &= are_digits
    return value, is_read


def _eight_digits(words: WordArray, lengths: IntArray) -> tuple[IntArray, BoolArray]:
    """Return the numbers in the first bytes of little-endian words, and which rows hold digits only; 0 must follow."""
    shift = (8 * (8 - lengths)).astype(np.uint64)
    with np.errstate(over="ignore"):
        digit = words ^ (_ZEROS >> shift)  # in each byte 0 to 9, else it is no digit
        are_digits = ((digit + _OVER_NINE) | digit) & _HIGH_BITS == 0
        # Move the last digit into the last byte; then join neighbours into numbers of twice the width, three times.
        digit <<= shift
        for mask, factor, width in _PAIRS:
            digit = ((digit & mask) * factor) >> width
    return digit.astype(np.int64), are_digits


_MAX_DIGITS = 18
_POWERS_OF_TEN = np.array([10**i for i in range(_MAX_DIGITS + 1)], dtype=np.int64)  # exact as doubles, too
_ONE, _ONES = np.uint64(1), np.uint64(0x0101010101010101)
_POINTS, _ZEROS, _OVER_NINE, _HIGH_BITS = (_ONES * np.uint64(byte) for byte in (0x2E, 0x30, 0x76, 0x80))
_PAIRS = tuple(
    (np.uint64(mask), np.uint64((10**n << 8 * n) + 1), np.uint64(8 * n))
    for n, mask in ((1, 0x0F0F0F0F0F0F0F0F), (2, 0x00FF00FF00FF00FF), (4, 0x0000FFFF0000FFFF))
)


def parse_lines(data: bytes, source: str, parse: Callable[[bytes], T], explain: Callable[[bytes], str]) -> T:
    """Return the result of ``parse`` on the content of a file.

    Where it raises ValueError, the error names file and line, and says what ``explain`` says of the line.
    """
    check_lines(data, source)
    try:
        return parse(data)
    except ValueError:
        pass
    number, line = _first_bad_line(data, parse)
    mistake = _explain_characters(line) or explain(line)
    is_last = number == data.count(b"\n") + 1
    if is_last and len(line.split()) < len(data.split(b"\n", 1)[0].split()):
        mistake += "; the file ends within this line, so more lines may be missing: write or copy it again"
    raise ValueError(f"{source}, line {number}: {mistake}")


def without_comments(data: bytes, *, columns: int, number: int) -> bytes:
    """Return the content with comments blanked out; lines that ir_measures would read as rows stay."""

    def blank(line: re.Match[bytes]) -> bytes:
        fields = line[0].split()
        return line[0] if len(fields) == columns and is_number(fields[number]) else b""

    has_comments = b"#" in data and (data.startswith(b"#") or b"\n#" in data)
    return _COMMENT.sub(blank, data) if has_comments else data


def is_number(text: bytes | str) -> bool:
    """Return whether Python reads a text as a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def _first_bad_line(data: bytes, check: Callable[[bytes], object]) -> tuple[int, bytes]:
    """Return the number, from 1, and the text of the first line for which ``check`` raises; there must be one."""
    start, end, number = 0, len(data), 1
    while True:
        middle = (start + end) // 2
        cut = data.rfind(b"\n", start, middle) + 1 or data.find(b"\n", middle, end - 1) + 1
        if not cut:
            return number, data[start:end].removesuffix(b"\n")
        try:
            check(data[start:cut])
        except ValueError:
            end = cut
        else:
            number += data.count(b"\n", start, cut)
            start = cut


def _explain_characters(line: bytes) -> str | None:
    """Say which character a line must not hold; None where all are allowed."""
    if b"\0" in line:
        return "it holds a NUL, which ends a text in C; is it a text file?"
    if _BARE_RETURN.search(line):
        return "it holds a carriage return (\\r) that no line feed follows; end lines with \\n"
    if line.split()[:1] and line.split()[0].startswith(b"#"):
        return (
            "it begins with '#': trec_eval reads it as a comment, and ir_measures as a row; delete the line, or rename "
            "the query"
        )
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


def suggest_header(line: bytes, value: str) -> str:
    """Return the end of a message on a row of a table: the header to put above it; "" for another line."""
    cells = re.match(rb"[^ \t,;|]+([\t,;|])[^ ]+\s*\Z", line)
    mark = cells[1].decode().replace("\t", "<TAB>") if cells else ""
    return f"; a table needs the header 'query_id{mark}doc_id{mark}{value}'" if mark else ""


def quote(text: bytes) -> str:
    """Quote the start of a line or column."""
    start = text[:80].decode("utf-8", "ignore").strip()
    return repr(start + "…" if len(text) > 80 else start)
