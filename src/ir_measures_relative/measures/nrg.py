"""Normalized residual gain, unique contributions to the relevant set, and TaSC: relative to prior runs."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from ir_measures import Measure

from ..context.measure_strings import absolute_measure, needs_subtopics
from ..data.arrays import FloatArray, IntArray, max_by_query, rank_within, ratio, sum_by_query
from ..messages import warn
from ..tolerances import OUTSIDE_RANGE
from . import bases, parameters
from .bases.base import Base
from .bases.browsing import BrowsingModel, TopK, Unseen
from .bases.err import Reader, chance_to_reach
from .measure import Contributions, RelativeMeasure, register
from .parameters import Param

if TYPE_CHECKING:
    from ..context.view import View
    from ..data.documents import Documents

#: What NRG extends.
BASES = {name: base for name, base in bases.BASES.items() if base.residual}


#: What N is computed from; None is N = 1.
NORMS = ("residual", "ideal", "whole", None)


class ResidualRanking(NamedTuple):
    """A ranking, as it is to a searcher who has seen the priors' (Eqs. 3-4)."""

    docs: Documents  #: the judged documents that may gain
    residual: FloatArray  #: the gain of each, times the product over the priors j of 1 - seen(pos_j(d))
    position: IntArray  #: in the evaluated ranking, 0 if it is not in the top
    base: Base
    browsing: BrowsingModel  #: of the base, with its parameters
    depth: int | None  #: that N is computed to; None for all documents
    ideal: FloatArray | None = None  #: the gains that N is computed from; N is 1 if not given

    def value(self) -> FloatArray:
        """NRG of each query, range [0, 1] with N."""
        query, n_queries = self.docs.query, self.docs.n_queries
        if self.base.residual == "largest":
            return max_by_query(self._terms, query, n_queries)
        return self._normalized(sum_by_query(self._terms, query, n_queries), np.arange(n_queries))

    def shares(self) -> FloatArray:
        """What each document adds to the value; of those with the largest term, where that is all, the first."""
        terms, query = self._terms, self.docs.query
        if self.base.residual != "largest":
            return self._normalized(terms, query)
        order = np.lexsort((self.position, -terms, query))
        first = np.zeros(len(query), dtype=bool)
        first[order[rank_within(query[order]) == 1]] = True
        return np.where(first, terms, 0.0)

    @property
    def _terms(self) -> FloatArray:
        """``G(d|R) · seen(pos(d))`` of each document; of a cascade, times the chance to get there."""
        terms: FloatArray = self.residual * self.browsing.seen(self.position)
        if self.base.residual == "cascade":
            docs = self.docs
            terms = terms * chance_to_reach(self.position, self.residual, docs.query, docs.n_queries)
        return terms

    def _normalized(self, sums: FloatArray, query: IntArray) -> FloatArray:
        if self.base.residual == "cascade" or self.ideal is None:
            return sums
        return ratio(sums, self.base.norm(self.docs, self.ideal, self.depth, self.browsing)[query])


