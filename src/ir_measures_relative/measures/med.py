"""Maximized effectiveness difference: how far apart the judgments allow two rankings to be.

Tan and Clarke, "A Family of Rank Similarity Measures Based on Maximized Effectiveness Difference", IEEE
Transactions on Knowledge and Data Engineering 27(11), 2015; Moffat, "Computing Maximized Effectiveness
Distance for Recall-Based Metrics".
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..judgments import BoolArray, FloatArray, Judgments, Qrels, rank_within
from ..rankings import IntArray, ObjectArray, Rankings, Run, object_array, read_run
from . import base
from .base import Param, RelativeMeasure, register
from .segments import discount, gain_of, ratio, row_sums

if TYPE_CHECKING:
    import pandas as pd

    from ..comparison import Comparison
    from ..med_exact import Solution


class Pool(NamedTuple):
    """The documents that the two rankings hold, one row a query; all of shape (queries, documents).

    Rows are padded with judged documents of grade 0 that neither ranking holds.
    """

    y: IntArray  #: 1-based position in the run's top, 0 if it is not there
    z: IntArray  #: 1-based position in the reference's top, 0 if it is not there
    grade: IntArray  #: the judged grade; 0 where open
    open: BoolArray  #: whether the judgments leave the document open
    doc_ids: ObjectArray  #: None where padded


class Solutions(NamedTuple):
    """The largest difference of each query, and what attains it."""

    value: FloatArray
    lower: FloatArray
    upper: FloatArray
    exact: BoolArray
    winner: IntArray  #: 1 the run, -1 the reference, 0 where no labeling tells the two apart
    level: IntArray  #: shape (queries, documents): the gain level given to each open one, from 1; 0 is none


def pool_tops(
    run: Rankings, reference: Rankings, judgments: Judgments, cutoff: int | None, judged: bool = True
) -> Pool:
    """The union of the two rankings' first ``cutoff`` documents, for every query of ``judgments``.

    Args:
        judged: whether the judgments count; every document is open if not.
    """
    tops = run.top(cutoff), reference.top(cutoff)
    query = np.concatenate(
        [judgments.queries_of(r)[t.query] for r, t in zip((run, reference), tops, strict=True)]
    )
    keep = query >= 0
    in_run = (np.arange(len(query)) < len(tops[0].query))[keep]
    position = np.concatenate([t.position for t in tops])[keep]
    doc_ids = np.concatenate([t.doc_ids for t in tops])[keep]
    query = query[keep]

    code_of = {d: i for i, d in enumerate(dict.fromkeys(doc_ids))}
    code = np.fromiter(map(code_of.__getitem__, doc_ids), dtype=np.int64, count=len(doc_ids))
    _, first, row = np.unique(query * len(code_of) + code, return_index=True, return_inverse=True)
    # In a row the documents stand as the two rankings have them: in the order of their codes, the last bit of a sum
    # would depend on the rankings of other queries.
    order = np.lexsort((first, query[first]))
    first, row = first[order], np.argsort(order)[row]
    y, z = np.zeros((2, len(first)), dtype=np.int64)
    y[row[in_run]] = position[in_run]
    z[row[~in_run]] = position[~in_run]
    query, doc_ids = query[first], doc_ids[first]
    known = judgments.rows_of(query, doc_ids) if judged else np.full(len(query), -1)
    grade = np.zeros(len(query), dtype=np.int64)
    grade[known >= 0] = judgments.grade[known[known >= 0]]

    column = rank_within(query) - 1
    shape = judgments.n_queries, int(column.max(initial=-1)) + 1

    def padded(values: Any, fill: Any) -> Any:
        result = np.full(shape, fill, dtype=values.dtype)
        result[query, column] = values
        return result

    return Pool(padded(y, 0), padded(z, 0), padded(grade, 0), padded(known < 0, False), padded(doc_ids, None))


def same_rankings(run: Rankings, reference: Rankings, judgments: Judgments, among: BoolArray) -> BoolArray:
    """Which of the queries ``among`` the two runs rank alike, down to the last document."""
    if run is reference or not among.any():
        return among
    sides = []
    for rankings in (run, reference):
        top, index = rankings.top(), judgments.queries_of(rankings)
        query = index[top.query]
        rows = np.flatnonzero((query >= 0) & among[query])
        rows = rows[np.argsort(query[rows], kind="stable")]
        sides.append((query[rows], top.doc_ids[rows]))
    (query_y, docs_y), (query_z, docs_z) = sides
    sizes_y, sizes_z = (np.bincount(q, minlength=len(among)) for q in (query_y, query_z))
    same = among & (sizes_y == sizes_z)
    query_y, docs_y, docs_z = query_y[same[query_y]], docs_y[same[query_y]], docs_z[same[query_z]]
    differ: BoolArray = np.asarray(docs_y != docs_z, dtype=bool)
    same[query_y[differ]] = False
    return np.asarray(same, dtype=bool)


def position_weight(position: IntArray, base: str, cutoff: int | None, p: float = 0.8) -> FloatArray:
    """W(i) of a static weighted-precision measure (Eqs. 2-5); 0 at position 0, which is not retrieved.

    P: 1/k. RBP: (1 - p)·p^(i - 1). SDCG: 1/(S_k·log2(1 + i)), with the S_k that makes the k weights sum to 1.
    """
    if base == "RBP":
        return np.where(position > 0, (1.0 - p) * np.power(p, np.maximum(position, 1) - 1.0), 0.0)
    assert cutoff is not None  # the declaration asks for it
    if base == "P":
        return (position > 0).astype(np.float64) / cutoff
    scale = float(discount(np.arange(1, cutoff + 1)).sum())
    return discount(position) / scale


def med_weighted(
    pool: Pool, weight: FloatArray, gain: FloatArray, levels: FloatArray, tail: FloatArray
) -> Solutions:
    """MED of a static weighted-precision measure (§1): one greedy labeling for each direction.

    Args:
        weight: W(y) - W(z) of every document.
        gain: of every document, 0 where open.
        levels: the gains above 0 that a document may have, ascending; the value is relative to the last.
        tail: what the run, and what the reference, may gain below the cutoff; shape (2, queries).
    """
    both = np.stack([weight, -weight])
    known = _signed_sum(ratio(gain, levels[-1:]) * weight) if len(levels) else np.zeros(len(gain))
    free = np.where(pool.open & (len(levels) > 0), np.maximum(both, 0.0), 0.0)
    return _decide(np.stack([known, -known]) + row_sums(free) + tail, np.where(free > 0, len(levels), 0))


def med_rr(pool: Pool, relevant: BoolArray) -> Solutions:
    """MED of reciprocal rank.

    A labeling that makes the first relevant document of the winner relevant, and no other, is as good as any:
    the others can only raise the loser. So it is enough to try each open document, and none.

    Args:
        relevant: whether a document is judged relevant.
    """
    inverse = np.stack([_inverse(pool.y), _inverse(pool.z)])
    judged = (inverse * relevant).max(axis=2, initial=0.0)
    single = np.where(pool.open, np.maximum(inverse, judged[:, :, None]), judged[:, :, None])
    # Column 0 is the labeling that makes no open document relevant; argmax prefers it.
    tried = np.concatenate([judged[:, :, None], single], axis=2)
    both = np.stack([tried[0] - tried[1], tried[1] - tried[0]])
    best = both.argmax(axis=2)[:, :, None]
    chosen = np.arange(1, both.shape[2]) == best
    return _decide(np.take_along_axis(both, best, axis=2)[:, :, 0], chosen.astype(np.int64))


def med_ndcg(
    pool: Pool, gain: FloatArray, levels: FloatArray, judged_at: IntArray, cutoff: int | None
) -> Solutions:
    """MED of nDCG over all gains that an open document may have; Algorithm 1 where there is but one.

    With n_l the number of open documents that are given at least level l, both halves of the ratio are sums
    over the levels: the difference of the two DCGs is at most ``known + Σ_l Δ_l·D(n_l)``, where Δ_l is the
    gain of a level above that of the one before and D(n) the sum of the n largest differences of discounts
    (the larger gains go to the larger differences), and the ideal DCG is ``Σ_l Δ_l·C(min(k, J_l + n_l))``,
    where C(n) is the sum of the first n discounts and J_l the number of judged documents of at least that
    level. Dinkelbach's iteration turns the largest ratio into a few maximizations of ``Σ_l Δ_l·(D(n_l) -
    λ·C(min(k, J_l + n_l)))``, λ being the ratio reached so far. Each level is then free to take its own best
    n_l: n_1 ≥ n_2 ≥ … comes by itself, since J_1 ≥ J_2 ≥ … and the discounts fall, so that one more document
    never costs a lower level more than a higher.

    Args:
        gain: of every document, 0 where open.
        levels: the gains above 0 that a document may have, ascending.
        judged_at: J_l of each query, documents outside the rankings included; shape (queries, levels).
    """
    weight = discount(pool.y) - discount(pool.z)
    known = _signed_sum(gain * weight)
    known = np.stack([known, -known])
    free = np.where(pool.open, np.maximum(np.stack([weight, -weight]), 0.0), 0.0)
    order = np.argsort(-free, axis=2, kind="stable")
    most = int((free > 0).sum(axis=2).max(initial=0))
    won = np.zeros((*known.shape, most + 1))
    np.cumsum(np.take_along_axis(free, order[:, :, :most], axis=2), axis=2, out=won[:, :, 1:])
    step = np.diff(levels, prepend=0.0)
    size = judged_at[:, :, None] + np.arange(most + 1)
    if cutoff is not None:
        size = np.minimum(size, cutoff)
    ideal = np.concatenate([[0.0], np.cumsum(discount(np.arange(1, size.max(initial=0) + 1)))])[size]

    best = np.zeros(known.shape)
    count = np.zeros((*known.shape, len(levels)), dtype=np.int64)
    while True:
        n = (won[:, :, None, :] - best[:, :, None, None] * ideal).argmax(axis=3)
        n = np.minimum.accumulate(n, axis=2)  # for ties that rounding broke
        numerator = known + (step * np.take_along_axis(won, n, axis=2)).sum(axis=2)
        denominator = (step * np.take_along_axis(ideal[None], n[..., None], axis=3)[..., 0]).sum(axis=2)
        value = ratio(numerator, denominator)
        better = value > best
        if not better.any():
            break
        best[better], count[better] = value[better], n[better]
    # From the place of a document in its order to the number of levels that reach down to it.
    reached = (np.arange(order.shape[2])[:, None] < count[:, :, None, :]).sum(axis=3)
    level = np.zeros(order.shape, dtype=np.int64)
    np.put_along_axis(level, order, reached, axis=2)
    return _decide(best, level)


def _decide(both: FloatArray, level: IntArray) -> Solutions:
    """The better of the two directions, the run's first: shapes (2, queries) and (2, queries, documents)."""
    run_wins = both[0] >= both[1]
    value = both.max(axis=0).clip(0.0, 1.0)
    winner = np.where(value > 0, np.where(run_wins, 1, -1), 0)
    exact = np.ones(len(value), dtype=bool)
    return Solutions(value, value, value, exact, winner, np.where(run_wins[:, None], level[0], level[1]))


