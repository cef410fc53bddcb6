"""Judgments as they were given: a grade for each judged document, and labels for aspects where there are any."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ..messages import is_missing, warn
from .arrays import BoolArray, IntArray, ObjectArray
from .documents import Documents
from .ids import Ids

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


class Judgments(Documents):
    """Documents that are all judged.

    Of a document that is judged for several aspects ``grade`` is the last label that was given, which is what
    ir_measures takes for it; ``labels`` are all of them, where they name aspects.
    """

    def __init__(
        self, query_ids: ObjectArray, query: IntArray, ids: Ids, grade: IntArray, labels: Labels | None = None
    ) -> None:
        super().__init__(query_ids, query, ids, grade)
        self.labels = labels

    @classmethod
    def none_of(cls, query_ids: ObjectArray) -> Judgments:
        """Queries without a judgment."""
        nothing = np.empty(0, dtype=np.int64)
        return cls(query_ids, nothing, Ids.of([]), nothing)

    @classmethod
    def of(cls, docs: Documents) -> Judgments:
        """The documents with an id as though each were judged by its grade."""
        some = docs if docs.exists.all() else docs.select(docs.exists)
        return cls(some.query_ids, some.query, some.ids, some.grade)

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

    def kept(self, keep: BoolArray) -> Judgments:
        """Those of some documents, as though the others had no label.

        A query that would have no label keeps its first, as not relevant: so it counts, with the values of a query
        without relevant documents, by ir_measures' measures as well.
        """
        counts = np.bincount(self.query[keep], minlength=self.n_queries)
        first = self.starts[:-1][(counts == 0) & (np.diff(self.starts) > 0)]
        keep, grade = keep.copy(), self.grade.copy()
        keep[first] = True
        grade[first] = np.minimum(grade[first], 0)
        labels = self.labels
        if labels is not None:  # a document loses all of its labels
            row = self.rows_of(labels.query, labels.ids)
            lowered = np.where(np.isin(row, first), np.minimum(labels.grade, 0), labels.grade)
            labels = labels._replace(grade=lowered).take(np.flatnonzero(keep[row]))
        left = Judgments(self.query_ids, self.query[keep], self.ids.take(keep), grade[keep], labels)
        left.stand_for(self, keep)
        return left

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
