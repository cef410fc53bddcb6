"""Tracks: a context as a file, its runs cut to their first documents."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from ..context.run_context import DESCRIPTIONS
from ..data.arrays import BoolArray, IntArray, object_array
from ..data.cut_rankings import Cut, CutRankings
from ..data.documents import Documents, Judgments
from ..data.ids import Ids
from ..data.rankings import Rankings
from ..io import datasets
from ..io.qrels import DatasetOfQrels, QrelsColumns, qrels_columns
from .track_file import BadTrackError, bad_track, read_file, sha256_of
from .track_sources import locate_track


class Track(NamedTuple):
    """What a context from a track is known by."""

    name: str
    version: str
    runs: int
    depth: int
    sha256: str
    about: Mapping[str, str]

    def __str__(self) -> str:
        known = " ".join(filter(None, (self.name, self.version)))
        return f"{known} ({self.runs} run{'s' * (self.runs != 1)}, sha256 {self.sha256[:8]}…)"


class TrackJudgments(DatasetOfQrels):
    """The judgments of a track, as a dataset of ir_datasets has them; those of such a dataset where it names one."""

    def __init__(self, columns: QrelsColumns | None, dataset: str | None) -> None:
        self.columns, self.dataset = columns, dataset

    def has_qrels(self) -> bool:
        return self.columns is not None or self.dataset is not None

    def __repr__(self) -> str:
        return "the track"

    def qrels_columns(self) -> QrelsColumns:
        if self.columns is not None:
            return self.columns
        return qrels_columns(datasets.fetch_qrels(datasets.load_dataset(self.dataset)))


@DESCRIPTIONS.register("read track")
def read_track(given: Any) -> tuple[dict[str, Rankings], dict[str, Any], TrackJudgments, Track]:
    """The runs of a track, the options of its context, its judgments, and what it is known by."""
    path, sha256 = locate_track(given)
    source = os.fspath(path)
    meta, arrays = read_file(path, source)
    found = sha256_of(meta, arrays)
    if sha256 is not None and found != sha256:
        raise bad_track(source, f"it has the sha256 {found}, not {sha256}")
    about = meta["about"]
    name = about.get("name") or path.name.removesuffix(".track")
    track = Track(name, about.get("version", ""), len(meta["runs"]), meta["depth"], found, about)
    runs, judgments = _Content(meta, arrays, source, track).read()
    known: dict[str, Any] = {key: meta[key] for key in ("groups", "num_docs", "grades", "drop_self")}
    return runs, known, TrackJudgments(judgments, about.get("dataset")), track


def _bounds(sizes: IntArray) -> IntArray:
    return np.concatenate([[0], np.cumsum(sizes)])


class _Content:
    """The arrays of a track, checked as they are read."""

    def __init__(self, meta: Mapping[str, Any], arrays: Mapping[str, Any], source: str, track: Track) -> None:
        self.meta, self.source, self.track, self.arrays = meta, source, track, arrays
        self.topics = object_array(meta["topics"])
        shape = len(meta["runs"]), len(self.topics)
        self.lengths, self.below = (self._whole(key).reshape(shape) for key in ("lengths", "below"))
        self.in_head = np.minimum(self.lengths, meta["depth"])
        self._check_counts()
        self.n_listed = self._whole("listed")
        self.n_docs = self.n_listed + self._whole("others")
        self.first = _bounds(self.n_docs)[:-1]  # the row of each topic's first document
        self.topic = np.repeat(np.arange(shape[1]), self.n_docs)  # of each document
        self.ids = self._read_ids()

    def _whole(self, key: str) -> IntArray:
        return np.asarray(self.arrays[key], dtype=np.int64)

    def _bad(self, what: str) -> BadTrackError:
        return bad_track(self.source, what)

    def _check_counts(self) -> None:
        """Raise where the counts do not fit each other, before anything of their size is made."""
        counts, total = (
            self.meta["counts"],
            {key: int(self.arrays[key].sum(dtype=np.int64)) for key in self.arrays},
        )
        fits = {
            "numbers of documents": total["listed"] + total["others"] == counts["documents"],
            "lengths of ids": total["id_lengths"] == counts["bytes"],
            "lengths of rankings": int(self.in_head.sum()) == counts["head_rows"],
            "numbers of documents below the heads": total["below"] == counts["below_rows"],
            "numbers of grades": counts["judgments"] in (0, total["listed"]),
            "numbers of rows by aspect": total["labels"] == counts["label_rows"],
        }
        if wrong := [what for what, fit in fits.items() if not fit]:
            raise self._bad(f"the {wrong[0]} do not fit the rest")
        unranked = [
            name for name, length in zip(self.meta["runs"], self.lengths, strict=True) if not length.any()
        ]
        if unranked:
            raise self._bad(f"run {unranked[0]!r} has no ranking")

    def _read_ids(self) -> Ids:
        size, data = self._whole("id_lengths"), self.arrays["id_bytes"]
        ends = np.cumsum(size)
        starts = ends - size
        if not size.all():
            raise self._bad(
                f"a document of topic {self.topics[self.topic[int(np.argmin(size))]]!r} has an empty id"
            )
        try:
            bytes(data).decode()
        except UnicodeDecodeError as error:
            raise self._bad(f"an id is not UTF-8 ({error.reason})") from None
        if (data == 0).any() or (data[starts] & 0xC0 == 0x80).any():  # or cut within a character
            raise self._bad("an id is no text")
        ids = Ids(data, starts, ends)
        again, _ = Documents(self.topics, self.topic, ids, np.zeros(len(ids), dtype=np.int64)).repeats()
        if len(again):
            row = int(again[0])
            raise self._bad(f"topic {self.topics[self.topic[row]]!r} has document {ids.string(row)!r} twice")
        return ids

    def read(self) -> tuple[dict[str, Rankings], QrelsColumns | None]:
        """The runs, and the judgments if it has any."""
        rows = np.flatnonzero(np.arange(len(self.ids)) - self.first[self.topic] < self.n_listed[self.topic])
        query, ids, grades = self.topic[rows], self.ids.take(rows), self._whole("grades")
        judgments = self._read_judgments(query, ids, grades, rows)
        listed = Judgments(self.topics, query, ids, grades if len(grades) else np.zeros_like(query))
        cut = Cut(
            self.track.name,
            self.track.depth,
            listed,
            str(self.track),
            self.track.runs,
            self.meta["drop_self"],
        )
        head, below = (_bounds(sizes.sum(axis=1)).tolist() for sizes in (self.in_head, self.below))
        ends = zip(head[:-1], head[1:], below[:-1], below[1:], strict=True)
        names = enumerate(zip(self.meta["runs"], ends, strict=True))
        return {
            name: self._read_run(i, name, slice(a, b), slice(c, d), cut) for i, (name, (a, b, c, d)) in names
        }, judgments

    def _read_judgments(
        self, query: IntArray, ids: Ids, grades: IntArray, rows: IntArray
    ) -> QrelsColumns | None:
        if not len(grades):
            if self.meta["counts"]["label_rows"]:
                raise self._bad("it has rows by aspect and no grades")
            return None
        if not self.meta["counts"]["labelled_topics"]:
            return self._columns(query, ids, grades, None)
        number, aspect = self._whole("label_document"), self._whole("label_aspect")
        topic = np.repeat(np.arange(len(self.topics)), self._whole("labels"))
        if (number >= self.n_listed[topic]).any() or (aspect >= len(self.meta["aspects"])).any():
            raise self._bad("a row by aspect names a document or an aspect that is not there")
        row = self.first[topic] + number
        if len(np.unique(row)) < len(rows):
            raise self._bad("a judged document has no row by aspect")
        aspects = Ids.of(self.meta["aspects"]).take(aspect)
        return self._columns(topic, self.ids.take(row), self._whole("label_grade"), aspects)

    def _columns(self, query: IntArray, ids: Ids, grades: IntArray, aspects: Ids | None) -> QrelsColumns:
        return QrelsColumns(
            Ids.of(self.meta["topics"]).take(query), ids, grades.astype(np.int32), aspects, self.topics
        )

    def _read_run(self, i: int, name: str, head: slice, below: slice, cut: Cut) -> Rankings:
        """One run, from its slices of the rows of heads and of those below."""
        in_head, deeper, every = self.in_head[i], self.below[i], np.arange(len(self.topics))
        query = np.concatenate([np.repeat(every, in_head), np.repeat(every, deeper)])
        at_head = np.arange(1, head.stop - head.start + 1) - np.repeat(_bounds(in_head)[:-1], in_head)
        number = np.concatenate([self.arrays["heads"][head], self.arrays["below_document"][below]]).astype(
            np.int64
        )
        position = np.concatenate([at_head, self.arrays["below_position"][below]]).astype(np.int64)
        is_below = np.arange(len(query)) >= len(at_head)
        if (number >= np.where(is_below, self.n_listed[query], self.n_docs[query])).any():
            raise self._bad(f"run {name!r} ranks a document that is not there")
        order = np.argsort(query, kind="stable")
        query, number, position, is_below = query[order], number[order], position[order], is_below[order]
        self._check_positions(name, query, position, is_below, self.lengths[i], cut.depth)
        row = self.first[query] + number
        if np.bincount(row, minlength=1).max() > 1:
            raise self._bad(f"run {name!r} ranks a document twice for a topic")
        has = np.flatnonzero(in_head)
        if deeper[in_head < cut.depth].any():
            raise self._bad(f"run {name!r} has documents below the end of a ranking")
        starts = _bounds((in_head + deeper)[has]).astype(np.int64)
        run = CutRankings(
            self.topics[has],
            starts,
            self.ids.take(row),
            position,
            self.lengths[i][has],
            cut,
            name=f"run {name!r}",
        )
        run.group, run.asked = self.meta["groups"].get(name), frozenset(self.meta["empty"].get(name, ()))
        return run

    def _check_positions(
        self,
        name: str,
        query: IntArray,
        position: IntArray,
        is_below: BoolArray,
        lengths: IntArray,
        depth: int,
    ) -> None:
        falls = (query[1:] == query[:-1]) & (position[1:] <= position[:-1])
        wrong = (
            np.append(False, falls)[: len(query)]
            | (position > lengths[query])
            | (is_below & (position <= depth))
        )
        if wrong.any():
            topic = self.topics[query[int(np.argmax(wrong))]]
            raise self._bad(
                f"run {name!r}, topic {topic!r}: positions do not rise, or are not within the ranking"
            )
