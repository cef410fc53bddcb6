"""Absolute measures as ir_measures' providers compute them; from positions alone where that is enough.

Equal to trec_eval to the last bit: it adds one term after the other, from the first position on, and divides last.
"""

from __future__ import annotations

import math
import subprocess
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import ir_measures
import numpy as np
from ir_measures import Qrel

from ..data.arrays import FloatArray, IntArray, PositionTable, max_by_query, rank_within, ratio, sum_by_query
from .measure_strings import needs_subtopics, param_value

if TYPE_CHECKING:
    from ..data.documents import Documents, Judgments
    from ..data.rankings import Rankings

T = TypeVar("T")

# Guess: failures. The providers of ir_measures raise these for a measure that they say they support, beside ValueErrors
# ("Unsupported measures …"). Ends with: ``Provider.supports`` that is right about parameters.
FAILURES = TypeError, LookupError, ArithmeticError, AssertionError, AttributeError, subprocess.SubprocessError

# Guess: by place. These providers of ir_measures read the order of a run, and not its scores; the first that supports
# a measure computes it. Ends with: providers that say what they read of a run.
BY_PLACE = frozenset(
    {"pytrec_eval", "cwl_eval", "pyndeval", "judged", "msmarco", "gdeval", "accuracy", "ranx", "trectools"}
)


class Inputs(NamedTuple):
    """The inputs of measures; one evaluator computes those with the same inputs."""

    scores: bool  #: whether they read the scores of a run, and not only its order
    # Guess: one evaluator each. One evaluator mixes up values of ``rel``, ``alpha`` and ``beta`` of aspects.
    # Ends with: providers that split them.
    #: Which labels for aspects they read, by rel, alpha and beta.
    aspects: tuple[Any, ...] | None = None


class AbsoluteEvaluator:
    """An evaluator of absolute measures: by ir_measures, or from positions where that gives the same values.

    ``as_given``: equal scores are in the order that each provider gives them, and not in trec_eval's.
    """

    def __init__(
        self,
        provider: Any,
        measures: Sequence[ir_measures.Measure],
        qrels: Callable[[Inputs], Any],
        as_given: bool = False,
    ) -> None:
        self._row = {measure: i for i, measure in enumerate(measures)}
        providers = {measure: provider_name(provider, measure) for measure in measures}
        self._from_positions = [m for m in measures if _is_from_positions(m, providers[m], as_given)]
        self._as_given = as_given
        groups: dict[Inputs, list[ir_measures.Measure]] = {}
        for measure in (m for m in measures if m not in self._from_positions):
            groups.setdefault(find_inputs(measure, providers[measure]), []).append(measure)

        def evaluator(inputs: Inputs, group: Sequence[ir_measures.Measure]) -> Any:
            return provider.evaluator(group, qrels(inputs))

        self._evaluator = evaluator
        self._groups = [(k, g, _blaming(g, partial(evaluator, k))) for k, g in groups.items()]

    def values(
        self, rankings: Rankings, judgments: Judgments, positions: Callable[[int | None], IntArray]
    ) -> FloatArray:
        """Return values of shape (measures, queries), NaN where ir_measures has none.

        ``positions`` takes a depth and returns those of the relevant documents.
        """
        values = np.full((len(self._row), judgments.n_queries), np.nan)
        computed = values_from_positions(self._from_positions, rankings, judgments, positions)
        for measure, row in zip(self._from_positions, computed, strict=True):
            values[self._row[measure]] = row
        for inputs, group, whole in self._groups:
            as_given = self._as_given or inputs.scores
            run = rankings.as_given() if as_given else _scored_by_rank(rankings, judgments, group)
            for metric in _blaming(group, partial(self._metrics, inputs, group, whole, run)):
                column = judgments.query_code.get(metric.query_id)
                if column is not None:
                    values[self._row[metric.measure], column] = metric.value
        return values

    def _metrics(
        self, inputs: Inputs, group: Any, whole: Any, run: Any, some: Any
    ) -> list[ir_measures.Metric]:
        return list((whole if some is group else self._evaluator(inputs, some)).iter_calc(run))


