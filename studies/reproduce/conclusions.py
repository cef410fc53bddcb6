"""Conclusions of the papers as one number each, with its 95 % interval: three that held and three that did not."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
import pandas as pd

from ir_measures_relative.data.arrays import FloatArray
from ir_measures_relative.stats import Pairs, correct_p_values, paired_test

from . import lexiprecision, lexiprecision_study, rareness_study, rareness_tables, ue_study
from .data import Campaign
from .nrg_campaign import Figures
from .recall_levels import Found, level_difference
from .resampling import error_over_runs, over_topics, tau

#: A number, and the ends of its interval.
Estimate = tuple[float, float, float]


def correlation(campaign: Campaign, measure: str) -> Estimate:
    """Kendall's τ of a measure with nDCG@10 over the runs, with the NRG paper's priors; interval over topics."""
    by = Figures(campaign).paper.by
    both = np.stack([by["nDCG@10"], by[measure]])
    return tau(*both.mean(axis=-1)), *over_topics(both, lambda means: tau(*means))


def ties(campaign: Campaign) -> Estimate:
    """The share of pairs of rankings that δRR_1 ties less that by δRR_2, in points, of topics with both."""
    found = lexiprecision_study.Study(campaign).found
    rr = found.rr[:, found.relevant >= 2]
    tied = np.array([100 * (level_difference(rr, level) == 0).mean(axis=0) for level in (1, 2)])
    return float((tied[0] - tied[1]).mean()), *over_topics(tied, lambda means: float(means[0] - means[1]))


def preferences(campaign: Campaign) -> Estimate:
    """The share of pairs told apart by rrLP less that by reciprocal rank, in points: t-test, Holm's correction."""
    study = lexiprecision_study.Study(campaign)
    p = [paired_test(Pairs.from_differences(study.values[m]), "t").p for m in ("rrLP", "RR")]
    return _gain(
        study.found.names, *(lambda pairs, of=of: correct_p_values(of[pairs], "holm") <= 0.05 for of in p)
    )


def normalization(campaign: Campaign) -> Estimate:
    """The share of pairs told apart by version 2 less that by nDCG, in points, on uninformative topics: t-test."""
    study = ue_study.Study(campaign.name, "nDCG", ue_study.pool_of(campaign))
    told = [study.told_apart(version, study.sets["uninformative"]) for version in ("V2", "nDCG")]
    return _gain(study.pool.names, *(lambda pairs, of=of: of[:, pairs] for of in told))


def stability(campaign: Campaign) -> Estimate:
    """The stability of P_Rareness@100 less that of P@100; interval over runs."""
    gain, error = rareness_tables.stability_gain(rareness_study.Study(campaign), "P")
    return gain, gain - 1.96 * error, gain + 1.96 * error


def later_levels(campaign: Campaign) -> Estimate:
    """How often levels after the second name the better run by the first, where the second is tied: %; any grade."""
    return lexiprecision.Masked.of(Found.of(campaign, 1).rr).beyond_the_second()


def _gain(names: list[str], one: Callable[..., FloatArray], other: Callable[..., FloatArray]) -> Estimate:
    """What the first tells apart more of the pairs than the second, in points; interval from leaving out each run."""
    first, second = np.triu_indices(len(names), 1)

    def gain(chosen: list[str]) -> FloatArray:
        inside = np.isin(names, chosen)
        pairs = np.flatnonzero(inside[first] & inside[second])
        return np.array([100 * (one(pairs).mean() - other(pairs).mean())])

    found, error = float(gain(names)[0]), float(error_over_runs(names, gain)[0])
    return found, found - 1.96 * error, found + 1.96 * error


class Conclusion(NamedTuple):
    """What a paper concludes, the number that it is about, and above or below what that number bears it out."""

    claim: str
    number: str
    bound: float
    of: Callable[[Campaign], Estimate]
    below: bool = False

    def shown(self, low: float, high: float) -> str:
        """Whether the whole interval bears it out: yes or no; contrary where the whole interval speaks against it."""
        above, under = low > self.bound, high < self.bound
        if self.below:
            above, under = under, above
        return "yes" if above else "contrary" if under else "no"


CONCLUSIONS = (
    Conclusion(
        "NRG@10 does not order runs as nDCG@10 does",
        "τ, below 0.5",
        0.5,
        partial(correlation, measure="NRG@10"),
        True,
    ),
    Conclusion("TaSC rises with nDCG@10", "τ", 0.0, partial(correlation, measure="TaSC")),
    Conclusion(
        "runs tie less often at the second relevant document than at the first", "points less", 0.0, ties
    ),
    Conclusion("rrLP tells more pairs of runs apart than reciprocal rank", "points more", 0.0, preferences),
    Conclusion(
        "on uninformative topics UE version 2 tells more pairs apart", "points more", 0.0, normalization
    ),
    Conclusion("P_Rareness@100 is more stable than P@100", "more stable by", 0.0, stability),
    Conclusion(
        "where the second level ties, later levels foretell the first",
        "% right, above 50",
        50.0,
        later_levels,
    ),
)


def table(campaign: Campaign, rel: int) -> pd.DataFrame:
    """A row a conclusion; each experiment has the paper's own threshold of relevance, and not ``rel``."""
    rows = []
    for conclusion in CONCLUSIONS:
        found, low, high = conclusion.of(campaign)
        rows.append((conclusion.claim, conclusion.number, found, low, high, conclusion.shown(low, high)))
    return pd.DataFrame(rows, columns=["conclusion", "number", "found", "lower", "upper", "shown"])
