"""Campaigns larger than one machine: :func:`evaluate` on Dask, and :func:`evaluate_part` for any engine."""

from .dask import evaluate
from .part import evaluate_part

__all__ = ["evaluate", "evaluate_part"]
