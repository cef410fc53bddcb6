"""The file of a track: where it is, and its content, checked: ``track.json`` and one-dimensional npy arrays in a zip.

Sizes are compared with ``track.json`` before anything is unpacked, and no header of an array decides how much memory
to allocate.
"""

from __future__ import annotations

import json
import os
import re
import zipfile
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ..io.files import max_unpacked
from ..messages import brief, few_quoted, is_text, kind_of

FORMAT, VERSION = "ir_measures_relative track", 1
#: The arrays of a track in their order: the type of each, and the name of its length in "counts" of track.json.
ARRAYS = {
    "id_bytes": ("|u1", "bytes"),  # of each topic's documents: the listed ones, then others in the heads
    "id_lengths": ("<u2", "documents"),
    "listed": ("<u4", "topics"),  # the number of listed documents of each topic
    "others": ("<u4", "topics"),
    "lengths": ("<u4", "rankings"),  # of each ranking, run by run
    "heads": ("<u2", "head_rows"),  # documents by their number in the topic, ranking by ranking, from the top
    "below": ("<u4", "rankings"),  # the number of listed documents below the head of each ranking
    "below_document": ("<u2", "below_rows"),
    "below_position": ("<u4", "below_rows"),
    "grades": ("<i4", "judgments"),  # of the listed documents; none in a track without judgments
    "labels": ("<u4", "labelled_topics"),  # rows by aspect of each topic; none in a track without aspects
    "label_document": ("<u2", "label_rows"),
    "label_aspect": ("<u4", "label_rows"),  # an index of "aspects" in track.json
    "label_grade": ("<i4", "label_rows"),
}
#: The keys that ``about`` may have.
ABOUT = ("name", "version", "source", "licence", "citation", "dataset")
# Bytes of track.json; and how far a track may unpack: real ones four times, those of similar runs much farther.
_MAX_META, _MAX_RATIO, _ALWAYS_ALLOWED = 1 << 22, 30, 1 << 24
_END, _LOCATOR = b"PK\x05\x06", b"PK\x06\x07"
_CATALOGUE = Path(__file__).parent / "tracks"
_URL = re.compile(r"(https?://[^#]+)(?:#sha256=([0-9a-f]{64}))?")


class BadTrackError(ValueError):
    """A file that is no track, or a damaged one."""


def bad_track(source: str, problem: str) -> BadTrackError:
    """Return the error for a file with a problem."""
    return BadTrackError(f"{source}: {problem}; fetch the track again, or make it again")


# ---- where a track is


def catalogue() -> list[str]:
    """Return the names of the tracks that come with the package."""
    return sorted(path.stem for path in _CATALOGUE.glob("*.track"))


def is_track(text: str) -> bool:
    """Return whether a text names a track, and not a run or a folder of runs."""
    return text.endswith(".track") or "://" in text or (text in catalogue() and not os.path.exists(text))


def locate_track(track: Any) -> tuple[Path, str | None]:
    """Return the file of a track, fetched if it is a URL, and the sha256 that it must have; None for any.

    Raises:
        FileNotFoundError: there is no such file, and no such name in the catalogue.
        ConnectionError: it cannot be fetched; the message says where to put the file.
    """
    if not isinstance(track, (str, os.PathLike)):
        raise TypeError(
            f"the track is {kind_of(track)}; give a path, a URL, or one of {few_quoted(catalogue())}"
        )
    text = os.fspath(track)
    if "://" in text:
        return _fetch(text)
    path = Path(text)
    if path.is_file():
        return path, None
    if text in catalogue():
        return _CATALOGUE / f"{text}.track", None
    problem = "is a folder" if path.is_dir() else "is no file"
    raise FileNotFoundError(
        f"{text} {problem}, and no track of the catalogue, which has {few_quoted(catalogue())}; make a track of a "
        "folder of runs: ir_measures_relative track make QRELS RUNS -o FILE"
    )


