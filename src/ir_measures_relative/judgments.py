"""Qrels -> compact arrays, and where the judged documents stand in a run.

Everything but MED asks a run only one thing: at which position does it hold each judged document?
:meth:`Judgments.positions` answers for all of them at once, so that the measures are arithmetic on arrays with
one entry a judged document.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from functools import cached_property
from itertools import repeat
from typing import Any, TypeAlias

import numpy as np
from ir_measures.util import QrelsConverter
from numpy.typing import NDArray

from .rankings import IntArray, ObjectArray, Rankings, _blocks, object_array, one_column, read_bytes, suspects

#: What qrels may be: what ir_measures takes, PyTerrier's columns too, or the path of a TREC qrels file.
Qrels: TypeAlias = Any

BoolArray: TypeAlias = NDArray[np.bool_]
FloatArray: TypeAlias = NDArray[np.float64]

_COLUMNS = (("query_id", "qid"), ("doc_id", "docno"), ("relevance", "label"))


class Judgments:
    """The judged documents of every query, one row a (query, document), grouped by query.

    Attributes:
        query_ids: the queries, in the order of the qrels.
        query: the query of each row, as an index into ``query_ids``, ascending.
        doc_ids: the document of each row.
        grade: the judged relevance of each row.
        grades: the lowest and the highest relevance in the qrels, where these rows are only a part of them; None
            for those of the rows.
    """

    def __init__(
        self,
        query_ids: ObjectArray,
        query: IntArray,
        doc_ids: ObjectArray,
        grade: IntArray,
        grades: tuple[int, int] | None = None,
    ) -> None:
        self.grades = grades
        self.query_ids = query_ids
        self.query = query
        self.doc_ids = doc_ids
        self.grade = grade

    @property
    def n_queries(self) -> int:
        return len(self.query_ids)

    def __len__(self) -> int:
        return len(self.query)

    @cached_property
    def starts(self) -> IntArray:
        """The rows of query ``i`` are ``starts[i]:starts[i + 1]``."""
        counts = np.bincount(self.query, minlength=self.n_queries)
        return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)

    @property
    def lowest(self) -> int:
        """The lowest relevance in the qrels, 0 if none is below."""
        return min(0, self.grades[0]) if self.grades else int(self.grade.min(initial=0))

    @property
    def highest(self) -> int:
        """The highest relevance in the qrels, 0 if none is above."""
        return max(0, self.grades[1]) if self.grades else int(self.grade.max(initial=0))

    @cached_property
    def relevant(self) -> Judgments:
        """The rows with a grade above 0; all a measure needs that gives no gain to the others."""
        keep = self.grade > 0
        return self if keep.all() else self.select(keep)

    def select(self, keep: BoolArray) -> Judgments:
        """The rows where ``keep`` is true; the queries stay, also those left without a row."""
        return Judgments(self.query_ids, self.query[keep], self.doc_ids[keep], self.grade[keep], self.grades)

    @cached_property
    def _code_of(self) -> dict[str, int]:
        return {d: i for i, d in enumerate(dict.fromkeys(self.doc_ids))}

    @cached_property
    def _query_code(self) -> dict[str, int]:
        return {q: i for i, q in enumerate(self.query_ids)}

    @cached_property
    def _row_keys(self) -> tuple[IntArray, IntArray]:
        """One integer a (query, document), sorted, and the row of each."""
        code = self._codes(self.doc_ids)
        keys = self.query * np.int64(len(self._code_of)) + code
        order = np.argsort(keys, kind="stable")
        return keys[order], order

    def _codes(self, doc_ids: ObjectArray) -> IntArray:
        return np.fromiter(map(self._code_of.get, doc_ids, repeat(-1)), dtype=np.int64, count=len(doc_ids))

    def queries_of(self, rankings: Rankings) -> IntArray:
        """For each query of the run, its index here; -1 for one that is not judged."""
        ids = rankings.query_ids
        return np.fromiter(map(self._query_code.get, ids, repeat(-1)), dtype=np.int64, count=len(ids))

    def rows_of(self, query: IntArray, doc_ids: ObjectArray) -> IntArray:
        """The row of each (query index, document id); -1 for one that is not here."""
        keys, order = self._row_keys
        code = self._codes(doc_ids)
        row = np.full(len(code), -1, dtype=np.int64)
        known = np.flatnonzero((code >= 0) & (query >= 0))
        if len(known):
            wanted = query[known] * np.int64(len(self._code_of)) + code[known]
            at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
            hit = keys[at] == wanted
            row[known[hit]] = order[at[hit]]
        return row

    def positions(self, rankings: Rankings, cutoff: int | None = None) -> IntArray:
        """The 1-based position at which the run ranks each row's document; 0 where it is not in the top ``cutoff``."""
        top = rankings.top(cutoff)
        row = self.rows_of(self.queries_of(rankings)[top.query], top.doc_ids)
        result = np.zeros(len(self), dtype=np.int64)
        found = row >= 0
        result[row[found]] = top.position[found]
        return result

    def positions_among_judged(self, rankings: Rankings, cutoff: int | None = None) -> IntArray:
        """As :meth:`positions`, in the rankings that are left when every unjudged document is taken out.

        As in trec_eval's ``-J``, a document with a negative label counts as unjudged.
        """
        full = self.positions(rankings)
        found = np.flatnonzero((full > 0) & (self.grade >= 0))
        order = found[np.lexsort((full[found], self.query[found]))]
        result = np.zeros(len(self), dtype=np.int64)
        result[order] = rank_within(self.query[order])
        if cutoff is not None:
            result[result > cutoff] = 0
        return result


