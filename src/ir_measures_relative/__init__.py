"""Measures that score a ranking relative to the rankings that exist already, for ir_measures and PyTerrier.

Importing the package registers its measures with ir_measures, and its provider as
``ir_measures.providers.registry["relative"]``, also in ``ir_measures.DefaultPipeline``. Everything else is imported on
first use.
"""

from typing import TYPE_CHECKING

import ir_measures  # noqa: F401  (first and whole: it may be what imports this package, by an entry point)

from .data.registry import fill as _fill
from .data.registry import imported_later
from .further_measures.alpha_nrg import NewAspects, alpha_NRG
from .further_measures.rbo import RBO
from .further_measures.shapley import Shapley
from .hosts import compat as _compat  # noqa: F401  (before anything that may warn)
from .hosts.provider import RelativeProvider, registered_provider
from .measures.lexiprecision import RPP, rrLP, sgnLP, sgnLR
from .measures.med import MED
from .measures.nrg import NRG, TaSC, UniqueRel
from .measures.rareness import AP_Rareness, P_Rareness, Rareness
from .measures.ue import AP_UE, UE, nDCG_UE
from .messages import RelativeWarning

if TYPE_CHECKING:
    from .bounding.bounds import bounds
    from .bounding.verdicts import verdicts
    from .context.run_context import RunContext
    from .decisions.compare import compare
    from .decisions.decide import decide
    from .decisions.drop import drop
    from .decisions.explain import explain
    from .decisions.fuse import fuse
    from .decisions.place import place
    from .decisions.select import select_complementary
    from .decisions.similarity import similarity
    from .decisions.trajectory import trajectory
    from .decisions.worth import worth
    from .reporting import report

__version__ = "0.5.0"

relative: RelativeProvider = registered_provider()

# The modules that add to each registry; they are imported on first use.
_fill(
    {
        "MED searches": [".bounding.med_pairs", ".bounding.med_searches"],
        "descriptions of contexts": [
            ".formats.fingerprint",
            ".formats.run_paths",
            ".formats.track",
            ".formats.make_track",
        ],
        "file formats": [".formats.foreign_files", ".formats.json_runs", ".formats.tables"],
        "readers of files": [".formats.foreign_files"],
        "readers of objects": [".formats.objects"],
    },
    __name__,
)

__getattr__, __dir__ = imported_later(
    __name__,
    {
        "RunContext": "context.run_context",
        "bounds": "bounding.bounds",
        "compare": "decisions.compare",
        "decide": "decisions.decide",
        "drop": "decisions.drop",
        "explain": "decisions.explain",
        "fuse": "decisions.fuse",
        "place": "decisions.place",
        "report": "reporting",
        "select_complementary": "decisions.select",
        "similarity": "decisions.similarity",
        "trajectory": "decisions.trajectory",
        "verdicts": "bounding.verdicts",
        "worth": "decisions.worth",
    },
)

__all__ = [
    "AP_UE",
    "MED",
    "NRG",
    "RBO",
    "RPP",
    "UE",
    "AP_Rareness",
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
    "decide",
    "drop",
    "explain",
    "fuse",
    "nDCG_UE",
    "place",
    "report",
    "rrLP",
    "select_complementary",
    "sgnLP",
    "sgnLR",
    "similarity",
    "trajectory",
    "verdicts",
    "worth",
]
