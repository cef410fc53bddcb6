"""The sections of a report. A new one is a file here, with a function ``section``, and its place in the list."""

from __future__ import annotations

from tqdm import tqdm

from ..campaign import ReportedCampaign
from ..section import Section
from . import comparison, likeness, relative_to, runs, scatter, selection, shapley, unjudged

#: In the order of the page. Each has ``section``, which makes it of a campaign: None where there is nothing to say.
SECTIONS = (runs, scatter, likeness, selection, shapley, comparison, unjudged, relative_to)


def sections_of(campaign: ReportedCampaign) -> list[Section]:
    """What there is to say of a campaign."""
    found = [
        module.section(campaign)
        for module in tqdm(SECTIONS, desc="report", unit="section", disable=None, leave=False)
    ]
    return [section for section in found if section is not None]
