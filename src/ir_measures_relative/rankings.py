"""Any run -> compact ranked arrays, in trec_eval's order. The only place that knows run formats.

A *run* holds one ranking a query. Whatever it comes as (dict of dict, iterable of ``ScoredDoc``, DataFrame in
ir_measures' or PyTerrier's column names, path to a TREC run file), :func:`read_run` turns it into
:class:`Rankings`: rows grouped by query and sorted by score, compared as 32-bit floats, descending. Ties are
broken by document id, descending, and only where a caller looks: :meth:`Rankings.top` hashes and compares no
document id below the cutoff it is asked for.
"""

from __future__ import annotations

import gzip
import io
import itertools
import math
import numbers
import os
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pandas as pd

#: What a run may be; see :func:`read_run`.
Run: TypeAlias = "Rankings | Mapping[str, Mapping[str, float]] | Iterable[Any] | pd.DataFrame | str | os.PathLike[str]"

IntArray: TypeAlias = NDArray[np.int64]
ObjectArray: TypeAlias = NDArray[np.object_]

# ir_measures' name for a column, then PyTerrier's.
_COLUMNS = (("query_id", "qid"), ("doc_id", "docno"), ("score", "score"))
_FORMATS = (
    "a dict {query_id: {doc_id: score}}, an iterable of ir_measures.ScoredDoc, a DataFrame with columns "
    "query_id, doc_id, score (or qid, docno, score), or the path of a TREC run file"
)


@dataclass(frozen=True)
class TopDocs:
    """The first documents of each ranking: rows sorted by query, then by position."""

    query: IntArray  #: index into ``Rankings.query_ids``, one a row
    position: IntArray  #: 1-based position in the ranking, one a row
    doc_ids: ObjectArray  #: one a row


