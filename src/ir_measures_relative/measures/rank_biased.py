"""Rank similarity to a reference run, top-weighted and without judgments: RBO and RBA.

Webber, Moffat and Zobel, "A Similarity Measure for Indefinite Rankings", ACM Transactions on Information Systems 28(4),
2010; Corsi and Urbano, "The Treatment of Ties in Rank-Biased Overlap", SIGIR 2024; Moffat, Mackenzie, Mallia and Petri,
"Rank-Biased Quality Measurement for Sets and Rankings", SIGIR-AP 2024.

Neither looks at a judgment. An evaluation scores the queries of the qrels, as by every measure, and their labels do not
matter; :func:`~ir_measures_relative.similarity` needs no qrels.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..arrays import FloatArray
from . import parameters
from .declaration import RelativeMeasure, register
from .overlap import Pair, pair_of, rank_biased_alignment, rank_biased_overlap
from .parameters import Param

if TYPE_CHECKING:
    from ..comparison import Comparison


class _RankBiased(RelativeMeasure):
    """What the two share: the rankings side by side."""

    RELATIVE_TO = "reference"
    SIMILARITY = True
    JUDGMENTS = "ignored"

    def pair(self, comparison: Comparison) -> Pair:
        """The rankings of the run and of the reference, each to the cutoff."""
        judged, cutoff = comparison.judged, self.get("cutoff")
        run, reference = (
            judged.top(side, cutoff) for side in (comparison.rankings, comparison.reference(self.get("ref")))
        )
        return pair_of(run, reference, comparison.judgments.n_queries, tied=self.get("ties") != "broken")


class _RBO(_RankBiased):
    """Rank-biased overlap: how much of what a searcher sees in the run is seen in the reference too.

    A searcher goes down both rankings, from each depth to the next with the chance p: ``RBO = (1 - p)·Σ_d
    p^(d-1)·A_d``, A_d being the agreement at depth d, which is how many documents the two have in common there,
    divided by d. At p = .9 the first ten positions have 86 % of the weight, at .98 the first fifty.

    Rankings end, and ``kind`` says what is thought of the rest:

    - ``'ext'``: it goes on to agree as at the end (Webber et al.'s Eq. 32, also for rankings of two lengths);
    - ``'min'``, ``'max'``: it is as different, or as alike, as it can be; what lies between is the residual. The value
      for any two rankings that go on from these is within.

    ``ties`` says what documents of equal score (as 32-bit floats) are:

    - ``'broken'``: in trec_eval's order, by their ids. Two runs that break the same ties alike look more alike;
    - ``'w'``: at the same rank, as in a sport; all of them are there at the first position of their group;
    - ``'a'``: in an order that is not known: the mean over all of their orders (where the two are equally long; else
      'min' alone is such a mean, since the paper extrapolates the groups, not their orders). A ranking with ties is
      then not wholly like itself;
    - ``'b'``: the same, corrected for what the ties hide, so that a ranking and itself come to 1.

    The documents that may follow are not tied. With a cutoff, groups are what is left of them in the top k.

    Range [0, 1]: 1 ('ext', 'max'; not by ``ties='a'`` where it has ties) for a ranking and itself, two empty ones
    included; 0 ('ext', 'min') for two that
    share nothing, or of which one is empty. Symmetric in run and reference.

    Do not use it to say which run is *better*: it does not look at judgments. Two runs may both be good and share
    little.

    Sources: Webber, Moffat and Zobel, "A Similarity Measure for Indefinite Rankings", ACM Transactions on Information
    Systems 28(4), 2010; Corsi and Urbano, "The Treatment of Ties in Rank-Biased Overlap", SIGIR 2024.

    Example:
        >>> from ir_measures_relative import RBO, RunContext
        >>> qrels = {"q": {"A": 0}}  # any label names the query
        >>> run = lambda ranking: {"q": {d: -float(i) for i, d in enumerate(ranking)}}
        >>> with RunContext({"old": run("ABC")}):  # nothing in common at depth 1, all of it from depth 2 on
        ...     [round(RBO(kind=kind).calc_aggregate(qrels, run("BAC")), 3) for kind in ("min", "ext", "max")]
        [0.423, 0.9, 0.9]
    """

    __name__ = "RBO"
    NAME = __name__
    PRETTY_NAME = "Rank-Biased Overlap"
    SHORT_DESC = "How much of what a searcher sees in the run is seen in the reference too."
    FORMULA = (
        r"\mathrm{RBO} = (1 - p) \sum_{d=1}^{\infty} p^{d-1} A_d, \qquad "
        r"A_d = \frac{|Y_{1:d} \cap Z_{1:d}|}{d} \text{ (without ties)}"
    )
    SEE_ALSO = ("RBA", "MED")
    SUPPORTED_PARAMS = {
        "cutoff": parameters.cutoff(),
        "ref": parameters.ref(),
        "p": parameters.persistence(default=0.9, of="RBO"),
        "kind": Param(
            str,
            "what follows the rankings: more of the agreement at their end ('ext'), or as little ('min') or as much "
            "('max') as there can be",
            default="ext",
            choices=("ext", "min", "max"),
        ),
        "ties": Param(
            str,
            "documents of equal score: in trec_eval's order ('broken'), at one rank ('w'), in any order ('a'), or "
            "that, corrected for what ties hide ('b')",
            default="broken",
            choices=("broken", "w", "a", "b"),
        ),
    }

    def score(self, comparison: Comparison) -> FloatArray:
        """The overlap of each query."""
        return rank_biased_overlap(self.pair(comparison), self.get("p"), self.get("kind"), self.get("ties"))


class _RBA(_RankBiased):
    """Rank-biased alignment: how near the places are at which the run and the reference have their documents.

    ``RBA = Σ_d √(w(y_d)·w(z_d))`` over the documents that both hold, at y_d in the run and at z_d in the reference,
    where ``w(i) = (1 - p)·p^(i-1)`` is the share of attention that RBP gives position i. (It is the Bhattacharyya
    coefficient of the two rankings' attention.) Where RBO asks at which depth both have shown a document, RBA asks how
    far its two places are apart: a swap of neighbours costs little wherever it is.

    ``kind='min'`` is what the rankings show, if they go on with nothing in common; ``'max'`` is the most that it can
    come to, where each goes on with the documents that it lacks of the other and both are the same from there on. No
    extrapolated value is defined. With ``ties='mean'`` documents of equal score (as 32-bit floats) each weigh the
    mean of the weights of their positions; those that follow are tied as the other ranking has them. By default ties
    are ``'broken'`` in trec_eval's order.

    Range [0, 1]; symmetric in run and reference. A ranking of n documents and itself come to 1 - p^n ('min'), or 1
    ('max'); two that share nothing to 0 ('min'), and so do two that are empty.

    When not to use it: to say which run is *better*. With 'min' and short rankings, mind that even the same ones come
    to no more than 1 - p^n.

    Source: Moffat, Mackenzie, Mallia and Petri, "Rank-Biased Quality Measurement for Sets and Rankings", SIGIR-AP 2024.

    Example:
        >>> from ir_measures_relative import RBA, RunContext
        >>> qrels = {"q": {"A": 0}}  # any label names the query
        >>> run = lambda ranking: {"q": {d: -float(i) for i, d in enumerate(ranking)}}
        >>> with RunContext({"old": run("ABC")}):  # 1 - .9³ = .271 for ABC itself
        ...     [round(RBA(kind=kind).calc_aggregate(qrels, run("BAC")), 4) for kind in ("min", "max")]
        [0.2707, 0.9997]
    """

    __name__ = "RBA"
    NAME = __name__
    PRETTY_NAME = "Rank-Biased Alignment"
    SHORT_DESC = "How near the places are at which the run and the reference have their documents."
    FORMULA = r"\mathrm{RBA} = \sum_{d \in Y \cap Z} \sqrt{w(y_d)\, w(z_d)}, \qquad w(i) = (1 - p)\, p^{i-1}"
    SEE_ALSO = ("RBO", "MED")
    SUPPORTED_PARAMS = {
        "cutoff": parameters.cutoff(),
        "ref": parameters.ref(),
        "p": parameters.persistence(default=0.9, of="RBA"),
        "kind": Param(
            str,
            "what follows the rankings: nothing in common ('min'), or as much as there can be ('max')",
            default="min",
            choices=("min", "max"),
        ),
        "ties": Param(
            str,
            "documents of equal score: in trec_eval's order ('broken'), or at the mean of their weights ('mean')",
            default="broken",
            choices=("broken", "mean"),
        ),
    }

    def score(self, comparison: Comparison) -> FloatArray:
        """The alignment of each query."""
        return rank_biased_alignment(self.pair(comparison), self.get("p"), self.get("kind"))


RBO = _RBO()
RBA = _RBA()
register(RBO)
register(RBA)
