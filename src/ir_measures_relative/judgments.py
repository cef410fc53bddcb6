"""The judged documents of every query, and where they stand in a run.

Everything but MED asks a run only one thing: at which position does it hold each judged document?
:meth:`Judgments.positions_in` answers for all of them at once, so that the measures are arithmetic on arrays with
one entry a judged document.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from .arrays import BoolArray, IntArray, ObjectArray, rank_within
from .ids import Ids, WordArray, pair_keys
from .messages import is_missing, warn
from .rankings import Rankings

#: What stands in TREC's second column where it names no aspect.
NO_ASPECT = ("0", "Q0", "")

#: What messages say of such judgments.
NAME_NO_ASPECT = (
    "the qrels name none: their column 'iteration', the second of a TREC file, is 0 or missing; give qrels with a row "
    "for each document and aspect, such as those of a diversity task"
)


class Labels(NamedTuple):
    """The judgments row by row as they were given, grouped by query: a document has a row for each of its aspects."""

    query: IntArray  #: ascending
    ids: Ids
    aspect: Ids | ObjectArray  #: as it was given, of any type
    grade: IntArray

    def take(self, rows: IntArray) -> Labels:
        """Some of the rows."""
        aspect = self.aspect.take(rows) if isinstance(self.aspect, Ids) else self.aspect[rows]
        return Labels(self.query[rows], self.ids.take(rows), aspect, self.grade[rows])

    def aspect_ids(self) -> Ids:
        """The aspects as texts, whatever they were given as; '' for a missing one."""
        if isinstance(self.aspect, Ids):
            return self.aspect
        return Ids.of(["" if is_missing(value) else str(value) for value in self.aspect])


@dataclass(frozen=True, eq=False)
class Aspects:
    """The aspects of every query (subtopics, intents, nuggets), and the label of each document for each.

    Aspects are numbered by query, and within a query by name, from the last to the first. An aspect of another query
    is another aspect.
    """

    query: IntArray  #: the query of each aspect, ascending
    names: ObjectArray  #: of each aspect
    document: IntArray  #: of each label: the row of its document among the judgments
    aspect: IntArray  #: of each label: its aspect; each pair of a document and an aspect stands once
    grade: IntArray  #: of each label

    def __len__(self) -> int:
        return len(self.query)


class Judgments:
    """The judged documents of every query, one row a (query, document), grouped by query.

    Attributes:
        query_ids: the queries, in the order of the qrels.
        query: the query of each row, as an index into ``query_ids``, ascending.
        ids: the document of each row.
        grade: the judged relevance of each row; of a document that is judged for several aspects the last label that
            was given, which is what ir_measures takes for it.
        labels: all labels, where they name aspects.
    """

    def __init__(
        self, query_ids: ObjectArray, query: IntArray, ids: Ids, grade: IntArray, labels: Labels | None = None
    ) -> None:
        self.query_ids = query_ids
        self.query = query
        self.ids = ids
        self.grade = grade
        self.labels = labels
        self._selected_from: tuple[Judgments, BoolArray] | None = None

    @classmethod
    def none_of(cls, query_ids: ObjectArray) -> Judgments:
        """Queries without a judgment."""
        nothing = np.empty(0, dtype=np.int64)
        return cls(query_ids, nothing, Ids.of([]), nothing)

    @property
    def n_queries(self) -> int:
        return len(self.query_ids)

    def __len__(self) -> int:
        return len(self.query)

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
    def relevant(self) -> Judgments:
        """The rows with a grade above 0; all a measure needs that gives no gain to the others."""
        keep = self.grade > 0
        return self if keep.all() else self.select(keep)

    def select(self, keep: BoolArray) -> Judgments:
        """The rows where ``keep`` is true; the queries stay, also those left without a row."""
        selected = Judgments(self.query_ids, self.query[keep], self.ids.take(keep), self.grade[keep])
        selected._selected_from = self, keep
        return selected

    def of_query(self, query_id: str) -> Judgments:
        """The rows of one query alone, which is here; nothing that is computed here is used there."""
        code = self.query_code[query_id]
        rows = slice(int(self.starts[code]), int(self.starts[code + 1]))
        query = np.zeros(rows.stop - rows.start, dtype=np.int64)
        labels = self.labels
        if labels is not None:
            labels = labels.take(np.flatnonzero(labels.query == code))
            labels = labels._replace(query=np.zeros(len(labels.query), dtype=np.int64))
        return Judgments(
            self.query_ids[code : code + 1], query, self.ids.take(rows), self.grade[rows], labels
        )

    @property
    def has_aspects(self) -> bool:
        """Whether documents are judged for several aspects of their query, such as nuggets."""
        return self.labels is not None and len(self.labels.query) > len(self)

    def unlike_labels(self) -> tuple[str, str] | None:
        """A query and a document with different labels for its aspects; None where there is none."""
        labels = self.labels
        if labels is None:
            return None
        row = self.rows_of(labels.query, labels.ids)
        unlike = np.flatnonzero(labels.grade != self.grade[row])
        return (
            (self.query_ids[self.query[row[unlike[0]]]], self.ids.string(row[unlike[0]]))
            if len(unlike)
            else None
        )

    @cached_property
    def aspects(self) -> Aspects:
        """The labels of documents for aspects.

        Raises:
            ValueError: the judgments name no aspect.
        """
        labels = self.labels
        if labels is None:
            raise ValueError(NAME_NO_ASPECT)
        texts = labels.aspect_ids()
        nameless = np.flatnonzero(texts.lengths == 0)
        if len(nameless):
            query, doc = self.query_ids[labels.query[nameless[0]]], labels.ids.string(nameless[0])
            raise ValueError(
                f"the qrels: query {query!r}, document {doc!r} has a label without an aspect (column 'iteration'), and "
                "others have one; name the aspect of every label, or drop the column"
            )
        order = texts.descending(labels.query)
        new = np.ones(len(order), dtype=bool)
        new[1:] = labels.query[order[1:]] != labels.query[order[:-1]]
        new[1:] |= ~texts.equal(order[1:], texts, order[:-1])
        aspect = np.empty(len(order), dtype=np.int64)
        aspect[order] = np.cumsum(new) - 1
        document = self.rows_of(labels.query, labels.ids)
        # A document that is judged twice for one aspect keeps the last label.
        pair = aspect * max(len(self), 1) + document
        by_pair = np.argsort(pair, kind="stable")
        last = np.append(pair[by_pair[1:]] != pair[by_pair[:-1]], True)[: len(pair)]
        kept, first = by_pair[last], order[new]
        _warn_of_labels(self, labels, by_pair, last)
        names = texts.take(first).strings()
        found = Aspects(labels.query[first], names, document[kept], aspect[kept], labels.grade[kept])
        _warn_of_no_aspect(self, found)
        return found

    @cached_property
    def query_code(self) -> dict[str, int]:
        """From query id to its index."""
        return {q: i for i, q in enumerate(self.query_ids)}

    @cached_property
    def _keys(self) -> tuple[int, WordArray, IntArray]:
        """The seed of the hash, the key of each row, ascending, and the row of each key."""
        seed = 0
        while True:
            keys = pair_keys(self.query, self.ids.hashes(seed))
            order = np.argsort(keys)
            same = np.flatnonzero(keys[order[1:]] == keys[order[:-1]])
            if len(same):  # a repeat, whose rows stay in their order, or two documents with one key
                order = np.argsort(keys, kind="stable")
            keys = keys[order]
            a, b = order[same], order[same + 1]
            if (self.query[a] == self.query[b]).all() and self.ids.equal(a, self.ids, b).all():
                return seed, keys, order
            seed += 1  # two documents with one key: another hash

    def repeats(self) -> tuple[IntArray, IntArray]:
        """The rows of a pair that stands more than once but for its last row, and that last row for each."""
        _, keys, order = self._keys
        more = keys[1:] == keys[:-1]
        is_last = np.append(~more, True)[: len(keys)]
        last = order[is_last]
        return order[:-1][more], last[np.searchsorted(keys[is_last], keys[:-1][more])]

    def queries_of(self, rankings: Rankings) -> IntArray:
        """For each query of the run, its index here; -1 for one that is not judged."""
        get = self.query_code.get
        ids = rankings.query_ids
        return np.fromiter((get(q, -1) for q in ids), dtype=np.int64, count=len(ids))

    @cached_property
    def _first_bits(self) -> tuple[np.uint64, BoolArray]:
        """How far to shift a key for its first bits, and whether any key here has these: most others do not."""
        _, keys, _ = self._keys
        shift = np.uint64(64 - min(max(len(keys), 1).bit_length() + 3, 24))
        taken = np.zeros(2 ** (64 - int(shift)), dtype=bool)
        taken[(keys >> shift).view(np.int64)] = True
        return shift, taken

    def rows_of(self, query: IntArray, ids: Ids, hashes: WordArray | None = None) -> IntArray:
        """The row of each (query index, document id), -1 for one not here; ``hashes`` are the ids', where known."""
        row = np.full(len(query), -1, dtype=np.int64)
        if not len(self) or not len(query):
            return row
        seed, keys, order = self._keys
        shift, taken = self._first_bits
        wanted = pair_keys(query, ids.hashes(seed) if seed or hashes is None else hashes)
        asked = np.flatnonzero(taken[(wanted >> shift).view(np.int64)])
        wanted = wanted[asked]
        at = np.minimum(_search(keys, wanted), len(keys) - 1)
        hit = np.flatnonzero(keys[at] == wanted)
        found, asked = order[at[hit]], asked[hit]
        true = (self.query[found] == query[asked]) & self.ids.equal(found, ids, asked)
        row[asked[true]] = found[true]
        return row

    def positions_in(
        self, rankings: Rankings, cutoff: int | None = None, judged_only: bool = False
    ) -> IntArray:
        """The 1-based position at which the run ranks each row's document; 0 where it is not in the top ``cutoff``.

        Args:
            judged_only: in the rankings that are left when every unjudged document is taken out. As in trec_eval's
                ``-J``, a document with a negative label counts as unjudged.
        """
        if judged_only:
            return self._positions_among_judged(rankings, cutoff)
        result = np.zeros(len(self), dtype=np.int64)
        for part in [rankings] if cutoff is not None else rankings.parts():
            top = part.by_score() if cutoff is None else part.top(cutoff)
            row = self.rows_of(self.queries_of(part)[top.query], top.ids, top.hashes)
            order = top.tie_order(row >= 0) if cutoff is None else None
            if order is not None:
                row = row[order]
            found = row >= 0
            result[row[found]] = top.position[found]
        return result

    def _positions_among_judged(self, rankings: Rankings, cutoff: int | None) -> IntArray:
        if self._selected_from is not None:  # judged is what the whole qrels hold
            whole, keep = self._selected_from
            return whole._positions_among_judged(rankings, cutoff)[keep]
        full = self.positions_in(rankings)
        found = np.flatnonzero((full > 0) & (self.grade >= 0))
        order = found[np.lexsort((full[found], self.query[found]))]
        result = np.zeros(len(self), dtype=np.int64)
        result[order] = rank_within(self.query[order])
        if cutoff is not None:
            result[result > cutoff] = 0
        return result


