"""RBP (Moffat and Zobel, 2008)."""

from __future__ import annotations

from ..med_pairs import weighted
from .base import Base, Chance, Difference, Get, deviation_of_sum, expected_sum
from .browsing import Geometric


def _browsing(get: Get) -> Geometric:
    return Geometric(get("p"))


RBP = Base(
    name="RBP",
    parameters=("norm", "rel", "p"),
    browsing=_browsing,
    residual="sum",
    chance=Chance(
        value=lambda ranking, get: (1.0 - get("p")) * ranking.sum(_browsing(get)),
        expected=lambda pool: (
            (1.0 - pool.get("p")) * expected_sum(pool.mean_gain, pool.depth, _browsing(pool.get))
        ),
        deviation=lambda pool: (1.0 - pool.get("p")) * deviation_of_sum(pool, _browsing(pool.get)),
    ),
    difference=Difference(solve=weighted, parameters=("rel", "p", "residual")),
)
