"""SDCG: DCG over that of k documents of the highest gain. Binary in NRG, and graded in MED without ``rel``."""

from __future__ import annotations

from ..form import Rule
from .base import Base, Get, add, relevant
from .browsing import LogDiscount


def _rule(get: Get) -> Rule:
    seen = LogDiscount(get("cutoff"))
    return Rule(relevant(get), seen, over=seen.total)


SDCG = add(Base(name="SDCG", rule=_rule, parameters=("norm", "rel"), needs_cutoff=True, residual=True))
