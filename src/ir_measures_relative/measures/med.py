"""Maximized effectiveness difference: how far apart the judgments allow two rankings to be."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..data.arrays import FloatArray
from . import parameters
from .measure import RelativeMeasure, register
from .med_pairs import BASES, RunPair
from .parameters import Param

if TYPE_CHECKING:
    from ..context.view import View


def _grade(help_text: str) -> Param:
    """A parameter that is a grade above 0."""
    return Param(int, help_text, test=lambda grade: grade >= 1, allowed="a whole number of at least 1")


class _MED(RelativeMeasure):
    """Maximized effectiveness difference: how far apart the judgments allow a run and the reference to be.

    ``MED(M) = max |M(Y) - M(Z)|`` over all labelings of the open documents, those without a judgment. Y is
    the evaluated run's top k, Z the reference's. The base M is one of

    - P, RBP, SDCG: ``Σ_i W(i)·g(d_i)`` with W(i) = 1/k, (1 - p)·p^(i - 1), 1/(S_k·log2(1 + i)). SDCG's S_k
      (and the gain of the highest grade) makes 1 the value of k documents of the highest grade.
    - nDCG: exact over all grades, with every relevant document of the judgments in the ideal ranking. (The
      paper says that only the highest grade need be tried for an open document. That holds for binary
      relevance alone.)
    - RR: reciprocal rank.
    - SSP: ``(1/k)·Σ_{i≤k} g(d_i)·P@i``, and AP: the same sum over R (``norm='R'``, as trec_eval does) or min(R, k)
      (``norm='min'``, as NTCIREVAL does), R being the number of relevant documents under the labeling.
    - Q: Q-measure, which is AP with the blended ratio ``(C(i) + β·cg(i)) / (i + β·cg*(i))`` in place of P@i. C(i) is
      the number of relevant documents in the first i, cg(i) their gain, cg*(i) that of an ideal ranking. Relevance
      is binary, with a gain of 1: cg(i) = C(i), and cg*(i) = min(i, R). ``beta=0`` makes it AP.
    - mean_nDCG: ``(1/k)·Σ_{i≤k} nDCG@i``, the mean over all prefixes, as Järvelin and Kekäläinen first had it (2002).
      The mean is over k prefixes also where a ranking is shorter: the last ones add no document. Every relevant
      document of the judgments counts in the ideal rankings, be it in neither ranking. Relevance is binary. Exact.
    - ERR: expected reciprocal rank, with ``(2^g - 1)/2^max_grade`` the chance that a document satisfies.

    SSP, AP, Q and ERR are exact, by branch and bound. A search stops after 10 seconds of CPU time, or when
    its share of ``time_limit`` is over. A query that was not finished has the largest difference found so
    far. A warning says how many there are, and how much larger the true values may be.

    Range [0, 1]: 0 if no labeling makes a difference, as for a ranking and itself. Symmetric in run and
    reference. If every document in the two rankings is judged, it is the plain difference of the two scores
    (and RBP's residual).

    SDCG, nDCG and ERR are graded: an open document may have any grade up to ``max_grade``. By default this is
    the highest of the context's ``grades``, else the highest in the qrels (all queries), or 1. (PyTerrier
    passes the qrels of one batch of topics: give the context its grades then.) With ``rel=``, SDCG and nDCG
    are binary. P, RBP, RR, SSP, AP, Q and mean_nDCG always are. nDCG, RR and RBP without a cutoff look at the
    whole rankings.

    Only documents of the two rankings are open. Any other document that nobody judged counts as not relevant.
    If it were relevant, no value would be larger except Q's and mean_nDCG's. That happens most often where few
    documents of the two rankings are open.

    RBP's ``residual`` adds what may follow a ranking, if all of it is relevant and nothing that follows the
    other is: ``p^min(len, k)``. len is the length of the ranking: a ranking of fewer than k documents may go
    on too (as in the authors' program, and Moffat's §1). Without a cutoff it is ``p^len``.
    ``residual='at-cutoff'`` assumes that a ranking shorter than k has ended: p^k if it reaches k, else
    nothing, and nothing without a cutoff. ``residual=False`` adds nothing. Nothing follows two rankings that
    are the same to their last documents.

    When not to use it: to say which run is *better*. It has no sign. It is a worst case, not a likely one.
    With few judgments and a deep cutoff, it is near 1 for any two rankings that share little. With full
    judgments, the base measure says more.

    Source: Tan and Clarke, "A Family of Rank Similarity Measures Based on Maximized Effectiveness
    Difference", IEEE TKDE 27(11), 2015; Moffat, "Computing Maximized Effectiveness Distance for Recall-Based
    Metrics", Algorithm 1 and Eqs. 2-10. Q: Sakai, "Ranking the NTCIR Systems Based on Multigrade Relevance", AIRS 2004.

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
    RELATIVE_TO = "reference"
    JUDGMENTS = "used"
    PRETTY_NAME = "Maximized Effectiveness Difference"
    SHORT_DESC = "The largest difference in effectiveness from the reference that the judgments allow."
    FORMULA = r"\mathrm{MED}(M) = \max_{\ell} \bigl| M(Y, \ell) - M(Z, \ell) \bigr|"
    BASES = BASES
    SEE_ALSO = ("rrLP", "RPP")
    SUPPORTED_PARAMS = {
        "cutoff": parameters.cutoff(),
        "base": Param(str, "the measure whose difference is maximized", default="nDCG", choices=tuple(BASES)),
        "ref": parameters.ref(),
        "judged": Param(bool, "whether the qrels count; False leaves every document open", default=True),
        "rel": _grade(
            "minimum relevance score to be considered relevant (inclusive), 1 if not given; makes SDCG and nDCG binary",
        ),
        "dcg": parameters.dcg(),
        "gains": parameters.gains(),
        "max_grade": _grade(
            "the highest grade that a document may have; the context's, else the highest in the qrels, if not given",
        ),
        "p": parameters.persistence(),
        "residual": Param(
            object,
            "what may follow a ranking: True adds p^min(length, k), 'at-cutoff' p^k where it reaches k, False nothing",
            default=True,
            choices=(True, False, "at-cutoff"),
        ),
        "norm": Param(
            str,
            "what AP and Q divide by: the number of relevant documents R, or at most the cutoff ('min')",
            default="R",
            choices=("R", "min"),
        ),
        "beta": Param(
            float,
            "how much gains count in Q's blended ratio: 0 makes it AP",
            default=1.0,
            test=lambda b: 0 <= b <= 1e100,
            allowed="a number from 0 to 1e100",
        ),
        "time_limit": Param(
            float,
            "seconds that one run may take, with all its queries; no limit if not given. What is not finished in time "
            "is a lower bound",
            test=lambda t: t >= 0,
            allowed="a number of seconds from 0 up",
        ),
    }

    @property
    def asks_for_grades(self) -> tuple[bool, bool]:
        """Where open documents may take any grade: the lowest if a label below 0 gains, the highest if not given."""
        graded = BASES[self.get("base")].graded and "rel" not in self.params
        low = any(label < 0 < gain for label, gain in (self.get("gains") or {}).items())
        return graded and low, graded and "max_grade" not in self.params

    def check_together(self) -> None:
        clash = [n for n in ("dcg", "gains", "max_grade") if n in self.params]
        if "rel" in self.params and clash:
            raise ValueError(
                f"{self!r}: rel makes {self.get('base')} binary, and {clash[0]} does nothing then; give only one"
            )

    def score(self, view: View) -> FloatArray:
        """The largest difference of each query."""
        return BASES[self.get("base")].solve(self.task(view)).value

    def task(self, view: View) -> RunPair:
        """What is to be solved: the evaluated run, the reference, the parameters."""
        params = {name: self.get(name) for name in self.SUPPORTED_PARAMS}
        return RunPair(view, view.reference_run(self.get("ref")), params, repr(self))


MED = _MED()
register(MED)
