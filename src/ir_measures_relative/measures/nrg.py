"""Normalized residual gain and unique contributions.

"Evaluating Relative Retrieval Effectiveness with Normalized Residual Gain", SIGIR-AP 2024.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ..judgments import FloatArray, Judgments, rank_within
from ..rankings import IntArray
from . import base
from .base import Contributions, Param, RelativeMeasure, register
from .segments import discount, gain_of, ideal_dcg, max_by_query, ratio, sum_by_query

if TYPE_CHECKING:
    from ..comparison import Comparison


def seen(position: IntArray, base: str, p: float = 0.8) -> FloatArray:
    """The probability that a searcher sees a position (Eq. 1); 0 for position 0, not retrieved.

    nDCG 1/log2(i + 1), P 1, RR 1/i, RBP p^(i - 1).
    """
    found = position > 0
    if base == "nDCG":
        return discount(position)
    if base == "P":
        return found.astype(np.float64)
    result = np.zeros(position.shape)
    if base == "RR":
        np.divide(1.0, position, out=result, where=found)
    else:
        np.power(p, position - 1.0, out=result, where=found)
    return result


def normalized_residual_gain(
    gain: FloatArray,
    survival: FloatArray,
    position: IntArray,
    query: IntArray,
    n_queries: int,
    *,
    base: str,
    cutoff: int | None,
    p: float = 0.8,
) -> FloatArray:
    """NRG of each query (Eqs. 3-4), range [0, 1].

    Args:
        gain: G(d) of every judged document, at least 0.
        survival: the product over the priors j of 1 - seen(pos_j(d)), for every judged document.
        position: its 1-based position in the evaluated ranking, 0 if it is not in the top ``cutoff``.
        query: its query, ascending, of ``n_queries``.
        base: 'nDCG', 'P', 'RR' or 'RBP'.
        cutoff: the depth k; None for the whole ranking. 'P' needs one.
        p: the persistence of RBP.
    """
    residual = gain * survival
    weighted = residual * seen(position, base, p)
    if base == "RR":
        return max_by_query(weighted, query, n_queries)
    total = sum_by_query(weighted, query, n_queries)
    return ratio(total, _normalizer(residual, query, n_queries, base, cutoff, p))


def _normalizer(
    residual: FloatArray, query: IntArray, n_queries: int, base: str, cutoff: int | None, p: float
) -> FloatArray:
    """N of Eq. 4, for the bases that are a sum."""
    if base == "nDCG":
        return ideal_dcg(residual, query, n_queries, cutoff)
    if base == "P":
        assert cutoff is not None  # the declaration asks for it
        return np.full(n_queries, float(cutoff))
    return np.full(n_queries, 1.0 / (1.0 - p))


def residual_shares(
    gain: FloatArray,
    survival: FloatArray,
    position: IntArray,
    query: IntArray,
    n_queries: int,
    *,
    base: str,
    cutoff: int | None,
    p: float = 0.8,
) -> FloatArray:
    """What each document adds to :func:`normalized_residual_gain`, whose arguments these are.

    With base RR the first of the documents that reach the maximum has it all.
    """
    residual = gain * survival
    weighted = residual * seen(position, base, p)
    if base != "RR":
        return ratio(weighted, _normalizer(residual, query, n_queries, base, cutoff, p)[query])
    order = np.lexsort((position, -weighted, query))
    first = np.zeros(len(query), dtype=bool)
    first[order[rank_within(query[order]) == 1]] = True
    return np.where(first, weighted, 0.0)


class _NRG(RelativeMeasure):
    """Normalized residual gain: the effectiveness of a ranking for a searcher who has seen the priors' rankings.

    The gain of a document falls with the chance that it was seen before, in any of the prior rankings R_1 … R_M:
    ``G(d|R) = G(d) · Π_j (1 - seen(pos_j(d)))``, where ``pos_j(d)`` is infinite, and seen 0, outside the top k of
    prior j. Then ``NRG = (1/N) · Σ_{i≤k} G(d_i|R) · seen(i)`` with

    - nDCG: seen(i) = 1/log2(i + 1), N the ideal DCG@k of the *residual* gains (0/0 is 0);
    - P: seen(i) = 1, N = k, binary gain;
    - RBP: seen(i) = p^(i - 1), N = 1/(1 - p), binary gain;
    - RR: seen(i) = 1/i, binary gain, and the maximum over i instead of the sum: reciprocal rank without priors.

    Range [0, 1]; without priors it is the base measure. With base nDCG a ranking may score higher than its nDCG:
    the ideal falls too, so the value says how much of what is *left* to find was found.

    Source: "Evaluating Relative Retrieval Effectiveness with Normalized Residual Gain", SIGIR-AP 2024, Eqs. 1-4.

    Example, from the paper's Table 1:

        >>> import ir_measures
        >>> from ir_measures_relative import NRG, RunContext
        >>> qrels = {"q": {"A": 1, "E": 1, "F": 1, "J": 1}}
        >>> run = lambda ranking: {"q": {d: -float(i) for i, d in enumerate(ranking)}}
        >>> with RunContext({"R2": run("EDCBAFGHIJ")}):
        ...     value = (NRG @ 10).calc_aggregate(qrels, run("ABCDEFGHIJ"))
        >>> round(value, 4)
        0.7361
    """

    __name__ = "NRG"
    NAME = __name__
    PRETTY_NAME = "Normalized Residual Gain"
    SHORT_DESC = "What a ranking adds for a searcher who has already seen the prior runs' rankings."
    SUPPORTED_PARAMS = {
        "cutoff": base.cutoff(),
        "base": Param(
            str,
            "the measure whose browsing model is extended",
            default="nDCG",
            choices=("nDCG", "P", "RR", "RBP"),
        ),
        "prior": base.prior(),
        "dcg": base.dcg(bases=("nDCG",)),
        "gains": base.gains(bases=("nDCG",)),
        "rel": base.rel(bases=("P", "RR", "RBP")),
        "p": Param(
            float,
            "persistence of RBP",
            default=0.8,
            test=lambda p: 0 < p < 1,
            allowed="a number between 0 and 1, both excluded",
            bases=("RBP",),
        ),
        "judged_only": base.judged_only(),
    }

    def check_together(self) -> None:
        if self.get("base") == "P" and self.get("cutoff") is None:
            raise ValueError("NRG(base='P') needs a cutoff: write NRG(base='P')@10")

    def score(self, comparison: Comparison) -> FloatArray:
        docs, gain, survival, position = self._arrays(comparison)
        return normalized_residual_gain(gain, survival, position, docs.query, docs.n_queries, **self._model())

    def contributions(self, comparison: Comparison) -> Contributions:
        docs, gain, survival, position = self._arrays(comparison)
        share = residual_shares(gain, survival, position, docs.query, docs.n_queries, **self._model())
        return Contributions(docs, gain * survival, share)

    def _model(self) -> dict[str, Any]:
        return {name: self.get(name) for name in ("base", "cutoff", "p")}

    def _arrays(self, comparison: Comparison) -> tuple[Judgments, FloatArray, FloatArray, IntArray]:
        """The judged documents that may gain; and of each its gain, its survival, its position."""
        name, cutoff, p, judged_only = map(self.get, ("base", "cutoff", "p", "judged_only"))
        gains = self.get("gains")
        docs = comparison.judgments if gains and min(gains) <= 0 else comparison.relevant
        if name == "nDCG":
            gain = gain_of(docs.grade, self.get("dcg"), gains)
        else:
            gain = (docs.grade >= self.get("rel")).astype(np.float64)
        survival = comparison.prior_product(
            partial(_unseen, base=name, p=p),
            ("unseen", name, p),
            docs,
            prior=self.get("prior"),
            cutoff=cutoff,
            judged_only=judged_only,
        )
        return docs, gain, survival, comparison.positions(docs, cutoff, judged_only)


def _unseen(position: IntArray, base: str, p: float) -> FloatArray:
    return 1.0 - seen(position, base, p)


class _UniqueRel(RelativeMeasure):
    """The number of relevant documents in the top k that no prior run holds in its top k.

    TREC's "unique contributions to the relevant set": NRG with gain 1 for a relevant document, seen(i) = 1 for
    i ≤ k, and N = 1, so ``NRG(base='P')@k = UniqueRel@k / k``. Range [0, k]; a mean over queries when aggregated.

    Source: "Evaluating Relative Retrieval Effectiveness with Normalized Residual Gain", SIGIR-AP 2024, App. B.

    Example:
        >>> import ir_measures
        >>> from ir_measures_relative import RunContext, UniqueRel
        >>> qrels = {"q": {"A": 1, "B": 2, "C": 1}}
        >>> with RunContext({"old": {"q": {"A": 3.0, "X": 2.0, "B": 1.0}}}):
        ...     (UniqueRel @ 2).calc_aggregate(qrels, {"q": {"B": 2.0, "A": 1.0}})
        1.0
    """

    __name__ = "UniqueRel"
    NAME = __name__
    PRETTY_NAME = "Unique Relevant Documents"
    SHORT_DESC = "The number of relevant documents in the top k that no prior run has in its top k."
    SUPPORTED_PARAMS = {
        "cutoff": base.cutoff(required=True),
        "prior": base.prior(),
        "rel": base.rel(),
        "judged_only": base.judged_only(),
    }

    def score(self, comparison: Comparison) -> FloatArray:
        docs, _, unique = self.contributions(comparison)
        return sum_by_query(unique, docs.query, docs.n_queries)

    def contributions(self, comparison: Comparison) -> Contributions:
        cutoff, judged_only = self.get("cutoff"), self.get("judged_only")
        docs = comparison.relevant
        unseen = comparison.prior_product(
            partial(_unseen, base="P", p=0.0),
            ("unseen", "P", 0.8),
            docs,
            prior=self.get("prior"),
            cutoff=cutoff,
            judged_only=judged_only,
        )
        found = comparison.positions(docs, cutoff, judged_only) > 0
        gain = unseen * (docs.grade >= self.get("rel"))
        return Contributions(docs, gain, gain * found)


NRG = _NRG()
UniqueRel = _UniqueRel()
register(NRG)
register(UniqueRel)
