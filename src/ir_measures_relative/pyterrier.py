"""``pt.relative``: what PyTerrier users see. ``import pyterrier`` loads this module by its entry point.

Nothing here may import PyTerrier at the top, which is still being imported when this module is, nor fail or warn
where an optional dependency is missing.
"""

from __future__ import annotations

import sys

import ir_measures

from . import *  # noqa: F403
from . import __all__ as _public
from .measures.base import RelativeMeasure


def _add_to_pyterrier_measures() -> None:
    """Adds the measures to ``pyterrier.measures``, which was filled before this package was loaded."""
    module = sys.modules.get("pyterrier.measures")
    if module is not None:
        for name, measure in ir_measures.measures.registry.items():
            if isinstance(measure, RelativeMeasure):
                setattr(module, name, measure)


_add_to_pyterrier_measures()

__all__ = list(_public)
