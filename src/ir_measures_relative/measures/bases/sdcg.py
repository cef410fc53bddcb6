"""SDCG: DCG over that of k documents of the highest gain. Binary in NRG, and graded in MED without ``rel``."""

from __future__ import annotations

from ..med_pairs import weighted
from .base import Base, Difference
from .browsing import LogDiscount

SDCG = Base(
    name="SDCG",
    parameters=("norm", "rel"),
    needs_cutoff=True,
    browsing=lambda get: LogDiscount(get("cutoff")),
    residual="sum",
    difference=Difference(
        solve=weighted, parameters=("rel", "dcg", "gains", "max_grade"), needs_cutoff=True, graded=True
    ),
)