class Rankings:
    """The rankings of one run, one a query.

    Attributes:
        name: what messages call the run.
        tag: the one value of the run's ``name`` column or of its TREC run tag; None where there is none.
        query_ids: the queries, each once.
        starts: the rows of query ``i`` are ``starts[i]:starts[i + 1]``.
    """

    def __init__(
        self,
        query_ids: ObjectArray,
        doc_ids: ObjectArray | NDArray[np.bytes_],
        scores: NDArray[np.float64],
        *,
        name: str = "the run",
        tag: str | None = None,
    ) -> None:
        """Takes one query id, document id and score a row, in any order.

        Document ids may be UTF-8 bytes; then only those that a caller looks at become strings.

        Raises:
            ValueError: a score that is not a finite number, a query id that is not a string.
        """
        self.name = name
        self.tag = tag
        finite = np.isfinite(scores)
        if not finite.all():
            row = int(np.argmin(finite))
            raise ValueError(
                f"{name}: query {query_ids[row]!r}, document {_strings(doc_ids[row : row + 1])[0]!r} has the score "
                f"{scores[row]}; "
                "every score must be a finite number: drop the row or give it a score"
            )
        with np.errstate(over="ignore"):  # trec_eval holds scores as C floats; a larger one is a tie at infinity
            score32 = scores.astype(np.float32)
        starts = _blocks(query_ids)
        heads = query_ids[starts]
        for head in heads:
            if not isinstance(head, str):
                raise ValueError(
                    f"{name}: query id {head!r} is a {type(head).__name__}; query ids must be strings, as in "
                    "the qrels: convert them with str()"
                )
        order: IntArray | None = None
        if len(set(heads)) < len(heads):  # the rows of a query do not stand together
            code_of = {q: i for i, q in enumerate(dict.fromkeys(heads))}
            block_code = np.array([code_of[q] for q in heads], dtype=np.int64)
            code = np.repeat(block_code, np.diff(np.append(starts, len(query_ids))))
            order = np.lexsort((-score32, code))
            heads = np.array(list(code_of), dtype=object)
            counts = np.bincount(code, minlength=len(heads))
            starts = np.cumsum(counts) - counts
        else:
            falls = score32[1:] <= score32[:-1]
            falls[starts[1:] - 1] = True
            if not falls.all():
                code = np.repeat(np.arange(len(heads)), np.diff(np.append(starts, len(query_ids))))
                order = np.lexsort((-score32, code))
        self.query_ids = heads
        self.starts: IntArray = np.append(starts, len(query_ids)).astype(np.int64)
        self._scores = score32 if order is None else score32[order]
        self._doc_ids = doc_ids.copy() if order is None else doc_ids[order]
        self._top: dict[int | None, TopDocs] = {}

    def __len__(self) -> int:
        return len(self._doc_ids)

    def __repr__(self) -> str:
        return f"<Rankings {self.name}: {len(self.query_ids)} queries, {len(self)} rows>"

    def top(self, cutoff: int | None = None) -> TopDocs:
        """The first ``cutoff`` documents of every ranking (all of them without a cutoff), ties broken.

        Raises:
            ValueError: a document that stands twice among the rows looked at, or whose id is not a string.
        """
        if cutoff not in self._top:
            self._top[cutoff] = self._find_top(cutoff)
        return self._top[cutoff]

    def to_dict(self) -> dict[str, dict[str, float]]:
        """The run as ir_measures takes it, with scores that fall by one a position and so have no ties."""
        top = self.top()
        docs, score = top.doc_ids.tolist(), (-top.position).astype(np.float64).tolist()
        bounds = self.starts.tolist()
        return {
            q: dict(zip(docs[a:b], score[a:b], strict=True))
            for q, a, b in zip(self.query_ids, bounds[:-1], bounds[1:], strict=True)
        }

    def _find_top(self, cutoff: int | None) -> TopDocs:
        sizes = np.diff(self.starts)
        if cutoff is None:
            rows = np.arange(len(self))
            query = np.repeat(np.arange(len(sizes)), sizes)
        else:
            # The rows within the cutoff, and those that share the score of the last of them: which of these
            # are within it, only their ids can tell.
            last = self.starts[:-1] + np.minimum(sizes, cutoff) - 1
            tie_ends = np.append(np.flatnonzero(self._new_score()[1:]), len(self) - 1)
            ends = tie_ends[np.searchsorted(tie_ends, last)] + 1
            counts = ends - self.starts[:-1]
            query = np.repeat(np.arange(len(sizes)), counts)
            within = np.arange(len(query)) - np.repeat(np.cumsum(counts) - counts, counts)
            rows = self.starts[:-1][query] + within
        doc_ids = _strings(self._doc_ids[rows])
        self._check_ids(query, doc_ids)
        if len(rows):
            new = self._new_score()[rows]
            new[np.flatnonzero(np.diff(query)) + 1] = True
            doc_ids = _break_ties(new, doc_ids)
        position = rows - self.starts[:-1][query] + 1
        if cutoff is not None:
            keep = position <= cutoff
            query, position, doc_ids = query[keep], position[keep], doc_ids[keep]
        return TopDocs(query, position, doc_ids)

    def _new_score(self) -> NDArray[np.bool_]:
        """True at every row whose score, or query, is not that of the row before."""
        new = np.ones(len(self), dtype=bool)
        new[1:] = self._scores[1:] != self._scores[:-1]
        new[self.starts[:-1]] = True
        return new

    def _check_ids(self, query: IntArray, doc_ids: ObjectArray) -> None:
        if not all(issubclass(kind, str) for kind in set(map(type, doc_ids))):
            row, bad = next((i, d) for i, d in enumerate(doc_ids) if not isinstance(d, str))
            raise ValueError(
                f"{self.name}: query {self.query_ids[query[row]]!r} holds the document id {bad!r}, a "
                f"{type(bad).__name__}; document ids must be strings, as in the qrels: convert them with str()"
            )
        seen: set[tuple[int, str]] = set()
        for row in suspects(query, doc_ids):
            pair = (int(query[row]), doc_ids[row])
            if pair in seen:
                raise ValueError(
                    f"{self.name}: query {self.query_ids[pair[0]]!r} lists document {pair[1]!r} more than "
                    "once; a ranking holds a document once: drop the duplicates"
                )
            seen.add(pair)


