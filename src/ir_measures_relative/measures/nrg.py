"""Normalized residual gain and unique contributions.

"Evaluating Relative Retrieval Effectiveness with Normalized Residual Gain", SIGIR-AP 2024.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..arrays import FloatArray, IntArray, max_by_query, rank_within, ratio, sum_by_query
from . import parameters
from .coverage import Coverage
from .declaration import Contributions, RelativeMeasure, register
from .gains import discount, gain_of, ideal_dcg, persistence, reciprocal
from .parameters import Param

if TYPE_CHECKING:
    from ..comparison import Comparison, JudgedContext
    from ..judgments import Judgments


class Residual(NamedTuple):
    """The residual gains of the judged documents, one row a document, sorted by query."""

    gain: FloatArray  #: G(d|R), at least 0
    query: IntArray  #: ascending, of ``n_queries``
    n_queries: int


@dataclass(frozen=True)
class Base:
    """A measure that NRG extends.

    Attributes:
        seen: the chance that a searcher looks at a position (Eq. 1), from positions and the persistence p; 0 for
            position 0, not retrieved.
        normalizer: N of Eq. 4 for each query, from the residual gains (or with norm='ideal' from those that there
            were before any prior), the cutoff and p; None where the value is the largest term, and not the sum of all.
        graded: whether a document gains by its label, or by being relevant.
        needs_cutoff: whether it is nothing without ``@k``.
        has_p: whether it has a persistence.
    """

    seen: Callable[[IntArray, float], FloatArray]
    normalizer: Callable[[Residual, int | None, float], FloatArray] | None
    graded: bool = False
    needs_cutoff: bool = False
    has_p: bool = False


#: What NRG extends. A new base is an entry here.
BASES = {
    "nDCG": Base(
        seen=lambda position, p: discount(position),
        normalizer=lambda residual, cutoff, p: ideal_dcg(*residual, cutoff),
        graded=True,
    ),
    "P": Base(
        seen=lambda position, p: (position > 0).astype(np.float64),
        normalizer=lambda residual, cutoff, p: np.full(residual.n_queries, float(cutoff or 0)),
        needs_cutoff=True,
    ),
    "RR": Base(seen=lambda position, p: reciprocal(position), normalizer=None),
    "RBP": Base(
        seen=lambda position, p: persistence(p)(position),
        normalizer=lambda residual, cutoff, p: np.full(residual.n_queries, 1.0 / (1.0 - p)),
        has_p=True,
    ),
}


@dataclass(frozen=True)
class Unseen:
    """From positions in a prior to ``1 - seen(position)``, the chance that it left the document to find."""

    base: str
    p: float = 0.8

    def __call__(self, position: IntArray) -> FloatArray:
        return 1.0 - BASES[self.base].seen(position, self.p)


#: The gains that N is computed from, from all gains and the residual ones; None is N = 1.
NORMS: dict[str | None, Callable[[Residual, Residual], Residual] | None] = {
    "residual": lambda full, residual: residual,
    "ideal": lambda full, residual: full,
    None: None,
}


def normalized_residual_gain(
    residual: Residual,
    position: IntArray,
    base: str,
    cutoff: int | None,
    p: float = 0.8,
    ideal: Residual | None = None,
) -> FloatArray:
    """NRG of each query (Eqs. 3-4), range [0, 1] with N.

    Args:
        residual: the gain of every judged document, times the product over the priors j of 1 - seen(pos_j(d)).
        position: its 1-based position in the evaluated ranking, 0 if it is not in the top ``cutoff``.
        base: a key of :data:`BASES`.
        cutoff: the depth k; None for the whole ranking.
        p: the persistence of RBP.
        ideal: the gains that N is computed from, by :data:`NORMS`; N is 1 if not given.
    """
    model = BASES[base]
    weighted = residual.gain * model.seen(position, p)
    if model.normalizer is None:
        return max_by_query(weighted, residual.query, residual.n_queries)
    total = sum_by_query(weighted, residual.query, residual.n_queries)
    return total if ideal is None else ratio(total, model.normalizer(ideal, cutoff, p))


def residual_shares(
    residual: Residual,
    position: IntArray,
    base: str,
    cutoff: int | None,
    p: float = 0.8,
    ideal: Residual | None = None,
) -> FloatArray:
    """What each document adds to :func:`normalized_residual_gain`, whose arguments these are.

    Where the value is the largest term, the first of the documents that reach it has it all.
    """
    model, query = BASES[base], residual.query
    weighted = residual.gain * model.seen(position, p)
    if model.normalizer is not None:
        return weighted if ideal is None else ratio(weighted, model.normalizer(ideal, cutoff, p)[query])
    order = np.lexsort((position, -weighted, query))
    first = np.zeros(len(query), dtype=bool)
    first[order[rank_within(query[order]) == 1]] = True
    return np.where(first, weighted, 0.0)


def judged_gains(
    judgments: Judgments, base: Base, rel: int, dcg: str, gains: dict[int, int] | None
) -> tuple[Judgments, FloatArray]:
    """The judged documents that may gain, and the gain G(d) of each."""
    docs = judgments if gains and min(gains) <= 0 else judgments.relevant
    if base.graded:
        return docs, gain_of(docs.grade, dcg, gains)
    return docs, (docs.grade >= rel).astype(np.float64)


_GRADED = tuple(name for name, base in BASES.items() if base.graded)
_BINARY = tuple(name for name, base in BASES.items() if not base.graded)


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

    ``norm='ideal'`` computes N from the gains before any prior: for nDCG, the ideal DCG@k of the judgments. The value
    is then what the ranking adds on the scale of the base measure, never above it. Against all others it is the
    marginal contribution ``v(all) - v(all without it)`` of the game that :class:`Shapley` shares out, and in the order
    of a history the values sum to v(all), which is what the comparison of systems by what they add asks for.
    ``norm=None`` is N = 1, so that the range with base nDCG is that of DCG. P and RBP have one N; RR has none.

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
    RELATIVE_TO = "priors"
    NAME = __name__
    PRETTY_NAME = "Normalized Residual Gain"
    SHORT_DESC = "What a ranking adds for a searcher who has already seen the prior runs' rankings."
    FORMULA = (
        r"\mathrm{NRG}@k = \frac{1}{N} \sum_{i=1}^{k} G(d_i \mid R)\,\mathrm{seen}(i), \qquad "
        r"G(d \mid R) = G(d) \prod_{j} \bigl(1 - \mathrm{seen}(\mathrm{pos}_j(d))\bigr)"
    )
    SEE_ALSO = ("UniqueRel", "Shapley", "TaSC", "P_Rareness")
    SUPPORTED_PARAMS = {
        "cutoff": parameters.cutoff(),
        "base": Param(
            str,
            "the measure whose browsing model is extended",
            default="nDCG",
            choices=tuple(BASES),
        ),
        "norm": Param(
            str,
            "what N is computed from: the residual gains (Eq. 4), or the gains before any prior; None is N = 1",
            default="residual",
            choices=tuple(NORMS),
            bases=tuple(name for name, base in BASES.items() if base.normalizer is not None),
        ),
        "prior": parameters.prior(),
        "dcg": parameters.dcg(bases=_GRADED),
        "gains": parameters.gains(bases=_GRADED),
        "rel": parameters.rel(bases=_BINARY),
        "p": parameters.persistence(bases=tuple(name for name, base in BASES.items() if base.has_p)),
        "judged_only": parameters.judged_only(),
    }

    @property
    def is_0_for_a_copy(self) -> bool:
        """With base P alone; by the others a searcher has overlooked some of what stands low, and sees it now."""
        return bool(self.get("base") == "P")

    def check_together(self) -> None:
        name = self.get("base")
        if BASES[name].needs_cutoff and self.get("cutoff") is None:
            raise ValueError(f"NRG(base={name!r}) needs a cutoff: write NRG(base={name!r})@10")

    def score(self, comparison: Comparison) -> FloatArray:
        """NRG of each query."""
        _, residual, position, ideal = self._arrays(comparison)
        name, cutoff, p = map(self.get, ("base", "cutoff", "p"))
        return normalized_residual_gain(residual, position, name, cutoff, p, ideal)

    def contributions(self, comparison: Comparison) -> Contributions:
        """The residual gain of each document, and what it adds to the value of its query."""
        docs, residual, position, ideal = self._arrays(comparison)
        name, cutoff, p = map(self.get, ("base", "cutoff", "p"))
        share = residual_shares(residual, position, name, cutoff, p, ideal)
        return Contributions(docs, residual.gain, share)

    def coverage(self, judged: JudgedContext) -> Coverage:
        """``(1/N) Σ_d G(d) · (1 - Π_j (1 - seen(pos_j(d))))``, N from the gains before any prior; 1 with norm=None."""
        name, cutoff, p, judged_only = map(self.get, ("base", "cutoff", "p", "judged_only"))
        base = BASES[name]
        docs, gain = judged_gains(judged.judgments, base, *map(self.get, ("rel", "dcg", "gains")))
        seen = base.seen(judged.positions_of_runs(docs, cutoff, judged_only), p)
        weight = gain / max(docs.n_queries, 1)
        if base.normalizer is None:
            return Coverage(seen, weight, query=docs.query)
        if self.get("norm") is not None:
            norm = base.normalizer(Residual(gain, docs.query, docs.n_queries), cutoff, p)
            weight = ratio(weight, norm[docs.query])
        return Coverage(seen, weight)

    def _arrays(self, comparison: Comparison) -> tuple[Judgments, Residual, IntArray, Residual | None]:
        """The judged documents that may gain, their residual gains, their positions, and the gains that N is of."""
        name, cutoff, p, judged_only = map(self.get, ("base", "cutoff", "p", "judged_only"))
        docs, gain = judged_gains(comparison.judgments, BASES[name], *map(self.get, ("rel", "dcg", "gains")))
        survival = comparison.prior_product(
            Unseen(name, p), docs, prior=self.get("prior"), cutoff=cutoff, judged_only=judged_only
        )
        residual = Residual(gain * survival, docs.query, docs.n_queries)
        norm = NORMS[self.get("norm")]
        ideal = None if norm is None else norm(residual._replace(gain=gain), residual)
        return docs, residual, comparison.positions(docs, cutoff, judged_only), ideal


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
    RELATIVE_TO = "priors"
    NAME = __name__
    PRETTY_NAME = "Unique Relevant Documents"
    SHORT_DESC = "The number of relevant documents in the top k that no prior run has in its top k."
    FORMULA = (
        r"\mathrm{UniqueRel}@k = \bigl|\{\, i \le k : \mathrm{rel}(d_i) = 1,\ "
        r"d_i \notin \mathrm{top}_k(R_j)\ \mathrm{for\ all}\ j \,\}\bigr|"
    )
    SEE_ALSO = ("NRG", "P_Rareness")
    SUPPORTED_PARAMS = {
        "cutoff": parameters.cutoff(required=True),
        "prior": parameters.prior(),
        "rel": parameters.rel(),
        "judged_only": parameters.judged_only(),
    }
    is_0_for_a_copy = True

    def score(self, comparison: Comparison) -> FloatArray:
        docs, _, unique = self.contributions(comparison)
        return sum_by_query(unique, docs.query, docs.n_queries)

    def contributions(self, comparison: Comparison) -> Contributions:
        cutoff, judged_only = self.get("cutoff"), self.get("judged_only")
        docs = comparison.relevant
        unseen = comparison.prior_product(
            Unseen("P"),
            docs,
            prior=self.get("prior"),
            cutoff=cutoff,
            judged_only=judged_only,
        )
        found = comparison.positions(docs, cutoff, judged_only) > 0
        gain = unseen * (docs.grade >= self.get("rel"))
        return Contributions(docs, gain, gain * found)

    def coverage(self, judged: JudgedContext) -> Coverage:
        """The number of distinct relevant documents in the top k of a group."""
        docs = judged.judgments.relevant
        found = judged.positions_of_runs(docs, self.get("cutoff"), self.get("judged_only")) > 0
        return Coverage(found.astype(np.float64), (docs.grade >= self.get("rel")) / max(docs.n_queries, 1))


NRG = _NRG()
UniqueRel = _UniqueRel()
register(NRG)
register(UniqueRel)
