"""What a report is made of: the tables of the analyses, each by its public function."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import ir_measures
import numpy as np

from ..arrays import FloatArray
from ..comparison import judged_context
from ..io.qrels import QrelsColumns
from ..measures.declaration import RelativeMeasure
from ..measures.med import MED
from ..measures.nrg import NRG
from ..measures.shapley import Shapley
from ..measures.strings import is_relative
from ..questions.comparing import compare
from ..questions.explaining import explain
from ..questions.selecting import select_complementary
from ..questions.similarities import clustered, squares
from ..scoring import Scores, score_runs
from ..unjudged.bounds import bounds
from ..unjudged.verdicts import verdicts

if TYPE_CHECKING:
    import pandas as pd

    from ..comparison import JudgedContext
    from ..context import RunContext

T = TypeVar("T")

#: The cutoff of what nobody asked for by name, where no measure has one.
_CUTOFF = 10
# Cutoffs above this are not taken over by the analyses of pairs of runs.
_DEEPEST = 100
# Pairs of runs times topics up to which verdicts take less than half a minute: of most measures, and of those whose
# gain depends on the positions in all priors.
_PAIRS, _PAIRS_OF_RESIDUALS = 500_000, 20_000
# How many runs are selected at most.
_SELECTED = 50


class Likeness(NamedTuple):
    """How far apart every two runs are."""

    measure: str
    order: list[int]  #: the runs, alike ones side by side
    distance: FloatArray  #: shape (runs, runs), in the context's order


class Open(NamedTuple):
    """What unjudged documents leave open of one measure."""

    measure: str
    bounds: pd.DataFrame
    verdicts: pd.DataFrame


class Findings(NamedTuple):
    """The tables of a report; None, or empty, where there is nothing to say."""

    context: RunContext
    judged: JudgedContext
    fingerprint: dict[str, Any]
    measures: list[ir_measures.Measure]  #: those that are shown
    scores: Scores  #: of these
    explained: RelativeMeasure | None  #: the measure of ``explanations``
    explanations: list[pd.DataFrame]  #: of each run
    likeness: Likeness | None
    selection: tuple[str, pd.DataFrame] | None  #: the measure, and the table
    shapley: tuple[str, pd.DataFrame] | None
    open: list[Open]
    comparison: pd.DataFrame | None  #: of all runs with the reference


def find(
    context: RunContext,
    qrels: QrelsColumns,
    measures: Sequence[ir_measures.Measure],
    given: Scores | None = None,
) -> Findings:
    """Everything that can be found out about a campaign in reasonable time.

    Args:
        given: the values of the measures, where they are computed already.
    """
    from tqdm import tqdm

    judged = judged_context(context, qrels)
    steps = ("scores", "documents", "similarity", "selection", "credits", "verdicts", "comparison")
    with tqdm(total=len(steps), desc="report", unit="part", disable=None, leave=False) as bar:

        def step(compute: Callable[[], T]) -> T:
            bar.set_postfix_str(steps[bar.n])
            result = compute()
            bar.update()
            return result

        several = len(context.names) > 1
        explained = explainable(measures, several)
        shown = [*measures] if explained is None or explained in measures else [*measures, explained]
        scores = step(lambda: _scores(judged, shown, given))
        explanations = step(
            lambda: (
                [] if explained is None else [explain(context, n, qrels, explained) for n in context.names]
            )
        )
        cutoff = _cutoff(shown)
        likeness = step(lambda: _likeness(judged, MED @ cutoff) if several else None)
        selection = step(lambda: _selection(context, qrels, shown, cutoff) if several else None)
        shapley = step(lambda: _shapley(context, qrels, shown, cutoff) if several else None)
        unjudged = step(lambda: list(_open(context, qrels, shown, judged)) if several else [])
        comparison = step(lambda: _comparison(context, qrels, shown) if several else None)
    return Findings(
        context,
        judged,
        context.fingerprint(qrels),
        shown,
        scores,
        explained,
        explanations,
        likeness,
        selection,
        shapley,
        unjudged,
        comparison,
    )


def explainable(measures: Sequence[ir_measures.Measure], several: bool) -> RelativeMeasure | None:
    """The first measure that says what each document contributes; else NRG@10, where there are several runs."""
    for measure in measures:
        if is_relative(measure) and type(measure).contributions is not RelativeMeasure.contributions:
            found: RelativeMeasure = measure
            return found
    return NRG @ _CUTOFF if several else None


def _scores(judged: JudgedContext, measures: Sequence[ir_measures.Measure], scores: Scores | None) -> Scores:
    """The values of the measures, of which some may be there."""
    known = [] if scores is None else scores.measures
    lacking = [m for m in measures if m not in known]
    if scores is None:
        return score_runs(judged, judged.names, measures)
    if not lacking:
        return scores
    more = score_runs(judged, judged.names, lacking)
    values = np.concatenate([scores.values, more.values], axis=1)
    return Scores(scores.names, [*scores.measures, *lacking], scores.query_ids, values)


def _cutoff(measures: Sequence[ir_measures.Measure]) -> int:
    """The first cutoff of a measure that is not a deep one."""
    cutoffs = (m.params.get("cutoff") for m in measures)
    return next((k for k in cutoffs if isinstance(k, int) and k <= _DEEPEST), _CUTOFF)


def _likeness(judged: JudgedContext, measure: RelativeMeasure) -> Likeness:
    distance, _ = squares(judged, measure)
    return Likeness(str(measure), clustered(distance), distance)


def _selection(
    context: RunContext, qrels: QrelsColumns, measures: Sequence[ir_measures.Measure], cutoff: int
) -> tuple[str, pd.DataFrame]:
    free = (m for m in measures if is_relative(m) and m.RELATIVE_TO == "priors" and m.get("prior") is None)
    measure = next(free, NRG @ cutoff)
    return str(measure), select_complementary(context, qrels, min(len(context.names), _SELECTED), measure)


def _shapley(
    context: RunContext, qrels: QrelsColumns, measures: Sequence[ir_measures.Measure], cutoff: int
) -> tuple[str, pd.DataFrame]:
    measure = next((m for m in measures if is_relative(m) and m.NAME == Shapley.NAME), Shapley @ cutoff)
    return str(measure), context.evaluate(qrels, [measure])


def _open(
    context: RunContext, qrels: QrelsColumns, measures: Sequence[ir_measures.Measure], judged: JudgedContext
) -> Iterator[Open]:
    """What unjudged documents leave open of the first absolute and of the first relative measure that has bounds.

    Only those whose verdicts do not take long; and nothing of a measure that no label can change.
    """
    n, kinds = len(judged.names), set()
    work = n * (n - 1) // 2 * judged.judgments.n_queries
    for measure in measures:
        cutoff, relative = measure.params.get("cutoff"), is_relative(measure)
        limit = _PAIRS_OF_RESIDUALS if measure.NAME == NRG.NAME else _PAIRS
        if relative in kinds or not isinstance(cutoff, int) or work * max(1, cutoff // _CUTOFF) > limit:
            continue
        try:
            table = bounds(context, qrels, [measure])
        except ValueError:  # a measure that cannot be bounded
            continue
        kinds.add(relative)
        if (table["lower"] < table["upper"]).any():
            yield Open(str(measure), table, verdicts(context, qrels, [measure]))


def _comparison(
    context: RunContext, qrels: QrelsColumns, measures: Sequence[ir_measures.Measure]
) -> pd.DataFrame | None:
    """Each run beside the reference on the absolute measures, where one is named."""
    absolute = [m for m in measures if not is_relative(m)]
    if context.reference is None or not absolute:
        return None
    try:
        # The priors do not matter to these measures, and the context's may hold the reference.
        return compare(
            context, qrels, absolute, names=context.names, priors="others", baseline=context.reference
        )
    except ImportError:  # statsmodels, for the correction
        return None
