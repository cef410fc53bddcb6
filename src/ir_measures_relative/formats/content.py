"""The content of a file, parsed once and on demand; the formats that read it, and the runs that they make."""

from __future__ import annotations

import csv
import json
import os
import re
import zlib
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from ..data.arrays import FloatArray, IntArray
from ..data.registry import Registry
from ..io.frames import names_in
from ..io.readers import RawData
from ..messages import brief, kind_of

_HEAD = 1 << 16  # bytes that tell the format of a file

# JSON, and no query id of a TREC file that starts with a bracket.
_STARTS_JSON = re.compile(rb'\s*(?:\{\s*["}]|\[\s*[\[{"\]])')
_BLANK_LINES = re.compile(rb"(?:[ \t\r\v\f]*\n)*")
# Excel's line that names the separator. It is made blank, so that the other lines keep their numbers.
_EXCEL = re.compile(rb'\A"?sep=[,;|\t]"?[ \t\r]*\n')


class Content:
    """The content of a file; each property is computed when a format first needs it."""

    def __init__(self, data: bytes, source: str) -> None:
        _check_kind(data, source)
        self.data = _EXCEL.sub(b"\n", data)
        self.source = source
        self.start = self.data[:_HEAD]

    @property
    def table(self) -> bytes:
        """The content from the first line that is not blank, with the tabs and blanks before its first cell."""
        blank = _BLANK_LINES.match(self.data)
        return self.data[blank.end() :] if blank else self.data

    @cached_property
    def line(self) -> bytes:
        """The first line that is not blank, as far as it tells the format."""
        return _BLANK_LINES.sub(b"", self.start, count=1).split(b"\n", 1)[0].rstrip(b"\r")

    @cached_property
    def header(self) -> list[str]:
        """The cells of the first line in lower case; none where no delimiter separates them."""
        if self.is_json or self.is_parquet or self.delimiter.encode() not in self.line:
            return []
        cells: list[str] = []
        with suppress(csv.Error):  # a cell of more than 100,000 characters
            line = [self.line.decode("utf-8", "replace")]
            cells = next(csv.reader(line, delimiter=self.delimiter, skipinitialspace=True), [])
        return [cell.strip().lower() for cell in cells]

    @property
    def delimiter(self) -> str:
        """The character between the cells of a table."""
        return next((mark for mark in "\t,;|" if mark.encode() in self.line), ",")

    @cached_property
    def first(self) -> Content | None:
        """The first line as a file of its own, if it is a JSON object and more lines follow."""
        line = self.line.strip()
        is_object = line.startswith(b"{") and line.endswith(b"}")
        return Content(line, self.source) if is_object and len(line) < len(self.data.strip()) else None

    @property
    def is_parquet(self) -> bool:
        """Whether the file is Parquet."""
        return self.data.startswith(b"PAR1")

    @cached_property
    def is_json(self) -> bool:
        """Whether the file starts like JSON or JSON Lines."""
        return _STARTS_JSON.match(self.start) is not None

    @cached_property
    def json(self) -> Any:
        """The parsed JSON, a list for JSON Lines; None where the file is neither."""
        if not self.is_json:
            return None
        head, _, rest = self.text.lstrip().partition("\n")
        if not (head.startswith("{") and head.rstrip().endswith("}") and rest.strip()):
            return parse_json(self.text, self.source)
        return parse_json_lines(self.text, self.source)

    @property
    def records(self) -> list[dict[str, Any]]:
        """The objects of a JSON list or of JSON Lines, of which a single object is one; none for other JSON."""
        records = self.json if isinstance(self.json, list) else [self.json]
        return records if records and all(isinstance(record, dict) for record in records) else []

    @cached_property
    def text(self) -> str:
        """The whole file as text; reading it raises ValueError where it is not in UTF-8."""
        try:
            return self.data.decode()
        except UnicodeDecodeError as error:
            line = self.data.count(b"\n", 0, error.start) + 1
            raise ValueError(f"{self.source}, line {line}: not text in UTF-8; convert the file") from None


