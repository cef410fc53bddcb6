"""Campaigns larger than one machine.

:func:`evaluate` on Dask, :func:`evaluate_part` for any engine, and :func:`by_query`, which writes run files as they
want them.
"""

from .by_query import by_query
from .evaluate import evaluate, evaluate_part

__all__ = ["by_query", "evaluate", "evaluate_part"]
