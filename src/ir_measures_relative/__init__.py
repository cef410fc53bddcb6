"""Measures that score a ranking relative to the rankings that exist already, for ir_measures and PyTerrier.

Importing the package registers its measures with ir_measures, and its provider as
``ir_measures.providers.registry["relative"]``, also in ``ir_measures.DefaultPipeline``. Three measures have a second
name, as AP is MAP there: ``MAP_UE``, ``NDCG_UE``, ``MAP_Rareness``. What is not a measure is imported when it is first
asked for.
"""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING
from typing import Any as _Any

import ir_measures  # noqa: F401  (first and whole: it may be what imports this package, by an entry point)

from .measures.alpha_nrg import NewAspects, alpha_NRG
from .measures.fusion import FusionGain
from .measures.lexiprecision import RPP, rrLP, sgnLP, sgnLR
from .measures.lexirank import LexiRank
from .measures.med import MED
from .measures.nrg import NRG, UniqueRel
from .measures.rank_biased import RBA, RBO
from .measures.rareness import AP_Rareness, MAP_Rareness, P_Rareness, Rareness
from .measures.shapley import Shapley
from .measures.tasc import TaSC
from .measures.ue import AP_UE, MAP_UE, NDCG_UE, UE, nDCG_UE
from .messages import RelativeWarning
from .provider import RelativeProvider, registered_provider
from .registry import fill as _fill

if TYPE_CHECKING:
    from .context import RunContext
    from .io.tokens import TokenCounts
    from .priors import BestOfOtherGroups, PriorPolicy
    from .questions.comparing import adds, compare
    from .questions.deciding import Worth, worth
    from .questions.explaining import explain
    from .questions.fusing import fuse, fusion_pairs, headroom
    from .questions.nuggets import new_aspects
    from .questions.sets_of_runs import select_complementary, sweep
    from .questions.similarities import similarity
    from .reporting import leaderboard, report
    from .reporting.export import to_latex, to_ranx, write_ir_metadata
    from .stats.paired_tests import SignTest, sign_test
    from .unjudged.bounds import bounds, med
    from .unjudged.pooling import pool_next
    from .unjudged.reusability import reusability
    from .unjudged.verdicts import judge_next, verdicts

__version__ = "0.3.0"

relative: RelativeProvider = registered_provider()

# What is found when it is first asked for: the modules that add to each registry.
_fill(
    {
        "bounds": [".extremes.of_host_measures", ".extremes.of_measures"],
        "MED searches": [".extremes.med"],
    },
    __name__,
)

# Where a name is that is imported when it is asked for.
_LATER = {
    "BestOfOtherGroups": "priors",
    "PriorPolicy": "priors",
    "RunContext": "context",
    "SignTest": "stats.paired_tests",
    "TokenCounts": "io.tokens",
    "bounds": "unjudged.bounds",
    "adds": "questions.comparing",
    "audit": "audit",
    "compare": "questions.comparing",
    "explain": "questions.explaining",
    "fuse": "questions.fusing",
    "fusion_pairs": "questions.fusing",
    "headroom": "questions.fusing",
    "judge_next": "unjudged.verdicts",
    "leaderboard": "reporting",
    "med": "unjudged.bounds",
    "meta": "meta",
    "pool_next": "unjudged.pooling",
    "report": "reporting",
    "new_aspects": "questions.nuggets",
    "reusability": "unjudged.reusability",
    "select_complementary": "questions.sets_of_runs",
    "sign_test": "stats.paired_tests",
    "similarity": "questions.similarities",
    "verdicts": "unjudged.verdicts",
    "sweep": "questions.sets_of_runs",
    "to_latex": "reporting.export",
    "to_ranx": "reporting.export",
    "write_ir_metadata": "reporting.export",
    "Worth": "questions.deciding",
    "worth": "questions.deciding",
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
    "MAP_UE",
    "MED",
    "NDCG_UE",
    "NRG",
    "RBA",
    "RBO",
    "RPP",
    "UE",
    "AP_Rareness",
    "BestOfOtherGroups",
    "FusionGain",
    "LexiRank",
    "MAP_Rareness",
    "NewAspects",
    "P_Rareness",
    "PriorPolicy",
    "Rareness",
    "RelativeWarning",
    "RunContext",
    "Shapley",
    "SignTest",
    "TaSC",
    "TokenCounts",
    "UniqueRel",
    "Worth",
    "adds",
    "alpha_NRG",
    "bounds",
    "compare",
    "explain",
    "fuse",
    "fusion_pairs",
    "headroom",
    "judge_next",
    "leaderboard",
    "med",
    "nDCG_UE",
    "new_aspects",
    "pool_next",
    "report",
    "reusability",
    "rrLP",
    "select_complementary",
    "sgnLP",
    "sgnLR",
    "sign_test",
    "similarity",
    "sweep",
    "to_latex",
    "to_ranx",
    "verdicts",
    "worth",
    "write_ir_metadata",
]