def _scored_by_rank(
    rankings: Rankings, judgments: Judgments, measures: Sequence[ir_measures.Measure]
) -> dict[str, dict[str, float]]:
    """Return a run for measures that read only its order; a cut run only as deep as they read."""
    if rankings.is_whole_to(None):
        return rankings.to_dict()
    cutoffs = [None if param_value(m, "judged_only") else param_value(m, "cutoff") for m in measures]
    depth = None if None in cutoffs else max(c for c in cutoffs if c is not None)
    if not rankings.is_whole_to(depth):
        judgments.positions_in(rankings)  # raises ValueError for an unknown position
    return rankings.to_dict(depth, unlike=judgments.ids)


def provider_name(provider: Any, measure: ir_measures.Measure) -> str | None:
    """Return the name of the first of ir_measures' providers that computes a measure; None where none does."""
    every = getattr(provider, "providers", [provider])
    find = lambda _: next((p.NAME for p in every if p.is_available() and p.supports(measure)), None)  # noqa: E731
    return _blaming([measure], find)


def find_inputs(measure: ir_measures.Measure, provider: str | None) -> Inputs:
    """Return the inputs of a measure, which depend on the provider that computes it."""
    aspects = tuple(param_value(measure, name) for name in ("rel", "alpha", "beta", "judged_only"))
    scores = provider is not None and provider not in BY_PLACE
    return Inputs(scores, aspects if needs_subtopics(measure) else None)


def _blaming(
    measures: Sequence[ir_measures.Measure], work: Callable[[Sequence[ir_measures.Measure]], T]
) -> T:
    """Return ``work(measures)``; a ValueError names the measure it fails for, not those beside it."""
    try:
        return work(measures)
    except ValueError as error:
        if not str(error).startswith("Unsupported measures"):
            raise
        raise ValueError(f"{error} Leave the measure out, or install a provider that computes it") from None
    except FAILURES as error:
        for measure in measures if len(measures) > 1 else ():
            _blaming([measure], work)
        reason = str(error)
        if isinstance(error, subprocess.SubprocessError):  # of one provider
            reason = "its script failed, which takes grades up to 4 and numbers as query ids"
        names = ", ".join(map(str, measures))
        message = f"ir_measures cannot compute {names} here ({reason}); leave the measure out"
        raise ValueError(message) from error


def qrels_for(judgments: Judgments, inputs: Inputs) -> Any:
    """Return the judgments as ir_measures takes them: the labels for aspects where the measures read these."""
    if inputs.aspects is None:
        return nested_qrels(judgments, inputs)
    labels, doc_ids, names = judgments.aspects, judgments.doc_ids, judgments.aspects.names
    queries = judgments.query_ids[labels.query]
    # ndeval adds by aspect as they come, of all queries: in another order the last bit depends on the other queries.
    order = np.argsort(names[labels.aspect], kind="stable")
    rows = zip(
        *(column[order].tolist() for column in (labels.document, labels.aspect, labels.grade)), strict=True
    )
    return [Qrel(queries[a], doc_ids[d], grade, names[a]) for d, a, grade in rows]


def nested_qrels(judgments: Judgments, inputs: Inputs) -> dict[str, dict[str, int]]:
    """Return the judgments by query and document."""
    result: dict[str, dict[str, int]] = {q: {} for q in judgments.query_ids}
    query, grade = judgments.query.tolist(), judgments.grade.tolist()
    as_is = {q for q, g in zip(query, grade, strict=True) if inputs.scores or g >= 0}
    for q, doc_id, g in zip(query, judgments.doc_ids, grade, strict=True):
        # Guess: negative labels. pytrec_eval_terrier 0.5.11 writes outside its arrays for a query whose labels are all
        # negative; 0 means the same to it. Ends with: a check there.
        result[judgments.query_ids[q]][doc_id] = g if q in as_is else max(g, 0)
    return result


