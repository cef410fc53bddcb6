"""Measures that score a ranking relative to the rankings that exist already, for ir_measures and PyTerrier.

Importing the package registers its measures with ir_measures, and its provider as
``ir_measures.providers.registry["relative"]``, also in ``ir_measures.DefaultPipeline``.
"""

from . import interrupts as _interrupts  # noqa: F401  (first of all)

# isort: split
import ir_measures  # noqa: F401  (first and whole: it may be what imports this package, by an entry point)

from .analysis.contributions import explain
from .analysis.differences import med
from .analysis.selection import select_complementary
from .analysis.significance import SignTest, sign_test
from .context import RunContext
from .measures.lexiprecision import RPP, rrLP, sgnLP, sgnLR
from .measures.med import MED
from .measures.nrg import NRG, UniqueRel
from .measures.rareness import AP_Rareness, P_Rareness
from .measures.tasc import TaSC
from .measures.ue import AP_UE, nDCG_UE
from .priors import BestOfOtherGroups, PriorPolicy
from .provider import RelativeProvider, registered_provider
from .warning import RelativeWarning

__version__ = "0.1.0"

relative: RelativeProvider = registered_provider()

__all__ = [
    "AP_UE",
    "MED",
    "NRG",
    "RPP",
    "AP_Rareness",
    "BestOfOtherGroups",
    "P_Rareness",
    "PriorPolicy",
    "RelativeWarning",
    "RunContext",
    "SignTest",
    "TaSC",
    "UniqueRel",
    "explain",
    "med",
    "nDCG_UE",
    "rrLP",
    "select_complementary",
    "sgnLP",
    "sgnLR",
    "sign_test",
]
