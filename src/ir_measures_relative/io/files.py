"""Files: their content, unpacked up to a limit that no run or judgments reach; what they are if no text."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import re
import zlib
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

GZIP = b"\x1f\x8b"  #: the first bytes of a gzip file

#: How far any file may unpack, in bytes, and how many times its own size one may that is larger than that.
LEAST, TIMES = 2**26, 200
#: The variable of the environment that holds another limit, in bytes.
MAX_UNPACKED = "IR_MEASURES_RELATIVE_MAX_UNPACKED"

_LONGEST = 1 << 20  # bytes of a line of text
_MOST_BLANK = 1 << 22  # blank lines, each of which takes some 36 bytes of memory
_PIECE = 1 << 16  # bytes that are unpacked at a time: the memory of what becomes of them is used again

# The first bytes of what is not read here, what to call it, and what to do.
_OTHERS = {
    b"\x28\xb5\x2f\xfd": ("a zstd file", "unpack it with 'zstd -d', or pack it as .gz"),
    b"\x04\x22\x4d\x18": ("an lz4 file", "unpack it with 'lz4 -d', or pack it as .gz (ranx: save as .json)"),
    b"\x1f\x9d": ("a file packed by compress (.Z)", "unpack it with 'gzip -d', or pack it as .gz"),
    b"PK\x03\x04": ("a zip file", "unpack it, or pack it as .gz"),
    b"7z\xbc\xaf\x27\x1c": ("a 7z file", "unpack it, or pack it as .gz"),
    b"\xff\xfe\0\0": ("text in UTF-32", "convert it to UTF-8"),
    b"\0\0\xfe\xff": ("text in UTF-32", "convert it to UTF-8"),
    b"\xff\xfe": ("text in UTF-16", "convert it to UTF-8"),
    b"\xfe\xff": ("text in UTF-16", "convert it to UTF-8"),
}

# The first bytes of pictures.
_PICTURES = {
    "PNG": rb"\x89PNG\r\n\x1a\n",
    "JPEG": rb"\xff\xd8\xff",
    "GIF": rb"GIF8[79]a",
    "TIFF": rb"II\*\x00|MM\x00\*",
    "WebP": rb"RIFF....WEBP",
    "AVIF": rb"....ftypavi[fs]",
    "PDF": rb"%PDF-",
    "PostScript": rb"%!PS",
    "PGF": rb"%% Creator: Matplotlib, PGF",
    "SVG": rb"(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]*\?>\s*)?(?:<!--.*?-->\s*)*(?:<!DOCTYPE svg|<svg)",
}
_HEAD = 2048  # bytes in which a kind of picture shows


def located(path: str | os.PathLike[str]) -> tuple[str, str | None]:
    """A path, and the part of the file that stands behind it after a ``#``; None where none does."""
    text = os.fspath(path)
    if "#" in text and not os.path.exists(text):
        file, _, part = text.rpartition("#")
        if os.path.exists(file):
            return file, part
    return text, None


def read_bytes(path: str | os.PathLike[str], source: str) -> bytes:
    """The content of a file, unpacked where it is gzip, bzip2 or xz (by its first bytes), without a UTF-8 mark."""
    file = Path(path)
    if file.is_dir():
        raise IsADirectoryError(f"{source} is a folder; give a file")
    if not file.exists():
        raise FileNotFoundError(f"{source}: no such file; check the path")
    if not _can_end(file):
        raise ValueError(f"{source} is a device; give a regular file or a pipe")
    try:
        data = unpacked(file.read_bytes(), source)
    except MemoryError:
        raise MemoryError(f"{source} has {file.stat().st_size:,} bytes, or more where it is packed") from None
    except OSError as error:
        if error.filename is None and error.strerror:  # it could be opened
            raise OSError(error.errno, error.strerror, str(path)) from None
        raise
    for start, (name, remedy) in _OTHERS.items():
        if data.startswith(start):
            raise ValueError(f"{source} is {name}, which is not read here; {remedy}")
    picture = kind_of_picture(data[:_HEAD])
    if picture:
        raise ValueError(f"{source} is a picture ({picture}); give a text file")
    return data.removeprefix(b"\xef\xbb\xbf")  # the mark that some editors put in front of UTF-8


def _can_end(file: Path) -> bool:
    """Whether what is read of a file ends: not so of a device such as /dev/zero; a terminal is one, and does."""
    if file.is_char_device() and not os.path.samefile(file, os.devnull):
        with open(file, "rb", buffering=0) as opened:
            return opened.isatty()
    return not file.is_block_device()


