"""Files that are no tracks, or lie, are refused by name and reason, before they take memory."""

import io
import json
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ir_measures import Qrel

from ir_measures_relative import RunContext
from ir_measures_relative.formats.track_file import ARRAYS, BadTrackError, npy_header

RUNS = {
    "a": {"1": {"x": 3.0, "y": 2.0, "z": 1.0, "é": 0.5}, "2": {"x": 1.0}},
    "b": {"1": {"z": 2.0, "w": 1.0, "x": 0.5, "y": 0.25}},
}
QRELS = [Qrel("1", "y", 1, "t"), Qrel("1", "x", 0, "t"), Qrel("1", "z", 0, "u"), Qrel("2", "x", 2, "t")]
Parts = dict[str, bytes]


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path: Path = tmp_path_factory.mktemp("track") / "good.track"
    RunContext(RUNS, groups={"a": "A", "b": "B"}, num_docs=9).save_track(path, QRELS, 2, name="good")
    return path


def parts_of(path: Path) -> Parts:
    with zipfile.ZipFile(path) as file:
        return {info.filename: file.read(info) for info in file.infolist()}


def packed(parts: Parts, how: int = zipfile.ZIP_DEFLATED, **more: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", how) as file:
        for name, data in parts.items():
            file.writestr(name, data)
    return buffer.getvalue()


def meta(**changes: Any) -> Callable[[Parts], bytes]:
    """With other values in track.json; those that are None as ``...`` are left out."""

    def change(parts: Parts) -> bytes:
        said = json.loads(parts["track.json"]) | changes
        said = {key: value for key, value in said.items() if value is not ...}
        return packed(parts | {"track.json": json.dumps(said).encode()})

    return change


def array(name: str, **at: int) -> Callable[[Parts], bytes]:
    """With other numbers in an array, by place: ``_0=5`` is the first."""

    def change(parts: Parts) -> bytes:
        kind = ARRAYS[name][0]
        header = parts[f"{name}.npy"][:128]
        values = np.frombuffer(parts[f"{name}.npy"][128:], kind).copy()
        for place, value in at.items():
            values[int(place[1:])] = value
        return packed(parts | {f"{name}.npy": header + values.tobytes()})

    return change


def bytes_of(name: str, change: Callable[[bytes], bytes]) -> Callable[[Parts], bytes]:
    return lambda parts: packed(parts | {name: change(parts[name])})


def counts(**changes: int) -> Callable[[Parts], bytes]:
    return lambda parts: meta(counts=json.loads(parts["track.json"])["counts"] | changes)(parts)


def huge(parts: Parts, n: int = 1 << 28, megabytes: int = 64) -> bytes:
    """A track that announces ``n`` zeros, and holds some megabytes of them."""
    buffer = io.BytesIO()
    said = json.loads(parts["track.json"])
    said["counts"]["below_rows"] = n
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as file:
        for name, data in (parts | {"track.json": json.dumps(said).encode()}).items():
            if name != "below_position.npy":
                file.writestr(name, data)
        with file.open("below_position.npy", "w") as member:
            member.write(npy_header("<u4", n))
            for _ in range(megabytes):
                member.write(bytes(1 << 20))
    return buffer.getvalue()


def lying_size(parts: Parts) -> bytes:
    """The directory says another size of a member than it has."""
    data = bytearray(packed(parts))
    at = data.rindex(b"PK\x01\x02")
    data[at + 24 : at + 28] = (7).to_bytes(4, "little")
    return bytes(data)


def twice(parts: Parts) -> bytes:
    buffer = io.BytesIO()
    with pytest.warns(UserWarning, match="Duplicate"), zipfile.ZipFile(buffer, "w") as file:
        for name, data in [*list(parts.items())[:-1], ("heads.npy", parts["heads.npy"])]:
            file.writestr(name, data)
    return buffer.getvalue()


def pickled(data: bytes) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, np.array([_Executed()], dtype=object), allow_pickle=True)
    return buffer.getvalue()


class _Executed:
    def __reduce__(self) -> Any:
        return pytest.fail, ("it was executed",)


