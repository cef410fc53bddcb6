"""Measures that score a ranking relative to the rankings that exist already, for ir_measures and PyTerrier.

Importing the package registers its measures with ir_measures, and its provider as
``ir_measures.providers.registry["relative"]``, also in ``ir_measures.DefaultPipeline``. What is not a measure is
imported when it is first asked for.
"""

from . import interrupts as _interrupts  # noqa: F401  (first of all)

# isort: split
from importlib import import_module as _import_module
from typing import TYPE_CHECKING
from typing import Any as _Any

import ir_measures  # noqa: F401  (first and whole: it may be what imports this package, by an entry point)

from .measures.lexiprecision import RPP, rrLP, sgnLP, sgnLR
from .measures.med import MED
from .measures.nrg import NRG
from .measures.rank_biased import RBA, RBO
from .measures.rareness import AP_Rareness, P_Rareness
from .measures.shapley import Shapley
from .measures.tasc import TaSC
from .measures.ue import AP_UE, UE, nDCG_UE
from .measures.unique_rel import UniqueRel
from .messages import RelativeWarning
from .provider import RelativeProvider, registered_provider

if TYPE_CHECKING:
    from .analysis.bounds import bounds
    from .analysis.comparing import adds, compare
    from .analysis.contributions import explain
    from .analysis.differences import med
    from .analysis.judging import judge_next
    from .analysis.reusability import reusability
    from .analysis.selection import select_complementary
    from .analysis.significance import SignTest, sign_test
    from .analysis.similarities import similarity
    from .analysis.sweeping import sweep
    from .analysis.verdicts import verdicts
    from .context import RunContext
    from .priors import BestOfOtherGroups, PriorPolicy
    from .reporting import report

__version__ = "0.2.0"

relative: RelativeProvider = registered_provider()

# Where a name is that is imported when it is asked for.
_LATER = {
    "BestOfOtherGroups": "priors",
    "PriorPolicy": "priors",
    "RunContext": "context",
    "SignTest": "analysis.significance",
    "bounds": "analysis.bounds",
    "adds": "analysis.comparing",
    "compare": "analysis.comparing",
    "explain": "analysis.contributions",
    "judge_next": "analysis.judging",
    "med": "analysis.differences",
    "meta": "meta",
    "report": "reporting",
    "reusability": "analysis.reusability",
    "select_complementary": "analysis.selection",
    "sign_test": "analysis.significance",
    "similarity": "analysis.similarities",
    "verdicts": "analysis.verdicts",
    "sweep": "analysis.sweeping",
}


def __getattr__(name: str) -> _Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = _import_module(f".{_LATER[name]}", __name__)
    value = getattr(module, name, module)  # a name in it, or itself
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


__all__ = [
    "AP_UE",
    "MED",
    "NRG",
    "RBA",
    "RBO",
    "RPP",
    "UE",
    "AP_Rareness",
    "BestOfOtherGroups",
    "P_Rareness",
    "PriorPolicy",
    "RelativeWarning",
    "RunContext",
    "Shapley",
    "SignTest",
    "TaSC",
    "UniqueRel",
    "adds",
    "bounds",
    "compare",
    "explain",
    "judge_next",
    "med",
    "nDCG_UE",
    "report",
    "reusability",
    "rrLP",
    "select_complementary",
    "sgnLP",
    "sgnLR",
    "sign_test",
    "similarity",
    "sweep",
    "verdicts",
]