def _fetch(text: str) -> tuple[Path, str]:
    match = _URL.fullmatch(text)
    if match is None or match[2] is None:
        raise ValueError(
            f"{text}: a track from a URL needs its sha256, as in https://…/x.track#sha256=1f3a…, so that it is the "
            "same tomorrow; `ir_measures_relative track show FILE` prints it"
        )
    from ir_datasets.util import Cache, RequestsDownload, home_path

    url, sha256 = match[1], match[2]
    import hashlib  # only commands that read a track need it

    name = f"{hashlib.sha256(url.encode()).hexdigest()[:8]}-{url.rstrip('/').rpartition('/')[2]}"
    path = home_path() / "ir_measures_relative" / name
    try:
        return Path(Cache(RequestsDownload(url), path).path()), sha256
    except (OSError, RuntimeError) as error:
        raise ConnectionError(
            f"{url} could not be fetched ({type(error).__name__}); is there a network? Without one, put the file at "
            f"{path}"
        ) from error


# ---- its content


def hash_track(meta: Mapping[str, Any], arrays: Mapping[str, Any]) -> str:
    """Return the sha256 of the content of a track, which does not depend on how it is compressed."""
    import hashlib  # only commands that read a track need it

    digest = hashlib.sha256(json.dumps(meta, sort_keys=True, separators=(",", ":")).encode())
    for name in ARRAYS:
        digest.update(np.ascontiguousarray(arrays[name]).data)
    return digest.hexdigest()


def npy_header(kind: str, length: int) -> bytes:
    """Return the header of an npy file of version 1.0 for a one-dimensional array, as numpy writes it."""
    text = f"{{'descr': {kind!r}, 'fortran_order': False, 'shape': ({length},), }}"
    return b"\x93NUMPY\x01\x00\x76\x00" + text.ljust(117).encode() + b"\n"