# Guess: relevant only. These measures of ir_measures depend on the positions of relevant documents alone, and on how
# trec_eval adds them up. Ends with: columns instead of tuples in its conversion (``ir_measures-columns.patch``).
RELEVANT_ONLY = frozenset({"nDCG", "P", "R", "RR", "AP", "Success", "Rprec"})


def _is_from_positions(measure: ir_measures.Measure, provider: str | None, as_given: bool) -> bool:
    """Return whether positions give what this provider computes; that of MS MARCO orders equal scores differently."""
    same = provider == "pytrec_eval" or (provider == "msmarco" and not as_given)
    return same and measure.NAME in RELEVANT_ONLY


def values_from_positions(
    measures: Sequence[ir_measures.Measure],
    rankings: Rankings,
    judgments: Judgments,
    positions: Callable[[int | None], IntArray],
) -> list[FloatArray]:
    """Return one value a query, of each measure; ``positions`` as for :meth:`AbsoluteEvaluator.values`."""
    plain = [m for m in measures if not param_value(m, "gains") and not param_value(m, "judged_only")]
    cutoffs = [param_value(m, "cutoff") for m in plain]
    position = positions(None if None in cutoffs else max(cutoffs)) if plain else None
    return [
        _value_by_other_grades(m, rankings, judgments)
        if position is None or m not in plain
        else _value(m, judgments.relevant, position)
        for m in measures
    ]


def _value_by_other_grades(
    measure: ir_measures.Measure, rankings: Rankings, judgments: Judgments
) -> FloatArray:
    """Return the values with other gains for the labels, or in the rankings of judged documents alone."""
    grade, gains = judgments.grade, param_value(measure, "gains")
    if gains:
        grade = np.array([gains.get(label, label) for label in grade.tolist()], dtype=np.int64)
    docs = judgments.graded(grade)
    locate = docs.positions_among_judged if param_value(measure, "judged_only") else docs.positions_in
    return _value(measure, docs, locate(rankings, param_value(measure, "cutoff")))


def _value(measure: ir_measures.Measure, docs: Documents, position: IntArray) -> FloatArray:
    """Return one value a query; ``docs`` hold all relevant documents, and ``position`` is 0 where not retrieved."""
    cutoff, n = param_value(measure, "cutoff"), docs.n_queries
    relevant = docs.grade >= param_value(measure, "rel", 1)
    total = np.bincount(docs.query[relevant], minlength=n).astype(np.float64)
    deepest = total[docs.query] if measure.NAME == "Rprec" else math.inf if cutoff is None else cutoff
    rows = np.flatnonzero(relevant & (position > 0) & (position <= deepest))
    rows = rows[np.lexsort((position[rows], docs.query[rows]))]
    query, rank = docs.query[rows], position[rows]
    if measure.NAME in ("RR", "Success"):
        first = max_by_query(1.0 / rank, query, n)
        return first if measure.NAME == "RR" else (first > 0).astype(np.float64)
    if measure.NAME in ("P", "R", "Rprec"):
        retrieved = np.bincount(query, minlength=n).astype(np.float64)
        return retrieved / cutoff if measure.NAME == "P" else ratio(retrieved, total)
    if measure.NAME == "AP":
        return ratio(sum_by_query(rank_within(query) / rank, query, n), total)
    best = np.flatnonzero(relevant)
    best = best[np.lexsort((-docs.grade[best], docs.query[best]))]
    ideal_rank = rank_within(docs.query[best])
    best, ideal_rank = best[ideal_rank <= deepest], ideal_rank[ideal_rank <= deepest]
    return ratio(
        sum_by_query(docs.grade[rows] / _discount(rank), query, n),
        sum_by_query(docs.grade[best] / _discount(ideal_rank), docs.query[best], n),
    )


# numpy's own logarithm differs from C's in its last bit.
_discount = PositionTable(lambda places: np.array([math.log2(place + 1) for place in places.tolist()]))
