"""Any qrels -> :class:`Judgments`."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import ir_measures
import numpy as np
from ir_measures.util import QrelsConverter
from numpy.typing import NDArray

from ..data.arrays import IntArray, ObjectArray, addresses, block_starts, object_array
from ..data.documents import NO_ASPECT, Judgments, Labels
from ..data.ids import Ids
from ..data.rankings import query_blocks
from ..messages import brief, few_quoted, is_missing, is_text, kind_of, not_an_id, warn
from .datasets import fetch_qrels, is_dataset, load_dataset
from .files import located, read_bytes
from .frames import find_columns, is_frame, text_of
from .readers import Given, read_foreign_file, read_object

#: What qrels may be: what ir_measures takes, PyTerrier's columns too, what other libraries hold them in, the path of a
#: file (see :func:`read_qrels_file`), a dataset of ir_datasets or PyTerrier, or its id, with ``irds:`` or without.
Qrels: TypeAlias = Any


class QrelsColumns(NamedTuple):
    """The query id, document id and relevance of every judgment, in the order given; and its aspect, if any has one."""

    query_ids: Ids | ObjectArray
    doc_ids: Ids | ObjectArray
    relevance: NDArray[Any]
    aspects: Ids | ObjectArray | None = None  #: None where no judgment names its aspect
    queries: ObjectArray | None = None  #: the keys of a dict, of which some may have no judgment

    @property
    def n_rows(self) -> int:
        """How many judgments there are."""
        return len(self.relevance)

    @property
    def unjudged_queries(self) -> list[str]:
        """The queries that a dict names without a judgment."""
        judged = set(self.ids()[0]) if self.queries is not None else set()
        return [query for query in ([] if self.queries is None else self.queries) if query not in judged]

    def ids(self) -> tuple[ObjectArray, ObjectArray]:
        """The queries and the documents as strings."""
        queries, docs = (c.strings() if isinstance(c, Ids) else c for c in self[:2])
        return queries, docs

    def aspect_texts(self) -> ObjectArray | None:
        """The aspects as they were given; those of a file as strings."""
        return self.aspects.strings() if isinstance(self.aspects, Ids) else self.aspects

    def same_as(self, other: QrelsColumns) -> bool:
        """Whether the two hold the same judgments in the same order and form."""
        return len(self.relevance) == len(other.relevance) and all(map(_same, self, other))

    def kept(self) -> QrelsColumns:
        """The same, where nobody else can change it."""
        queries, docs = (c if isinstance(c, Ids) else c.copy() for c in self[:2])
        return QrelsColumns(queries, docs, self.relevance.copy(), self.aspects, self.queries)


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, Ids) and isinstance(b, Ids):
        rows = np.arange(len(a))
        return a.same_bytes(b) or bool(a.equal(rows, b, rows).all())
    if isinstance(a, Ids) or isinstance(b, Ids):
        return False
    same_objects = a is not None and b is not None and a.dtype == b.dtype == object
    return (same_objects and np.array_equal(addresses(a), addresses(b))) or bool(np.array_equal(a, b))


def qrels_columns(qrels: Qrels) -> QrelsColumns:
    """The columns of the qrels; ids and labels of a frame may change with it."""
    if isinstance(qrels, QrelsColumns):
        return qrels
    if is_dataset(qrels) or (isinstance(qrels, (str, os.PathLike)) and not _is_file(qrels)):
        return qrels_columns(fetch_qrels(_dataset_for(qrels)))
    if isinstance(qrels, (str, os.PathLike)):
        return read_qrels_file(qrels).columns
    if hasattr(qrels, "get_qrels"):  # a dataset of PyTerrier's own
        qrels = qrels.get_qrels()
    if isinstance(qrels, Iterator):
        qrels = list(qrels)
    if is_frame(qrels):
        return _from_frame(Given(qrels), "the qrels")
    given = read_object(qrels, "the qrels", as_run=False)
    if given is not None and is_frame(given.content):
        return _from_frame(given, "the qrels")
    if given is not None:
        qrels = given.content
    if isinstance(qrels, Mapping):
        return _from_dict(qrels, "the qrels")
    aspects = None
    try:
        records = list(QrelsConverter(qrels).as_namedtuple_iter())
        rows = [(r.query_id, r.doc_id, r.relevance) for r in records]
        named = next((f for f in ASPECT_COLUMNS if rows and hasattr(records[0], f)), None)
        if named is not None:
            aspects = aspects_in(object_array(getattr(r, named) for r in records))
    except (ValueError, AttributeError, TypeError) as error:
        raise ValueError(
            f"the qrels: {error}; give a dict {{query_id: {{doc_id: relevance}}}}, an iterable of "
            "ir_measures.Qrel, or a DataFrame with columns query_id, doc_id, relevance"
        ) from None
    return _from_rows(rows, aspects)


def _is_file(path: str | os.PathLike[str]) -> bool:
    return os.path.exists(located(path)[0])


def _dataset_for(qrels: Any) -> Any:
    """The dataset of ir_datasets that judgments are asked of; an error names all that a text could have been."""
    if isinstance(qrels, os.PathLike):
        raise FileNotFoundError(f"the qrels {os.fspath(qrels)}: no such file; check the path")
    try:
        return load_dataset(qrels)
    except ValueError as error:
        raise FileNotFoundError(f"the qrels {qrels!r}: no such file, and {error}") from None


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


#: What ir_measures, and PyTerrier of a dataset with subtopics, call the column of aspects.
ASPECT_COLUMNS = ("iteration", "subtopic_id")


def aspects_in(column: Ids | ObjectArray) -> Ids | ObjectArray | None:
    """The aspect of each judgment; None where all are 0, Q0 or missing, which name none."""
    if isinstance(column, Ids):
        none = not len(column) or (column.string(0) in NO_ASPECT and len(column.changes()) == 1)
        return None if none else column
    heads = column[block_starts(column)]
    return None if all(str(head) in NO_ASPECT or is_missing(head) for head in heads) else column


def _from_frame(given: Given, source: str) -> QrelsColumns:
    frame, wanted = given.content, ("query_id", "doc_id", "relevance")
    queries, docs, label = find_columns(frame, wanted, source, given.kind, given.columns)
    plain = label.dtype.kind in "iufb" and isinstance(label.dtype, np.dtype)
    named = next((name for name in ASPECT_COLUMNS if name in frame.columns), None)
    return QrelsColumns(
        text_of(queries, kept=False),
        text_of(docs, kept=False),
        label.to_numpy() if plain else label.to_numpy(dtype=object),
        None if named is None else aspects_in(text_of(frame[named])),
    )


class QrelsFile(NamedTuple):
    """What a file of judgments holds."""

    columns: QrelsColumns
    iterations: Ids | ObjectArray  #: of each judgment: mostly 0, or the subtopic

    def as_ir_measures(self) -> list[ir_measures.Qrel] | dict[str, dict[str, int]]:
        """The judgments as ir_measures takes them: a dict where a query has none, which only a dict can name."""
        unjudged = self.columns.unjudged_queries
        if not unjudged:
            return list(self.rows())
        nested: dict[str, dict[str, int]] = {query: {} for query in unjudged}
        for row in self.rows():
            nested.setdefault(row.query_id, {})[row.doc_id] = row.relevance
        return nested

    def rows(self) -> Iterator[ir_measures.Qrel]:
        """The judgments one by one."""
        iterations = self.iterations.strings() if isinstance(self.iterations, Ids) else self.iterations
        labels = self.columns.relevance.astype(np.int64).tolist()
        return map(ir_measures.Qrel, *self.columns.ids(), labels, iterations)


def read_qrels_file(path: str | os.PathLike[str]) -> QrelsFile:
    """Reads a file of judgments; a label that is a string becomes a number, and without one a document is unjudged."""
    from .trec_columns import starts_as_trec  # which frames and dicts do without
    from .trec_qrels import read_trec_qrels

    iterations: Any
    source = f"the qrels {path}"
    file, part = located(path)
    data = read_bytes(file, source)
    is_trec = starts_as_trec(data, columns=4, number=3)
    content = None if is_trec else read_foreign_file(data, source, part, as_run=False)
    if content is None and part is None:
        queries, iterations, docs, grades = read_trec_qrels(data, source)
        return QrelsFile(QrelsColumns(queries, docs, grades, aspects_in(iterations)), iterations)
    if content is None:
        raise ValueError(f"{source}: TREC qrels have no part {part!r}; leave out '#{part}'")
    [given] = content.parts
    iterations = None
    if is_frame(given.content):
        columns = _from_frame(given, source)
        if "iteration" in given.content.columns:
            iterations = object_array(map(str, given.content["iteration"]))
    else:
        columns = _from_dict(given.content, source)
    columns, judged = _with_labels(columns, source)
    iterations = object_array(["0"] * len(judged)) if iterations is None else iterations
    return QrelsFile(columns, iterations[judged])


class DatasetOfQrels:
    """A file of judgments, as a dataset of ir_datasets that has nothing else."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = path

    def has(self, part: str) -> bool:
        return part == "qrels" and self.has_qrels()

    def has_qrels(self) -> bool:
        return True

    def has_docs(self) -> bool:
        return False

    has_queries = has_scoreddocs = has_docs

    def qrels_defs(self) -> dict[int, str]:
        return {}

    def qrels_iter(self) -> Iterator[ir_measures.Qrel]:
        return read_qrels_file(self.path).rows()

    def qrels_columns(self) -> QrelsColumns:
        return read_qrels_file(self.path).columns


