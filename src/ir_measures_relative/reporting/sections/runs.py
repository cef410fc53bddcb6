"""The table of the runs, and which is best and which has most that is new. ``templates/runs.html`` writes the table."""

from __future__ import annotations

from typing import Any, NamedTuple

import ir_measures
import numpy as np

from ...context.duplicates import why_incomparable
from ...context.evaluate import dominant_topics
from ...context.measure_strings import is_relative, param_value
from ...decisions.similarity import count_shared_documents, score_nearest_copies, score_pairs
from ...further_measures.rbo import RBO
from ...stats.intervals import student_interval
from ...tolerances import ROUNDED
from ...work import Work
from ..contents import ReportedCampaign, number
from . import COLOURS, Section

WORDS = """
<p>Means over {{ n_topics }} topics. The bar is the 95 % interval of the mean. It says how precise the mean is, not
whether two runs differ.
{% if copies | select | list %}The upright line is the value of an exact copy of the run’s nearest prior. A run that
is not well above it adds little. {% endif %}
Click a column’s name to sort. Pin two runs with ☆ to compare them.</p>
{% if near %}<p>≈ marks near-duplicates: RBO of at least {{ least }} with another run.</p>{% endif %}
{% if one_topic %}<p><strong>Few topics count:</strong> {{ one_topic }}.</p>{% endif %}
{% include "runs.html" %}
"""

HEADLINE = """
{% if missing_topics %}<li><strong>Topics are missing.</strong> {{ missing_topics }}
{%- if incomplete %} No verdict, test or choice in this report is about {{ incomplete }}.{% endif %}</li>{% endif %}
{% macro lead(of) %}{% if of.tied %} <small>{{ run_name(of.second) }} is as high.</small>
{%- elif of.second is not none and not of.clear %} <small>Its lead over {{ run_name(of.second) }} could be
chance.</small>{% endif %}{% endmacro %}
{% if best %}<li><strong>Best on its own:</strong> {{ run_name(best.run) }}, {{ measures[best.measure].name }}
{{ short_number(best.mean) }}.{{ lead(best) }}</li>{% endif %}
{% if adds %}<li><strong>{{ "Adds most to the other runs:" if adds.adds else "Highest:" }}</strong>
{{ run_name(adds.run) }},
{% if adds.measure != unique %}{{ measures[adds.measure].name }} {{ short_number(adds.mean) }}
{%- if shows is not none %}: {% else %}.{% endif %}{% endif %}
{% if shows is not none %}{{ short_number(shows) }} relevant documents
{%- if graded %} (grade {{ rel }} or higher){% endif %} per topic
{%- if top is none %} that no {{ "other" if others else "prior" }} run retrieves.
{%- else %} in its top {{ top }} and in that of no {{ "other" if others else "prior" }} run.{% endif %}{% endif %}
{{- lead(adds) }}
{%- if most %} <small>{{ run_name(most[0]) }} has most of these: {{ short_number(most[1]) }}.</small>{% endif %}
{%- if adds.adds %} <small>Whether to deploy it is another question: pin two runs to ask it.</small>{% endif %}</li>
{%- endif %}
"""

# Two runs of at least this RBO are near-copies. They share at least this part of their first documents: less would
# leave RBO (p = 0.9) below 0.95, wherever they differ.
_NEAR, _LEAST_SHARED, _TOP = 0.95, 0.75, 10
# RBO looks at so many documents; those that follow have 0.3 % of the weight.
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


