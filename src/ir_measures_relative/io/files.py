"""The content of files, unpacked up to a limit that no run reaches."""

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

#: Every file may unpack to this many bytes, and to this many times its own size.
LEAST, TIMES = 2**26, 200
#: The environment variable that sets another limit, in bytes.
MAX_UNPACKED = "IR_MEASURES_RELATIVE_MAX_UNPACKED"

_MAX_LINE = 1 << 20  # bytes of a line of text
_MAX_BLANK = 1 << 22  # blank lines, each of which takes some 36 bytes of memory
_PIECE = 1 << 16  # bytes to unpack at a time, so that memory is used again


def split_part(path: str | os.PathLike[str]) -> tuple[str, str | None]:
    """Split a path into the file and the part of it that is named after a ``#``; None without a part."""
    text = os.fspath(path)
    if "#" in text and not os.path.exists(text):
        file, _, part = text.rpartition("#")
        if os.path.exists(file):
            return file, part
    return text, None


def read_bytes(path: str | os.PathLike[str], source: str) -> bytes:
    """Return the content of a file without a byte order mark, unpacked if its first bytes say gzip, bzip2 or xz."""
    file = Path(path)
    if file.is_dir():
        raise IsADirectoryError(f"{source} is a folder; give a file")
    if not file.exists():
        raise FileNotFoundError(f"{source}: no such file; check the path")
    if not _can_end(file):
        raise ValueError(f"{source} is a device; give a regular file or a pipe")
    try:
        data = unpack(file.read_bytes(), source)
    except MemoryError:
        raise MemoryError(f"{source} has {file.stat().st_size:,} bytes, or more where it is packed") from None
    except OSError as error:
        if error.filename is None and error.strerror:  # it could be opened
            raise OSError(error.errno, error.strerror, str(path)) from None
        raise
    return data.removeprefix(b"\xef\xbb\xbf")  # a byte order mark


def _can_end(file: Path) -> bool:
    """Return whether reading a file ends: for a terminal it does, for other devices such as /dev/zero it may not."""
    if file.is_char_device() and not os.path.samefile(file, os.devnull):
        with open(file, "rb", buffering=0) as opened:
            return opened.isatty()
    return not file.is_block_device()


def unpack(data: bytes, source: str) -> bytes:
    """Return the content of a file, unpacked if it is packed; raise ValueError if it is too large or damaged."""
    suffix, read = next(((s, read) for start, s, read in _PACKED if data.startswith(start)), ("", None))
    if read is None:
        return data
    limit = max_unpacked(len(data))
    try:
        content = read(data, limit)
    except (EOFError, OSError, ValueError, zlib.error, lzma.LZMAError) as error:
        raise ValueError(
            f"{source}: the {suffix} file is truncated or damaged ({error}); fetch it again"
        ) from None
    if content is None:
        raise too_large_error(source, f"the {suffix} file", len(data), limit)
    return content


def check_lines(data: bytes, source: str) -> None:
    """Raise ValueError for lines of two megabytes or millions of blank lines, which take many times their memory."""
    if data.count(b"\n") > _MAX_BLANK:
        text = data.translate(None, b" \t\r\v\f")
        blank = text.count(b"\n\n")  # of n blank lines in a row at least n / 2
        if blank > _MAX_BLANK and 8 * blank > len(text):  # double-spaced rows are longer
            raise ValueError(f"{source}: at least {blank:,} blank lines; check what wrote it")
    for start in range(0, len(data) - _MAX_LINE, _MAX_LINE):
        if data.find(b"\n", start, start + _MAX_LINE) < 0:
            line = data.count(b"\n", 0, start) + 1
            raise ValueError(
                f"{source}, line {line}: it has more than {_MAX_LINE:,} characters; check what wrote it"
            )


def _read(opener: Callable[[io.BytesIO], Any], data: bytes, limit: int) -> bytes | None:
    """Return the content; None, before much of it is in memory, if it exceeds the limit."""
    pieces, size = [], 0
    with opener(io.BytesIO(data)) as file:
        while piece := file.read(_PIECE):
            pieces.append(piece)
            size += len(piece)
            if size > limit:
                return None
    return b"".join(pieces)


def _read_gzip(data: bytes, limit: int) -> bytes | None:
    try:
        from isal.igzip import IGzipFile  # takes a third of the time

        return _read(lambda stream: IGzipFile(fileobj=stream), data, limit)
    except MemoryError:
        raise
    except Exception:  # isal is not installed; or the file is damaged, and gzip's message is the better one
        return _read(lambda stream: gzip.GzipFile(fileobj=stream), data, limit)


# The first bytes of packed files, the ending of their names, and what unpacks them up to a limit.
_PACKED: tuple[tuple[bytes, str, Callable[[bytes, int], bytes | None]], ...] = (
    (b"\x1f\x8b", ".gz", _read_gzip),
    (b"BZh", ".bz2", partial(_read, bz2.BZ2File)),
    (b"\xfd7zXZ\x00", ".xz", partial(_read, lzma.LZMAFile)),
)


def max_unpacked(size: int) -> int:
    """Return how many bytes a file of this size may unpack to, by default or as the environment variable says."""
    text = os.environ.get(MAX_UNPACKED)
    if not text:
        return max(LEAST, TIMES * size)
    if not re.fullmatch("[0-9]{1,18}", text):
        raise ValueError(f"{MAX_UNPACKED}={text!r} is not a number of bytes; give one such as {LEAST}")
    return int(text)


def too_large_error(source: str, kind: str, size: int, limit: int) -> ValueError:
    """Return the error for a file that unpacks to more than the limit."""
    return ValueError(
        f"{source}: {kind}, of {size:,} bytes, unpacks to more than {limit:,}, as no run does, and is not read; if it "
        f"is meant, set {MAX_UNPACKED} in the environment to the number of bytes that it may have"
    )