BAD: dict[str, tuple[Callable[[Parts], bytes], str]] = {
    "empty": (lambda _: b"", "no track, or it is truncated"),
    "text": (lambda _: b"1 Q0 x 1 3.0 a\n" * 9, "no track, or it is truncated"),
    "cut": (lambda p: packed(p)[:-30], "no track, or it is truncated"),
    "cut in front": (lambda p: packed(p)[40:], "truncated or damaged"),
    "flipped": (lambda p: _flipped(p), "damaged"),
    "long name": (lambda p: packed(p).replace(b"\x09\0\0\0heads", b"\xff\7\0\0heads", 1), "truncated or damaged"),
    "more behind it": (lambda p: packed(p) + b"more", "no track, or it is truncated"),
    "other zip": (lambda _: packed({"a.txt": b"a"}), "other parts than the 15"),
    "many members": (lambda _: packed({str(i): b"" for i in range(9000)}), "other parts than the 15"),
    "renamed": (lambda p: packed({k.replace("heads", "tails"): v for k, v in p.items()}), "'heads.npy' is missing"),
    "no track.json": (lambda p: packed({k.replace("track", "trick"): v for k, v in p.items()}), "no track.json"),
    "twice": (twice, "two parts of one name"),
    "bzip2": (lambda p: packed(p, zipfile.ZIP_BZIP2), "compressed otherwise than by deflate"),
    "encrypted": (lambda p: _flagged(p), "encrypted"),
    "lying size": (lying_size, "has 7 bytes, and its"),
    "a gigabyte": (huge, "it unpacks to"),
    "padded": (lambda p: bytes(17 << 20) + huge(p, 1 << 25, 128), "it unpacks to"),
    "large json": (bytes_of("track.json", lambda _: b"[" + b"0," * (3 << 20) + b"0]"), "it unpacks to|track.json has"),
    "deep json": (bytes_of("track.json", lambda _: b"[" * 100_000), "not valid JSON|damaged|recursion"),
    "no json": (bytes_of("track.json", lambda _: b"{"), "not valid JSON"),
    "json of another": (bytes_of("track.json", lambda _: b"{}"), "not that of a track"),
    "json no text": (bytes_of("track.json", lambda _: b"\xff\xfe\xff"), "damaged|not valid JSON"),
    "future": (meta(version=2), "version 2, and this package reads version 1: update the package"),
    "version as text": (meta(version="1"), "version '1'"),
    "unknown key": (meta(more=1), "has an unknown 'more'"),
    "missing key": (meta(groups=...), "lacks 'groups'"),
    "depth 0": (meta(depth=0), "'depth' is not"),
    "depth true": (meta(depth=True), "'depth' is not"),
    "runs twice": (meta(runs=["a", "a"]), "'runs' is not"),
    "run without name": (meta(runs=["a", ""]), "'runs' is not"),
    "topics none": (meta(topics=[]), "'topics' is not"),
    "group of another": (meta(groups={"c": "C"}), "'groups' names a run that is not there"),
    "group no text": (meta(groups={"a": 1}), "'groups' is not"),
    "grades fall": (meta(grades=[3, 0]), "'grades' is not"),
    "num_docs": (meta(num_docs=-1), "'num_docs' is not"),
    "about": (meta(about={"name": 7}), "'about' is not"),
    "empty of another": (meta(empty={"a": ["9"]}), "'empty' names a topic"),
    "more topics": (meta(topics=["1", "2", "3"]), "counts do not fit its runs and topics"),
    "count negative": (counts(bytes=-1), "'counts' is not"),
    "counts more": (counts(documents=10_000_000), "id_lengths has"),
    "object array": (bytes_of("heads.npy", pickled), "heads has"),
    "other header": (bytes_of("heads.npy", lambda d: d.replace(b"<u2", b"<i2")), "heads is no npy array"),
    "shape lies": (bytes_of("heads.npy", lambda d: d.replace(b"(5,)", b"(9,)")), "heads is no npy array|heads has"),
    "npy 2.0": (bytes_of("heads.npy", lambda d: d.replace(b"NUMPY\x01", b"NUMPY\x02")), "heads is no npy array"),
    "short array": (bytes_of("heads.npy", lambda d: d[:-2]), "heads has"),
    "listed too many": (array("listed", _0=9), "numbers of documents do not fit"),
    "lengths differ": (array("lengths", _0=1), "lengths of rankings do not fit"),
    "run without a ranking": (array("lengths", _0=0, _1=0, _2=5), "do not fit|has no ranking"),
    "number beyond": (array("heads", _0=99), "run 'a' ranks a document that is not there"),
    "document twice in a ranking": (array("heads", _0=0, _1=0), "ranks a document twice"),
    "position falls": (array("below_position", _1=4, _2=3), "positions do not rise|within the ranking"),
    "position in the head": (array("below_position", _0=1), "positions do not rise"),
    "position beyond": (array("below_position", _1=99), "not within the ranking"),
    "id with a NUL": (array("id_bytes", _0=0), "an id is no text"),
    "id no UTF-8": (array("id_bytes", _0=255), "an id is not UTF-8"),
    "empty id": (array("id_lengths", _0=0, _1=2), "has an empty id"),
    "document twice in a topic": (array("id_bytes", _0=ord("x"), _1=ord("x")), "twice"),
    "aspect beyond": (array("label_aspect", _0=7), "names a document or an aspect that is not there"),
    "labels of one document": (array("label_document", _0=1, _1=1), "has no row by aspect"),
}  # fmt: skip


def _flipped(parts: Parts) -> bytes:
    data = bytearray(packed(parts))
    at = data.index(b"heads.npy") + 9
    data[at + 12] ^= 255
    return bytes(data)


def _flagged(parts: Parts) -> bytes:
    data = bytearray(packed(parts))
    at = data.rindex(b"PK\x01\x02")
    data[at + 8] |= 1
    return bytes(data)


@pytest.mark.parametrize("name", BAD)
def test_is_refused_by_name_and_reason(name: str, good: Path, tmp_path: Path) -> None:
    change, reason = BAD[name]
    path = tmp_path / "bad.track"
    path.write_bytes(change(parts_of(good)))
    tracemalloc.start()
    try:
        with pytest.raises(BadTrackError, match=reason) as caught:
            RunContext.from_track(path)
        assert tracemalloc.get_traced_memory()[1] < 100 << 20
    finally:
        tracemalloc.stop()
    assert str(caught.value).startswith(f"{path}: ")
    assert len(str(caught.value)) < 400


def test_the_good_one_is_read(good: Path) -> None:
    track = RunContext.from_track(good)
    assert track.names == ["a", "b"] and track.groups == {"a": "A", "b": "B"}
    with np.load(good) as arrays:  # numpy alone reads it
        assert {f"{name}.npy" for name in ARRAYS} <= {*zipfile.ZipFile(good).namelist()}
        assert arrays["lengths"].tolist() == [4, 1, 4, 0]