def section(campaign: ReportedCampaign) -> Section:
    """Every run with its means, sorted by the first relative measure."""
    data = campaign.data
    by = campaign.first_relative or 0
    names = [measure.NAME for measure in campaign.measures]
    unique = names.index("UniqueRel") if "UniqueRel" in names else None
    adds = _leader(campaign, campaign.first_relative) if campaign.several else None
    shows = None if unique is None or adds is None or not adds.adds else data["means"][unique][adds.run]
    most = None if shows is None else _leader(campaign, unique)
    facts = {
        "n_topics": len(data["topics"]),
        "sorted_by": by,
        "order": campaign.best_first(by),
        "reference": campaign.reference,
        "colours": COLOURS,
        "one_topic": campaign.one_topic,
        "missing_topics": campaign.missing_topics,
        "incomplete": ", ".join(campaign.incomplete),
        "copies": [_copies(campaign, measure) for measure in campaign.measures],
        "ranges": [
            _scale(data[end][m] for end in ("ci_lower", "means", "ci_upper")) for m in range(len(names))
        ],
        "near": _near_copies(campaign),
        "least": _NEAR,
        "topic_of": [dominant_topics(campaign.scores, m) for m in range(len(names))],
        "best": _leader(campaign, campaign.first_absolute),
        "adds": adds,
        "unique": unique,
        "shows": shows,
        "most": (most.run, most.mean) if most is not None and most.mean > (shows or 0.0) + ROUNDED else None,
        "graded": campaign.collection.grades[1] > 1,
        "rel": None if unique is None else param_value(campaign.measures[unique], "rel"),
        "top": None if unique is None else param_value(campaign.measures[unique], "cutoff"),
        "others": campaign.context.priors == "others",
    }
    return Section("runs", "Runs", "The runs", WORDS, data | facts, headline=HEADLINE)


def _leader(campaign: ReportedCampaign, measure: int | None) -> Leader | None:
    """The highest run by the measure in this place, and whether that is sure on other topics."""
    if measure is None or campaign.data["means"][measure][0] is None:
        return None
    means = np.array(campaign.data["means"][measure], dtype=float)
    order, kind = campaign.best_complete_first(measure), campaign.measures[measure]
    if not order:
        return None
    adds = is_relative(kind) and kind.RELATIVE_TO == "priors"
    if len(order) == 1 or not np.isfinite(means[order[1]]):
        return Leader(measure, order[0], float(means[order[0]]), None, True, adds)
    first, second = order[:2]
    values = campaign.scores.values[:, measure]
    lower, _ = student_interval(values[first] - values[second], 0.95)
    names = campaign.collection.names
    alike = why_incomparable(campaign.collection, kind, names[first], names[second]) is None
    clear = not alike or bool(lower > 0)
    tied = bool(means[first] - means[second] <= ROUNDED)
    return Leader(measure, first, float(means[first]), second, clear, adds, tied)


def _scale(columns: Any) -> tuple[float, float]:
    known = [x for column in columns for x in column if x is not None] or [0.0]
    return min(known), max(max(known), min(known) + ROUNDED)


def _near_copies(campaign: ReportedCampaign) -> dict[int, list[tuple[int, float]]]:
    """From each run that has near-copies to these, with their RBO, the nearest first."""
    shared = count_shared_documents(campaign.collection, _TOP)
    own = np.diag(shared)
    first, second = np.nonzero(np.triu(shared >= _LEAST_SHARED * np.maximum(own, own[:, None]), 1))
    pairs = list(zip(first.tolist(), second.tolist(), strict=True))
    found: dict[int, list[tuple[int, float]]] = {}
    for (a, b), overlap in zip(
        pairs, score_pairs(campaign.collection, RBO @ _DEPTH, pairs, Work(1)), strict=True
    ):
        if (mean := float(overlap.mean())) >= _NEAR:
            found.setdefault(a, []).append((b, mean))
            found.setdefault(b, []).append((a, mean))
    return {run: sorted(others, key=lambda one: (-one[1], one[0])) for run, others in found.items()}


def _copies(
    campaign: ReportedCampaign, measure: ir_measures.Measure
) -> list[tuple[int, float | None] | None] | None:
    """Of each run its nearest prior, by its place, and what a copy of that has; of measures by which it adds some."""
    if not is_relative(measure) or measure.RELATIVE_TO != "priors" or measure.zero_for_duplicate:
        return None
    copies = score_nearest_copies(campaign.collection, campaign.collection.names, measure)
    return [None if copy is None else (campaign.place[copy[0]], number(copy[1])) for copy in copies]
