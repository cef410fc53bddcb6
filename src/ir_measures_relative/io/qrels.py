"""Qrels in any form as :class:`Judgments`."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from ir_measures.util import QrelsConverter
from numpy.typing import NDArray

from ..data.arrays import IntArray, ObjectArray, addresses, block_starts, object_array
from ..data.documents import NO_ASPECT, Judgments, Labels
from ..data.ids import Ids
from ..data.rankings import query_blocks
from ..messages import brief, is_missing, is_text, kind_of, not_an_id, warn
from .datasets import fetch_qrels, is_dataset, load_dataset
from .files import read_bytes, split_part
from .frames import find_columns, id_column, is_frame
from .readers import RawData, read_foreign_file, read_object

#: Qrels in any form: as for ir_measures, with PyTerrier's columns too; an object of another library; the path of a file
#: (see :func:`read_qrels_file`); a dataset of ir_datasets or PyTerrier, or its id, with ``irds:`` or without.
Qrels: TypeAlias = Any

#: The names of the column of aspects in ir_measures, and in PyTerrier for datasets with subtopics.
ASPECT_COLUMNS = ("iteration", "subtopic_id")


class QrelsColumns(NamedTuple):
    """The columns of the judgments, in the order given."""

    query_ids: Ids | ObjectArray
    doc_ids: Ids | ObjectArray
    relevance: NDArray[Any]
    aspects: Ids | ObjectArray | None = None  #: None where no judgment names its aspect
    queries: ObjectArray | None = None  #: the keys of a dict, of which some may have no judgment

    @property
    def unjudged_queries(self) -> list[str]:
        """The queries without a judgment, which only a dict can name."""
        judged = set(self.ids()[0]) if self.queries is not None else set()
        return [query for query in ([] if self.queries is None else self.queries) if query not in judged]

    def ids(self) -> tuple[ObjectArray, ObjectArray]:
        """Return the queries and the documents as strings."""
        queries, docs = (c.strings() if isinstance(c, Ids) else c for c in self[:2])
        return queries, docs

    def aspect_texts(self) -> ObjectArray | None:
        """Return the aspects as they were given; those of a file as strings."""
        return self.aspects.strings() if isinstance(self.aspects, Ids) else self.aspects

    def equals(self, other: QrelsColumns) -> bool:
        """Return whether both hold the same judgments in the same order and form."""
        return len(self.relevance) == len(other.relevance) and all(map(_same_column, self, other))

    def copied(self) -> QrelsColumns:
        """Return a copy of the columns that nobody else can change."""
        queries, docs = (c if isinstance(c, Ids) else c.copy() for c in self[:2])
        return QrelsColumns(queries, docs, self.relevance.copy(), self.aspects, self.queries)


def _same_column(a: Any, b: Any) -> bool:
    if isinstance(a, Ids) and isinstance(b, Ids):
        rows = np.arange(len(a))
        return a.same_bytes(b) or bool(a.equal(rows, b, rows).all())
    if isinstance(a, Ids) or isinstance(b, Ids):
        return False
    are_objects = a is not None and b is not None and a.dtype == b.dtype == object
    return (are_objects and np.array_equal(addresses(a), addresses(b))) or bool(np.array_equal(a, b))


def qrels_columns(qrels: Qrels) -> QrelsColumns:
    """Return the columns of qrels in any form; those of a frame share its memory."""
    if isinstance(qrels, QrelsColumns):
        return qrels
    if is_dataset(qrels) or (isinstance(qrels, (str, os.PathLike)) and not _is_file(qrels)):
        return qrels_columns(fetch_qrels(_dataset_for(qrels)))
    if isinstance(qrels, (str, os.PathLike)):
        return read_qrels_file(qrels)
    if hasattr(qrels, "get_qrels"):  # a dataset of PyTerrier's own
        qrels = qrels.get_qrels()
    if isinstance(qrels, Iterator):
        qrels = list(qrels)
    raw = RawData(qrels) if is_frame(qrels) else read_object(qrels, "the qrels", as_run=False)
    if raw is None and isinstance(qrels, Mapping):
        raw = RawData(qrels)
    if raw is not None:
        return columns_of(raw, "the qrels")
    aspects = None
    try:
        records = list(QrelsConverter(qrels).as_namedtuple_iter())
        rows = [(r.query_id, r.doc_id, r.relevance) for r in records]
        field = next((f for f in ASPECT_COLUMNS if rows and hasattr(records[0], f)), None)
        if field is not None:
            aspects = named_aspects(object_array(getattr(r, field) for r in records))
    except (ValueError, AttributeError, TypeError) as error:
        raise ValueError(
            f"the qrels: {error}; give a dict {{query_id: {{doc_id: relevance}}}}, an iterable of "
            "ir_measures.Qrel, or a DataFrame with columns query_id, doc_id, relevance"
        ) from None
    return _from_rows(rows, aspects)


def _is_file(path: str | os.PathLike[str]) -> bool:
    return os.path.exists(split_part(path)[0])


def _dataset_for(qrels: Any) -> Any:
    """Return the dataset of ir_datasets; the error lists everything that the text could have meant."""
    if isinstance(qrels, os.PathLike):
        raise FileNotFoundError(f"the qrels {os.fspath(qrels)}: no such file; check the path")
    try:
        return load_dataset(qrels)
    except ValueError as error:
        raise FileNotFoundError(f"the qrels {qrels!r}: no such file, and {error}") from None


def columns_of(raw: RawData, source: str) -> QrelsColumns:
    """Return the columns of judgments in a frame or a dict."""
    return _from_frame(raw, source) if is_frame(raw.content) else _from_dict(raw.content, source)


def _from_dict(qrels: Mapping[Any, Any], source: str) -> QrelsColumns:
    for query_id, docs in qrels.items():
        if not isinstance(docs, Mapping):
            raise ValueError(
                f"{source}: query {brief(query_id)} holds {kind_of(docs)}; qrels given as a dict are "
                "{query_id: {doc_id: relevance}}, or have the columns query_id, doc_id and relevance"
            )
    columns = _from_rows([(q, d, label) for q, docs in qrels.items() for d, label in docs.items()])
    return columns._replace(queries=object_array(qrels))


def _from_rows(
    rows: Sequence[tuple[Any, Any, Any]], aspects: Ids | ObjectArray | None = None
) -> QrelsColumns:
    query_ids, doc_ids, labels = zip(*rows, strict=True) if rows else ((), (), ())
    return QrelsColumns(object_array(query_ids), object_array(doc_ids), object_array(labels), aspects)


def named_aspects(column: Ids | ObjectArray) -> Ids | ObjectArray | None:
    """Return the aspect of each judgment; None where all are 0, Q0 or missing, which name none."""
    if isinstance(column, Ids):
        is_nameless = not len(column) or (column.string(0) in NO_ASPECT and len(column.changes()) == 1)
    else:
        heads = column[block_starts(column)]
        is_nameless = all(str(head) in NO_ASPECT or is_missing(head) for head in heads)
    return None if is_nameless else column


def _from_frame(raw: RawData, source: str) -> QrelsColumns:
    frame, wanted = raw.content, ("query_id", "doc_id", "relevance")
    queries, docs, label = find_columns(frame, wanted, source, raw.kind, raw.columns)
    is_numeric = label.dtype.kind in "iufb" and isinstance(label.dtype, np.dtype)
    name = next((name for name in ASPECT_COLUMNS if name in frame.columns), None)
    return QrelsColumns(
        id_column(queries, copy=False),
        id_column(docs, copy=False),
        label.to_numpy() if is_numeric else label.to_numpy(dtype=object),
        None if name is None else named_aspects(id_column(frame[name])),
    )


def read_qrels_file(path: str | os.PathLike[str]) -> QrelsColumns:
    """Read a file of judgments, in TREC's format or another."""
    from .trec_columns import starts_as_trec  # not needed for frames and dicts
    from .trec_files import read_trec_qrels

    source = f"the qrels {path}"
    file, part = split_part(path)
    data = read_bytes(file, source)
    is_trec = starts_as_trec(data, columns=4, number=3)
    content = None if is_trec else read_foreign_file(data, source, part, as_run=False)
    if content is None and part is not None:
        raise ValueError(f"{source}: TREC qrels have no part {part!r}; leave out '#{part}'")
    if content is None:
        queries, iterations, docs, grades = read_trec_qrels(data, source)
        return QrelsColumns(queries, docs, grades, named_aspects(iterations))
    return content.parts[0].content