def _signed_sum(terms: FloatArray) -> FloatArray:
    """The sum of each row, and 0 where the terms cancel but for rounding: no ranking wins by 1e-17."""
    total = row_sums(terms)
    return np.where(np.abs(total) > 1e-14 * row_sums(np.abs(terms)), total, 0.0)


def _inverse(position: IntArray) -> FloatArray:
    return ratio(np.ones(1), position.astype(np.float64))


class _MED(RelativeMeasure):
    """Maximized effectiveness difference: how far apart the judgments allow a run and the reference to be.

    ``MED(M) = max |M(Y) - M(Z)|`` over all labelings of the documents that the judgments leave open, where Y
    is the evaluated run's top k, Z the reference's, and the base M one of

    - P, RBP, SDCG: ``Σ_i W(i)·g(d_i)`` with W(i) = 1/k, (1 - p)·p^(i - 1), 1/(S_k·log2(1 + i)). SDCG's S_k
      (and the gain of the highest grade) makes 1 the value of k documents of the highest grade.
    - nDCG: exact over all grades, with every relevant document of the judgments in the ideal ranking. (The
      paper says that an open document need only be tried at the highest grade; that holds for binary
      relevance alone.)
    - RR: reciprocal rank.
    - SSP: ``(1/k)·Σ_{i≤k} g(d_i)·P@i``, and AP: the same sum over R (``norm='R'``) or min(R, k)
      (``norm='min'``), R being the number of relevant documents under the labeling; ERR: expected reciprocal
      rank, with ``(2^g - 1)/2^max_grade`` the chance that a document satisfies. Exact, by branch and bound.
      Where ``time_limit`` seconds are not enough for a query, its value is the largest difference found so
      far, and a warning says for how many queries that is so and how much larger the true value may be.

    Range [0, 1]: 0 where no labeling tells the two rankings apart, as for a ranking and itself. Symmetric in
    run and reference. Where every document in the two rankings is judged it is the plain difference of the
    two scores (and RBP's residual).

    SDCG, nDCG and ERR are graded: an open document may take any grade up to ``max_grade``, by default the
    highest in the qrels (all queries), or 1. (Give it where the qrels come in parts, such as PyTerrier's
    batches of topics.) With ``rel=`` SDCG and nDCG are binary. nDCG, RR and RBP without a cutoff look at the
    whole rankings.

    RBP's ``residual`` adds what may follow below position k, p^k where the winner is relevant and the loser
    not all the way down. A ranking shorter than k has ended, so nothing follows; nor is anything left open
    without a cutoff, or for two rankings that are the same to their last documents.

    Do not use it to say which run is *better*: it is unsigned, and a worst case, not a likely one. With few
    judgments and a deep cutoff it comes close to 1 for any two rankings that share little; with full
    judgments the base measure says more.

    Source: Tan and Clarke, "A Family of Rank Similarity Measures Based on Maximized Effectiveness
    Difference", IEEE TKDE 27(11), 2015; Moffat, "Computing Maximized Effectiveness Distance for Recall-Based
    Metrics", Algorithm 1 and Eqs. 2-10.

    Example, the paper's Eq. 6 and Table 2; the largest difference is that where L and D are relevant:

        >>> from ir_measures_relative import MED, RunContext
        >>> qrels = {"q": {"A": 1, "E": 0}}
        >>> run = lambda ranking: {"q": {d: -float(i) for i, d in enumerate(ranking)}}
        >>> with RunContext({"X4": run("ADBECGFJLH")}):
        ...     value = (MED(base="nDCG") @ 10).calc_aggregate(qrels, run("ABCDEFGHJK"))
        >>> round(value, 4)
        0.2352
    """

    __name__ = "MED"
    NAME = __name__
    PRETTY_NAME = "Maximized Effectiveness Difference"
    SHORT_DESC = "The largest difference in effectiveness from the reference that the judgments allow."
    SUPPORTED_PARAMS = {
        "cutoff": base.cutoff(),
        "base": Param(
            str,
            "the measure whose difference is maximized",
            default="nDCG",
            choices=("P", "RBP", "SDCG", "nDCG", "RR", "SSP", "AP", "ERR"),
        ),
        "ref": base.ref(),
        "judged": Param(bool, "whether the qrels count; False leaves every document open", default=True),
        "rel": Param(
            int,
            "minimum relevance score to be considered relevant (inclusive), 1 if not given; makes SDCG and "
            "nDCG binary",
            test=lambda r: r >= 1,
            allowed="a whole number of at least 1",
            bases=("P", "RBP", "SDCG", "nDCG", "RR", "SSP", "AP"),
        ),
        "dcg": base.dcg(bases=("SDCG", "nDCG")),
        "gains": base.gains(bases=("SDCG", "nDCG")),
        "max_grade": Param(
            int,
            "the highest grade that a document may have; the highest in the qrels if not given",
            test=lambda g: g >= 1,
            allowed="a whole number of at least 1",
            bases=("SDCG", "nDCG", "ERR"),
        ),
        "p": Param(
            float,
            "persistence of RBP",
            default=0.8,
            test=lambda p: 0 < p < 1,
            allowed="a number between 0 and 1, both excluded",
            bases=("RBP",),
        ),
        "residual": Param(bool, "add what may follow below the cutoff, p^k", default=True, bases=("RBP",)),
        "norm": Param(
            str,
            "what AP divides by: the number of relevant documents R, or at most the cutoff ('min')",
            default="R",
            choices=("R", "min"),
            bases=("AP",),
        ),
        "time_limit": Param(
            float,
            "seconds that a query may take; an interval is the result where they run out",
            default=10.0,
            test=lambda t: t > 0,
            allowed="a number above 0",
            bases=("SSP", "AP", "ERR"),
        ),
    }

    def check_together(self) -> None:
        name = self.get("base")
        if name in ("P", "SDCG", "SSP", "AP", "ERR") and self.get("cutoff") is None:
            raise ValueError(f"MED(base={name!r}) needs a cutoff: write MED(base={name!r})@10")
        clash = [n for n in ("dcg", "gains", "max_grade") if n in self.params]
        if "rel" in self.params and clash:
            raise ValueError(
                f"{self!r}: rel makes {name} binary, and {clash[0]} has no say then; give only one"
            )

    def score(self, comparison: Comparison) -> FloatArray:
        return self.solve(comparison)[1].value

    def solve(self, comparison: Comparison) -> tuple[Pool, Solutions, IntArray]:
        """The documents, the value of each query with what attains it, and a label for each gain level."""
        name, cutoff, p = map(self.get, ("base", "cutoff", "p"))
        run, judgments = comparison.rankings, comparison.judgments
        reference = comparison.reference(self.get("ref"))
        pool = pool_tops(run, reference, judgments, cutoff, self.get("judged"))
        levels, labels = self._levels(comparison)
        gain = np.where(pool.open, 0.0, self._gain(pool.grade))
        if name in ("SSP", "AP", "ERR"):
            solutions = self._solve_exactly(comparison, pool)
        elif name == "RR":
            solutions = med_rr(pool, gain > 0)
        elif name == "nDCG":
            solutions = med_ndcg(pool, gain, levels, self._judged_at(comparison, levels), cutoff)
        else:
            weight = position_weight(pool.y, name, cutoff, p) - position_weight(pool.z, name, cutoff, p)
            tail = np.zeros((2, len(gain)))
            if name == "RBP" and cutoff is not None and self.get("residual"):
                full = np.stack([(pool.y > 0).sum(axis=1) == cutoff, (pool.z > 0).sum(axis=1) == cutoff])
                alike = full.any(axis=0) & (pool.y == pool.z).all(axis=1)
                tail = full * ~same_rankings(run, reference, judgments, alike) * p**cutoff
            solutions = med_weighted(pool, weight, gain, levels, tail)
        return pool, solutions, labels

    @property
    def _graded(self) -> bool:
        return self.get("base") in ("SDCG", "nDCG", "ERR") and "rel" not in self.params

    def _gain(self, grade: IntArray) -> FloatArray:
        if not self._graded:
            return (grade >= (self.get("rel") or 1)).astype(np.float64)
        return gain_of(grade, self.get("dcg"), self.get("gains"))

    def _levels(self, comparison: Comparison) -> tuple[FloatArray, IntArray]:
        """The gains above 0 that a document may have, ascending, and a label that gives each."""
        if not self._graded:
            return np.ones(1), np.array([self.get("rel") or 1])
        lowest = comparison.judgments.lowest  # custom gains may reward a label below 1
        grades = np.arange(lowest, self._highest(comparison) + 1)
        gains, first = np.unique(self._gain(grades), return_index=True)
        return gains[gains > 0], grades[first][gains > 0]

    def _highest(self, comparison: Comparison) -> int:
        """The highest grade that a document may have."""
        highest = max(1, comparison.judgments.highest)
        limit = self.get("max_grade")
        if limit is None:
            known = comparison.context.highest_grades
            known.add(highest)
            if len(known) > 1:  # PyTerrier's batches of topics, most likely
                warnings.warn(
                    f"{self!r}: the highest grade is {highest} in these qrels, and {sorted(known - {highest})} in "
                    "others that the context was used with, so that open documents may take other grades there; "
                    f"where the qrels come in parts, say {self.NAME}(max_grade={max(known)})",
                    stacklevel=2,
                )
            return highest
        if highest > limit and self.get("judged"):
            raise ValueError(f"{self!r}: the qrels hold the grade {highest}; max_grade must be at least that")
        return int(limit)

    def _judged_at(self, comparison: Comparison, levels: FloatArray) -> IntArray:
        """How many judged documents of each query have at least each of these gains; (queries, levels)."""
        docs = comparison.judgments
        if not self.get("judged"):
            return np.zeros((docs.n_queries, len(levels)), dtype=np.int64)

        def count() -> IntArray:
            gain = self._gain(docs.grade)
            result = np.zeros((docs.n_queries, len(levels)), dtype=np.int64)
            for i, level in enumerate(levels):
                result[:, i] = np.bincount(docs.query[gain >= level], minlength=docs.n_queries)
            return result

        key = (self._graded, self.get("rel"), self.get("dcg"), str(self.get("gains")), levels.tobytes())
        return comparison.judged.cached(("judged at", key), count)

    def _solve_exactly(self, comparison: Comparison, pool: Pool) -> Solutions:
        """SSP, AP and ERR, whose solvers take one query at a time."""
        found = list(self._exact_solutions(comparison, pool))
        level = np.zeros(pool.y.shape, dtype=np.int64)
        for row, solution in zip(level, found, strict=True):
            row[: len(solution.labels)] = solution.labels
        value, lower, upper = (
            np.array([getattr(s, what) for s in found], dtype=np.float64)
            for what in ("value", "lower", "upper")
        )
        upper = np.minimum(upper, 1.0)  # no base goes beyond, so that a value of 1 is exact
        exact = np.array([s.exact for s in found], dtype=bool) | (upper <= value)
        winner = np.array([s.winner for s in found], dtype=np.int64)
        if not exact.all():
            warnings.warn(
                f"{self!r}: {self.get('time_limit'):g} s were not enough for {(~exact).sum()} of "
                f"{len(exact)} queries; their values are the largest differences found, and the true ones "
                f"may be larger by up to {(upper - lower)[~exact].max():.4f}: raise time_limit, or lower the "
                "cutoff",
                stacklevel=4,
            )
        return Solutions(value, lower, upper, exact, winner, np.where(pool.open, level, 0))

    def _exact_solutions(self, comparison: Comparison, pool: Pool) -> Iterator[Solution]:
        """One query after the other. In a row of the pool the documents come first, then the padding."""
        from .. import med_exact

        name, cutoff, limit = map(self.get, ("base", "cutoff", "time_limit"))
        sizes = ((pool.y > 0) | (pool.z > 0)).sum(axis=1).tolist()
        if name == "ERR":
            highest = self._highest(comparison)
            label = np.where(pool.open, -1, np.maximum(pool.grade, 0))
            for y, z, grade, n in zip(pool.y, pool.z, label, sizes, strict=True):
                yield med_exact.med_err(
                    y[:n], z[:n], grade[:n], cutoff=cutoff, max_grade=highest, time_limit=limit
                )
            return
        relevant = ~pool.open & (self._gain(pool.grade) > 0)
        label = np.where(pool.open, -1, relevant)
        norm: Any = "k" if name == "SSP" else self.get("norm")
        elsewhere = self._judged_at(comparison, np.ones(1))[:, 0] - relevant.sum(axis=1)
        for y, z, binary, n, other in zip(pool.y, pool.z, label, sizes, elsewhere.tolist(), strict=True):
            yield med_exact.med_sum_precision(
                y[:n], z[:n], binary[:n], cutoff=cutoff, norm=norm, other_relevant=other, time_limit=limit
            )