def parse_json_lines(text: str, source: str) -> list[Any]:
    """Return what each line that is not blank holds, by :func:`parse_json`."""
    lines = enumerate(text.split("\n"), start=1)  # strings may hold the other ends of lines
    return [parse_json(line, f"{source}, line {number}") for number, line in lines if line.strip()]


class _RepeatedKeyError(Exception):
    """A key is duplicated in an object."""


def parse_json(text: str, source: str) -> Any:
    """Return what a text in JSON holds; raise ValueError if it is no JSON, or has a key twice in an object."""
    try:
        return json.loads(text, object_pairs_hook=_unique_keys)
    except _RepeatedKeyError as error:
        raise ValueError(
            f"{source}: the key {brief(error.args[0])} stands twice in one object; keep one"
        ) from None
    except json.JSONDecodeError as error:
        raise ValueError(
            f"{source}: the JSON is cut or damaged ({error.msg.lower()} in line {error.lineno}, column {error.colno}); "
            "fetch it again, or check what wrote it"
        ) from None
    except RecursionError:
        raise ValueError(f"{source}: the JSON is nested too deep; no run or judgments are") from None
    except ValueError:
        raise ValueError(f"{source}: the JSON holds a number of thousands of digits; check it") from None


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) < len(pairs):
        raise _RepeatedKeyError(next(k for k, n in Counter(k for k, _ in pairs).items() if n > 1))
    return result


# ---- formats

#: The runs or judgments in a file: several by name, a single one under "".
Parts: TypeAlias = "Mapping[str, RawData]"


@dataclass(frozen=True)
class Format:
    """A file format and its readers; a KeyError, TypeError … of a reader means that a file is built otherwise."""

    name: str  #: the name in messages and the documentation
    holds: Callable[[Content], bool]  #: whether a file is in this format
    runs: Callable[[Content], Parts] | None = None  #: reads a file as a run, or runs
    judgments: Callable[[Content], Parts] | None = None  #: reads a file as judgments
    instead: str = ""  #: what to pass in place of a file that is rejected
    note: str = ""  #: a remark for the documentation
    #: Whether several parts belong to one run, such as splits, of which one must be named.
    one_run: bool = False
    may_be_either: bool = False  #: whether a run with whole numbers for scores looks like judgments
    by_line: bool = False  #: whether the first of many lines tells the format


#: The formats besides TREC's, by the name of the module that adds them.
FORMATS: Registry[str, tuple[Format, ...]] = Registry("file formats")


def add_formats(module: str, *formats: Format) -> None:
    """Add the formats of a module to :data:`FORMATS`, under its name."""
    FORMATS.register(module)(formats)


def make_run(lists: Iterable[tuple[str, Iterable[tuple[str, Any]]]], tag: str | None = None) -> RawData:
    """Return the run of ordered lists: each a query, and its documents with their scores, None for no score."""
    import pandas as pd

    number = dict[str, int]()
    rows: list[tuple[int, str, str, Any]] = []
    for query, items in lists:
        if query in number:
            raise ValueError(f"query {brief(query)} has two lists; a run has one a query")
        number[query] = len(number)
        rows += [(number[query], query, doc, score) for doc, score in items]
    frame = pd.DataFrame(rows, columns=["number", "query_id", "doc_id", "score"], dtype=object)
    scores = scores_in_order(
        frame["number"].to_numpy(np.int64), np.arange(len(frame)), frame["score"].tolist()
    )
    return RawData(frame.assign(score=scores), tag, is_one_run=True)


def make_runs(lists: Iterable[tuple[Any, str, Iterable[tuple[str, Any]]]]) -> Parts:
    """Return the runs of ordered lists, each with the name of its run or None; see :func:`make_run`."""
    by_name: dict[str, list[tuple[str, Iterable[tuple[str, Any]]]]] = {}
    for name, query, docs in lists:
        by_name.setdefault("" if name is None else as_id(name), []).append((query, docs))
    return {name: make_run(run_lists, tag=name or None) for name, run_lists in by_name.items()}