def make_judgments(columns: QrelsColumns, source: str = "the qrels") -> Judgments:
    """Return the judgments; of a pair that is judged twice the last label counts, with a warning about the source."""
    grade = whole_numbers(columns, source)
    starts, heads = query_blocks(columns.query_ids, source, "the run")
    queries = heads if columns.queries is None else columns.queries
    for query_id in queries if columns.queries is not None else ():
        if not is_text(query_id):
            raise ValueError(f"{source}: {not_an_id(query_id, 'query', 'the run')}")
    code_of = {q: i for i, q in enumerate(dict.fromkeys(queries))}
    block = np.fromiter(map(code_of.__getitem__, heads), dtype=np.int64, count=len(heads))
    query = np.repeat(block, np.diff(np.append(starts, len(columns.relevance))))
    ids = _as_ids(columns.doc_ids, source)
    labels = None if columns.aspects is None else Labels(query, ids, columns.aspects, grade)
    if (np.diff(block) < 0).any():
        order = np.argsort(query, kind="stable")
        query, ids, grade = query[order], ids.take(order), grade[order]
        labels = None if labels is None else labels.take(order)
    return _without_repeats(Judgments(object_array(code_of), query, ids, grade, labels), source)


def _as_ids(doc_ids: Ids | ObjectArray, source: str) -> Ids:
    if isinstance(doc_ids, Ids):
        return doc_ids
    try:
        return Ids.of(doc_ids)
    except (TypeError, UnicodeEncodeError):
        bad = next(d for d in doc_ids if not is_text(d))
        raise ValueError(f"{source}: {not_an_id(bad, 'document', 'the run')}") from None


