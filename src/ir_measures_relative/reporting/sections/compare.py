"""The section that compares each run with the reference, on the absolute measures."""

from __future__ import annotations

from typing import Any

from ...context.measure_strings import is_relative
from ...decisions.compare import compare
from ..contents import ReportedCampaign
from . import Section, Table

WORDS = """
<p>The mean difference of each run from {{ run_name(reference) }}, with its interval, and the p of a paired test. Both
are corrected for the number of rows: all intervals hold at once, with 95 % confidence.</p>
{{ table("comparison", "The differences") }}
"""

# From a column of ``compare`` to its title and kind in the page.
_COLUMNS = {
    "measure": ("measure", "word"),
    "mean": ("mean", "value"),
    "difference": ("difference", "value"),
    "ci_lower": ("from", "value"),
    "ci_upper": ("to", "value"),
    "p_corrected": ("p corrected", "p"),
    "wins": ("wins", "count"),
    "ties": ("ties", "count"),
    "losses": ("losses", "count"),
}


def section(campaign: ReportedCampaign) -> Section | str:
    """The section, or a sentence that says why it is missing."""
    context = campaign.context
    absolute = [m for m in campaign.measures if not is_relative(m)]
    if not campaign.several or context.reference is None or not absolute:
        return "Against the reference: it needs a reference, another run and an absolute measure."
    names = campaign.complete
    if context.reference not in names or len(names) < 2:
        return f"Against the reference: {campaign.why_incomplete}."
    try:
        # The priors do not matter to these measures, and the context's may hold the reference.
        options: dict[str, Any] = {"names": names, "priors": "others", "baseline": context.reference}
        found = compare(context, campaign.qrels, absolute, **options)
    except ImportError:  # statsmodels, for the correction
        return "Against the reference: the package statsmodels is not installed."
    rows = campaign.rows(found.drop(columns="other"), *_COLUMNS)
    table = Table("The difference of each run from the reference", [("run", "run"), *_COLUMNS.values()], rows)
    title, facts = "Against the reference", {"reference": campaign.reference}
    return Section("comparison", title, title, WORDS, facts, tables={"comparison": table})
