"""The file of a track, and its checks: a zip of ``track.json`` and of one-dimensional npy arrays.

Nothing is inflated before its size fits what ``track.json`` announces, and nothing is allocated by what a header of an
array says.
"""

from __future__ import annotations

import hashlib
import json
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ..io.files import max_unpacked
from ..messages import brief, is_text

FORMAT, VERSION = "ir_measures_relative track", 1
#: The arrays of a track in their order: the type of each, and the count in ``track.json`` that is its length.
ARRAYS = {
    "id_bytes": ("|u1", "bytes"),  # of each topic's documents: the listed ones, then others of the heads
    "id_lengths": ("<u2", "documents"),
    "listed": ("<u4", "topics"),  # how many of a topic's documents are listed
    "others": ("<u4", "topics"),
    "lengths": ("<u4", "rankings"),  # of each ranking, run by run
    "heads": ("<u2", "head_rows"),  # documents by their number in the topic, ranking by ranking, from the top
    "below": ("<u4", "rankings"),  # how many listed documents each ranking has below its head
    "below_document": ("<u2", "below_rows"),
    "below_position": ("<u4", "below_rows"),
    "grades": ("<i4", "judgments"),  # of the listed documents; none in a track without judgments
    "labels": ("<u4", "labelled_topics"),  # rows by aspect of each topic; none in a track without aspects
    "label_document": ("<u2", "label_rows"),
    "label_aspect": ("<u4", "label_rows"),  # an index of "aspects" in track.json
    "label_grade": ("<i4", "label_rows"),
}
#: What ``about`` may say.
ABOUT = ("name", "version", "source", "licence", "citation", "dataset")
_KEYS = {
    *("format", "version", "depth", "runs", "topics", "groups", "grades"),
    *("num_docs", "drop_self", "empty", "aspects", "about", "counts"),
}
# Bytes of track.json; how far a track may unpack: a real one to four times its size, one of similar runs to far more.
_META, _RATIO, _LEAST = 1 << 22, 30, 1 << 24
_END, _LOCATOR = b"PK\x05\x06", b"PK\x06\x07"


class BadTrackError(ValueError):
    """A file that is no track, or a damaged one."""


def bad_track(source: str, what: str) -> BadTrackError:
    return BadTrackError(f"{source}: {what}; fetch the track again, or make it again")


def sha256_of(meta: Mapping[str, Any], arrays: Mapping[str, Any]) -> str:
    """A hash of what a track says, whatever its zip looks like."""
    digest = hashlib.sha256(json.dumps(meta, sort_keys=True, separators=(",", ":")).encode())
    for name in ARRAYS:
        digest.update(np.ascontiguousarray(arrays[name]).data)
    return digest.hexdigest()


def header_of(kind: str, length: int) -> bytes:
    """The header of an npy file of version 1.0 for a one-dimensional array, as numpy reads and writes it."""
    text = f"{{'descr': {kind!r}, 'fortran_order': False, 'shape': ({length},), }}"
    return b"\x93NUMPY\x01\x00\x76\x00" + text.ljust(117).encode() + b"\n"


def read_file(path: Path, source: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """What track.json says, and the arrays, of the types and lengths that it announces."""
    size = path.stat().st_size
    try:
        _check_end(path, size, source)
        with zipfile.ZipFile(path) as file:
            members = _checked_members(file.infolist(), source)
            limit = min(max_unpacked(size), max(_LEAST, _RATIO * size))
            unpacked = sum(info.file_size for info in members.values())
            if unpacked > limit:
                raise bad_track(
                    source, f"it unpacks to {unpacked:,} bytes; a track of {size:,} has at most {limit:,}"
                )
            meta = _check_meta(json.loads(file.read(members.pop("track.json"))), source)
            wanted = {name: header_of(k, meta["counts"][count]) for name, (k, count) in ARRAYS.items()}
            for name, info in members.items():  # before any of them is inflated
                kind, count = ARRAYS[name]
                most = len(wanted[name]) + meta["counts"][count] * np.dtype(kind).itemsize
                if info.file_size != most:
                    raise bad_track(
                        source, f"{name} has {info.file_size:,} bytes, and its {count} need {most:,}"
                    )
            return meta, {
                name: _array_of(file.read(members[name]), name, wanted[name], source) for name in ARRAYS
            }
    except json.JSONDecodeError as error:
        raise bad_track(source, f"track.json is not valid JSON ({error})") from None
    except BadTrackError:
        raise
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, ValueError) as error:
        if isinstance(error, OSError) and error.filename is not None:  # it cannot be opened
            raise
        raise bad_track(source, f"it is truncated or damaged ({error})") from None


def _check_end(path: Path, size: int, source: str) -> None:
    """Raise for a file that does not end as a small zip does, before its directory is read."""
    with open(path, "rb") as file:
        file.seek(max(size - 42, 0))
        tail = file.read()
    end, locator = tail[-22:], tail[:-22]
    if len(end) < 22 or not end.startswith(_END):
        raise bad_track(source, "it is no track, or it is truncated")
    if locator.startswith(_LOCATOR) or int.from_bytes(end[10:12], "little") != len(ARRAYS) + 1:
        raise bad_track(
            source, f"it has other parts than the {len(ARRAYS) + 1} of a track of version {VERSION}"
        )
    if int.from_bytes(end[12:16], "little") > 1 << 14:
        raise bad_track(source, "its directory is larger than that of a track")


