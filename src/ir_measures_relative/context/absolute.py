"""Absolute measures as ir_measures' providers compute them; from positions alone where these are enough.

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

# Guess: by place. These providers of ir_measures look at a run's order, and not at its scores; the first that supports
# a measure computes it. Ends with: providers that say what they read of a run.
BY_PLACE = frozenset(
    {"pytrec_eval", "cwl_eval", "pyndeval", "judged", "msmarco", "gdeval", "accuracy", "ranx", "trectools"}
)


class Reads(NamedTuple):
    """What measures look at; one evaluator computes those that look at the same."""

    scores: bool  #: at the scores of a run, and not only at its order
    # Guess: one evaluator each. One evaluator mixes up values of ``rel``, ``alpha`` and ``beta`` of aspects.
    # Ends with: providers that split them.
    #: At which labels for aspects, by rel, alpha and beta.
    aspects: tuple[Any, ...] | None = None


class AbsoluteEvaluator:
    """What ir_measures, or one of its providers, computes of runs; from positions where that is the same.

    ``as_given``: equal scores are in the order that each provider gives them, and not in trec_eval's.
    """

    def __init__(
        self,
        provider: Any,
        measures: Sequence[ir_measures.Measure],
        qrels: Callable[[Reads], Any],
        as_given: bool = False,
    ) -> None:
        self._row = {measure: i for i, measure in enumerate(measures)}
        own = {measure: provider_name(provider, measure) for measure in measures}
        self._from_positions = [m for m in measures if _is_from_positions(m, own[m], as_given)]
        self._as_given = as_given
        groups: dict[Reads, list[ir_measures.Measure]] = {}
        for measure in (m for m in measures if m not in self._from_positions):
            groups.setdefault(find_reads(measure, own[measure]), []).append(measure)

        def evaluator(reads: Reads, group: Sequence[ir_measures.Measure]) -> Any:
            return provider.evaluator(group, qrels(reads))

        self._evaluator = evaluator
        self._groups = [(k, g, _blaming(g, partial(evaluator, k))) for k, g in groups.items()]

    def values(
        self, rankings: Rankings, judgments: Judgments, positions: Callable[[int | None], IntArray]
    ) -> FloatArray:
        """Shape (measures, queries); NaN where ir_measures has none. ``positions`` of the relevant, from a depth."""
        values = np.full((len(self._row), judgments.n_queries), np.nan)
        found = values_from_positions(self._from_positions, rankings, judgments, positions)
        for measure, of_measure in zip(self._from_positions, found, strict=True):
            values[self._row[measure]] = of_measure
        for reads, group, whole in self._groups:
            as_given = self._as_given or reads.scores
            run = rankings.as_given() if as_given else _by_place(rankings, judgments, group)
            for metric in _blaming(group, partial(self._metrics, reads, group, whole, run)):
                column = judgments.query_code.get(metric.query_id)
                if column is not None:
                    values[self._row[metric.measure], column] = metric.value
        return values

    def _metrics(self, reads: Reads, group: Any, whole: Any, run: Any, some: Any) -> list[ir_measures.Metric]:
        return list((whole if some is group else self._evaluator(reads, some)).iter_calc(run))


def _by_place(
    rankings: Rankings, judgments: Judgments, measures: Sequence[ir_measures.Measure]
) -> dict[str, dict[str, float]]:
    """A run for measures that look at its order alone; one that is not here whole as far as they look."""
    cutoffs = [None if param_value(m, "judged_only") else param_value(m, "cutoff") for m in measures]
    depth = None if None in cutoffs else max(c for c in cutoffs if c is not None)
    if rankings.is_whole_to(None):
        return rankings.to_dict()
    if not rankings.is_whole_to(depth):
        judgments.positions_in(rankings)  # which refuses where one is not known
    return rankings.to_dict(depth, unlike=judgments.ids)


def provider_name(provider: Any, measure: ir_measures.Measure) -> str | None:
    """The name of the first of ir_measures' providers that computes a measure; None where none does."""
    every = getattr(provider, "providers", [provider])
    find = lambda _: next((p.NAME for p in every if p.is_available() and p.supports(measure)), None)  # noqa: E731
    return _blaming([measure], find)


def find_reads(measure: ir_measures.Measure, provider: str | None) -> Reads:
    """What a measure looks at, by the provider that computes it."""
    of_aspects = [param_value(measure, name) for name in ("rel", "alpha", "beta", "judged_only")]
    scores = provider is not None and provider not in BY_PLACE
    return Reads(scores, tuple(of_aspects) if needs_subtopics(measure) else None)


def _blaming(
    measures: Sequence[ir_measures.Measure], work: Callable[[Sequence[ir_measures.Measure]], T]
) -> T:
    """What ``work`` makes of the measures; ValueError that names the one it fails for, not those beside it."""
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


