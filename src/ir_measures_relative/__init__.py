"""Measures that score a ranking relative to the rankings that exist already, for ir_measures and PyTerrier.

Importing the package registers its measures with ir_measures, and its provider as
``ir_measures.providers.registry["relative"]``, also in ``ir_measures.DefaultPipeline``. What is not a measure is
imported when it is first asked for.
"""

from typing import TYPE_CHECKING

import ir_measures  # noqa: F401  (first and whole: it may be what imports this package, by an entry point)

from . import compat as _compat  # noqa: F401  (before anything that may warn)
from .later import imported_later
from .measures.alpha_nrg import NewAspects, alpha_NRG
from .measures.fusion import FusionGain
from .measures.lexiprecision import RPP, rrLP, sgnLP, sgnLR
from .measures.lexirank import LexiRank
from .measures.med import MED
from .measures.nrg import NRG, UniqueRel
from .measures.rank_biased import RBA, RBO
from .measures.rareness import AP_Rareness, P_Rareness, Rareness
from .measures.shapley import Shapley
from .measures.tasc import TaSC
from .measures.ue import AP_UE, UE, nDCG_UE
from .messages import RelativeWarning
from .provider import RelativeProvider, registered_provider
from .registry import fill as _fill

if TYPE_CHECKING:
    from .context import RunContext
    from .questions.comparing import compare
    from .questions.deciding import worth
    from .questions.explaining import explain
    from .questions.fusing import fuse
    from .questions.sets_of_runs import select_complementary
    from .questions.similarities import similarity
    from .reporting import report
    from .unjudged.bounds import bounds
    from .unjudged.verdicts import verdicts

__version__ = "0.3.0"

relative: RelativeProvider = registered_provider()

# What is found when it is first asked for: the modules that add to each registry.
_fill(
    {
        "bounds": [".extremes.of_host_measures", ".extremes.of_measures"],
        "MED searches": [".extremes.med"],
        "readers of files": [".io.formats.foreign_files"],
        "readers of folders": [".io.folders", ".io.campaign_folders"],
        "readers of objects": [".io.formats.objects"],
    },
    __name__,
)

__getattr__, __dir__ = imported_later(
    __name__,
    {
        "RunContext": "context",
        "audit": "audit",
        "bounds": "unjudged.bounds",
        "compare": "questions.comparing",
        "explain": "questions.explaining",
        "fuse": "questions.fusing",
        "meta": "meta",
        "report": "reporting",
        "select_complementary": "questions.sets_of_runs",
        "similarity": "questions.similarities",
        "verdicts": "unjudged.verdicts",
        "worth": "questions.deciding",
    },
)


__all__ = [
    "AP_UE",
    "MED",
    "NRG",
    "RBA",
    "RBO",
    "RPP",
    "UE",
    "AP_Rareness",
    "FusionGain",
    "LexiRank",
    "NewAspects",
    "P_Rareness",
    "Rareness",
    "RelativeWarning",
    "RunContext",
    "Shapley",
    "TaSC",
    "UniqueRel",
    "alpha_NRG",
    "bounds",
    "compare",
    "explain",
    "fuse",
    "nDCG_UE",
    "report",
    "rrLP",
    "select_complementary",
    "sgnLP",
    "sgnLR",
    "similarity",
    "verdicts",
    "worth",
]
