"""The content of a file as the formats look at it, parsed once and only if one asks; and what they make of it."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from ..data.arrays import FloatArray, IntArray
from ..data.registry import Registry
from ..io.readers import RawData
from ..messages import brief, kind_of

#: How much of a file is looked at, in bytes, to tell what it is. No more is looked at of a file in TREC's format.
BLOCK = 1 << 16

# JSON, and no query id of a TREC file that starts with a bracket.
_STARTS_JSON = re.compile(rb'\s*(?:\{\s*["}]|\[\s*[\[{"\]])')
_BLANK_LINES = re.compile(rb"(?:[ \t\r\v\f]*\n)*")
# What Excel reads, and no row: the line is made blank, so that the others keep their numbers.
_EXCEL = re.compile(rb'\A"?sep=[,;|\t]"?[ \t\r]*\n')


class Content:
    """The content of a file. What a property parses is kept for the next format that asks."""

    def __init__(self, data: bytes, source: str) -> None:
        self.data = _EXCEL.sub(b"\n", data)
        self.source = source
        self.start = self.data[:BLOCK]

    @property
    def table(self) -> bytes:
        """The content from the first line that is not blank, with the tabs and blanks before its first cell."""
        blank = _BLANK_LINES.match(self.data)
        return self.data[blank.end() :] if blank else self.data

    @cached_property
    def line(self) -> bytes:
        """The first line that is not blank; of what is looked at."""
        return _BLANK_LINES.sub(b"", self.start, count=1).split(b"\n", 1)[0].rstrip(b"\r")

    @cached_property
    def header(self) -> list[str]:
        """The cells of the first line, in small letters, where something separates them; else nothing."""
        if self.is_json or self.is_parquet or self.delimiter.encode() not in self.line:
            return []
        cells: list[str] = []
        with suppress(csv.Error):  # a cell of more than 100,000 characters; a NUL, to Python 3.10
            line = [self.line.decode("utf-8", "replace")]
            cells = next(csv.reader(line, delimiter=self.delimiter, skipinitialspace=True), [])
        return [cell.strip().lower() for cell in cells]

    @property
    def delimiter(self) -> str:
        """What separates the cells of a table."""
        return next((mark for mark in "\t,;|" if mark.encode() in self.line), ",")

    @cached_property
    def first(self) -> Content | None:
        """The first line as a file of its own, where it is an object of JSON and more lines follow."""
        line = self.line.strip()
        is_object = line.startswith(b"{") and line.endswith(b"}")
        return Content(line, self.source) if is_object and len(line) < len(self.data.strip()) else None

    @property
    def is_parquet(self) -> bool:
        """Whether it is a Parquet file."""
        return self.data.startswith(b"PAR1")

    @cached_property
    def is_json(self) -> bool:
        """Whether it starts as JSON does, or JSON Lines."""
        return _STARTS_JSON.match(self.start) is not None

    @cached_property
    def json(self) -> Any:
        """What the JSON is; of JSON Lines a list of what each line is; None where it is neither."""
        if not self.is_json:
            return None
        head, _, more = self.text.lstrip().partition("\n")
        if not (head.startswith("{") and head.rstrip().endswith("}") and more.strip()):
            return _parsed(self.text, self.source)
        lines = enumerate(
            self.text.split("\n"), start=1
        )  # no other character ends a line: a string may hold them
        return [_parsed(line, f"{self.source}, line {number}") for number, line in lines if line.strip()]

    @property
    def records(self) -> list[dict[str, Any]]:
        """The objects of a JSON list or of JSON Lines; one object counts as one line; nothing where there are none."""
        found = self.json if isinstance(self.json, list) else [self.json]
        return found if found and all(isinstance(record, dict) for record in found) else []

    @cached_property
    def text(self) -> str:
        """The whole file as text; ValueError where it is not in UTF-8."""
        try:
            return self.data.decode()
        except UnicodeDecodeError as error:
            line = self.data.count(b"\n", 0, error.start) + 1
            raise ValueError(f"{self.source}, line {line}: not text in UTF-8; convert the file") from None


class _RepeatedKeyError(Exception):
    """A key stands twice in an object."""


def _parsed(text: str, source: str) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_object)
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


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise _RepeatedKeyError(next(k for k, n in Counter(k for k, _ in pairs).items() if n > 1))
    return found


# ---- what a format makes of it ---------------------------------------------------------------------------------

#: What a reader gives: what stands for a run or judgments, by its name where a file holds several; else by ''.
Parts: TypeAlias = "Mapping[str, RawData]"


@dataclass(frozen=True)
class Format:
    """A kind of file, and what reads it; a KeyError, TypeError … of a reader says that a file is not built so."""

    name: str  #: what messages and the documentation call it
    holds: Callable[[Content], bool]  #: whether a file is of this kind
    runs: Callable[[Content], Parts] | None = None  #: reads it as a run, or runs
    judgments: Callable[[Content], Parts] | None = None  #: reads it as judgments
    instead: str = ""  #: what to give where it is not what it should be: a run, or judgments
    note: str = ""  #: what to know about it, for the documentation
    one_run: bool = False  #: whether several parts are of one run, such as splits, of which one must be named
    may_be_either: bool = False  #: whether a run looks as judgments do where its scores are whole numbers
    by_line: bool = (
        False  #: whether the first of many lines tells it, so that the others need not be parsed for that
    )


#: The formats besides TREC's, by the name of the module that adds them.
FORMATS: Registry[str, tuple[Format, ...]] = Registry("file formats")


def add_formats(module: str, *formats: Format) -> None:
    """Add the formats of a module to :data:`FORMATS`, under its name."""
    FORMATS.register(module)(formats)


def ranked(lists: Iterable[tuple[str, Iterable[tuple[str, Any]]]], tag: str | None = None) -> RawData:
    """A run of lists in order, each a query and its documents with their scores, None where they have none."""
    import pandas as pd

    seen = dict[str, int]()
    rows: list[tuple[int, str, str, Any]] = []
    for query, items in lists:
        if query in seen:
            raise ValueError(f"query {brief(query)} has two lists; a run has one a query")
        seen[query] = len(seen)
        rows += [(seen[query], query, doc, score) for doc, score in items]
    frame = pd.DataFrame(rows, columns=["number", "query_id", "doc_id", "score"], dtype=object)
    kept = keeping_order(frame["number"].to_numpy(np.int64), np.arange(len(frame)), frame["score"].tolist())
    return RawData(frame.assign(score=kept), tag, is_one_run=True)


def runs_by_name(lists: Iterable[tuple[Any, str, Iterable[tuple[str, Any]]]]) -> Parts:
    """The runs of lists, each with the name of its run, None where it has none; see :func:`ranked`."""
    found: dict[str, list[tuple[str, Iterable[tuple[str, Any]]]]] = {}
    for name, query, docs in lists:
        found.setdefault("" if name is None else an_id(name), []).append((query, docs))
    return {name: ranked(of_one, tag=name or None) for name, of_one in found.items()}


def an_id(value: Any) -> str:
    """An id of JSON as a string: whole numbers count as their digits; TypeError for anything else."""
    if isinstance(value, str):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    raise TypeError(f"{kind_of(value)} as an id")


def is_by_column(found: dict[str, Any]) -> bool:
    """Whether an object of JSON holds columns, each a list or an object."""
    return all(isinstance(column, (dict, list)) for column in found.values())


def a_dict(value: Any) -> dict[str, Any]:
    """An object of JSON; TypeError for anything else."""
    if not isinstance(value, dict):
        raise TypeError(f"{kind_of(value)} in place of an object")
    return value


def a_list(value: Any) -> list[Any]:
    """A list of JSON; TypeError for anything else."""
    if not isinstance(value, list):
        raise TypeError(f"{kind_of(value)} in place of a list")
    return value


def keeping_order(query: IntArray, rank: Any, scores: Sequence[Any] | None = None) -> FloatArray:
    """Scores that keep the order of the ranks: as given, a step of a float lower at ties; without any, -1, -2 …"""
    order = np.lexsort((rank, query))
    query = query[order]
    first = np.flatnonzero(np.append(True, query[1:] != query[:-1])) if len(query) else np.zeros(0, int)
    block = np.repeat(np.arange(len(first)), np.diff(np.append(first, len(query))))
    within = np.arange(len(query)) - first[block]
    kept = -(within + 1.0)
    if scores is not None and all(map(_is_score, scores)):
        kept = _falling(np.array(scores, dtype=np.float64)[order].astype(np.float32), block, within)
    result = np.empty(len(query))
    result[order] = kept
    return result


def _is_score(score: Any) -> bool:
    return isinstance(score, (int, float)) and not isinstance(score, bool) and -1e38 < score < 1e38


def _falling(scores: Any, block: IntArray, within: IntArray) -> FloatArray:
    """32-bit floats, each below the one before in its block: as whole numbers in their order, the steps are 1."""
    bits = (scores + np.float32(0)).view(np.int32).astype(np.int64)  # -0 becomes 0
    step = np.where(bits >= 0, bits, -(bits & 0x7FFFFFFF)) + within
    wide = np.int64(1) << 34  # farther apart than any two floats
    step = np.minimum.accumulate(step - block * wide) + block * wide - within
    bits = np.where(step >= 0, step, -step | 0x80000000).astype(np.uint32)
    falling: FloatArray = bits.view(np.float32).astype(np.float64)
    return falling
