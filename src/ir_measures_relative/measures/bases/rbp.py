"""RBP (Moffat and Zobel, 2008)."""

from __future__ import annotations

from ..form import Rule
from .base import Base, Chance, Get, add, expected_sum, relevant, weighted_sum_deviation
from .browsing import Geometric


def _browsing(get: Get) -> Geometric:
    return Geometric(get("p"))


def _rule(get: Get) -> Rule:
    seen = _browsing(get)
    return Rule(relevant(get), seen, over=seen.total)


RBP = add(
    Base(
        name="RBP",
        rule=_rule,
        parameters=("norm", "rel", "p"),
        residual=True,
        chance=Chance(
            expected=lambda pool: (
                (1.0 - pool.get("p")) * expected_sum(pool.mean_gain, pool.depth, _browsing(pool.get))
            ),
            deviation=lambda pool: (1.0 - pool.get("p")) * weighted_sum_deviation(pool, _browsing(pool.get)),
        ),
    )
)
