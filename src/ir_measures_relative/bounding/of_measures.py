"""How the measures of this package depend on the labels of the open documents, each by a kind that Labelings offers."""

from __future__ import annotations

from functools import partial

import ir_measures
import numpy as np

from ..context.measure_strings import value_of
from ..data.arrays import BoolArray, FloatArray, IntArray
from ..further_measures.alpha_nrg import OfAspects
from ..further_measures.fusion_gain import _FusionGain
from ..further_measures.shapley import ADDITIVE, _Shapley
from ..measures import nrg, rareness
from ..measures.bases.browsing import BrowsingModel, CascadeModel, LogDiscount, TopK, Unseen
from ..measures.bases.random_ranking import Normalizers, expected_sum_of_precisions, normalize
from ..measures.lexiprecision import _RPP, LEVEL_WEIGHTS, RecallLevels, _rrLP, _sgnLP, _sgnLR
from ..measures.med import _MED
from ..measures.nrg import _NRG, _UniqueRel
from ..measures.rareness import _Rareness
from ..measures.tasc import _TaSC, max_tasc
from ..measures.ue import _UE
from ..tolerances import LABELED_ALIKE
from .model import Model
from .model_builder import BOUNDS, ModelBuilder
from .preferences import Extremes, greatest_lexicographic, greatest_paired, may_win_worst_case


@BOUNDS.register(_NRG)
def _nrg(measure: _NRG, labelings: ModelBuilder) -> Model:
    base, norm = nrg.BASES[measure.get("base")], measure.get("norm")
    if measure.adaptive is not None:
        return _adaptive(measure, labelings, measure.adaptive)
    survival = labelings.prior_product(Unseen(measure.browsing))
    seen = measure.browsing.seen(labelings.positions)
    if not base.graded:
        relevant = labelings.relevant(measure.get("rel"))
        if base.value == "largest":
            return labelings.best(survival * seen, relevant)
        share = seen if norm is None else measure.browsing.share(labelings.positions)
        return labelings.additive(survival * share, relevant)
    gain, levels = labelings.gains(measure.get("dcg"), measure.get("gains"))
    if norm is None:
        return labelings.additive(survival * seen, gain, levels[0], levels[-1])
    if norm == "ideal":
        return labelings.normalized(survival * seen, gain, levels)
    return labelings.residual_gain(survival, seen, gain, levels, measure.depth_of_ideal)


def _adaptive(measure: _NRG, labelings: ModelBuilder, adaptive: CascadeModel) -> Model:
    grade = labelings.docs.grade
    highest = max(int(labelings.labels[-1]), int(grade.max(initial=0)))
    if highest > measure.get("max_grade"):
        raise ValueError(
            f"{measure}: documents may have the grade {highest}; max_grade must be at least that"
        )
    gain = adaptive.gain(np.append(grade, highest))
    return labelings.residual_cascade(gain[:-1], float(gain[-1]))


@BOUNDS.register(_UniqueRel)
def _unique_rel(measure: _UniqueRel, labelings: ModelBuilder) -> Model:
    top = TopK(measure.get("cutoff"))
    unseen = labelings.prior_product(Unseen(top))
    return labelings.additive(unseen * top.seen(labelings.positions), labelings.relevant(measure.get("rel")))


@BOUNDS.register(_TaSC)
def _tasc(measure: _TaSC, labelings: ModelBuilder) -> Model:
    return labelings.beside_priors(measure.base_measure(), max_tasc)


@BOUNDS.register(_Rareness)
def _rareness(measure: _Rareness, labelings: ModelBuilder) -> Model:
    base, docs, positions = rareness.BASES[measure.base_name], labelings.docs, labelings.positions
    systems = measure.get("systems")
    if measure.base_name == "ERR" or (measure.base_name == "AP" and systems not in (None, "groups")):
        raise ValueError(
            f"{measure} cannot be bounded yet; the bases P, RBP and nDCG can, and AP where the systems are all runs, "
            "or groups"
        )
    if systems is None:  # all are members, so the weights are the same for all
        held = positions > 0
        weight = measure.weights_by_count(docs, held.sum(axis=0), len(held))
    else:
        rows = [measure.weights(view, docs) for view in labelings.views]
        weight = rows[0] if systems == "groups" else np.array(rows)
    if not isinstance(base, nrg.ResidualBase):
        return labelings.precisions(labelings.relevant(measure.get("rel")), weight)
    browsing = base.browsing(measure.get("cutoff"), value_of(measure, "p", 0.8))
    if base.graded:
        return labelings.normalized(
            weight * browsing.seen(positions), *labelings.gains(measure.get("dcg"), measure.get("gains"))
        )
    return labelings.additive(weight * browsing.share(positions), labelings.relevant(measure.get("rel")))


