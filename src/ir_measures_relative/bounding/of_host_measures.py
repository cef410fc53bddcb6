"""How ir_measures' own measures depend on the labels of the open documents."""

from __future__ import annotations

import ir_measures
import numpy as np
from ir_measures import Measure

from ..context.measure_strings import value_of
from ..measures.bases.browsing import Geometric, LogDiscount, Reciprocal, TopK
from ..measures.bases.gains import chance_to_satisfy
from .model import Model
from .model_builder import BOUNDS, ModelBuilder
from .subtopics import SubtopicRecall

# The highest grade that gdeval's ERR knows.
_HIGHEST_IN_ERR = 4


@BOUNDS.register(type(ir_measures.P))
def _p(measure: Measure, builder: ModelBuilder) -> Model:
    weight = TopK(value_of(measure, "cutoff")).share(builder.positions)
    return builder.additive(weight, builder.relevant(value_of(measure, "rel")))


@BOUNDS.register(type(ir_measures.R))
def _r(measure: Measure, builder: ModelBuilder) -> Model:
    return builder.recall(builder.relevant(value_of(measure, "rel")))


@BOUNDS.register(type(ir_measures.StRecall))
def _st_recall(measure: Measure, builder: ModelBuilder) -> Model:
    return SubtopicRecall(builder.views, value_of(measure, "rel"))


@BOUNDS.register(type(ir_measures.RR))
def _rr(measure: Measure, builder: ModelBuilder) -> Model:
    return builder.best(Reciprocal().seen(builder.positions), builder.relevant(value_of(measure, "rel")))


@BOUNDS.register(type(ir_measures.Success))
def _success(measure: Measure, builder: ModelBuilder) -> Model:
    return builder.best(TopK().seen(builder.positions), builder.relevant(value_of(measure, "rel")))


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
    relevant, p = builder.relevant(rel), float(value_of(measure, "p"))
    if builder.residual:
        return builder.followed(relevant, p)
    return builder.additive(Geometric(p).share(builder.positions), relevant)


@BOUNDS.register(type(ir_measures.SDCG))
def _sdcg(measure: Measure, builder: ModelBuilder) -> Model:
    low, high, cutoff = (
        value_of(measure, "min_rel"),
        value_of(measure, "max_rel"),
        value_of(measure, "cutoff"),
    )
    lowest, highest = builder.grades
    if builder.members.grades is None:  # the measure knows more of the scale than the qrels may show
        highest = max(highest, high)
    gain = (np.clip(builder.docs.grade, low, high) - low).astype(np.float64)
    least, most = (float(np.clip(end, low, high) - low) for end in (lowest, highest))
    weight = LogDiscount(cutoff).share(builder.positions) / (high - low)
    return builder.additive(weight, gain, least, most)


@BOUNDS.register(type(ir_measures.nDCG))
def _ndcg(measure: Measure, builder: ModelBuilder) -> Model:
    gains = value_of(measure, "gains")
    if builder.judged_only and any(min(pair) < 0 for pair in (gains or {}).items()):
        raise ValueError(
            f"{measure}: judged_only leaves out documents with a negative label, and gains changes which labels are "
            "negative, so it cannot be bounded; give only one of the two"
        )
    gain, levels = builder.gains(value_of(measure, "dcg", "log2"), gains)
    return builder.normalized(LogDiscount().seen(builder.positions), gain, levels)


@BOUNDS.register(type(ir_measures.ERR))
def _err(measure: Measure, builder: ModelBuilder) -> Model:
    highest = int(builder.labels[-1])
    if highest > _HIGHEST_IN_ERR:
        raise ValueError(
            f"{measure}: ir_measures computes ERR for grades up to {_HIGHEST_IN_ERR}, not {highest}; leave it out"
        )
    stop = chance_to_satisfy(np.append(builder.docs.grade, highest), _HIGHEST_IN_ERR)
    return builder.cascade(stop[:-1], float(stop[-1]))
