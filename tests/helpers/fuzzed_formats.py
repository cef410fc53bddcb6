"""Mutated files of the formats of other tools, and what a few lines of plain Python make of each."""

import copy
import csv
import io
import json
import math
import random
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import read_back
from ir_measures_relative.formats.content import Content
from ir_measures_relative.formats.foreign_files import detect_format
from kinds import OF_JUDGMENTS, OF_NEITHER, OF_RUNS, Kind

# What stands in JSON where something else should.
_ODD: list[Any] = [
    *(None, True, False, 0, 7, -3, 1.5, -0.0, math.nan, math.inf, 10**30, 10**400, 1e308, 1e39, 2**31),
    *("", " ", "x", "3.0", "0.9", "1_000", "１", "nan", "\ud800", "\0", "a\u2028b", "é", "q-1", "2" * 5000),
    *([], {}, [[]], [1], ["a", "a"], {"a": 1}, {"a": {"b": 1}}, [{"a": 1}]),
]
_PIECES = [
    *(b"{", b"}", b"[", b"]", b'"', b":", b",", b"\\", b"\n", b"\r", b"\t", b"\0", b"\xff", b"\xc3", b" "),
    *(
        *(b"NaN", b"1e999", b"-", b"null", b"true", b"1" * 5000, b"\\ud800", b"\\u0000"),
        *(b"\xef\xbb\xbf", b"[" * 3000),
    ),
    *(b'"a": 1, "a": 2', b",,", b'""', b"0", b"1.0", b"\xe2\x80\xa8", b"#", b"'"),
]


def _nodes(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every place in JSON, as what holds it and its key there."""
    for key, child in value.items() if isinstance(value, dict) else enumerate(value):
        yield value, key
        if isinstance(child, (dict, list)):
            yield from _nodes(child)


def _changed(rng: random.Random, value: Any) -> None:
    places = list(_nodes(value))
    if not places:
        return
    holder, key = rng.choice(places)
    what = rng.randrange(5)
    if what < 2:
        holder[key] = copy.deepcopy(rng.choice(_ODD))
    elif what == 2:
        del holder[key]
    elif what == 3 and isinstance(holder, list):
        holder.insert(rng.randrange(len(holder) + 1), copy.deepcopy(holder[key]))
    elif isinstance(holder, dict):
        other = rng.choice(["", "a", "é", "query", "score", "\ud800", *holder])
        holder[other] = holder.pop(key)


def mutated(rng: random.Random, data: bytes) -> bytes:
    """The file with a few things in it that may not be."""
    if data[:1] in (b"{", b"[") and rng.random() < 0.6:
        text = data.decode()
        try:
            value, lines = json.loads(text), False
        except ValueError:
            value, lines = [json.loads(line) for line in text.splitlines()], True
        for _ in range(rng.choice([0, 1, 1, 2, 4])):
            _changed(rng, value)
        if not lines or not isinstance(value, list):
            return json.dumps(value).encode()
        return b"".join(json.dumps(line).encode() + b"\n" for line in value)
    return with_changes(rng, data, rng.choice([0, 1, 1, 2, 5]), _PIECES, [1, 1, 2, 9, 400], 60)


def with_changes(
    rng: random.Random, data: bytes, times: int, pieces: list[bytes], lengths: list[int], longest: int
) -> bytes:
    """Some bytes put in, left out, replaced or repeated, at places anywhere."""
    content = bytearray(data)
    for _ in range(times):
        at, what = rng.randrange(len(content) + 1), rng.randrange(4)
        if what == 0:
            content[at:at] = rng.choice(pieces)
        elif what == 1:
            del content[at : at + rng.choice(lengths)]
        elif what == 2:
            content[at : at + 1] = bytes([rng.randrange(256)])
        else:
            start = rng.randrange(len(content) + 1)
            content[at:at] = content[start : start + rng.randrange(longest)]
    return bytes(content)


Ranked = dict[str, list[str]]


def _json(data: bytes) -> Any:
    return json.loads(data.decode("utf-8-sig"))


def _lines(data: bytes) -> list[Any]:
    text = data.decode("utf-8-sig")
    try:
        found = json.loads(text)
    except ValueError:
        return [json.loads(line) for line in text.split("\n") if line.strip()]
    return found if isinstance(found, list) else [found]


def _in_order(lists: Iterable[tuple[Any, Iterable[Any]]]) -> Ranked:
    found: Ranked = {}
    for query, docs in lists:
        assert str(query) not in found
        found[str(query)] = list(map(str, docs))
    return {q: docs for q, docs in found.items() if docs}


def _by_score(run: Any) -> Ranked:
    """In trec_eval's order: the score as a 32-bit float, then the id, both descending."""
    with np.errstate(over="ignore"):
        return {
            query: sorted(docs, key=lambda d: (np.float32(float(docs[d])), d.encode()), reverse=True)
            for query, docs in run.items()
            if docs
        }


def _by_rank(rows: Iterable[tuple[str, str, str]]) -> Ranked:
    found: dict[str, list[tuple[int, str]]] = {}
    for query, doc, rank in rows:
        found.setdefault(query, []).append((int(rank), doc))
    return {q: [d for _, d in sorted(docs, key=lambda pair: pair[0])] for q, docs in found.items()}


def _table(data: bytes) -> list[dict[str, str]]:
    text = data.decode("utf-8-sig")
    delimiter = "\t" if "\t" in text.lstrip().split("\n", 1)[0] else ","
    rows = [
        [cell.strip(" \t") for cell in row]
        for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, skipinitialspace=True)
        if any(cell.strip() for cell in row)
    ]
    names = [name.strip().lower() for name in rows[0]]
    return [dict(zip(names, row, strict=True)) for row in rows[1:]]


