"""The judged documents of every query, and where they stand in a run.

Everything but MED asks a run only one thing: at which position does it hold each judged document?
:meth:`Judgments.positions_in` answers for all of them at once, so that the measures are arithmetic on arrays with
one entry a judged document.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from .arrays import BoolArray, IntArray, ObjectArray, rank_within
from .ids import Ids, WordArray, pair_keys
from .rankings import Rankings


class Judgments:
    """The judged documents of every query, one row a (query, document), grouped by query.

    Attributes:
        query_ids: the queries, in the order of the qrels.
        query: the query of each row, as an index into ``query_ids``, ascending.
        ids: the document of each row.
        grade: the judged relevance of each row.
    """

    def __init__(self, query_ids: ObjectArray, query: IntArray, ids: Ids, grade: IntArray) -> None:
        self.query_ids = query_ids
        self.query = query
        self.ids = ids
        self.grade = grade
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
        return Judgments(self.query_ids[code : code + 1], query, self.ids.take(rows), self.grade[rows])

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
        taken[(keys >> shift).astype(np.int64)] = True
        return shift, taken

    def rows_of(self, query: IntArray, ids: Ids, hashes: WordArray | None = None) -> IntArray:
        """The row of each (query index, document id), -1 for one not here; ``hashes`` are the ids', where known."""
        row = np.full(len(query), -1, dtype=np.int64)
        if not len(self) or not len(query):
            return row
        seed, keys, order = self._keys
        shift, taken = self._first_bits
        wanted = pair_keys(query, ids.hashes(seed) if seed or hashes is None else hashes)
        asked = np.flatnonzero(taken[(wanted >> shift).astype(np.int64)])
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
        top = rankings.top(cutoff)
        row = self.rows_of(self.queries_of(rankings)[top.query], top.ids, top.hashes)
        result = np.zeros(len(self), dtype=np.int64)
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
