"""Which of the papers' campaigns a folder is: a printed number belongs beside that campaign alone."""

from __future__ import annotations

import hashlib

from .data import Campaign

#: The number of runs, and the start of the SHA-256 of the judged topics' ids, sorted, one a line.
_CAMPAIGNS = {(37, "45639e6c88dd5a21"): "deep-pass (2019)", (17, "66805cf00f8f1b65"): "robust (2003)"}


def name_of(campaign: Campaign) -> str:
    """``"deep-pass (2019)"`` or ``"robust (2003)"`` for those, the name of the folder for any other."""
    return _CAMPAIGNS.get(_key(campaign), campaign.folder.resolve().name)


def is_known(campaign: Campaign) -> bool:
    """Whether it has the runs and topics of a campaign that is known by name."""
    return _key(campaign) in _CAMPAIGNS


def _key(campaign: Campaign) -> tuple[int, str]:
    topics = "\n".join(sorted(campaign.qrels["query_id"].unique()))
    return len(campaign.context.names), hashlib.sha256(topics.encode()).hexdigest()[:16]
