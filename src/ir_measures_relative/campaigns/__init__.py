"""Campaigns larger than one machine.

:func:`evaluate` on Dask, :func:`evaluate_part` for any engine, and :func:`by_query`, which writes run files as they
want them.
"""

from .evaluate import evaluate, evaluate_part
from .regroup import by_query

__all__ = ["by_query", "evaluate", "evaluate_part"]