def _checked_members(infos: list[zipfile.ZipInfo], source: str) -> dict[str, zipfile.ZipInfo]:
    """The members by name of array; raises for others, for two of a name, and for odd ones."""
    wanted = {"track.json": "track.json"} | {f"{name}.npy": name for name in ARRAYS}
    names = [info.filename for info in infos]
    if "track.json" not in names:
        raise bad_track(source, "it has no track.json, so it is no track")
    if len(set(names)) < len(names):
        raise bad_track(source, "it has two parts of one name")
    if set(names) != set(wanted):
        odd = sorted(set(names) ^ set(wanted))[0]
        raise bad_track(
            source, f"the part {brief(odd)} is {'missing' if odd in wanted else 'not one of a track'}"
        )
    for info in infos:
        if info.flag_bits & 1 or info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise bad_track(source, f"{info.filename} is encrypted, or compressed otherwise than by deflate")
        if info.filename == "track.json" and info.file_size > _META:
            raise bad_track(source, f"track.json has {info.file_size:,} bytes; {_META:,} are allowed")
    return {wanted[info.filename]: info for info in infos}


def _array_of(data: bytes, name: str, header: bytes, source: str) -> Any:
    if not data.startswith(header):
        raise bad_track(
            source, f"{name} is no npy array of version 1.0, or not the one that track.json announces"
        )
    return np.frombuffer(data, ARRAYS[name][0], offset=len(header))


# ---- track.json


def _is_whole(value: Any, least: int = 0, end: int = 2**31) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and least <= value < end


def _are_grades(values: Any) -> bool:
    return isinstance(values, list) and len(values) == 2 and all(_is_whole(v, 1 - 2**31) for v in values)


def _are_names(values: Any) -> bool:
    texts = isinstance(values, list) and all(isinstance(v, str) and v and is_text(v) for v in values)
    return texts and len(set(values)) == len(values)


def _are_texts(values: Any) -> bool:
    return isinstance(values, dict) and all(isinstance(v, str) for v in values.values())


def _check_meta(meta: Any, source: str) -> dict[str, Any]:
    """What track.json says; raises, naming its key, where it is not what a track says."""
    if not isinstance(meta, dict) or meta.get("format") != FORMAT:
        raise bad_track(source, "track.json is not that of a track")
    if meta.get("version") != VERSION:
        version = brief(meta.get("version"))
        raise BadTrackError(
            f"{source}: it is a track of version {version}, and this package reads version {VERSION}: update the "
            "package, or make the track again"
        )
    if odd := sorted(set(meta) ^ set(_KEYS)):
        raise bad_track(
            source, f"track.json {'lacks' if odd[0] in _KEYS else 'has an unknown'} {brief(odd[0])}"
        )
    grades, counts, empty = meta["grades"], meta["counts"], meta["empty"]
    texts, aspects = _are_texts(meta["groups"]), meta["aspects"]
    is_right = {
        "depth": _is_whole(meta["depth"], 1),
        "runs": _are_names(meta["runs"]) and len(meta["runs"]) > 0,
        "topics": _are_names(meta["topics"]) and len(meta["topics"]) > 0,
        "groups": texts and all(meta["groups"].values()),
        "grades": grades is None or (_are_grades(grades) and grades[0] <= grades[1]),
        "num_docs": meta["num_docs"] is None or _is_whole(meta["num_docs"], 1, 2**53),
        "drop_self": isinstance(meta["drop_self"], bool),
        "empty": isinstance(empty, dict) and all(map(_are_names, empty.values())),
        "aspects": isinstance(aspects, list)
        and all(map(is_text, aspects))
        and len({*aspects}) == len(aspects),
        "about": _are_texts(meta["about"]) and set(meta["about"]) <= set(ABOUT),
        "counts": isinstance(counts, dict)
        and set(counts) == {count for _, count in ARRAYS.values()}
        and all(map(_is_whole, counts.values())),
    }
    if wrong := [key for key, right in is_right.items() if not right]:
        raise bad_track(source, f"track.json: {wrong[0]!r} is not what a track has there")
    runs, topics = meta["runs"], meta["topics"]
    for key, named in (("groups", set(meta["groups"])), ("empty", set(empty))):
        if not named <= set(runs):
            raise bad_track(source, f"track.json: {key!r} names a run that is not there")
    if not {q for queries in empty.values() for q in queries} <= set(topics):
        raise bad_track(source, "track.json: 'empty' names a topic that is not there")
    if counts["topics"] != len(topics) or counts["rankings"] != len(runs) * len(topics):
        raise bad_track(source, "its counts do not fit its runs and topics")
    if counts["labelled_topics"] not in (0, len(topics)):
        raise bad_track(source, "its counts of rows by aspect do not fit its topics")
    return meta
