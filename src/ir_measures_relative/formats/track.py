"""Tracks as contexts: runs cut to their first documents, and their judgments."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..context.run_context import DESCRIPTIONS
from ..data.arrays import BoolArray, IntArray, ObjectArray, object_array
from ..data.documents import Documents, Judgments
from ..data.ids import Ids
from ..data.rankings import Cut, Rankings, TopDocs
from ..io import datasets
from ..io.qrels import QrelsColumns, qrels_columns
from .run_paths import QrelsDataset
from .track_file import BadTrackError, bad_track, hash_track, locate_track, read_track_file

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Track(NamedTuple):
    """The description of a track, by which it is cited."""

    name: str
    version: str
    runs: int
    depth: int
    sha256: str
    about: Mapping[str, str]

    def __str__(self) -> str:
        name = " ".join(filter(None, (self.name, self.version)))
        return f"{name} ({self.runs} run{'s' * (self.runs != 1)}, sha256 {self.sha256[:8]}…)"


class TrackJudgments(QrelsDataset):
    """The judgments of a track, or of the dataset that it names, in the form of a dataset of ir_datasets."""

    def __init__(self, columns: QrelsColumns | None, dataset: str | None) -> None:
        self.columns, self.dataset = columns, dataset

    def has_qrels(self) -> bool:
        """Return whether the track has judgments, or names a dataset that does."""
        return self.columns is not None or self.dataset is not None

    def __repr__(self) -> str:
        return "the track"

    def qrels_columns(self) -> QrelsColumns:
        """Return the judgments."""
        if self.columns is not None:
            return self.columns
        return qrels_columns(datasets.fetch_qrels(datasets.load_dataset(self.dataset)))


@DESCRIPTIONS.register("read track")
def read_track(source: Any) -> tuple[dict[str, Rankings], dict[str, Any], TrackJudgments, Track]:
    """Return the runs of a track, the options of its context, its judgments, and its description."""
    path, expected = locate_track(source)
    meta, arrays = read_track_file(path, os.fspath(path))
    sha256 = hash_track(meta, arrays)
    if expected is not None and sha256 != expected:
        raise bad_track(os.fspath(path), f"it has the sha256 {sha256}, not {expected}")
    about = meta["about"]
    name = about.get("name") or path.name.removesuffix(".track")
    track = Track(name, about.get("version", ""), len(meta["runs"]), meta["depth"], sha256, about)
    runs, judgments = _Content(meta, arrays, os.fspath(path), track).read()
    options: dict[str, Any] = {key: meta[key] for key in ("groups", "num_docs", "grades", "drop_self")}
    return runs, options, TrackJudgments(judgments, about.get("dataset")), track


class CutRankings(Rankings):
    """Rankings without some of their rows: each row has a position, and none a score.

    The first rows of a query are its first ``cut.depth`` documents, or all; the others are listed ones below.
    """

    cut: Cut

    def __init__(
        self,
        query_ids: ObjectArray,
        starts: IntArray,
        ids: Ids,
        positions: IntArray,
        lengths: IntArray,
        cut: Cut,
        *,
        name: str,
    ) -> None:
        """Take the rows of each query by position, and the length of each ranking."""
        self.name, self.tag, self.group, self.asked, self.ends_within_row = name, None, None, (), False
        self.query_ids, self.starts, self.ranks = query_ids, starts, None
        # A score that ties with none.
        self._scores: NDArray[np.float32] = np.broadcast_to(np.float32(np.nan), len(ids))
        self._given: NDArray[Any] = self._scores
        self._doc_ids, self._order, self._top, self._checked = ids, None, {}, True
        self.cut, self._positions, self._lengths = cut, positions, lengths

    @property
    def lengths(self) -> IntArray:
        return self._lengths

    def is_whole_to(self, depth: int | None) -> bool:
        least = self.cut.depth
        return (depth is not None and depth <= least) or int(self._lengths.max(initial=0)) <= least

    def top(self, cutoff: int | None = None) -> TopDocs:
        if not self.is_whole_to(cutoff):
            raise self.cut.refuse(cutoff)
        return super().top(cutoff)

    def by_score(self, cutoff: int | None = None) -> TopDocs:
        top = super().by_score(cutoff)
        if cutoff is None:
            top.position = self._positions
        return top

    def positions_at(self, rows: IntArray, ids: Ids) -> IntArray:
        return self._positions[rows]

    def _slice_queries(self, first: int, end: int) -> Rankings:
        some = super()._slice_queries(first, end)
        assert isinstance(some, CutRankings)
        some._lengths = self._lengths[first:end]
        some._positions = self._positions[self.starts[first] : self.starts[end]]
        return some

    @property
    def given_scores(self) -> NDArray[np.float64]:
        raise ValueError(
            f"{self.name}: {self.cut.source} has positions and no scores; leave out what reads scores (Compat, "
            "combsum, combmnz, rerank=), or give the run itself"
        )

    def without_self(self) -> Rankings:
        if self.cut.without_self:
            return self
        raise ValueError(
            f"{self.cut.source} was made without drop_self=True; make it of a context that has it"
        )

    def to_dict(self, cutoff: int | None = None, *, unlike: Ids | None = None) -> dict[str, dict[str, float]]:
        """Return :meth:`Rankings.to_dict`; unknown documents have ids longer than those of ``unlike``."""
        if unlike is None or self.is_whole_to(cutoff):
            return super().to_dict(cutoff)
        longest = max(int(ids.lengths.max(initial=0)) for ids in (unlike, self.rows()[1]))
        at, docs, result = self._positions.tolist(), self.rows()[1].strings().tolist(), {}
        rows = zip(self.starts[:-1].tolist(), self.starts[1:].tolist(), self._lengths.tolist(), strict=True)
        for query_id, (first, end, length) in zip(self.query_ids, rows, strict=True):
            # No blank, as some providers write files.
            ranking = [f"{'?' * longest}{i}" for i in range(length)]
            for doc_id, position in zip(docs[first:end], at[first:end], strict=True):
                ranking[position - 1] = doc_id
            result[query_id] = {doc_id: -float(i) for i, doc_id in enumerate(ranking, 1)}
        return result


def _bounds(sizes: IntArray) -> IntArray:
    return np.concatenate([[0], np.cumsum(sizes)])


class _Content:
    """The arrays of a track, checked while they are read."""

    def __init__(self, meta: Mapping[str, Any], arrays: Mapping[str, Any], source: str, track: Track) -> None:
        self.meta, self.source, self.track, self.arrays = meta, source, track, arrays
        self.topics = object_array(meta["topics"])
        shape = len(meta["runs"]), len(self.topics)
        self.lengths, self.below = (self._int64(key).reshape(shape) for key in ("lengths", "below"))
        self.in_head = np.minimum(self.lengths, meta["depth"])
        self._check_counts()
        self.n_listed = self._int64("listed")
        self.n_docs = self.n_listed + self._int64("others")
        self.first = _bounds(self.n_docs)[:-1]  # the row of each topic's first document
        self.topic = np.repeat(np.arange(shape[1]), self.n_docs)  # of each document
        self.ids = self._read_ids()

    def _int64(self, key: str) -> IntArray:
        return np.asarray(self.arrays[key], dtype=np.int64)

    def _bad(self, problem: str) -> BadTrackError:
        return bad_track(self.source, problem)

    def _check_counts(self) -> None:
        """Raise BadTrackError for counts that do not fit each other, before arrays of these sizes are made."""
        counts = self.meta["counts"]
        total = {key: int(array.sum(dtype=np.int64)) for key, array in self.arrays.items()}
        fits = {
            "numbers of documents": total["listed"] + total["others"] == counts["documents"],
            "lengths of ids": total["id_lengths"] == counts["bytes"],
            "lengths of rankings": int(self.in_head.sum()) == counts["head_rows"],
            "numbers of documents below the heads": total["below"] == counts["below_rows"],
            "numbers of grades": counts["judgments"] in (0, total["listed"]),
            "numbers of rows by aspect": total["labels"] == counts["label_rows"],
        }
        if wrong := [name for name, is_right in fits.items() if not is_right]:
            raise self._bad(f"the {wrong[0]} do not fit the rest")
        has_ranking = self.lengths.any(axis=1)
        if not has_ranking.all():
            raise self._bad(f"run {self.meta['runs'][int(has_ranking.argmin())]!r} has no ranking")

    def _read_ids(self) -> Ids:
        size, data = self._int64("id_lengths"), self.arrays["id_bytes"]
        ends = np.cumsum(size)
        starts = ends - size
        if not size.all():
            topic = self.topics[self.topic[int(np.argmin(size))]]
            raise self._bad(f"a document of topic {topic!r} has an empty id")
        try:
            bytes(data).decode()
        except UnicodeDecodeError as error:
            raise self._bad(f"an id is not UTF-8 ({error.reason})") from None
        if (data == 0).any() or (data[starts] & 0xC0 == 0x80).any():  # a NUL, or a start within a character
            raise self._bad("an id is no text")
        ids = Ids(data, starts, ends)
        repeats, _ = Documents(self.topics, self.topic, ids, np.zeros(len(ids), dtype=np.int64)).repeats()
        if len(repeats):
            row = int(repeats[0])
            raise self._bad(f"topic {self.topics[self.topic[row]]!r} has document {ids.string(row)!r} twice")
        return ids

    def read(self) -> tuple[dict[str, Rankings], QrelsColumns | None]:
        """Return the runs, and the judgments; None without any."""
        rows = np.flatnonzero(np.arange(len(self.ids)) - self.first[self.topic] < self.n_listed[self.topic])
        query, ids, grades = self.topic[rows], self.ids.take(rows), self._int64("grades")
        judgments = self._read_judgments(query, ids, grades, rows)
        listed = Judgments(self.topics, query, ids, grades if len(grades) else np.zeros_like(query))
        track = self.track
        cut = Cut(track.name, track.depth, listed, str(track), track.runs, self.meta["drop_self"])
        head, below = (_bounds(sizes.sum(axis=1)).tolist() for sizes in (self.in_head, self.below))
        runs = {
            name: self._read_run(i, name, slice(*head[i : i + 2]), slice(*below[i : i + 2]), cut)
            for i, name in enumerate(self.meta["runs"])
        }
        return runs, judgments

    def _read_judgments(
        self, query: IntArray, ids: Ids, grades: IntArray, rows: IntArray
    ) -> QrelsColumns | None:
        if not len(grades):
            if self.meta["counts"]["label_rows"]:
                raise self._bad("it has rows by aspect and no grades")
            return None
        if not self.meta["counts"]["labelled_topics"]:
            return self._columns(query, ids, grades, None)
        number, aspect = self._int64("label_document"), self._int64("label_aspect")
        topic = np.repeat(np.arange(len(self.topics)), self._int64("labels"))
        if (number >= self.n_listed[topic]).any() or (aspect >= len(self.meta["aspects"])).any():
            raise self._bad("a row by aspect names a document or an aspect that is not there")
        row = self.first[topic] + number
        if len(np.unique(row)) < len(rows):
            raise self._bad("a judged document has no row by aspect")
        aspects = Ids.of(self.meta["aspects"]).take(aspect)
        return self._columns(topic, self.ids.take(row), self._int64("label_grade"), aspects)

    def _columns(self, query: IntArray, ids: Ids, grades: IntArray, aspects: Ids | None) -> QrelsColumns:
        return QrelsColumns(
            Ids.of(self.meta["topics"]).take(query), ids, grades.astype(np.int32), aspects, self.topics
        )

    def _read_run(self, i: int, name: str, head: slice, below: slice, cut: Cut) -> Rankings:
        """Return one run, from its slices of the rows of heads and of those below."""
        n_head, n_below, topics = self.in_head[i], self.below[i], np.arange(len(self.topics))
        head_position = np.arange(1, head.stop - head.start + 1) - np.repeat(_bounds(n_head)[:-1], n_head)
        query = np.concatenate([np.repeat(topics, n_head), np.repeat(topics, n_below)])
        number = np.concatenate([self.arrays["heads"][head], self.arrays["below_document"][below]])
        position = np.concatenate([head_position, self.arrays["below_position"][below]]).astype(np.int64)
        is_below = np.arange(len(query)) >= len(head_position)
        if (number >= np.where(is_below, self.n_listed[query], self.n_docs[query])).any():
            raise self._bad(f"run {name!r} ranks a document that is not there")
        order = np.argsort(query, kind="stable")
        query, position, is_below = query[order], position[order], is_below[order]
        self._check_positions(name, query, position, is_below, self.lengths[i])
        row = self.first[query] + number[order]
        if np.bincount(row, minlength=1).max() > 1:
            raise self._bad(f"run {name!r} ranks a document twice for a topic")
        if n_below[n_head < cut.depth].any():
            raise self._bad(f"run {name!r} has documents below the end of a ranking")
        ranked = np.flatnonzero(n_head)
        run = CutRankings(
            self.topics[ranked],
            _bounds((n_head + n_below)[ranked]).astype(np.int64),
            self.ids.take(row),
            position,
            self.lengths[i][ranked],
            cut,
            name=f"run {name!r}",
        )
        run.group, run.asked = self.meta["groups"].get(name), frozenset(self.meta["empty"].get(name, ()))
        return run

    def _check_positions(
        self, name: str, query: IntArray, position: IntArray, is_below: BoolArray, lengths: IntArray
    ) -> None:
        falls = (query[1:] == query[:-1]) & (position[1:] <= position[:-1])
        is_wrong = np.append(False, falls)[: len(query)] | (position > lengths[query])
        is_wrong |= is_below & (position <= self.track.depth)
        if is_wrong.any():
            topic = self.topics[query[int(np.argmax(is_wrong))]]
            raise self._bad(
                f"run {name!r}, topic {topic!r}: positions do not rise, or are not within the ranking"
            )