def rank_within(group: IntArray) -> IntArray:
    """1, 2, 3 … within each run of equal values; ``group`` is sorted."""
    starts = np.flatnonzero(np.diff(group, prepend=group[:1] - 1)) if len(group) else np.empty(0, dtype=np.int64)
    counts = np.diff(np.append(starts, len(group)))
    return np.arange(1, len(group) + 1) - np.repeat(starts, counts)


def qrels_columns(qrels: Qrels) -> tuple[ObjectArray, ObjectArray, NDArray[Any]]:
    """The query id, document id and relevance of every judgment, in the order given.

    Raises:
        ValueError: qrels in no known form, or a DataFrame that lacks a column; the message says which.
    """
    if isinstance(qrels, (str, os.PathLike)):
        return _read_trec_qrels(qrels)
    if isinstance(qrels, Mapping):
        for query_id, docs in qrels.items():
            if not isinstance(docs, Mapping):
                raise ValueError(
                    f"the qrels: query {query_id!r} holds a {type(docs).__name__}; qrels given as a dict are "
                    "{query_id: {doc_id: relevance}}"
                )
        rows = [(q, d, label) for q, docs in qrels.items() for d, label in docs.items()]
    elif hasattr(qrels, "columns") and hasattr(qrels, "itertuples"):
        columns = []
        for ours, theirs in _COLUMNS:
            found = [c for c in (ours, theirs) if c in qrels.columns]
            if not found:
                raise ValueError(
                    f"the qrels: the DataFrame has no column {ours!r} (or {theirs!r}); its columns are "
                    f"{[str(c) for c in qrels.columns]}, and qrels need query_id, doc_id and relevance"
                )
            columns.append(one_column(qrels, found, "the qrels"))
        label = columns[2]
        grades = label.to_numpy() if label.dtype.kind in "iufb" else label.to_numpy(dtype=object)
        return columns[0].to_numpy(dtype=object), columns[1].to_numpy(dtype=object), grades
    else:
        try:
            rows = [(r.query_id, r.doc_id, r.relevance) for r in QrelsConverter(qrels).as_namedtuple_iter()]
        except (ValueError, AttributeError, TypeError) as error:
            raise ValueError(
                f"the qrels: {error}; give a dict {{query_id: {{doc_id: relevance}}}}, an iterable of "
                "ir_measures.Qrel, or a DataFrame with columns query_id, doc_id, relevance"
            ) from None
    queries, docs, labels = zip(*rows, strict=True) if rows else ((), (), ())
    return object_array(queries), object_array(docs), object_array(labels)


def _read_trec_qrels(path: str | os.PathLike[str]) -> tuple[ObjectArray, ObjectArray, NDArray[Any]]:
    source = f"the qrels {path}"
    lines = read_bytes(path, source).decode("utf-8").splitlines()
    rows = []
    for number, line in enumerate(lines, start=1):
        fields = line.split()
        if not fields:
            continue
        try:
            query_id, _, doc_id, label = fields
            rows.append((query_id, doc_id, int(label)))
        except ValueError:
            raise ValueError(
                f"{source}, line {number}: a TREC qrels line is 'query_id 0 doc_id relevance', not {line[:80]!r}"
            ) from None
    queries, docs, labels = zip(*rows, strict=True) if rows else ((), (), ())
    return object_array(queries), object_array(docs), object_array(labels)