def suspects(query: IntArray, doc_ids: ObjectArray) -> IntArray:
    """The rows that may hold a (query, document) pair of another row: all that do, and hardly any others."""
    keys = np.fromiter(map(hash, doc_ids), dtype=np.int64, count=len(doc_ids))
    keys ^= query * np.int64(0x5851F42D4C957F2D)
    order = np.argsort(keys)
    same = np.flatnonzero(np.diff(keys[order]) == 0)
    return np.unique(np.concatenate([order[same], order[same + 1]]))


def _blocks(column: ObjectArray) -> IntArray:
    """The row at which each run of equal values starts."""
    if not len(column):
        return np.empty(0, dtype=np.int64)
    try:
        changes = np.asarray(column[1:] != column[:-1], dtype=bool)
    except TypeError:  # pandas' NA is neither equal nor unequal to anything
        changes = np.array([(a == b) is not True for a, b in itertools.pairwise(column)], dtype=bool)
    return np.concatenate([[0], np.flatnonzero(changes) + 1]).astype(np.int64)


def _break_ties(new: NDArray[np.bool_], doc_ids: ObjectArray) -> ObjectArray:
    """The ids with those of equal score in descending order; ``new`` marks the first row of each score."""
    group = np.cumsum(new)
    tied = np.flatnonzero(np.bincount(group)[group] > 1)
    if not len(tied):
        return doc_ids
    # Python compares strings by code point, which is the byte order of their UTF-8, which is strcmp's.
    ids = doc_ids[tied].tolist()
    rank = np.empty(len(ids), dtype=np.int64)
    rank[sorted(range(len(ids)), key=ids.__getitem__, reverse=True)] = np.arange(len(ids))
    result = doc_ids.copy()
    result[tied] = doc_ids[tied[np.lexsort((rank, group[tied]))]]
    return result


def read_run(run: Run, name: str = "the run") -> Rankings:
    """Any run as :class:`Rankings`.

    Args:
        run: a dict of dict, an iterable of ``ScoredDoc``, a DataFrame (ir_measures' or PyTerrier's columns; a
            ``name`` column that holds one value becomes the tag), or the path of a TREC run file, plain or .gz.
        name: what messages call it.

    Raises:
        ValueError: content that is no run; the message names run, query and document, or file and line.
        TypeError: an object of another kind.
        OSError: a file that cannot be read.
    """
    if isinstance(run, Rankings):
        return run
    if isinstance(run, (str, os.PathLike)):
        return read_trec_run(run, name=name)
    if isinstance(run, Mapping):
        return _from_dict(run, name)
    if hasattr(run, "columns") and hasattr(run, "itertuples"):
        return _from_frame(run, name)
    if isinstance(run, Iterable):
        return _from_scored_docs(run, name)
    raise TypeError(f"{name}: a {type(run).__name__} is no run; give {_FORMATS}")


def _from_dict(run: Mapping[str, Any], name: str) -> Rankings:
    for query_id, docs in run.items():
        if not isinstance(docs, Mapping):
            raise ValueError(
                f"{name}: query {query_id!r} holds a {type(docs).__name__}; a run given as a dict is "
                "{query_id: {doc_id: score}}"
            )
    query_ids = list(itertools.chain.from_iterable(itertools.repeat(q, len(docs)) for q, docs in run.items()))
    doc_ids = list(itertools.chain.from_iterable(run.values()))
    scores = list(itertools.chain.from_iterable(docs.values() for docs in run.values()))
    return _from_lists(query_ids, doc_ids, scores, name)


def _from_scored_docs(run: Iterable[Any], name: str) -> Rankings:
    rows = list(run)
    for row in rows[:1]:
        if not (hasattr(row, "query_id") and hasattr(row, "doc_id") and hasattr(row, "score")):
            raise ValueError(f"{name}: an iterable that holds a {type(row).__name__} is no run; give {_FORMATS}")
    return _from_lists([r.query_id for r in rows], [r.doc_id for r in rows], [r.score for r in rows], name)


def _from_lists(query_ids: list[Any], doc_ids: list[Any], scores: list[Any], name: str) -> Rankings:
    queries, docs = object_array(query_ids), object_array(doc_ids)
    return Rankings(queries, docs, _as_floats(object_array(scores), queries, docs, name), name=name)


