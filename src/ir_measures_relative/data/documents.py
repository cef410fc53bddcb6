"""Documents of queries as arrays, judged or not, and their labels."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import repeat
from typing import Any, NamedTuple

import numpy as np

from ..messages import is_missing, warn
from .arrays import BoolArray, IntArray, ObjectArray, rank_within
from .ids import Ids, WordArray, pair_keys, search
from .rankings import Rankings, hashed_parts

# Cached attributes that do not depend on grades, which other grades of the same rows share.
_OF_ROWS = ("doc_ids", "starts", "query_code", "_keys", "_first_bits")


class Documents:
    """Documents of every query, one row per (query, document), grouped by query; immutable.

    Attributes:
        query_ids: the queries, in the order of the qrels.
        query: of each row, an index into ``query_ids``, ascending.
        ids: the document of each row.
        grade: the relevance of each row; 0 where it is unjudged.
        judged: which rows are judged.
        exists: which rows are documents. The others stand for relevant documents that no run retrieves.
        version: a key for which rows these are, whatever their grades.
        selected_from: the documents that these were selected from, and which of those they are; None if from none.
    """

    def __init__(
        self,
        query_ids: ObjectArray,
        query: IntArray,
        ids: Ids,
        grade: IntArray,
        *,
        judged: BoolArray | None = None,
        exists: BoolArray | None = None,
    ) -> None:
        self.query_ids = query_ids
        self.n_queries = len(query_ids)
        self.query = query
        self.ids = ids
        self.grade = grade
        self.judged: BoolArray = np.ones(len(query), dtype=bool) if judged is None else judged
        self.exists: BoolArray = np.ones(len(query), dtype=bool) if exists is None else exists
        self.version: Hashable = object()
        self.selected_from: tuple[Documents, BoolArray] | None = None
        self._listed: dict[Any, BoolArray] = {}  # which rows a track lists, for each Cut

    def __len__(self) -> int:
        return len(self.query)

    @property
    def nbytes(self) -> int:
        """The approximate size in bytes."""
        columns = self.query, self.grade, self.judged, self.exists, self.ids.starts, self.ids.ends
        return sum(column.nbytes for column in columns)

    @cached_property
    def doc_ids(self) -> ObjectArray:
        """The document of each row, as a string."""
        return self.ids.strings()

    @cached_property
    def starts(self) -> IntArray:
        """The rows of query ``i`` are ``starts[i]:starts[i + 1]``."""
        counts = np.bincount(self.query, minlength=self.n_queries)
        return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)

    @cached_property
    def relevant(self) -> Documents:
        """The rows with a grade above 0, which are all that a measure needs whose other grades gain nothing."""
        keep = self.grade > 0
        return self if keep.all() else self.select(keep)

    @cached_property
    def may_gain(self) -> Documents:
        """The rows with a grade above 0, and the unjudged ones, which further judgments may raise."""
        return self.relevant if self.judged.all() else self.select((self.grade > 0) | ~self.judged)

    def select(self, keep: BoolArray) -> Documents:
        """Return the rows where ``keep`` is true; all queries stay."""
        columns = self.query[keep], self.ids.take(keep), self.grade[keep]
        selected = Documents(self.query_ids, *columns, judged=self.judged[keep], exists=self.exists[keep])
        selected.selected_from = self, keep  # so that positions are selected too, and not computed again
        selected.version = self.version, np.packbits(keep).tobytes()
        return selected

    def sources(self) -> Iterator[tuple[Documents, IntArray]]:
        """Yield the documents that these were selected from, and so on up, with the rows of these among them."""
        docs, rows = self, np.arange(len(self) if self.selected_from else 0)
        while docs.selected_from is not None:
            docs, keep = docs.selected_from
            rows = np.flatnonzero(keep)[rows]
            yield docs, rows

    def graded(self, grade: IntArray) -> Documents:
        """Return the same rows, all judged, with these grades; what does not depend on grades is shared."""
        other = Documents(self.query_ids, self.query, self.ids, grade, exists=self.exists)
        other.version = self.version
        other.__dict__.update({name: self.__dict__[name] for name in _OF_ROWS if name in self.__dict__})
        return other

    def followed_by(self, *more: Documents) -> Documents:
        """Return these rows and more, of the same queries, sorted by query."""
        parts = [self, *more]
        query = np.concatenate([part.query for part in parts])
        order = np.argsort(query, kind="stable")
        ids = self.ids
        for part in more:
            ids = ids.followed_by(part.ids)
        grade, judged, exists = (
            np.concatenate([getattr(part, column) for part in parts])[order]
            for column in ("grade", "judged", "exists")
        )
        return Documents(self.query_ids, query[order], ids.take(order), grade, judged=judged, exists=exists)

    @cached_property
    def query_code(self) -> dict[str, int]:
        """The index of each query id."""
        return {q: i for i, q in enumerate(self.query_ids)}

    @cached_property
    def _keys(self) -> tuple[int, WordArray, IntArray]:
        """The seed of the hash, the key of each row that has an id, ascending, and the row of each key."""
        rows, seed = np.flatnonzero(self.exists), 0
        query, ids = self.query, self.ids
        if len(rows) < len(self):
            query, ids = query[rows], ids.take(rows)
        while True:
            keys = pair_keys(query, ids.hashes(seed))
            order = np.argsort(keys)
            same = np.flatnonzero(keys[order[1:]] == keys[order[:-1]])
            if len(same):  # a repeat, whose rows stay in their order, or two documents with one key
                order = np.argsort(keys, kind="stable")
            keys = keys[order]
            a, b = order[same], order[same + 1]
            if (query[a] == query[b]).all() and ids.equal(a, ids, b).all():
                return seed, keys, rows[order]
            seed += 1  # two documents with one key: another hash

    def repeats(self) -> tuple[IntArray, IntArray]:
        """Return the rows that a later row of the same (query, document) repeats, and the last row of each."""
        _, keys, order = self._keys
        more = keys[1:] == keys[:-1]
        is_last = np.append(~more, True)[: len(keys)]
        last = order[is_last]
        return order[:-1][more], last[np.searchsorted(keys[is_last], keys[:-1][more])]

    def match_queries(self, rankings: Rankings) -> IntArray:
        """Return the index here of each query of the run; -1 for one that is not judged."""
        return self.match_query_ids(rankings.query_ids)

    def match_query_ids(self, query_ids: ObjectArray) -> IntArray:
        """Return the index of each query id here; -1 for one that is not here."""
        codes = map(self.query_code.get, query_ids, repeat(-1))
        return np.fromiter(codes, dtype=np.int64, count=len(query_ids))

    @cached_property
    def _first_bits(self) -> tuple[np.uint64, BoolArray]:
        """The shift that leaves the first bits of a key, and which first bits occur: most ids fail this quick test."""
        _, keys, _ = self._keys
        shift = np.uint64(64 - min(max(len(keys), 1).bit_length() + 5, 24))
        taken = np.zeros(2 ** (64 - int(shift)), dtype=bool)
        taken[(keys >> shift).view(np.int64)] = True
        return shift, taken

    def find_rows(self, query: IntArray, ids: Ids, hashes: WordArray | None = None) -> IntArray:
        """Return the row of each (query index, document id), -1 for one not here; ``hashes``: the ids', if known."""
        row = np.full(len(query), -1, dtype=np.int64)
        if not self.exists.any() or not len(query):
            return row
        seed, keys, order = self._keys
        shift, taken = self._first_bits
        wanted = pair_keys(query, ids.hashes(seed) if seed or hashes is None else hashes)
        candidate = np.flatnonzero(taken[(wanted >> shift).view(np.int64)])
        wanted = wanted[candidate]
        at = np.minimum(search(keys, wanted), len(keys) - 1)
        hit = np.flatnonzero(keys[at] == wanted)
        match, candidate = order[at[hit]], candidate[hit]
        # Equal hashes are not enough.
        same = (self.query[match] == query[candidate]) & self.ids.equal(match, ids, candidate)
        row[candidate[same]] = match[same]
        return row

    def positions_in(self, rankings: Rankings, cutoff: int | None = None) -> IntArray:
        """Return the 1-based position of each row's document in the run; 0 where it is not in the top ``cutoff``."""
        result = np.zeros(len(self), dtype=np.int64)
        is_whole = rankings.cut is None or rankings.is_whole_to(cutoff)
        if cutoff is not None and is_whole:
            top = rankings.top(cutoff)
            row = self.find_rows(self.match_queries(rankings)[top.query], top.ids, top.hashes)
            result[row[row >= 0]] = top.position[row >= 0]
            return result
        for part, ids, hashes in hashed_parts(rankings):
            row = self.find_rows(np.repeat(self.match_queries(part), np.diff(part.starts)), ids, hashes)
            at = np.flatnonzero(row >= 0)
            result[row[at]] = part.positions_at(at, ids)
        if not is_whole:
            _check_positions(self, result, rankings)
            if cutoff is not None:
                result[result > cutoff] = 0
        return result

    def positions_among_judged(self, rankings: Rankings, cutoff: int | None = None) -> IntArray:
        """Return positions among these documents alone, without negative labels, as in trec_eval's ``-J``."""
        full = self.positions_in(rankings)
        rows = np.flatnonzero((full > 0) & (self.grade >= 0))
        order = rows[np.lexsort((full[rows], self.query[rows]))]
        result = np.zeros(len(self), dtype=np.int64)
        result[order] = rank_within(self.query[order])
        if cutoff is not None:
            result[result > cutoff] = 0
        return result