@BOUNDS.register(_UE)
def _ue(measure: _UE, labelings: ModelBuilder) -> Model:
    name, version = measure.base_name, measure.get("version")
    if version == "z":
        raise ValueError(
            f"{measure} cannot be bounded yet, since labels move the standard deviation, too; use version=1 or 2"
        )
    collection = labelings.members.num_docs if measure.get("pool") == "corpus" else None
    if name == "AP":
        exact_level = measure.get("expected") == "exact"

        def of_sums(total: FloatArray, m: IntArray, size: IntArray, depth: IntArray) -> FloatArray:
            upper = np.minimum(depth, m).astype(np.float64)
            expected = expected_sum_of_precisions(m, size, depth, exact_level)
            return normalize(total, Normalizers(upper, np.where(m == size, upper, expected)), version)

        return labelings.precisions_above_chance(labelings.relevant(measure.get("rel")), of_sums, collection)
    if name == "nDCG":

        def of_gains(value: FloatArray, perfect: FloatArray, random: FloatArray) -> FloatArray:
            return normalize(value, Normalizers(perfect, random), version)

        weight = LogDiscount().seen(labelings.positions)
        gain, levels = labelings.gains(measure.get("dcg"), measure.get("gains"))
        return labelings.gains_above_chance(weight, gain, levels, version, of_gains, collection)
    raise ValueError(f"{measure} cannot be bounded yet; of the bases of UE, only nDCG and AP can")


def _best_case(x: IntArray, y: IntArray, is_open: BoolArray) -> tuple[float, float, bool]:
    return -greatest_lexicographic(y, x, is_open), greatest_lexicographic(x, y, is_open), True


def _best_case_signs(x: IntArray, y: IntArray, is_open: BoolArray) -> tuple[float, float, bool]:
    low, high, exact = _best_case(x, y, is_open)
    return float(np.sign(low)), float(np.sign(high)), exact


def _worst_case_signs(x: IntArray, y: IntArray, is_open: BoolArray) -> tuple[float, float, bool]:
    above, surely = may_win_worst_case(x, y, is_open)
    below, surely_not = may_win_worst_case(y, x, is_open)
    return -below, above, surely and surely_not


def _average_case(
    x: IntArray, y: IntArray, is_open: BoolArray, weight: BrowsingModel
) -> tuple[float, float, bool]:
    low, high = -greatest_paired(y, x, is_open, weight), greatest_paired(x, y, is_open, weight)
    return low, high, high - low <= LABELED_ALIKE


def _preferences(measure: RecallLevels, labelings: ModelBuilder, extremes: Extremes) -> Model:
    rel = measure.get("rel")
    return labelings.preferences(extremes, labelings.relevant(rel), rel)


@BOUNDS.register(_rrLP)
def _rrlp(measure: _rrLP, labelings: ModelBuilder) -> Model:
    return _preferences(measure, labelings, _best_case)


@BOUNDS.register(_sgnLP)
def _sgnlp(measure: _sgnLP, labelings: ModelBuilder) -> Model:
    return _preferences(measure, labelings, _best_case_signs)


@BOUNDS.register(_sgnLR)
def _sgnlr(measure: _sgnLR, labelings: ModelBuilder) -> Model:
    return _preferences(measure, labelings, _worst_case_signs)


@BOUNDS.register(_RPP)
def _rpp(measure: _RPP, labelings: ModelBuilder) -> Model:
    weight = LEVEL_WEIGHTS[measure.get("weight")]
    return _preferences(measure, labelings, partial(_average_case, weight=weight))


@BOUNDS.register(_MED)
def _med(measure: _MED, labelings: ModelBuilder) -> Model:
    base = measure.get("base")
    # SSP, Q and mean_nDCG are not measures of one run there.
    known = base in ir_measures.measures.registry
    advice = f"bound {base} instead" if known else f"{base} cannot be bounded"
    raise ValueError(f"{measure} is itself the largest difference over all labels; {advice}")


@BOUNDS.register(_Shapley)
def _shapley(measure: _Shapley, labelings: ModelBuilder) -> Model:
    docs = labelings.docs
    weight = np.array([np.prod(measure.chances(view, docs), axis=0) for view in labelings.views])
    if ADDITIVE[measure.get("base")].graded:
        return labelings.normalized(weight, *labelings.gains(measure.get("dcg"), measure.get("gains")))
    return labelings.additive(weight / measure.browsing.total, labelings.relevant(measure.get("rel")))


@BOUNDS.register(_FusionGain)
def _fusion_gain(measure: _FusionGain, labelings: ModelBuilder) -> Model:
    before, after = zip(*map(measure.two_rankings, labelings.as_judged), strict=True)
    return labelings.difference_of(measure.base_measure(), before, after)


@BOUNDS.register(OfAspects)
def _of_aspects(measure: OfAspects, labelings: ModelBuilder) -> Model:
    raise ValueError(
        f"{measure} cannot be bounded: an unjudged document may answer any aspects, and some that the qrels do not "
        "name; bound UniqueRel or NRG on qrels without aspects"
    )