def _from_frame(frame: Any, name: str) -> Rankings:
    columns = []
    for ours, theirs in _COLUMNS:
        found = [c for c in dict.fromkeys((ours, theirs)) if c in frame.columns]
        if not found:
            other = f" (or {theirs!r})" if theirs != ours else ""
            raise ValueError(
                f"{name}: the DataFrame has no column {ours!r}{other}; its columns are "
                f"{[str(c) for c in frame.columns]}, and a run needs query_id, doc_id and score"
            )
        columns.append(one_column(frame, found, name))
    queries, docs = (c.to_numpy(dtype=object) for c in columns[:2])
    scores = scores_of(columns[2], queries, docs, name)
    return Rankings(queries, docs, scores, name=name, tag=_single_value(frame, "name"))


def scores_of(column: Any, queries: ObjectArray, docs: ObjectArray, name: str) -> NDArray[np.float64]:
    """The scores in a column of a DataFrame; raises ValueError for one that is no number."""
    if column.dtype.kind in "fiu":
        scores: NDArray[np.float64] = column.to_numpy(dtype=np.float64, na_value=np.nan)
        return scores
    return _as_floats(column.to_numpy(dtype=object), queries, docs, name)


def one_column(frame: Any, names: list[str], source: str) -> Any:
    """The column of that name, of which there must be one; where it has two names, both must hold the same.

    Raises:
        ValueError: it stands twice, or the two differ.
    """
    column = frame[names[0]]
    if column.ndim != 1:
        raise ValueError(f"{source}: the column {names[0]!r} stands twice in the DataFrame; drop one")
    for other in names[1:]:
        if frame[other].ndim != 1 or not column.equals(frame[other]):
            raise ValueError(f"{source}: the columns {names[0]!r} and {other!r} differ; drop the one that is not meant")
    return column


def _single_value(frame: Any, column: str) -> str | None:
    """The one value that a column holds in every row; None where it holds none or several."""
    if column not in frame.columns or not len(frame):
        return None
    values = frame[column].to_numpy(dtype=object)
    if not isinstance(values[0], str) or not np.all(values == values[0]):
        return None
    return str(values[0])


def _as_floats(
    scores: ObjectArray, queries: ObjectArray, docs: ObjectArray, name: str
) -> NDArray[np.float64]:
    values = np.empty(len(scores))
    for row, score in enumerate(scores):
        # numpy's and torch's scalars are no numbers.Real, but turn into one; a string would too, and must not.
        if isinstance(score, str) or not (isinstance(score, numbers.Real) or hasattr(score, "__float__")):
            raise ValueError(
                f"{name}: query {queries[row]!r}, document {docs[row]!r} has the score {score!r}, a "
                f"{type(score).__name__}; scores must be numbers: convert them with float()"
            )
        try:
            values[row] = float(score)
        except (TypeError, ValueError, OverflowError) as error:
            raise ValueError(
                f"{name}: query {queries[row]!r}, document {docs[row]!r} has a score that is no float ({error})"
            ) from None
    return values


def object_array(values: Iterable[Any]) -> ObjectArray:
    """The values as a one-dimensional array of Python objects."""
    items = list(values)
    result = np.empty(len(items), dtype=object)
    result[:] = items
    return result


def read_trec_run(path: str | os.PathLike[str], *, name: str | None = None) -> Rankings:
    """Reads a TREC run file: ``query_id Q0 doc_id rank score tag`` a line, plain or gzip (by its first bytes).

    Row order and the rank column are ignored.

    Raises:
        FileNotFoundError: no such file.
        ValueError: a line without six columns, a score that is no number, a truncated .gz; names file and line.
    """
    label = name or str(path)
    source = label if label == str(path) else f"{label} ({path})"
    if Path(path).is_dir():
        raise IsADirectoryError(f"{source} is a folder; RunContext.from_trec reads a folder of runs")
    if not Path(path).exists():
        raise FileNotFoundError(f"{source}: no such file; give the path of a TREC run file")
    data = read_bytes(path, source)
    try:
        if not data.isascii():
            data.decode()
        if b"\0" in data:
            raise ValueError
        columns = _parse(data, f"S{_WIDTH}")
        if any(len(c) and c.view(np.uint8).reshape(len(c), -1)[:, -1].any() for c in columns[:3]):
            # An id fills the width, so it may have been cut.
            columns = _parse(data, object)
    except ValueError:
        raise ValueError(_first_bad_line(data, source)) from None
    query_ids, doc_ids, tags, more, scores = columns
    tags = _strings(tags[_blocks(tags)])
    if "" in tags or (more != b"").any():
        raise ValueError(_first_bad_line(data, source))
    starts = _blocks(query_ids)
    query_ids = np.repeat(_strings(query_ids[starts]), np.diff(np.append(starts, len(query_ids))))
    return Rankings(query_ids, doc_ids, scores, name=label, tag=tags[0] if len(set(tags)) == 1 else None)