def _check_positions(docs: Documents, position: IntArray, rankings: Rankings) -> None:
    """Raise ValueError for a document that may be in the part of a ranking that is not here."""
    cut, query = rankings.cut, docs.match_queries(rankings)
    assert cut is not None
    if cut not in docs._listed:  # the same for all runs of a track
        query_in_track = cut.listed.match_query_ids(docs.query_ids)
        docs._listed[cut] = cut.listed.find_rows(query_in_track[docs.query], docs.ids) >= 0
    goes_on = np.zeros(docs.n_queries, dtype=bool)
    goes_on[query[query >= 0]] = rankings.lengths[query >= 0] > cut.depth
    unknown = np.flatnonzero(~docs._listed[cut] & (position == 0) & docs.exists & goes_on[docs.query])
    if len(unknown):
        row = int(unknown[0])
        raise cut.refuse_document(rankings.name, docs.query_ids[docs.query[row]], docs.ids.string(row))


#: The values of TREC's second column that name no aspect.
NO_ASPECT = ("0", "Q0", "")

#: The explanation of such judgments in messages.
NAME_NO_ASPECT = (
    "the qrels name none: their column 'iteration', the second of a TREC file, is 0 or missing; give qrels with a row "
    "for each document and aspect, such as those of a diversity task"
)


