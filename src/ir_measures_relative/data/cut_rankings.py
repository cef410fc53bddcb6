"""Rankings that are cut: their first documents, and the positions of some documents below."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..messages import counted
from .arrays import IntArray, ObjectArray
from .ids import Ids
from .rankings import Cut, Rankings, TopDocs

if TYPE_CHECKING:
    from numpy.typing import NDArray


class CutRankings(Rankings):
    """Rankings without some of their rows: each row has a position, and none a score.

    The first rows of a query are its first ``cut.depth`` documents, or all; the others are listed ones below.
    """

    cut: Cut

    def __init__(
        self,
        query_ids: ObjectArray,
        starts: IntArray,
        ids: Ids,
        positions: IntArray,
        lengths: IntArray,
        cut: Cut,
        *,
        name: str,
    ) -> None:
        """Take the rows of each query by position, and the length of each ranking."""
        self.name, self.tag, self.group, self.asked, self.ends_within_row = name, None, None, (), False
        self.query_ids, self.starts, self.ranks = query_ids, starts, None
        # A score that ties with none.
        self._scores: NDArray[np.float32] = np.broadcast_to(np.float32(np.nan), len(ids))
        self._given: NDArray[Any] = self._scores
        self._doc_ids, self._order, self._top, self._checked = ids, None, {}, True
        self.cut, self._positions, self._lengths = cut, positions, lengths

    @property
    def lengths(self) -> IntArray:
        return self._lengths

    def is_whole_to(self, depth: int | None) -> bool:
        least = self.cut.depth
        return (depth is not None and depth <= least) or int(self._lengths.max(initial=0)) <= least

    def top(self, cutoff: int | None = None) -> TopDocs:
        if not self.is_whole_to(cutoff):
            raise self.cut.refuse(cutoff)
        return super().top(cutoff)

    def by_score(self, cutoff: int | None = None) -> TopDocs:
        top = super().by_score(cutoff)
        if cutoff is None:
            top.position = self._positions
        return top

    def _slice_queries(self, first: int, end: int) -> Rankings:
        some = super()._slice_queries(first, end)
        assert isinstance(some, CutRankings)
        some._lengths = self._lengths[first:end]
        some._positions = self._positions[self.starts[first] : self.starts[end]]
        return some

    @property
    def given_scores(self) -> NDArray[np.float64]:
        raise ValueError(
            f"{self.name}: {self.cut.source} has positions and no scores; leave out what reads scores (Compat, "
            "combsum, combmnz, rerank=), or give the run itself"
        )

    def without_self(self) -> Rankings:
        if self.cut.without_self:
            return self
        raise ValueError(
            f"{self.cut.source} was made without drop_self=True; make it of a context that has it"
        )

    def to_dict(self, cutoff: int | None = None, *, unlike: Ids | None = None) -> dict[str, dict[str, float]]:
        """Return :meth:`Rankings.to_dict`; unknown documents have ids longer than those of ``unlike``."""
        if unlike is None or self.is_whole_to(cutoff):
            return super().to_dict(cutoff)
        longest = max(int(ids.lengths.max(initial=0)) for ids in (unlike, self.rows()[1]))
        at, docs, result = self._positions.tolist(), self.rows()[1].strings().tolist(), {}
        rows = zip(self.starts[:-1].tolist(), self.starts[1:].tolist(), self._lengths.tolist(), strict=True)
        for query_id, (first, end, length) in zip(self.query_ids, rows, strict=True):
            # No blank, as some providers write files.
            ranking = [f"{'?' * longest}{i}" for i in range(length)]
            for doc_id, position in zip(docs[first:end], at[first:end], strict=True):
                ranking[position - 1] = doc_id
            result[query_id] = {doc_id: -float(i) for i, doc_id in enumerate(ranking, 1)}
        return result


def cite_tracks(runs: Iterable[Rankings], *, count_others: bool = False) -> list[str]:
    """Return the citations of the tracks that the runs come from, each once; part of a track is cited as such.

    With ``count_others``, the runs that are from no track are counted behind the tracks.
    """
    n_runs = Counter(run.cut for run in runs)
    n_others = n_runs.pop(None, 0)
    citations = [
        cut.citation if n == cut.n_runs else f"{counted(n, 'run')} of {cut.citation}"
        for cut, n in n_runs.items()
        if cut is not None
    ]
    return (
        [*citations, counted(n_others, "other run")] if citations and n_others and count_others else citations
    )


def check_whole_to(
    runs: Iterable[Rankings], depth: int | None, subject: str = "this", times: int = 1
) -> None:
    """Raise the error of :meth:`Cut.refuse` for the first run that is not complete to a depth."""
    for run in runs:
        if run.cut is not None and not run.is_whole_to(depth):
            raise run.cut.refuse(depth, subject, times)