# Ids are read as bytes of this width where they fit: making a Python string of each would be half of the work.
_WIDTH = 64
# pandas fills a short line and cuts one that is longer than the first, both without a word. Behind a first line of
# seven columns, a seventh that is not empty shows a line that is too long.
_SEVEN_COLUMNS = b"q Q0 d 0 0 tag more\n"


def _parse(data: bytes, text: Any) -> list[Any]:
    """The query ids, document ids, tags, seventh fields and scores of a run file, text as the given dtype."""
    import pandas as pd

    frame = pd.read_csv(
        io.BytesIO(_SEVEN_COLUMNS + data),
        sep=r"\s+",
        header=None,
        names=["query_id", "q0", "doc_id", "rank", "score", "tag", "more"],
        usecols=["query_id", "doc_id", "score", "tag", "more"],
        dtype={"query_id": text, "doc_id": text, "score": np.float64, "tag": text, "more": "S1"},
        quoting=3,
        na_filter=False,
        index_col=False,
        low_memory=False,
        # The nearest double; pandas gives it by default, and no longer wants to be asked to, from version 3.
        **({} if int(pd.__version__.split(".")[0]) >= 3 else {"float_precision": "round_trip"}),
    )
    dtypes = {"query_id": text, "doc_id": text, "tag": text, "more": "S1", "score": np.float64}
    return [np.asarray(frame[c].to_numpy(), dtype=dtype)[1:] for c, dtype in dtypes.items()]


def _strings(ids: ObjectArray | NDArray[np.bytes_]) -> ObjectArray:
    """Ids as Python strings; none of those that are bytes holds white space."""
    if ids.dtype == object or not len(ids):
        return ids.astype(object, copy=False)
    return object_array(b"\n".join(ids.tolist()).decode().split("\n"))


def read_bytes(path: str | os.PathLike[str], source: str) -> bytes:
    """The content of a file, unpacked where it is gzip."""
    raw = Path(path).read_bytes()
    try:
        if raw[:2] == b"\x1f\x8b":
            raw = gzip.decompress(raw)
        return raw.removeprefix(b"\xef\xbb\xbf")  # the mark that some editors put in front of UTF-8
    except (EOFError, OSError, ValueError, zlib.error) as error:
        raise ValueError(f"{source}: the .gz file is truncated or damaged ({error}); fetch it again") from None


def _first_bad_line(data: bytes, source: str) -> str:
    for number, line in enumerate(data.split(b"\n"), start=1):
        fields = line.split()
        if not fields:
            continue
        if len(fields) != 6:
            shown = line[:80].decode("utf-8", "replace").strip()
            return (
                f"{source}, line {number}: {len(fields)} columns where a TREC run has six "
                f"(query_id Q0 doc_id rank score tag): {shown!r}"
            )
        query_id, doc_id, score = (fields[i][:80].decode("utf-8", "replace") for i in (0, 2, 4))
        try:
            finite = math.isfinite(float(score))
        except ValueError:
            return f"{source}, line {number}: the score {score!r} is not a number"
        if not finite:
            return (
                f"{source}, line {number}: query {query_id!r}, document {doc_id!r} has the score {score}; every "
                "score must be a finite number: drop the row or give it a score"
            )
    return f"{source}: not a TREC run file in UTF-8"