class Labels(NamedTuple):
    """The judgments row by row as they were given, grouped by query: a document has a row for each of its aspects."""

    query: IntArray  #: ascending
    ids: Ids  #: of the documents
    aspect: Ids | ObjectArray  #: as it was given, of any type
    grade: IntArray  #: by document and aspect

    def take(self, rows: IntArray) -> Labels:
        """Return some of the rows."""
        aspect = self.aspect.take(rows) if isinstance(self.aspect, Ids) else self.aspect[rows]
        return Labels(self.query[rows], self.ids.take(rows), aspect, self.grade[rows])

    def select_queries(self, keep: BoolArray) -> Labels:
        """Return the rows of some queries; the queries are renumbered."""
        some = self.take(np.flatnonzero(keep[self.query]))
        return some._replace(query=(np.cumsum(keep) - 1)[some.query])

    def aspect_ids(self) -> Ids:
        """Return the aspects as strings, from any type; '' for a missing one."""
        if isinstance(self.aspect, Ids):
            return self.aspect
        return Ids.of(["" if is_missing(value) else str(value) for value in self.aspect])


@dataclass(frozen=True, eq=False)
class Aspects:
    """The aspects of every query, each its own, by name from the last to the first; and the documents' labels."""

    query: IntArray  #: the query of each aspect, ascending
    names: ObjectArray  #: of each aspect
    document: IntArray  #: the row of each label's document among the judgments
    aspect: IntArray  #: the aspect of each label; each pair of a document and an aspect is unique
    grade: IntArray  #: of each label


