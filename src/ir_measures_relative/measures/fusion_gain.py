"""What fusing a run with the rankings that are there already adds to them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from ..arrays import FloatArray, IntArray, ratio
from ..comparison import Comparison
from . import absolute_base, parameters
from .absolute_base import OfAbsoluteBase
from .declaration import Change, Contributions, register
from .fusion import METHODS, Fusion, fused_rankings
from .gains import discount, gain_of, ideal_dcg
from .parameters import Param

if TYPE_CHECKING:
    from ..extremes.bounding import Labelings
    from ..extremes.model import Model
    from ..judgments import Judgments
    from ..rankings import Rankings


class _FusionGain(OfAbsoluteBase):
    """What a run adds to its priors when they are fused into one ranking.

    ``FusionGain = S(fuse(priors and run)) - S(fuse(priors))`` for each query, S the base measure, any that
    ir_measures can compute. Without priors it is S(run). A document's fused score is the sum, over the rankings
    that hold it among their first ``depth``, of

    - ``rrf``: ``1/(k + i)`` at position i;
    - ``combsum``: its score, scaled so that these first documents have scores from 0 to 1 (all 0 where they are equal);
    - ``isr``: ``1/i²``, and ``combmnz``: the scaled score; the sum is then multiplied by the number of these rankings.

    These are the definitions of ranx. Scores are those that trec_eval reads, 32-bit floats, and the fused ranking is
    in trec_eval's order. The range is that of a difference of S: [-1, 1] for nDCG. Below 0, fusing with this run hurts.
    A copy of the only prior gains exactly 0; a copy of one of several gives that one more weight, and may gain or lose.

    Not to say what a searcher gains who reads the rankings one after the other: that is NRG, or UniqueRel. A run may
    show many documents that no prior has, and yet hurt a fused top ten.

    Sources: Fox and Shaw, "Combination of Multiple Searches", TREC-2, 1993; Cormack, Clarke and Büttcher, "Reciprocal
    Rank Fusion Outperforms Condorcet and Individual Rank Learning Methods", SIGIR 2009; Mourão, Martins and Magalhães,
    "Multimodal Medical Information Retrieval with Unsupervised Rank Fusion", 2015.

    Example:
        >>> import ir_measures
        >>> from ir_measures_relative import FusionGain, RunContext
        >>> qrels = {"q": {"A": 1, "B": 1}}
        >>> with RunContext({"old": {"q": {"X": 3.0, "A": 2.0, "B": 1.0}}}):
        ...     measure = FusionGain(base="P@2")  # X, A without it; A, B with it
        ...     measure.calc_aggregate(qrels, {"q": {"B": 2.0, "A": 1.0}})
        0.5
    """

    __name__ = "FusionGain"
    RELATIVE_TO = "priors"
    NAME = __name__
    PRETTY_NAME = "Fusion Gain"
    SHORT_DESC = "What fusing the run with the prior runs adds to the fusion of these, by another measure."
    FORMULA = (
        r"\mathrm{FusionGain} = S(\mathrm{fuse}(R_1, \dots, R_m, R)) - S(\mathrm{fuse}(R_1, \dots, R_m))"
    )
    SEE_ALSO = ("NRG", "UniqueRel", "TaSC")
    SUPPORTED_PARAMS = {
        "base": absolute_base.base("a measure string that ir_measures can compute"),
        "method": Param(str, "how rankings are fused", default="rrf", choices=METHODS),
        "k": Param(
            int,
            "of method='rrf': the larger, the less the first positions stand out",
            default=60,
            test=lambda k: 0 <= k < 2**31,
            allowed="a whole number from 0 up, below 2^31",
        ),
        "depth": Param(
            int,
            "how many documents of each ranking are fused",
            default=1000,
            test=lambda d: 1 <= d < 2**31,
            allowed="a whole number of at least 1 and below 2^31",
        ),
        "prior": parameters.prior(),
    }

    def check_together(self) -> None:
        super().check_together()
        if "k" in self.params and self.fusion.method != "rrf":
            raise ValueError(f"{self!r}: k goes with method 'rrf', not {self.fusion.method!r}")

    @property
    def fusion(self) -> Fusion:
        """How the rankings are fused."""
        return Fusion(self.get("method"), self.get("k"), self.get("depth"))

    def score(self, comparison: Comparison) -> FloatArray:
        """What the run adds for each query."""
        judged, base = comparison.judged, self.base_measure()
        if not len(comparison.priors(self.get("prior"))):
            alone: FloatArray = judged.absolute([base], comparison.rankings)[0]
            return alone
        without, together = (judged.absolute([base], ranking)[0] for ranking in self.two_rankings(comparison))
        gain: FloatArray = together - without
        return gain

    def two_rankings(self, comparison: Comparison) -> tuple[Rankings, Rankings]:
        """The fusion of the priors, and that of the priors and the run; without priors nothing, and the run."""
        judged, member, fusion = comparison.judged, comparison.member, self.fusion
        base = self.base_measure()
        cutoff = None if base.params.get("judged_only") else base.params.get("cutoff")

        def fused(runs: tuple[int, ...]) -> Rankings:
            key = "fused", runs, fusion, cutoff
            return judged.cached(key, lambda: fused_rankings(judged, runs, fusion, cutoff=cutoff))

        priors = tuple(comparison.priors(self.get("prior")).tolist())
        if not priors:
            return fused(()), comparison.rankings
        if member is None or comparison.rankings is not comparison.context.runs[member]:
            newcomer = comparison.rankings
            return fused(priors), fused_rankings(judged, priors, fusion, newcomer=newcomer, cutoff=cutoff)
        return fused(priors), fused(tuple(sorted((*priors, judged.index[member]))))

    def bounded(self, labelings: Labelings) -> Model:
        judged = labelings.judged
        runs = zip(judged.names, judged.context.runs.values(), strict=True)
        pairs = [self.two_rankings(Comparison(judged, run, name)) for name, run in runs]
        before, after = zip(*pairs, strict=True)
        return labelings.difference_of(self.base_measure(), before, after)

    def change(self, comparison: Comparison) -> Change:
        """The two rankings, and what each relevant document gives to the second less what it gives to the first.

        Raises:
            ValueError: a base that is not a sum over documents.
        """
        before, after = self.two_rankings(comparison)
        docs, gain, weight = self._terms(comparison.judgments)
        cutoff = self.base_measure().params.get("cutoff")
        moved = weight(docs.positions_in(after, cutoff)) - weight(docs.positions_in(before, cutoff))
        return Change(before, after, cutoff, Contributions(docs, gain, gain * moved))

    def _terms(self, judgments: Judgments) -> tuple[Judgments, FloatArray, Callable[[IntArray], FloatArray]]:
        """The documents that the base is a sum over, what each is worth, and what a position counts for."""
        base = self.base_measure()
        name, cutoff, params = base.NAME, base.params.get("cutoff"), base.params
        if name not in ("nDCG", "P", "R") or params.get("judged_only"):
            raise ValueError(
                f"{self!r}: {base} is not a sum over documents, so it cannot be explained document by document; give "
                "the base nDCG@k, P@k or R@k"
            )
        if name == "nDCG":
            gain = gain_of(judgments.grade, params.get("dcg", "log2"), params.get("gains"))
            ideal = ideal_dcg(gain, judgments.query, judgments.n_queries, cutoff)
            docs = judgments.select(gain > 0)
            return docs, ratio(gain[gain > 0], ideal[docs.query]), discount
        docs = judgments.select(judgments.grade >= params.get("rel", 1))
        size = cutoff if name == "P" else np.bincount(docs.query, minlength=docs.n_queries)[docs.query]
        return docs, np.ones(len(docs)) / size, _is_found


def _is_found(position: IntArray) -> FloatArray:
    return (position > 0).astype(np.float64)


FusionGain = _FusionGain()
register(FusionGain)
