"""The rankings of one run, in trec_eval's order: by score as 32-bit floats, ties by document id, both descending."""

from __future__ import annotations

import copy
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from ..messages import brief, is_text, not_an_id
from .arrays import BoolArray, FloatArray, IntArray, ObjectArray, block_starts, object_array, order_by_score
from .ids import Ids, WordArray, order_ties, repeated

if TYPE_CHECKING:
    from numpy.typing import NDArray


# Tops to earlier cutoffs are kept up to so many rows, or as many as the run has: measures use a few in turn.
_LEAST_KEPT = 1 << 12
_PART = 1 << 15  # rows that fit into the processor's cache

#: The smallest size of a score that is no finite 32-bit float any more.
TOO_LARGE = 2.0**128 - 2.0**103
#: What to do about such a score.
NOT_FINITE = "give a finite number, of a size below 3.4e38: trec_eval compares 32-bit floats"

#: How deep adjacent documents are compared.
TIES_DEPTH = 10


@dataclass(eq=False)
class Cut:
    """The known part of rankings that are cut: their first ``depth`` documents, and the ``listed`` ones."""

    source: str  #: the name of the source in messages
    depth: int
    listed: Any  #: the ``Documents`` with known positions at any depth; nothing is known of other queries
    citation: str = ""  #: of the track, as in "trec-dl-2019 v1 (37 runs, sha256 1f3a…)"
    n_runs: int = 0  #: how many runs the track has
    without_self: bool = False  #: whether the document whose id is the query's was removed

    def refuse(self, needed: int | None, subject: str = "this", times: int = 1) -> ValueError:
        """Return the error for reading deeper than is known; a measure reads ``times`` its cutoff."""
        reads = "whole rankings" if needed is None else f"the first {needed} documents"
        remedy = f"make it with {'a larger depth=' if needed is None else f'depth={needed}'}"
        remedy += f", or use @{self.depth // times}" if self.depth >= times else ""
        return ValueError(f"{subject} needs {reads}; {self.source} has {self.depth}: {remedy}")

    def refuse_document(self, run: str, query_id: str, doc_id: str) -> ValueError:
        """Return the error for a document whose position is unknown."""
        return ValueError(
            f"{self.source} does not know where {run} ranks {doc_id!r} of topic {query_id!r}: make it again with these "
            f"judgments, or use a cutoff of at most {self.depth}"
        )


@dataclass(eq=False)
class TopDocs:
    """The first documents of each ranking: rows sorted by query, then by position."""

    query: IntArray  #: index into ``Rankings.query_ids``, one a row
    position: IntArray  #: 1-based position in the ranking, one a row
    ids: Ids  #: the documents
    hashes: WordArray  #: ``ids.hashes()``
    score: NDArray[np.float32]  #: as it is compared; equal where two documents of a query are tied

    @cached_property
    def doc_ids(self) -> ObjectArray:
        """The documents as strings."""
        return self.ids.strings()

    def break_ties(self, cutoff: int | None) -> TopDocs:
        """Return the documents to the cutoff, with tied ids in descending order."""
        is_first = np.ones(len(self.query) + 1, dtype=bool)
        is_first[1:-1] = (self.score[1:] != self.score[:-1]) | (self.query[1:] != self.query[:-1])
        rows, ordered = order_ties(self.ids, is_first)
        if len(rows):
            order = np.arange(len(self.query))
            order[rows] = ordered
            self.ids, self.hashes = self.ids.take(order), self.hashes[order]
        if cutoff is None or self.position.max(initial=0) <= cutoff:
            return self
        keep = self.position <= cutoff
        ids, hashes = self.ids.take(keep), self.hashes[keep]
        return TopDocs(self.query[keep], self.position[keep], ids, hashes, self.score[keep])