_LARGEST = 2**31


def whole_numbers(columns: QrelsColumns, source: str) -> IntArray:
    """Return the labels as whole numbers; ValueError for one that is none."""
    relevance = columns.relevance
    is_whole = relevance.dtype.kind in "ib"
    if is_whole and (
        relevance.dtype.itemsize <= 4 or ((relevance > -_LARGEST) & (relevance < _LARGEST)).all()
    ):
        return np.asarray(relevance, dtype=np.int64)
    if relevance.dtype == object:
        whole = np.fromiter(map(_is_whole, relevance), dtype=bool, count=len(relevance))
        grades = relevance[whole].astype(np.float64)
    else:
        with np.errstate(invalid="ignore"):
            grades = relevance.astype(np.float64)
            whole = (np.abs(grades) < _LARGEST) & (grades == np.round(grades))
    if not whole.all():
        from .trec_files import FRACTIONS_REMEDY

        row = int(np.argmin(whole))
        query, doc = (c.string(row) if isinstance(c, Ids) else c[row] for c in columns[:2])
        label = relevance[row].item() if isinstance(relevance[row], np.generic) else relevance[row]
        remedy = FRACTIONS_REMEDY if isinstance(label, (float, np.floating)) and label % 1 else ""
        raise ValueError(
            f"{source}: query {brief(query)}, document {brief(doc)} has the relevance {brief(label)}; relevance "
            f"must be a whole number (below 2^31 in size){remedy}"
        )
    return np.asarray(grades, dtype=np.int64)


def _is_whole(label: object) -> bool:
    if isinstance(label, (int, np.integer, np.bool_)):
        return abs(int(label)) < _LARGEST
    return (
        isinstance(label, (float, np.floating)) and abs(float(label)) < _LARGEST and float(label).is_integer()
    )


def _without_repeats(judgments: Judgments, source: str) -> Judgments:
    drop, final = judgments.repeats()
    if not len(drop):
        return judgments
    labels = judgments.labels
    clash = drop[judgments.grade[drop] != judgments.grade[final]]
    if len(clash) and labels is None:
        query_id, doc_id = judgments.query_ids[judgments.query[clash[0]]], judgments.ids.string(clash[0])
        warn(
            f"{source} have {len(clash)} (query, document) pair(s) twice with different labels, e.g. query "
            f"{brief(query_id)}, document {brief(doc_id)}; the last label counts: give each document one label"
        )
    keep = np.ones(len(judgments), dtype=bool)
    keep[drop] = False
    return Judgments(
        judgments.query_ids, judgments.query[keep], judgments.ids.take(keep), judgments.grade[keep], labels
    )
