"""Tables and TREC files as people damage them, and the rows that the module csv reads of each."""

import csv
import io
import random
import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

import read_back
from ir_measures_relative import RelativeWarning

QUERY = ["query_id", "qid", "query-id", "q_id", "topic_id", "user_id", "topic", "query"]
DOC = ["doc_id", "docno", "corpus-id", "docid", "item_id", "pid", "did", "document"]
GRADE = ["relevance", "label", "rel", "rating"]
RUN = ["name", "system", "system_id", "run", "run_id", "model", "tag"]
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")


class Table(NamedTuple):
    """A file under way: its lines of cells, what separates them, and whether it is TREC's."""

    lines: list[list[str]]
    mark: str
    is_trec: bool


def _table(rng: random.Random, as_run: bool) -> Table:
    pairs = [(f"q{q}", f"d{d}") for q in range(1, 4) for d in range(rng.randrange(1, 5))]
    rows = []
    for place, (query, doc) in enumerate(pairs, start=1):
        value = f"{90 - place}.5" if as_run else str(rng.randrange(3))
        rows.append([query, doc, value])
    if rng.random() < 0.3:
        if as_run:
            return Table([[q, "Q0", d, str(i), v, "tag"] for i, (q, d, v) in enumerate(rows, 1)], " ", True)
        return Table([[q, "0", d, v] for q, d, v in rows], rng.choice(" \t"), True)
    names = [rng.choice(QUERY), rng.choice(DOC), "score" if as_run else rng.choice(GRADE)]
    return Table([names, *rows], rng.choice("\t\t,,;|"), False)


def _add_runs(rng: random.Random, table: Table) -> Table:
    """A column that names two runs, by row, by block or by topic; in TREC's format it is the tag."""
    how = rng.randrange(3)
    lines = [list(line) for line in table.lines]
    rows = lines if table.is_trec else lines[1:]
    named = []
    for i, line in enumerate(rows):
        of_row, of_block, of_topic = i % 2, i * 2 // len(rows), ord("".join(line[:1])[-1:] or "0") % 2
        named.append("ab"[(of_row, of_block, of_topic)[how]])
    if table.is_trec:
        for line, name in zip(rows, named, strict=True):
            line[-1:] = [name]
    else:
        lines[0].append(rng.choice(RUN))
        for line, name in zip(rows, named, strict=True):
            line.append(name)
    return table._replace(lines=lines)


def _change_a_name(rng: random.Random, table: Table) -> Table:
    lines = [list(line) for line in table.lines]
    at = rng.randrange(len(lines[0]))
    lines[0][at] = rng.choice([*QUERY, *DOC, *GRADE, *RUN, "score", "x", "", lines[0][at].upper(), "0.5"])
    return table._replace(lines=lines)


def _add_a_column(rng: random.Random, table: Table) -> Table:
    """The index of pandas, or texts, of which some begin or end with a quotation mark."""
    index = rng.random() < 0.5
    lines = []
    for i, line in enumerate(table.lines):
        text = rng.choice(["so", "so, so", 'a "word"', '"open', 'closed"', '"whole"', "", "tea; milk"])
        cell = (str(i - 1) if i else "") if index else (text if i else "text")
        at = 0 if index else rng.choice([0, len(line)]) if not i else at  # noqa: F821
        lines.append([*line[:at], cell.replace(table.mark, " "), *line[at:]])
    return table._replace(lines=lines)


def _quote(rng: random.Random, table: Table) -> Table:
    """Quotation marks where they may be, and where they may not."""
    lines = [list(line) for line in table.lines]
    for _ in range(rng.choice([1, 2, 2, 3])):
        line = rng.choice(lines)
        at = rng.randrange(len(line))
        line[at] = rng.choice(['"{}"', '"{}', '{}"', ' "{}" ', '"', '""{}']).format(line[at])
    return table._replace(lines=lines)


def _change_a_cell(rng: random.Random, table: Table) -> Table:
    lines = [list(line) for line in table.lines]
    line = rng.choice(lines)
    what = rng.randrange(3)
    odd = ["", " ", "0,5", "1,234.5", "nan", "1e400", "a b", "a\u00a0b", "a\tb", "x\x1cy", "#1", "é", "2.0"]
    if what == 0:
        line[rng.randrange(len(line))] = rng.choice(odd)
    elif what == 1:
        del line[rng.randrange(len(line))]
    else:
        line.insert(rng.randrange(len(line) + 1), rng.choice(["x", "7", ""]))
    return table._replace(lines=lines)


