"""Labels by a language model for all documents, labels by people for a sample, and intervals that hold either way."""

from .estimates import estimate
from .plans import plan
from .rehearsal import simulate

__all__ = ["estimate", "plan", "simulate"]
