"""The table of the runs, and the headline on the best and the newest of them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import ir_measures
import numpy as np

from ...context.duplicates import why_incomparable
from ...context.evaluate import dominant_topics
from ...context.measure_strings import is_relative, param_value
from ...decisions.similarity import count_shared_documents, score_nearest_copies, score_pairs
from ...further_measures.rbo import RBO
from ...stats.intervals import student_interval
from ...tolerances import ROUNDED
from ..contents import Contents, json_number
from . import COLOURS, Section, include

# Two runs of at least this RBO are near-duplicates. They share at least this part of their first documents: less would
# leave RBO (p = 0.9) below 0.95, wherever they differ.
_NEAR, _LEAST_SHARED, _TOP = 0.95, 0.75, 10
# The number of documents that RBO reads; those below have 0.3 % of the weight.
_DEPTH = 50


class Leader(NamedTuple):
    """The highest run by a measure."""

    measure: int
    run: int
    mean: float
    second: int | None  #: the next one; None of one run
    clear: bool  #: whether the interval of the difference from that lies above 0; or whether there is none to give
    adds: bool  #: whether the measure says what a run adds
    tied: bool = False  #: whether the next one has the same mean


def runs(contents: Contents) -> Section:
    """Return every run with its means, sorted by the first relative measure."""
    data = contents.data
    by = contents.first_relative or 0
    names = [measure.NAME for measure in contents.measures]
    unique = names.index("UniqueRel") if "UniqueRel" in names else None
    adds = _find_leader(contents, contents.first_relative) if contents.has_several_runs else None
    shows = None if unique is None or adds is None or not adds.adds else data["means"][unique][adds.run]
    most = None if shows is None else _find_leader(contents, unique)
    facts = {
        "n_topics": len(data["topics"]),
        "sorted_by": by,
        "order": contents.rank_runs(by),
        "reference": contents.reference,
        "colours": COLOURS,
        "one_topic": contents.one_topic,
        "missing_topics": contents.missing_topics,
        "incomplete": ", ".join(contents.incomplete),
        "copies": [_score_copies(contents, measure) for measure in contents.measures],
        "ranges": [
            _value_range(data[end][m] for end in ("ci_lower", "means", "ci_upper")) for m in range(len(names))
        ],
        "near": _find_near_duplicates(contents),
        "least": _NEAR,
        "topic_of": [dominant_topics(contents.scores, m) for m in range(len(names))],
        "best": _find_leader(contents, contents.first_absolute),
        "adds": adds,
        "unique": unique,
        "shows": shows,
        "most": (most.run, most.mean) if most is not None and most.mean > (shows or 0.0) + ROUNDED else None,
        "graded": contents.collection.grades[1] > 1,
        "rel": None if unique is None else param_value(contents.measures[unique], "rel"),
        "top": None if unique is None else param_value(contents.measures[unique], "cutoff"),
        "others": contents.context.priors == "others",
    }
    return Section(
        "runs", "Runs", "The runs", include("runs"), data | facts, headline=include("runs-headline")
    )


def _find_leader(contents: Contents, position: int | None) -> Leader | None:
    """Return the highest run by the measure at this position, and whether its lead is significant."""
    if position is None or contents.data["means"][position][0] is None:
        return None
    means = np.array(contents.data["means"][position], dtype=float)
    order, measure = contents.rank_complete_runs(position), contents.measures[position]
    if not order:
        return None
    adds = is_relative(measure) and measure.RELATIVE_TO == "priors"
    if len(order) == 1 or not np.isfinite(means[order[1]]):
        return Leader(position, order[0], float(means[order[0]]), None, True, adds)
    first, second = order[:2]
    values = contents.scores.values[:, position]
    lower, _ = student_interval(values[first] - values[second], 0.95)
    names = contents.collection.names
    comparable = why_incomparable(contents.collection, measure, names[first], names[second]) is None
    clear = not comparable or bool(lower > 0)
    tied = bool(means[first] - means[second] <= ROUNDED)
    return Leader(position, first, float(means[first]), second, clear, adds, tied)


def _value_range(columns: Iterable[list[float | None]]) -> tuple[float, float]:
    values = [x for column in columns for x in column if x is not None] or [0.0]
    return min(values), max(max(values), min(values) + ROUNDED)


def _find_near_duplicates(contents: Contents) -> dict[int, list[tuple[int, float]]]:
    """Return the near-duplicates of each run that has any, with their RBO, the nearest first."""
    shared = count_shared_documents(contents.collection, _TOP)
    lengths = np.diag(shared)
    close = np.triu(shared >= _LEAST_SHARED * np.maximum(lengths, lengths[:, None]), 1)
    pairs = list(zip(*(index.tolist() for index in np.nonzero(close)), strict=True))
    overlaps = score_pairs(contents.collection, RBO @ _DEPTH, pairs)
    near: dict[int, list[tuple[int, float]]] = {}
    for (a, b), overlap in zip(pairs, overlaps, strict=True):
        if (mean := float(overlap.mean())) >= _NEAR:
            near.setdefault(a, []).append((b, mean))
            near.setdefault(b, []).append((a, mean))
    return {run: sorted(twins, key=lambda twin: (-twin[1], twin[0])) for run, twins in near.items()}


def _score_copies(
    contents: Contents, measure: ir_measures.Measure
) -> list[tuple[int, float | None] | None] | None:
    """Return for each run its nearest prior and the value of a copy of that, where a copy has a value to show."""
    if not is_relative(measure) or measure.RELATIVE_TO != "priors" or measure.zero_for_duplicate:
        return None
    copies = score_nearest_copies(contents.collection, contents.collection.names, measure)
    return [None if copy is None else (contents.position[copy[0]], json_number(copy[1])) for copy in copies]