def judge(
    query_ids: ObjectArray,
    doc_ids: ObjectArray,
    relevance: NDArray[Any],
    *,
    grades: tuple[int, int] | None = None,
) -> Judgments:
    """:class:`Judgments` from the columns of the qrels; ``grades`` as in :class:`Judgments`.

    A pair judged twice keeps its last label, as in ir_measures; where the labels differ, a warning says so.

    Raises:
        ValueError: an id that is no string, a relevance that is no whole number.
    """
    grade = _whole_numbers(query_ids, doc_ids, relevance)
    starts = _blocks(query_ids)
    heads = query_ids[starts]
    for head in heads:
        if not isinstance(head, str):
            raise ValueError(
                f"the qrels: query id {head!r} is a {type(head).__name__}; query ids must be strings, as in the "
                "run: convert them with str()"
            )
    code_of = {q: i for i, q in enumerate(dict.fromkeys(heads))}
    block = np.fromiter(map(code_of.__getitem__, heads), dtype=np.int64, count=len(heads))
    query = np.repeat(block, np.diff(np.append(starts, len(query_ids))))
    if len(code_of) < len(heads):
        order = np.argsort(query, kind="stable")
        query, doc_ids, grade = query[order], doc_ids[order], grade[order]
    judgments = Judgments(object_array(code_of), query, doc_ids, grade, grades)
    if not all(issubclass(kind, str) for kind in set(map(type, doc_ids))):
        doc_id = next(d for d in doc_ids if not isinstance(d, str))
        raise ValueError(
            f"the qrels: document id {doc_id!r} is a {type(doc_id).__name__}; document ids must be strings, "
            "as in the run: convert them with str()"
        )
    return _without_repeats(judgments)


def _whole_numbers(query_ids: ObjectArray, doc_ids: ObjectArray, relevance: NDArray[Any]) -> IntArray:
    if relevance.dtype.kind in "ib" and relevance.dtype.itemsize <= 4:
        return relevance.astype(np.int64)
    try:
        if relevance.dtype == object and any(isinstance(label, (str, bytes)) for label in relevance):
            raise ValueError
        floats = relevance.astype(np.float64)
        whole = (np.abs(floats) < _LARGEST) & (floats == np.round(floats))
    except (TypeError, ValueError, OverflowError):
        whole = np.array([_is_whole(label) for label in relevance], dtype=bool)
    if not whole.all():
        row = int(np.argmin(whole))
        raise ValueError(
            f"the qrels: query {query_ids[row]!r}, document {doc_ids[row]!r} has the relevance "
            f"{relevance[row]!r}; relevance must be a whole number (below 2^31 in size)"
        )
    return floats.astype(np.int64)


_LARGEST = 2**31


def _is_whole(label: object) -> bool:
    if isinstance(label, int):
        return abs(label) < _LARGEST
    return isinstance(label, (float, np.number)) and abs(float(label)) < _LARGEST and float(label).is_integer()


def _without_repeats(judgments: Judgments) -> Judgments:
    """Keeps the last label of a pair judged more than once."""
    if not len(suspects(judgments.query, judgments.doc_ids)):
        return judgments
    keys, order = judgments._row_keys  # stable: the rows of a pair stand in the order given
    more = np.diff(keys) == 0
    if not more.any():
        return judgments
    drop, last = order[:-1][more], order[np.flatnonzero(np.append(~more, True))]
    final = last[np.searchsorted(keys[np.append(~more, True)], keys[:-1][more])]
    clash = drop[judgments.grade[drop] != judgments.grade[final]]
    if len(clash):
        r = clash[0]
        warnings.warn(
            f"the qrels judge {len(clash)} (query, document) pair(s) twice with different labels, e.g. query "
            f"{judgments.query_ids[judgments.query[r]]!r}, document {judgments.doc_ids[r]!r}; the last label counts",
            stacklevel=2,
        )
    keep = np.ones(len(judgments), dtype=bool)
    keep[drop] = False
    return judgments.select(keep)
