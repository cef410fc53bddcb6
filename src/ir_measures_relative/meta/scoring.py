"""The values of a context's runs, and the statistics that compare two such sets of values."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence

import ir_measures
import numpy as np

from ..arrays import FloatArray
from ..comparison import JudgedContext
from ..jobs import Work
from ..measures.declaration import RelativeMeasure
from ..questions.similarities import score_pairs
from ..scoring import score_runs
from .correlations import KINDS, standing
from .table import Scores, of_pairs, of_runs


def score(judged: JudgedContext, measures: Sequence[ir_measures.Measure]) -> list[Scores]:
    """The values of each measure; of pairs by a measure that says which of two runs is better, without ``ref=``.

    Raises:
        ValueError: a measure that has no value on some query; what the measures object to.
    """
    names, queries = judged.names, judged.judgments.query_ids.tolist()
    single = [m for m in measures if not is_of_pairs(m)]
    scored = score_runs(judged, names, single, part=True).values if single else np.empty((len(names), 0, 0))
    values = dict(zip(single, scored.swapaxes(0, 1), strict=True))
    pairs = list(itertools.combinations(range(len(names)), 2))
    result = []
    for measure in measures:
        if is_of_pairs(measure):
            result.append(of_pairs(str(measure), score_pairs(judged, measure, pairs, Work()), names, queries))
        else:
            result.append(of_runs(str(measure), values[measure], names, queries))
    return result


def is_of_pairs(measure: ir_measures.Measure) -> bool:
    """Whether the measure compares any two runs by its sign: rrLP, sgnLP, sgnLR and RPP, without ``ref=``."""
    return isinstance(measure, RelativeMeasure) and measure.SIGNED and measure.get("ref") is None


def agreement(scores: Scores, truth: Scores) -> float:
    """The share of the pairs of runs that the truth's means tell apart that these tell apart alike; NaN of no pair.

    Of measures of pairs, the means of the pairs: so it also says what a mean over opponents cannot.
    """
    return _agreement(
        _signs(scores.differences.mean(axis=1), scores), _signs(truth.differences.mean(axis=1), truth)
    )


def ranking_agreement(scores: Scores, truth: Scores) -> float:
    """The same of the rankings of each topic: the share of pairs and topics that the truth tells apart."""
    return _agreement(np.sign(scores.differences), np.sign(truth.differences))


def tied(scores: Scores, truth: Scores) -> float:
    """The share of pairs of runs and topics that are tied."""
    return float((scores.differences == 0).mean())


def _signs(means: FloatArray, scores: Scores) -> FloatArray:
    """Signs of means, which are 0 where rounding alone tells."""
    result: FloatArray = np.sign(np.where(np.abs(means) <= 1e-9 * scores.spread, 0.0, means))
    return result


def _agreement(found: FloatArray, expected: FloatArray) -> float:
    told = expected != 0
    return float((found == expected)[told].mean()) if told.any() else np.nan


def _correlating(kind: str) -> Callable[[Scores, Scores], float]:
    return lambda scores, truth: KINDS[kind](standing(scores), standing(truth))


#: How alike two sets of values of the same runs are, the second being the truth.
ALIKE: dict[str, Callable[[Scores, Scores], float]] = {
    **{kind: _correlating(kind) for kind in KINDS},
    "agreement": agreement,
    "ranking_agreement": ranking_agreement,
    "ties": tied,
}