def _search(keys: WordArray, wanted: WordArray) -> IntArray:
    """``np.searchsorted``, from the smallest to the largest: the next is then near, and in the processor's cache."""
    order = np.argsort(wanted)
    at = np.empty(len(wanted), dtype=np.int64)
    at[order] = np.searchsorted(keys, wanted[order])
    return at


def _warn_of_labels(judgments: Judgments, labels: Labels, order: IntArray, last: BoolArray) -> None:
    """Warns of a document that has two labels for one aspect."""
    clash = np.flatnonzero(~last[:-1] & (labels.grade[order[:-1]] != labels.grade[order[1:]]))
    if len(clash):
        row = order[clash[0]]
        warn(
            f"the qrels judge {len(clash)} (query, document, aspect) twice with different labels, e.g. query "
            f"{judgments.query_ids[labels.query[row]]!r}, document {labels.ids.string(row)!r}; the last label counts"
        )


def _warn_of_no_aspect(judgments: Judgments, aspects: Aspects) -> None:
    """Warns of relevant documents that have a label for no aspect alone, where other documents have others.

    Where a document has both, 0 is an aspect that is called so.
    """
    named = ~np.isin(aspects.names, NO_ASPECT)[aspects.aspect]
    unnamed = np.unique(aspects.document[~named & (aspects.grade > 0)])
    if len(unnamed) and named.any() and not np.isin(unnamed, aspects.document[named]).any():
        document = unnamed[0]
        warn(
            f"the qrels hold {len(unnamed)} relevant documents whose labels name no aspect, beside others that name "
            f"one, e.g. of query {judgments.query_ids[judgments.query[document]]!r}, document "
            f"{judgments.ids.string(document)!r}; they count as answers to one more aspect of the query, as in ndeval"
        )
