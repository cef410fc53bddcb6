"""The content of a file, whatever it is packed in."""

from __future__ import annotations

import gzip
import os
import zlib
from pathlib import Path

# The first bytes of what cannot be read as text, what to call it, and what to do.
_NOT_TEXT = {
    b"\x28\xb5\x2f\xfd": ("zstd", "unpack it with 'zstd -d', or pack it as .gz"),
    b"\x04\x22\x4d\x18": ("lz4", "unpack it with 'lz4 -d', or pack it as .gz"),
    b"PK\x03\x04": ("zip", "unpack it, or pack it as .gz"),
    b"7z\xbc\xaf": ("7z", "unpack it, or pack it as .gz"),
}
PARQUET = b"PAR1"  #: the first bytes of a Parquet file


def read_bytes(path: str | os.PathLike[str], source: str) -> bytes:
    """The content of a file, unpacked where it is gzip, bzip2 or xz (by its first bytes), without a UTF-8 mark.

    Args:
        source: what messages call it.

    Raises:
        FileNotFoundError: no such file.
        IsADirectoryError: a folder.
        ValueError: a damaged file, or one packed otherwise; says how to unpack it.
    """
    file = Path(path)
    if file.is_dir():
        raise IsADirectoryError(
            f"{source} is a folder; give a file (RunContext.from_trec reads a folder of runs)"
        )
    if not file.exists():
        raise FileNotFoundError(f"{source}: no such file; check the path")
    data = file.read_bytes()
    try:
        kind = "file"
        if data[:2] == b"\x1f\x8b":
            kind, data = ".gz file", gzip.decompress(data)
        elif data[:3] == b"BZh":
            import bz2

            kind, data = ".bz2 file", bz2.decompress(data)
        elif data[:6] == b"\xfd7zXZ\x00":
            import lzma

            kind, data = ".xz file", lzma.decompress(data)
    except (EOFError, OSError, ValueError, zlib.error) as error:
        raise ValueError(f"{source}: the {kind} is truncated or damaged ({error}); fetch it again") from None
    except Exception as error:  # lzma's own error, without importing lzma to name it
        if type(error).__name__ != "LZMAError":
            raise
        raise ValueError(f"{source}: the {kind} is truncated or damaged ({error}); fetch it again") from None
    for start, (name, remedy) in _NOT_TEXT.items():
        if data.startswith(start):
            raise ValueError(f"{source} is a {name} file, which is not read here; {remedy}")
    return data.removeprefix(b"\xef\xbb\xbf")  # the mark that some editors put in front of UTF-8
