"""Normalized residual gain, unique contributions to the relevant set, and TaSC: relative to prior runs."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from ir_measures import Measure

from ..context.measure_strings import absolute_measure, needs_subtopics, param_value
from ..context.tops import Look
from ..data.arrays import FloatArray, IntArray
from ..tolerances import OUTSIDE_RANGE
from . import parameters
from .bases.base import BASES as ALL_BASES
from .bases.browsing import TopK, Unseen
from .bases.err import Reader, chance_to_reach
from .bases.gains import Relevant
from .form import Form, Rule
from .measure import RelativeMeasure, register
from .parameters import Param

if TYPE_CHECKING:
    from ..context.collection import Collection
    from ..context.evaluated import Evaluated

#: The bases that NRG extends.
BASES = {name: ALL_BASES[name] for name in sorted(ALL_BASES, key=str.lower) if ALL_BASES[name].residual}

#: The gains that N is computed from; None is N = 1.
NORMS = ("residual", "ideal", "whole", None)


@dataclass(frozen=True, eq=False)
class ResidualCascade(Form):
    """The form of a cascade: what priors leave of a document depends on the grades of those above it."""

    priors: IntArray = field(kw_only=True)  #: the position of each item in each prior, shape (priors, items)

    def compute_left(self, gain: FloatArray) -> FloatArray:
        if gain is self.gain:  # under the given judgments, ``left`` is computed already
            return self.left
        docs, left = self.items, np.ones(gain.shape)
        for position in self.priors:
            left *= 1.0 - chance_to_reach(position, gain, docs.query, docs.n_queries)
        return left


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
        "max_grade": parameters.err_max_grade(),
        "p": parameters.persistence(),
        "judged_only": parameters.judged_only(),
    }

    @property
    def value_range(self) -> tuple[float, float]:
        unbounded = self.get("norm") is None and self.rule.combine == "sum"
        return 0.0, math.inf if unbounded else 1.0

    @property
    def zero_for_duplicate(self) -> bool:
        """Whether a duplicate of a prior has 0: only with base P, since with others users may miss documents."""
        return bool(self.get("base") == "P")

    def check_together(self) -> None:
        if self.get("norm") == "whole" and self.get("base") != "nDCG":
            raise ValueError(f"{self!r}: norm='whole' goes with base 'nDCG', not {self.get('base')!r}")

    @cached_property
    def rule(self) -> Rule:
        """The rule of the base, with the divisor that ``norm`` chooses."""
        rule, norm = BASES[self.get("base")].rule(self.get), self.get("norm")
        if norm is None:
            return replace(rule, over=1.0)
        if norm == "whole" and not isinstance(rule.over, (int, float)):
            return replace(rule, over=replace(rule.over, depth=None))
        return rule

    @cached_property
    def is_residual(self) -> bool:
        """Whether N is computed from the residual gains."""
        return self.get("norm") in ("residual", "whole")

    def form(self, run: Evaluated) -> Form:
        rule, look, prior = self.rule, self.look, self.prior
        docs = run.documents_for(self.rule.gain)
        position = run.positions(docs, look)
        if rule.combine != "cascade":
            left = run.left_by_priors(Unseen(rule.seen), docs, look, prior)
            return Form(docs, position, rule, left, self.is_residual)
        left = run.left_by_priors(Unseen(Reader(docs, self.get("max_grade"))), docs, look, prior)
        in_priors = run.collection.positions(docs, look, of=run.priors(prior))
        return ResidualCascade(docs, position, rule, left, residual=True, priors=in_priors)


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
    COUNTS = True

    @property
    def value_range(self) -> tuple[float, float]:
        return 0.0, float(self.get("cutoff"))

    @cached_property
    def rule(self) -> Rule:
        return Rule(Relevant(self.get("rel")), TopK(self.get("cutoff")))

    def form(self, run: Evaluated) -> Form:
        docs = run.documents_for(self.rule.gain)
        left = run.left_by_priors(Unseen(self.rule.seen), docs, self.look, self.prior)
        return Form(docs, run.positions(docs, self.look), self.rule, left)


NRG = register(_NRG())
UniqueRel = register(_UniqueRel())


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

    @cached_property
    def look(self) -> Look:
        return Look(param_value(self.base_measure(), "cutoff"))

    @property
    def looks_at_aspects(self) -> bool:
        return needs_subtopics(self.base_measure())

    def base_measure(self) -> Measure:
        """Return the base measure, checked by :func:`absolute_measure`."""
        return absolute_measure(self.get("base"), f"{self.NAME}: base")

    @property
    def value_range(self) -> tuple[float, float]:
        return 0.0, 1.0

    def score(self, run: Evaluated) -> FloatArray:
        measure = self.base_measure()
        priors = self.checked(run.collection.absolute_values_by_run(measure)[run.priors(self.prior)])
        return (1.0 - priors.max(axis=0, initial=0.0)) * self.checked(run.absolute(measure))

    def covered_by_runs(self, collection: Collection) -> tuple[FloatArray, FloatArray]:
        """Return the base measure of each run and query: a group covers a query as well as the best of its runs."""
        values = self.checked(collection.absolute_values_by_run(self.base_measure()))
        return values, np.ones(values.shape[1])

    def checked(self, values: FloatArray) -> FloatArray:
        """Return values of the base measure, clipped to [0, 1]; ValueError beyond rounding."""
        outside = values[(values < -OUTSIDE_RANGE) | (values > 1 + OUTSIDE_RANGE)]
        if len(outside):
            raise ValueError(
                f"{self!r}: its base must range from 0 to 1, and {self.base_measure()} gave {float(outside[0])}; "
                "use a normalized measure"
            )
        return np.clip(values, 0.0, 1.0)


TaSC = register(_TaSC())
