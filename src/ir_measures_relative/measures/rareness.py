"""Rareness-based precision and average precision."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..arrays import FloatArray, IntArray, rank_within, sum_by_query, table
from . import parameters
from .browsing import TopK
from .declaration import Contributions, RelativeMeasure, register
from .parameters import Param

if TYPE_CHECKING:
    from ..comparison import Comparison
    from ..extremes.labelings import Labelings
    from ..extremes.model import Model


def rareness_weights(retrieving: IntArray, systems: int, alpha: float, bounded: bool) -> FloatArray:
    """What a relevant document counts: 1 + αR(d) (Eqs. 1-2), or (1 - α) + αR'(d) where bounded (§5.2, Eq. 4).

    ``retrieving`` is S_d, how many of the S ``systems`` retrieve each document; with one system rareness is 0.
    """
    if bounded:
        if systems == 1:
            return np.full(retrieving.shape, 1.0 - alpha)
        others = retrieving.astype(np.float64) - 1.0
        return (1.0 - alpha) + alpha * (1.0 - others / (systems - 1.0))
    return 1.0 + alpha * (1.0 - retrieving / systems)


class _Rareness(RelativeMeasure):
    """What the two measures share: their parameters together, and the weights of the relevant documents."""

    RELATIVE_TO = "systems"
    SUPPORTED_PARAMS = {
        "cutoff": parameters.cutoff(),
        "alpha": Param(
            float,
            "the weight of rareness; 0 is the plain measure",
            default=1.0,
            test=lambda a: 0 <= a < float("inf"),
            allowed="a number of at least 0, and at most 1 with bounded=True",
        ),
        "rel": parameters.rel(),
        "bounded": Param(bool, "the revision of the paper's §5.2, with range [0, 1]", default=False),
        "judged_only": parameters.judged_only(),
    }

    def score(self, comparison: Comparison) -> FloatArray:
        docs, _, shares, _ = self.contributions(comparison)
        return sum_by_query(shares, docs.query, docs.n_queries)

    @property
    def value_range(self) -> tuple[float, float]:
        return 0.0, 1.0 if self.get("bounded") else 1.0 + max(self.get("alpha"), 0.0)

    def check_together(self) -> None:
        if self.get("bounded") and self.get("alpha") > 1:
            raise ValueError(
                f"{self.NAME}: alpha={self.get('alpha')!r} is not allowed with bounded=True; it must be a number "
                "from 0 to 1"
            )

    def weights(self, comparison: Comparison) -> FloatArray:
        """The weight of each document of ``comparison.relevant``; 0 where it is below ``rel``."""
        docs = comparison.relevant
        retrieving, systems = comparison.retrieving_systems(docs, self.get("cutoff"), self.get("judged_only"))
        weight = rareness_weights(retrieving, systems, self.get("alpha"), self.get("bounded"))
        return np.where(docs.grade >= self.get("rel"), weight, 0.0)

    def weights_of_labelings(self, labelings: Labelings) -> FloatArray:
        """What each document counts if it is relevant: all systems are members, so it is the same for all."""
        held = labelings.positions > 0
        return rareness_weights(held.sum(axis=0), len(held), self.get("alpha"), self.get("bounded"))


class _P_Rareness(_Rareness):
    """Rareness-based precision at k: precision in which a relevant document counts more, the fewer systems find it.

    ``P_Rareness@k = (1/k) Σ_{i≤k} Rel(d_i) · (1 + αR(d_i))`` with ``R(d) = 1 - S_d/S``, where S is the number of
    systems (the context's runs, and the evaluated one) and S_d the number of those with d in their top k. All
    systems count; the context's ``priors`` do not matter. Range [0, 1 + α), so [0, 2) by default. With α = 0
    it is P@k, range [0, 1].

    ``bounded=True`` is the revision of the paper's §5.2: weight ``(1 - α) + αR'(d)`` with
    ``R'(d) = 1 - (S_d - 1)/(S - 1)``, range [0, 1]. (The paper says that R' is maximized when S_d = S; it is 0
    there.) With one system rareness is 0.

    Source: Türkmen, Lease and Kutlu, "New Metrics to Encourage Innovation and Diversity in Information Retrieval
    Approaches", ECIR 2023, Eqs. 1, 2 and 4.

    Example:
        >>> from ir_measures_relative import P_Rareness, RunContext
        >>> qrels = {"q": {"A": 1, "B": 1}}
        >>> with RunContext({"old": {"q": {"A": 2.0, "C": 1.0}}}):
        ...     (P_Rareness @ 2).calc_aggregate(qrels, {"q": {"A": 2.0, "B": 1.0}})  # (1 + 0) / 2 + (1 + 1/2) / 2
        1.25
    """

    __name__ = "P_Rareness"
    PRETTY_NAME = "Rareness-based Precision at k"
    SHORT_DESC = "Precision in which a relevant document counts more, the fewer systems retrieve it."
    FORMULA = (
        r"\mathrm{P\_Rareness}@k = \frac{1}{k} \sum_{i=1}^{k} \mathrm{rel}(d_i) \bigl(1 + \alpha R(d_i)\bigr), \qquad "
        r"R(d) = 1 - \frac{S_d}{S}"
    )
    SEE_ALSO = ("AP_Rareness", "UniqueRel", "NRG")
    SUPPORTED_PARAMS = {**_Rareness.SUPPORTED_PARAMS, "cutoff": parameters.cutoff(required=True)}

    def contributions(self, comparison: Comparison) -> Contributions:
        docs, cutoff = comparison.relevant, self.get("cutoff")
        weight = self.weights(comparison)
        found = comparison.positions(docs, cutoff, self.get("judged_only")) > 0
        return Contributions(docs, weight, weight * found / cutoff)

    def bounded(self, labelings: Labelings) -> Model:
        weight = self.weights_of_labelings(labelings) * TopK(self.get("cutoff")).share(labelings.positions)
        return labelings.additive(weight, labelings.relevant(self.get("rel")))


class _AP_Rareness(_Rareness):
    """Rareness-based average precision: AP over rareness-based precision instead of precision.

    ``AP_Rareness@k = (1/N_R) Σ_{i≤k} Rel(d_i) · P_Rareness(i)``, with N_R all relevant documents of the query, and
    P_Rareness and its parameters as in :class:`P_Rareness`. S_d counts the systems with d in their top k (in their
    whole ranking without a cutoff). Range [0, 1 + α), [0, 1] with ``bounded=True``; α = 0 is AP@k.

    Source: Türkmen, Lease and Kutlu, "New Metrics to Encourage Innovation and Diversity in Information Retrieval
    Approaches", ECIR 2023, Eq. 3.

    Example:
        >>> from ir_measures_relative import AP_Rareness, RunContext
        >>> qrels = {"q": {"A": 1, "B": 1}}
        >>> with RunContext({"old": {"q": {"A": 2.0, "C": 1.0}}}):
        ...     (AP_Rareness @ 2).calc_aggregate(qrels, {"q": {"A": 2.0, "B": 1.0}})  # (1/1 + 2.5/2) / 2
        1.125
    """

    __name__ = "AP_Rareness"
    PRETTY_NAME = "Rareness-based Average Precision"
    SHORT_DESC = "Average precision in which a relevant document counts more, the fewer systems retrieve it."
    FORMULA = (
        r"\mathrm{AP\_Rareness}@k = \frac{1}{N_R} \sum_{i=1}^{k} \mathrm{rel}(d_i)\,\mathrm{P\_Rareness}(i)"
    )
    SEE_ALSO = ("P_Rareness", "NRG")

    def contributions(self, comparison: Comparison) -> Contributions:
        docs = comparison.relevant
        relevant = docs.grade >= self.get("rel")
        position = comparison.positions(docs, self.get("cutoff"), self.get("judged_only")) * relevant
        n_relevant = sum_by_query(relevant.astype(np.float64), docs.query, docs.n_queries)
        weight = self.weights(comparison)
        found = np.flatnonzero(position > 0)
        order = found[np.lexsort((position[found], docs.query[found]))]
        query = docs.query[order]
        so_far = np.cumsum(table(weight[order], query, docs.n_queries, 0.0), axis=1)
        precision = so_far[query, rank_within(query) - 1] / position[order]
        shares = np.zeros(len(docs))
        shares[order] = precision / n_relevant[query]
        return Contributions(docs, weight, shares)

    def bounded(self, labelings: Labelings) -> Model:
        return labelings.precisions(labelings.relevant(self.get("rel")), self.weights_of_labelings(labelings))


P_Rareness = register(_P_Rareness())
AP_Rareness = register(_AP_Rareness(), ["MAP_Rareness"])
MAP_Rareness = AP_Rareness
