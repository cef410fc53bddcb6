"""Labels by a language model for all documents, labels by people for a sample, and intervals that hold either way."""

from .estimating import estimate
from .planning import plan
from .simulating import simulate

__all__ = ["estimate", "plan", "simulate"]
