"""Maximized effectiveness difference: how far apart the judgments allow two rankings to be."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..data.arrays import FloatArray
from ..data.registry import Registry
from . import parameters
from .measure import RelativeMeasure, register
from .parameters import Param

if TYPE_CHECKING:
    from ..context.evaluated import Evaluated


@dataclass(frozen=True, kw_only=True)
class MEDBase:
    """A base of MED."""

    parameters: Collection[str]  #: those of MED that it has, and other bases lack
    needs_cutoff: bool = False  #: whether it requires ``@k``
    graded: bool = False  #: whether an unjudged document may take any grade


_GRADED = ("rel", "dcg", "gains", "max_grade")

BASES = {
    "AP": MEDBase(parameters=("rel", "norm", "time_limit"), needs_cutoff=True),
    "SSP": MEDBase(parameters=("rel", "time_limit"), needs_cutoff=True),
    "ERR": MEDBase(parameters=("max_grade", "time_limit"), needs_cutoff=True, graded=True),
    "nDCG": MEDBase(parameters=_GRADED, graded=True),
    "mean_nDCG": MEDBase(parameters=("rel",), needs_cutoff=True),
    "P": MEDBase(parameters=("rel",), needs_cutoff=True),
    "RBP": MEDBase(parameters=("rel", "p", "residual")),
    "RR": MEDBase(parameters=("rel",)),
    "SDCG": MEDBase(parameters=_GRADED, needs_cutoff=True, graded=True),
}

#: Searches for the largest difference of a run from its reference on each query, by base.
SEARCHES: Registry[str, Callable[[Evaluated, RelativeMeasure], FloatArray]] = Registry("MED searches")


class _MED(RelativeMeasure):
    """Maximized effectiveness difference: the largest difference from the reference that the judgments allow.

    ``MED(M) = max |M(Y) - M(Z)|`` over all labelings of the unjudged documents in Y and Z; Y is the run's top
    k, Z the reference's. Range [0, 1]; symmetric; 0 for a ranking and itself. M is

    - P, RBP, SDCG: ``Σ_i W(i)·g(d_i)``, W(i) = 1/k, (1 - p)·p^(i - 1), 1/(S_k·log2(1 + i)); the highest gain is 1;
    - nDCG, exact over all grades; mean_nDCG, the mean of nDCG@1 … nDCG@k, binary; RR; ERR;
    - SSP: ``(1/k)·Σ_{i≤k} g(d_i)·P@i``; AP: over R, or min(R, k) by ``norm``.

    For SSP, AP and ERR, a search of at most 10 s per query finds it; a warning says if that was too short. SDCG,
    nDCG and ERR are graded up to ``max_grade``, by default the highest grade of the context or the qrels; ``rel=``
    makes SDCG and nDCG binary. RBP's ``residual`` adds what may follow a ranking. **Not for** saying which run is
    *better*: it is a worst case without a sign.

    Source: Tan and Clarke, TKDE 27(11), 2015; Moffat, Algorithm 1 and Eqs. 2-10.

    Example, Moffat's Eq. 6 and Table 2 (largest where L and D are relevant):

        >>> from ir_measures_relative import MED, RunContext
        >>> run = lambda ranking: {"q": {d: -float(i) for i, d in enumerate(ranking)}}
        >>> with RunContext({"X4": run("ADBECGFJLH")}):
        ...     value = (MED(base="nDCG") @ 10).calc_aggregate({"q": {"A": 1, "E": 0}}, run("ABCDEFGHJK"))
        >>> round(value, 4)
        0.2352
    """

    __name__ = "MED"
    PAPERS = {"tan2015family": "", "moffat_computing": ""}
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
        "judged": Param(bool, "whether the qrels count; False leaves every document unjudged", default=True),
        "rel": parameters.grade(
            "minimum relevance score to be considered relevant; 1 if not given; makes SDCG and nDCG binary"
        ),
        "dcg": parameters.dcg(),
        "gains": parameters.gains(),
        "max_grade": parameters.grade(
            "the highest grade that a document may have; of the context, or the qrels, if not given"
        ),
        "p": parameters.persistence(),
        "residual": Param(
            bool, "whether to add p^min(length, k), for what may follow a ranking", default=True
        ),
        "norm": Param(
            str,
            "what AP divides by: the number of relevant documents, or at most the cutoff ('min')",
            default="R",
            choices=("R", "min"),
        ),
        "time_limit": Param(
            float,
            "seconds for all queries of one run; what is not finished is a lower bound; no limit if not given",
            test=lambda t: t >= 0,
            allowed="a number of seconds from 0 up",
        ),
    }

    @property
    def asks_for_grades(self) -> tuple[bool, bool]:
        """Whether values depend on the lowest grade, if a label below 0 gains, and on the highest, if not given."""
        graded = BASES[self.get("base")].graded and "rel" not in self.params
        low = any(label < 0 < gain for label, gain in (self.get("gains") or {}).items())
        return graded and low, graded and "max_grade" not in self.params

    def check_together(self) -> None:
        clash = [n for n in ("dcg", "gains", "max_grade") if n in self.params]
        if "rel" in self.params and clash:
            raise ValueError(
                f"{self!r}: rel makes {self.get('base')} binary, and {clash[0]} does nothing then; give only one"
            )

    @property
    def highest_grade(self) -> int | None:
        return self.get("max_grade") if self.get("judged") else None

    def score(self, run: Evaluated) -> FloatArray:
        return SEARCHES[self.get("base")](run, self)


MED = register(_MED())
