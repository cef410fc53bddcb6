"""LLM judgments of all documents, human judgments of a sample, and intervals that hold either way."""

from .estimating import estimate, simulate
from .planning import plan

__all__ = ["estimate", "plan", "simulate"]
