"""How a measure is bounded: as it declares itself, or as this table says of ir_measures' own measures."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import ir_measures
import numpy as np

from ..arrays import FloatArray
from ..comparison import JudgedContext
from ..extremes.bounding import Labelings
from ..extremes.model import Model
from ..measures.browsing import BrowsingModel, Geometric, LogDiscount, Reciprocal, TopK
from ..measures.declaration import RelativeMeasure
from ..measures.gains import chance_to_satisfy
from ..measures.parameters import value_of
from ..measures.strings import is_relative, registered
from ..options import check_count

#: Makes the model of a measure of ir_measures.
Maker: TypeAlias = Callable[[ir_measures.Measure, Labelings], Model]

# The highest grade that gdeval's ERR knows.
_HIGHEST_IN_ERR = 4


def model_of(
    measure: ir_measures.Measure, judged: JudgedContext, elsewhere: int = 0, residual: bool = False
) -> Model:
    """The model of a measure; RBP's with its residual, where that is asked for.

    Raises:
        ValueError: a measure without one; says which have one.
    """
    check_count("elsewhere", elsewhere, 0)

    def of(measure: ir_measures.Measure, judged: JudgedContext) -> Model:
        labelings = Labelings(measure, judged, elsewhere=elsewhere, residual=residual, bound=of)
        try:
            if is_relative(measure):
                model: Model = measure.bounded(labelings)
                return model
            return HOST_MEASURES.get(type(measure), _unknown)(measure, labelings)
        except NotImplementedError:
            known = ", ".join(bounded_measures())
            raise ValueError(f"{measure} cannot be bounded yet; these can: {known}") from None

    return of(measure, judged)


def bounded_measures() -> list[str]:
    """The names of the measures that can be bounded, of ir_measures and of those that are registered there."""
    own = [
        name for name, measure in registered().items() if type(measure).bounded is not RelativeMeasure.bounded
    ]
    return sorted({*own, *(kind.NAME for kind in HOST_MEASURES)})


def _unknown(measure: ir_measures.Measure, labelings: Labelings) -> Model:
    raise NotImplementedError


def _precision(measure: ir_measures.Measure, labelings: Labelings) -> Model:
    weight = TopK(measure["cutoff"]).share(labelings.positions)
    return labelings.additive(weight, labelings.relevant(measure["rel"]))


def _rbp(measure: ir_measures.Measure, labelings: Labelings) -> Model:
    rel = value_of(measure, "rel")
    if rel is None:
        raise ValueError(
            f"{measure} does not say which documents are relevant; give rel, as in RBP(rel=1)@10"
        )
    relevant, p = labelings.relevant(rel), float(measure["p"])
    if labelings.residual:
        return labelings.followed(relevant, p)
    return labelings.additive(Geometric(p).share(labelings.positions), relevant)


def _sdcg(measure: ir_measures.Measure, labelings: Labelings) -> Model:
    low, high, cutoff = measure["min_rel"], measure["max_rel"], measure["cutoff"]
    lowest, highest = labelings.grades
    if labelings.judged.context.grades is None:  # the measure knows more of the scale than the qrels may show
        highest = max(highest, high)
    gain = (np.clip(labelings.docs.grade, low, high) - low).astype(np.float64)
    least, most = (float(np.clip(end, low, high) - low) for end in (lowest, highest))
    weight = LogDiscount(cutoff).share(labelings.positions) / (high - low)
    return labelings.additive(weight, gain, least, most)


def _ndcg(measure: ir_measures.Measure, labelings: Labelings) -> Model:
    gains = value_of(measure, "gains")
    if labelings.judged_only and any(min(pair) < 0 for pair in (gains or {}).items()):
        raise ValueError(
            f"{measure}: judged_only leaves out documents with a negative label, and gains changes which labels are "
            "negative, so it cannot be bounded; give only one of the two"
        )
    gain, levels = labelings.gains(value_of(measure, "dcg", "log2"), gains)
    return labelings.normalized(LogDiscount().seen(labelings.positions), gain, levels)


def _best(browsing: BrowsingModel) -> Maker:
    def make(measure: ir_measures.Measure, labelings: Labelings) -> Model:
        worth: FloatArray = browsing.seen(labelings.positions)
        return labelings.best(worth, labelings.relevant(measure["rel"]))

    return make


def _ap(measure: ir_measures.Measure, labelings: Labelings) -> Model:
    return labelings.precisions(labelings.relevant(measure["rel"]))


def _err(measure: ir_measures.Measure, labelings: Labelings) -> Model:
    highest = int(labelings.open_docs.labels()[-1])
    if highest > _HIGHEST_IN_ERR:
        raise ValueError(
            f"{measure}: ir_measures computes ERR for grades up to {_HIGHEST_IN_ERR}, not {highest}; leave it out"
        )
    stop = chance_to_satisfy(np.append(labelings.docs.grade, highest), _HIGHEST_IN_ERR)
    return labelings.cascade(stop[:-1], float(stop[-1]))


#: From the class of a measure of ir_measures to its model.
HOST_MEASURES: dict[type[ir_measures.Measure], Maker] = {
    type(ir_measures.P): _precision,
    type(ir_measures.RBP): _rbp,
    type(ir_measures.SDCG): _sdcg,
    type(ir_measures.nDCG): _ndcg,
    type(ir_measures.RR): _best(Reciprocal()),
    type(ir_measures.Success): _best(TopK()),
    type(ir_measures.AP): _ap,
    type(ir_measures.ERR): _err,
}
