"""How measures depend on the labels of the open documents, each by a kind that :class:`ModelBuilder` offers."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import ir_measures
import numpy as np
from ir_measures import Measure

from ..context.measure_strings import value_of
from ..context.view import View
from ..data.arrays import BoolArray, FloatArray, IntArray, ratio
from ..further_measures.shapley import ADDITIVE, _Shapley
from ..measures import rareness
from ..measures.bases import BASES
from ..measures.bases.browsing import BrowsingModel, TopK, Unseen
from ..measures.bases.gains import chance_to_satisfy
from ..measures.lexiprecision import _RPP, LEVEL_WEIGHTS, RecallLevels, _rrLP, _sgnLP, _sgnLR
from ..measures.nrg import _NRG, _TaSC, _UniqueRel, max_tasc
from ..measures.rareness import _Rareness
from ..measures.ue import _UE
from ..tolerances import LABELED_ALIKE
from ..work import Work
from .ap import PrecisionsAboveChance
from .err import Cascade
from .model import Interval, Model, TaSCModel
from .model_builder import BOUNDS, ModelBuilder
from .ndcg import GainsAboveChance, Recall
from .nrg import Residual
from .preferences import Extremes, Preferences, greatest_lexicographic, greatest_paired, may_win_worst_case


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
    builder.warn_of_others()
    return Residual(builder.views, survival, seen, gain, levels, measure.depth_of_ideal)


def _cascade(measure: _NRG, builder: ModelBuilder) -> Model:
    grade = builder.docs.grade
    highest = max(int(builder.labels[-1]), int(grade.max(initial=0)))
    if highest > measure.get("max_grade"):
        raise ValueError(
            f"{measure}: documents may have the grade {highest}; max_grade must be at least that"
        )
    gain = measure.base.gain_of(np.append(grade, highest), measure.get)
    return Cascade(builder.views, builder.positions, builder.priors, gain[:-1], float(gain[-1]))


@BOUNDS.register(_UniqueRel)
def _unique_rel(measure: _UniqueRel, builder: ModelBuilder) -> Model:
    top = TopK(measure.get("cutoff"))
    unseen = builder.prior_product(Unseen(top))
    return builder.additive(unseen * top.seen(builder.positions), builder.relevant(measure.get("rel")))


@BOUNDS.register(_TaSC)
def _tasc(measure: _TaSC, builder: ModelBuilder) -> Model:
    return TaSCModel(builder.of(measure.base_measure(), builder.as_judged), builder.priors, max_tasc)


@BOUNDS.register(_Rareness)
def _rareness(measure: _Rareness, builder: ModelBuilder) -> Model:
    base, docs, positions = rareness.BASES[measure.base_name], builder.docs, builder.positions
    systems = measure.get("systems")
    if measure.base_name == "ERR" or (measure.base_name == "AP" and systems not in (None, "groups")):
        raise ValueError(
            f"{measure} cannot be bounded yet; the bases P, RBP and nDCG can, and AP of all runs or of groups"
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
    if version == "z" or measure.get("pool") == "run" or name not in ("AP", "nDCG"):
        raise ValueError(
            f"{measure} cannot be bounded yet; use version=1 or 2, pool='judged' or 'corpus', and the base nDCG or AP"
        )
    builder.warn_of_others()
    pool = builder.pool(builder.members.num_docs if measure.get("pool") == "corpus" else None)
    if name == "AP":
        relevant, exact_level = builder.relevant(measure.get("rel")), measure.get("expected") == "exact"
        return PrecisionsAboveChance(builder.views, builder.positions, relevant, pool, version, exact_level)
    weight = measure.base.browsing(measure.get).seen(builder.positions)
    gain, levels = builder.gains(measure.get("dcg"), measure.get("gains"))
    return GainsAboveChance(builder.views, weight, gain, levels, builder.cutoff, pool, version)


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


_EXTREMES: dict[type[RecallLevels], Extremes] = {
    _rrLP: _best_case,
    _sgnLP: _best_case_signs,
    _sgnLR: _worst_case_signs,
}


@BOUNDS.register(_rrLP, _sgnLP, _sgnLR, _RPP)
def _preferences(measure: RecallLevels, builder: ModelBuilder) -> Model:
    rel, docs = measure.get("rel"), builder.docs
    if isinstance(measure, _RPP):
        extremes: Extremes = partial(_average_case, weight=LEVEL_WEIGHTS[measure.get("weight")])
    else:
        extremes = _EXTREMES[type(measure)]

    def score(gains: FloatArray) -> FloatArray:
        grade: IntArray = docs.grade.copy()
        grade[builder.open] = np.where(gains > 0, rel, 0)
        return builder.scores(grade)

    relevant, references = builder.relevant(rel), builder.references
    return Preferences(builder.views, builder.positions, relevant, references, extremes, score)


@BOUNDS.register(_Shapley)
def _shapley(measure: _Shapley, builder: ModelBuilder) -> Model:
    docs = builder.docs
    weight = np.array([np.prod(measure.chances(view, docs), axis=0) for view in builder.views])
    if ADDITIVE[measure.get("base")].graded:
        return builder.normalized(weight, *builder.gains(measure.get("dcg"), measure.get("gains")))
    return builder.additive(weight / measure.browsing.total, builder.relevant(measure.get("rel")))


# The highest grade that gdeval's ERR knows.
_HIGHEST_IN_ERR = 4


def _browsing(measure: Measure) -> BrowsingModel:
    """The browsing model of the base of this name, with the parameters of a measure of ir_measures."""
    return BASES[measure.NAME].browsing(partial(value_of, measure))


@BOUNDS.register(type(ir_measures.P))
def _p(measure: Measure, builder: ModelBuilder) -> Model:
    weight = _browsing(measure).share(builder.positions)
    return builder.additive(weight, builder.relevant(value_of(measure, "rel")))


@BOUNDS.register(type(ir_measures.R))
def _r(measure: Measure, builder: ModelBuilder) -> Model:
    builder.warn_of_others()
    shown, relevant = builder.positions > 0, builder.relevant(value_of(measure, "rel"))
    gains = relevant.astype(np.float64)
    return Recall(builder.views, shown.astype(np.float64), gains, np.array([0.0, 1.0]), None)


@BOUNDS.register(type(ir_measures.StRecall))
def _st_recall(measure: Measure, builder: ModelBuilder) -> Model:
    return SubtopicRecall(builder.views, value_of(measure, "rel"))


@BOUNDS.register(type(ir_measures.RR), type(ir_measures.Success))
def _first(measure: Measure, builder: ModelBuilder) -> Model:
    worth = _browsing(measure).seen(builder.positions)
    return builder.best(worth, builder.relevant(value_of(measure, "rel")))


@BOUNDS.register(type(ir_measures.AP))
def _ap(measure: Measure, builder: ModelBuilder) -> Model:
    return builder.precisions(builder.relevant(value_of(measure, "rel")))


@BOUNDS.register(type(ir_measures.RBP))
def _rbp(measure: Measure, builder: ModelBuilder) -> Model:
    rel = value_of(measure, "rel")
    if rel is None:
        raise ValueError(
            f"{measure} does not say which documents are relevant; give rel, as in RBP(rel=1)@10"
        )
    return builder.additive(_browsing(measure).share(builder.positions), builder.relevant(rel))


@BOUNDS.register(type(ir_measures.SDCG))
def _sdcg(measure: Measure, builder: ModelBuilder) -> Model:
    low, high = value_of(measure, "min_rel"), value_of(measure, "max_rel")
    lowest, highest = builder.grades
    if builder.members.grades is None:  # the measure knows more of the scale than the qrels may show
        highest = max(highest, high)
    gain = (np.clip(builder.docs.grade, low, high) - low).astype(np.float64)
    least, most = (float(np.clip(end, low, high) - low) for end in (lowest, highest))
    weight = _browsing(measure).share(builder.positions) / (high - low)
    return builder.additive(weight, gain, least, most)


@BOUNDS.register(type(ir_measures.nDCG))
def _ndcg(measure: Measure, builder: ModelBuilder) -> Model:
    gains = value_of(measure, "gains")
    if builder.judged_only and any(min(pair) < 0 for pair in (gains or {}).items()):
        raise ValueError(
            f"{measure}: judged_only and gains disagree on which labels are negative; give only one of the two"
        )
    gain, levels = builder.gains(value_of(measure, "dcg", "log2"), gains)
    return builder.normalized(_browsing(measure).seen(builder.positions), gain, levels)


@BOUNDS.register(type(ir_measures.ERR))
def _err(measure: Measure, builder: ModelBuilder) -> Model:
    highest = int(builder.labels[-1])
    if highest > _HIGHEST_IN_ERR:
        raise ValueError(
            f"{measure}: ir_measures computes ERR for grades up to {_HIGHEST_IN_ERR}, not {highest}; leave it out"
        )
    stop = chance_to_satisfy(np.append(builder.docs.grade, highest), _HIGHEST_IN_ERR)
    return builder.cascade(stop[:-1], float(stop[-1]))


class SubtopicRecall(Model):
    """The share of the aspects of a topic that a relevant document in the top is about. Exact for a run and for two.

    An unjudged document in one top alone can bring all aspects there; one in both, those that the other run has anyway.
    """

    def __init__(self, views: Sequence[View], rel: int) -> None:
        super().__init__(views, views[0].documents.grade > 0)
        judgments = views[0].judgments
        aspects, n = judgments.aspects, views[0].n_queries
        relevant = aspects.grade >= rel
        named = np.unique(aspects.aspect[relevant])
        self.aspect_query: IntArray = aspects.query[named]
        #: Which aspects each run covers, shape (runs, aspects).
        self.covered: BoolArray = np.zeros((len(views), len(aspects)), dtype=bool)
        for row, view in zip(self.covered, views, strict=True):
            shown = view.positions_in(view.evaluated, judgments)[aspects.document] > 0
            row[aspects.aspect[relevant & shown]] = True
        self.covered = self.covered[:, named]
        self.number = np.bincount(self.aspect_query, minlength=n).astype(np.float64)
        #: Which open documents are in the top of each run, shape (runs, documents).
        self.shown: BoolArray = np.array([view.positions(self.docs) > 0 for view in views]) & self.open

    def _share(self, covered: BoolArray) -> FloatArray:
        """The share of the aspects of each topic, of shape (…, aspects)."""
        count = np.zeros((*covered.shape[:-1], self.docs.n_queries))
        np.add.at(count.T, self.aspect_query, covered.T)
        return ratio(count, np.broadcast_to(self.number, count.shape))

    def _any(self, shown: BoolArray) -> BoolArray:
        """On which topics some of the documents are."""
        return self.sums(shown.astype(np.float64), self.open) > 0

    def value(self) -> FloatArray:
        return self._share(self.covered)

    def sampled(self, gains: FloatArray) -> FloatArray:
        """Of judgments that do not name the aspects: a relevant document is about all of them."""
        result = np.repeat(self.value()[:, None, :], len(gains), axis=1)
        for run, shown in enumerate(self.shown[:, self.open]):
            covers_all = self.over_open((gains > 0) * shown) > 0
            result[run] = np.where(covers_all & (self.number > 0), 1.0, result[run])
        return result

    def one(self, work: Work) -> Interval:
        known = self.value()
        return Interval.attained(known, np.where(self._any(self.shown) & (self.number > 0), 1.0, known))

    def difference(self, a: IntArray, b: IntArray, work: Work) -> Interval:
        return Interval.attained(-self._greatest(b, a), self._greatest(a, b))

    def _greatest(self, a: IntArray, b: IntArray) -> FloatArray:
        """The greatest difference of run a[i] less run b[i]."""
        known = self.value()
        together = self._share(self.covered[a] | self.covered[b])
        own = self._any(self.shown[a] & ~self.shown[b]) & (self.number > 0)
        shared = self._any(self.shown[a] & self.shown[b])
        result: FloatArray = np.where(own, 1.0, np.where(shared, together, known[a])) - known[b]
        return result

    def influence(self, a: int, b: int, reach: FloatArray) -> FloatArray:
        counts = (self.shown[a] | self.shown[b]) & (self.number > 0)[self.docs.query]
        return np.where(counts, np.maximum(reach[self.docs.query], 1e-6), 0.0)
