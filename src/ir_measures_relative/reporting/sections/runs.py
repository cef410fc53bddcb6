"""The table of the runs."""

from __future__ import annotations

from ..campaign import ReportedCampaign
from . import COLOURS, Section

WORDS = """
<p>Means over {{ n_topics }} topics, with Student’s 95 % interval of the mean below. The interval says how sure a mean
is, not whether two runs differ: both meet the same topics. A run leads to its own page; a column’s name sorts by
it.</p>
<div class="scroll" tabindex="0" role="region" aria-label="The table of runs">
<table class="sortable" id="table-of-runs">
<caption class="unseen">The runs and the means of their measures</caption>
<thead><tr><th scope="col" aria-sort="none"><button type="button">run</button></th>
{% if groups %}<th scope="col" aria-sort="none"><button type="button">group</button></th>{% endif %}
{% for measure in measures %}
<th scope="col" class="n" aria-sort="{{ "descending" if loop.index0 == sorted_by else "none" }}">
<button type="button">{{ measure.name }}</button></th>
{% endfor %}
</tr></thead>
<tbody>
{% for r in order %}{% set run = runs[r] %}
<tr><th scope="row" data-v="{{ run.name }}">{{ run_link(r) }}{% if r == reference %} <small>reference</small>{% endif %}
</th>
{% if groups and run.group is defined %}
{% set group = groups[run.group] %}
<td data-v="{{ group }}"><span class="dot" style="--c: var(--g{{ run.group % colours }})"></span>
<bdi class="short" title="{{ group }}">{{ group }}</bdi></td>
{% elif groups %}
<td></td>
{% endif %}
{% for _ in measures %}
{% set mean, low, high = means[loop.index0][r], lower[loop.index0][r], upper[loop.index0][r] %}
<td class="n" data-v="{{ mean if mean is not none }}">{{ number(mean) }}
{% if low is not none %}<small>{{ number(low) }} to {{ number(high) }}</small>{% endif %}</td>
{% endfor %}
</tr>
{% endfor %}
</tbody></table></div>
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
