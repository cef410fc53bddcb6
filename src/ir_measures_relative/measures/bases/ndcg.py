"""nDCG (Järvelin and Kekäläinen, 2002). For UE it is DCG, and graded by ``dcg='exp-log2'`` there by default."""

from __future__ import annotations

from ..form import Ideal, Rule
from .base import Base, Chance, Get, add, expected_sum, weighted_sum_deviation
from .browsing import LogDiscount
from .gains import Graded


def _rule(get: Get) -> Rule:
    gain = Graded.by(get("dcg", "log2"), get("gains"))
    return Rule(gain, LogDiscount(), over=Ideal(LogDiscount(), get("cutoff")))


nDCG = add(
    Base(
        name="nDCG",
        rule=_rule,
        parameters=("norm", "dcg", "gains"),
        residual=True,
        chance=Chance(
            expected=lambda pool: expected_sum(pool.mean_gain, pool.depth, LogDiscount()),
            deviation=lambda pool: weighted_sum_deviation(pool, LogDiscount()),
            over=1.0,
        ),
    )
)
