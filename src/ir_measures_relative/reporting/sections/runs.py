"""The table of the runs. ``templates/runs.html`` writes it."""

from __future__ import annotations

from ..campaign import ReportedCampaign
from . import COLOURS, Section

WORDS = """
<p>Means over {{ n_topics }} topics, with the 95 % interval of the mean below. The interval says how sure a mean
is, not whether two runs differ: both meet the same topics. A run leads to its own page; a column’s name sorts by
it.</p>
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
    }
    return Section("runs", "Runs", "The runs", WORDS, data | facts)