def judgments_dataset(judgments: Any) -> Any:
    """The dataset that has some judgments: those of a file, or of what :func:`load_dataset` takes."""
    is_file = isinstance(judgments, (str, os.PathLike)) and os.path.isfile(located(judgments)[0])
    return DatasetOfQrels(judgments) if is_file else load_dataset(judgments)


def _with_labels(columns: QrelsColumns, source: str) -> tuple[QrelsColumns, NDArray[np.bool_]]:
    """The judgments that have a label, with labels that are whole numbers; and which they are."""
    if columns.relevance.dtype.kind in "ib":
        return columns, np.ones(columns.n_rows, dtype=bool)
    labels = object_array(map(_as_number, columns.relevance))
    judged = np.array([label is not None for label in labels], dtype=bool)
    queries, docs = (c.take(judged) if isinstance(c, Ids) else c[judged] for c in columns[:2])
    aspects = columns.aspects
    if aspects is not None:
        aspects = aspects.take(judged) if isinstance(aspects, Ids) else aspects[judged]
    taken = QrelsColumns(queries, docs, labels[judged], aspects, columns.queries)
    given = columns.ids()[0]
    # What is no id is refused later, in words.
    if taken.n_rows < columns.n_rows and columns.queries is None and all(isinstance(q, str) for q in given):
        left = set(taken.ids()[0])
        lost = [query for query in dict.fromkeys(given) if query not in left]
        if lost:
            warn(
                f"{source}: no document of {few_quoted(map(str, lost))} has a label, so these topics are not scored"
            )
    return taken._replace(relevance=_whole_numbers(taken, source)), judged


