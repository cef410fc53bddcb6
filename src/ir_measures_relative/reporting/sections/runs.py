"""The table of the runs. ``templates/runs.html`` writes it."""

from __future__ import annotations

import ir_measures

from ...measures.strings import is_relative
from ...questions.comparing import copies_of_nearest
from ..campaign import ReportedCampaign, number
from . import COLOURS, Section

WORDS = """
<p>Means over {{ n_topics }} topics, with the 95 % interval of the mean below. The interval says how sure a mean
is, not whether two runs differ: both meet the same topics. A run leads to its own page; a column’s name sorts by
it.</p>
{% if copies | select | list %}<p>Below what a run adds stands what an exact copy of its nearest prior would have in its
place, which is the one that holds most of the documents of its top. A run that is not well above that adds little.</p>
{% endif %}
{% if one_topic %}<p><strong>Few topics count:</strong> {{ one_topic }}.</p>{% endif %}
{% include "runs.html" %}
"""


def section(campaign: ReportedCampaign) -> Section:
    """Every run with its means, sorted by the first relative measure."""
    data = campaign.data
    by = next((i for i, measure in enumerate(data["measures"]) if measure["relative"]), 0)
    means = data["means"][by]
    facts = {
        "n_topics": len(data["topics"]),
        "sorted_by": by,
        "order": sorted(range(len(means)), key=lambda r: -(means[r] or 0.0)),
        "reference": campaign.reference,
        "colours": COLOURS,
        "one_topic": campaign.one_topic,
        "copies": [_copies(campaign, measure) for measure in campaign.measures],
    }
    return Section("runs", "Runs", "The runs", WORDS, data | facts)


def _copies(
    campaign: ReportedCampaign, measure: ir_measures.Measure
) -> list[tuple[int, float | None] | None] | None:
    """Of each run its nearest prior, by its place, and what a copy of that has; of measures by which it adds some."""
    if not is_relative(measure) or measure.RELATIVE_TO != "priors" or measure.is_0_for_a_copy:
        return None
    found = copies_of_nearest(campaign.judged, campaign.judged.names, measure)
    return [
        None if near is None else (campaign.place[near], number(float(mean)))
        for near, mean in zip(found.nearest, found.means, strict=True)
    ]
