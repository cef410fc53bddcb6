"""How the measures of this package depend on the labels of the open documents, each by a kind that Labelings offers."""

from __future__ import annotations

from functools import partial

import ir_measures
import numpy as np

from ..data.arrays import BoolArray, FloatArray, IntArray
from ..further_measures.alpha_nrg import OfAspects
from ..further_measures.fusion_gain import _FusionGain
from ..further_measures.shapley import ADDITIVE, _Shapley
from ..measures import rareness
from ..measures.bases.ap import expected_sum_of_precisions
from ..measures.bases.browsing import BrowsingModel, TopK, Unseen
from ..measures.lexiprecision import _RPP, LEVEL_WEIGHTS, RecallLevels, _rrLP, _sgnLP, _sgnLR
from ..measures.med import _MED
from ..measures.nrg import _NRG, _UniqueRel
from ..measures.rareness import _Rareness
from ..measures.tasc import _TaSC, max_tasc
from ..measures.ue import _UE, Normalizers, normalize
from ..tolerances import LABELED_ALIKE
from .model import Model
from .model_builder import BOUNDS, ModelBuilder
from .preferences import Extremes, greatest_lexicographic, greatest_paired, may_win_worst_case


@BOUNDS.register(_NRG)
def _nrg(measure: _NRG, builder: ModelBuilder) -> Model:
    base, norm = measure.base, measure.get("norm")
    if base.residual == "cascade":
        return _cascade(measure, builder)
    survival = builder.prior_product(Unseen(measure.browsing))
    seen = measure.browsing.seen(builder.positions)
    if not base.graded:
        relevant = builder.relevant(measure.get("rel"))
        if base.residual == "largest":
            return builder.best(survival * seen, relevant)
        share = seen if norm is None else measure.browsing.share(builder.positions)
        return builder.additive(survival * share, relevant)
    gain, levels = builder.gains(measure.get("dcg"), measure.get("gains"))
    if norm is None:
        return builder.additive(survival * seen, gain, levels[0], levels[-1])
    if norm == "ideal":
        return builder.normalized(survival * seen, gain, levels)
    return builder.residual_gain(survival, seen, gain, levels, measure.depth_of_ideal)


def _cascade(measure: _NRG, builder: ModelBuilder) -> Model:
    grade = builder.docs.grade
    highest = max(int(builder.labels[-1]), int(grade.max(initial=0)))
    if highest > measure.get("max_grade"):
        raise ValueError(
            f"{measure}: documents may have the grade {highest}; max_grade must be at least that"
        )
    gain = measure.base.gain_of(np.append(grade, highest), measure.get)
    return builder.residual_cascade(gain[:-1], float(gain[-1]))


@BOUNDS.register(_UniqueRel)
def _unique_rel(measure: _UniqueRel, builder: ModelBuilder) -> Model:
    top = TopK(measure.get("cutoff"))
    unseen = builder.prior_product(Unseen(top))
    return builder.additive(unseen * top.seen(builder.positions), builder.relevant(measure.get("rel")))


@BOUNDS.register(_TaSC)
def _tasc(measure: _TaSC, builder: ModelBuilder) -> Model:
    return builder.beside_priors(measure.base_measure(), max_tasc)


@BOUNDS.register(_Rareness)
def _rareness(measure: _Rareness, builder: ModelBuilder) -> Model:
    base, docs, positions = rareness.BASES[measure.base_name], builder.docs, builder.positions
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
        rows = [measure.weights(view, docs) for view in builder.views]
        weight = rows[0] if systems == "groups" else np.array(rows)
    if base.residual is None:
        return builder.precisions(builder.relevant(measure.get("rel")), weight)
    browsing = base.browsing(measure.get)
    if base.graded:
        return builder.normalized(
            weight * browsing.seen(positions), *builder.gains(measure.get("dcg"), measure.get("gains"))
        )
    return builder.additive(weight * browsing.share(positions), builder.relevant(measure.get("rel")))


