"""What each run adds in aspects (nuggets) that its priors do not show."""

from __future__ import annotations

from ...decisions.explain import new_aspects
from ...further_measures.alpha_nrg import NewAspects
from ..contents import ReportedCampaign
from . import Section, Table

WORDS = """
<p>{{ measure }}: the number of aspects (nuggets) per topic that the run retrieves and no prior run does. An unjudged
document counts as one without aspects.</p>
{{ table("aspects", "What each run adds in aspects") }}
"""


def section(campaign: ReportedCampaign) -> Section | str:
    """The new aspects of each run, those that add most first."""
    if not campaign.collection.judgments.has_aspects:
        return "New aspects: the judgments name no aspects."
    if not campaign.several:
        return "New aspects: there is only one run."
    known = (m for m in campaign.measures if isinstance(m, type(NewAspects)))
    measure = next(known, NewAspects @ campaign.cutoff)
    try:
        found = new_aspects(campaign.context, campaign.qrels, measure)
    except ValueError as error:  # a label without an aspect
        return f"New aspects: {error}."
    titles = [column for column in found.columns if column != "name"]
    columns = [("run", "run"), *((title, "value") for title in titles)]
    table = Table("What each run adds in aspects", columns, campaign.rows(found, *titles))
    facts = {"measure": str(measure)}
    title = "Aspects that only one run contributes"
    return Section("aspects", "Nuggets", title, WORDS, facts, tables={"aspects": table})
