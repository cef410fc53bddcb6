"""The first documents of rankings, as deep as a measure looks: a number of documents, or a budget of tokens."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from ..arguments import is_number
from ..data.arrays import BoolArray, IntArray
from ..data.documents import Documents
from ..data.ids import Ids, WordArray, pair_keys
from ..data.rankings import Rankings
from ..io.frames import columns_of, is_frame
from ..messages import kind_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: The number of tokens of documents: a mapping, a pandas Series or a function from document id to number; or a
#: DataFrame with the columns ``doc_id`` (or ``docno``) and ``tokens``.
Tokens: TypeAlias = Any


class DocumentLengths:
    """The number of tokens of each document, which is looked up when it is first asked for."""

    def __init__(self, tokens: Tokens) -> None:
        if is_frame(tokens):
            (docs,) = columns_of(tokens, ("doc_id",), "tokens")
            if "tokens" not in tokens.columns:
                raise ValueError(f"tokens: the DataFrame has no column 'tokens', only {list(tokens.columns)}")
            tokens = dict(zip(docs, tokens["tokens"], strict=True))
        elif hasattr(tokens, "to_dict") and hasattr(tokens, "index"):
            tokens = tokens.to_dict()
        if not isinstance(tokens, Mapping) and not callable(tokens):
            raise ValueError(
                f"tokens is {kind_of(tokens)}; give a dict from document id to number, a DataFrame or a function"
            )
        self._look_up: Callable[[str], Any] = tokens.__getitem__ if isinstance(tokens, Mapping) else tokens
        self._known: dict[str, int] = {}

    def of(self, docs: Sequence[str]) -> IntArray:
        """The lengths of some documents."""
        for doc in docs:
            if doc not in self._known:
                self._known[doc] = self._length(doc)
        return np.array([self._known[doc] for doc in docs], dtype=np.int64)

    def _length(self, doc: str) -> int:
        try:
            length = self._look_up(doc)
        except KeyError:
            raise ValueError(f"tokens has no document {doc!r}, which a run holds; add it") from None
        if is_number(length) and 0 <= length < 2**31 and int(length) == length:
            return int(length)
        raise ValueError(
            f"tokens: document {doc!r} has the length {length!r}; it must be a whole number from 0 up"
        )


@dataclass(frozen=True)
class TokenBudget:
    """A cutoff in tokens: as many of the first documents of a ranking as fit, up to the first that does not."""

    tokens: int


#: How deep rankings are looked at: a number of documents or of tokens, or None for all of them.
Depth: TypeAlias = "int | TokenBudget | None"

# How deep a ranking is sorted first, to see how much of it a budget reads; then four times as deep, and so on.
_FIRST_READ = 32


class Top(NamedTuple):
    """The first documents of a run for the judged queries, judged or not; sorted by query, then by position."""

    docs: Documents
    position: IntArray  #: 1-based
    hashes: WordArray  #: ``docs.ids.hashes()``
    score: NDArray[np.float32]  #: as it is compared; equal where two documents of a query are tied

    def select(self, keep: BoolArray) -> Top:
        """Some of the documents."""
        return Top(self.docs.select(keep), self.position[keep], self.hashes[keep], self.score[keep])


def find_top(known: Documents, rankings: Rankings, depth: int | None) -> Top:
    """The top of a run, with the grades of those that are known."""
    top = rankings.top(depth)
    query = known.queries_of(rankings)[top.query]
    rows = np.flatnonzero(query >= 0)
    rows = rows[np.argsort(query[rows], kind="stable")]
    query, ids, hashes = query[rows], top.ids.take(rows), top.hashes[rows]
    row = known.rows_of(query, ids, hashes)
    grade, judged = np.zeros_like(row), np.zeros(len(row), dtype=bool)
    found = row >= 0
    grade[found], judged[found] = known.grade[row[found]], known.judged[row[found]]
    docs = Documents(known.query_ids, query, ids, grade, judged=judged)
    return Top(docs, top.position[rows], hashes, top.score[rows])


def documents_read(
    budget: TokenBudget, lengths: DocumentLengths | None, n_queries: int, top: Callable[[int], Top]
) -> IntArray:
    """How many documents of each judged query's ranking a budget reads; ``top`` is that of the run, from a depth."""
    if lengths is None:
        raise ValueError(
            f"budget={budget.tokens} needs the lengths of the documents; set RunContext(tokens=)"
        )
    read, total = np.zeros((2, n_queries), dtype=np.int64)
    left, depth = np.arange(n_queries), 0
    # No length is looked up but of what is read, and of the first too many.
    for position in itertools.count():
        if position == depth:
            depth = 4 * depth or _FIRST_READ
            docs = top(depth).docs
        left = left[docs.starts[left] + position < docs.starts[left + 1]]
        if not len(left):
            break
        total[left] += lengths.of(docs.ids.take(docs.starts[left] + position).strings().tolist())
        left = left[total[left] <= budget.tokens]
        read[left] = position + 1
    return read


def unjudged(tops: Sequence[Top], query_ids: np.ndarray) -> Documents:
    """The unjudged documents of tops, each once, sorted by query."""
    nothing = Documents(query_ids, np.empty(0, dtype=np.int64), Ids.of([]), np.empty(0, dtype=np.int64))
    ids: list[Ids] = []
    query = [nothing.query]
    for top in tops:
        rows = np.flatnonzero(~top.docs.judged)
        query.append(top.docs.query[rows])
        ids.append(top.docs.ids.take(rows))
    queries = np.concatenate(query)
    order = np.argsort(queries, kind="stable")
    all_ids, zeros = Ids.joined(ids).take(order), np.zeros(len(order), dtype=np.int64)
    found = Documents(query_ids, queries[order], all_ids, zeros, judged=zeros > 0)
    again, _ = found.repeats()
    keep = np.ones(len(found), dtype=bool)
    keep[again] = False
    return found.select(keep)


def numbered(tops: Sequence[Top]) -> list[IntArray]:
    """Of each top a number for each document, by query: one number for one document in all of them."""
    query = np.concatenate([top.docs.query for top in tops])
    ids, ends = Ids.joined([top.docs.ids for top in tops]), np.cumsum([len(top.position) for top in tops])
    for seed in itertools.count():
        hashes = ids.hashes(seed) if seed else np.concatenate([top.hashes for top in tops])
        _, first, number = np.unique(pair_keys(query, hashes), return_index=True, return_inverse=True)
        rows = np.flatnonzero(first[number] != np.arange(len(query)))
        known = first[number[rows]]
        if (query[rows] == query[known]).all() and ids.equal(rows, ids, known).all():
            return np.split(number, ends[:-1])
    raise AssertionError  # seeds do not end


def same_rankings(run: Top, reference: Top, among: BoolArray) -> BoolArray:
    """Which of the queries ``among`` the two runs rank alike, by their whole rankings."""
    if run is reference or not among.any():
        return among
    n = len(among)
    sizes_y, sizes_z = (np.bincount(side.docs.query, minlength=n) for side in (run, reference))
    same: BoolArray = among & (sizes_y == sizes_z)
    rows_y, rows_z = (np.flatnonzero(same[side.docs.query]) for side in (run, reference))
    alike = run.docs.ids.equal(rows_y, reference.docs.ids, rows_z)
    same[run.docs.query[rows_y[~alike]]] = False
    return same
