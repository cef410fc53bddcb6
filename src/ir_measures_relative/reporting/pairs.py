"""The pages of two runs side by side: intervals, and the verdict of worth(). ``templates/pair.js`` draws a page."""

from __future__ import annotations

import itertools
import warnings
from typing import Any

import ir_measures
from scipy.special import stdtrit

from ..context.measure_strings import is_relative
from ..decisions.compare import compare, is_of_pairs
from ..decisions.compared_runs import CandidateCompared
from ..decisions.decision import bold_and_rest
from ..decisions.decision_text import reason_of_worth
from ..decisions.option_settings import settings_of
from ..messages import RelativeWarning
from .contents import ReportedCampaign, numbers

# Pairs of runs times topics up to which the intervals of a measure take a second or two.
_MOST_WORK = 40_000
# The verdict of worth() is there for at most so many of the best runs, and ordered pairs times topics: in seconds.
_MOST_DECIDED, _MOST_DECIDED_WORK = 4, 700


def pairs_of(campaign: ReportedCampaign) -> dict[str, Any]:
    """What the pages of two runs need beside the values.

    - ``intervals``: for each measure the ends of the intervals of the differences, as :func:`compare` has them, one for
      each pair in the order of ``itertools.combinations``; None for a measure without. None where they would take long.
    - ``decisions``: what :func:`worth` says of the best runs; see :func:`decisions_of`;
    - ``t``: the quantile of Student's t for as many topics, by which the page makes an interval of one pair itself.
    """
    topics, few = campaign.view.n_queries, are_few(campaign)
    t = float(stdtrit(topics - 1, 0.975)) if topics > 1 else None
    intervals = _intervals(campaign) if few and campaign.several else None
    return {"intervals": intervals, "t": t, "decisions": decisions_of(campaign)}


def decisions_of(campaign: ReportedCampaign) -> dict[str, Any] | None:
    """The verdict and its reason, as :func:`worth` says them, of each two of the best runs by an absolute measure.

    ``rows`` has the deployed run, the candidate, the verdict in words, and the rest. None where this takes long, or the
    first absolute measure cannot decide.
    """
    place, view = campaign.first_absolute, campaign.view
    if place is None:
        return None
    sizes = range(min(_MOST_DECIDED, len(view.names)), 1, -1)
    size = next((n for n in sizes if n * (n - 1) * view.n_queries <= _MOST_DECIDED_WORK), 0)
    best = campaign.best_first(place)[:size]
    if not best:
        return None
    rows = []
    with warnings.catch_warnings():  # the page is about all pairs
        warnings.simplefilter("ignore", RelativeWarning)
        try:
            settings = settings_of(campaign.context, campaign.measures[place])
            for deployed, candidate in itertools.permutations(best, 2):
                names = view.names[deployed], view.names[candidate]
                compared = CandidateCompared(view.of_runs(names), names[:1], names[1], settings, view)
                verdict, reason = bold_and_rest(reason_of_worth(compared)[0])
                rows.append([deployed, candidate, verdict, reason])
        except ValueError:  # a measure that does not say how good a list is, no relevant document
            return None
    return {"runs": len(best), "by": str(settings.by), "rows": rows}


def are_few(campaign: ReportedCampaign) -> bool:
    """Whether the intervals of all pairs take a second or two."""
    n = len(campaign.view.names)
    return n * (n - 1) // 2 * campaign.view.n_queries <= _MOST_WORK


def _intervals(campaign: ReportedCampaign) -> list[list[list[float | None] | None] | None]:
    every = list(itertools.combinations(campaign.view.names, 2))
    return [
        None if is_of_pairs(measure) else list(map(intervals_of(campaign, measure).get, every))
        for measure in campaign.measures  # the value of one of pairs is not the difference of two values
    ]


def intervals_of(
    campaign: ReportedCampaign, measure: ir_measures.Measure
) -> dict[tuple[str, str], list[Any]]:
    """The ends of the intervals of the pairs that are comparable, which hold for all pairs at once."""
    if measure not in campaign.intervals:
        campaign.intervals[measure] = _found_intervals(campaign, measure)
    return campaign.intervals[measure]


def _found_intervals(
    campaign: ReportedCampaign, measure: ir_measures.Measure
) -> dict[tuple[str, str], list[Any]]:
    # The priors do not matter to an absolute measure; else fixed priors are no candidates.
    options: dict[str, Any] = (
        {} if is_relative(measure) else {"names": campaign.view.names, "priors": "others"}
    )
    with warnings.catch_warnings():  # of pairs that have no interval: the page says so where it shows them
        warnings.simplefilter("ignore", RelativeWarning)
        try:
            table = compare(campaign.context, campaign.qrels, [measure], family="measure", **options)
        except ValueError:  # fewer than two runs that are no priors
            return {}
    pairs = zip(table["name"], table["other"], strict=True)
    ends = zip(*(numbers(table[end].astype(float).tolist()) for end in ("ci_lower", "ci_upper")), strict=True)
    return {pair: list(row) for pair, row in zip(pairs, ends, strict=True) if None not in row}
