"""Which model a measure has: the table of what can be bounded."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import ir_measures
import numpy as np

from ..arrays import BoolArray, FloatArray, IntArray
from ..comparison import Comparison, JudgedContext
from ..extremes.additive import Additive, Best, Followed
from ..extremes.cascade import Cascade, ResidualCascade
from ..extremes.chance import GainsAboveChance, PoolSize, PrecisionsAboveChance
from ..extremes.labelings import OpenDocuments, open_documents
from ..extremes.model import Coverage, Model
from ..extremes.precisions import Precisions
from ..extremes.preferences import Preferences
from ..extremes.ratios import Normalized
from ..extremes.residual import Residual
from ..judgments import Judgments
from ..measures.declaration import RelativeMeasure
from ..measures.gains import chance_to_satisfy, discount, gain_of, persistence, reciprocal
from ..measures.nrg import Unseen
from ..measures.parameters import MISSING
from ..measures.rareness import rareness_weights
from ..measures.strings import is_relative
from ..measures.tasc import max_tasc
from ..measures.ue.measure import Normalizers, normalize
from ..measures.ue.random_rankings import expected_sum_of_precisions
from ..options import check_count

#: Makes the model of a measure on the documents of a campaign.
Maker: TypeAlias = Callable[[ir_measures.Measure, OpenDocuments], Model]


def model_of(
    measure: ir_measures.Measure, judged: JudgedContext, elsewhere: int = 0, residual: bool = False
) -> Model:
    """The model of a measure; RBP's with its residual, where that is asked for.

    Raises:
        ValueError: a measure without one; says which have one.
    """
    check_count("elsewhere", elsewhere, 0)
    if measure.NAME == "TaSC":
        return _tasc(measure, judged, elsewhere)
    if measure.NAME == "MED":
        base = measure.get("base")
        advice = f"bound {base} instead" if (base, None) in MODELS else f"{base} cannot be bounded"
        raise ValueError(f"{measure} is itself the largest difference over all labels; {advice}")
    if is_relative(measure) and measure.JUDGMENTS == "ignored":
        raise ValueError(f"{measure} looks at no judgment, so that none can change it; leave it out")
    make = MODELS.get(_kind(measure))
    if make is None:
        known = sorted({f"{name}(base={base!r})" if base else name for name, base in MODELS} | {"TaSC"})
        raise ValueError(f"{measure} cannot be bounded yet; these can: {', '.join(known)}")
    if residual and measure.NAME == "RBP":
        make = _rbp_and_what_follows
    return make(measure, open_documents(judged, _get(measure, "cutoff"), elsewhere))


def _kind(measure: ir_measures.Measure) -> tuple[str, str | None]:
    base = _get(measure, "base") if measure.NAME in ("NRG", "UE") else None
    return measure.NAME, base


def _get(measure: ir_measures.Measure, name: str, default: Any = None) -> Any:
    """The value of a parameter of any measure: as given, else its default, else ``default``."""
    if name not in measure.SUPPORTED_PARAMS:
        return default
    value = measure[name]
    return default if value is MISSING else value


def _relevant(measure: ir_measures.Measure, open_docs: OpenDocuments) -> BoolArray:
    """Which judged documents are relevant."""
    result: BoolArray = ~open_docs.open & (open_docs.docs.grade >= _get(measure, "rel", 1))
    return result


def _graded(measure: ir_measures.Measure, open_docs: OpenDocuments) -> tuple[FloatArray, FloatArray]:
    """The gain of every judged document, and the gains that a label can give, ascending."""
    dcg, gains = _get(measure, "dcg", "log2"), _get(measure, "gains")
    labels = open_docs.labels(_get(measure, "judged_only", False))
    levels = np.unique(gain_of(labels, dcg, gains))
    if levels[0] > 0 and not open_docs.listed.all():
        raise ValueError(
            f"{measure}: every judged document has a gain, so that judgments elsewhere would always change the ideal; "
            "leave elsewhere out"
        )
    return gain_of(open_docs.docs.grade, dcg, gains), levels


def _binary(weight: Callable[[ir_measures.Measure, OpenDocuments], FloatArray]) -> Maker:
    """An additive measure of relevant documents."""

    def make(measure: ir_measures.Measure, open_docs: OpenDocuments) -> Model:
        gain = _relevant(measure, open_docs).astype(np.float64)
        return Additive(open_docs, weight(measure, open_docs), gain, 0.0, 1.0)

    return make


def _in_top(measure: ir_measures.Measure, open_docs: OpenDocuments) -> FloatArray:
    return (open_docs.positions(_get(measure, "judged_only", False)) > 0).astype(np.float64)


def _of_p(measure: ir_measures.Measure, open_docs: OpenDocuments) -> FloatArray:
    return _in_top(measure, open_docs) / float(_get(measure, "cutoff"))


def _check_rel(measure: ir_measures.Measure) -> None:
    if measure.NAME == "RBP" and _get(measure, "rel") is None:
        raise ValueError(
            f"{measure} does not say which documents are relevant; give rel, as in RBP(rel=1)@10"
        )


def _of_rbp(measure: ir_measures.Measure, open_docs: OpenDocuments) -> FloatArray:
    _check_rel(measure)
    p = float(_get(measure, "p"))
    seen: FloatArray = persistence(p)(open_docs.positions(_get(measure, "judged_only", False)))
    return (1.0 - p) * seen


def _rbp_and_what_follows(measure: ir_measures.Measure, open_docs: OpenDocuments) -> Model:
    _check_rel(measure)
    position = open_docs.positions(_get(measure, "judged_only", False))
    gain = _relevant(measure, open_docs).astype(np.float64)
    return Followed(open_docs, position, gain, float(_get(measure, "p")))


def _survival(measure: ir_measures.Measure, open_docs: OpenDocuments, base: str) -> FloatArray:
    """The chance that each document was left to find, for every run; shape (runs, documents)."""
    factor = Unseen(base, _get(measure, "p")) if base == "RBP" else Unseen(base)
    result = [
        open_docs.comparison(i).prior_product(
            factor,
            open_docs.docs,
            prior=measure.get("prior"),
            cutoff=open_docs.cutoff,
            judged_only=measure.get("judged_only"),
        )
        for i in range(len(open_docs.judged.names))
    ]
    return np.array(result).reshape(len(result), len(open_docs.docs))


def _of_nrg_p(measure: ir_measures.Measure, open_docs: OpenDocuments) -> FloatArray:
    of_p = _in_top if measure.get("norm") is None else _of_p
    return _survival(measure, open_docs, "P") * of_p(measure, open_docs)


def _of_nrg_rbp(measure: ir_measures.Measure, open_docs: OpenDocuments) -> FloatArray:
    norm = 1.0 - float(_get(measure, "p")) if measure.get("norm") is None else 1.0
    return _survival(measure, open_docs, "RBP") * _of_rbp(measure, open_docs) / norm


def _of_unique_rel(measure: ir_measures.Measure, open_docs: OpenDocuments) -> FloatArray:
    return _survival(measure, open_docs, "P") * _in_top(measure, open_docs)


def _rareness(measure: ir_measures.Measure, open_docs: OpenDocuments) -> FloatArray:
    """What a relevant document counts, for every run: all systems are members, so it is the same for all."""
    held = open_docs.positions(measure.get("judged_only")) > 0
    result: FloatArray = rareness_weights(
        held.sum(axis=0), len(held), measure.get("alpha"), measure.get("bounded")
    )
    return result


def _of_p_rareness(measure: ir_measures.Measure, open_docs: OpenDocuments) -> FloatArray:
    return _rareness(measure, open_docs) * _of_p(measure, open_docs)


def _sdcg(measure: ir_measures.Measure, open_docs: OpenDocuments) -> Model:
    low, high, cutoff = measure["min_rel"], measure["max_rel"], measure["cutoff"]
    lowest, highest = open_docs.completed.grades
    if open_docs.judged.context.grades is None:  # the measure knows more of the scale than the qrels may show
        highest = max(highest, high)
    grade = np.clip(open_docs.docs.grade, low, high)
    scale = float(discount(np.arange(1, cutoff + 1)).sum()) * (high - low)
    least, greatest = (float(np.clip(end, low, high) - low) for end in (lowest, highest))
    weight = discount(open_docs.positions()) / scale
    return Additive(open_docs, weight, (grade - low).astype(np.float64), least, greatest)


def _ndcg(measure: ir_measures.Measure, open_docs: OpenDocuments) -> Model:
    gains = _get(measure, "gains") or {}
    if _get(measure, "judged_only", False) and any(min(pair) < 0 for pair in gains.items()):
        raise ValueError(
            f"{measure}: its gains say anew which labels are negative, which judged_only takes for unjudged, so that "
            "it cannot be bounded; leave one of the two out"
        )
    positions = open_docs.positions(_get(measure, "judged_only", False))
    return Normalized(open_docs, discount(positions), *_graded(measure, open_docs), open_docs.cutoff)


def _rr(measure: ir_measures.Measure, open_docs: OpenDocuments) -> Model:
    worth = reciprocal(open_docs.positions(_get(measure, "judged_only", False)))
    return Best(open_docs, worth, _relevant(measure, open_docs))


def _success(measure: ir_measures.Measure, open_docs: OpenDocuments) -> Model:
    return Best(open_docs, _in_top(measure, open_docs), _relevant(measure, open_docs))


def _nrg_rr(measure: ir_measures.Measure, open_docs: OpenDocuments) -> Model:
    worth = reciprocal(open_docs.positions(measure.get("judged_only")))
    return Best(open_docs, worth * _survival(measure, open_docs, "RR"), _relevant(measure, open_docs))


def _nrg_ndcg(measure: RelativeMeasure, open_docs: OpenDocuments) -> Model:
    survival = _survival(measure, open_docs, "nDCG")
    seen = discount(open_docs.positions(measure.get("judged_only")))
    gain, levels = _graded(measure, open_docs)
    if measure.get("norm") is None:
        return Additive(open_docs, seen * survival, gain, levels[0], levels[-1])
    if measure.get("norm") == "ideal":
        return Normalized(open_docs, seen * survival, gain, levels, open_docs.cutoff)
    return Residual(open_docs, survival, seen, gain, levels, measure.depth_of_ideal)


def _nrg_err(measure: RelativeMeasure, open_docs: OpenDocuments) -> Model:
    max_grade, judged_only = measure.get("max_grade"), measure.get("judged_only")
    highest = max(int(open_docs.labels(judged_only)[-1]), int(open_docs.docs.grade.max(initial=0)))
    if highest > max_grade:
        raise ValueError(
            f"{measure}: documents may have the grade {highest}; max_grade must be at least that"
        )
    priors = [
        open_docs.comparison(i).priors(measure.get("prior")) for i in range(len(open_docs.judged.names))
    ]
    theta = chance_to_satisfy(np.append(open_docs.docs.grade, highest), max_grade)
    return ResidualCascade(open_docs, open_docs.positions(judged_only), priors, theta[:-1], float(theta[-1]))


def _shapley(measure: RelativeMeasure, open_docs: OpenDocuments) -> Model:
    name, cutoff, p = map(measure.get, ("base", "cutoff", "p"))
    runs = range(len(open_docs.judged.names))
    share = np.array([measure.shares(open_docs.comparison(i), open_docs.docs) for i in runs])
    weight = share.reshape(len(runs), len(open_docs.docs))
    if name == "nDCG":
        return Normalized(open_docs, weight, *_graded(measure, open_docs), cutoff)
    norm = float(cutoff) if name == "P" else 1.0 / (1.0 - p)
    return Additive(open_docs, weight / norm, _relevant(measure, open_docs).astype(np.float64), 0.0, 1.0)


def _ap(measure: ir_measures.Measure, open_docs: OpenDocuments) -> Model:
    positions = open_docs.positions(_get(measure, "judged_only", False))
    weight: FloatArray = np.ones(len(open_docs.docs))
    if measure.NAME == "AP_Rareness":
        weight = _rareness(measure, open_docs)
    return Precisions(open_docs, positions, _relevant(measure, open_docs), weight)


# gdeval's highest grade
_HIGHEST_IN_ERR = 4


def _err(measure: ir_measures.Measure, open_docs: OpenDocuments) -> Model:
    highest = int(open_docs.labels()[-1])
    if highest > _HIGHEST_IN_ERR:
        raise ValueError(
            f"{measure}: ir_measures computes ERR for grades up to {_HIGHEST_IN_ERR}, not {highest}; leave it out"
        )
    grade = np.maximum(open_docs.docs.grade, 0)
    stop = (2.0**grade - 1.0) / 2.0**_HIGHEST_IN_ERR
    return Cascade(open_docs, open_docs.positions(), stop, (2.0**highest - 1.0) / 2.0**_HIGHEST_IN_ERR)


def _pool(measure: ir_measures.Measure, open_docs: OpenDocuments) -> PoolSize:
    whole = open_docs.judged.context.num_docs if measure.get("pool") == "corpus" else None
    return PoolSize(open_docs, whole, measure.get("judged_only"))


def _check_version(measure: ir_measures.Measure) -> None:
    if measure.get("version") == "z":
        raise ValueError(
            f"{measure} cannot be bounded yet, since labels move the standard deviation, too; use version=1 or 2"
        )


def _ap_ue(measure: ir_measures.Measure, open_docs: OpenDocuments) -> Model:
    version, exact_level = measure.get("version"), measure.get("expected") == "exact"

    def value_of(total: FloatArray, relevant: IntArray, size: IntArray, depth: IntArray) -> FloatArray:
        upper = np.minimum(depth, relevant).astype(np.float64)
        expected = expected_sum_of_precisions(relevant, size, depth, exact_level)
        return normalize(total, Normalizers(upper, np.where(relevant == size, upper, expected)), version)

    positions = open_docs.positions(measure.get("judged_only"))
    relevant = _relevant(measure, open_docs)
    return PrecisionsAboveChance(open_docs, positions, relevant, _pool(measure, open_docs), value_of)


def _ndcg_ue(measure: ir_measures.Measure, open_docs: OpenDocuments) -> Model:
    _check_version(measure)
    version = measure.get("version")

    def value_of(value: FloatArray, perfect: FloatArray, random: FloatArray) -> FloatArray:
        return normalize(value, Normalizers(perfect, random), version)

    weight = discount(open_docs.positions(measure.get("judged_only")))
    gains, pool = _graded(measure, open_docs), _pool(measure, open_docs)
    return GainsAboveChance(open_docs, weight, *gains, open_docs.cutoff, pool, version, value_of)


def _preference(measure: RelativeMeasure, open_docs: OpenDocuments) -> Model:
    positions = open_docs.positions(measure.get("judged_only"))
    docs, rel, context = open_docs.docs, measure.get("rel"), open_docs.judged.context
    runs = list(context.runs.values())
    references: list[int] = []
    for i in range(len(runs)):
        reference = open_docs.comparison(i).reference(measure.get("ref"))
        references.append(next(j for j, run in enumerate(runs) if run is reference))

    def score(gains: FloatArray) -> FloatArray:
        grade: IntArray = docs.grade.copy()
        grade[open_docs.open] = np.where(gains > 0, min(rel, max(open_docs.completed.grades[1], 1)), 0)
        labeled = Judgments(docs.query_ids, docs.query, docs.ids, grade)
        judged = JudgedContext(context, labeled)
        return np.array(
            [
                measure.score(Comparison(judged, run, name))
                for name, run in zip(judged.names, runs, strict=True)
            ]
        )

    weight = _get(measure, "weight", "uniform")
    relevant = _relevant(measure, open_docs)
    return Preferences(open_docs, positions, relevant, references, measure.NAME, weight, score)


def _tasc(measure: RelativeMeasure, judged: JudgedContext, elsewhere: int) -> Model:
    base = model_of(measure.base_measure(), judged, elsewhere)
    priors = [
        Comparison(judged, run, name).priors(measure.get("prior"))
        for name, run in judged.context.runs.items()
    ]
    return Coverage(base, priors, max_tasc)


#: From a measure's name, and the base of NRG and UE, to its model. ir_measures' own stand beside this package's.
MODELS: dict[tuple[str, str | None], Maker] = {
    ("P", None): _binary(_of_p),
    ("RBP", None): _binary(_of_rbp),
    ("SDCG", None): _sdcg,
    ("nDCG", None): _ndcg,
    ("RR", None): _rr,
    ("Success", None): _success,
    ("AP", None): _ap,
    ("AP_Rareness", None): _ap,
    ("ERR", None): _err,
    ("nDCG_UE", None): _ndcg_ue,
    ("AP_UE", None): _ap_ue,
    ("UE", "nDCG"): _ndcg_ue,
    ("UE", "AP"): _ap_ue,
    **{(name, None): _preference for name in ("rrLP", "sgnLP", "sgnLR", "RPP")},
    ("UniqueRel", None): _binary(_of_unique_rel),
    ("NRG", "nDCG"): _nrg_ndcg,
    ("NRG", "P"): _binary(_of_nrg_p),
    ("NRG", "RBP"): _binary(_of_nrg_rbp),
    ("NRG", "RR"): _nrg_rr,
    ("NRG", "ERR"): _nrg_err,
    ("P_Rareness", None): _binary(_of_p_rareness),
    ("Shapley", None): _shapley,
}
