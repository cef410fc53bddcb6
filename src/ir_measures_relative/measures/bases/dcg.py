"""nDCG (Järvelin and Kekäläinen, 2002) and SDCG, which divides DCG by that of k documents of the highest gain.

UE takes DCG for nDCG, by default with ``dcg='exp-log2'``. SDCG is binary in NRG; in MED it is graded without ``rel``.
"""

from __future__ import annotations

from ..form import Ideal, Rule
from .base import Base, Chance, Get, add, expected_sum, relevant, weighted_sum_deviation
from .browsing import LogDiscount
from .gains import Graded


def _ndcg(get: Get) -> Rule:
    gain = Graded.by(get("dcg", "log2"), get("gains"))
    return Rule(gain, LogDiscount(), over=Ideal(LogDiscount(), get("cutoff")))


def _sdcg(get: Get) -> Rule:
    seen = LogDiscount(get("cutoff"))
    return Rule(relevant(get), seen, over=seen.total)


nDCG = add(
    Base(
        name="nDCG",
        rule=_ndcg,
        parameters=("norm", "dcg", "gains"),
        residual=True,
        chance=Chance(
            expected=lambda pool: expected_sum(pool.mean_gain, pool.depth, LogDiscount()),
            deviation=lambda pool: weighted_sum_deviation(pool, LogDiscount()),
            over=1.0,
        ),
    )
)

SDCG = add(Base(name="SDCG", rule=_sdcg, parameters=("norm", "rel"), needs_cutoff=True, residual=True))
