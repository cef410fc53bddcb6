"""Absolute measures, which ir_measures and its providers compute, of :class:`Rankings` on :class:`Judgments`."""

from __future__ import annotations

import itertools
import subprocess
from collections.abc import Sequence
from typing import Any

import ir_measures
import numpy as np

from ..arrays import FloatArray
from ..judgments import Judgments
from ..rankings import Rankings

# What the providers of ir_measures raise for a measure that they cannot compute after all.
_FAILURES = (
    TypeError,
    LookupError,
    ArithmeticError,
    AssertionError,
    AttributeError,
    subprocess.SubprocessError,
)


def host_evaluator(provider: Any, measures: Sequence[ir_measures.Measure], qrels: Any) -> Any:
    """An evaluator of ir_measures, or of one of its providers.

    Raises:
        ValueError: measures that it does not compute.
    """
    try:
        return provider.evaluator(measures, qrels)
    except ValueError as error:
        if not str(error).startswith("Unsupported measures"):
            raise
        raise ValueError(f"{error} Leave the measure out, or install a provider that computes it") from None
    except _FAILURES as error:
        raise _cannot(measures, error) from error


def host_values(
    evaluator: Any, measures: Sequence[ir_measures.Measure], rankings: Rankings, judgments: Judgments
) -> FloatArray:
    """What an evaluator of ir_measures says of a run, shape (measures, queries); NaN where it says nothing.

    Raises:
        ValueError: measures that it cannot compute.
    """
    row = {measure: i for i, measure in enumerate(measures)}
    values = np.full((len(row), judgments.n_queries), np.nan)
    try:
        for metric in evaluator.iter_calc(_run_for(measures, rankings, judgments)):
            column = judgments.query_code.get(metric.query_id)
            if column is not None:
                values[row[metric.measure], column] = metric.value
    except _FAILURES as error:
        raise _cannot(measures, error) from error
    return values


# Measures of ir_measures that ask of a ranking where its relevant documents are, and nothing else.
_RELEVANT_ONLY = frozenset({"nDCG", "P", "R", "RR", "AP", "Success", "Rprec"})


def computed_together(measures: Sequence[ir_measures.Measure]) -> list[list[int]]:
    """The places of the measures that one evaluator computes; ir_measures mixes up the labels of those with gains."""
    plain = [i for i, m in enumerate(measures) if not m.params.get("gains")]
    return [*([plain] if plain else []), *([i] for i, m in enumerate(measures) if m.params.get("gains"))]


def _run_for(
    measures: Sequence[ir_measures.Measure], rankings: Rankings, judgments: Judgments
) -> dict[str, dict[str, float]]:
    """The run as ir_measures takes it, as far as the measures look into it.

    Where only the positions of relevant documents count, it is cut behind the last of these, and the others have the
    names that stand in for them: making a string of every document id, and a dict, would be most of the work.
    """
    if not all(m.NAME in _RELEVANT_ONLY and not m.params.get("judged_only") for m in measures):
        return rankings.to_dict()
    depths = [m.params.get("cutoff") for m in measures]
    gains = any(m.params.get("gains") for m in measures)  # may reward any label
    docs = judgments if gains else judgments.relevant
    place = docs.positions_in(rankings, None if None in depths else max(depths))
    found = np.flatnonzero(place > 0)
    place, query, names = place[found], docs.query[found], docs.doc_ids[found].tolist()
    if any(name.startswith(_STAND_IN[0]) for name in names):  # not likely, and it would be wrong
        return rankings.to_dict()
    bounds = np.searchsorted(query, np.arange(docs.n_queries + 1)).tolist()
    held = judgments.queries_of(rankings).tolist()
    run: dict[str, dict[str, float]] = {}
    # A ranking of documents that nobody judged.
    stand_ins = {
        _STAND_IN % position: -float(position) for position in range(1, int(place.max(initial=1)) + 1)
    }
    for query_id, q in zip(rankings.query_ids, held, strict=True):
        if q < 0:
            continue
        own = place[bounds[q] : bounds[q + 1]].tolist()
        ranking = dict(itertools.islice(stand_ins.items(), max(own, default=1)))
        for position, name in zip(own, names[bounds[q] : bounds[q + 1]], strict=True):
            del ranking[_STAND_IN % position]
            ranking[name] = -float(position)
        run[query_id] = ranking
    return run


_STAND_IN = "\x7f%d"


def _cannot(measures: Sequence[ir_measures.Measure], error: Exception) -> ValueError:
    reason = str(error)
    if isinstance(error, subprocess.SubprocessError):  # of one provider
        measures = [m for m in measures if ir_measures.providers.registry["gdeval"].supports(m)] or measures
        reason = "its script failed, which takes grades up to 4 and numbers as query ids"
    names = ", ".join(map(str, measures))
    return ValueError(f"ir_measures cannot compute {names} here ({reason}); leave the measure out")


def nested_qrels(judgments: Judgments) -> dict[str, dict[str, int]]:
    """The judgments as ir_measures takes them."""
    result: dict[str, dict[str, int]] = {q: {} for q in judgments.query_ids}
    hopeless = set(range(judgments.n_queries)) - set(judgments.query[judgments.grade >= 0].tolist())
    for query, doc_id, grade in zip(
        judgments.query.tolist(), judgments.doc_ids, judgments.grade.tolist(), strict=True
    ):
        # pytrec_eval writes outside its arrays for a query with negative labels only; 0 means the same to it.
        result[judgments.query_ids[query]][doc_id] = max(grade, 0) if query in hopeless else grade
    return result
