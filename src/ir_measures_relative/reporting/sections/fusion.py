"""What fusing runs is worth, on topics that had no say in the choice."""

from __future__ import annotations

from ...decisions.fuse import FIXED_BEFOREHAND, fuse
from ...decisions.fusion import label_function
from ...decisions.options import DEFAULT_DEPTH
from ..contents import ReportedCampaign
from . import Section, Table

WORDS = """
<p>Reciprocal rank fusion (k = 60) of the first {{ depth }} documents, scored by {{ measure }}. Each strategy chooses
runs on half of the topics and is scored on the other half, {{ repeats }} times. The in-sample value is too high; use
the held-out one. Read the row “{{ fixed }}”, which is fixed beforehand: the intervals are not corrected for several
strategies, and take the judgments as they are.
{% if repeats < usual %}With so many runs there are {{ repeats }} splits instead of {{ usual }}.
{% endif %}<code>fuse()</code> has more strategies, and cost budgets.</p>
{{ table("fusion", "The value of each strategy") }}
"""

# How often the topics are divided, with up to so many runs and with more.
_REPEATS, _FEWER_REPEATS, _MANY_RUNS = 20, 5, 30
# Pairs of runs times topics, and topics, up to which the section takes a few seconds.
_MOST_WORK, _MOST_TOPICS = 150_000, 1_000


def section(campaign: ReportedCampaign) -> Section | str:
    """What each strategy is worth."""
    n, topics = len(campaign.collection.names), campaign.collection.documents.n_queries
    absolute = None if campaign.first_absolute is None else campaign.measures[campaign.first_absolute]
    if n < 2 or absolute is None or label_function(absolute) is None:
        return "Fusion: it needs two runs, and nDCG, P, R, RR, AP or Success as the first absolute measure."
    if campaign.incomplete:
        return f"Fusion: {campaign.why_incomplete}."
    if n * (n - 1) // 2 * topics > _MOST_WORK or topics > _MOST_TOPICS:
        return f"Fusion: {n} runs and {topics:,} topics would take too long. Call fuse()."
    asked, size = (campaign.context, campaign.qrels), min(n, 3)
    repeats = _REPEATS if n <= _MANY_RUNS else _FEWER_REPEATS
    words = {
        "single": "the best run",
        "top": f"the {size} best runs",
        "greedy": f"{size} runs, added one by one",
        "all": "all runs",
    }
    try:
        chosen = fuse(*asked, size, absolute, strategies=[*words], repeats=repeats)
    except ValueError as error:  # one topic, or runs without a common one
        return f"Fusion: {error}."
    columns = [("strategy", "word"), ("runs chosen on all topics", "runs")]
    titles = ("in sample", "held out", "difference from the best run", "from", "to")
    columns += [(title, "value") for title in titles]
    cells = ("in_sample", "held_out", "difference", "ci_lower", "ci_upper")
    rows = [
        [words[row["strategy"]], [campaign.place[name] for name in row["names"]], *(row[c] for c in cells)]
        for row in chosen.to_dict("records")
    ]
    facts = {
        "measure": str(absolute),
        "depth": chosen["depth"].iloc[0] if "depth" in chosen else DEFAULT_DEPTH,
        "fixed": words[FIXED_BEFOREHAND],
        "repeats": repeats,
        "usual": _REPEATS,
    }
    tables = {"fusion": Table("The value of each strategy", columns, rows)}
    title = "Which runs to fuse"
    return Section("fusion", "Fusion", title, WORDS, facts, tables=tables)
