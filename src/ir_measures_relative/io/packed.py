"""The content of a file that is packed as gzip, bzip2 or xz, as far as a run or judgments may reach.

A few kilobytes can be made that unpack to more than any memory holds. Text of runs and judgments packs to a third and
at best to a tenth, since a ranking holds a document once. So there is a limit that no such file reaches.
"""

from __future__ import annotations

import gzip
import io
import os
import re
import zlib
from collections.abc import Callable
from typing import Any, NamedTuple

GZIP = b"\x1f\x8b"  #: the first bytes of a gzip file

#: How far any file may unpack, in bytes, and how many times its own size one may that is larger than that.
LEAST, TIMES = 2**28, 200
#: The variable of the environment that holds another limit, in bytes.
MAX_UNPACKED = "IR_MEASURES_RELATIVE_MAX_UNPACKED"

_PIECE = 1 << 16  # bytes that are unpacked at a time: the memory of what becomes of them is used again
_ZEROS = re.compile(rb"\0*")


class _TooLargeError(Exception):
    """It unpacks to more than the limit."""


class _Kind(NamedTuple):
    """A way of packing."""

    suffix: str
    decompressor: Callable[[], Any]  #: of one member, as the module ``zlib`` has them
    file: Callable[[Any], Any]  #: a packed file opened; says what is wrong with it
    padding: re.Pattern[bytes]  #: what may stand between members, and at the end
    damage: tuple[type[Exception], ...]


def unpacked(data: bytes, source: str) -> bytes:
    """The content of a file; as it is where it is not packed.

    Args:
        source: what messages call it.

    Raises:
        ValueError: a damaged file, or one that unpacks to more than any run; says what to do.
    """
    kind = _kind_of(data)
    if kind is None:
        return data
    limit = max_unpacked(len(data))
    try:
        whole = _members(data, kind, limit)
        return _as_the_standard_library(data, kind, limit) if whole is None else whole
    except _TooLargeError:
        raise ValueError(too_large(source, f"the {kind.suffix} file", len(data), limit)) from None
    except kind.damage as error:
        raise ValueError(
            f"{source}: the {kind.suffix} file is truncated or damaged ({error}); fetch it again"
        ) from None


def max_unpacked(size: int) -> int:
    """How many bytes a file of this size may unpack to.

    Raises:
        ValueError: the variable of the environment is not a number of bytes.
    """
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


def _kind_of(data: bytes) -> _Kind | None:
    damage: tuple[type[Exception], ...] = (EOFError, OSError, ValueError, zlib.error)
    if data.startswith(GZIP):
        return _Kind(".gz", _gzip_decompressor(), lambda file: gzip.GzipFile(fileobj=file), _ZEROS, damage)
    nothing = re.compile(b"")
    if data.startswith(b"BZh"):
        import bz2

        return _Kind(".bz2", bz2.BZ2Decompressor, bz2.BZ2File, nothing, damage)
    if data.startswith(b"\xfd7zXZ\x00"):
        import lzma

        return _Kind(".xz", lzma.LZMADecompressor, lzma.LZMAFile, nothing, (*damage, lzma.LZMAError))
    return None


def _gzip_decompressor() -> Callable[[], Any]:
    """Isal's where it is there, which takes half the time."""
    try:
        from isal import isal_zlib
    except ImportError:
        return lambda: zlib.decompressobj(wbits=31)
    return lambda: isal_zlib.decompressobj(wbits=31)


def _members(data: bytes, kind: _Kind, limit: int) -> bytes | None:
    """The members of a packed file, one after the other; None where there is anything wrong with one.

    Raises:
        _TooLargeError: together they have more than ``limit`` bytes; no more than these are ever in memory.
    """
    view, at, pieces, size = memoryview(data), 0, [], 0
    decompressor = kind.decompressor()
    while at < len(data):
        try:
            piece = decompressor.decompress(view[at : at + _PIECE], limit + 1 - size)
        except MemoryError:
            raise
        except Exception:  # each library has its own
            return None
        pieces.append(piece)
        size += len(piece)
        if size > limit:
            raise _TooLargeError
        at = min(at + _PIECE, len(data))
        if decompressor.eof:
            padding = kind.padding.match(data, at - len(decompressor.unused_data))
            assert padding is not None  # it may be empty
            at = padding.end()
            if at == len(data):
                return b"".join(pieces) if len(pieces) > 1 else pieces[0]
            decompressor = kind.decompressor()
    return None


def _as_the_standard_library(data: bytes, kind: _Kind, limit: int) -> bytes:
    """What the standard library makes of a file: for one that is damaged, or has more behind its end.

    Raises:
        _TooLargeError: as above.
        Exception: one of ``kind.damage``, in its words.
    """
    pieces, size = [], 0
    with kind.file(io.BytesIO(data)) as file:
        while piece := file.read(_PIECE):
            pieces.append(piece)
            size += len(piece)
            if size > limit:
                raise _TooLargeError
    return b"".join(pieces)