def qrels_for(judgments: Judgments, reads: Reads) -> Any:
    """The judgments as ir_measures takes them: the labels for aspects where the measures look at these."""
    if reads.aspects is None:
        return nested_qrels(judgments, reads)
    found, documents = judgments.aspects, judgments.doc_ids
    queries, names = judgments.query_ids[found.query], found.names
    # ndeval adds by aspect as they come, of all queries: in another order the last bit depends on the other queries.
    order = np.argsort(names[found.aspect], kind="stable")
    rows = zip(
        *(column[order].tolist() for column in (found.document, found.aspect, found.grade)), strict=True
    )
    return [Qrel(queries[a], documents[d], grade, names[a]) for d, a, grade in rows]


def nested_qrels(judgments: Judgments, reads: Reads) -> dict[str, dict[str, int]]:
    """The judgments as ir_measures takes them."""
    result: dict[str, dict[str, int]] = {q: {} for q in judgments.query_ids}
    query, grade = judgments.query.tolist(), judgments.grade.tolist()
    hopeful = {q for q, g in zip(query, grade, strict=True) if reads.scores or g >= 0}
    for q, doc_id, g in zip(query, judgments.doc_ids, grade, strict=True):
        # Guess: negative labels. pytrec_eval_terrier 0.5.11 writes outside its arrays for a query whose labels are all
        # negative; 0 means the same to it. Ends with: a check there.
        result[judgments.query_ids[q]][doc_id] = g if q in hopeful else max(g, 0)
    return result


# Guess: relevant only. These measures of ir_measures depend on the positions of relevant documents alone, and on how
# trec_eval adds them up. Ends with: columns instead of tuples in its conversion (``ir_measures-columns.patch``).
RELEVANT_ONLY = frozenset({"nDCG", "P", "R", "RR", "AP", "Success", "Rprec"})


def _is_from_positions(measure: ir_measures.Measure, provider: str | None, as_given: bool) -> bool:
    """Whether positions give what this provider computes; that of MS MARCO has its own order of equal scores."""
    same = provider == "pytrec_eval" or (provider == "msmarco" and not as_given)
    return same and measure.NAME in RELEVANT_ONLY


def values_from_positions(
    measures: Sequence[ir_measures.Measure],
    rankings: Rankings,
    judgments: Judgments,
    positions: Callable[[int | None], IntArray],
) -> list[FloatArray]:
    """One value a query, of each measure; ``positions`` of the relevant documents from a depth, 0 where deeper."""
    plain = [m for m in measures if not param_value(m, "gains") and not param_value(m, "judged_only")]
    cutoffs = [param_value(m, "cutoff") for m in plain]
    position = positions(None if None in cutoffs else max(cutoffs)) if plain else None
    return [
        _otherwise(m, rankings, judgments)
        if position is None or m not in plain
        else _value(m, judgments.relevant, position)
        for m in measures
    ]


def _otherwise(measure: ir_measures.Measure, rankings: Rankings, judgments: Judgments) -> FloatArray:
    """The values with other gains for the labels, or in the rankings of judged documents alone."""
    grade, gains = judgments.grade, param_value(measure, "gains")
    if gains:
        grade = np.array([gains.get(label, label) for label in grade.tolist()], dtype=np.int64)
    docs = judgments.graded(grade)
    found = docs.positions_among_judged if param_value(measure, "judged_only") else docs.positions_in
    return _value(measure, docs, found(rankings, param_value(measure, "cutoff")))


def _value(measure: ir_measures.Measure, docs: Documents, position: IntArray) -> FloatArray:
    """``docs`` are all that are relevant, and maybe others; ``position`` is from 1, 0 for documents not retrieved."""
    cutoff, n = param_value(measure, "cutoff"), docs.n_queries
    relevant = docs.grade >= param_value(measure, "rel", 1)
    total = np.bincount(docs.query[relevant], minlength=n).astype(np.float64)
    deepest = total[docs.query] if measure.NAME == "Rprec" else math.inf if cutoff is None else cutoff
    rows = np.flatnonzero(relevant & (position > 0) & (position <= deepest))
    rows = rows[np.lexsort((position[rows], docs.query[rows]))]
    query, place = docs.query[rows], position[rows]
    if measure.NAME in ("RR", "Success"):
        first = max_by_query(1.0 / place, query, n)
        return first if measure.NAME == "RR" else (first > 0).astype(np.float64)
    if measure.NAME in ("P", "R", "Rprec"):
        found = np.bincount(query, minlength=n).astype(np.float64)
        return found / cutoff if measure.NAME == "P" else ratio(found, total)
    if measure.NAME == "AP":
        return ratio(sum_by_query(rank_within(query) / place, query, n), total)
    best = np.flatnonzero(relevant)
    best = best[np.lexsort((-docs.grade[best], docs.query[best]))]
    ideal = rank_within(docs.query[best])
    best, ideal = best[ideal <= deepest], ideal[ideal <= deepest]
    return ratio(
        sum_by_query(docs.grade[rows] / _discount(place), query, n),
        sum_by_query(docs.grade[best] / _discount(ideal), docs.query[best], n),
    )


# numpy's own logarithm differs from C's in its last bit.
_discount = PositionTable(lambda places: np.array([math.log2(place + 1) for place in places.tolist()]))