class Rankings:
    """The rankings of one run, one per query; ids are read only down to the depth that a measure needs.

    Attributes:
        name: the name of the run in messages.
        tag: the only value of the run's ``name`` column, or its TREC run tag; None if there is none.
        group: the only value of the run's ``group`` column; '' if it holds none or several, None without one.
        query_ids: the queries, each once.
        starts: the rows of query ``i`` are ``starts[i]:starts[i + 1]``.
        ranks: the given ranks of the rows, if there are any and most of the first documents tie; else None.
        asked: queries that the run was asked; one without rows has an empty ranking, and is not missing.
        ends_within_row: whether the file of the run is cut in the middle of its last row.
        cut: the known part of rankings that are cut, as in a track; None for whole rankings.
    """

    cut: Cut | None = None

    def __init__(
        self,
        query_ids: Ids | ObjectArray,
        doc_ids: Ids | ObjectArray,
        scores: NDArray[np.float64],
        *,
        name: str = "the run",
        tag: str | None = None,
        group: str | None = None,
        asked: Collection[str] = (),
    ) -> None:
        """Take one query id, document id and score per row, in any order; the arrays are kept, not copied."""
        self.name, self.tag, self.group, self.asked, self.ends_within_row = name, tag, group, asked, False
        with np.errstate(over="ignore"):  # trec_eval holds C floats
            score32 = scores.astype(np.float32)
        finite = np.isfinite(score32)
        if not finite.all():
            row = int(np.argmin(finite))
            query, doc = (c.string(row) if isinstance(c, Ids) else c[row] for c in (query_ids, doc_ids))
            raise ValueError(
                f"{name}: query {brief(query)}, document {brief(doc)} has the score {scores[row]}; {NOT_FINITE}"
            )
        starts, heads = query_blocks(query_ids, name, "the qrels")
        lengths = np.diff(starts, append=len(query_ids))
        in_order = len(set(heads)) == len(heads)  # whether the rows of each query are adjacent
        if in_order:
            falls = score32[1:] <= score32[:-1]
            falls[starts[1:] - 1] = True
            in_order = bool(falls.all())
        order: IntArray | None = None
        if not in_order:
            index = {q: i for i, q in enumerate(dict.fromkeys(heads))}
            code = np.repeat(np.array([index[q] for q in heads], dtype=np.int64), lengths)
            order = order_by_score(code, score32)
            heads, lengths = object_array(index), np.bincount(code, minlength=len(index))
        self.query_ids = heads
        self.starts: IntArray = np.append(0, np.cumsum(lengths)).astype(np.int64)
        self._scores = score32 if order is None else score32[order]
        self.ranks: NDArray[np.float64] | None = None
        self._given = scores
        self._doc_ids = doc_ids
        self._order = order if order is None or len(order) >= 2**31 else order.astype(np.int32)
        self._top: dict[int, TopDocs] = {}
        self._checked = False  # whether check_documents passed

    def __len__(self) -> int:
        return len(self._scores)

    @property
    def lengths(self) -> IntArray:
        """The number of documents of each ranking."""
        return np.diff(self.starts)

    def is_whole_to(self, depth: int | None) -> bool:
        """Return whether the rankings are complete to a depth, or to their end."""
        return True

    def __repr__(self) -> str:
        return f"<Rankings {self.name}: {len(self.query_ids)} queries, {len(self)} rows>"

    def top(self, cutoff: int | None = None) -> TopDocs:
        """Return the first ``cutoff`` documents of every ranking, or all, with ties broken."""
        if cutoff is None:  # as large as the run: not kept
            return self.by_score().break_ties(None)
        top = self._top.get(cutoff)
        if top is None:
            top = self.by_score(cutoff).break_ties(cutoff)
            if sum(len(kept.query) for kept in list(self._top.values())) > max(len(self), _LEAST_KEPT):
                self._top.clear()
            self._top[cutoff] = top
        return top

    def with_attributes(self, **attributes: Any) -> Rankings:
        """Return the same rankings with another ``name``, ``tag`` or ``group``, or other queries ``asked``."""
        other = copy.copy(self)
        other.__dict__.update(attributes)
        return other

    def select_query(self, query_id: str) -> Rankings:
        """Return the ranking of one query, on the same rows; empty rankings if there is none."""
        at = np.flatnonzero(self.query_ids == query_id)
        return self._slice_queries(int(at[0]), int(at[0]) + 1) if len(at) else self._slice_queries(0, 0)

    def parts(self) -> Iterator[Rankings]:
        """Yield the rankings of a few queries at a time, which stay in the processor's cache; on the same rows."""
        cuts = np.searchsorted(self.starts, np.arange(0, len(self), _PART))
        for first, end in pairwise(sorted({*cuts.tolist(), len(self.query_ids)})):
            yield self._slice_queries(first, end)

    def _slice_queries(self, first: int, end: int) -> Rankings:
        rows = slice(int(self.starts[first]), int(self.starts[end]))
        some = copy.copy(self)
        some.query_ids = self.query_ids[first:end]
        some.starts = self.starts[first : end + 1] - rows.start
        some._scores = self._scores[rows]
        if self._order is None:
            some._given = self._given[rows]
            some.ranks = None if self.ranks is None else self.ranks[rows]
            docs = self._doc_ids
            some._doc_ids = docs.take(rows) if isinstance(docs, Ids) else docs[rows]
        else:
            some._order = self._order[rows]
        some._top = {}
        return some

    @property
    def given_scores(self) -> NDArray[np.float64]:
        """The scores of the rows as they were given; ValueError if they were changed since, as no copy is kept."""
        given = self.unrounded_scores(slice(None))
        with np.errstate(over="ignore"):
            if (given.astype(np.float32) != self._scores).any():
                raise ValueError(f"{self.name}: its scores were changed in place; make a new context of it")
        return given

    def without_self(self) -> Rankings:
        """Return the rankings without the document whose id is the query's; the same where there is none."""
        query, ids, _ = self.rows()
        keep = ~ids.equal(np.arange(len(query)), Ids.of(self.query_ids), query)
        if keep.all():
            return self
        counts = np.bincount(query[keep], minlength=len(self.query_ids))
        other = copy.copy(self)
        other.query_ids = self.query_ids[counts > 0]
        other.asked = frozenset([*self.asked, *self.query_ids[counts == 0]])
        other.starts = np.append(0, np.cumsum(counts[counts > 0]))
        other._scores = self._scores[keep]
        other._order = np.flatnonzero(keep) if self._order is None else self._order[keep]
        other._top = {}
        return other

    def unrounded_scores(self, rows: IntArray | slice) -> NDArray[np.float64]:
        """Return the scores of some rows as they were given, in 64 bits."""
        return self._given[rows if self._order is None else self._order[rows]]

    def to_dict(self, cutoff: int | None = None, *, unlike: Ids | None = None) -> dict[str, dict[str, float]]:
        """Return the first ``cutoff`` of each ranking as a dict for ir_measures; scores fall by one per rank."""
        top = self.top(cutoff)
        bounds = np.searchsorted(top.query, np.arange(len(self.query_ids) + 1))
        return _as_dicts(self.query_ids, top.ids, (-top.position).astype(np.float64), bounds)

    def as_given(self) -> dict[str, dict[str, float]]:
        """Return each ranking as a dict for ir_measures, with the scores given; equal ones in the given order."""
        if not self._checked:
            self.check_documents()
        return _as_dicts(self.query_ids, self.rows()[1], self.given_scores, self.starts)

    def rows(self) -> tuple[IntArray, Ids, NDArray[np.float32]]:
        """Return every row: its query as an index into ``query_ids``, ascending; its document; its 32-bit score."""
        query = np.repeat(np.arange(len(self.query_ids)), np.diff(self.starts))
        return query, self.ids_at(slice(None)), self._scores

    def check_documents(self) -> None:
        """Raise ValueError for a document that is duplicated in a ranking, or an id that is not a string."""
        for _ in hashed_parts(self):
            pass

    def positions_at(self, rows: IntArray, ids: Ids) -> IntArray:
        """Return the 1-based positions of some rows, ascending, with ties broken; ``ids`` are those of all rows."""
        n = len(self)
        is_first = np.ones(n + 1, dtype=bool)
        np.not_equal(self._scores[1:], self._scores[:-1], out=is_first[1:n])
        is_first[self.starts] = True
        tied, ordered = order_ties(ids, is_first, rows)
        if len(tied):
            place = np.arange(n)
            place[ordered] = tied
            rows = place[rows]
        query = np.searchsorted(self.starts, rows, side="right") - 1
        return rows - self.starts[query] + 1

    def by_score(self, cutoff: int | None = None) -> TopDocs:
        """Return :meth:`top` before ties are broken, with all documents that tie with the last one."""
        starts, counts = self.starts[:-1], np.diff(self.starts)
        if cutoff is not None:
            # Only ids can tell which of the rows with the last score are within the cutoff.
            ends = starts + np.minimum(counts, min(cutoff, len(self)))
            counts = _move_behind_ties(ends, self.starts[1:], self._scores) - starts
        query = np.repeat(np.arange(len(counts)), counts)
        position = np.arange(1, len(query) + 1) - np.repeat(np.cumsum(counts) - counts, counts)
        rows: IntArray | slice = slice(None) if cutoff is None else starts[query] + position - 1
        ids = self.ids_at(rows)
        hashes = ids.hashes()
        if not self._checked:
            _check_repeats(self, query, ids, hashes)
        return TopDocs(query, position, ids, hashes, self._scores[rows])

    def ids_at(self, rows: IntArray | slice) -> Ids:
        """Return the document ids of some rows; ValueError for one that is not a string."""
        at = rows if self._order is None else self._order[rows]
        if isinstance(self._doc_ids, Ids):
            return self._doc_ids.take(at)
        strings = self._doc_ids[at]
        try:
            return Ids.of(strings)
        except (TypeError, UnicodeEncodeError):
            row, bad = next((i, d) for i, d in enumerate(strings) if not is_text(d))
            query = int(np.searchsorted(self.starts, np.arange(len(self))[rows][row], side="right")) - 1
            query_id, reason = self.query_ids[query], not_an_id(bad, "document", "the qrels")
            raise ValueError(f"{self.name}: query {brief(query_id)}: {reason}") from None


