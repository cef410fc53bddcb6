"""The measures: one file a family, with the declaration of its measures and their maths."""

from .rareness import MAP_Rareness
from .ue import MAP_UE, NDCG_UE

__all__ = ["MAP_UE", "NDCG_UE", "MAP_Rareness"]  # second names, as MAP is one of AP in ir_measures