@BOUNDS.register(_UE)
def _ue(measure: _UE, builder: ModelBuilder) -> Model:
    name, version = measure.base_name, measure.get("version")
    if version == "z":
        raise ValueError(
            f"{measure} cannot be bounded yet, since labels move the standard deviation, too; use version=1 or 2"
        )
    if measure.get("pool") == "run":
        raise ValueError(
            f"{measure} cannot be bounded yet, since labels change the run's pool, too; use pool='judged'"
        )
    collection = builder.members.num_docs if measure.get("pool") == "corpus" else None
    if name == "AP":
        exact_level = measure.get("expected") == "exact"

        def of_sums(total: FloatArray, m: IntArray, size: IntArray, depth: IntArray) -> FloatArray:
            upper = np.minimum(depth, m).astype(np.float64)
            expected = expected_sum_of_precisions(m, size, depth, exact_level)
            return normalize(total, Normalizers(upper, np.where(m == size, upper, expected)), version)

        return builder.precisions_above_chance(builder.relevant(measure.get("rel")), of_sums, collection)
    if name == "nDCG":

        def of_gains(value: FloatArray, perfect: FloatArray, random: FloatArray) -> FloatArray:
            return normalize(value, Normalizers(perfect, random), version)

        weight = measure.base.browsing(measure.get).seen(builder.positions)
        gain, levels = builder.gains(measure.get("dcg"), measure.get("gains"))
        return builder.gains_above_chance(weight, gain, levels, version, of_gains, collection)
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


def _preferences(measure: RecallLevels, builder: ModelBuilder, extremes: Extremes) -> Model:
    rel = measure.get("rel")
    return builder.preferences(extremes, builder.relevant(rel), rel)


@BOUNDS.register(_rrLP)
def _rrlp(measure: _rrLP, builder: ModelBuilder) -> Model:
    return _preferences(measure, builder, _best_case)


@BOUNDS.register(_sgnLP)
def _sgnlp(measure: _sgnLP, builder: ModelBuilder) -> Model:
    return _preferences(measure, builder, _best_case_signs)


@BOUNDS.register(_sgnLR)
def _sgnlr(measure: _sgnLR, builder: ModelBuilder) -> Model:
    return _preferences(measure, builder, _worst_case_signs)


@BOUNDS.register(_RPP)
def _rpp(measure: _RPP, builder: ModelBuilder) -> Model:
    weight = LEVEL_WEIGHTS[measure.get("weight")]
    return _preferences(measure, builder, partial(_average_case, weight=weight))


@BOUNDS.register(_MED)
def _med(measure: _MED, builder: ModelBuilder) -> Model:
    base = measure.get("base")
    # SSP, Q and mean_nDCG are not measures of one run there.
    known = base in ir_measures.measures.registry
    advice = f"bound {base} instead" if known else f"{base} cannot be bounded"
    raise ValueError(f"{measure} is itself the largest difference over all labels; {advice}")


@BOUNDS.register(_Shapley)
def _shapley(measure: _Shapley, builder: ModelBuilder) -> Model:
    docs = builder.docs
    weight = np.array([np.prod(measure.chances(view, docs), axis=0) for view in builder.views])
    if ADDITIVE[measure.get("base")].graded:
        return builder.normalized(weight, *builder.gains(measure.get("dcg"), measure.get("gains")))
    return builder.additive(weight / measure.browsing.total, builder.relevant(measure.get("rel")))


@BOUNDS.register(_FusionGain)
def _fusion_gain(measure: _FusionGain, builder: ModelBuilder) -> Model:
    before, after = zip(*map(measure.two_rankings, builder.as_judged), strict=True)
    return builder.difference_of(measure.base_measure(), before, after)


@BOUNDS.register(OfAspects)
def _of_aspects(measure: OfAspects, builder: ModelBuilder) -> Model:
    raise ValueError(
        f"{measure} cannot be bounded: an unjudged document may answer any aspects, and some that the qrels do not "
        "name; bound UniqueRel or NRG on qrels without aspects"
    )
