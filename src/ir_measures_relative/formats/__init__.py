"""Files and objects of other tools: read as runs and judgments, and written."""

from typing import TYPE_CHECKING

from ..data.registry import imported_later

if TYPE_CHECKING:
    from .export import to_latex

__all__ = ["to_latex"]

__getattr__, __dir__ = imported_later(__name__, dict.fromkeys(__all__, "export"))
