"""Upper and expected value normalization: where a ranking stands between a random and a perfect one.

Feng and Karmaker Santu, "Joint upper & expected value normalization for evaluation of retrieval systems: A
case study with Learning-to-Rank methods", Information Processing & Management 2023.
"""

from __future__ import annotations

from .measure import UE
from .published import AP_UE, nDCG_UE

__all__ = ["AP_UE", "UE", "nDCG_UE"]