def as_id(value: Any) -> str:
    """Return an id in JSON as a string, a whole number as its digits; raise TypeError for anything else."""
    if isinstance(value, str):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    raise TypeError(f"{kind_of(value)} as an id")


def as_dict(value: Any) -> dict[str, Any]:
    """Return an object in JSON; raise TypeError for anything else."""
    if not isinstance(value, dict):
        raise TypeError(f"{kind_of(value)} in place of an object")
    return value


def as_list(value: Any) -> list[Any]:
    """Return a list in JSON; raise TypeError for anything else."""
    if not isinstance(value, list):
        raise TypeError(f"{kind_of(value)} in place of a list")
    return value


def has_known_columns(columns: Collection[Any]) -> bool:
    """Return whether these are columns of a table of runs or judgments, of which one may be missing."""
    ids = [names_in(columns, column) for column in ("query_id", "doc_id")]
    return all(ids) or (any(ids) and bool(names_in(columns, "relevance") or names_in(columns, "score")))


def holds_columns(table: dict[str, Any]) -> bool:
    """Return whether an object in JSON holds columns, each a list or an object."""
    return all(isinstance(column, (dict, list)) for column in table.values())


def scores_in_order(query: IntArray, rank: Any, scores: Sequence[Any] | None = None) -> FloatArray:
    """Return scores that keep the order of the ranks: those given, lower by a float at ties; else -1, -2 and so on."""
    order = np.lexsort((rank, query))
    query = query[order]
    first = np.flatnonzero(np.append(True, query[1:] != query[:-1])) if len(query) else np.zeros(0, int)
    block = np.repeat(np.arange(len(first)), np.diff(np.append(first, len(query))))
    within = np.arange(len(query)) - first[block]
    ordered = -(within + 1.0)
    if scores is not None and all(map(_is_score, scores)):
        ordered = _make_falling(np.array(scores, dtype=np.float64)[order].astype(np.float32), block, within)
    result = np.empty(len(query))
    result[order] = ordered
    return result


def _is_score(score: Any) -> bool:
    return isinstance(score, (int, float)) and not isinstance(score, bool) and -1e38 < score < 1e38


def _make_falling(scores: Any, block: IntArray, within: IntArray) -> FloatArray:
    """Return 32-bit floats that fall within each block; as whole numbers in their order they are 1 apart."""
    bits = (scores + np.float32(0)).view(np.int32).astype(np.int64)  # -0 becomes 0
    step = np.where(bits >= 0, bits, -(bits & 0x7FFFFFFF)) + within
    wide = np.int64(1) << 34  # farther apart than any two floats
    step = np.minimum.accumulate(step - block * wide) + block * wide - within
    bits = np.where(step >= 0, step, -step | 0x80000000).astype(np.uint32)
    return bits.view(np.float32).astype(np.float64)


# ---- files that are rejected

# The first bytes of files that are not read, what to call them, and what to do.
_UNREADABLE = {
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
_PICTURE_HEAD = 2048  # bytes that tell the format of a picture


def _check_kind(data: bytes, source: str) -> None:
    """Raise ValueError for a packed file, text that is not in UTF-8, or a picture."""
    for start, (name, remedy) in _UNREADABLE.items():
        if data.startswith(start):
            raise ValueError(f"{source} is {name}, which is not read here; {remedy}")
    if picture := _picture_format(data[:_PICTURE_HEAD]):
        raise ValueError(f"{source} is a picture ({picture}); give a text file")


def is_picture(path: str | os.PathLike[str]) -> bool:
    """Return whether a file is a picture, by its content."""
    with open(path, "rb") as file:
        return _picture_format(file.read(_PICTURE_HEAD)) is not None


def _picture_format(start: bytes) -> str | None:
    """Return the format of the picture that starts with these bytes; None for another file."""
    if start.startswith(b"\x1f\x8b"):  # .svgz
        try:
            start = zlib.decompressobj(wbits=31).decompress(start, _PICTURE_HEAD)
        except zlib.error:
            return None
    return next((name for name, head in _PICTURES.items() if re.match(head, start, re.DOTALL)), None)