def read_track_file(path: Path, source: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the content of track.json, and the arrays, of the types and lengths that it announces."""
    size = path.stat().st_size
    try:
        _check_end(path, size, source)
        with zipfile.ZipFile(path) as file:
            members = _check_members(file.infolist(), source)
            # All else in the file is padding.
            compressed = min(size, sum(info.compress_size for info in members.values()))
            limit = min(max_unpacked(size), max(_ALWAYS_ALLOWED, _MAX_RATIO * compressed))
            unpacked = sum(info.file_size for info in members.values())
            if unpacked > limit:
                raise bad_track(
                    source, f"it unpacks to {unpacked:,} bytes; a track of {size:,} has at most {limit:,}"
                )
            meta = _check_meta(json.loads(file.read(members.pop("track.json"))), source)
            headers = {
                name: npy_header(kind, meta["counts"][count]) for name, (kind, count) in ARRAYS.items()
            }
            for name, info in members.items():  # before any of them is unpacked
                kind, count = ARRAYS[name]
                needed = len(headers[name]) + meta["counts"][count] * np.dtype(kind).itemsize
                if info.file_size != needed:
                    raise bad_track(
                        source, f"{name} has {info.file_size:,} bytes, and its {count} need {needed:,}"
                    )
            return meta, {
                name: _read_array(file.read(members[name]), name, headers[name], source) for name in ARRAYS
            }
    except json.JSONDecodeError as error:
        raise bad_track(source, f"track.json is not valid JSON ({error})") from None
    except BadTrackError:
        raise
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, ValueError) as error:
        if isinstance(error, OSError) and error.filename is not None:  # the file cannot be opened
            raise
        raise bad_track(source, f"it is truncated or damaged ({str(error)[:200]})") from None


def _check_end(path: Path, size: int, source: str) -> None:
    """Raise BadTrackError, before the directory is read, for a file that does not end as a small zip does."""
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


def _check_members(infos: list[zipfile.ZipInfo], source: str) -> dict[str, zipfile.ZipInfo]:
    """Return the members by name of array; raise BadTrackError for missing, duplicate and unknown ones."""
    known = {"track.json": "track.json"} | {f"{name}.npy": name for name in ARRAYS}
    names = [info.filename for info in infos]
    if "track.json" not in names:
        raise bad_track(source, "it has no track.json, so it is no track")
    if len(set(names)) < len(names):
        raise bad_track(source, "it has two parts of one name")
    if odd := sorted(set(names) ^ set(known)):
        raise bad_track(
            source,
            f"the part {brief(odd[0])} is {'missing' if odd[0] in known else 'not one of a track'}",
        )
    for info in infos:
        if info.flag_bits & 1 or info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise bad_track(source, f"{info.filename} is encrypted, or compressed otherwise than by deflate")
        if info.filename == "track.json" and info.file_size > _MAX_META:
            raise bad_track(source, f"track.json has {info.file_size:,} bytes; {_MAX_META:,} are allowed")
    return {known[info.filename]: info for info in infos}


def _read_array(data: bytes, name: str, header: bytes, source: str) -> Any:
    if not data.startswith(header):
        raise bad_track(
            source, f"{name} is no npy array of version 1.0, or not the one that track.json announces"
        )
    return np.frombuffer(data, ARRAYS[name][0], offset=len(header))


# ---- track.json


def _is_whole(value: Any, least: int = 0, end: int = 2**31) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and least <= value < end


def _are_grades(values: Any) -> bool:
    is_pair = isinstance(values, list) and len(values) == 2 and all(_is_whole(v, 1 - 2**31) for v in values)
    return is_pair and values[0] <= values[1]


def _are_names(values: Any) -> bool:
    are_texts = isinstance(values, list) and all(isinstance(v, str) and v and is_text(v) for v in values)
    return are_texts and len(set(values)) == len(values)


def _are_texts(values: Any) -> bool:
    return isinstance(values, dict) and all(isinstance(v, str) for v in values.values())


_COUNTS = {count for _, count in ARRAYS.values()}
# The keys of track.json, and whether a value is allowed.
_CHECKS: dict[str, Callable[[Any], bool]] = {
    "format": lambda value: value == FORMAT,
    "version": lambda value: value == VERSION,
    "depth": lambda depth: _is_whole(depth, 1),
    "runs": lambda names: _are_names(names) and len(names) > 0,
    "topics": lambda names: _are_names(names) and len(names) > 0,
    "groups": lambda groups: _are_texts(groups) and all(groups.values()),
    "grades": lambda grades: grades is None or _are_grades(grades),
    "num_docs": lambda number: number is None or _is_whole(number, 1, 2**53),
    "drop_self": lambda value: isinstance(value, bool),
    "empty": lambda empty: isinstance(empty, dict) and all(map(_are_names, empty.values())),
    "aspects": lambda names: (
        isinstance(names, list) and all(map(is_text, names)) and len({*names}) == len(names)
    ),
    "about": lambda about: _are_texts(about) and set(about) <= set(ABOUT),
    "counts": lambda counts: (
        isinstance(counts, dict) and set(counts) == _COUNTS and all(map(_is_whole, counts.values()))
    ),
}


def _check_meta(meta: Any, source: str) -> dict[str, Any]:
    """Return the content of track.json; raise BadTrackError, naming its key, for a value that no track has."""
    if not isinstance(meta, dict) or meta.get("format") != FORMAT:
        raise bad_track(source, "track.json is not that of a track")
    if meta.get("version") != VERSION:
        version = brief(meta.get("version"))
        raise BadTrackError(
            f"{source}: it is a track of version {version}, and this package reads version {VERSION}: update the "
            "package, or make the track again"
        )
    if odd := sorted(set(meta) ^ set(_CHECKS)):
        problem = "lacks" if odd[0] in _CHECKS else "has an unknown"
        raise bad_track(source, f"track.json {problem} {brief(odd[0])}")
    if wrong := [key for key, is_allowed in _CHECKS.items() if not is_allowed(meta[key])]:
        raise bad_track(source, f"track.json: {wrong[0]!r} is not what a track has there")
    runs, topics, empty, counts = (meta[key] for key in ("runs", "topics", "empty", "counts"))
    for key in ("groups", "empty"):
        if not set(meta[key]) <= set(runs):
            raise bad_track(source, f"track.json: {key!r} names a run that is not there")
    if not {query for queries in empty.values() for query in queries} <= set(topics):
        raise bad_track(source, "track.json: 'empty' names a topic that is not there")
    if counts["topics"] != len(topics) or counts["rankings"] != len(runs) * len(topics):
        raise bad_track(source, "its counts do not fit its runs and topics")
    if counts["labelled_topics"] not in (0, len(topics)):
        raise bad_track(source, "its counts of rows by aspect do not fit its topics")
    return meta
