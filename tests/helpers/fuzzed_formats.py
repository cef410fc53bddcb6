"""Mutated files of the formats of other tools, each of which is read or refused in words."""

import copy
import json
import math
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import read_back
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


Refusal = Callable[[Exception, str], str]


def check(
    kind: Kind, name: str, read: Callable[[Any], Any], rng: random.Random, folder: Path, refusal: Refusal
) -> str:
    """What comes of a mutated file of a kind: it is read, as what it still is, or refused in words."""
    source = "fuzzed.run" if name else "qrels"
    file = folder / source
    file.write_bytes(mutated(rng, kind.write(name)))
    part = kind.part.replace("NAME", name)
    try:
        read(f"{file}#{part}" if part else file)
    except Exception as error:
        return refusal(error, source)
    return "read"


def targets(refusal: Refusal) -> dict[str, Callable[[random.Random, Any], str]]:
    """A target for each kind of file."""
    neither = {name: Kind(name, lambda _, data=data: data) for name, data in OF_NEITHER.items()}
    found: dict[str, Callable[[random.Random, Any], str]] = {}
    for prefix, kinds, name, read in (
        ("run", OF_RUNS, "rerank.v2", read_back.rankings),
        ("judgments", OF_JUDGMENTS, "", read_back.labels),
        ("neither", neither, "rerank.v2", read_back.rankings),
    ):
        for kind, of in kinds.items():
            found[f"{prefix}: {kind}"] = lambda rng, folder, of=of, name=name, read=read: check(
                of, name, read, rng, folder, refusal
            )
    return found