_NUMBER = re.compile(r"[+-]?[0-9]{1,15}(\.[0-9]{0,30})?")


def _as_number(label: Any) -> Any:
    """The number that a string writes; None where nothing is written, or the label is missing."""
    if isinstance(label, str):
        text = label.strip(" \t\r\n")
        return None if not text else float(text) if _NUMBER.fullmatch(text) else label
    return None if is_missing(label) or label != label else label


def judge(columns: QrelsColumns) -> Judgments:
    """The judgments; a pair judged twice keeps its last label, with a warning."""
    grade = _whole_numbers(columns, "the qrels")
    starts, heads = query_blocks(columns.query_ids, "the qrels", "the run")
    queries = heads if columns.queries is None else columns.queries
    for query_id in queries if columns.queries is not None else ():
        if not is_text(query_id):
            raise ValueError(f"the qrels: {not_an_id(query_id, 'query', 'the run')}")
    code_of = {q: i for i, q in enumerate(dict.fromkeys(queries))}
    block = np.fromiter(map(code_of.__getitem__, heads), dtype=np.int64, count=len(heads))
    query = np.repeat(block, np.diff(np.append(starts, columns.n_rows)))
    ids = _ids_of(columns.doc_ids)
    labels = None if columns.aspects is None else Labels(query, ids, columns.aspects, grade)
    if (np.diff(block) < 0).any():
        order = np.argsort(query, kind="stable")
        query, ids, grade = query[order], ids.take(order), grade[order]
        labels = None if labels is None else labels.take(order)
    return _without_repeats(Judgments(object_array(code_of), query, ids, grade, labels))