def hashed_parts(run: Rankings) -> Iterator[tuple[Rankings, Ids, WordArray]]:
    """Yield :meth:`Rankings.parts` with their ids and hashes; ValueError for a document listed twice."""
    for part in run.parts():
        query, ids, _ = part.rows()
        hashes = ids.hashes()
        if not run._checked:
            _check_repeats(part, query, ids, hashes)
        yield part, ids, hashes
    run._checked = True


def hold_same_rows(a: Rankings, b: Rankings) -> bool:
    """Return whether two runs have the same rows in the same order, which shows quickly that they rank alike."""
    columns = ((a.starts, b.starts), (a._scores, b._scores), (a.query_ids, b.query_ids))
    if not all(np.array_equal(*pair) for pair in columns):
        return False
    a_docs, b_docs = (run._doc_ids if run._order is None else run._doc_ids.take(run._order) for run in (a, b))
    if isinstance(a_docs, Ids) or isinstance(b_docs, Ids):
        rows = np.arange(len(a))
        return bool(a.ids_at(slice(None)).equal(rows, b.ids_at(slice(None)), rows).all())
    try:
        return np.array_equal(a_docs, b_docs)
    except TypeError:  # pandas' NA is neither equal nor unequal to anything
        return False


def has_many_ties(run: Rankings) -> bool:
    """Return whether most first documents tie, so that the ranks given, otherwise ignored, may order them."""
    _, tied = ties_in_top(run)
    return bool(2 * np.count_nonzero(tied) > len(tied))


