"""Measures that score a ranking relative to the rankings that exist already, for ir_measures and PyTerrier.

Importing the package registers its measures with ir_measures, and its provider as
``ir_measures.providers.registry["relative"]``, also in ``ir_measures.DefaultPipeline``.
"""

import ir_measures as _ir_measures

from . import stats as stats
from .complement import select_complementary
from .context import RunContext
from .measures.lexiprecision import RPP, rrLP, sgnLP, sgnLR
from .measures.med import MED, med
from .measures.nrg import NRG, UniqueRel
from .measures.rareness import AP_Rareness, P_Rareness
from .measures.tasc import TaSC
from .measures.ue import AP_UE, nDCG_UE
from .priors import BestOfOtherGroups
from .provider import RelativeProvider

__version__ = "0.1.0"

relative = _ir_measures.providers.register(RelativeProvider())
_ir_measures.DefaultPipeline.providers.append(relative)

__all__ = [
    "AP_UE",
    "MED",
    "NRG",
    "RPP",
    "AP_Rareness",
    "BestOfOtherGroups",
    "P_Rareness",
    "RunContext",
    "TaSC",
    "UniqueRel",
    "med",
    "nDCG_UE",
    "rrLP",
    "select_complementary",
    "sgnLP",
    "sgnLR",
]
