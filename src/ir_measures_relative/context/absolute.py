"""Absolute measures, which ir_measures and its providers compute, of :class:`Rankings` on :class:`Judgments`."""

from __future__ import annotations

import itertools
import subprocess
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeVar

import ir_measures
import numpy as np
from ir_measures import Qrel

from ..context.measure_strings import value_of
from ..data.arrays import FloatArray, rows_of_queries
from ..data.judgments import Judgments
from ..data.rankings import Rankings
from .measure_strings import needs_subtopics

T = TypeVar("T")

# What the providers of ir_measures raise for a measure that they cannot compute after all.
FAILURES = (
    TypeError,
    LookupError,
    ArithmeticError,
    AssertionError,
    AttributeError,
    subprocess.SubprocessError,
)


# The providers of ir_measures that look at a run's order, and not at its scores.
BY_PLACE = frozenset(
    {"pytrec_eval", "cwl_eval", "pyndeval", "judged", "msmarco", "gdeval", "accuracy", "ranx", "trectools"}
)


class Look(NamedTuple):
    """What measures look at; one evaluator computes those that look at the same."""

    scores: bool  #: at the scores of a run, and not only at its order
    gains: tuple[tuple[int, int], ...]  #: what stands for labels; ir_measures mixes up those of several
    #: At which labels for aspects, by rel, alpha and beta: of several, ir_measures computes the first alone.
    aspects: tuple[Any, ...] | None = None


class AbsoluteEvaluator:
    """What ir_measures, or one of its providers, computes of runs.

    Args:
        qrels: the judgments for measures that look at this.

    Raises:
        ValueError: measures that it does not compute.
    """

    def __init__(
        self, provider: Any, measures: Sequence[ir_measures.Measure], qrels: Callable[[Look], Any]
    ) -> None:
        self._row = {measure: i for i, measure in enumerate(measures)}
        groups: dict[Look, list[ir_measures.Measure]] = {}
        for measure in measures:
            groups.setdefault(_blaming([measure], lambda one: _look(provider, one[0])), []).append(measure)

        def evaluator(look: Look, group: Sequence[ir_measures.Measure]) -> Any:
            return provider.evaluator(group, qrels(look))

        self._evaluator = evaluator
        self._groups = [(k, g, _blaming(g, partial(evaluator, k))) for k, g in groups.items()]

    def values(self, rankings: Rankings, judgments: Judgments) -> FloatArray:
        """Shape (measures, queries); NaN where ir_measures says nothing.

        Raises:
            ValueError: a measure that it cannot compute of this run.
        """
        values = np.full((len(self._row), judgments.n_queries), np.nan)
        for look, group, whole in self._groups:
            run = _run_for(look, group, rankings, judgments)
            for metric in _blaming(group, partial(self._metrics, look, group, whole, run)):
                column = judgments.query_code.get(metric.query_id)
                if column is not None:
                    values[self._row[metric.measure], column] = metric.value
        return values

    def _metrics(self, look: Look, group: Any, whole: Any, run: Any, some: Any) -> list[ir_measures.Metric]:
        return list((whole if some is group else self._evaluator(look, some)).iter_calc(run))


def _look(provider: Any, measure: ir_measures.Measure) -> Look:
    all_providers = getattr(provider, "providers", [provider])
    own = next((p.NAME for p in all_providers if p.is_available() and p.supports(measure)), None)
    gains = measure.params.get("gains")
    of_aspects = [value_of(measure, name) for name in ("rel", "alpha", "beta", "judged_only")]
    return Look(
        own is not None and own not in BY_PLACE,
        tuple(gains.items()) if isinstance(gains, dict) else (),
        tuple(of_aspects) if needs_subtopics(measure) else None,
    )


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


# Measures of ir_measures that ask of a ranking where its relevant documents are, and nothing else.
RELEVANT_ONLY = frozenset({"nDCG", "P", "R", "RR", "AP", "Success", "Rprec"})


def _run_for(
    look: Look, measures: Sequence[ir_measures.Measure], rankings: Rankings, judgments: Judgments
) -> dict[str, dict[str, float]]:
    """The run as ir_measures takes it, as far as the measures look into it.

    Where only the positions of relevant documents count, it is cut behind the last of these, and the others have the
    names that stand in for them: making a string of every document id, and a dict, would be most of the work.
    """
    if look.scores:
        return rankings.as_given()
    depths = [m.params.get("cutoff") for m in measures]
    if look.aspects is not None:
        return rankings.to_dict(None if None in depths else max(depths))
    if not all(m.NAME in RELEVANT_ONLY and not m.params.get("judged_only") for m in measures):
        return rankings.to_dict()
    docs = judgments if look.gains else judgments.relevant  # gains may reward any label
    place = docs.positions_in(rankings, None if None in depths else max(depths))
    found = np.flatnonzero(place > 0)
    place, query, names = place[found], docs.query[found], docs.doc_ids[found].tolist()
    if any(name.startswith(_STAND_IN[0]) for name in names):  # not likely, and it would be wrong
        return rankings.to_dict()
    rows_of = rows_of_queries(query, docs.n_queries)
    held = judgments.queries_of(rankings).tolist()
    run: dict[str, dict[str, float]] = {}
    # A ranking of documents that nobody judged.
    stand_ins = {
        _STAND_IN % position: -float(position) for position in range(1, int(place.max(initial=1)) + 1)
    }
    for query_id, q in zip(rankings.query_ids, held, strict=True):
        if q < 0:
            continue
        own = place[rows_of[q]].tolist()
        ranking = dict(itertools.islice(stand_ins.items(), max(own, default=1)))
        for position, name in zip(own, names[rows_of[q]], strict=True):
            del ranking[_STAND_IN % position]
            ranking[name] = -float(position)
        run[query_id] = ranking
    return run


_STAND_IN = "\x7f%d"


def qrels_for(judgments: Judgments, look: Look) -> Any:
    """The judgments as ir_measures takes them: the labels for aspects where the measures look at these.

    They are in the order of the aspects' names. ndeval adds by aspect in the order in which they come, of all queries,
    so that a value would depend in its last bit on the other queries.
    """
    if look.aspects is None:
        return nested_qrels(judgments, look)
    found, documents = judgments.aspects, judgments.doc_ids
    queries, names = judgments.query_ids[found.query], found.names
    order = np.argsort(names[found.aspect], kind="stable")
    rows = zip(
        *(column[order].tolist() for column in (found.document, found.aspect, found.grade)), strict=True
    )
    return [Qrel(queries[a], documents[d], grade, names[a]) for d, a, grade in rows]


def nested_qrels(judgments: Judgments, look: Look) -> dict[str, dict[str, int]]:
    """The judgments as ir_measures takes them."""
    result: dict[str, dict[str, int]] = {q: {} for q in judgments.query_ids}
    gains, query, grade = dict(look.gains), judgments.query.tolist(), judgments.grade.tolist()
    hopeful = {q for q, g in zip(query, grade, strict=True) if look.scores or gains.get(g, g) >= 0}
    for q, doc_id, g in zip(query, judgments.doc_ids, grade, strict=True):
        # pytrec_eval writes outside its arrays for a query with negative labels only; 0 means the same to it, and where
        # gains may make something of a 0, a document that nobody finds.
        if q not in hopeful and gains:
            doc_id, g = _STAND_IN % 0, next(n for n in itertools.count(1) if n not in gains)
        result[judgments.query_ids[q]][doc_id] = g if q in hopeful else max(g, 0)
    return result