class _NRG(RelativeMeasure):
    """Normalized residual gain: the effectiveness of a run for a user who has seen its prior runs.

    A document gains less, the more likely the user has seen it in a prior run j; pos_j(d) is its position in j's top k:
    ``G(d|R) = G(d)·Π_j (1 - seen(pos_j(d)))``, and ``NRG@k = (1/N) Σ_{i≤k} G(d_i|R)·seen(i)``.

    - nDCG: seen(i) = 1/log2(i + 1), N the ideal DCG@k of the *residual* gains (0/0 is 0);
    - P, RBP, SDCG, binary: seen(i) is 1, p^(i - 1), 1/log2(i + 1), N the sum of it over k positions (for RBP over all);
    - RR, binary: seen(i) = 1/i, and the largest ``G(d_i|R)/i`` instead of the sum;
    - ERR: a document satisfies with probability ``G(d) = (2^grade - 1)/2^max_grade``, and a satisfied user stops:
      seen_j(d) is ``Π (1 - G)`` over the documents above d in j, and the value ``Σ_{i≤k} (1/i)·G(d_i|R)·Π_{l<i} (1 -
      G(d_l|R))``.

    Range [0, 1]; without priors it is its base. ``norm='ideal'`` computes N from the gains before any prior, so that
    values are on the scale of the base: to add them up, or with many priors.

    Source: Bigdeli et al., SIGIR-AP 2024, Eqs. 1-4; base ERR with the cascade of Chapelle et al., CIKM 2009. Table 1:

        >>> from ir_measures_relative import NRG, RunContext
        >>> qrels = {"q": {"A": 1, "E": 1, "F": 1, "J": 1}}
        >>> run = lambda ranking: {"q": {d: -float(i) for i, d in enumerate(ranking)}}
        >>> with RunContext({"R2": run("EDCBAFGHIJ")}):
        ...     round((NRG @ 10).calc_aggregate(qrels, run("ABCDEFGHIJ")), 4)
        0.7361
    """

    __name__ = "NRG"
    PAPERS = {"nrg2024": "", "chapelle2009expected": "ERR"}
    RELATIVE_TO = "priors"
    TEST = "bootstrap"
    PRETTY_NAME = "Normalized Residual Gain"
    SHORT_DESC = "What a ranking adds for a user who has already seen the prior runs' rankings."
    FORMULA = (
        r"\mathrm{NRG}@k = \frac{1}{N} \sum_{i=1}^{k} G(d_i \mid R)\,\mathrm{seen}(i), \qquad "
        r"G(d \mid R) = G(d) \prod_{j} \bigl(1 - \mathrm{seen}(\mathrm{pos}_j(d))\bigr)"
    )
    BASES = BASES
    SEE_ALSO = ("UniqueRel", "Shapley", "TaSC", "P_Rareness")
    SUPPORTED_PARAMS = {
        "cutoff": parameters.cutoff(),
        "base": Param(
            str, "the measure whose browsing model is extended", default="nDCG", choices=tuple(BASES)
        ),
        "norm": Param(
            str,
            "what N is computed from: the residual gains (Eq. 4), the gains before any prior ('ideal'), or the "
            "residual gains of all judged documents ('whole'); None is N = 1",
            default="residual",
            choices=NORMS,
        ),
        "prior": parameters.prior(),
        "dcg": parameters.dcg(),
        "gains": parameters.gains(),
        "rel": parameters.rel(),
        "max_grade": parameters.max_grade_of_err(),
        "p": parameters.persistence(),
        "judged_only": parameters.judged_only(),
    }

    @property
    def value_range(self) -> tuple[float, float]:
        unbounded = self.get("norm") is None and self.base.residual == "sum"
        return 0.0, math.inf if unbounded else 1.0

    @property
    def zero_for_duplicate(self) -> bool:
        """With base P alone; by the others a searcher has overlooked some of what stands low, and sees it now."""
        return bool(self.get("base") == "P")

    def check_together(self) -> None:
        name = self.get("base")
        if self.get("norm") == "whole" and not BASES[name].graded:
            known = ", ".join(repr(n) for n, base in BASES.items() if base.graded)
            raise ValueError(f"{self!r}: norm='whole' goes with base {known}, not {name!r}")

    def score(self, view: View) -> FloatArray:
        return self._residual(view).value()

    def contributions(self, view: View) -> Contributions:
        found = self._residual(view)
        return Contributions(found.docs, found.residual, found.shares())

    @property
    def depth_of_ideal(self) -> int | None:
        """How many documents N is computed from; None for all that are judged."""
        depth: int | None = None if self.get("norm") == "whole" else self.get("cutoff")
        return depth

    @property
    def browsing(self) -> BrowsingModel:
        return self.base.browsing(self.get)

    @property
    def base(self) -> Base:
        return BASES[self.get("base")]

    def _residual(self, view: View) -> ResidualRanking:
        top = view.at(self.get("cutoff"), self.get("judged_only"))
        base, browsing = self.base, self.browsing
        docs, gain = base.gains(view.documents, self)
        cascade = base.residual == "cascade"
        unseen = Unseen(Reader(docs, self.get("max_grade")) if cascade else browsing)
        residual = gain * top.prior_product(unseen, docs, self.get("prior"))
        ideal = {"ideal": gain, None: None}.get(self.get("norm"), residual)
        position = top.positions(docs)
        return ResidualRanking(docs, residual, position, base, browsing, self.depth_of_ideal, ideal)


class _UniqueRel(RelativeMeasure):
    """The number of relevant documents in the top k that no prior run has in its top k.

    TREC calls this "unique contributions to the relevant set". ``UniqueRel@k = k · NRG(base='P')@k``. Range [0, k].

    Source: Bigdeli et al., SIGIR-AP 2024, App. B.

    Example:
        >>> from ir_measures_relative import RunContext, UniqueRel
        >>> qrels = {"q": {"A": 1, "B": 2, "C": 1}}
        >>> with RunContext({"old": {"q": {"A": 3.0, "X": 2.0, "B": 1.0}}}):
        ...     (UniqueRel @ 2).calc_aggregate(qrels, {"q": {"B": 2.0, "A": 1.0}})
        1.0
    """

    __name__ = "UniqueRel"
    PAPERS = {"nrg2024": ""}
    RELATIVE_TO = "priors"
    TEST = "bootstrap"
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
    zero_for_duplicate = True

    @property
    def value_range(self) -> tuple[float, float]:
        return 0.0, float(self.get("cutoff"))

    def score(self, view: View) -> FloatArray:
        docs, _, unique, _ = self.contributions(view)
        counts = sum_by_query(unique, docs.query, docs.n_queries)
        if "rel" not in self.params and docs.grade.max(initial=0) > 1:
            of_two = sum_by_query(unique * (docs.grade >= 2), docs.query, docs.n_queries)
            warn(
                f"{self!r} counts documents of grade 1, and there are higher grades: the mean of the first run is "
                f"{counts.mean():.2f}, and {of_two.mean():.2f} with rel=2; set rel= to the grade that is relevant",
                view.members,
                "UniqueRel, rel",
            )
        return counts

    def contributions(self, view: View) -> Contributions:
        docs, top = view.relevant, view.at(self.get("cutoff"), self.get("judged_only"))
        unseen = top.prior_product(Unseen(TopK(self.get("cutoff"))), docs, self.get("prior"))
        found = top.positions(docs) > 0
        gain = unseen * (docs.grade >= self.get("rel"))
        return Contributions(docs, gain, gain * found)


