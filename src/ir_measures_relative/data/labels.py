"""The rows of judgments as they were given, and the aspects that they name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from ..messages import is_missing
from .arrays import IntArray, ObjectArray
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
    ids: Ids  #: of the documents
    aspect: Ids | ObjectArray  #: as it was given, of any type
    grade: IntArray  #: by document and aspect

    def take(self, rows: IntArray) -> Labels:
        """Return some of the rows."""
        aspect = self.aspect.take(rows) if isinstance(self.aspect, Ids) else self.aspect[rows]
        return Labels(self.query[rows], self.ids.take(rows), aspect, self.grade[rows])

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
    aspect: IntArray  #: the aspect of each label; each pair of a document and an aspect stands once
    grade: IntArray  #: of each label

    def __len__(self) -> int:
        return len(self.query)
