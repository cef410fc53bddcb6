"""The effect of unjudged documents: the extremes of values and differences over all labels that they could have.

``bounds`` and ``verdicts`` are names of the package itself.
"""

from typing import TYPE_CHECKING

from ..data.registry import imported_later

if TYPE_CHECKING:
    from .verdicts import judge_next

__all__ = ["judge_next"]

__getattr__, __dir__ = imported_later(__name__, {"judge_next": "verdicts"})
