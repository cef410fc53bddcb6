"""Labels by a language model for all documents, labels by people for a sample, and intervals that hold either way."""

from .estimating import estimate, simulate
from .planning import plan

__all__ = ["estimate", "plan", "simulate"]