def unpacked(data: bytes, source: str) -> bytes:
    """The content of a file; as it is where it is not packed. Raises ValueError as :func:`read_bytes` does."""
    suffix, read = next(((s, read) for start, s, read in _PACKED if data.startswith(start)), ("", None))
    if read is None:
        return data
    limit = max_unpacked(len(data))
    try:
        return read(data, limit)
    except _TooLargeError:
        raise ValueError(too_large(source, f"the {suffix} file", len(data), limit)) from None
    except (EOFError, OSError, ValueError, zlib.error, lzma.LZMAError) as error:
        raise ValueError(
            f"{source}: the {suffix} file is truncated or damaged ({error}); fetch it again"
        ) from None


def check_lines(data: bytes, source: str) -> None:
    """Reject lines of two megabytes and millions of blank lines, before anything takes many times their memory."""
    if data.count(b"\n") > _MOST_BLANK:
        text = data.translate(None, b" \t\r\v\f")
        blank = text.count(b"\n\n")  # of n blank lines in a row at least n / 2
        if blank > _MOST_BLANK and 8 * blank > len(text):  # double-spaced rows are longer
            raise ValueError(f"{source}: at least {blank:,} blank lines; check what wrote it")
    for start in range(0, len(data) - _LONGEST, _LONGEST):
        if data.find(b"\n", start, start + _LONGEST) < 0:
            line = data.count(b"\n", 0, start) + 1
            raise ValueError(
                f"{source}, line {line}: it has more than {_LONGEST:,} characters; check what wrote it"
            )


class WhichPartError(ValueError):
    """A file has several parts, such as runs, of which one must be named behind the path."""


class _TooLargeError(Exception):
    """It unpacks to more than the limit."""


def _read(unpack: Callable[[io.BytesIO], Any], data: bytes, limit: int) -> bytes:
    """The content; _TooLargeError where it has more bytes than the limit, of which few more are ever in memory."""
    pieces, size = [], 0
    with unpack(io.BytesIO(data)) as file:
        while piece := file.read(_PIECE):
            pieces.append(piece)
            size += len(piece)
            if size > limit:
                raise _TooLargeError
    return b"".join(pieces)


def _read_gzip(data: bytes, limit: int) -> bytes:
    try:
        from isal.igzip import IGzipFile  # takes a third of the time

        return _read(lambda packed: IGzipFile(fileobj=packed), data, limit)
    except (_TooLargeError, MemoryError):
        raise
    except Exception:  # it is not installed; or the file is damaged, which each library says in its own words
        return _read(lambda packed: gzip.GzipFile(fileobj=packed), data, limit)


#: The first bytes of a packed file, the ending of its name, and what unpacks it up to a limit.
_PACKED: tuple[tuple[bytes, str, Callable[[bytes, int], bytes]], ...] = (
    (GZIP, ".gz", _read_gzip),
    (b"BZh", ".bz2", partial(_read, bz2.BZ2File)),
    (b"\xfd7zXZ\x00", ".xz", partial(_read, lzma.LZMAFile)),
)


def max_unpacked(size: int) -> int:
    """How many bytes a file of this size may unpack to; ValueError where the environment says no number of bytes."""
    said = os.environ.get(MAX_UNPACKED)
    if not said:
        return max(LEAST, TIMES * size)
    if not re.fullmatch("[0-9]{1,18}", said):
        raise ValueError(f"{MAX_UNPACKED}={said!r} is not a number of bytes; give one such as {LEAST}")
    return int(said)


def too_large(source: str, what: str, size: int, limit: int) -> str:
    """What a message says of a file that holds more than the limit."""
    return (
        f"{source}: {what}, of {size:,} bytes, unpacks to more than {limit:,}, as no run does, and is not read; if it "
        f"is meant, set {MAX_UNPACKED} in the environment to the number of bytes that it may have"
    )


def kind_of_picture(start: bytes) -> str | None:
    """What kind of picture a file is that starts so; None where it is not a picture."""
    if start.startswith(GZIP):  # .svgz
        try:
            start = zlib.decompressobj(wbits=31).decompress(start, _HEAD)
        except zlib.error:
            return None
    return next((kind for kind, head in _PICTURES.items() if re.match(head, start, re.DOTALL)), None)


def is_picture(path: str | os.PathLike[str]) -> bool:
    """Whether a file is a picture, by its content."""
    with open(path, "rb") as file:
        return kind_of_picture(file.read(_HEAD)) is not None