class Judgments(Documents):
    """Judged documents: ``labels`` by aspect where these are named, the last of which is the ``grade``."""

    def __init__(
        self, query_ids: ObjectArray, query: IntArray, ids: Ids, grade: IntArray, labels: Labels | None = None
    ) -> None:
        super().__init__(query_ids, query, ids, grade)
        self.labels = labels

    @classmethod
    def empty(cls, query_ids: ObjectArray) -> Judgments:
        """Return these queries without any judgment."""
        nothing = np.empty(0, dtype=np.int64)
        return cls(query_ids, nothing, Ids.of([]), nothing)

    def doc_ids_of(self, query_id: str) -> ObjectArray:
        """Return the documents of one query, as strings."""
        code = self.query_code[query_id]
        return self.ids.take(slice(int(self.starts[code]), int(self.starts[code + 1]))).strings()

    def select_queries(self, keep: BoolArray) -> Judgments:
        """Return the rows of some queries, as though the others were not judged."""
        rows, code = np.flatnonzero(keep[self.query]), np.cumsum(keep) - 1
        labels = self.labels and self.labels.select_queries(keep)
        query_ids, query = self.query_ids[keep], code[self.query[rows]]
        return Judgments(query_ids, query, self.ids.take(rows), self.grade[rows], labels)

    @property
    def has_aspects(self) -> bool:
        """Whether documents are judged for several aspects of their query, such as nuggets."""
        return self.labels is not None and len(self.labels.query) > len(self)

    def unlike_labels(self) -> tuple[str, str] | None:
        """Return a query and a document with different labels for its aspects; None if there is none."""
        labels = self.labels
        if labels is None:
            return None
        row = self.find_rows(labels.query, labels.ids)
        unlike = row[labels.grade != self.grade[row]]
        return (self.query_ids[self.query[unlike[0]]], self.ids.string(unlike[0])) if len(unlike) else None

    @cached_property
    def aspects(self) -> Aspects:
        """The labels of documents for aspects."""
        labels = self.labels
        if labels is None:
            raise ValueError(NAME_NO_ASPECT)
        texts = labels.aspect_ids()
        nameless = np.flatnonzero(texts.lengths == 0)
        if len(nameless):
            query, doc = self.query_ids[labels.query[nameless[0]]], labels.ids.string(nameless[0])
            raise ValueError(f"the qrels: query {query!r}, document {doc!r} has a label without an aspect")
        order = texts.descending(labels.query)
        new = np.ones(len(order), dtype=bool)
        new[1:] = labels.query[order[1:]] != labels.query[order[:-1]]
        new[1:] |= ~texts.equal(order[1:], texts, order[:-1])
        aspect = np.empty(len(order), dtype=np.int64)
        aspect[order] = np.cumsum(new) - 1
        document = self.find_rows(labels.query, labels.ids)
        # A document that is judged twice for one aspect keeps the last label.
        pair = aspect * max(len(self), 1) + document
        by_pair = np.argsort(pair, kind="stable")
        is_last = np.append(pair[by_pair[1:]] != pair[by_pair[:-1]], True)[: len(pair)]
        last, first = by_pair[is_last], order[new]
        _warn_about_labels(self, labels, by_pair, is_last)
        names = texts.take(first).strings()
        aspects = Aspects(labels.query[first], names, document[last], aspect[last], labels.grade[last])
        _warn_about_no_aspect(self, aspects)
        return aspects


def _warn_about_labels(judgments: Judgments, labels: Labels, order: IntArray, is_last: BoolArray) -> None:
    """Warn of a document that has two labels for one aspect."""
    clash = np.flatnonzero(~is_last[:-1] & (labels.grade[order[:-1]] != labels.grade[order[1:]]))
    if len(clash):
        query, doc = judgments.query_ids[labels.query[order[clash[0]]]], labels.ids.string(order[clash[0]])
        warn(
            f"the qrels judge {len(clash)} (query, document, aspect) twice with different labels, e.g. query "
            f"{query!r}, document {doc!r}; the last label counts: give each aspect one"
        )


def _warn_about_no_aspect(judgments: Judgments, aspects: Aspects) -> None:
    """Warn of relevant documents whose labels name no aspect, where labels of others do."""
    named = ~np.isin(aspects.names, NO_ASPECT)[aspects.aspect]
    unnamed = np.unique(aspects.document[~named & (aspects.grade > 0)])
    if len(unnamed) and named.any() and not np.isin(unnamed, aspects.document[named]).any():
        query, doc = judgments.query_ids[judgments.query[unnamed[0]]], judgments.ids.string(unnamed[0])
        warn(
            f"the qrels hold {len(unnamed)} relevant documents whose labels name no aspect, beside others that name "
            f"one, e.g. of query {query!r}, document {doc!r}; they count as one more aspect of it, as in ndeval: name "
            "their aspects in column two"
        )