MED = _MED()
register(MED)


def med(
    run: Run,
    reference: Run,
    qrels: Qrels | None = None,
    base: str = "nDCG",
    cutoff: int | None = 10,
    **params: Any,
) -> pd.DataFrame:
    """The maximized effectiveness difference of two runs, query by query, with the labeling that attains it.

    Args:
        run: one run, as anything that a context takes.
        reference: the other.
        qrels: the judgments, whose queries are scored. None leaves every document open and scores the queries
            of both runs; grades are then 0 and 1 unless ``max_grade`` is given.
        base: P, RBP, SDCG, nDCG, RR, SSP, AP or ERR.
        cutoff: the depth of both rankings; None for the whole rankings.
        params: the other parameters of :data:`MED`: judged, rel, dcg, gains, max_grade, p, residual, norm,
            time_limit.

    Returns:
        a DataFrame of one row a query: ``query_id``; ``value``; ``lower`` and ``upper``, between which the
        largest difference lies; ``exact``, whether these are equal; ``winner``, which of the two scores
        higher under the labeling that attains the value: 'run', 'reference', or '' where the value is 0 (one
        of the two where either can win by as much); and ``labeling``, from the open documents that are
        relevant there to their labels, every other open document being not relevant.

    Raises:
        ValueError: parameters that do not go together, or a run that has no query in common with the qrels.

    Example, Table 2 of Moffat's paper:

        >>> from ir_measures_relative import med
        >>> run = lambda ranking: {"q": {d: -float(i) for i, d in enumerate(ranking)}}
        >>> found = med(run("ABCDEFGHJK"), run("ADBECGFJLH"), {"q": {"A": 1, "E": 0}}).iloc[0]
        >>> round(float(found.value), 4), found.winner, found.labeling
        (0.2352, 'reference', {'D': 1, 'L': 1})
    """
    import pandas as pd

    from ..comparison import Comparison, JudgedContext
    from ..context import RunContext
    from ..provider import check_queries

    if "ref" in params:
        raise ValueError("med() takes the reference run itself, as its second argument; leave ref= out")
    measure = MED(base=base, **params) if cutoff is None else MED(base=base, cutoff=cutoff, **params)
    measure.validate_params()
    rankings = read_run(run)
    context = RunContext({"reference": reference})
    against = context.runs["reference"]
    if qrels is None:
        query_ids = object_array(dict.fromkeys([*rankings.query_ids, *against.query_ids]))
        none = np.empty(0, dtype=np.int64)
        judged = JudgedContext(context, Judgments(query_ids, none, object_array([]), none))
    else:
        judged = context.judged(qrels)
        check_queries(judged, rankings, may_be_batch=False)
        check_queries(judged, against, may_be_batch=False)
    pool, solutions, labels = measure.solve(Comparison(judged, rankings, None))
    labelings = [
        dict(zip(docs[level > 0], labels[level[level > 0] - 1].tolist(), strict=True))
        for docs, level in zip(pool.doc_ids, solutions.level, strict=True)
    ]
    return pd.DataFrame(
        {
            "query_id": judged.judgments.query_ids,
            "value": solutions.value,
            "lower": solutions.lower,
            "upper": solutions.upper,
            "exact": solutions.exact,
            "winner": np.array(["", "run", "reference"], dtype=object)[solutions.winner],
            "labeling": labelings,
        }
    )