def _ids_of(doc_ids: Ids | ObjectArray) -> Ids:
    if isinstance(doc_ids, Ids):
        return doc_ids
    try:
        return Ids.of(doc_ids)
    except (TypeError, UnicodeEncodeError):
        bad = next(d for d in doc_ids if not is_text(d))
        raise ValueError(f"the qrels: {not_an_id(bad, 'document', 'the run')}") from None


_LARGEST = 2**31


def _whole_numbers(columns: QrelsColumns, source: str) -> IntArray:
    relevance = columns.relevance
    if relevance.dtype.kind in "ib" and relevance.dtype.itemsize <= 4:
        return np.asarray(relevance, dtype=np.int64)
    if relevance.dtype == object:
        whole = np.fromiter(map(_is_whole, relevance), dtype=bool, count=len(relevance))
        grades = relevance[whole].astype(np.float64)
    else:
        with np.errstate(invalid="ignore"):
            grades = relevance.astype(np.float64)
            whole = (np.abs(grades) < _LARGEST) & (grades == np.round(grades))
    if not whole.all():
        from .trec_qrels import OF_FRACTIONS

        row = int(np.argmin(whole))
        query, doc = (c.string(row) if isinstance(c, Ids) else c[row] for c in columns[:2])
        label = relevance[row].item() if isinstance(relevance[row], np.generic) else relevance[row]
        way_out = OF_FRACTIONS if isinstance(label, (float, np.floating)) and label % 1 else ""
        raise ValueError(
            f"{source}: query {brief(query)}, document {brief(doc)} has the relevance {brief(label)}; relevance "
            f"must be a whole number (below 2^31 in size){way_out}"
        )
    return np.asarray(grades, dtype=np.int64)


def _is_whole(label: object) -> bool:
    if isinstance(label, (int, np.integer, np.bool_)):
        return abs(int(label)) < _LARGEST
    return (
        isinstance(label, (float, np.floating)) and abs(float(label)) < _LARGEST and float(label).is_integer()
    )


def _without_repeats(judgments: Judgments) -> Judgments:
    drop, final = judgments.repeats()
    if not len(drop):
        return judgments
    labels = judgments.labels
    clash = drop[judgments.grade[drop] != judgments.grade[final]]
    if len(clash) and labels is None:
        query_id, doc_id = judgments.query_ids[judgments.query[clash[0]]], judgments.ids.string(clash[0])
        warn(
            f"the qrels judge {len(clash)} (query, document) pair(s) twice with different labels, e.g. query "
            f"{brief(query_id)}, document {brief(doc_id)}; the last label counts: give each document one label"
        )
    keep = np.ones(len(judgments), dtype=bool)
    keep[drop] = False
    return Judgments(
        judgments.query_ids, judgments.query[keep], judgments.ids.take(keep), judgments.grade[keep], labels
    )