NRG = register(_NRG())
UniqueRel = register(_UniqueRel())


def max_tasc(run: FloatArray, priors: FloatArray) -> FloatArray:
    """``(1 - max over the priors of S(prior)) · S(run)`` of each query; ``priors`` has shape (priors, queries)."""
    best: FloatArray = priors.max(axis=0, initial=0.0)
    return (1.0 - best) * run


class _TaSC(RelativeMeasure):
    """MAX TaSC: the effectiveness of a run, weighted by how badly the best prior run does on the query.

    ``TaSC = (1 - max over the priors of S(prior)) · S(run)`` for each query, S the base measure: any of ir_measures
    with values from 0 to 1. Range [0, 1]; S(run) without priors. It does not look at *which* documents a run retrieves.

    Source: Arabzadeh et al., SIGIR 2023, in the form of Bigdeli et al., SIGIR-AP 2024, App. C.

    Example:
        >>> from ir_measures_relative import RunContext, TaSC
        >>> qrels = {"q1": {"A": 1}, "q2": {"A": 1}}
        >>> with RunContext({"old": {"q1": {"A": 1.0}, "q2": {"X": 2.0, "A": 1.0}}}):
        ...     measure = TaSC(base="RR@10")  # (1 - 1) · 1, (1 - 1/2) · 1
        ...     measure.calc_aggregate(qrels, {"q1": {"A": 1.0}, "q2": {"A": 1.0}})
        0.25
    """

    __name__ = "TaSC"
    PAPERS = {"nrg2024": "", "arabzadeh2023quantifying": ""}
    RELATIVE_TO = "priors"
    TEST = "bootstrap"
    PRETTY_NAME = "Target Subspace Coverage"
    SHORT_DESC = "The effectiveness of a run, weighted by how badly the best prior run does on the query."
    FORMULA = r"\mathrm{TaSC} = \Bigl(1 - \max_{j} S(R_j)\Bigr)\, S(\mathrm{run})"
    SEE_ALSO = ("NRG", "UniqueRel")
    SUPPORTED_PARAMS = {
        "base": Param(
            str,
            "a measure string that ir_measures can compute, with values from 0 to 1",
            default="nDCG@10",
            test=lambda base: bool(base.strip()),
            allowed="a measure string, such as 'nDCG@10'",
        ),
        "prior": parameters.prior(),
    }

    def __init__(self, **params: Any) -> None:
        if isinstance(params.get("base"), Measure):
            params["base"] = str(params["base"])
        if "cutoff" in params:
            example = f"{self.NAME}(base='nDCG@{params['cutoff']}')"
            raise ValueError(f"{self.NAME} has no cutoff; give it to the base: {example}")
        super().__init__(**params)

    def check_together(self) -> None:
        self.base_measure()

    @property
    def looks_at_aspects(self) -> bool:
        return needs_subtopics(self.base_measure())

    def base_measure(self) -> Measure:
        """The base measure, checked as :func:`absolute_measure` says."""
        return absolute_measure(self.get("base"), f"{self.NAME}: base")

    @property
    def value_range(self) -> tuple[float, float]:
        return 0.0, 1.0

    def score(self, view: View) -> FloatArray:
        measure = self.base_measure()
        of_priors = view.absolute_of_runs(measure)[view.priors(self.get("prior"))]
        return max_tasc(self.checked(view.absolute_of_run(measure)), self.checked(of_priors))

    def checked(self, values: FloatArray) -> FloatArray:
        """Values of the base measure, within [0, 1]."""
        outside = values[(values < -OUTSIDE_RANGE) | (values > 1 + OUTSIDE_RANGE)]
        if len(outside):
            raise ValueError(
                f"{self!r}: its base must range from 0 to 1, and {self.base_measure()} gave {float(outside[0])}; "
                "use a normalized measure"
            )
        return np.clip(values, 0.0, 1.0)


TaSC = register(_TaSC())