def _move_lines(rng: random.Random, table: Table) -> Table:
    """A header or a row is missing, or there twice; comments, blank lines, and words behind the line."""
    lines = [list(line) for line in table.lines]
    at, what = rng.choice([0, rng.randrange(len(lines))]), rng.randrange(5)
    if what == 0 and len(lines) > 1:
        del lines[at]
    elif what == 1:
        lines.insert(rng.randrange(len(lines) + 1), list(lines[at]))
    elif what == 2:
        lines.insert(at, rng.choice([["# made by x"], ["#"], [""], ["# a", "b", "c"], ["sep=,"]]))
    elif what == 3:
        lines[at].append(rng.choice(["more", "1", "more words"]))
    else:
        rng.shuffle(lines)
    return table._replace(lines=lines)


_CHANGES: list[Callable[[random.Random, Table], Table]] = [
    _add_runs, _change_a_name, _add_a_column, _quote, _change_a_cell, _move_lines
]  # fmt: skip


def file(rng: random.Random, as_run: bool) -> bytes:
    """The bytes of a file with a few changes."""
    table = _table(rng, as_run)
    for _ in range(rng.choice([0, 1, 1, 1, 2, 3])):
        table = rng.choice(_CHANGES)(rng, table)
    end = rng.choice(["\n", "\n", "\r\n"])
    text = "".join(table.mark.join(line) + end for line in table.lines)
    if rng.random() < 0.1:
        text = text.replace(table.mark, rng.choice("\t,;|: "))
    data = text.encode()
    return data[: rng.randrange(len(data))] if rng.random() < 0.25 else data


Row = tuple[str, str, str, str]


def plain_rows(data: bytes, as_run: bool) -> list[Row]:
    """Query, document, value and name of the run of each row; of a TREC file, and of a table by csv."""
    lines = [line for line in data.decode().split("\n") if line.strip(' \t\r",;|')]
    fields = [line.split() for line in lines if not (line.startswith("#") and not _is_row(line, as_run))]
    if fields and all(
        len(row) >= (6 if as_run else 4) and _is_row(" ".join(row[:6]), as_run) for row in fields
    ):
        return [(row[0], row[2], row[4 if as_run else 3], row[5] if as_run else "") for row in fields]
    if not fields:
        return []
    if re.fullmatch(r'"?sep=[,;|\t]"?\s*', lines[0]):
        lines = lines[1:]
    mark = next(mark for mark in "\t,;|" if mark in lines[0])
    read = csv.reader(io.StringIO("\n".join(lines), newline=""), delimiter=mark, skipinitialspace=True)
    table = [[cell.strip(" \t\r") for cell in row] for row in read]
    assert len(table) == len(lines), "a quotation mark hides a row"
    names = [name.lower() for name in table[0]]
    if not {*names} & {*QUERY, *DOC, "score", *GRADE}:  # MS MARCO's
        assert as_run and all(len(row) == 3 for row in table)
        return [(q, d, str(-int(rank)), "") for q, d, rank in table]
    place = {}
    for kind, known in (
        ("query", QUERY),
        ("doc", DOC),
        ("value", ["score"] if as_run else [*GRADE, "score"]),
    ):
        place[kind] = names.index(next(name for name in known if name in names))
    run = [names.index(name) for name in RUN if name in names]
    assert all(len(row) == len(names) for row in table)
    return [
        (row[place["query"]], row[place["doc"]], row[place["value"]], "/".join(row[i] for i in run))
        for row in table[1:]
    ]


def _is_row(line: str, as_run: bool) -> bool:
    fields = line.split()
    return len(fields) == (6 if as_run else 4) and _NUMBER.fullmatch(fields[4 if as_run else 3]) is not None


def check(rng: random.Random, folder: Path, as_run: bool, refusal: Callable[[Exception, str], str]) -> str:
    """A file is refused in words, or draws a warning, or has the rows that plain Python reads."""
    data = file(rng, as_run)
    path = folder / "fuzzed.table"
    path.write_bytes(data)
    with warnings.catch_warnings(record=True, action="always") as warned:
        try:
            ours = read_back.scores(path) if as_run else read_back.labels(path)
        except Exception as error:
            return refusal(error, "fuzzed.table")
    if any(issubclass(w.category, RelativeWarning) for w in warned):
        return "warned"
    rows = plain_rows(data, as_run)
    theirs: dict[str, dict[str, float]] = {}
    for query, doc, value, _ in rows:
        if value or as_run:
            assert doc not in theirs.get(query, {}) or not as_run
            theirs.setdefault(query, {})[doc] = (
                float(np.float32(float(value))) if as_run else int(float(value))
            )
    if not data.endswith(b"\n") and rows and rows[0][3].startswith(rows[-1][3]):  # a tag that is cut
        rows[-1] = (*rows[-1][:3], rows[0][3])
    named = {(query, run) for query, _, _, run in rows if run}
    assert not as_run or len(named) == len({query for query, _ in named}), data
    assert as_run or data.endswith(b"\n") or not rows or rows[-1][2], data
    assert ours == theirs, (data, ours, theirs)
    return "read"