def ties_in_top(run: Rankings) -> tuple[IntArray, BoolArray]:
    """Return the rows at ranks 2 to 10 of all rankings, and which of them have the score of the row above."""
    rows = run.starts[:-1, None] + np.arange(1, TIES_DEPTH)
    rows = rows[rows < run.starts[1:, None]]
    return rows, run._scores[rows] == run._scores[rows - 1]


def tie_key(run: Rankings, rows: IntArray) -> FloatArray:
    """Return the key by which a run itself orders tied rows, ascending: ranks, else scores in 64 bits."""
    if run.ranks is None:
        return -run.unrounded_scores(rows)
    return run.ranks[rows if run._order is None else run._order[rows]]


def _move_behind_ties(ends: IntArray, last: IntArray, scores: NDArray[np.float32]) -> IntArray:
    """Return the end of each ranking's top, moved behind the rows that tie with its last row."""
    tied = np.flatnonzero((ends < last) & (scores[ends - 1] == scores[np.minimum(ends, last - 1)]))
    if not len(tied):
        return ends
    # The first row below each end with another score.
    start, counts = ends[tied], last[tied] - ends[tied]
    at = np.cumsum(counts) - counts
    row = np.arange(counts.sum()) - np.repeat(at - start, counts)
    differs = scores[row] != np.repeat(scores[start - 1], counts)
    result = ends.copy()
    result[tied] = np.minimum(np.minimum.reduceat(np.where(differs, row, len(scores)), at), last[tied])
    return result


def _check_repeats(run: Rankings, query: IntArray, ids: Ids, hashes: WordArray) -> None:
    rows = repeated(query, ids, hashes)
    if rows is not None:
        query_id, doc_id = run.query_ids[query[rows[1]]], ids.string(rows[1])
        raise ValueError(
            f"{run.name}: query {brief(query_id)} lists document {brief(doc_id)} more than once; drop the duplicates, "
            "or give the runs of one table one by one"
        )


def _as_dicts(query_ids: ObjectArray, ids: Ids, scores: NDArray[Any], bounds: IntArray) -> dict[str, Any]:
    docs, score, cuts = ids.strings().tolist(), scores.tolist(), bounds.tolist()
    return {
        q: dict(zip(docs[a:b], score[a:b], strict=True))
        for q, a, b in zip(query_ids, cuts[:-1], cuts[1:], strict=True)
    }


def query_blocks(query_ids: Ids | ObjectArray, source: str, elsewhere: str) -> tuple[IntArray, ObjectArray]:
    """Return the first row of each block of rows of one query, and its query id; ValueError if that is no string."""
    if isinstance(query_ids, Ids):
        starts = query_ids.changes()
        return starts, query_ids.take(starts).strings()
    starts = block_starts(query_ids)
    heads = query_ids[starts]
    for head in heads:
        is_plain = isinstance(head, str) and head.isascii() and "\0" not in head
        if not is_plain and not is_text(head):
            raise ValueError(f"{source}: {not_an_id(head, 'query', elsewhere)}")
    return starts, heads


def known_depth(runs: Iterable[Rankings], depth: int | None) -> int | None:
    """Return the depth, at most ``depth``, to which all of these runs are complete."""
    depths = (run.cut.depth for run in runs if run.cut is not None and not run.is_whole_to(depth))
    return min(depths, default=depth)
