"""Unique contributions to the relevant set.

"Evaluating Relative Retrieval Effectiveness with Normalized Residual Gain", SIGIR-AP 2024, App. B.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..arrays import FloatArray, sum_by_query
from . import parameters
from .coverage import Coverage
from .declaration import Contributions, RelativeMeasure, register
from .nrg import Unseen

if TYPE_CHECKING:
    from ..comparison import Comparison, JudgedContext


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


UniqueRel = _UniqueRel()
register(UniqueRel)
