"""Measures that score a ranking relative to the rankings that exist already, for ir_measures and PyTerrier.

Importing the package registers its measures with ir_measures, and its provider as
``ir_measures.providers.registry["relative"]``, also in ``ir_measures.DefaultPipeline``.
"""

import ir_measures as _ir_measures

from .context import RunContext
from .measures.nrg import NRG, UniqueRel
from .measures.rareness import AP_Rareness, P_Rareness
from .priors import BestOfOtherGroups
from .provider import RelativeProvider

__version__ = "0.1.0"

relative = _ir_measures.providers.register(RelativeProvider())
_ir_measures.DefaultPipeline.providers.append(relative)

__all__ = [
    "NRG",
    "AP_Rareness",
    "BestOfOtherGroups",
    "P_Rareness",
    "RunContext",
    "UniqueRel",
]