def _mteb(data: bytes) -> Ranked:
    """The one split that there is, or that of the name 'eng:test', whichever of the two names is left out."""
    found = {
        (s, t): run
        for s, splits in _json(data).items()
        if s != "mteb_model_meta"
        for t, run in splits.items()
    }
    [one] = [run for names, run in found.items() if len(found) == 1 or names == ("eng", "test")]
    return _by_score(one)


def _rows_by_score(rows: Any, query: str, doc: str) -> Ranked:
    run: dict[str, dict[str, float]] = {}
    for row in rows:
        run.setdefault(row[query], {})[row[doc]] = float(row["score"])
    return _by_score(run)


PLAIN_RUNS: dict[str, Callable[[bytes], Ranked]] = {
    "dict": lambda data: _by_score(_json(data)),
    "MTEB": _mteb,
    "MTEB, one subset": _mteb,
    "references": lambda data: _in_order((r["topic_id"], r["references"]) for r in _lines(data)),
    "references of three": lambda data: _in_order(
        (r["topic_id"], r["references"]) for r in _lines(data) if str(r.get("run_id")) == "rerank.v2"
    ),
    "references, topic in metadata": lambda data: _in_order(
        (r["metadata"]["topic_id"], r["references"]) for r in _lines(data)
    ),
    "candidates": lambda data: _in_order(
        (r["query"]["qid"], [c["docid"] for c in r["candidates"]]) for r in _lines(data)
    ),
    "KILT": lambda data: _in_order(
        (r["id"], [p["wikipedia_id"] for o in r["output"] for p in o["provenance"]]) for r in _lines(data)
    ),
    "MS MARCO": lambda data: _by_rank(
        [c.strip() for c in line.split("\t")] for line in data.decode("utf-8-sig").split("\n") if line.strip()
    ),
    "CSV": lambda data: _rows_by_score(_table(data), "query_id", "doc_id"),
    "JSON rows": lambda data: _rows_by_score(_lines(data), "qid", "docno"),
}


def _labels(rows: Iterable[tuple[Any, Any, Any]]) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {}
    for query, doc, label in rows:
        if label is None or label != label or (isinstance(label, str) and not label.strip()):
            continue
        number = float(label)
        assert number.is_integer()
        found.setdefault(str(query), {})[str(doc)] = int(number)
    return found


def _pairs(judged: Any) -> Iterator[tuple[Any, Any, Any]]:
    return ((q, d, label) for q, docs in judged.items() for d, label in docs.items())


PLAIN_JUDGMENTS: dict[str, Callable[[bytes], dict[str, dict[str, int]]]] = {
    "dict": lambda data: _labels(_pairs(_json(data))),
    "BEIR": lambda data: _labels((r["query-id"], r["corpus-id"], r["score"]) for r in _table(data)),
    "JSON rows": lambda data: _labels((r["qid"], r["docno"], r.get("label")) for r in _lines(data)),
}


def _is_still(of: Kind, data: bytes) -> bool:
    """Whether a mutated file is still of its kind."""
    found = detect_format(Content(data.removeprefix(b"\xef\xbb\xbf"), "x"))
    return found is not None and found.name == of.format


Check = Callable[[str, random.Random, Path, Callable[[Exception, str], str]], str]


def checking(kinds: dict[str, Kind], name: str, read: Callable[[Any], Any], plain: dict[str, Any]) -> Check:
    """A check of a mutated run, or of judgments: what plain Python finds, or refused in words."""

    def check(kind: str, rng: random.Random, folder: Path, refusal: Callable[[Exception, str], str]) -> str:
        of, source = kinds[kind], "fuzzed.run" if name else "qrels"
        file = folder / source
        data = mutated(rng, of.write(name))
        file.write_bytes(data)
        part = of.part.replace("NAME", name)
        try:
            ours = {q: docs for q, docs in read(f"{file}#{part}" if part else file).items() if docs}
        except Exception as error:
            return refusal(error, source)
        if kind in plain and _is_still(of, data):
            theirs = plain[kind](data)
            assert ours == theirs, (data, ours, theirs)
        return "read"

    return check


def other_of(name: str, rng: random.Random, folder: Path, refusal: Callable[[Exception, str], str]) -> str:
    """A mutated file that holds neither: refused in words, or something else by now."""
    file = folder / "fuzzed.run"
    file.write_bytes(mutated(rng, OF_NEITHER[name]))
    try:
        read_back.rankings(file)
    except Exception as error:
        return refusal(error, "fuzzed.run")
    return "read"


def targets(refusal: Callable[[Exception, str], str]) -> dict[str, Callable[[random.Random, Any], str]]:
    """A target for each kind of file."""
    found: dict[str, Callable[[random.Random, Any], str]] = {}
    for prefix, kinds, check in (
        ("run", OF_RUNS, checking(OF_RUNS, "rerank.v2", read_back.rankings, PLAIN_RUNS)),
        ("judgments", OF_JUDGMENTS, checking(OF_JUDGMENTS, "", read_back.labels, PLAIN_JUDGMENTS)),
        ("neither", OF_NEITHER, other_of),
    ):
        for kind in kinds:
            found[f"{prefix}: {kind}"] = lambda rng, folder, kind=kind, check=check: check(
                kind, rng, folder, refusal
            )
    return found
