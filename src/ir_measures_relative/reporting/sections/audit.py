"""What LLM judgments conclude, and what an audit by assessors says of that."""

from __future__ import annotations

from ..contents import ReportedCampaign
from . import Section, Table

WORDS = """
<p>{{ target }}. A language model judged the documents, and assessors judged a sample of them. Each interval is for the
difference by all human judgments on these topics; it is valid even if the model is bad. <em>Model alone</em> is the
difference by LLM judgments. <em>Without it</em> is half the width of the interval without LLM judgments.</p>
{% if changed %}<p>In {{ changed }} of {{ all }} comparisons, LLM judgments contradict the audited verdict.</p>{%
endif %}
{{ table("audited", "Differences by human judgments, audited") }}
"""

_TITLES = {
    "measure": "word",
    "difference": "value",
    "ci_lower": "value",
    "ci_upper": "value",
    "verdict": "word",
    "judge_alone": "value",
    "human_only": "value",
    "labels": "count",
}


def section(campaign: ReportedCampaign) -> Section | str:
    """The table that ``audit.estimate`` gave."""
    found = campaign.audit
    if found is None:
        return "LLM judgments: there is no audit of them (audit.estimate)."
    lacking = {"name", "other", *_TITLES} - set(getattr(found, "columns", ()))
    if lacking:
        raise ValueError(f"audit= lacks {', '.join(sorted(lacking))}; give the table of audit.estimate(…)")
    unknown = [name for name in found["name"] if name not in campaign.place]
    if unknown:
        raise ValueError(f"audit= compares {unknown[0]!r}, which is no run of the context")
    signs = {"above": 1, "below": -1}
    against = found["verdict"].map(signs).fillna(0) * found["judge_alone"] < 0
    rows = campaign.rows(found.drop(columns="other"), *_TITLES)
    cells = [[run, other, *rest] for (run, *rest), other in zip(rows, found["other"], strict=True)]
    named = {"judge_alone": "model alone", "human_only": "without it"}
    columns = [("run", "run"), ("other", "word"), *((named.get(t, t), kind) for t, kind in _TITLES.items())]
    table = Table("Differences by human judgments, audited", columns, cells)
    facts = {"target": found.attrs.get("target", "These topics, with human judgments as the target")}
    facts |= {"changed": int(against.sum()), "all": len(against)}
    title = "LLM judgments, audited"
    return Section("audited", "Audit", title, WORDS, facts, tables={"audited": table})
