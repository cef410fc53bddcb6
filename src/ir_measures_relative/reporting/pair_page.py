"""What the page of two runs has beside the values. ``templates/pair.js`` draws it."""

from __future__ import annotations

import itertools
import warnings
from typing import Any

from scipy.special import stdtrit

from ..decisions.compare import is_pairwise
from ..decisions.rule import read_terms
from ..decisions.worth import decide_on_candidate
from ..messages import RelativeWarning
from .contents import ReportedCampaign, are_few, intervals_of
from .sections import Spec, quantity, said

# The verdict of worth() is there for so many runs, else for a few of the best; and for so many ordered pairs times
# topics: 20 seconds.
_MOST_DECIDED, _BEST_DECIDED, _MOST_DECIDED_WORK = 20, 4, 40_000


def pairs_of(campaign: ReportedCampaign) -> dict[str, Any]:
    """What the pages of two runs need beside the values: the quantile of Student's t for as many topics, and more.

    ``intervals`` has for each measure the ends of the intervals of :func:`compare`, one for each pair in the order of
    ``itertools.combinations``; None where there are none, or where they would take long. ``incomplete`` are the places
    of runs that miss too many topics.
    """
    topics, intervals = campaign.collection.documents.n_queries, None
    if are_few(campaign) and campaign.several:
        every = list(itertools.combinations(campaign.collection.names, 2))
        intervals = [
            # the value of a measure of pairs is not the difference of two values
            None if is_pairwise(measure) else list(map(intervals_of(campaign, measure).get, every))
            for measure in campaign.measures
        ]
    t = float(stdtrit(topics - 1, 0.975)) if topics > 1 else None
    incomplete = [campaign.place[name] for name in campaign.incomplete]
    return {"intervals": intervals, "t": t, "decisions": _decisions_of(campaign), "incomplete": incomplete}


def _decisions_of(campaign: ReportedCampaign) -> dict[str, Any] | None:
    """Return deployed, candidate, verdict and reason of :func:`worth` for each two of the best runs, or None."""
    place, collection = campaign.first_absolute, campaign.collection
    if place is None:
        return None
    best = campaign.best_complete_first(place)
    sizes = range(len(best) if len(best) <= _MOST_DECIDED else _BEST_DECIDED, 1, -1)
    size = next((n for n in sizes if n * (n - 1) * collection.documents.n_queries <= _MOST_DECIDED_WORK), 0)
    best = best[:size]
    if not best:
        return None
    rows = []
    with warnings.catch_warnings():  # the page is about all pairs
        warnings.simplefilter("ignore", RelativeWarning)
        try:
            terms = read_terms(campaign.context, campaign.measures[place])
            # Both orders of a pair in turn: they share the fused list.
            pairs = (order for a, b in itertools.combinations(best, 2) for order in ((a, b), (b, a)))
            for deployed, candidate in pairs:
                answer = decide_on_candidate(
                    collection, [collection.names[deployed]], collection.names[candidate], terms
                )
                rows.append([deployed, candidate, answer.headline, f" {answer.reason}"])
        except ValueError:  # a measure that does not say how good a list is, no relevant document
            return None
    return {"runs": len(best), "by": str(terms.by), "rows": rows}


def differences() -> Spec:
    """Return the picture of the difference of two runs on each topic, as bars."""
    axis = {
        "title": "topic, in the order of the differences",
        "labelExpr": "topics[datum.value]",
        "labelAngle": -90,
        "labelOverlap": True,
        "labelLimit": 70,
        "ticks": False,
    }
    colour = {
        "field": "side",
        "type": "nominal",
        "scale": {"domain": ["first", "second"], "range": ["var(--above)", "var(--below)"]},
        "legend": None,
    }
    return {
        "width": "container",
        "height": 260,
        "params": [{"name": "topics", "value": []}],
        "mark": "bar",
        "encoding": {
            "x": {"field": "place", "type": "ordinal", "axis": axis},
            "y": quantity("value", title=None),
            "color": colour,
            "tooltip": said(topic="topic", first="first", second="second", shown="difference"),
        },
    }
